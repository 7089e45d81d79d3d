"""The YAML that the hub reads; tests/clients/ has `datasets` itself read it."""

from dataclasses import replace
from typing import Any

import pytest
import yaml

from piecework.domain.dataset import LICENCES, Licence, Publication
from piecework.domain.hit import Item
from piecework.postprocess.datasets.facts import DatasetFacts
from tests.postprocess.made_tables import captions_table, contents


def _front(
    items: list[Item], facts: DatasetFacts, stated: Publication | None = None
) -> dict[str, Any]:
    facts = replace(facts, publication=stated or Publication())
    card = contents(captions_table([]), items, facts, ("parquet",))["README.md"]
    _, block, body = card.decode().split("---\n", maxsplit=2)
    assert body.lstrip().startswith("# ")
    loaded: dict[str, Any] = yaml.safe_load(block)
    return loaded


def test_what_was_not_stated_is_left_out(items: list[Item], facts: DatasetFacts) -> None:
    """No licence is made up, and the name is the campaign's."""
    front = _front(items, facts)
    assert "license" not in front
    assert front["pretty_name"] == "birds"
    assert front["language"] == ["en"]
    assert front["size_categories"] == ["n<1K"]
    assert front["annotations_creators"] == ["crowdsourced"]


def test_a_rehearsal_is_called_synthetic(items: list[Item], facts: DatasetFacts) -> None:
    """Nobody may find it as people's work."""
    front = _front(items, replace(facts, is_rehearsal=True))
    assert front["annotations_creators"] == ["machine-generated"]
    assert "synthetic" in front["tags"]


@pytest.mark.parametrize(
    ("licence", "keys"),
    [
        (LICENCES["CC-BY-SA-4.0"], {"license": "cc-by-sa-4.0"}),
        (
            Licence(spdx="Ours-1", url="https://ours.example/1"),
            {
                "license": "other",
                "license_name": "Ours-1",
                "license_link": "https://ours.example/1",
            },
        ),
    ],
)
def test_licences_have_the_hubs_names(
    licence: Licence, keys: dict[str, str], items: list[Item], facts: DatasetFacts
) -> None:
    """And one that the hub does not know has a name and a link."""
    front = _front(items, facts, Publication(licence=licence))
    assert {name: front[name] for name in front if "licen" in name} == keys


@pytest.mark.parametrize("words", ['a: "b" # c', "no", "- x", "\u2028 two\x85lines"])
def test_no_word_of_the_requester_breaks_the_block(
    words: str, items: list[Item], facts: DatasetFacts
) -> None:
    """Words stay words, whatever YAML would read into them."""
    front = _front(items, facts, Publication(title=words, tags=(words,)))
    assert front["pretty_name"] == words
    assert front["tags"][-1] == words


def test_splits_without_rows_are_not_announced(items: list[Item], facts: DatasetFacts) -> None:
    """Nobody answered, so there is nothing to load but the items."""
    front = _front(items, facts)
    assert [config["config_name"] for config in front["configs"]] == ["items"]
