"""Makes a page of many items small enough for a question, and whole again.

MTurk takes 65,535 bytes; fifty items need more, though their sections differ in little
but a number and a sentence. So a page that is too large carries the lines of one
section, each with a mark where the position stands, and of every section only the lines
that differ; a script of a few lines writes the sections before any other script runs.
Trials are a run of sections of their own, before the items.

`decompress` does the same in Python, for programs that read the page as a browser shows
it. What was compressed comes back to the last byte, or the page is left as it is.
"""

import json
import re
from os.path import commonprefix
from typing import TypedDict

from piecework.hit_templates.jinja_helpers import minified

MARK = "\ue000"
"""Stands for the position; a character for private use, which no page holds."""

_RUNS = [
    re.compile(
        rf'(?s)(?:<section class="step item" data-position="{kind}[1-9][0-9]*".*?'
        r"</section>\n)+"
    )
    for kind in ("p", "")
]
"""Trials, and items: sections that follow each other, numbered from 1."""

_NOT_IN_SCRIPTS = {0x2028: "\\u2028", 0x2029: "\\u2029"}
_COMPRESSED = re.compile(
    r"(?s)<script data-compressed>\n.*?const compressed = (\{.*?\});\n.*?</script>\n"
)


class Carried(TypedDict):
    """What a compressed page carries of a run.

    Attributes:
        lines: of one section; in two parts where sections differ between them.
        items: for each section, what stands between the two parts.
    """

    lines: list[str | list[str]]
    items: list[list[str]]


def compress(page: str, *, more_than: int) -> str:
    """The page, compressed if it has more bytes than this and its sections allow it."""
    if len(page.encode()) <= more_than or MARK in page:
        return page
    for pattern in _RUNS:
        page = pattern.sub(_compressed_run, page)
    return page


def decompress(page: str) -> str:
    """The page as it was before `compress`; itself if it was not compressed."""
    return _COMPRESSED.sub(lambda match: _whole(json.loads(match[1])), page)


def compressed_spans(page: str) -> list[tuple[int, int]]:
    """Where a compressed page carries its runs: begin and end of each script's data."""
    return [match.span(1) for match in _COMPRESSED.finditer(page)]


def quoted(text: str) -> str:
    """Text as it stands between the quotes of a script's data."""
    return _in_script(json.dumps(text, ensure_ascii=False)[1:-1])


def _in_script(data: str) -> str:
    # Inside a script, "</script>" and "<!--" would end or change it.
    return data.replace("<", "\\u003c").translate(_NOT_IN_SCRIPTS)


def _compressed_run(match: re.Match[str]) -> str:
    sections = [
        section.split("\n")[:-1]
        for section in re.findall(r"(?s).*?</section>\n", match[0])
    ]
    if len(sections) < 2 or len({len(lines) for lines in sections}) > 1:  # noqa: PLR2004 - one has nothing to share
        return match[0]
    shared: list[str | list[str]] = []
    own: list[list[str]] = [[] for _ in sections]
    for lines in zip(*sections, strict=True):
        common = _common(lines)
        shared.append(common if common is not None else _around(lines))
        if common is None:
            before, after = map(len, shared[-1])
            for pieces, line in zip(own, _marked(lines), strict=True):
                pieces.append(line[before : len(line) - after])
    carried: Carried = {"lines": shared, "items": own}
    if _whole(carried) != match[0]:
        return match[0]
    data = json.dumps(carried, separators=(",", ":"), ensure_ascii=False)
    code = str(minified("_decompress.js")).replace("COMPRESSED", _in_script(data), 1)
    return f"<script data-compressed>\n{code}\n</script>\n"


def _whole(carried: Carried) -> str:
    sections = []
    for number, own in enumerate(carried["items"], start=1):
        mine = iter(own)
        for line in carried["lines"]:
            whole = line if isinstance(line, str) else next(mine).join(line)
            sections.append(f"{whole.replace(MARK, str(number))}\n")
    return "".join(sections)


def _common(lines: tuple[str, ...]) -> str | None:
    """One line for all sections, the position marked; `None` if they differ."""
    for number in (len(lines), 1, min(7, len(lines))):
        common = lines[number - 1].replace(str(number), MARK)
        numbered = enumerate(lines, start=1)
        if all(common.replace(MARK, str(n)) == line for n, line in numbered):
            return common
    return lines[0] if len(set(lines)) == 1 else None


def _marked(lines: tuple[str, ...]) -> list[str]:
    return [line.replace(str(n), MARK) for n, line in enumerate(lines, start=1)]


def _around(lines: tuple[str, ...]) -> list[str]:
    """What all lines begin with, and what they end with; the rest is their own."""
    marked = _marked(lines)
    before = commonprefix(marked)  # noqa: RUF071 - these are texts, no paths
    endings = [line[len(before) :][::-1] for line in marked]
    return [before, commonprefix(endings)[::-1]]  # noqa: RUF071 - as above
