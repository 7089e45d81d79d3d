"""Finds the other hosts from which a page loads scripts, styles and frames."""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from urllib.parse import urlsplit

from piecework.hit_templates.own_html.markup import attributes, pieces
from piecework.hit_templates.own_html.page import KNOWN

_LOADS = {"script": "src", "link": "href", "iframe": "src", "embed": "src"}
_IN_STYLE = re.compile(
    r"""(?:@import\s+|url\()(?:url\()?\s*["']?((?:https?:)?//[^"')\s]+)"""
)


def hosts_refused(path: Path, html: str, allowed: Sequence[str]) -> dict[str, str]:
    """Return hosts that a page uses without permission, each with its message."""
    return {
        host: f"{path}: line {line}: the page loads from {host}, which is not allowed."
        for host, line in _hosts_of(html).items()
        if host not in allowed
    }


def _hosts_of(html: str) -> dict[str, int]:
    """Return the hosts that must be allowed, each with the first line that names it."""
    first_lines: dict[str, int] = {}
    for address, at in _addresses(html):
        _, _, rest = address.partition("//")
        host = urlsplit(f"//{rest}").netloc
        if host and not rest.startswith(KNOWN):
            first_lines.setdefault(host, html.count("\n", 0, at) + 1)
    return first_lines


def _addresses(html: str) -> Iterator[tuple[str, int]]:
    for piece in pieces(html):
        if piece.kind == "style":
            for match in _IN_STYLE.finditer(piece.text):
                yield match[1], piece.start + match.start()
        elif piece.kind == "tag" and piece.name in _LOADS:
            values = attributes(piece.text)
            address = values.get(_LOADS[piece.name], "")
            is_picture = piece.name == "link" and "icon" in values.get("rel", "")
            if re.match(r"(?:https?:)?//", address) and not is_picture:
                yield address, piece.start
