"""Values derived from the facts and shared by several sections."""

import json
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import pandas as pd

from piecework.analyses.votes import votes
from piecework.domain.field import Field
from piecework.domain.text import plural
from piecework.domain.verdicts import RANDOM_SAMPLE
from piecework.qc.reasons import stated
from piecework.qc.registry import TITLES
from piecework.report.agreement import Agreement, agreements
from piecework.report.facts import ReportFacts

Outcome = Literal["rejected", "dropped", "surplus", "canned", "novel"]

OUTCOMES: tuple[Outcome, ...] = ("rejected", "dropped", "surplus", "canned", "novel")

BY_POLICY = "policy:"
"""The name of who decided begins so if it was the campaign's policy."""

ROUNDING_CENTS = 1e-6
"""Wages are quotients; a smaller gap below the floor is a rounding error."""


@dataclass(frozen=True, kw_only=True)
class ReportModel:
    """The facts and the values derived from them.

    Attributes:
        outcomes: an `Outcome` per answer, index answer_id.
        came: all answers of the dataset, decided or waiting.
        collected: these, and the answers about items that were only mixed in.
        flags: one row per collected answer, one column per heuristic that flagged
            anything, by name: whether it flagged the answer, its assignment or its
            worker.
        verdicts: the decisions in force: the last one about each subject.
        wages: cents per hour, index the hashed id; only workers with paid work
            whose time is known. Work that was rejected or waits for pay has no wage.
    """

    facts: ReportFacts
    outcomes: pd.Series
    came: pd.DataFrame
    collected: pd.DataFrame
    flags: pd.DataFrame
    verdicts: pd.DataFrame
    wages: pd.Series

    def title_of(self, heuristic: str) -> str:
        """The title of a heuristic; its name if it is unknown."""
        return TITLES.get(heuristic, heuristic)

    def as_stated(self, decisions: pd.DataFrame) -> pd.Series:
        """The policy's reasons as its rules state them, without the evidence they quote.

        Args:
            decisions: `subject_kind`, `verdict`, `decided_by`, `because` and
                `is_accepted`; reasons that people wrote stay.
        """
        names = ["because", "subject_kind", "verdict"]
        reasons = [*decisions[names].itertuples(index=False, name=None)]
        policy = self.facts.policy
        made = {
            (why, kind, then): stated(why, policy, kind, then) for why, kind, then in {*reasons}
        }
        is_policys = decisions["decided_by"].str.startswith(BY_POLICY) | decisions["is_accepted"]
        shown = [
            made[reason] if is_own else reason[0]
            for is_own, reason in zip(is_policys, reasons, strict=True)
        ]
        return pd.Series(shown, index=decisions.index, dtype="str")

    @property
    def text_noun(self) -> str:
        """The noun for a worker's text: "caption"; "" if the task asks for none.

        The name of a field is no noun: nobody knows its singular.
        """
        task = self.facts.task
        named = "caption" if task.dataset == "captions" else "text"
        return named if task.main_text else ""

    @property
    def item_noun(self) -> str:
        """The noun for an item: "image" if workers describe pictures."""
        task = self.facts.task
        is_described = bool(task.main_text) and "url" in task.shown_columns
        return "image" if is_described else "item"

    @property
    def accepted_noun(self) -> str:
        """The noun for an answer that counts and is no canned sentence."""
        is_free = bool(self.text_noun and self.facts.task.canned_text)
        return f"{'free-text' if is_free else 'accepted'} {self.text_noun or 'answer'}"

    @property
    def possible_outcomes(self) -> tuple[Outcome, ...]:
        """The possible outcomes of an answer; canned only if the task has that."""
        if self.facts.task.canned_text:
            return OUTCOMES
        return tuple(outcome for outcome in OUTCOMES if outcome != "canned")

    def count(self, *outcomes: Outcome) -> int:
        """How many answers have one of these outcomes."""
        return int(self.outcomes.isin(outcomes).sum())

    def rows(self, *outcomes: Outcome) -> pd.DataFrame:
        """The answers with one of these outcomes, with all columns, as a copy."""
        return self.facts.answers[self.outcomes.isin(outcomes)]

    def column(self, name: str, *outcomes: Outcome) -> pd.Series:
        """A column of the answers with one of these outcomes."""
        return self.facts.answers.loc[self.outcomes.isin(outcomes), name]

    def votes(self, field: Field, *outcomes: Outcome) -> pd.DataFrame:
        """`piecework.analyses.votes.votes` of the answers with these outcomes."""
        return votes(self.facts.answers, field)[self.outcomes.isin(outcomes)]

    @cached_property
    def also_sent(self) -> dict[str, int]:
        """The names that workers sent and that are no fields, with their answers."""
        cells = self.came["also_sent"]
        counts = Counter(name for cell in cells[cells != ""] for name in json.loads(cell))
        return dict(counts.most_common())

    @property
    def submitted(self) -> int:
        """The number of answers that came back and are decided."""
        return len(self.facts.answers)

    @property
    def waiting(self) -> int:
        """The number of answers that are not decided; only some sections count them."""
        return len(self.facts.waiting)

    @property
    def workers(self) -> str:
        """The number of workers as text; workers whom no file names are not counted."""
        kind = f"{'simulated ' * self.facts.is_rehearsal}worker"
        named = plural(self.named_workers, kind)
        if self.named_workers == len(self.facts.workers):
            return named
        if not self.named_workers:
            return "workers whom no file names"
        return f"{named}, and others whom no file names"

    @property
    def paid_worker(self) -> str:
        """The noun for a worker with a wage."""
        is_each = len(self.wages) == len(self.facts.workers)
        return "worker" if is_each else "paid worker"

    @property
    def named_workers(self) -> int:
        """The number of workers, without those whom no file names."""
        imported = self.facts.imported
        unnamed = 0 if imported is None else imported.unnamed_workers
        return len(self.facts.workers) - unnamed

    @property
    def is_flagged(self) -> pd.Series:
        """Whether a heuristic flags a collected answer, by its id.

        A random sample is not a suspicion.
        """
        return self.flags.drop(columns=RANDOM_SAMPLE, errors="ignore").any(axis="columns")

    def strongest_flags(self, answers: "pd.Index[str]", among: Collection[str]) -> pd.Series:
        """The most suspicious flag of each answer: a heuristic, "" if it has none.

        Args:
            answers: their ids.
            among: heuristics that are considered; empty for all but random samples.
        """
        findings = self.facts.findings
        is_among = (
            findings["heuristic"].isin(list(among))
            if among
            else findings["heuristic"] != RANDOM_SAMPLE
        )
        ranked = findings[findings["flag"] & is_among].sort_values(
            ["suspicion", "heuristic"], ascending=[False, True]
        )
        of_answers = [
            ids.rename("subject_id")
            .rename_axis("answer_id")
            .reset_index()
            .merge(ranked[ranked["subject_kind"] == kind], on="subject_id")
            for kind, ids in subjects_of(self.came.loc[answers]).items()
        ]
        strongest = (
            pd.concat(of_answers)
            .sort_values(["suspicion", "heuristic"], ascending=[False, True])
            .drop_duplicates("answer_id")
            .set_index("answer_id")["heuristic"]
        )
        return strongest.reindex(answers, fill_value="")

    @property
    def wanted(self) -> int:
        """The number of accepted answers that the campaign asks for."""
        least = self.facts.wanted_per_item
        more = sum(wanted - least for wanted in self._wanted_more.values())
        return self.facts.items * least + more

    @property
    def answers_each(self) -> str:
        """How many answers an item should get, as text: "5 answers"."""
        least, rule = self.facts.wanted_per_item, self.facts.as_needed
        if rule is None:
            return plural(least, "answer")
        return f"{least} to {rule.most} answers"

    @property
    def _wanted_more(self) -> Mapping[str, int]:
        """Answers wanted for each item that needs more than the minimum."""
        rule, least = self.facts.as_needed, self.facts.wanted_per_item
        wanted = {} if rule is None else rule.wanted
        return {item: number for item, number in wanted.items() if number > least}

    @property
    def accepted_per_item(self) -> pd.Series:
        """The number of accepted answers of each item that has any."""
        items = self.column("item_id", "canned", "novel")
        return items.groupby(items).size()

    @property
    def complete_items(self) -> int:
        """The number of items with all wanted accepted answers."""
        per_item = self.accepted_per_item
        more = per_item.index.to_series().map(dict(self._wanted_more)).astype("float64")
        return int((per_item >= more.fillna(self.facts.wanted_per_item)).sum())

    @property
    def below_floor(self) -> int:
        """The number of workers with an hourly wage below the floor."""
        return int((self.wages < self._least_wage).sum())

    @cached_property
    def agreement(self) -> tuple[Agreement, ...]:
        """How far workers agree about each judged field; of a task with a text, transcripts."""
        seed = self.facts.drawing_seed
        return agreements(self.rows("novel"), self._judged, seed=seed)

    @property
    def _judged(self) -> list[Field]:
        task = self.facts.task
        return [
            field
            for field in task.item_fields
            if field.is_merged or (field.kind != "text" and not task.main_text)
        ]

    def agreement_by_batch(self, batches: Sequence[int]) -> dict[int, float]:
        """How far workers agree about the first judged field, by batch.

        Empty for a task with a text, and if no batch has items with two answers.
        """
        judged = self._judged[:1]
        rows = self.rows("novel")
        values: dict[int, float] = {}
        for batch in batches if judged else ():
            of_batch = agreements(
                rows[rows["batch"] == batch], judged, seed=self.facts.drawing_seed, resamples=0
            )
            values.update((batch, each.value) for each in of_batch)
        return values

    @property
    def is_median_below_floor(self) -> bool:
        """Whether the median hourly wage is below the floor."""
        return bool(self.wages.median() < self._least_wage)

    @property
    def _least_wage(self) -> float:
        money = self.facts.money
        return money.wage_floor_cents_per_hour - ROUNDING_CENTS if money else 0.0


