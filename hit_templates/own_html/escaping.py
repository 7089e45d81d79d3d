"""Escapes a value for its place in a page."""

import json
import re
from collections.abc import Callable, Mapping
from html import escape

from piecework.hit_templates.own_html.contexts import Context, Place

_FOR_JS = str.maketrans(
    {char: f"\\u{ord(char):04x}" for char in "\"'`\\<>&$\n\r\t\x0b\x0c\u2028\u2029"}
)
_TEXTS = {"quotes", "template literal"}
_NOT_BARE = re.compile(r"[^A-Za-z0-9._:/-]")
_NOT_CSS = re.compile(r"[^A-Za-z0-9 #%.,-]")


def written(value: str, place: Place, *, is_markup: bool = False) -> str:
    """Return the value escaped for its place, and for what that lies in.

    Args:
        value: the item's value.
        place: where it goes.
        is_markup: whether markup in a text stays markup.
    """
    if place.context == "script":
        text = _in_script(value, place)
    elif place.context == "text" and is_markup:
        text = value
    else:
        is_address = place.context in {"address", "url"}
        escaped = _ESCAPES.get(place.context, escape)
        text = escaped(value.strip() if is_address else value)
    for context in place.within:
        text = _ESCAPES.get(context, escape)(text)
    return text


def _in_script(value: str, place: Place) -> str:
    if place.in_script == "code":
        return _literal(value)
    text = value.translate(_FOR_JS)
    # A slash ends a comment or a pattern.
    return text if place.in_script in _TEXTS else text.replace("/", "\\u002f")


def _literal(value: str) -> str:
    """Return numbers, lists and objects as they are, others as JavaScript strings."""
    try:
        parsed = json.loads(value)
    except (ValueError, RecursionError):
        parsed = value
    if isinstance(parsed, str):
        parsed = value
    text = json.dumps(parsed)  # plain ASCII, so without JavaScript's line separators
    return text.replace("<", "\\u003c").replace(">", "\\u003e")


def _bare(value: str) -> str:
    return _NOT_BARE.sub(lambda match: f"&#{ord(match[0])};", value) or "&#8203;"


def _script_address(value: str) -> str:
    """Return the code for an address, which a browser decodes before it runs it."""
    return value.replace("%", "%25")


def _css(value: str) -> str:
    return _NOT_CSS.sub(lambda match: f"\\{ord(match[0]):x} ", value)


_ESCAPES: Mapping[Context, Callable[[str], str]] = {
    "bare": _bare,
    "script address": _script_address,
    "style": _css,
    "url": _css,
}
