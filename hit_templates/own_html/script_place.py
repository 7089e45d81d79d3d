r"""Finds a place in a script: in code, a string, a comment or a pattern.

A value in a string is escaped differently from one in code, and `${...}` in a template
literal may be JavaScript's own. Template literals nest: `${` leads back to code.
"""

import re
from typing import Literal

ScriptPlace = Literal["code", "quotes", "template literal", "comment", "pattern"]

_State = Literal["code", '"', "'", "`", "//", "/*", "/", "["]

_ENDS: dict[_State, re.Pattern[str]] = {
    "code": re.compile(r"""//|/\*|<!--|["'`{}/]"""),
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
    r"(?:\A|[(,=:\[!&|?{};+*%~^<>-]|\b(?:return|typeof|case|in|of|void|do|else))\s*\Z"
)
"""After these characters a slash begins a pattern; after others it divides."""


def script_place(before: str) -> ScriptPlace:
    r"""Return the place of what follows this part of a script.

    >>> script_place("x = 'it is "), script_place("x = 'a'; y = ")
    ('quotes', 'code')
    >>> script_place("x = `a ${b.map(c => `"), script_place("x = `a ${")
    ('template literal', 'code')
    """
    states: list[_State] = ["code"]
    at = 0
    while match := _ENDS[states[-1]].search(before, at):
        text, start, at = match[0], match.start(), match.end()
        if text.startswith("\\"):
            continue
        if states[-1] == "code":
            _change_in_code(states, text, before[max(0, start - _LOOK_BACK) : start])
        elif text in {"${", "["}:
            states.append("code" if text == "${" else "[")
        else:
            is_cut_off = states.pop() == "[" and text == "\n"
            if is_cut_off:  # A pattern ends with its line.
                states.pop()
    return _PLACES[states[-1]]


def _change_in_code(states: list[_State], text: str, before: str) -> None:
    """Update the states for the next text in code."""
    if text == "/":
        if _BEFORE_PATTERN.search(before):
            states.append("/")
    elif text != "}":
        states.append(_BEGINNINGS[text])
    elif len(states) > 1:
        states.pop()
