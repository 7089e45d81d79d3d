"""One answer for everything, where others' answers vary.

Idea: a worker who gives the same answer under every item may not have looked. The task
says in which fields an honest worker's answers vary; marks in one place are one answer.

Silent: below `min_items`, or if there are no other workers.

Naive reading: a long line of equal answers is bad. But if nine of ten items are alike,
a careful worker gives the same answer most of the time. So the line is compared with what
the others say about the same items: how likely is it that a worker whose answers are drawn
from theirs, item by item, gives this answer as often? The others' votes (single choices) weigh
each other by how good they are (`piecework.analyses.dawid_skene`): where one label is rare, those
who give it everywhere would make an honest line look rare. A worker of thousands of items is
never as usual, so the worker must also give other answers less than a quarter as often as the
others' answers about these items suggest. Boxes are the same answer if each is in the same
place of its picture (an IoU of 0.7, whatever their labels): nothing in every picture, one box
around all of it, or one that was drawn without looking. Spans are, if they are in the same
place of the text, counted from its beginning or as parts of the way to the last mark of any
worker. If honest marks are often in one place, the others' are as well.

Edge cases: a worker's second answer about an item does not count. A set of ticks is one
answer. Positions on a scale have a heuristic of their own (`low_scale_variance`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, NamedTuple, TypeAlias

from piecework.analyses.dawid_skene import beliefs_of_others
from piecework.analyses.regions import Extents, Marks, are_alike, marks_in
from piecework.domain.late_modules import np, npt, pd
from piecework.domain.text import plural, share
from piecework.domain.verdicts import SubjectKind
from piecework.qc.parameters import Amount, Count, Counted, Share
from piecework.qc.ratings import DRAWN, RATED, is_scale, merged_columns, rated_fields
from piecework.qc.scores import FIRST_ANSWER, Facts, Scope, grade_one
from piecework.qc.worker_scores import WorkerScore, own_answers, own_merged, rareness, workers_table

NAME = "straight_line"
TITLE = "Same answer everywhere"
VERSION = 3
SUBJECT: SubjectKind = "worker"
SCOPE: Scope = "campaign"
COLUMNS = (*FIRST_ANSWER, RATED, DRAWN)

Places: TypeAlias = "npt.NDArray[np.intp]"

_LEAST_WORKERS = 2
"""One worker has no others to compare with."""

_SAME_PLACE = 0.7
"""The IoU of marks that a hand draws again in the same place (ours)."""

_NEARLY_ALL = 0.8
"""A mark is around everything from this part of the picture on (ours)."""

_TRIED = 5
"""Answers of a worker that are tried: one of them is nearly surely in their line (ours)."""

_MOST_OTHERS = 0.25
"""A line has fewer other answers than this part of those expected (ours)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Params:
    """What counts as a line.

    Attributes:
        min_items: items a worker must have judged (ours).
        min_share: share of the worker's answers that are the same (ours).
        rarer_than: powers of ten; 3 flags what happens once in a thousand (ours).
    """

    min_items: Annotated[Count, Counted.OF_WORKER] = 10
    min_share: Share = 0.95
    rarer_than: Amount = 3.0


def score(table: pd.DataFrame, params: Params) -> pd.DataFrame:
    """One row per worker, in the order of their ids."""
    return workers_table(table, _scores(table, params))


def _scores(table: pd.DataFrame, params: Params) -> Iterator[WorkerScore]:
    for field, answers in own_answers(table, scales=False):
        if answers["worker_id"].nunique() < _LEAST_WORKERS:
            continue
        ratings = answers[RATED + field]
        expected = _expected(answers, field)
        for worker, places in _lines(answers, params):
            own = ratings.iloc[places]
            (rating, times), *_ = Counter(own).most_common(1)
            line = _Line(f"gives the same answer to {field}, {' and '.join(rating)},", "get it")
            yield _judged(worker, line, times, len(own), expected(rating, places), params)
    for merged in own_merged(table):
        # `same_sentence` judges what transcripts repeat.
        if merged.column.startswith(DRAWN) and merged.rows["worker_id"].nunique() >= _LEAST_WORKERS:
            yield from _of_drawn(merged.rows, merged.field, params)


def _lines(answers: pd.DataFrame, params: Params) -> Iterator[tuple[str, Places]]:
    """Yield the workers with enough answers, and the places of their rows."""
    for worker, rows in answers.groupby("worker_id").indices.items():
        if len(rows) >= params.min_items:
            yield str(worker), np.asarray(rows, dtype="intp")


class _Line(NamedTuple):
    """What a worker does on most items, in words.

    Attributes:
        done: by the worker.
        usual: what would happen to as many items, by the others' answers.
    """

    done: str
    usual: str


def _judged(
    worker: str, line: _Line, times: int, total: int, usual: float, params: Params
) -> WorkerScore:
    """Return the score of a worker who gave one answer so often.

    Args:
        worker: the id.
        line: the answer in words.
        times: how often the worker gave it.
        total: how many answers the worker gave.
        usual: how often a worker would give it whose answers are drawn from the others'.
        params: the limits.
    """
    rare = rareness(times, total, min(usual / total, 1.0))
    is_line = times / total >= params.min_share and total - times <= _MOST_OTHERS * (total - usual)
    flag = is_line and rare > params.rarer_than
    return WorkerScore(
        worker,
        grade_one(rare if is_line else 0.0, params.rarer_than, flag=flag),
        flag,
        f"{line.done} on {times} of {plural(total, 'item')}; by the others' answers about them, "
        f"{share(usual, total)} would {line.usual}",
    )


