"""AnswerFormatRegex: a requester's pattern on a worker's text, and a patient server.

Some patterns take longer on some texts than anybody will wait, and neither the pattern
nor the text is ours. So texts are matched beside the event loop, by an engine that can
be stopped and lets other threads run meanwhile, and a form has a tenth of a second for
all of its patterns. What is not known by then fits: a worker must not suffer for a
requester's pattern.
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
"""For all patterns of a form that was sent."""

_MOST_WAITING = 20
"""Forms that wait for the one thread; those beyond are not held to their patterns."""

_HARMLESS = re.compile(
    r"(?P<start>\^?)"
    r"(?:(?:[^\\()\[\]{}*+?|^$]|\\[dDwWsS]|\\[^a-zA-Z0-9]"
    r"|\[\^?(?:[^\[\]\\^&]|\\[dDwWsS]|\\[^a-zA-Z0-9])+\])"
    r"(?:(?P<loop>[*+]|\{[0-9]+,\}|\{[0-9]+(?:,[0-9]+)?\})|\?)?)*"
    r"\$?"
)
_LOOP = re.compile(r"(?<!\\)(?:[*+]|\{[0-9]+,\}|\{(?:[0-9]+,)?[0-9]{2,}\})")


MOST_UNROLLED = 10_000
"""Characters that the patterns of a form may come to with their counts unrolled, which
takes about two microseconds each; all other calls wait for it."""

_TOKEN = re.compile(
    r"\\.|\[(?:[^\]\\]|\\.)*\]|\{\s*0*(?P<least>[0-9]{1,9})[^}]*\}|.", re.DOTALL
)
_COMMENT = re.compile(r"\(\?(?:#|[a-zA-Z]*x)")
"""What the engine skips; a bracket in it would be taken for a class by `unrolled`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Format:
    """A pattern that an answer must have somewhere in it, as JavaScript's `test`."""

    source: str
    ignores_case: bool
    complaint: str

    @property
    def is_quick(self) -> bool:
        """Whether any engine is quick with it, so that a page can hold it as well.

        Nothing but characters and classes, repeated one by one: a loop once if the
        pattern begins with `^`, else not at all.
        """
        if not _HARMLESS.fullmatch(self.source):
            return False
        loops = len(_LOOP.findall(_without_classes(self.source)))
        return loops <= self.source.startswith("^")


Match = tuple[Format, str]
Verdicts = Mapping[Match, bool]
"""Whether texts have their patterns."""

NO_VERDICTS: Verdicts = MappingProxyType({})

_Result = TypeVar("_Result")


class Unmatched(Exception):  # noqa: N818 - a question, not a fault
    """Texts have to be held against patterns before a form can be taken.

    Attributes:
        matches: which.
    """

    def __init__(self, matches: Collection[Match]) -> None:
        super().__init__(f"{len(matches)} texts are to be matched")
        self.matches = matches


class _Matcher:
    """One thread, which holds texts against patterns; forms wait for one another."""

    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="patterns")
        self._waiting = 0

    async def match(self, matches: Collection[Match]) -> dict[Match, bool]:
        if self._waiting >= _MOST_WAITING:
            _LOG.warning("did not hold a form to its patterns: too many are waiting")
            return dict.fromkeys(matches, True)
        self._waiting += 1
        try:
            loop = asyncio.get_running_loop()
            return await loop.run_in_executor(self._thread, matched, matches)
        finally:
            self._waiting -= 1


_MATCHER = _Matcher()


async def with_verdicts(act: Callable[[Verdicts], _Result]) -> _Result:
    """What a function gives that takes a form; texts are matched when it asks for it.

    Args:
        act: is called again when it has raised `Unmatched`, which must have changed
            nothing.
    """
    verdicts: dict[Match, bool] = {}
    while True:
        try:
            return act(verdicts)
        except Unmatched as asked:
            verdicts |= await _MATCHER.match(asked.matches)


def matched(matches: Collection[Match]) -> dict[Match, bool]:
    """Whether each text has its pattern; when time is up, the rest has."""
    ends = monotonic() + _SECONDS
    verdicts = dict.fromkeys(matches, True)
    for rule, text in matches:
        try:
            verdicts[rule, text] = _has(rule, text, ends - monotonic())
        except TimeoutError:
            _LOG.warning("gave up on an AnswerFormatRegex that takes too long")
            break
    return verdicts


def unrolled(source: str) -> int:
    r"""How many characters and classes a pattern comes to when its counts are unrolled.

    The engine unrolls the least count of a repeated group when it reads a pattern, and
    groups in groups multiply.

    >>> unrolled(r"^(\d{2}-){3}[a-z]+$")
    13
    """
    sizes, last = [0], 0
    for token in _TOKEN.finditer(source):
        if token[0] == "(":
            sizes.append(0)
        elif token[0] == ")" and len(sizes) > 1:
            last = sizes.pop()
            sizes[-1] += last
        elif token["least"] or token[0] == "+":
            # What may come more often stands once more, as a loop.
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
    """Why a pattern is none; empty if it is one.

    Args:
        source: what comes to `MOST_UNROLLED` at most; else to read it may take all
            time and memory.
    """
    if _COMMENT.search(source):
        return "comments are none of JavaScript's"
    try:
        regex.compile(source)
    except (regex.error, RecursionError, OverflowError, ValueError) as wrong:
        return str(wrong) or "it is too deep"
    return ""


def _has(rule: Format, text: str, seconds: float) -> bool:
    if seconds <= 0:
        raise TimeoutError
    flags = regex.IGNORECASE if rule.ignores_case else 0
    match = regex.search(rule.source, text, flags, timeout=seconds, concurrent=True)
    return match is not None


def _without_classes(source: str) -> str:
    """The pattern with a letter for each class, whose signs repeat nothing."""
    return re.sub(r"\[(?:[^\]\\]|\\.)*\]", "x", source)
