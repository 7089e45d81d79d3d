"""Put values into a page that a person wrote, so that each stays what its place is for.

A value must be escaped for its place: text, attribute, address, script or style. Each
placeholder becomes a word of its own, the page is read by an HTML5 parser, and the place
where the word comes out is the placeholder's. A value whose word comes out nowhere, as in
the second attribute of a name, is escaped for every place.

In a script, a value in a string is escaped differently from one in code, and `${...}` in a
template literal may be JavaScript's own. Template literals nest: `${` leads back to code.

MTurk inserted the value of `${...}` as it was, so its tables of items hold what that needs:
markup, references such as `&quot;`, JSON with backslashes. Such a value means here what
it meant there, without what could run a script.
"""

import ast
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from html import escape
from itertools import count
from typing import Literal

from piecework.hit_templates.own_html.markup import (
    attributes_of,
    decoded,
    is_markup,
    safe_markup,
    steps,
)

ADDRESSES = frozenset(
    {"src", "href", "xlink:href", "action", "formaction", "poster", "data", "background"}
)
"""Attributes that hold an address."""

ScriptPlace = Literal["code", "list", "quotes", "template literal", "comment", "pattern"]

_State = Literal["code", '"', "'", "`", "//", "/*", "/", "["]

_ENDS: dict[_State, re.Pattern[str]] = {
    "code": re.compile(r"""//|/\*|<!--|["'`{}()/]"""),
    '"': re.compile(r'\\.|["\n]', re.DOTALL),
    "'": re.compile(r"\\.|['\n]", re.DOTALL),
    "`": re.compile(r"\\.|`|\$\{", re.DOTALL),
    "//": re.compile(r"\n"),
    "/*": re.compile(r"\*/"),
    "/": re.compile(r"\\.|[/\[\n]"),
    "[": re.compile(r"\\.|[\]\n]"),
}
"""The characters that end each state, or begin another one inside it."""

_PLACES: dict[_State, ScriptPlace] = {
    "code": "code",
    '"': "quotes",
    "'": "quotes",
    "`": "template literal",
    "//": "comment",
    "/*": "comment",
    "/": "pattern",
    "[": "pattern",
}
_BEGINNINGS: dict[str, _State] = {
    "//": "//",
    "<!--": "//",
    "/*": "/*",
    '"': '"',
    "'": "'",
    "`": "`",
    "{": "code",
}
_LOOK_BACK = 40
_BEFORE_PATTERN = re.compile(
    r"(?:\A|[(,=:\[!&|?{};*%~^<>]|(?<!\+)\+|(?<!-)-|"
    r"\b(?:return|typeof|case|in|of|void|do|else))\s*\Z"
)
"""After these characters a slash begins a pattern; after others it divides."""
_BEFORE_HEAD = re.compile(r"(?<![.\w$])(?:if|while|for|with)\s*\Z")
"""The words before a condition in parentheses, after which a slash begins a pattern."""


def script_place(before: str) -> ScriptPlace:
    r"""Return the place of what follows this part of a script.

    >>> script_place("x = 'it is "), script_place("x = 'a'; y = ")
    ('quotes', 'code')
    >>> script_place("x = `a ${b.map(c => `"), script_place("x = `a ${")
    ('template literal', 'code')
    >>> script_place("x = ["), script_place("x = [/[")
    ('list', 'pattern')
    """
    states: list[_State] = ["code"]
    heads = _Heads()
    at = 0
    while match := _ENDS[states[-1]].search(before, at):
        text, start, at = match[0], match.start(), match.end()
        if text.startswith("\\"):
            continue
        if states[-1] == "code":
            _change_in_code(states, heads, text, before[max(0, start - _LOOK_BACK) : start])
        elif text in {"${", "["}:
            states.append("code" if text == "${" else "[")
        else:
            is_cut_off = states.pop() == "[" and text == "\n"
            if is_cut_off:  # A pattern ends with its line.
                states.pop()
    place = _PLACES[states[-1]]
    return "list" if place == "code" and before.rstrip().endswith("[") else place


@dataclass(slots=True)
class _Heads:
    """Which parentheses hold the condition of a statement.

    Attributes:
        are_open: whether each that is open does.
        was_last: whether the last that was closed did.
    """

    are_open: list[bool] = field(default_factory=list)
    was_last: bool = False


