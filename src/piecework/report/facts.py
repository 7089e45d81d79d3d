"""All input of the report: values and frames, without a store or a clock.

The flow step that gathers these facts hashes worker ids first; nothing here can undo
that.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TypeVar

import pandas as pd

from piecework.analyses.condition_scores import Compared
from piecework.domain.imported import ImportedFile
from piecework.domain.money import SIGNS, Currency, shown
from piecework.domain.tables import build, faults
from piecework.domain.task import Task
from piecework.domain.verdicts import PolicyRule, ReviewQuality
from piecework.postprocess.answers import answer_columns
from piecework.report import formatting
from piecework.report.books import Books
from piecework.report.formatting import moment, wage
from piecework.report.item_sample import ShownItem

_Facts = TypeVar("_Facts")


@dataclass(frozen=True, kw_only=True)
class ImportedFacts:
    """The origin of answers that another tool collected.

    Attributes:
        outcomes: the outcome of each answer there, in that tool's words, by answer id.
        feedback: what the requester wrote there about each answer's assignment, by
            answer id; "" for nothing.
        has_times: whether any file says when something was done.
        unnamed_workers: assignments for which no file names the worker.
        wages_cents_per_hour: by worker, the rewards in the files divided by the time.
    """

    files: tuple[ImportedFile, ...]
    outcomes: "pd.Series[str]"
    has_times: bool
    unnamed_workers: int
    wages_cents_per_hour: "pd.Series[float]"
    feedback: "pd.Series[str]" = field(default_factory=lambda: pd.Series(dtype="str"))


SPENT = ("paid_rewards", "paid_bonuses", "paid_compensations", "fees")
"""The accounts of money that does not come back."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Money:
    """What was spent, in cents (or pence) of a currency.

    Attributes:
        ledger: cents by account: budget (the cap), held (reserved for open HITs),
            paid_rewards, paid_bonuses, paid_compensations, fees, released (was held
            and returned to the budget; not spent). An absent account is 0.
        wage_floor_cents_per_hour: the least that an hour of work should earn.
        currency: of every amount.
        planned_wage_cents_per_hour: what the reward pays an hour at the task's own
            pace; only in a rehearsal, whose careful workers keep that pace.
        others: what other ledgers of the same money say, if known.
        compensation_reasons: why people were paid whom faults hurt, for each payment.
    """

    ledger: Mapping[str, int]
    wage_floor_cents_per_hour: int
    currency: Currency = "USD"
    planned_wage_cents_per_hour: float | None = None
    others: Books | None = None
    compensation_reasons: tuple[str, ...] = ()

    def shown(self, cents: int) -> str:
        """Format an amount for people."""
        return shown(cents, self.currency)

    @property
    def sign(self) -> str:
        """The currency sign before an amount."""
        return SIGNS[self.currency]

    def wage(self, cents_per_hour: float) -> str:
        """Format a wage for people."""
        return wage(cents_per_hour, self.currency)

    @property
    def plans_floor(self) -> bool:
        """Whether wages below the floor are chance: the reward pays it as planned."""
        planned = self.planned_wage_cents_per_hour
        return planned is not None and planned >= self.wage_floor_cents_per_hour

    def each(self, answers: int) -> str:
        """Format what was spent for each of some answers."""
        return f"{self.sign}{self.spent_cents / answers / 100:.2f}"

    def cents(self, account: str) -> int:
        """The amount of one account of the ledger; 0 if it has no entry."""
        return self.ledger.get(account, 0)

    @property
    def spent_cents(self) -> int:
        """The amount that was spent: rewards, bonuses, compensations and fees."""
        return sum(map(self.cents, SPENT))

    @property
    def left_cents(self) -> int:
        """The amount that is free: the budget less what is spent or held."""
        return self.cents("budget") - self.spent_cents - self.cents("held")


@dataclass(frozen=True, kw_only=True)
class AsNeeded:
    """Collection that continues until the label of each item is certain enough.

    Attributes:
        most: the maximum number of answers for an item.
        until: the probability of a label that is enough.
        wanted: answers wanted so far, by item; items that need only the minimum may be
            absent.
        sureness: for each item with an estimate: its accepted answers, and the
            probability of its label.
    """

    most: int
    until: float
    wanted: Mapping[str, int]
    sureness: Sequence[tuple[int, float]]


@dataclass(frozen=True, kw_only=True)
class SourceFile:
    """A campaign file that passes used.

    Attributes:
        sha256: of its bytes.
        since: the time of the first pass that used it.
    """

    sha256: str
    since: str


