"""Compresses a page of many items to fit into a question, and decompresses it.

MTurk takes 65,535 bytes. Fifty items need more, though their sections differ in little
but a number and a sentence. A page that is too large therefore carries the lines of one
section, with a mark for the position, and only the lines that differ for every other
section. A short script writes the sections before any other script runs. Trials are a
separate run of sections before the items.

Where that is not enough, the page's own script is packed too (`fitted`): the browser
unpacks it, which those from before 2023 cannot do.

`decompress` does the same in Python, for programs that read the page as a browser shows
it. A page is compressed only if it can be restored byte for byte.
"""

import json
import re
from os.path import commonprefix
from typing import TypedDict

from piecework.hit_templates.jinja_helpers import deflated, inflated, minified

MARK = "\ue000"
"""Stands for the position; a private-use character, which pages do not contain."""

_RUNS = [
    re.compile(
        rf'(?s)(?:<section class="step item" data-position="{kind}[1-9][0-9]*".*?'
        r"</section>\n)+"
    )
    for kind in ("p", "")
]
"""Trials and items: consecutive sections, numbered from 1."""

_NOT_IN_SCRIPTS = {0x2028: "\\u2028", 0x2029: "\\u2029"}
_ENDS_SCRIPT = re.compile(r"(?i)<(?=!--|/?script)")
_COMPRESSED = re.compile(
    r"(?s)<script data-compressed>\n.*?let compressed=(\{.*?\});\n.*?</script>\n"
)
_SCRIPT = re.compile(r"(?s)<script>\n((?:(?!<script).)*)</script>\n</body>")
_PACKED = re.compile(r'(?s)<script data-packed="([^"]*)">\n(?:(?!<script).)*</script>\n</body>')
"""The last script of a page."""


class Carried(TypedDict):
    """What a compressed page carries of a run.

    Attributes:
        lines: the lines of one section; in two parts where sections differ.
        items: for each section, the text between the two parts.
    """

    lines: list[str | list[str]]
    items: list[list[str]]


def compress(page: str, *, more_than: int) -> str:
    """Compress the page if it is larger than this and its sections allow it."""
    if len(page.encode()) <= more_than or MARK in page:
        return page
    for pattern in _RUNS:
        page = pattern.sub(_compressed_run, page)
    return page


def fitted(page: str, *, more_than: int) -> str:
    """Compress the page, and pack its script if it is still larger than this."""
    page = compress(page, more_than=more_than)
    if len(page.encode()) <= more_than:
        return page
    return _SCRIPT.sub(lambda match: _packed_script(match[1]), page)


def is_packed(page: str) -> bool:
    """Return whether `fitted` packed the page's script."""
    return _PACKED.search(page) is not None


def decompress(page: str) -> str:
    """Undo `compress` and `fitted`; return any other page unchanged."""
    page = _PACKED.sub(lambda match: f"<script>\n{inflated(match[1])}</script>\n</body>", page)
    return _COMPRESSED.sub(lambda match: _whole(json.loads(match[1])), page)


def compressed_spans(page: str) -> list[tuple[int, int]]:
    """Return the begin and end of each script's data in a compressed page."""
    return [match.span(1) for match in _COMPRESSED.finditer(page)]


def quoted(text: str) -> str:
    """Quote text for a script's data."""
    return _in_script(json.dumps(text, ensure_ascii=False)[1:-1])


def _packed_script(code: str) -> str:
    unpacking = str(minified("_unpack.js"))
    return f'<script data-packed="{deflated(code)}">\n{unpacking}\n</script>\n</body>'


def _in_script(data: str) -> str:
    # Inside a script, "</script>" and "<!--" would end or change it.
    return _ENDS_SCRIPT.sub(r"\\u003c", data).translate(_NOT_IN_SCRIPTS)


def _compressed_run(match: re.Match[str]) -> str:
    sections = [
        section.split("\n")[:-1] for section in re.findall(r"(?s).*?</section>\n", match[0])
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
    # JSON has no line end, so this one ends it for `decompress`.
    carrier = str(minified("_decompress.js"))
    code = carrier.replace("COMPRESSED;", f"{_in_script(data)};\n", 1)
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
    """Return one line for all sections, the position marked; `None` if they differ."""
    for number in (len(lines), 1, min(7, len(lines))):
        common = lines[number - 1].replace(str(number), MARK)
        numbered = enumerate(lines, start=1)
        if all(common.replace(MARK, str(n)) == line for n, line in numbered):
            return common
    return lines[0] if len(set(lines)) == 1 else None


def _marked(lines: tuple[str, ...]) -> list[str]:
    return [line.replace(str(n), MARK) for n, line in enumerate(lines, start=1)]


def _around(lines: tuple[str, ...]) -> list[str]:
    """Return the common beginning and the common end of all lines."""
    marked = _marked(lines)
    before = commonprefix(marked)  # noqa: RUF071 - texts, not paths
    endings = [line[len(before) :][::-1] for line in marked]
    return [before, commonprefix(endings)[::-1]]  # noqa: RUF071 - as above
