"""Answers that other rules judge in another way, and the labels that flip.

A label is what the dataset has: the majority, the likeliest option, the options that
most ticked, a mean, or the best edit. A label that a person settled stays.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from piecework.campaign.opened import OpenedCampaign
from piecework.domain import column_names as names
from piecework.domain.campaign import Campaign
from piecework.domain.field import MERGED_KINDS, Aggregate
from piecework.domain.verdicts import Finding, Subject, SubjectKind
from piecework.postprocess.aggregates import item_aggregates
from piecework.results.answers_shown import Work
from piecework.results.comparing.judging_again import JudgedAgain, Moment, Truth
from piecework.results.table import surplus
from piecework.store import item_totals, results

SHOWN = 20
"""Changed answers that are shown with their evidence."""

_MOST_EVIDENCE = 4
_OF_A_WORKER = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownAnswer:
    """A changed answer with its evidence; ids and texts as a dataset has them."""

    answer: str
    worker: str
    item: str
    batch: int
    text: str
    before: str
    after: str
    because: str
    evidence: tuple[str, ...]
    contradicts: tuple[str, ...]


def shown_answers(
    work: Work,
    cells: pd.DataFrame,
    own: JudgedAgain,
    other: JudgedAgain,
    truths: Sequence[Truth],
) -> Iterator[ShownAnswer]:
    """Yield changed answers: first what contradicts a truth, then the most suspicious."""
    numbers = np.flatnonzero((cells["before"] != cells["after"]).to_numpy()).tolist()
    ranked = []
    for number in numbers:
        against = dict.fromkeys(
            _contradicted(work, str(cells["after"].iloc[number]), number, truths)
        )
        flags = flags_about(work, own, number) + flags_about(work, other, number)
        suspicion = max((flag.suspicion for flag in flags), default=0.0)
        ranked.append((-len(against), -suspicion, number, tuple(against)))
    seen: Counter[tuple[str, bool]] = Counter()
    spread = []
    for rank in sorted(ranked):
        group = (str(work.worker_id(rank[2])), bool(rank[3]))
        # All answers of a worker are often alike, so other workers come before the rest.
        spread.append((not rank[3], seen[group] // _OF_A_WORKER, *rank))
        seen[group] += 1
    for *_, number, wrong in sorted(spread)[:SHOWN]:
        before, after = (str(cells[side].iloc[number]) for side in ("before", "after"))
        judged = other if after != "keep" else own
        yield ShownAnswer(
            answer=work.published_id("answer", str(work.answer_id(number))),
            worker=work.pseudonym_of(number),
            item=work.item_id(number),
            batch=work.batch(number),
            text=work.line(number),
            before=before,
            after=after,
            because=reason_of(work, judged, number),
            evidence=tuple(_evidence(work, own, other, number)),
            contradicts=wrong,
        )


def _contradicted(work: Work, verdict: str, number: int, truths: Sequence[Truth]) -> Iterator[str]:
    """Yield the truths that the new verdict contradicts."""
    ids: dict[SubjectKind, str] = {
        "answer": str(work.answer_id(number)),
        "worker": str(work.worker_id(number)),
    }
    for truth in truths:
        is_bad = truth.is_bad.get(ids[truth.kind])
        if is_bad is not None and is_bad == (verdict == "keep"):
            yield truth.source


def _evidence(work: Work, own: JudgedAgain, other: JudgedAgain, number: int) -> Iterator[str]:
    """Yield flags with the rules under which they flag, the most suspicious first."""
    was, now = flags_about(work, own, number), flags_about(work, other, number)
    texts = {
        flag: (flag in was, flag in now)
        for flag in sorted({*was, *now}, key=lambda flag: (-flag.suspicion, flag.heuristic))
    }
    which = {
        (True, True): "both rules",
        (True, False): "own rules",
        (False, True): "new rules",
    }
    for flag, in_sides in list(texts.items())[:_MOST_EVIDENCE]:
        yield f"{which[in_sides]}: {work.flag_line(flag)}"


def flags_about(work: Work, judged: JudgedAgain, number: int) -> list[Finding]:
    """Flags of an answer, its assignment and its worker, the most suspicious first."""
    subjects: tuple[Subject, ...] = (
        ("answer", str(work.answer_id(number))),
        ("assignment", str(work.assignment_id(number))),
        ("worker", str(work.worker_id(number))),
    )
    flags = [flag for subject in subjects for flag in judged.flags.get(subject, ()) if flag.flag]
    return sorted(flags, key=lambda flag: (-flag.suspicion, flag.heuristic))


def reason_of(work: Work, judged: JudgedAgain, number: int) -> str:
    """Return why an answer is not kept; "" if it is kept."""
    answer_id = str(work.answer_id(number))
    if answer_id in judged.absent:
        moment = judged.excluded[str(work.worker_id(number))]
        return f"its worker was excluded after {when(moment)}"
    decision = judged.decisions.get(("answer", answer_id))
    if decision is None or decision.verdict == "keep":
        return ""
    return work.hidden(decision.because, number)


def when(moment: Moment) -> str:
    """Return batch and round of a moment, as people read them."""
    return f"batch {moment.batch}" + (f", round {moment.round + 1}" if moment.round else "")


def label_flips(
    opened: OpenedCampaign, table: pd.DataFrame, cells: pd.DataFrame, own: Campaign, tried: Campaign
) -> tuple[pd.DataFrame, int]:
    """Return the labels that differ, and how many were compared."""
    empty = pd.DataFrame(columns=["item", "label", "before", "after"])
    aggregates = {"before": own.task.aggregates, "after": tried.task.aggregates}
    if not any(aggregates.values()):
        return empty, 0
    if own.task.aggregates == tried.task.aggregates and cells["before"].equals(cells["after"]):
        labels = _labels_of(opened, table, cells["before"] == "keep", own.task.aggregates)
        return empty, labels.size
    sides = {
        side: _labels_of(opened, table, cells[side] == "keep", listed)
        for side, listed in aggregates.items()
    }
    before, after = sides["before"], sides["after"]
    both = [name for name in before.columns if name in after.columns]
    rows = [
        (item, name, was, now)
        for name in both
        for item, was, now in zip(before.index, before[name], after[name], strict=True)
        if not _is_same(was, now)
    ]
    return pd.DataFrame(rows, columns=list(empty.columns)), len(before) * len(both)


def _is_same(was: object, now: object) -> bool:
    if isinstance(was, float) and isinstance(now, float):
        return bool(np.isclose(was, now, rtol=0, atol=1e-9, equal_nan=True))
    return was == now


_LABEL: Mapping[str, tuple[str, ...]] = {
    "majority": ("{}", f"{{}}{names.LIKELIEST}"),
    "shares": (f"{{}}{names.MAJORITY}",),
    "mean": (f"{{}}{names.MEAN}",),
    "best_edit": ("{}",),
    **dict.fromkeys(MERGED_KINDS, (f"{{}}{names.MERGED}",)),
}
"""The columns with labels, by kind of aggregate."""


def _labels_of(
    opened: OpenedCampaign,
    table: pd.DataFrame,
    is_kept: "pd.Series[bool]",
    aggregates: Sequence[Aggregate],
) -> pd.DataFrame:
    """Return a row per item, with a column per label; those that people settled are left."""
    campaign, store = opened.campaign, opened.store
    table, is_kept = table.sort_index(), is_kept.sort_index()
    posting = campaign.posting
    wanted = item_totals.wanted(store, posting)
    rows = table.assign(
        worker=table["worker_id"],
        is_rejected=~is_kept,
        is_surplus=surplus(table, is_kept, least=posting.assignments, wanted=wanted),
    )
    own = {str(item.item_id): item.columns for item in campaign.own_items}
    answered = [name for name in table["item_id"].unique() if name in own]
    whole = item_aggregates(
        rows[rows["item_id"].isin(answered)],
        answered,
        campaign.task.fields,
        aggregates,
        columns=own,
        machine=campaign.machine,
    )
    columns = [
        column
        for aggregate in aggregates
        for form in _LABEL[aggregate.kind]
        if (column := form.format(aggregate.field)) in whole.columns
    ]
    labels = whole[list(dict.fromkeys(columns))].copy()
    for (item_id, field), settled in results.load_labels(store).items():
        if item_id in labels.index and field in labels.columns:
            labels.loc[item_id, field] = settled.value
    return labels
