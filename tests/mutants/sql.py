"""Small changes to SQL, which no mutation tool makes: it takes a query for one string.

A condition is turned into its opposite, or made to hold always: that is what a query
with a forgotten condition does. An order is reversed.
"""

import re

Change = tuple[int, int, str]
"""Where the text that is replaced begins and ends, and what stands there instead."""

_OPPOSITES = {
    "=": "<>",
    "<>": "=",
    ">": "<=",
    "<": ">=",
    ">=": "<",
    "<=": ">",
    "IS NULL": "IS NOT NULL",
    "IS NOT NULL": "IS NULL",
}
_CONDITION = re.compile(
    r"(?:(?<=\bWHERE )|(?<=\bAND )|(?<=\bOR )|(?<=\bON )|(?<=\bAND \()|(?<=\bWHERE \())"
    r"(?P<left>[\w.]+|\([^()]*\)) "
    r"(?:(?P<test>IS NOT NULL|IS NULL)"
    r"|(?P<sign><>|<=|>=|=|<|>) (?P<right>\?|:\w+|'[^']*'|\w+\([^()]*\)|[\w.]+))"
)
_WORDS = {
    r"\bAND\b": "OR",
    r"\bOR\b": "AND",
    r"\bNOT EXISTS\b": "EXISTS",
    r"(?<!NOT )\bEXISTS\b": "NOT EXISTS",
    r"\bmin\(": "max(",
    r"\bmax\(": "min(",
    r"\bsum\(": "count(",
    r"\bORDER BY [\w.]+": r"\g<0> DESC",
}


def changes(text: str) -> list[Change]:
    """Every small change to a piece of a query; none if it is not SQL.

    >>> [after for _, _, after in changes("SELECT 1 FROM hits WHERE batch = ?")]
    ['batch <> ?', '(batch = ? OR TRUE)']
    """
    if not re.search(r"\b(SELECT|FROM|WHERE|AND|UPDATE|DELETE|ORDER BY)\b", text):
        return []
    return [*_of_conditions(text), *_of_words(text)]


def _of_conditions(text: str) -> list[Change]:
    made: list[Change] = []
    for match in _CONDITION.finditer(text):
        sign = match["test"] or match["sign"]
        opposite = match[0].replace(f" {sign}", f" {_OPPOSITES[sign]}", 1)
        made += [
            (match.start(), match.end(), opposite),
            (match.start(), match.end(), f"({match[0]} OR TRUE)"),
        ]
    return made


def _of_words(text: str) -> list[Change]:
    return [
        (match.start(), match.end(), match.expand(other))
        for word, other in _WORDS.items()
        for match in re.finditer(word, text)
    ]