def report_model(facts: ReportFacts) -> ReportModel:
    """Derive the values that the sections share."""
    verdicts = _verdicts(facts.decisions)
    came = _joined(facts.answers, facts.waiting)
    collected = _joined(came, facts.mixed_in)
    return ReportModel(
        facts=facts,
        outcomes=_outcomes(facts.answers, verdicts),
        came=came,
        collected=collected,
        flags=_flags(facts.findings, collected),
        verdicts=verdicts,
        wages=_wages(facts.workers if facts.money else facts.workers.iloc[:0]),
    )


def _joined(answers: pd.DataFrame, more: pd.DataFrame) -> pd.DataFrame:
    """Both tables; the same object if the other has no rows, for a copy doubles the memory."""
    if more.empty:
        return answers
    return pd.concat([answers, more]) if len(answers) else more


def tally(per_item: pd.Series, *, at_least: int) -> pd.Series:
    """Count the items with 0, 1, 2, ... of something, up to `at_least` or more."""
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
    # Later lines override earlier ones: a dropped canned answer is dropped.
    outcomes[answers["is_canned"]] = "canned"
    outcomes[answers["is_surplus"]] = "surplus"
    outcomes[answers["is_rejected"]] = "dropped"
    outcomes[answers["is_rejected"] & is_in_rejected] = "rejected"
    return outcomes


