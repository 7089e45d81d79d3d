"""All input of the report: values and frames, without a store or a clock.

The flow step that gathers these facts hashes worker ids first; nothing here can undo
that.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

import pandas as pd

from piecework.analyses.condition_scores import Compared
from piecework.analyses.machine_replay import Replays
from piecework.domain.money import SIGNS, Currency, shown
from piecework.domain.tables import build, faults
from piecework.domain.task import Task
from piecework.domain.verdicts import PolicyRule, ReviewQuality
from piecework.postprocess.answers import answer_columns
from piecework.report import tables
from piecework.report.formatting import moment, wage
from piecework.report.item_sample import ShownItem


@dataclass(frozen=True, slots=True, kw_only=True)
class BeforeWork:
    """The qualification test that workers took before the work.

    Attributes:
        sections: name, number of questions, and right answers needed, of each.
        scores: the latest score of each worker who took it, with their trait in a
            rehearsal.
        least_passing: the lowest score that passes.
    """

    name: str
    sections: tuple[tuple[str, int, int], ...]
    scores: tuple[tuple[int, str], ...]
    least_passing: int


@dataclass(frozen=True, slots=True, kw_only=True)
class OtherLedgers:
    """What was spent according to other ledgers, in cents.

    Attributes:
        marketplace: according to the marketplace's ledger.
        market: the other market that the workers came from, such as "Prolific".
        outside: according to that market's ledger.
        reasons: why they differ from the campaign's ledger, in sentences.
    """

    marketplace: int
    market: str
    outside: int
    reasons: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedSource:
    """One file of another tool, with the counts of assignments and rows read."""

    name: str
    format_name: str
    assignments: int
    known: int
    not_sent: int
    unreadable: int


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

    files: tuple[ImportedSource, ...]
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
        others: other ledgers of the same money, if known.
        compensation_reasons: why people were paid whom faults hurt, for each payment.
    """

    ledger: Mapping[str, int]
    wage_floor_cents_per_hour: int
    currency: Currency = "USD"
    planned_wage_cents_per_hour: float | None = None
    others: OtherLedgers | None = None
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


@dataclass(frozen=True, slots=True, kw_only=True)
class MachineModel:
    """How often the labels of a model agree with others.

    Attributes:
        items: items that it labels.
        with_people: of these, items with a label from people's answers alone.
        as_people: of these, items with the same label.
        with_final: of its items, those with a label in the dataset.
        as_final: of these, items with the same label.
    """

    name: str
    items: int
    with_people: int
    as_people: int
    with_final: int
    as_final: int


@dataclass(frozen=True, kw_only=True)
class Machine:
    """Labels of models, which join people's votes.

    Attributes:
        field: the field that they label.
        models: a row for each model.
        replays: the answers asked for with and without models; `None` if they cannot
            be estimated.
        is_rule_its_own: whether the campaign itself asks by the rule of the replays.
        answered: items with answers that count; the replays may have fewer.
    """

    field: str
    models: tuple[MachineModel, ...]
    replays: Replays | None
    is_rule_its_own: bool
    answered: int


@dataclass(frozen=True, slots=True, kw_only=True)
class EarnedChange:
    """A grant or a revocation of an earned qualification, with its evidence.

    Attributes:
        worker: the hashed id.
        by: `rule`, or the person.
        items: the latest items of the worker; `agreed` of them agreed.
        first: when the oldest of them was submitted, and `last` the newest.
    """

    worker: str
    is_grant: bool
    at: datetime
    by: str
    items: int
    agreed: int
    first: datetime | None
    last: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Earned:
    """A qualification that work of the campaign earns.

    Attributes:
        holders: how many workers hold it now.
        changes: of all campaigns that share it, oldest first.
    """

    name: str
    agreement: float
    over: int
    revoke_below: float
    forget_days: int
    holders: int
    changes: tuple[EarnedChange, ...]


@dataclass(frozen=True, kw_only=True)
class PageExperiment:
    """Texts from pages that were drawn at random for each HIT.

    Attributes:
        wordings: the sentences that pages showed; the others are compared with the
            first.
        pastes: what pages did about pastes, in the same way.
        texts: one row per text: `hit`, `worker` (hashed), `wording`, `paste`,
            `is_flagged` (by `not_typed`), `words`, and `seconds` on screen or NaN.
        records_typing: whether pages recorded how texts were entered.
    """

    wordings: tuple[str, ...]
    pastes: tuple[str, ...]
    texts: pd.DataFrame
    records_typing: bool


@dataclass(frozen=True, kw_only=True)
class Growth:
    """How a campaign grew.

    Attributes:
        days: columns `day` (ISO 8601), `arrived` and `dealt` (rows, int64), in order;
            days on which neither happened may be absent.
        cents: what was spent and is held, by batch.
        wages_cents_per_hour: median pay of an assignment for an hour, by batch.
        unusable: rows that cannot be used.
        faults: why the first of these cannot, in sentences.
    """

    days: pd.DataFrame
    cents: Mapping[int, int]
    wages_cents_per_hour: Mapping[int, float]
    unusable: int = 0
    faults: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Gold:
    """Workers' answers about items with a known answer.

    Attributes:
        items: how many items have a known answer.
        mixed_in: how many of these were added only to check workers.
        least: how many a worker must have answered before they are judged.
        scores: one row per worker who answered any, index the hashed id: `met`,
            `right`, `most` (int64; from `piecework.qc.gold.gold_scores`).
        contradicted: from `piecework.qc.gold.contradicted`.
    """

    items: int
    mixed_in: int
    least: int
    scores: pd.DataFrame
    contradicted: pd.DataFrame


