"""Tables that people write, in the CSV variants of spreadsheets."""

import csv
import io


def table_rows(text: str) -> "csv.DictReader[str]":
    r"""Return the rows of a CSV; the separator is detected in its first line.

    Spreadsheets write ";" in countries with a decimal comma, and some write tabs.

    >>> [dict(row) for row in table_rows("name;note\r\nAda;a, b\r\n")]
    [{'name': 'Ada', 'note': 'a, b'}]
    """
    separator = separator_of(text.split("\n", maxsplit=1)[0])
    stream = io.StringIO(text, newline="")
    return csv.DictReader(stream, delimiter=separator, strict=True)


def separator_of(header: str) -> str:
    """Return what separates the cells of a header line: a comma, unless it has none."""
    others = [mark for mark in ";\t" if mark in header]
    return others[0] if others and "," not in header else ","
