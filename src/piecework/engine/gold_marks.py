"""What a worker is told of marks that differ from the known ones."""

from typing import NamedTuple

from piecework.analyses.regions import Extents, Marks, marks_in, matched
from piecework.domain.field import Field
from piecework.domain.hit import Item
from piecework.domain.task import GOLD, Task
from piecework.domain.text import one_line, plural, regions_in_words, spans_in_characters
from piecework.hit_templates.own_html.page import marked_text

_MOST_QUOTED = 10
_LONGEST_QUOTED = 60


class MarksCompared(NamedTuple):
    """A worker's marks beside the known ones, in words.

    Attributes:
        compared: a sentence about how many marks match; "" if nothing is marked or known.
    """

    own: str
    known: str
    compared: str


def marks_compared(task: Task, field: Field, item: Item, sent: str) -> MarksCompared:
    """Return the words for a worker about the marks of an item with a known answer."""
    expected = item.columns[GOLD + field.name]
    marks = marks_in(sent), marks_in(expected, is_merged=True)
    text = marked_text(task, field, item)
    own, known = (
        regions_in_words(answer, field.regions) if text is None else _quoted(each, text)
        for answer, each in zip((sent, expected), marks, strict=True)
    )
    return MarksCompared(own, known, _sentence(*marks))


def _sentence(own: Marks | None, known: Marks | None) -> str:
    met, drawn, there = matched(own, known) or (0, 0, 0)
    if not drawn or not there:
        return ""
    others = drawn - met
    verb = "was" if 1 in {met, there} else "were"
    rest = f"; {others} of your marks {'matches' if others == 1 else 'match'} none"
    return f"{met} of {plural(there, 'known mark')} {verb} found{rest if others else ''}."


def _quoted(marks: Marks | None, text: str) -> str:
    """Return the words of a text that spans mark, with their labels."""
    if not isinstance(marks, Extents) or not len(marks):
        return "no spans"
    places = spans_in_characters(text, ((low, high) for low, high in marks.ends[:, 0].tolist()))
    quoted = [
        f"{label}: {one_line(text[start:end], at_most=_LONGEST_QUOTED)}"
        for (start, end), label in sorted(zip(places, marks.labels, strict=True))
    ]
    more = len(quoted) - _MOST_QUOTED
    return "; ".join([*quoted[:_MOST_QUOTED], *([f"{more} more"] if more > 0 else [])])
