"""What follows from the facts and is needed by more than one section.

Every submitted answer has exactly one *outcome*, so that the counts of a funnel add up;
every flag is carried down to the answers it speaks about, so that heuristics on
answers, assignments and workers can be laid beside each other.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import pandas as pd

from piecework.analyses.fields import votes
from piecework.domain.counts import plural
from piecework.domain.task import Field
from piecework.domain.verdicts import RANDOM_SAMPLE
from piecework.qc.reasons import stated
from piecework.report.facts import ReportFacts

Outcome = Literal["rejected", "dropped", "surplus", "canned", "novel"]

OUTCOMES: tuple[Outcome, ...] = ("rejected", "dropped", "surplus", "canned", "novel")

ROUNDING_CENTS = 1e-6
"""Wages are quotients; less than this below the floor is an artefact of division."""


def noun_of(field: str) -> str:
    """What a field is called in a sentence, from its name.

    >>> noun_of("sentence_1"), noun_of("first_line"), noun_of("7")
    ('sentence', 'first line', '7')
    """
    words = field.replace("_", " ")
    return words.rstrip("0123456789").rstrip() or words


@dataclass(frozen=True, kw_only=True)
class ReportModel:
    """The facts with what was derived from them.

    Attributes:
        outcomes: a `Outcome` an answer, index answer_id.
        came: all answers, decided or waiting.
        flags: one row an answer that came, one column a heuristic that flagged
            anything, by name: whether it flagged the answer, its assignment or its
            worker.
        verdicts: the decisions that hold: the last one about each subject.
        wages: cents per hour, index the hashed id; only workers whose time and pay are
            known.
    """

    facts: ReportFacts
    outcomes: pd.Series
    came: pd.DataFrame
    flags: pd.DataFrame
    verdicts: pd.DataFrame
    wages: pd.Series

    def in_words(self, heuristic: str) -> str:
        """What a heuristic looks for, without a full stop; "" if that is not known."""
        return self.facts.heuristics.get(heuristic, "").rstrip(".")

    def as_stated(self, reasons: pd.Series) -> pd.Series:
        """Reasons as the policy's rules state them, without what each one quotes."""
        return reasons.map(
            {reason: stated(reason, self.facts.policy) for reason in reasons.unique()}
        )

    @property
    def text_noun(self) -> str:
        """What a worker's text is called: "caption"; "" if the task asks for none."""
        return noun_of(self.facts.task.main_text)

    @property
    def item_noun(self) -> str:
        """What the answers are about: "image" where workers describe pictures."""
        task = self.facts.task
        is_described = bool(task.main_text) and "url" in task.shown_columns
        return "image" if is_described else "item"

    @property
    def accepted_noun(self) -> str:
        """What an answer that counts is called."""
        return f"novel {self.text_noun}" if self.text_noun else "accepted answer"

    @property
    def possible_outcomes(self) -> tuple[Outcome, ...]:
        """The outcomes that an answer can have; canned only where the page says so."""
        if self.facts.task.canned_text:
            return OUTCOMES
        return tuple(outcome for outcome in OUTCOMES if outcome != "canned")

    def count(self, *outcomes: Outcome) -> int:
        """How many answers ended in one of these outcomes."""
        return int(self.outcomes.isin(outcomes).sum())

    def rows(self, *outcomes: Outcome) -> pd.DataFrame:
        """The answers that ended in one of these outcomes: a copy of all they have."""
        return self.facts.answers[self.outcomes.isin(outcomes)]

    def column(self, name: str, *outcomes: Outcome) -> pd.Series:
        """A column of the answers that ended in one of these outcomes."""
        return self.facts.answers.loc[self.outcomes.isin(outcomes), name]

    def votes(self, field: Field, *outcomes: Outcome) -> pd.DataFrame:
        """`piecework.analyses.fields.votes` of the answers that ended so."""
        return votes(self.facts.answers, field)[self.outcomes.isin(outcomes)]

    @property
    def submitted(self) -> int:
        """Answers that came back and are decided."""
        return len(self.facts.answers)

    @property
    def waiting(self) -> int:
        """Answers that came and are not decided; only some sections speak of them."""
        return len(self.facts.waiting)

    @property
    def workers(self) -> str:
        """Who worked, in words: whom no file names is not counted as a worker."""
        kind = f"{'simulated ' * self.facts.is_rehearsal}worker"
        named = plural(self.named_workers, kind)
        if self.named_workers == len(self.facts.workers):
            return named
        if not self.named_workers:
            return "workers whom no file names"
        return f"{named}, and others whom no file names"

    @property
    def named_workers(self) -> int:
        """How many workers there are; of those whom no file names that is not known."""
        imported = self.facts.imported
        unnamed = 0 if imported is None else imported.unnamed_workers
        return len(self.facts.workers) - unnamed

    @property
    def is_flagged(self) -> pd.Series:
        """Whether anything speaks against an answer that came, by its id.

        A sample that was drawn by chance is no suspicion.
        """
        return self.flags.drop(columns=RANDOM_SAMPLE, errors="ignore").any(
            axis="columns"
        )

    @property
    def wanted(self) -> int:
        """Accepted answers that the campaign asks for."""
        least = self.facts.wanted_per_item
        more = sum(wanted - least for wanted in self._wanted_more.values())
        return self.facts.items * least + more

    @property
    def answers_each(self) -> str:
        """How many answers are asked of an item, in words: "5 answers"."""
        least, rule = self.facts.wanted_per_item, self.facts.as_needed
        if rule is None:
            return plural(least, "answer")
        return f"{least} to {rule.most} answers"

    @property
    def _wanted_more(self) -> Mapping[str, int]:
        """Answers wanted of each item that wants more than the least."""
        rule, least = self.facts.as_needed, self.facts.wanted_per_item
        wanted = {} if rule is None else rule.wanted
        return {item: number for item, number in wanted.items() if number > least}

    @property
    def accepted_per_item(self) -> pd.Series:
        """Accepted answers, canned or novel, of each image that has any."""
        items = self.column("item_id", "canned", "novel")
        return items.groupby(items).size()

    @property
    def complete_items(self) -> int:
        """Images that have all the accepted answers wanted."""
        per_item = self.accepted_per_item
        more = per_item.index.to_series().map(dict(self._wanted_more)).astype("float64")
        return int((per_item >= more.fillna(self.facts.wanted_per_item)).sum())

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
        money = self.facts.money
        return money.wage_floor_cents_per_hour - ROUNDING_CENTS if money else 0.0


