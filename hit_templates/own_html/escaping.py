"""A value written for the place in a page where it is to stand."""

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
    """The value as it has to be written there.

    Args:
        value: of an item.
        context: where it goes.
        place: where in a script, if it is one; else it does not matter.
    """
    if context != "script":
        return _ESCAPES.get(context, escape)(value)
    if place == "code":
        return _literal(value)
    text = value.translate(_FOR_JS)
    # A slash ends a comment or a pattern.
    return text if place in _TEXTS else text.replace("/", "\\u002f")


def _literal(value: str) -> str:
    """A number, a list or an object as it is; anything else as a JavaScript string."""
    try:
        parsed = json.loads(value)
    except (ValueError, RecursionError):
        parsed = value
    if isinstance(parsed, str):
        parsed = value
    text = json.dumps(parsed)  # plain ASCII: no line separators of JavaScript's
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