def _of_drawn(answers: pd.DataFrame, field: str, params: Params) -> Iterator[WorkerScore]:
    read = [_without_bitmaps(marks_in(text)) for text in answers[DRAWN + field].tolist()]
    answers = answers[[marks is not None for marks in read]]
    marks = [each for each in read if each is not None]
    if not marks:
        return
    items = pd.factorize(answers["item_id"])[0]
    ways: list[list[Marks]] = [
        [each.in_place() if isinstance(each, Extents) else each for each in marks]
    ]
    spans = [each for each in marks if isinstance(each, Extents) and each.is_of_text]
    if len(spans) == len(marks):
        # Of a span around a whole text, only the part of the text is the same.
        far = np.array([each.ends.max(initial=0.0) for each in spans])
        last = pd.Series(far).groupby(items).transform("max").tolist()
        ways.append([each.in_place(end) for each, end in zip(spans, last, strict=True)])
    for drawn in ways:
        table = _Drawn(field, drawn, items)
        for worker, places in _lines(answers, params):
            yield _drawn_line(worker, places, table, params)


def _without_bitmaps(marks: Marks | None) -> Marks | None:
    """Return areas in parts of their picture: the bitmaps of all answers are too large."""
    return marks if marks is None or isinstance(marks, Extents) else marks.in_place()


class _Drawn(NamedTuple):
    """The answers of a field with marks.

    Attributes:
        field: its name.
        marks: of each answer, in parts of its picture or text.
        items: the number of each answer's item.
    """

    field: str
    marks: Sequence[Marks]
    items: Places


def _drawn_line(worker: str, places: Places, drawn: _Drawn, params: Params) -> WorkerScore:
    """Compare a worker's answers with the one that is alike to most of them."""
    marks, total = drawn.marks, len(places)
    most_others = total - int(np.ceil(params.min_share * total))
    line, times, usual = marks[places[0]], 0, float(total)
    for place in {int(n): None for n in places[np.linspace(0, total - 1, _TRIED).astype("intp")]}:
        alike = _alike(marks[place], (marks[n] for n in places.tolist()), most_others)
        if alike > times:
            line, times = marks[place], alike
    if times:
        usual = _usual(line, places, drawn)
    return _judged(worker, _in_words(line, drawn.field), times, total, usual, params)


def _usual(line: Marks, places: Places, drawn: _Drawn) -> float:
    """Return how many of a worker's answers would be alike by the others' about their items."""
    items, number = drawn.items, drawn.items.max() + 1
    is_other = np.isin(items, items[places])
    is_other[places] = False
    others = np.flatnonzero(is_other)
    is_alike = [are_alike(line, drawn.marks[n], least=_SAME_PLACE) for n in others.tolist()]
    same = np.bincount(items[others], is_alike, number)[items[places]]
    votes = np.bincount(items[others], minlength=number)[items[places]]
    # One more answer as usual for all items: a worker may be alone on an item.
    pool = float(np.mean(is_alike)) if is_alike else 1.0
    return float(((same + pool) / (votes + 1)).sum())


def _in_words(line: Marks, field: str) -> _Line:
    if not len(line):
        return _Line(f"marks nothing for {field}", "be left without a mark")
    if line.covers_most(_NEARLY_ALL):
        return _Line(f"marks nearly everything for {field}", "be marked so")
    return _Line(f"marks the same places for {field}", "be marked there")


def _alike(line: Marks, answers: Iterable[Marks], most_others: int) -> int:
    """Return how many answers are alike; 0 once too many are not."""
    alike = others = 0
    for answer in answers:
        is_alike = are_alike(line, answer, least=_SAME_PLACE)
        alike, others = alike + is_alike, others + (not is_alike)
        if others > most_others:
            return 0
    return alike


def _expected(
    answers: pd.DataFrame, field: str
) -> Callable[[tuple[str, ...], npt.NDArray[np.intp]], float]:
    """Return how many of some answers would be a rating by the others' about the same items."""
    ratings = answers[RATED + field]
    codes, names = pd.factorize(ratings)
    items = pd.factorize(answers["item_id"])[0]
    code_of = {name: code for code, name in enumerate(names)}
    if (ratings.map(len) == 1).all():
        workers = pd.factorize(answers["worker_id"])[0]
        beliefs = beliefs_of_others(items, workers, codes)
        return lambda rating, places: float(beliefs[places, code_of[rating]].sum())
    votes = np.bincount(items)[items]
    pool = np.bincount(codes) / len(codes)

    def of_ticks(rating: tuple[str, ...], places: npt.NDArray[np.intp]) -> float:
        code = code_of[rating]
        is_it = codes == code
        same = np.bincount(items, is_it)[items[places]] - is_it[places]
        # One more answer as usual for all items: a worker may be alone on an item.
        return float(((same + pool[code]) / votes[places]).sum())

    return of_ticks


def _has_marks(table: pd.DataFrame) -> bool:
    return any(column.startswith(DRAWN) for _, column in merged_columns(table))


def _silence(table: pd.DataFrame, _params: Params) -> Iterator[str]:
    is_scales = all(is_scale(table[RATED + name]) for name in rated_fields(table))
    if is_scales and not _has_marks(table):
        yield "the task has no options to choose from, and no boxes or spans"


FACTS = Facts(silence=_silence)
