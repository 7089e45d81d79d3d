"""Prints the sections of a page to a terminal."""

from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table as RichTable
from rich.text import Text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from piecework.report.components import Code, KeyFigure, Note, Quote, Section, Table, Tag
    from piecework.report.sections_page import SectionsPage

_ROOMY = 7
"""Tables with more columns get no padding, so that 80 characters hold their numbers."""

_A_FEW = 4
"""A table shows up to this many more rows rather than leave them out."""


def say_sections(page: "SectionsPage", *, most_rows: int | None = None) -> None:
    """Print a page's figures, notes and tables, with up to `most_rows` rows each."""
    say(
        page.source,
        key_figures=page.key_figures,
        notes=page.notes,
        sections=page.sections,
        most_rows=most_rows,
    )


def say(
    source: str,
    *,
    key_figures: "Sequence[KeyFigure]",
    notes: "Sequence[Note]",
    sections: "Sequence[Section]",
    most_rows: int | None = None,
) -> None:
    """Print the parts of a page."""
    console = Console()
    console.print(Text(source, style="bold"))
    for figure in key_figures:
        console.print(Text(f"{figure.label}: {figure.value} ({figure.beside})"))
    for note in notes:
        console.print(Text(f"{note.word}: {note.text}", style="yellow"))
    for section in sections:
        console.print()
        console.rule(Text(section.title), align="left")
        for line in (*section.lead, *(note.text for note in section.notes)):
            console.print(Text(line))
        for table in section.tables:
            _say_table(console, table, most_rows)


def _say_table(console: Console, table: "Table", most_rows: int | None) -> None:
    console.print()
    if not table.rows:
        console.print(Text(f"{table.caption}: {table.empty}"))
        _say_note(console, table)
        return
    # Text, not str: rich reads brackets in a str, which may be a worker's, as a style.
    is_crowded = len(table.columns) > _ROOMY
    shown = RichTable(
        title=Text(table.caption), title_justify="left", padding=(0, 0 if is_crowded else 1)
    )
    for column in table.columns:
        shown.add_column(
            Text(column.label),
            justify="right" if column.style == "n" else "left",
            no_wrap=is_crowded and column.style == "n",
        )
    if most_rows is not None and len(table.rows) <= most_rows + _A_FEW:
        most_rows = None
    for row in table.rows[:most_rows]:
        shown.add_row(*(Text(cell if isinstance(cell, str) else _text(cell)) for cell in row))
    console.print(shown)
    if most_rows is not None and len(table.rows) > most_rows:
        console.print(f"The table shows {most_rows} of {len(table.rows)} rows.")
    _say_note(console, table)


def _text(cell: "Quote | Code | Tag") -> str:
    """The text of a cell; what a name means comes before it."""
    words = getattr(cell, "words", "")
    return f"{words} ({cell.text})" if words else cell.text


def _say_note(console: Console, table: "Table") -> None:
    if table.note:
        console.print(Text(table.note, style="dim"))