@dataclass(frozen=True, slots=True, kw_only=True)
class MarketFacts:
    """What the workers of one market did; money in cents.

    Attributes:
        hits: HITs that were planned for it.
        assignments: assignments that came in.
        kept: answers that a decision kept, of `decided` ones.
        agreed: judgements that agree with the known answer, or without known answers
            with the item's label, of `compared` ones.
        seconds: median time of an assignment, NaN if not known.
        wage_cents_per_hour: median over its workers, NaN if not known.
        cost: rewards, bonuses and fees that were spent.
    """

    market: str
    hits: int
    assignments: int
    kept: int
    decided: int
    agreed: int
    compared: int
    seconds: float
    wage_cents_per_hour: float
    cost: int


@dataclass(frozen=True, kw_only=True)
class Markets:
    """The markets that a campaign's HITs went to.

    Attributes:
        rows: a row for each market, in the order of its first HIT.
        is_gold: whether agreement is with known answers, and not with labels.
    """

    rows: tuple[MarketFacts, ...]
    is_gold: bool


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
    listed in `piecework.report.tables`.

    Attributes:
        sources: the campaign files that the passes used, in order.
        changed: keys and files that have changed since the last pass.
        started_at: the campaign's time, virtual in a rehearsal.
        finished_at: the end, or the time of this report if it is not finished.
        wanted_per_item: accepted answers wanted for each item; the minimum with
            `as_needed`.
        items: items in the campaign, answered or not.
        answers: one row per decided answer: the table of
            `piecework.postprocess.answers`, including rejected, dropped, canned and
            surplus rows.
        waiting: the same for answers that are not decided yet.
        batches: one row per batch and round. `hits` and both `assignments_` columns
            count what this round posted; times still to come are missing.
        findings: one row per finding; the rows that flag nothing may be left out. Ids
            of workers are hashed as in `answers.worker`.
        decisions: one row per decision; ids of workers hashed.
        workers: one row per worker who submitted, index the hashed id. `paid_cents` is
            rewards and bonuses without fees; `answers_dropped` includes the answers
            of rejected assignments; `seconds_worked` is the time of all assignments,
            `seconds_paid` of those that were paid, for the wage; `trait` is empty and
            `is_planted_bad` false outside a rehearsal.
        task: the task; its fields determine which sections there are.
        money: None for a dataset that was not paid for through a ledger.
        is_drawn: simulated workers answered at random, not about the items.
        seed: of the rehearsal, and of resampled intervals; None if there is none.
        rules: version by name of every cleaning rule that ran.
        comparisons: one row per judgement of a pair of systems, if workers compared any
            (`piecework.analyses.preferences`).
        compared: conditions that the task compares, with their scores.
        before_work: the qualification test of the campaign, if it has one.
        corrections: one row per kind of error, if workers corrected any
            (`piecework.report.correction_gains`).
        shown_items: items that are shown with their pictures, grouped by kind.
        imported: the origin of the answers, if another tool collected them.
        reviews: how people's decisions agree with heuristics and with each other.
        silent: why a heuristic can flag nothing in this campaign, by name.
        as_needed: set if items get more answers until their labels are certain.
        machine: labels of models, if the campaign has any.
        experiment: texts by page, if pages were drawn at random.
        gold: answers about items with a known answer, if there are any.
        growth: rows and costs over time, if the campaign grows.
        earned: qualifications that its work earns.
        markets: what each market's workers did, if HITs went to markets of their own.
        policy: the campaign's rules; their reasons are counted as they are stated.
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
    changed: tuple[str, ...] = ()
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
    earned: tuple[Earned, ...] = ()
    imported: ImportedFacts | None = None
    reviews: ReviewQuality | None = None
    silent: Mapping[str, str] = field(default_factory=dict)
    policy: tuple[PolicyRule, ...] = ()
    as_needed: AsNeeded | None = None
    machine: Machine | None = None
    experiment: PageExperiment | None = None
    gold: Gold | None = None
    growth: Growth | None = None
    markets: Markets | None = None

    def __post_init__(self) -> None:
        """Give every frame the columns and dtypes that the sections expect."""
        for name, columns in (
            ("batches", tables.BATCHES),
            ("findings", tables.FINDINGS),
            ("decisions", tables.DECISIONS),
            ("workers", tables.WORKERS),
            ("comparisons", tables.COMPARISONS),
            ("corrections", tables.CORRECTIONS),
        ):
            mended = tables.shape_table(getattr(self, name), columns, name=name)
            object.__setattr__(self, name, mended)
        for name in ("answers", "waiting"):
            answers = _answers(getattr(self, name), self.task)
            object.__setattr__(self, name, answers)

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
