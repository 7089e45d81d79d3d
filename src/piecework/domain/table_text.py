"""Tables that people write, in the CSV variants of spreadsheets."""

import csv
import io


def table_rows(text: str) -> "csv.DictReader[str]":
    r"""Return the rows of a CSV; the separator is detected in its first line.

    Spreadsheets write ";" in countries with a decimal comma, and some write tabs.

    >>> [dict(row) for row in table_rows("name;note\r\nAda;a, b\r\n")]
    [{'name': 'Ada', 'note': 'a, b'}]
    """
    header = text.split("\n", maxsplit=1)[0]
    others = [mark for mark in ";\t" if mark in header]
    separator = others[0] if others and "," not in header else ","
    stream = io.StringIO(text, newline="")
    return csv.DictReader(stream, delimiter=separator, strict=True)