def _flags(findings: pd.DataFrame, answers: pd.DataFrame) -> pd.DataFrame:
    """Which heuristics flag which answers, their assignments or their workers.

    Args:
        findings: as `ReportFacts.findings`.
        answers: `assignment_id` and `worker`, index answer_id.

    Returns:
        One row per answer, one bool column per heuristic that flagged anything.
    """
    ids = subjects_of(answers)
    flagged = findings[findings["flag"]]
    columns = {}
    for name, rows in flagged.groupby("heuristic"):
        touched = pd.Series(data=False, index=answers.index)
        for kind, subjects in rows.groupby("subject_kind"):
            touched |= ids[str(kind)].isin(subjects["subject_id"])
        columns[str(name)] = touched
    return pd.DataFrame(columns, index=answers.index)


def subjects_of(answers: pd.DataFrame) -> dict[str, pd.Series]:
    """Return the ids that a finding about each answer may have, by kind of subject."""
    return {
        "answer": pd.Series(answers.index, index=answers.index),
        "assignment": answers["assignment_id"],
        "worker": answers["worker"],
    }


def _wages(workers: pd.DataFrame) -> pd.Series:
    paid = workers[workers["seconds_paid"] > 0]
    return paid["paid_cents"] * 3600.0 / paid["seconds_paid"]