def _change_in_code(states: list[_State], heads: _Heads, text: str, before: str) -> None:
    """Update the states for the next text in code."""
    if text == "(":
        heads.are_open.append(_BEFORE_HEAD.search(before) is not None)
    elif text == ")":
        heads.was_last = bool(heads.are_open) and heads.are_open.pop()
    elif text == "/":
        is_after_head = heads.was_last and before.rstrip().endswith(")")
        if is_after_head or _BEFORE_PATTERN.search(before):
            states.append("/")
    elif text != "}":
        states.append(_BEGINNINGS[text])
    elif len(states) > 1:
        states.pop()


Context = Literal[
    "text",
    "plain text",
    "comment",
    "attribute",
    "bare",
    "address",
    "link",
    "style",
    "url",
    "script",
    "script address",
    "attributes",
    "tag",
]
"""Text between tags, text of an element that has no others, a comment, a quoted attribute,
an attribute without quotes, the beginning of an address that is loaded, or is linked to,
CSS, an address in CSS, JavaScript, an address that is JavaScript, whole attributes of a
tag, or a part of the name of a tag or an attribute."""

_LINKS = frozenset({"a", "area"})
_SENT_TO = frozenset({"action", "formaction"})
"""Elements and attributes with addresses that no browser loads by itself."""

_PLAIN = frozenset({"textarea", "title"})
"""Elements that hold text alone."""

_URL = re.compile(r"""\burl\(\s*["']?\Z""", re.IGNORECASE)
_BEGINS_VALUE = re.compile(r"""(?:[=(,\[:?|&{]|\breturn)\s*["'`]?\Z""")
_SERVED = "/pictures/"
_SCRIPT_ADDRESS = re.compile(r"\s*javascript:", re.IGNORECASE)
_NOT_IN_TEMPLATES = frozenset({"text", "plain text", "comment", "tag", "attributes"})
"""What a template may have anywhere: conditions and loops of its own stand between."""
_NO_SCRIPT = re.compile(r"text/(?!\S*(?:java|ecma|type|live|coffee|babel|jsx))|x-")
"""Types of scripts that hold a template's markup instead of code."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a placeholder is.

    Attributes:
        context: the innermost context.
        within: what that lies in, from the inside: JavaScript in an attribute, or the
            document of a `srcdoc`.
        in_script: where in its script; "code" outside of scripts.
        begins_value: whether it begins a value in its script, and so may be an address;
            false if the script itself states where pictures are served.
        is_bare: whether it is an address without quotes, which ends at a space.
    """

    context: Context
    within: tuple[Context, ...] = ()
    in_script: ScriptPlace = "code"
    begins_value: bool = False
    is_bare: bool = False


_NOWHERE = Place(context="bare")
_IN_TAGS: frozenset[Context] = frozenset({"attribute", "address", "link"})


def places(texts: Sequence[str]) -> list[Place]:
    """Return the place of each placeholder of a page.

    Args:
        texts: the page's texts between its placeholders.
    """
    if len(texts) == 1:
        return []
    page = "".join(texts).lower()
    word = next(name for n in count() if (name := f"gap{n}x") not in page)
    by_number = _Words(word).places(_joined(texts, "", word))
    if any(_IN_TAGS & {place.context, *place.within} for place in by_number.values()):
        by_number = _with_bare(by_number, texts, word)
    return [by_number.get(n, _NOWHERE) for n in range(len(texts) - 1)]


def _joined(texts: Sequence[str], after: str, word: str) -> str:
    parts = [texts[0]]
    for n, text in enumerate(texts[1:]):
        parts += [f"{word}{n}z{after}", text]
    return "".join(parts)


def _with_bare(by_number: Mapping[int, Place], texts: Sequence[str], word: str) -> dict[int, Place]:
    """Tell quoted attributes from those without quotes, which end at a space."""
    spaced = {
        int(number)
        for step in steps(_joined(texts, " .", word))
        for value in step.attributes.values()
        for number in re.findall(rf"{word}([0-9]+)z \.", value)
    }
    return {n: place if n in spaced else _without_quotes(place) for n, place in by_number.items()}


def _without_quotes(place: Place) -> Place:
    if not place.within:
        return _as_bare(place)
    return replace(place, within=(*place.within[:-1], _bare(place.within[-1])))


