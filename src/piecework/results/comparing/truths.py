"""What is known about work besides the rules: people's decisions, gold, planted workers."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

import pandas as pd

from piecework.campaign.opened import OpenedCampaign
from piecework.domain.text import plural
from piecework.domain.verdicts import Subject
from piecework.qc.gold import wrong_by_answer
from piecework.qc.heuristics import gold_failed
from piecework.qc.ratings import with_ratings
from piecework.store import decisions, reviews, workers
from piecework.store.settlements import ELSEWHERE

FEW = 20
"""Fewer known subjects than this say little (ours)."""

_BAD = frozenset({"drop", "reject", "exclude", "block"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Truth:
    """Subjects that are known to be bad or good.

    Attributes:
        source: who knows it, as people read it.
        kind: of the subjects.
        is_bad: by id.
        counts_rejections: whether a rejected assignment also counts against a worker.
        remarks: what to know about it.
    """

    source: str
    kind: Literal["answer", "worker"]
    is_bad: Mapping[str, bool]
    counts_rejections: bool = False
    remarks: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """What is known, and of what."""
        return f"{self.source}: {self.kind}s"


def truths_of(opened: OpenedCampaign, table: pd.DataFrame) -> tuple[Truth, ...]:
    """Return everything that is known about the answers and workers of a table.

    Args:
        opened: the campaign with its store.
        table: the answers (`piecework.domain.tables`).
    """
    everything = (*_of_people(opened, table), _of_gold(opened, table), *_planted(opened, table))
    return tuple(truth for truth in everything if truth.is_bad)


def _of_people(opened: OpenedCampaign, table: pd.DataFrame) -> Iterator[Truth]:
    verdicts = defaultdict[Subject, set[bool]](set)
    last = dict[Subject, bool]()
    for decision in decisions.all_by_people(opened.store):
        if decision.decided_by != ELSEWHERE:
            subject = (decision.subject_kind, decision.subject_id)
            last[subject] = decision.verdict in _BAD
            verdicts[subject].add(last[subject])
    for review in reviews.reviews_in_force(opened.store):
        verdicts[review.subject].add(review.verdict in _BAD)
    both = {subject for subject in last if subject[0] == "answer" and len(verdicts[subject]) > 1}
    answers = {
        name: is_bad
        for (kind, name), is_bad in last.items()
        if kind == "answer" and ("answer", name) not in both and name in table.index
    }
    remarks = []
    if both:
        remarks.append(
            f"People decided both ways about {plural(len(both), 'answer')}; "
            "what contradicts itself counts for neither."
        )
    if 0 < len(answers) < FEW:
        remarks.append(
            f"People decided about {plural(len(answers), 'answer')} only: too few decisions to say "
            "which rules agree better."
        )
    yield Truth(source="people", kind="answer", is_bad=answers, remarks=tuple(remarks))
    of_workers = {name: is_bad for (kind, name), is_bad in last.items() if kind == "worker"}
    yield Truth(source="people", kind="worker", is_bad=of_workers)


def _of_gold(opened: OpenedCampaign, table: pd.DataFrame) -> Truth:
    campaign = opened.campaign
    settings = campaign.heuristics.get(gold_failed.NAME) or {}
    tolerance = settings.get("tolerance", gold_failed.Params().tolerance)
    rated = with_ratings(table, campaign.task, campaign.items)
    wrong = wrong_by_answer(rated, float(str(tolerance)))
    return Truth(
        source="known answers",
        kind="answer",
        is_bad=dict(zip(wrong.index.astype("str"), wrong.tolist(), strict=True)),
    )


def _planted(opened: OpenedCampaign, table: pd.DataFrame) -> Iterator[Truth]:
    traits = workers.load_traits(opened.store)
    came = table["worker_id"].unique().tolist()
    is_bad = {name: traits[name][1] for name in came if name in traits}
    yield Truth(source="planted workers", kind="worker", is_bad=is_bad, counts_rejections=True)
    of_answers = zip(table.index.tolist(), table["worker_id"].tolist(), strict=True)
    yield Truth(
        source="planted workers",
        kind="answer",
        is_bad={name: is_bad[worker] for name, worker in of_answers if worker in is_bad},
    )
