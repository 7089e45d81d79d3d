"""Croissant tells the truth of the files; `mlcroissant` reads it in tests/clients/."""

import hashlib
import io
import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from piecework.domain.dataset import Publication
from piecework.domain.hit import Item
from piecework.postprocess.datasets.facts import DatasetFacts
from piecework.postprocess.datasets.files import CARD, CROISSANT, dataset_files
from tests.postprocess.made_tables import captions_table, contents

MakeRow = Callable[..., Mapping[str, object]]


def _no_number(word: str) -> object:
    raise ValueError(word)


def _strict(document: bytes) -> Any:  # noqa: ANN401 - JSON is what it is
    return json.loads(document, parse_constant=_no_number)


def test_each_file_has_its_size_and_hash(
    row: MakeRow, items: list[Item], facts: DatasetFacts
) -> None:
    """Computed while the files are written, and right."""
    made = contents(
        captions_table([row("a", shown_seconds=float("nan"))]),
        items,
        facts,
        ("csv", "parquet", "vizwiz_json"),
    )
    described = {file["name"]: file for file in _strict(made[CROISSANT])["distribution"]}
    assert described.keys() == made.keys() - {CARD, CROISSANT}
    for name, file in described.items():
        assert file["sha256"] == hashlib.sha256(made[name]).hexdigest()
        assert file["contentSize"] == f"{len(made[name])} B"


def test_it_names_the_campaign_file_as_card_and_report_do(
    items: list[Item], facts: DatasetFacts
) -> None:
    """By its hash alone; a table without a campaign has none."""
    made = contents(captions_table([]), items, facts, ("csv",))
    [line] = [line for line in made[CARD].decode().splitlines() if "campaign file" in line]
    assert f"`{facts.source_hash}`" in line
    assert _strict(made[CROISSANT])["isBasedOn"]["sha256"] == facts.source_hash
    without = contents(captions_table([]), items, replace(facts, source_hash=""), ("csv",))
    assert "isBasedOn" not in _strict(without[CROISSANT])


def test_it_can_be_written_alone(row: MakeRow, items: list[Item], facts: DatasetFacts) -> None:
    """Without the other files before it, and with the same bytes."""
    table = captions_table([row("a")])
    alone = io.BytesIO()
    dataset_files(table, items, facts, ("csv",))[CROISSANT](alone)
    assert alone.getvalue() == contents(table, items, facts, ("csv",))[CROISSANT]


def test_the_folder_of_pictures_is_announced_where_there_is_one(
    items: list[Item], facts: DatasetFacts
) -> None:
    """Pictures as files, or by their addresses."""
    facts = replace(facts, publication=Publication(pictures="files"))
    made = contents(captions_table([]), items, facts, ("csv",))
    assert _strict(made[CROISSANT])["distribution"][-1]["includes"] == "images/**"
