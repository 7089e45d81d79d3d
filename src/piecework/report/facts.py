"""All that the report may know: values and frames, without a store or a clock.

The flow step that gathers these hashes worker ids before; nothing here can undo it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

import pandas as pd

from piecework.analyses.condition_scores import Compared
from piecework.domain.money import SIGNS, Currency, shown
from piecework.domain.review import ReviewQuality
from piecework.domain.tables import build, faults
from piecework.domain.task import Task
from piecework.domain.verdicts import PolicyRule
from piecework.postprocess.answers import answer_columns
from piecework.report import tables
from piecework.report.formatting import moment, wage
from piecework.report.item_sample import ShownItem


@dataclass(frozen=True, slots=True, kw_only=True)
class BeforeWork:
    """The test that workers took before they might work.

    Attributes:
        sections: name, questions, and right answers needed, of each.
        scores: of each worker who took it, the newest; with the trait in a rehearsal.
        least_passing: the least score that passes.
    """

    name: str
    sections: tuple[tuple[str, int, int], ...]
    scores: tuple[tuple[int, str], ...]
    least_passing: int


@dataclass(frozen=True, slots=True, kw_only=True)
class OtherLedgers:
    """What was spent by the ledgers of others, in cents.

    Attributes:
        marketplace: by its own.
        prolific: by Prolific's, whose participants worked.
        reasons: why they differ from the campaign's, in sentences.
    """

    marketplace: int
    prolific: int
    reasons: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedSource:
    """One file of another tool, as it was read; counts of assignments and rows."""

    name: str
    format_name: str
    assignments: int
    known: int
    not_sent: int
    unreadable: int


@dataclass(frozen=True, kw_only=True)
class ImportedFacts:
    """Where answers come from that another tool collected.

    Attributes:
        outcomes: what became of each answer there, in that tool's word; by answer id.
        has_times: whether any file says when anything was done.
        unnamed_workers: assignments of which no file says who worked.
        wages_cents_per_hour: by worker, what the files state as rewards over the time.
    """

    files: tuple[ImportedSource, ...]
    outcomes: "pd.Series[str]"
    has_times: bool
    unnamed_workers: int
    wages_cents_per_hour: "pd.Series[float]"


@dataclass(frozen=True, slots=True, kw_only=True)
class Money:
    """What was spent, in cents (or pence) of a currency.

    Attributes:
        ledger: cents by account: budget (the cap), held (reserved for HITs that are
            still open), paid_rewards, paid_bonuses, fees, released (was held, went back
            to the budget; no part of what was spent). An absent account is 0.
        wage_floor_cents_per_hour: what an hour of work has to earn at least.
        currency: of every amount.
        others: other ledgers of the same money, where they are known.
    """

    ledger: Mapping[str, int]
    wage_floor_cents_per_hour: int
    currency: Currency = "USD"
    others: OtherLedgers | None = None

    def shown(self, cents: int) -> str:
        """An amount for people."""
        return shown(cents, self.currency)

    @property
    def sign(self) -> str:
        """What stands before an amount."""
        return SIGNS[self.currency]

    def wage(self, cents_per_hour: float) -> str:
        """A wage for people."""
        return wage(cents_per_hour, self.currency)

    def cents(self, account: str) -> int:
        """What the ledger says about one account, 0 if it has no entry."""
        return self.ledger.get(account, 0)

    @property
    def spent_cents(self) -> int:
        """What has left the budget for good: rewards, bonuses and fees."""
        return sum(map(self.cents, ("paid_rewards", "paid_bonuses", "fees")))

    @property
    def left_cents(self) -> int:
        """What may still be promised: the budget without what is spent or held."""
        return self.cents("budget") - self.spent_cents - self.cents("held")


@dataclass(frozen=True, kw_only=True)
class AsNeeded:
    """How often items were asked that are asked until their labels are sure.

    Attributes:
        most: answers that an item gets at most.
        until: the probability of a label that is enough.
        wanted: answers wanted by now, by item; items that want no more than the least
            may be absent.
        sureness: of each item that was weighed: its accepted answers, and the
            probability of its label.
    """

    most: int
    until: float
    wanted: Mapping[str, int]
    sureness: Sequence[tuple[int, float]]


@dataclass(frozen=True, kw_only=True)
class Gold:
    """What workers said of items whose answer is known.

    Attributes:
        items: of which an answer is known.
        mixed_in: of these, those that are there for nothing else.
        least: how many a worker must have met before anything is said of him.
        scores: one row a worker who met any, index the hashed id: `met`, `right`,
            `most` (int64; of `piecework.qc.gold.gold_scores`).
        contradicted: of `piecework.qc.gold.contradicted`.
    """

    items: int
    mixed_in: int
    least: int
    scores: pd.DataFrame
    contradicted: pd.DataFrame


@dataclass(frozen=True, kw_only=True)
class ReportFacts:
    """How one dataset was made. Times are UTC.

    Frames without rows may also be without columns. Columns are listed, with their
    kinds, in `piecework.report.tables`.

    Attributes:
        source_hash: sha256 of the campaign file.
        started_at: the campaign's time, virtual in a rehearsal.
        finished_at: the end, or the moment of this report if it is not finished.
        wanted_per_item: accepted answers wanted for each image; the least, if
            `as_needed`.
        items: images in the campaign, answered or not.
        answers: one row a decided answer: the table of `piecework.postprocess.answers`.
            Rejected, dropped, canned and surplus rows included.
        waiting: the same of answers that came and are not decided yet.
        batches: one row a batch and round. `hits` and both `assignments_` columns count
            what this round posted; times that have not come are missing.
        findings: one row a finding; the rows that flag nothing may be left out. Ids of
            workers are hashed as in `answers.worker`.
        decisions: one row a decision; ids of workers hashed.
        workers: one row a worker who submitted, index the hashed id. `paid_cents` is
            rewards and bonuses without fees; `answers_dropped` includes the answers
            of rejected assignments; `seconds_worked` is what the wage is counted on;
            `trait` is empty and `is_planted_bad` false outside a rehearsal.
        task: what was asked; its fields say which sections there are.
        money: None for a dataset that was not paid for through a ledger.
        is_drawn: what the simulated workers say was drawn, and is not about the items.
        seed: of the rehearsal, and of intervals that are drawn; None if there is none.
        rules: version by name of every cleaning rule that ran.
        comparisons: one row a judgement of a pair of systems, if workers compared any
            (`piecework.analyses.pairwise_outcomes`).
        compared: conditions that the task compares, with their scores.
        before_work: the qualification test of the campaign, if it has one.
        corrections: one row a kind of error, if workers corrected any
            (`piecework.report.correction_gains`).
        shown_items: items that are shown with their pictures, those of a kind together.
        heuristics: what each heuristic looks for, in words, by name.
        imported: where the answers come from, if another tool collected them.
        reviews: what people's decisions say of heuristics and of each other.
        silent: why a heuristic can say nothing about this campaign, by name.
        as_needed: how often items were asked, if that hangs on their labels.
        gold: what workers said where the answer is known, if it is of any item.
        policy: the campaign's rules; their reasons are counted as they are stated.
    """

    campaign: str
    purpose: str
    task: Task
    source_hash: str
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
    is_drawn: bool = False
    money: Money | None = None
    seed: int | None = None
    rules: Mapping[str, int] = field(default_factory=dict)
    comparisons: pd.DataFrame = field(default_factory=pd.DataFrame)
    compared: tuple[Compared, ...] = ()
    before_work: BeforeWork | None = None
    corrections: pd.DataFrame = field(default_factory=pd.DataFrame)
    waiting: pd.DataFrame = field(default_factory=pd.DataFrame)
    shown_items: tuple[ShownItem, ...] = ()
    heuristics: Mapping[str, str] = field(default_factory=dict)
    imported: ImportedFacts | None = None
    reviews: ReviewQuality | None = None
    silent: Mapping[str, str] = field(default_factory=dict)
    policy: tuple[PolicyRule, ...] = ()
    as_needed: AsNeeded | None = None
    gold: Gold | None = None

    def __post_init__(self) -> None:
        """Give every frame the columns and dtypes that the sections count on."""
        for name, columns in (
            ("batches", tables.BATCHES),
            ("findings", tables.FINDINGS),
            ("decisions", tables.DECISIONS),
            ("workers", tables.WORKERS),
            ("comparisons", tables.COMPARISONS),
            ("corrections", tables.CORRECTIONS),
        ):
            mended = tables.shaped(getattr(self, name), columns, name=name)
            object.__setattr__(self, name, mended)
        for name in ("answers", "waiting"):
            answers = _answers(getattr(self, name), self.task)
            object.__setattr__(self, name, answers)

    @property
    def time_span(self) -> str:
        """From when to when the work was done, in UTC; "" if no file says that."""
        if self.imported is not None and not self.imported.has_times:
            return ""
        return f"{moment(self.started_at)} to {moment(self.finished_at)}"

    @property
    def drawing_seed(self) -> int:
        """The seed of intervals that are drawn; 0 where the campaign has none."""
        return self.seed or 0


def _answers(answers: pd.DataFrame, task: Task) -> pd.DataFrame:
    """The table as it is; one without rows gets the columns that it should have.

    Raises:
        ValueError: columns are missing or of another kind, a sentence each.
    """
    columns = answer_columns(task)
    if answers.empty:
        return build([], {name: [] for name in columns}, columns)
    sentences = faults(answers, columns)
    if sentences:
        raise ValueError("ReportFacts.answers: " + " ".join(sentences))
    return answers
