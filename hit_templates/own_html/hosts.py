"""Finds what a page loads: from which other hosts, and which files beside it."""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from urllib.parse import urlsplit

from piecework.hit_templates.own_html.markup import Step, lines_of, steps
from piecework.hit_templates.own_html.page import KNOWN
from piecework.hit_templates.own_html.placeholders import cut, is_mark

_LOADS = {"script": "src", "link": "href", "iframe": "src", "embed": "src"}
FILES = {
    **dict.fromkeys(("img", "source", "input"), ("src", "srcset")),
    **dict.fromkeys(("script", "iframe", "embed", "audio", "track"), ("src",)),
    "video": ("src", "poster"),
    "link": ("href",),
    "object": ("data",),
    "image": ("href", "xlink:href"),
    "body": ("background",),
}
"""Attributes that make a browser load a file."""

_URL = re.compile(r"""url\(\s*["']?([^"')]+)|@import\s+["']([^"']+)""")
IN_SCRIPT = re.compile(
    r"""["'`]([\w./-]*\w\.(?:css|js|json|png|jpe?g|gif|svg|webp|mp3|wav|ogg|mp4|webm))["'`]"""
)
NOT_BESIDE = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]*:|[/#?\\]|$")
"""What begins an address that leads to no file beside the page."""

CANDIDATE = re.compile(r"([^\s,]\S*)(?:(?<!,)\s[^,]*)?")
"""A file in a `srcset`; its address may end with commas that do not belong to it."""

_IS_ELSEWHERE = re.compile(r"(?:https?:)?//", re.IGNORECASE)
_IN_STYLE = re.compile(r"""(?:@import\s+|url\()(?:url\()?\s*["']?((?:https?:)?//[^"')\s]+)""")


def hosts_refused(
    path: Path, html: str, allowed: Sequence[str], styles: Mapping[Path, str]
) -> dict[str, str]:
    """Return hosts that a page uses without permission, each with its message.

    Args:
        path: of the page.
        html: of the page.
        allowed: the hosts that it may load from.
        styles: the text of each style sheet beside the page, by path.
    """
    lines = {host: (path, line) for host, line in _hosts_of(cut(html).marked).items()}
    for file, text in styles.items():
        for match in _IN_STYLE.finditer(text):
            line = text.count("\n", 0, match.start()) + 1
            lines.setdefault(_host_of(match[1].partition("//")[2]), (file, line))
    return {
        host: f"{at}: line {line}: the page loads from {host}, which is not allowed."
        for host, (at, line) in lines.items()
        if host and host not in allowed
    }


def files_beside(html: str) -> dict[str, int]:
    """Return addresses relative to the page, each with the first line that has it.

    An item's value inside of an address is a placeholder's mark; an address that begins
    with one is the item's own.
    """
    first: dict[str, int] = {}
    number, based = 0, False
    for step in steps(cut(html).marked):
        if step.kind == "start":
            number = step.number
            based |= step.name == "base" and "href" in step.attributes
        for address in _files_of(step):
            if not NOT_BESIDE.match(address) and not is_mark(address[:1]):
                first.setdefault(address, number)
    lines = lines_of(cut(html).marked) if first and not based else []
    return {address: lines[number] for address, number in first.items() if lines}


def _files_of(step: Step) -> Iterator[str]:
    if step.kind == "start":
        for name in FILES.get(step.name, ()):
            text = step.attributes.get(name, "")
            if name == "srcset":
                yield from (each[1].rstrip(",") for each in CANDIDATE.finditer(text))
            elif text.strip():
                yield text.split()[0]
        styled = step.attributes.get("style", "")
    else:
        styled = step.text if step.name == "style" else ""
    yield from (match[1] or match[2] for match in _URL.finditer(styled))
    if step.kind == "text" and step.name == "script":
        yield from (match[1] for match in IN_SCRIPT.finditer(step.text))


def _hosts_of(html: str) -> dict[str, int]:
    """Return the hosts that must be allowed, each with the first line that names it."""
    first: dict[str, int] = {}
    for address, number in _addresses(html):
        _, _, rest = address.partition("//")
        host = _host_of(rest)
        if host and not rest.startswith(KNOWN):
            first.setdefault(host, number)
    lines = lines_of(html) if first else []
    return {host: lines[number] for host, number in first.items()}


def _host_of(rest: str) -> str:
    try:
        return urlsplit(f"//{rest}").netloc
    except ValueError:  # no address that a browser would ask
        return ""


def _addresses(html: str) -> Iterator[tuple[str, int]]:
    """Yield addresses of other hosts, each with the number of its element."""
    number = 0
    for step in steps(html):
        if step.kind == "start":
            number = step.number
            address = step.attributes.get(_LOADS.get(step.name, ""), "").strip()
            is_picture = step.name == "link" and "icon" in step.attributes.get("rel", "")
            if _IS_ELSEWHERE.match(address) and not is_picture:
                yield address, number
        elif step.kind == "text" and step.name == "style":
            for match in _IN_STYLE.finditer(step.text):
                yield match[1], number
