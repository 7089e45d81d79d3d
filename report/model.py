"""What follows from the facts and is needed by more than one section.

Every submitted answer has exactly one *fate*, so that the counts of a funnel add up;
every flag is carried down to the answers it speaks about, so that heuristics on
answers, assignments and workers can be laid beside each other.
"""

from dataclasses import dataclass
from typing import Literal

import pandas as pd

from report.facts import ReportFacts

Fate = Literal["rejected", "dropped", "surplus", "canned", "novel"]

FATES: tuple[Fate, ...] = ("rejected", "dropped", "surplus", "canned", "novel")

ROUNDING_CENTS = 1e-6
"""Wages are quotients; less than this below the floor is an artefact of division."""


@dataclass(frozen=True, kw_only=True)
class Reading:
    """The facts with what was derived from them.

    Attributes:
        fates: a `Fate` an answer, index answer_id.
        flags: one row an answer, one column a heuristic that flagged anything, by
            name: whether it flagged the answer, its assignment or its worker.
        verdicts: the decisions that hold: the last one about each subject.
        wages: cents per hour, index the hashed id; only workers whose time is known.
    """

    facts: ReportFacts
    fates: pd.Series
    flags: pd.DataFrame
    verdicts: pd.DataFrame
    wages: pd.Series

    @property
    def thing(self) -> str:
        """What the answers are about, in the words of the campaign."""
        return "image" if self.facts.dataset == "captions" else "item"

    @property
    def kept(self) -> str:
        """What an answer that counts is called."""
        is_captions = self.facts.dataset == "captions"
        return "novel caption" if is_captions else "accepted answer"

    @property
    def fates_there_are(self) -> tuple[Fate, ...]:
        """The fates that an answer can have; only captions can be canned."""
        if self.facts.dataset == "captions":
            return FATES
        return tuple(fate for fate in FATES if fate != "canned")

    def count(self, *fates: Fate) -> int:
        """How many answers ended in one of these fates."""
        return int(self.fates.isin(fates).sum())

    def rows(self, *fates: Fate) -> pd.DataFrame:
        """The answers that ended in one of these fates."""
        return self.facts.answers[self.fates.isin(fates)]

    @property
    def submitted(self) -> int:
        """Answers that came back."""
        return len(self.facts.answers)

    @property
    def wanted(self) -> int:
        """Accepted answers that the campaign asks for."""
        return self.facts.items * self.facts.wanted_per_item

    @property
    def accepted_per_item(self) -> pd.Series:
        """Accepted answers, canned or novel, of each image that has any."""
        return self.rows("canned", "novel").groupby("item_id").size()

    @property
    def complete_items(self) -> int:
        """Images that have all the accepted answers wanted."""
        return int((self.accepted_per_item >= self.facts.wanted_per_item).sum())

    @property
    def below_floor(self) -> int:
        """Workers whose hourly wage is below the floor."""
        return int((self.wages < self._least_wage).sum())

    @property
    def is_median_below_floor(self) -> bool:
        """Whether the worker in the middle earned less than the floor an hour."""
        return bool(self.wages.median() < self._least_wage)

    @property
    def _least_wage(self) -> float:
        return self.facts.wage_floor_cents_per_hour - ROUNDING_CENTS


def read(facts: ReportFacts) -> Reading:
    """Derive what the sections share."""
    verdicts = _verdicts(facts.decisions)
    return Reading(
        facts=facts,
        fates=_fates(facts.answers, verdicts),
        flags=_flags(facts),
        verdicts=verdicts,
        wages=_wages(facts.workers),
    )


def tally(per_item: pd.Series, *, at_least: int) -> pd.Series:
    """How many images have 0, 1, 2, ... of something; counts up to `at_least`."""
    counts = per_item.value_counts()
    last = max([at_least, *counts.index.tolist()])
    return counts.reindex(range(last + 1), fill_value=0).astype(int)


def _verdicts(decisions: pd.DataFrame) -> pd.DataFrame:
    in_time = decisions.sort_values("decided_at", kind="stable")
    return in_time.drop_duplicates(["subject_kind", "subject_id"], keep="last")


def _fates(answers: pd.DataFrame, verdicts: pd.DataFrame) -> pd.Series:
    rejected = verdicts.loc[verdicts["verdict"] == "reject", "subject_id"]
    is_in_rejected = answers["assignment_id"].isin(rejected)
    fates = pd.Series("novel", index=answers.index, dtype="str")
    # The later line wins: a dropped canned answer is dropped, not canned.
    fates[answers["is_precanned"]] = "canned"
    fates[answers["is_surplus"]] = "surplus"
    fates[answers["is_rejected"]] = "dropped"
    fates[answers["is_rejected"] & is_in_rejected] = "rejected"
    return fates


def _flags(facts: ReportFacts) -> pd.DataFrame:
    answers = facts.answers
    ids = {
        "answer": pd.Series(answers.index, index=answers.index),
        "assignment": answers["assignment_id"],
        "worker": answers["worker"],
    }
    flagged = facts.findings[facts.findings["flag"]]
    columns = {}
    for name, rows in flagged.groupby("heuristic"):
        touched = pd.Series(data=False, index=answers.index)
        for kind, subjects in rows.groupby("subject_kind"):
            touched |= ids[str(kind)].isin(subjects["subject_id"])
        columns[str(name)] = touched
    return pd.DataFrame(columns, index=answers.index)


def _wages(workers: pd.DataFrame) -> pd.Series:
    timed = workers[workers["seconds_worked"] > 0]
    return timed["paid_cents"] * 3600.0 / timed["seconds_worked"]
