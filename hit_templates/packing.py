"""Makes a page of many items small enough for a question, and whole again.

MTurk takes 65,535 bytes; fifty items need more, though their sections differ in little
but a number and a sentence. So a page that is too large carries the lines of one
section, each with a mark where the position stands, and of every section only the lines
that differ; a script of a few lines writes the sections before any other script runs.
`unpack` does the same in Python, for programs that read the page as a browser shows it.
What is packed and unpacked is the same to the last byte, or it is not packed.
"""

import json
import re
from os.path import commonprefix

from hit_templates.in_templates import packed

MARK = "\ue000"
"""Stands for the position; a character for private use, which no page holds."""

_SECTION = re.compile(
    r'(?s)<section class="step item" data-position="([1-9][0-9]*)".*?</section>\n'
)
_NOT_IN_SCRIPTS = {0x2028: "\\u2028", 0x2029: "\\u2029"}
_PACKED = re.compile(
    r'(?s)<script id="packed">\n.*?const packed = (\{.*?\});\n.*?</script>\n'
)


def pack(page: str, *, more_than: int) -> str:
    """The page, packed if it has more bytes than this and its sections allow it."""
    found = list(_SECTION.finditer(page))
    if len(page.encode()) <= more_than or len(found) < 2 or MARK in page:  # noqa: PLR2004 - one has nothing to share
        return page
    sections = [match[0].splitlines() for match in found]
    numbered = [int(match[1]) for match in found] == [*range(1, len(found) + 1)]
    start, end = found[0].start(), found[-1].end()
    between = page[start:end] == "".join(match[0] for match in found)
    if not numbered or not between or len({len(lines) for lines in sections}) > 1:
        return page
    shared: list[str | list[str]] = []
    own: list[list[str]] = [[] for _ in sections]
    for lines in zip(*sections, strict=True):
        common = _common(lines)
        shared.append(common if common is not None else _around(lines))
        if common is None:
            before, after = map(len, shared[-1])
            for mine, line in zip(own, _marked(lines), strict=True):
                mine.append(line[before : len(line) - after])
    carried = {"lines": shared, "items": own}
    # Inside a script, "</script>" and "<!--" would end or change it.
    quoted = json.dumps(carried, separators=(",", ":"), ensure_ascii=False)
    quoted = quoted.replace("<", "\\u003c").translate(_NOT_IN_SCRIPTS)
    code = str(packed("_unpack.js")).replace("PACKED", quoted, 1)
    return f'{page[:start]}<script id="packed">\n{code}\n</script>\n{page[end:]}'


def unpack(page: str) -> str:
    """The page as it was before `pack`; itself if it was not packed."""
    found = _PACKED.search(page)
    if found is None:
        return page
    carried = json.loads(found[1])
    sections = []
    for number, own in enumerate(carried["items"], start=1):
        mine = iter(own)
        for line in carried["lines"]:
            whole = line if isinstance(line, str) else next(mine).join(line)
            sections.append(f"{whole.replace(MARK, str(number))}\n")
    return page[: found.start()] + "".join(sections) + page[found.end() :]


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
    rest = [line[len(before) :][::-1] for line in marked]
    return [before, commonprefix(rest)[::-1]]  # noqa: RUF071 - as above
