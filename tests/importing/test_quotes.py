"""Quotes in tables: a faulty one costs its own row, and never another."""

import csv
import io
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from piecework.config.shared_files import read_reading
from piecework.domain.errors import ConfigError
from piecework.domain.imported import NamedColumns
from piecework.importing.named_columns import FOR_DESCRIBING
from piecework.importing.readers.head import cells_of, head_of
from piecework.importing.readers.recognise import recognise
from piecework.importing.readers.rows import ImportedRow, Unreadable
from piecework.importing.whole_table import read_whole

HEADER = ("item", "worker", "caption")
CELLS = st.from_regex(r'[a-z][a-z",; \n]{0,12}', fullmatch=True)
TABLES = st.lists(st.tuples(CELLS, CELLS, CELLS), min_size=1, max_size=8)
FAULTY = ('x,y,"never closed\n', 'x,"closed" early,z\n', '"x"y,"z\n')

Cells = list[tuple[int, list[str] | csv.Error]]


def _cells(folder: Path, text: str) -> Cells:
    path = folder / "table"
    path.write_text(text, encoding="utf-8", newline="")
    return list(cells_of(path, head_of(path)))


def _written(rows: list[tuple[str, str, str]], end: str = "\n") -> str:
    table = io.StringIO(newline="")
    csv.writer(table, lineterminator=end).writerows(rows)
    return table.getvalue()


@given(TABLES, TABLES, st.sampled_from(FAULTY))
def test_a_faulty_quote_takes_no_other_row_with_it(
    tmp_path_factory: pytest.TempPathFactory,
    before: list[tuple[str, str, str]],
    after: list[tuple[str, str, str]],
    faulty: str,
) -> None:
    """The rows around it are read as they were written, also those of several lines."""
    start = _written([HEADER, *before])
    read = _cells(tmp_path_factory.getbasetemp(), start + faulty + _written(after))
    whole = [tuple(row) for _, row in read if not isinstance(row, csv.Error)]
    assert whole == [HEADER, *before, *after]
    assert [line for line, row in read if isinstance(row, csv.Error)] == [start.count("\n") + 1]


@given(st.lists(st.tuples(*[st.text('"ab ', max_size=6)] * 3), min_size=1, max_size=9))
def test_a_line_between_tabs_stays_a_row(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[str, str, str]]
) -> None:
    """Whatever its quotes are, if each line has a cell for each column."""
    text = "".join("\t".join(row) + "\n" for row in (HEADER, *rows))
    read = _cells(tmp_path_factory.getbasetemp(), text)
    assert [line for line, _ in read] == list(range(1, len(rows) + 2))
    for (_, cells), row in zip(read[1:], rows, strict=True):
        quoted = next(csv.reader(["\t".join(row)], delimiter="\t"))
        assert cells in (list(row), quoted)


@pytest.mark.parametrize("separator", [",", "\t"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_long_cells_of_many_lines_are_read(separator: str, end: str, tmp_path: Path) -> None:
    """Longer than the beginning by which a file is recognised."""
    long = f"she said{separator}{end}{end}".join(['so "it" is'] * 100_000)
    table = io.StringIO(newline="")
    writer = csv.writer(table, delimiter=separator, lineterminator=end)
    rows = [list(HEADER), ["1", "a", long], ["2", "b", "short"]]
    writer.writerows(rows)
    assert [row for _, row in _cells(tmp_path, table.getvalue())] == rows


def test_a_file_that_opens_a_quote_in_each_line_is_read_to_its_end(tmp_path: Path) -> None:
    """Each of its lines makes one row of all that follow; they are not read without end."""
    read = _cells(tmp_path, "a,b,c\n" + 'x","y,z\n' * 200_000)
    assert isinstance(read[1][1], csv.Error)
    assert [line for line, _ in read[:3]] == [1, 2, 3]


def test_an_import_sets_a_faulty_row_aside(tmp_path: Path) -> None:
    """With its line and what a quote needs; a copy of the table is refused with the same."""
    (tmp_path / "columns.toml").write_text('item = "item"\nanswers = { c = "caption" }\n')
    path = tmp_path / "table.csv"
    path.write_text('item,worker,caption\n1,a,"A dog\n2,b,A cat\n3,c,A cow\n')
    (source,) = recognise([path], read_reading(tmp_path / "columns.toml"))
    aside, *rows = source.rows()
    assert isinstance(aside, Unreadable)
    assert (aside.line, "must be closed" in aside.fault) == (2, True)
    assert [row.sent["caption"] for row in rows if isinstance(row, ImportedRow)] == [
        "A cat",
        "A cow",
    ]
    with pytest.raises(ConfigError, match=r"line 2: not valid CSV .* must be closed"):
        read_whole(path, NamedColumns(text="caption", item="item"), FOR_DESCRIBING)


def test_a_header_with_a_faulty_quote_is_refused(tmp_path: Path) -> None:
    """The next row is not taken for the header."""
    with pytest.raises(ConfigError, match="line 1: not valid CSV"):
        _cells(tmp_path, 'item,"worker" id,caption\n1,a,A dog\n')