def _as_bare(place: Place) -> Place:
    """Return the place as if no attribute around it had quotes: safe in any."""
    within = tuple(map(_bare, place.within))
    is_address = place.context in {"address", "link"}
    return replace(place, context=_bare(place.context), within=within, is_bare=is_address)


def _bare(context: Context) -> Context:
    return "bare" if context == "attribute" else context


def _in_srcdoc(numbered: tuple[int, Place]) -> tuple[int, Place]:
    return numbered[0], _as_bare(numbered[1])


class _Words:
    """Finds the words of placeholders in a document."""

    def __init__(self, word: str) -> None:
        self._word = re.compile(rf"{word}([0-9]+)z", re.IGNORECASE)

    def places(self, html: str) -> dict[int, Place]:
        """Return the place of each word that comes out somewhere."""
        return dict(self._in_document(html))

    def _in_document(self, html: str) -> Iterator[tuple[int, Place]]:
        script_type = ""
        for step in steps(html):
            if step.kind == "start":
                script_type = step.attributes.get("type", "").strip().lower()
                yield from self._in_tag(step.name, step.attributes)
            elif step.kind == "comment":
                yield from self._all_in(step.text, Place(context="comment"))
            elif step.name == "script" and not _NO_SCRIPT.match(script_type):
                yield from self._in_script(step.text)
            elif step.name == "style":
                yield from self._in_style(step.text)
            elif step.name == "script":
                yield from self._in_template(step.text)
            else:
                context: Context = "plain text" if step.name in _PLAIN else "text"
                yield from self._all_in(step.text, Place(context=context))

    def _in_template(self, html: str) -> Iterator[tuple[int, Place]]:
        """Yield the places in the markup that a script fills in and shows."""
        # Its own placeholders may be `${...}` too.
        own = Place(context="text", in_script="template literal")
        inside = dict(self._in_document(html))
        for number, _ in self._all_in(html, own):
            place = inside.get(number, own)
            if place.context in _IN_TAGS:
                context: Context = "attribute" if place.context == "attribute" else "link"
                yield (
                    number,
                    replace(_as_bare(replace(place, context=context)), in_script=own.in_script),
                )
            else:
                yield number, own if place.context in _NOT_IN_TEMPLATES else place

    def _all_in(self, text: str, place: Place) -> Iterator[tuple[int, Place]]:
        for match in self._word.finditer(text):
            yield int(match[1]), place

    def _in_script(self, text: str) -> Iterator[tuple[int, Place]]:
        for match in self._word.finditer(text):
            before = text[: match.start()]
            begins = _BEGINS_VALUE.search(before) is not None and _SERVED not in text
            yield (
                int(match[1]),
                Place(context="script", in_script=script_place(before), begins_value=begins),
            )

    def _in_style(self, text: str) -> Iterator[tuple[int, Place]]:
        for match in self._word.finditer(text):
            is_url = _URL.search(text[: match.start()]) is not None
            yield int(match[1]), Place(context="url" if is_url else "style")

    def _in_tag(self, name: str, attributes: Mapping[str, str]) -> Iterator[tuple[int, Place]]:
        yield from self._all_in(name, Place(context="tag"))
        for key, value in attributes.items():
            is_whole = self._word.fullmatch(key) is not None and not value
            yield from self._all_in(key, Place(context="attributes" if is_whole else "tag"))
            if self._word.search(value):
                yield from self._in_attribute(name, key, value)

    def _in_attribute(self, tag: str, name: str, value: str) -> Iterator[tuple[int, Place]]:
        if name == "srcdoc":
            inner: Iterator[tuple[int, Place]] = map(_in_srcdoc, self._in_document(value))
        elif _SCRIPT_ADDRESS.match(value):
            inner = (
                (number, replace(place, within=("script address",)))
                for number, place in self._in_script(value)
            )
        elif name.startswith("on"):
            inner = self._in_script(value)
        elif name == "style":
            inner = self._in_style(value)
        else:
            is_data = name == "data" and tag != "object"
            context: Context = "link" if tag in _LINKS or name in _SENT_TO else "address"
            is_address = name in ADDRESSES and not is_data
            yield from self._in_value(context if is_address else "attribute", value)
            return
        for number, place in inner:
            yield number, replace(place, within=(*place.within, "attribute"))

    def _in_value(self, context: Context, value: str) -> Iterator[tuple[int, Place]]:
        for match in self._word.finditer(value):
            begins = not value[: match.start()].strip()
            yield int(match[1]), Place(context=context if begins else "attribute")


