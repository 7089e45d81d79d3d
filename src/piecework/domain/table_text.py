"""Tables that people write, in whatever a spreadsheet of their country makes of CSV."""

import csv
import io


def table_rows(text: str) -> "csv.DictReader[str]":
    r"""The rows of a CSV; what parts its cells is read from its first line.

    A spreadsheet writes ";" where the comma stands in numbers, and some write tabs.

    >>> [dict(row) for row in table_rows("name;note\r\nAda;a, b\r\n")]
    [{'name': 'Ada', 'note': 'a, b'}]
    """
    header = text.split("\n", maxsplit=1)[0]
    others = [mark for mark in ";\t" if mark in header]
    separator = others[0] if others and "," not in header else ","
    stream = io.StringIO(text, newline="")
    return csv.DictReader(stream, delimiter=separator, strict=True)
