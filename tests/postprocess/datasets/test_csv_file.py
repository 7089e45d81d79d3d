"""CSV that loads everywhere and runs nowhere."""

import csv
import io
from datetime import UTC, datetime
from typing import Any

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from piecework.postprocess.datasets.file_table import (
    _SHOWN,
    FORMULA_SIGNS,
    NUMBER,
    TEXT,
    TEXTS,
    TIME,
    TRUTH,
    WHOLE,
    FileTable,
    defused,
    plain,
    to_csv,
    write_csv,
)


@given(st.text() | st.from_regex(r"\A['=+\-@\t\r\n]{1,5}.{0,5}\Z"))
def test_defusing_loses_nothing(text: str) -> None:
    """The apostrophe comes off again, a worker's own stays."""
    assert plain(defused(text)) == text


@given(st.text() | st.from_regex(r"\A['=+\-@\t\r\n]{1,5}.{0,5}\Z"))
def test_no_cell_begins_like_a_formula(text: str) -> None:
    """Whatever was typed, the cell begins with something harmless."""
    assert not defused(text).startswith(FORMULA_SIGNS)


_BEGINS_FORMULAS = "=+-@\t\r\n\uff1d\uff0b\uff0d\uff20"
"""Written again and not imported: a sign that is lost there is noticed here."""


@pytest.mark.parametrize("sign", _BEGINS_FORMULAS)
def test_no_cell_of_a_file_begins_a_formula(sign: str) -> None:
    """Texts and lists get an apostrophe, and one alone comes off again."""
    typed = [f"{sign}1", f"'{sign}1", f"''{sign}1", f"a {sign}1"]
    cells = pd.DataFrame({"text": typed, "lists": [[text, "b"] for text in typed]})
    file = io.BytesIO()
    write_csv(
        FileTable(cells=cells.astype({"text": "str"}), types={"text": TEXT, "lists": TEXTS}), file
    )
    small = to_csv({"text": typed, "lists": cells["lists"].tolist()})
    assert file.getvalue() == small
    loaded = list(csv.reader(io.StringIO(small.decode(), newline="")))[1:]
    for text, (cell, joined) in zip(typed, loaded, strict=True):
        is_first = not text.startswith("a")
        assert (cell, joined) == ("'" * is_first + text, "'" * is_first + f"{text}|b")
        assert plain(cell) == text


@pytest.mark.parametrize("text", ["a dog", "", "'tis a dog", "5 - 3", "a@b", "1=1"])
def test_harmless_text_is_left(text: str) -> None:
    """Signs inside a text run nothing."""
    assert defused(text) == text


@given(st.lists(st.text(), min_size=1))
def test_pandas_reads_back_what_was_written(texts: list[str]) -> None:
    """Any text survives, but for controls, which are shown as symbols."""
    table = to_csv({"n": list(range(len(texts))), "text": texts})
    loaded = pd.read_csv(io.BytesIO(table), dtype=str, keep_default_na=False)
    restored = loaded["text"].map(plain).tolist()
    assert restored == [text.translate(_SHOWN) for text in texts]


def test_each_kind_of_value_has_one_form() -> None:
    """Times in ISO 8601, lists with bars, no number where none is known."""
    table = to_csv(
        {
            "at": [datetime(2026, 3, 1, 12, tzinfo=UTC)],
            "flaws": [["blur", "dark"]],
            "seconds": [float("nan")],
            "number": [7],
            "is_so": [True],
            "quote": ['say "hi"'],
        }
    )
    assert table.decode() == (
        '"at","flaws","seconds","number","is_so","quote"\n'
        '"2026-03-01T12:00:00+00:00","blur|dark","",7,True,"say ""hi"""\n'
    )


def test_an_unknown_value_of_each_kind_is_an_empty_cell() -> None:
    """In large tables and in small ones, beside a value that is known."""
    known = datetime(2026, 3, 1, 12, tzinfo=UTC)
    cells = pd.DataFrame(
        {
            "at": pd.Series([known, pd.NaT], dtype="datetime64[us, UTC]"),
            "number": pd.Series([1.5, None], dtype="float64"),
            "whole": pd.Series([2, pd.NA], dtype="Int64"),
            "is_so": pd.Series([True, pd.NA], dtype="boolean"),
        }
    )
    types = {"at": TIME, "number": NUMBER, "whole": WHOLE, "is_so": TRUTH}
    file = io.BytesIO()
    write_csv(FileTable(cells=cells, types=types), file)
    small = to_csv({name: cells[name].tolist() for name in types})
    assert file.getvalue() == small
    assert small.decode().splitlines()[1:] == [
        '"2026-03-01T12:00:00+00:00",1.5,2,True',
        '"","","",""',
    ]


@given(st.lists(st.text() | st.sampled_from(["=1", "'=1", "a\x00b", "'"]), min_size=1))
def test_a_table_in_batches_has_the_same_form(texts: list[str]) -> None:
    """What is quick about it changes no byte, whatever was typed."""
    columns: dict[str, list[Any]] = {
        "n": list(range(len(texts))),
        "text": list(texts),
        "lists": [[text] for text in texts],
    }
    cells = pd.DataFrame(columns).astype({"text": "str"})
    file = io.BytesIO()
    types = {"n": WHOLE, "text": TEXT, "lists": TEXTS}
    write_csv(FileTable(cells=cells, types=types), file)
    assert file.getvalue() == to_csv(columns)


def test_no_cell_steers_a_terminal() -> None:
    """An escape, a delete and the one-byte forms of C1 are symbols in the file."""
    (_, cell) = to_csv({"text": ["a\x1b[2J\x7f\x9b31m\x85b\tc\x9f\x80"]}).decode().splitlines()
    assert cell == '"a\u241b[2J\u2421\ufffd31m\ufffdb\tc\ufffd\ufffd"'