_FOR_JS = str.maketrans(
    {char: f"\\u{ord(char):04x}" for char in "\"'`\\<>&$\n\r\t\x0b\x0c\u2028\u2029"}
)
_TEXTS = {"quotes", "template literal"}
_NOT_BARE = re.compile(r"[^A-Za-z0-9._:/-]")
_NOT_CSS = re.compile(r"[^A-Za-z0-9 #%.,-]")


def written(
    value: str, place: Place, *, is_trusted_markup: bool = False, is_raw: bool = False
) -> str:
    """Return the value escaped for its place, and for what that lies in.

    Args:
        value: the item's value.
        place: where it goes.
        is_trusted_markup: whether markup in a text stays as it is.
        is_raw: whether MTurk would have inserted the value as it is.
    """
    if place.context == "script":
        text = _in_script(value, place, is_raw=is_raw)
    elif place.context == "text" and is_trusted_markup:
        text = value
    elif place.context == "text" and is_raw and is_markup(value):
        text = safe_markup(value)
    else:
        is_address = place.context in {"address", "link", "url"}
        escaped = _escape_bare if place.is_bare else _ESCAPES.get(place.context, escape)
        is_read = place.context in _DECODED or (is_address and value.lstrip().startswith("http"))
        meant = decoded(value) if is_raw and is_read else value
        text = escaped(meant.strip() if is_address else meant)
    for context in place.within:
        text = _ESCAPES.get(context, escape)(text)
    return text


_DECODED = {"text", "plain text", "attribute", "bare"}
"""Where a browser reads references; in an address, none may stand for its beginning."""


def _in_script(value: str, place: Place, *, is_raw: bool) -> str:
    if place.in_script == "list" and is_raw and _data(value) is None:
        members = _data(f"[{value}]")
        return _json(members)[1:-1] if members is not None else _literal(value)
    if place.in_script in {"code", "list"}:
        return _literal(value)
    if place.in_script == "quotes" and is_raw and "\\" in value and _data(value) is None:
        meant = _BACKSLASHED.sub(_unquoted, value)
        value = value if _data(meant) is None else meant
    text = value.translate(_FOR_JS)
    # A slash ends a comment or a pattern.
    return text if place.in_script in _TEXTS else text.replace("/", "\\u002f")


_BACKSLASHED = re.compile(r"\\(?:u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|(.))", re.DOTALL)
_LETTERS = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "v": "\v", "0": "\0"}


def _unquoted(match: re.Match[str]) -> str:
    code = match[1] or match[2]
    return chr(int(code, 16)) if code else _LETTERS.get(match[3], match[3])


def _literal(value: str) -> str:
    """Return numbers, lists and objects as they are, others as JavaScript strings."""
    try:
        parsed = json.loads(value)
    except (ValueError, RecursionError):
        data = _data(value)
        return _json(value if data is None else data)
    return _json(value if isinstance(parsed, str) else parsed)


def _data(value: str) -> object:
    """Return the list or the object that a text is, also with single quotes; else `None`."""
    if value.strip()[:1] not in {"[", "{"}:
        return None
    for read in (json.loads, ast.literal_eval):
        try:
            data = read(value.strip())
            _json(data)
        except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
            continue
        return data if isinstance(data, list | dict) else None
    return None


def _json(value: object) -> str:
    text = json.dumps(value)  # plain ASCII, so without JavaScript's line separators
    return text.replace("<", "\\u003c").replace(">", "\\u003e")


def _escape_bare(value: str) -> str:
    return _NOT_BARE.sub(lambda match: f"&#{ord(match[0])};", value) or "&#8203;"


def _script_address(value: str) -> str:
    """Return the code for an address, which a browser decodes before it runs it."""
    return value.replace("%", "%25")


def _css(value: str) -> str:
    return _NOT_CSS.sub(lambda match: f"\\{ord(match[0]):x} ", value)


_ESCAPES: Mapping[Context, Callable[[str], str]] = {
    "attributes": attributes_of,
    "bare": _escape_bare,
    "script address": _script_address,
    "style": _css,
    "url": _css,
}
