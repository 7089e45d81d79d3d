"""The data card says what the frame holds, in numbers derived by hand."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from markdown_it import MarkdownIt

from piecework.domain.hit import Item
from piecework.postprocess.datasets.facts import DatasetFacts
from piecework.postprocess.datasets.files import CARD
from tests.postprocess.made_tables import captions_table, contents

ANN = "00112233445566aa"
MakeRow = Callable[..., Mapping[str, object]]


def _card(rows: list[Mapping[str, object]], items: list[Item], facts: DatasetFacts) -> str:
    return contents(captions_table(rows), items, facts, ("csv",))[CARD].decode()


def test_counts_period_and_reasons(row: MakeRow, items: list[Item], facts: DatasetFacts) -> None:
    """Six answers: three captions of two images, one set aside of each kind."""
    later = datetime(2026, 3, 2, 9, 30, tzinfo=UTC)
    text = _card(
        [
            row("a", worker=ANN),
            row("b", worker="ffeeddccbbaa9988"),
            row("c", "img-2", worker=ANN, submitted_at=later),
            row("d", worker=ANN, is_rejected=True),
            row("e", worker=ANN, is_canned=True),
            row("f", worker=ANN, is_surplus=True),
        ],
        items,
        facts,
    )
    assert "3 captions of 2 images" in text
    assert "4 images). Workers: 2." in text
    assert "2026-03-01 12:00 to 2026-03-02 09:30 UTC" in text
    for reason in ("dropped", "canned", "surplus"):
        assert f"| {reason} | 1 |" in text
    # img-1 has three counted answers, one of them canned; img-2 one, none canned.
    for line in ("| medium | 1 |", "| easy | 1 |", "| unknown | 2 |"):
        assert line in text
    assert "REHEARSAL" not in text


def test_licence_is_left_to_the_requester(items: list[Item], facts: DatasetFacts) -> None:
    """The card names no licence that nobody chose."""
    licence = _card([], items, facts).split("## Licence")[1]
    assert "Not stated" in licence


def test_tables_survive_a_canned_text_with_bars(items: list[Item], facts: DatasetFacts) -> None:
    """Bars and line breaks in a cell would break its table."""
    text = _card([], items, replace(facts, task=replace(facts.task, canned_text="a | b\nc")))
    assert '("a \\| b c")' in text


def test_every_heading_stands_alone(items: list[Item], facts: DatasetFacts) -> None:
    """Markdown needs empty lines around headings and after tables."""
    lines = _card([], items, facts).splitlines()
    headings = [n for n, line in enumerate(lines) if line.startswith("#")]
    assert len(headings) == 15
    assert all(lines[n + 1] == "" for n in headings)
    assert all(lines[n - 1] == "" for n in headings[1:])


@pytest.mark.parametrize("is_rehearsal", [True, False])
@pytest.mark.parametrize("is_finished", [True, False])
def test_the_purpose_is_a_paragraph_of_its_own(
    items: list[Item], facts: DatasetFacts, *, is_rehearsal: bool, is_finished: bool
) -> None:
    """A warning above it is a quotation, which must not take it in."""
    facts = replace(facts, purpose="Birds seen in spring.", is_rehearsal=is_rehearsal)
    if not is_finished:
        facts = replace(facts, unfinished="two answers wait")
    body = _card([], items, facts).split("\n---\n", 1)[1]
    tokens = MarkdownIt("commonmark").enable("table").parse(body)
    (level,) = (token.level for token in tokens if token.content == "Birds seen in spring.")
    assert level == 1