def report_model(facts: ReportFacts) -> ReportModel:
    """Derive what the sections share."""
    verdicts = _verdicts(facts.decisions)
    came = facts.answers
    if len(facts.waiting):
        came = pd.concat([came, facts.waiting]) if len(came) else facts.waiting
    return ReportModel(
        facts=facts,
        outcomes=_outcomes(facts.answers, verdicts),
        came=came,
        flags=_flags(facts.findings, came),
        verdicts=verdicts,
        wages=_wages(facts.workers if facts.money else facts.workers.iloc[:0]),
    )


def tally(per_item: pd.Series, *, at_least: int) -> pd.Series:
    """How many images have 0, 1, 2, ... of something; counts up to `at_least`."""
    counts = per_item.value_counts()
    last = max([at_least, *counts.index.tolist()])
    return counts.reindex(range(last + 1), fill_value=0).astype(int)


def _verdicts(decisions: pd.DataFrame) -> pd.DataFrame:
    in_time = decisions.sort_values("decided_at", kind="stable")
    return in_time.drop_duplicates(["subject_kind", "subject_id"], keep="last")


def _outcomes(answers: pd.DataFrame, verdicts: pd.DataFrame) -> pd.Series:
    rejected = verdicts.loc[verdicts["verdict"] == "reject", "subject_id"]
    is_in_rejected = answers["assignment_id"].isin(rejected)
    outcomes = pd.Series("novel", index=answers.index, dtype="str")
    # The later line wins: a dropped canned answer is dropped, not canned.
    outcomes[answers["is_canned"]] = "canned"
    outcomes[answers["is_surplus"]] = "surplus"
    outcomes[answers["is_rejected"]] = "dropped"
    outcomes[answers["is_rejected"] & is_in_rejected] = "rejected"
    return outcomes


def _flags(findings: pd.DataFrame, answers: pd.DataFrame) -> pd.DataFrame:
    """Which heuristics flag which answers, themselves or where they belong.

    Args:
        findings: as `ReportFacts.findings`.
        answers: `assignment_id` and `worker`, index answer_id.

    Returns:
        One row an answer, one column a heuristic that flagged anything, bool.
    """
    ids = {
        "answer": pd.Series(answers.index, index=answers.index),
        "assignment": answers["assignment_id"],
        "worker": answers["worker"],
    }
    flagged = findings[findings["flag"]]
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
