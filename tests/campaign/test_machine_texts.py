"""Texts of models in a campaign file: what is read, and what is refused."""

from pathlib import Path

import pytest

from piecework.campaign import machine_texts
from piecework.campaign.assembling import load_campaign
from piecework.domain.errors import ConfigError
from tests.small_campaign import CAMPAIGN, write_campaign

WITH_TEXTS = CAMPAIGN.replace("[posting]", '[machine]\ntexts = "machine.csv"\n[posting]').replace(
    "like_samples = false\n", ""
)
GOOD = "text,item_id,model\nA dog on a bench,,small\n"


def write(folder: Path, content: str | None, text: str = WITH_TEXTS) -> Path:
    """The campaign's files, and the texts of a model."""
    if content is not None:
        (folder / "machine.csv").write_text(content, "utf-8")
    return write_campaign(folder, text)


def faults(path: Path) -> list[str]:
    """Why the campaign is refused."""
    with pytest.raises(ConfigError) as caught:
        load_campaign(path)
    return list(caught.value.faults)


def test_the_heuristic_gets_the_texts(tmp_path: Path) -> None:
    """Columns that the file lacks are empty."""
    path = write(tmp_path, GOOD)
    own = load_campaign(path).heuristics["like_samples"]
    assert own == {"samples": (("", "small", "A dog on a bench"),)}
    (tmp_path / "machine.csv").write_text("text\nA cat\n", "utf-8")
    own = load_campaign(path).heuristics["like_samples"]
    assert own == {"samples": (("", "", "A cat"),)}


def test_a_heuristic_that_is_off_stays_off(tmp_path: Path) -> None:
    """Naming the file does not switch it on again."""
    text = WITH_TEXTS.replace("[heuristics]", "[heuristics]\nlike_samples = false")
    campaign = load_campaign(write(tmp_path, GOOD, text))
    assert campaign.heuristics["like_samples"] is None


@pytest.mark.parametrize(
    ("content", "fault"),
    [
        (None, "machine.csv does not exist"),
        ("", "has no"),
        ("text\n", "has no rows"),
        ("caption\nA dog\nA cat\n", "has no column 'text'; the columns are caption"),
        ("text,item_id\n  ,\n", "machine.csv:2: the text is empty"),
        ("text,item_id\nA dog,nowhere\n", "'nowhere' is not an item of the campaign"),
    ],
)
def test_a_bad_file_is_refused_in_one_sentence(
    tmp_path: Path, content: str | None, fault: str
) -> None:
    """With the file and, where there is one, the line."""
    (sentence,) = faults(write(tmp_path, content))
    assert fault in sentence


def test_a_huge_file_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By its size before it is read, and by its rows."""
    path = write(tmp_path, "text\nA dog\nA cat\n")
    monkeypatch.setattr(machine_texts, "MOST_TEXTS", 1)
    (sentence,) = faults(path)
    assert "has 2 texts; at most 1 are read" in sentence
    monkeypatch.setattr(machine_texts, "MOST_BYTES", 1)
    (sentence,) = faults(path)
    assert "has more than 0 megabytes" in sentence


def test_the_table_names_a_file(tmp_path: Path) -> None:
    """An empty table is a mistake, and a field is for labels."""
    empty = WITH_TEXTS.replace('texts = "machine.csv"\n', "")
    assert "name a file of labels (votes), or of texts" in faults(write(tmp_path, GOOD, empty))[0]
    lone = WITH_TEXTS.replace('"machine.csv"', '"machine.csv"\nfield = "has_text"')
    assert "field is for labels" in faults(write(tmp_path, GOOD, lone))[0]
