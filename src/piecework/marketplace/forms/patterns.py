"""AnswerFormatRegex: matches a requester's patterns without blocking the server.

A requester's pattern can take extremely long on a worker's text. So an engine that can
be stopped matches texts outside the event loop, lets other threads run meanwhile, and
gives all patterns of a form a tenth of a second. A text without a result by then counts
as a match: a worker must not suffer for a requester's pattern.
"""

import asyncio
import logging
import re
from collections.abc import Callable, Collection, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from time import monotonic
from types import MappingProxyType
from typing import TypeVar

import regex  # type: ignore[import-untyped] # its stubs are not locked

_LOG = logging.getLogger(__name__)

_SECONDS = 0.1
"""The time limit for all patterns of a submitted form."""

_MOST_WAITING = 20
"""The most forms that may wait for the thread; patterns of others are not checked."""

_HARMLESS = re.compile(
    r"(?P<start>\^?)"
    r"(?:(?:[^\\()\[\]{}*+?|^$]|\\[dDwWsS]|\\[^a-zA-Z0-9]"
    r"|\[\^?(?:[^\[\]\\^&]|\\[dDwWsS]|\\[^a-zA-Z0-9])+\])"
    r"(?:(?P<loop>[*+]|\{[0-9]+,\}|\{[0-9]+(?:,[0-9]+)?\})|\?)?)*"
    r"\$?"
)
_PART = re.compile(r"\\.|\[(?:[^\]\\]|\\.)*\]?|\$", re.DOTALL)
_IN_CLASS = re.compile(r"(-?)\\([dDwW])(-?)|\\.", re.DOTALL)
_MEMBERS = {
    "d": "0-9",
    "D": r"\x00-\x2f\x3a-\U0010ffff",
    "w": "0-9A-Za-z_",
    # Without the two signs whose capital or small letter is of ASCII.
    "W": r"\x00-\x2f\x3a-\x40\x5b-\x5e\x60\x7b-\u017e\u0180-\u2129\u212b-\U0010ffff",
}
_WORD = f"[{_MEMBERS['w']}]"
_IN_JAVASCRIPT = {
    "$": r"\Z",
    r"\d": "[0-9]",
    r"\D": "[^0-9]",
    r"\w": _WORD,
    r"\W": f"[^{_MEMBERS['w']}]",
    r"\b": f"(?(?<={_WORD})(?!{_WORD})|(?={_WORD}))",
    r"\B": f"(?(?<={_WORD})(?={_WORD})|(?!{_WORD}))",
}
"""What the engine reads in another way than JavaScript does: in Python, `$` also fits before
a last line feed, and digits and letters are those of all scripts."""
_LOOP = re.compile(r"(?<!\\)(?:[*+]|\{[0-9]+,\}|\{(?:[0-9]+,)?[0-9]{2,}\})")


MOST_UNROLLED = 10_000
"""The most characters of a form's patterns with their counts unrolled. Each takes about
two microseconds, and all other calls wait for it."""

