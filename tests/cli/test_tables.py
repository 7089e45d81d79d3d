"""Tables of a page, printed where lines have 80 columns."""

import pytest

from piecework.cli.output import say_sections
from piecework.domain.text import NOTHING
from piecework.report.components import Section, table, text
from piecework.report.page import SectionsPage

_EVIDENCE = "Set aside: agrees little with others about stance: -0.74, on 30 items. " * 3


def say_table(evidence: str) -> None:
    """Print a page with a table of one row."""
    rows = table(
        "Changed answers",
        [("item 7", "kept", NOTHING, evidence)],
        *map(text, ("Answer", "Verdict", "Against", "Why")),
    )
    section = Section(key="answers", title="Answers", tables=(rows,))
    page = SectionsPage(
        source="file", kicker="", purpose="", key_figures=(), notes=(), sections=(section,)
    )
    say_sections(page)


def test_long_texts_are_printed_row_by_row(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A sentence is no column of ten letters, and a cell without a value takes no line."""
    monkeypatch.setenv("COLUMNS", "80")
    say_table(_EVIDENCE)
    listed = capsys.readouterr().out
    say_table("short")
    drawn = capsys.readouterr().out
    assert "\nitem 7\n  Verdict: kept\n  Why: Set aside: agrees little" in "\n".join(
        line.rstrip() for line in listed.splitlines()
    )
    assert "Against" not in listed
    assert "┃ Against ┃" in drawn