@dataclass(frozen=True, kw_only=True)
class ReportFacts:
    """How one dataset was made. Times are UTC.

    Frames without rows may also have no columns. The columns and their kinds are
    listed in `piecework.report.formatting`.

    Attributes:
        sources: the campaign files that the passes used, in order.
        beyond_cap: what a cap left out, in words; "" if none was reached.
        changed: keys and files that have changed since the last pass.
        started_at: the campaign's time, virtual in a rehearsal.
        finished_at: the end, or the time of this report if it is not finished.
        wanted_per_item: accepted answers wanted for each item; the minimum with
            `as_needed`.
        items: items in the dataset, answered or not; none that was only mixed in.
        answers: one row per decided answer: the table of
            `piecework.postprocess.answers`, including rejected, dropped, canned and
            surplus rows.
        mixed_in: the same for all answers about items that were only mixed in to check
            workers: in no dataset, but paid, and seen by heuristics.
        waiting: the same for answers that are not decided yet.
        batches: one row per batch and round. `hits` and both `assignments_` columns
            count what this round posted; times still to come are missing.
        findings: one row per finding; the rows that flag nothing may be left out. Ids
            of workers are hashed as in `answers.worker`.
        decisions: one row per decision; ids of workers hashed. `is_accepted`: whether a
            person took the reason that the policy proposed.
        workers: one row per worker who submitted, index the hashed id. `paid_cents` is
            rewards and bonuses without fees; `answers_dropped` includes the answers
            of rejected assignments; `seconds_worked` is the time of all assignments,
            `seconds_paid` of those that were paid, for the wage; `assignments_deleted` are
            those whose answers were deleted at the worker's request; `trait` is empty and
            `is_planted_bad` false outside a rehearsal.
        task: the task; its fields determine which sections there are.
        money: None for a dataset that was not paid for through a ledger.
        is_drawn: simulated workers answered at random, not about the items.
        seed: of the rehearsal, and of resampled intervals; None if there is none.
        rules: version by name of every cleaning rule that ran.
        comparisons: one row per judgement of a pair of systems, if workers compared any
            (`piecework.analyses.paired_comparisons`).
        compared: conditions that the task compares, with their scores.
        corrections: one row per kind of error, if workers corrected any
            (`piecework.analyses.minimal_pairs.correction_gains`).
        shown_items: items that are shown with their pictures, grouped by kind.
        imported: the origin of the answers, if another tool collected them.
        reviews: how people's decisions agree with heuristics and with each other.
        silent: why a heuristic can flag nothing in this campaign, by name.
        as_needed: set if items get more answers until their labels are certain.
        policy: the campaign's rules; their reasons are counted as they are stated.
        of_sections: what a single section shows, if the campaign has it; the class of each
            is defined beside its section.
    """

    campaign: str
    purpose: str
    task: Task
    sources: tuple[SourceFile, ...]
    code_commit: str
    is_rehearsal: bool
    started_at: datetime
    finished_at: datetime
    wanted_per_item: int
    items: int
    is_finished: bool
    answers: pd.DataFrame
    batches: pd.DataFrame
    findings: pd.DataFrame
    decisions: pd.DataFrame
    workers: pd.DataFrame
    beyond_cap: str = ""
    changed: tuple[str, ...] = ()
    is_drawn: bool = False
    money: Money | None = None
    seed: int | None = None
    rules: Mapping[str, int] = field(default_factory=dict)
    comparisons: pd.DataFrame = field(default_factory=pd.DataFrame)
    compared: tuple[Compared, ...] = ()
    corrections: pd.DataFrame = field(default_factory=pd.DataFrame)
    waiting: pd.DataFrame = field(default_factory=pd.DataFrame)
    mixed_in: pd.DataFrame = field(default_factory=pd.DataFrame)
    shown_items: tuple[ShownItem, ...] = ()
    imported: ImportedFacts | None = None
    reviews: ReviewQuality | None = None
    silent: Mapping[str, str] = field(default_factory=dict)
    policy: tuple[PolicyRule, ...] = ()
    as_needed: AsNeeded | None = None
    of_sections: tuple[object, ...] = ()

    def __post_init__(self) -> None:
        """Give every frame the columns and dtypes that the sections expect."""
        for name, columns in (
            ("batches", formatting.BATCHES),
            ("findings", formatting.FINDINGS),
            ("decisions", formatting.DECISIONS),
            ("workers", formatting.WORKERS),
            ("comparisons", formatting.COMPARISONS),
            ("corrections", formatting.CORRECTIONS),
        ):
            mended = formatting.shape_table(getattr(self, name), columns, name=name)
            object.__setattr__(self, name, mended)
        for name in ("answers", "waiting", "mixed_in"):
            answers = _answers(getattr(self, name), self.task)
            object.__setattr__(self, name, answers)

    def of(self, kind: type[_Facts]) -> _Facts | None:
        """What the section that defines a class shows; `None` if the campaign lacks it."""
        return next((facts for facts in self.of_sections if isinstance(facts, kind)), None)

    @property
    def time_span(self) -> str:
        """The time span of the work in UTC; "" if no file states it."""
        if self.imported is not None and not self.imported.has_times:
            return ""
        return f"{moment(self.started_at)} to {moment(self.finished_at)}"

    @property
    def drawing_seed(self) -> int:
        """The seed of resampled intervals; 0 if the campaign has none."""
        return self.seed or 0


def _answers(answers: pd.DataFrame, task: Task) -> pd.DataFrame:
    """Check the table's columns; give a table without rows the right columns.

    Raises:
        ValueError: columns are missing or of another kind, one sentence each.
    """
    columns = answer_columns(task)
    if answers.empty:
        return build([], {name: [] for name in columns}, columns)
    sentences = faults(answers, columns)
    if sentences:
        raise ValueError("ReportFacts.answers: " + " ".join(sentences))
    return answers