_TOKEN = re.compile(r"\\.|\[(?:[^\]\\]|\\.)*\]|\{\s*0*(?P<least>[0-9]{1,9})[^}]*\}|.", re.DOTALL)
_COMMENT = re.compile(r"\(\?(?:#|[a-zA-Z]*x)")
"""What the engine skips; `unrolled` would read a bracket in it as a class."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Format:
    """A pattern that must match somewhere in an answer, as JavaScript's `test`.

    Attributes:
        complaint: the requester's own words about what does not match, or "".
    """

    source: str
    ignores_case: bool
    complaint: str

    @property
    def is_quick(self) -> bool:
        """Whether every engine matches it fast, so that the page can check it as well.

        It may hold only characters and classes, each repeated alone, with one loop if
        it begins with `^` and none otherwise.
        """
        if not _HARMLESS.fullmatch(self.source):
            return False
        loops = len(_LOOP.findall(_without_classes(self.source)))
        return loops <= self.source.startswith("^")


Match = tuple[Format, str]
Verdicts = Mapping[Match, bool]
"""Whether texts match their patterns."""

NO_VERDICTS: Verdicts = MappingProxyType({})

_Result = TypeVar("_Result")


class Unmatched(Exception):  # noqa: N818 - a question, not a fault
    """Texts must be matched against patterns before a form can be taken.

    Attributes:
        matches: the texts and patterns.
    """

    def __init__(self, matches: Collection[Match]) -> None:
        super().__init__(f"{len(matches)} texts must be matched")
        self.matches = matches


class _Matcher:
    """One thread that matches texts against patterns, one form after the other."""

    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="patterns")
        self._waiting = 0

    async def match(self, matches: Collection[Match]) -> dict[Match, bool]:
        if self._waiting >= _MOST_WAITING:
            _LOG.warning("did not check a form's patterns: too many forms are waiting")
            return dict.fromkeys(matches, True)
        self._waiting += 1
        try:
            loop = asyncio.get_running_loop()
            return await loop.run_in_executor(self._thread, matched, matches)
        finally:
            self._waiting -= 1


_MATCHER = _Matcher()


async def with_verdicts(act: Callable[[Verdicts], _Result]) -> _Result:
    """Call a function that takes a form, and match the texts that it asks for.

    Args:
        act: called again after it raises `Unmatched`, until when it must not change
            anything.
    """
    verdicts: dict[Match, bool] = {}
    while True:
        try:
            return act(verdicts)
        except Unmatched as asked:
            verdicts |= await _MATCHER.match(asked.matches)


def matched(matches: Collection[Match]) -> dict[Match, bool]:
    """Return whether each text matches; the rest matches when time is up."""
    ends = monotonic() + _SECONDS
    verdicts = dict.fromkeys(matches, True)
    for rule, text in matches:
        try:
            verdicts[rule, text] = _has(rule, text, ends - monotonic())
        except TimeoutError:
            _LOG.warning("stopped an AnswerFormatRegex that took too long")
            break
    return verdicts


def unrolled(source: str) -> int:
    r"""Count the characters and classes of a pattern with its counts unrolled.

    The engine unrolls the minimum count of a repeated group when it compiles a pattern,
    and nested groups multiply.

    >>> unrolled(r"^(\d{2}-){3}[a-z]+$")
    13
    """
    sizes, last = [0], 0
    for token in _TOKEN.finditer(_translated(source)):
        if token[0] == "(":
            sizes.append(0)
        elif token[0] == ")" and len(sizes) > 1:
            last = sizes.pop()
            sizes[-1] += last
        elif token["least"] or token[0] == "+":
            # Repeats beyond the minimum add one more copy, as a loop.
            is_loop = "," in token[0] or token[0] == "+"
            more = last * (int(token["least"] or 1) - 1 + is_loop)
            last, sizes[-1] = last + more, sizes[-1] + max(0, more)
        else:
            last = 1
            sizes[-1] += last
        if sizes[-1] > MOST_UNROLLED:
            break
    return sum(sizes)


def complaint_about(source: str) -> str:
    """Explain why a pattern is invalid; empty if it is valid.

    Args:
        source: a pattern of at most `MOST_UNROLLED`; compiling a larger one may exhaust
            time and memory.
    """
    if _COMMENT.search(source):
        return "JavaScript has no comments in patterns"
    try:
        regex.compile(_translated(source))
    except (regex.error, RecursionError, OverflowError, ValueError) as wrong:
        return str(wrong) or "it is nested too deeply"
    return ""


def _has(rule: Format, text: str, seconds: float) -> bool:
    if seconds <= 0:
        raise TimeoutError
    flags = regex.IGNORECASE if rule.ignores_case else 0
    source = _translated(rule.source)
    return bool(regex.search(source, text, flags, timeout=seconds, concurrent=True))


def _translated(source: str) -> str:
    r"""Return a pattern that the engine reads as JavaScript reads this one.

    >>> _translated(r"^\d[\w-]\$$")
    '^[0-9][0-9A-Za-z_\\-]\\$\\Z'
    """
    return _PART.sub(_translated_part, source)


def _translated_part(part: re.Match[str]) -> str:
    if part[0].startswith("["):
        return _IN_CLASS.sub(_translated_member, part[0])
    return _IN_JAVASCRIPT.get(part[0], part[0])


def _translated_member(member: re.Match[str]) -> str:
    if member[2] is None:
        return member[0]
    # A hyphen beside a class of characters stands for itself.
    before, after = (hyphen and r"\-" for hyphen in member.group(1, 3))
    return before + _MEMBERS[member[2]] + after


def _without_classes(source: str) -> str:
    """Replace each class by a letter, since signs in a class do not repeat anything."""
    return re.sub(r"\[(?:[^\]\\]|\\.)*\]", "x", source)
