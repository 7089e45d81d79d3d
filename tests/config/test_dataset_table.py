"""`[dataset]` and a file of `card`: what readers of the dataset are told, and what cannot be."""

from pathlib import Path

import pytest

from tests.config.test_campaign_file import GOOD, faults_of, read

STATED = f"""card = "birds.card.toml"
{GOOD}
[dataset]
splits = [80, 10, 10]
split_by = "url"
"""
CARD = """
title = "Birds"
licence = "cc-by-4.0"
items_licence = "Ours"
items_licence_url = "https://birds.example/licence"
contact = "Ada <ada@example.org>"
citation = "Ada (2026)"
consent = "Stated on the first page."
ethics = "Reviewed."
"""


def test_what_is_stated_is_read(tmp_path: Path) -> None:
    """Licences by their SPDX names in any capitals, or with an address."""
    (tmp_path / "birds.card.toml").write_text(CARD)
    stated = read(tmp_path, STATED).dataset
    assert stated.licence is not None
    assert stated.licence.spdx == "CC-BY-4.0"
    assert stated.items_licence is not None
    assert (stated.items_licence.spdx, stated.items_licence.hub) == ("Ours", "other")
    assert (stated.shares.train_percent, stated.shares.test_percent) == (80, 10)
    assert stated.missing == ()


def test_nothing_needs_to_be_stated(tmp_path: Path) -> None:
    """And what is missing is known by its keys."""
    missing = read(tmp_path, GOOD).dataset.missing
    assert missing == (*("licence", "items_licence", "contact"), *("citation", "consent", "ethics"))


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("splits = [80, 0, 0]", "train, val and test must add up to 100"),
        ("splits = { train = 100 }", "dataset.splits: "),
        ("split_column = 'part'", "dataset.split_column: is splits = "),
        ("splits = [100]", "dataset.splits[2]: is missing"),
        ('licence = "CC0-1.0"', "dataset.licence: is licence in the file that card names now"),
        ('split_by = "person"', "the items have no column 'person'; the columns are"),
        ('splits = "part"', "the items have no column 'part'; the columns are"),
        ('splits = "url"', "allowed are train, val, test, or nothing"),
        ('pictures = "files"', "the url of a is on another host"),
    ],
)
def test_what_cannot_be_is_a_sentence(tmp_path: Path, line: str, words: str) -> None:
    """With file and key."""
    fault, *_ = faults_of(tmp_path, f"{GOOD}\n[dataset]\n{line}\n")
    assert "birds.toml" in fault
    assert "dataset" in fault
    assert words in fault


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ('licence = "CC-BY"', "does not know the licence 'CC-BY'"),
        ('licence_url = "https://a.example"', "licence_url needs licence too"),
        ('homepage = "javascript:alert(1)"', "birds.card.toml:1: homepage"),
        ('version = "one"', "birds.card.toml:1: version"),
        ("splits = [70, 10, 20]", "birds.card.toml:1: splits: no such key"),
    ],
)
def test_what_a_card_cannot_say_is_a_sentence(tmp_path: Path, line: str, words: str) -> None:
    """With the card's file and the key."""
    (tmp_path / "birds.card.toml").write_text(f"{line}\n")
    (fault,) = faults_of(tmp_path, f'card = "birds.card.toml"\n{GOOD}')
    assert "birds.card.toml" in fault
    assert words in fault
