"""Finds the other hosts from which a page loads scripts, styles and frames."""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from urllib.parse import urlsplit

from piecework.hit_templates.own_html.markup import lines_of, steps
from piecework.hit_templates.own_html.page import KNOWN
from piecework.hit_templates.own_html.placeholders import cut

_LOADS = {"script": "src", "link": "href", "iframe": "src", "embed": "src"}
_IS_ELSEWHERE = re.compile(r"(?:https?:)?//", re.IGNORECASE)
_IN_STYLE = re.compile(
    r"""(?:@import\s+|url\()(?:url\()?\s*["']?((?:https?:)?//[^"')\s]+)"""
)


def hosts_refused(path: Path, html: str, allowed: Sequence[str]) -> dict[str, str]:
    """Return hosts that a page uses without permission, each with its message."""
    return {
        host: f"{path}: line {line}: the page loads from {host}, which is not allowed."
        for host, line in _hosts_of(cut(html).marked).items()
        if host not in allowed
    }


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
            is_picture = step.name == "link" and "icon" in step.attributes.get(
                "rel", ""
            )
            if _IS_ELSEWHERE.match(address) and not is_picture:
                yield address, number
        elif step.kind == "text" and step.name == "style":
            for match in _IN_STYLE.finditer(step.text):
                yield match[1], number
