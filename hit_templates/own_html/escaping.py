"""A value written for the place in a page where it is to stand."""

import json
import re
from collections.abc import Callable, Mapping
from html import escape

from hit_templates.own_html.markup import Context

_FOR_JS = str.maketrans(
    {char: f"\\u{ord(char):04x}" for char in "\"'`\\<>&$\n\r\t\x0b\x0c\u2028\u2029"}
)
_NOT_BARE = re.compile(r"[^A-Za-z0-9._:/-]")
_NOT_CSS = re.compile(r"[^A-Za-z0-9 #%.,-]")


def written(value: str, context: Context, before: str) -> str:
    """The value as it has to be written there.

    Args:
        value: of an item.
        context: where it goes.
        before: in a script, what stands before it; else it does not matter.
    """
    if context == "script":
        if is_quoted(before):
            return value.translate(_FOR_JS)
        return _literal(value)
    return _ESCAPES.get(context, escape)(value)


def is_quoted(before: str) -> bool:
    r"""Whether what follows this part of a script is inside quotes.

    Backticks hold over lines; other quotes end with theirs.

    >>> is_quoted("x = 'it is "), is_quoted("x = 'a'; y = "), is_quoted("x = `a\n")
    (True, False, True)
    """
    if in_backticks(before):
        return True
    quote = ""
    line = before.rpartition("\n")[2]
    for char in re.sub(r"\\.", "", line):
        if quote:
            quote = "" if char == quote else quote
        elif char in "\"'":
            quote = char
    return bool(quote)


def in_backticks(before: str) -> bool:
    """Whether what follows this part of a script is inside a template literal."""
    return bool(re.sub(r"\\.", "", before).count("`") % 2)


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
    return _NOT_BARE.sub(lambda found: f"&#{ord(found[0])};", value) or "&#8203;"


def _event(value: str) -> str:
    return escape(value.translate(_FOR_JS))


def _css(value: str) -> str:
    return _NOT_CSS.sub(lambda found: f"\\{ord(found[0]):x} ", value)


_ESCAPES: Mapping[Context, Callable[[str], str]] = {
    "bare": _bare,
    "event": _event,
    "style": _css,
    "url": _css,
}
