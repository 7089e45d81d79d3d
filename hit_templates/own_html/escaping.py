"""Escapes a value for its place in a page."""

import json
import re
from collections.abc import Callable, Mapping
from html import escape

from piecework.hit_templates.own_html.markup import Context
from piecework.hit_templates.own_html.script_place import ScriptPlace

_FOR_JS = str.maketrans(
    {char: f"\\u{ord(char):04x}" for char in "\"'`\\<>&$\n\r\t\x0b\x0c\u2028\u2029"}
)
_TEXTS = {"quotes", "template literal"}
_NOT_BARE = re.compile(r"[^A-Za-z0-9._:/-]")
_NOT_CSS = re.compile(r"[^A-Za-z0-9 #%.,-]")


def written(value: str, context: Context, place: ScriptPlace) -> str:
    """Return the value escaped for its place.

    Args:
        value: the item's value.
        context: where it goes.
        place: where in a script; ignored outside scripts.
    """
    if context != "script":
        return _ESCAPES.get(context, escape)(value)
    if place == "code":
        return _literal(value)
    text = value.translate(_FOR_JS)
    # A slash ends a comment or a pattern.
    return text if place in _TEXTS else text.replace("/", "\\u002f")


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


def _event(value: str) -> str:
    return escape(value.translate(_FOR_JS))


def _css(value: str) -> str:
    return _NOT_CSS.sub(lambda match: f"\\{ord(match[0]):x} ", value)


_ESCAPES: Mapping[Context, Callable[[str], str]] = {
    "bare": _bare,
    "event": _event,
    "style": _css,
    "url": _css,
}
