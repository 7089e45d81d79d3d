"""A campaign: the purpose and the rules of one collection, as its file states them.

Labels of models about its items belong to it.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from pathlib import Path
from typing import Literal, NamedTuple

from piecework.domain.crowds import Crowds
from piecework.domain.dataset import Publication, Sink
from piecework.domain.errors import ConfigError
from piecework.domain.experiment import Experiment
from piecework.domain.growing import Growth
from piecework.domain.hit import Item, QualificationRequirement, Recruiting
from piecework.domain.ids import ItemId
from piecework.domain.imported import Reading
from piecework.domain.inputs import Inputs
from piecework.domain.money import Currency, FeeSchedule, shown
from piecework.domain.pictures import PictureLocation
from piecework.domain.qualifications import EarnedRule, QualificationTest
from piecework.domain.store_address import StoreAddress, store_address
from piecework.domain.task import GOLD, MIXED_IN, TRUTH, Task
from piecework.domain.verdicts import PolicyRule


@dataclass(frozen=True, slots=True, kw_only=True)
class MachineVote:
    """The label that a model gives an item.

    Attributes:
        model: the name of the model.
        item_id: the item.
        field: the field that is labelled.
        value: an option of the field.
        probability: how probable the model thinks the label; missing if it says none.
    """

    model: str
    item_id: ItemId
    field: str
    value: str
    probability: float | None = None


# MTurk's system qualification types (API reference): sandbox, production.
MASTERS = ("2ARFPLSP75KLA8M8DH1HTEQVJT3SY6", "2F1QJWKUDD8XADTFD2Q0G6UTO95ALH")

OutputFormat = Literal["vizwiz_json", "coco_json", "imagefolder", "conll", "brat", "csv", "parquet"]


def formats_of(task: Task) -> tuple[OutputFormat, ...]:
    """Return the formats that a task's dataset can be written in."""
    if task.dataset == "captions":
        return "vizwiz_json", "csv", "parquet"
    kinds = {aggregate.kind for aggregate in task.aggregates}
    drawn: tuple[OutputFormat, ...] = (
        ("coco_json",) if kinds & {"boxes", "polygons", "masks"} else ()
    )
    of_boxes: tuple[OutputFormat, ...] = ("imagefolder",) if "boxes" in kinds else ()
    of_spans: tuple[OutputFormat, ...] = ("conll", "brat") if "spans" in kinds else ()
    return (*drawn, *of_boxes, *of_spans, "csv", "parquet")


AGREED = "the amount agreed to"
"""The name of a cap that a person stated at `run`; the others are keys of the campaign file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rewards:
    """What the campaign pays and what it may cost, in cents (or pence) of a currency.

    Attributes:
        currency: the currency of every amount of the campaign.
        budget_cents: the file's cap on rewards, bonuses and fees together.
        batch_budget_cents: the cap on the cost of one batch; `None`: no such cap.
        day_budget_cents: the cap on what is promised on one UTC day.
        month_budget_cents: the same for one calendar month in UTC.
        item_budget_cents: the cap on the cost of one item, with its replacements.
        agreed_cents: the most that a person has agreed to spend, if asked.
        expected_seconds: how long one whole HIT is expected to take, if stated.
        budget_is_derived: the file states no budget; an amount that a person has agreed
            to is then the budget.
        expected_loss: share of answers expected to be lost and replaced.
        fees: schedules, oldest first.
        fees_by_market: the schedule of each market that the marketplace lets in.
        fees_are_listed: whether they are those of `config/fees.toml`, not those of the
            campaign file or the marketplace.
    """

    reward_cents: int
    budget_cents: int
    wage_floor_cents_per_hour: int
    batch_budget_cents: int | None = None
    day_budget_cents: int | None = None
    month_budget_cents: int | None = None
    item_budget_cents: int | None = None
    agreed_cents: int | None = None
    budget_is_derived: bool = field(default=False, compare=False)
    expected_seconds: int | None = None
    expected_loss: float = 0.0
    fees: tuple[FeeSchedule, ...] = (FeeSchedule(),)
    fees_are_listed: bool = True
    fees_by_market: tuple[tuple[str, FeeSchedule], ...] = ()
    currency: Currency = "USD"

    def shown(self, cents: int) -> str:
        """Format an amount of the campaign for people."""
        return shown(cents, self.currency)

    def as_agreed(self, cents: int | None) -> "Rewards":
        """Return these with the amount that a person agreed to, which a derived budget is."""
        budget = cents if self.budget_is_derived and cents is not None else self.budget_cents
        return replace(self, agreed_cents=cents, budget_cents=budget)

    @property
    def cap_cents(self) -> int:
        """The most that the campaign may spend: its budget, or less if less was agreed.

        >>> Rewards(reward_cents=1, budget_cents=9, wage_floor_cents_per_hour=0,
        ...         agreed_cents=7).cap_cents
        7
        """
        if self.agreed_cents is None:
            return self.budget_cents
        return min(self.budget_cents, self.agreed_cents)

    @property
    def cap_name(self) -> str:
        """Which of the two is the cap, as a person would look for it.

        A file without a budget has only the amount that was agreed to.
        """
        is_agreed = self.agreed_cents is not None and (
            self.budget_is_derived or self.cap_cents < self.budget_cents
        )
        return AGREED if is_agreed else "budget"

    def fees_on(self, day: date, market: str = "") -> FeeSchedule:
        """Return the schedule in force on a day, for work of a market.

        A market without a schedule of its own has the campaign's.

        Raises:
            ConfigError: no schedule was in force yet.
        """
        if (own := dict(self.fees_by_market).get(market)) is not None:
            return own
        known = [schedule for schedule in self.fees if schedule.valid_from <= day]
        if not known:
            first = self.fees[0].valid_from
            raise ConfigError(
                [f"no fees are known for {day}; the first known fees start on {first}"],
                next_step="add [[fees]] to the machine's file, see docs/reference/shared-files.md",
            )
        return known[-1]


@dataclass(frozen=True, slots=True, kw_only=True)
class AsNeeded:
    """When to ask for more answers about an item that is not sure.

    Attributes:
        most: the most accepted answers that an item gets.
        until: the certainty of an item at which no more are asked for
            (`piecework.analyses.answers_needed.weighed`).
    """

    most: int
    until: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Posting:
    """How HITs are posted.

    Attributes:
        batches: how many batches the items are spread over.
        assignments: accepted answers wanted for each item; the least, if more are asked
            for as needed.
        max_rounds: how often missing answers are posted again, per batch.
        as_needed: when to ask for more answers to an item; `None`: never.
        records_typing: whether pages record how texts are entered, without the texts.
    """

    batches: int
    assignments: int
    items_per_hit: int
    lifetime_seconds: int
    assignment_duration_seconds: int
    auto_approval_delay_seconds: int
    max_rounds: int
    as_needed: AsNeeded | None = None
    records_typing: bool = True

    @property
    def most(self) -> int:
        """The most accepted answers that an item gets."""
        return self.assignments if self.as_needed is None else self.as_needed.most

    @property
    def asked(self) -> str:
        """How many answers an item gets, in figures: "5", or "3 to 7"."""
        if self.as_needed is None:
            return str(self.assignments)
        return f"{self.assignments} to {self.most}"

    @property
    def rounds(self) -> int:
        """How often a batch may be posted again, for missing answers or unsure labels.

        Each round asks for one more answer about an unsure label.
        """
        return self.max_rounds + self.most - self.assignments


@dataclass(frozen=True, slots=True, kw_only=True)
class RehearsalPlan:
    """The simulated workers of a rehearsal.

    Attributes:
        crowd: how many simulated workers have each trait.
        replay: captions that real people wrote, for honest simulated workers to submit.
        scenes: how many pictures piecework draws itself, 0 for none. Without an items
            file they are the items.
        people: by field of the HIT and option, how many of the workers choose it, in
            proportion; without a field, all its options are as frequent.
    """

    seed: int
    crowd: Mapping[str, int]
    people: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    replay: Path | None = None
    scenes: int = 0


class Derived(NamedTuple):
    """A value that the campaign file does not state.

    Attributes:
        key: its key in the file, such as `minutes` or `items.columns`.
        value: as the file would state it.
        why: what it was derived from.
    """

    key: str
    value: object
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class EarlierCampaign:
    """Another campaign whose workers are wanted, or are not.

    Attributes:
        store: where its store is.
        key: the key of `[requirements]` that names it.
        is_wanted: whether only its workers may work; otherwise they may not.
    """

    name: str
    store: StoreAddress
    key: str
    is_wanted: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Campaign:
    """Everything that a campaign file says, checked.

    Attributes:
        inputs: what it was read from.
        items: its items. Of a campaign that grows: before it is opened, the first rows
            of its source; then the items that were dealt, read from the store.
        practice: practice items that every HIT shows first; their answers never count.
        pictures: the folder or bucket that the marketplace serves pictures from, if
            items name files.
        crowd_size: how many workers there are in all, if known.
        most_per_worker: how many HITs one worker may do; `None`: all.
        most_in_batch: how many HITs of each batch one worker may do; `None`: all.
        qualification: a test that workers take before they may work, if there is one.
        earned: qualifications that good work of this campaign earns.
        wanted_earned: names of earned qualifications that workers must have.
        unwanted_earned: names of those that they must not have.
        dataset: what its readers are told, and how it is split.
        heuristics: parameters by heuristic name; an absent heuristic runs with its
            defaults, `None` switches it off.
        decided_by: `policy` decides by `policy`; `person` waits for people if there is
            any flag.
        tells_gold: workers who were wrong about a gold item get the right answer with
            the decision about their work.
        imported: how to read results of another tool, if the campaign has such results;
            it cannot post or pay then.
        growth: how its items grow; `None`: they never change.
        gold: items with known answers that a campaign that grows mixes in, in order.
        gold_share: their share of each batch.
        machine: labels of models, which join people's votes.
        experiment: pages that are compared at random; `None`: all HITs have one page.
        crowds: the markets that its HITs go to; `None`: the marketplace's first.
        number: the number of the rehearsal that it is; `None`: live work.
        inputs_now: of a rehearsal that is read again: what its files are now.
        derived: what the file leaves out, in the order of the reference.
        unused_rules: what the standard rules would need to flag anything here, each in a
            sentence.
    """

    name: str
    path: Path
    inputs: Inputs
    description: str
    task: Task
    title: str
    hit_description: str
    keywords: tuple[str, ...]
    items: Sequence[Item]
    practice: tuple[Item, ...] = ()
    pictures: PictureLocation | None
    posting: Posting
    rewards: Rewards
    requirements: tuple[QualificationRequirement, ...]
    earlier: tuple[EarlierCampaign, ...] = ()
    recruiting: Recruiting | None = None
    exclusion_name: str
    crowd_size: int | None = None
    most_per_worker: int | None = None
    most_in_batch: int | None = None
    qualification: QualificationTest | None = None
    earned: tuple[EarnedRule, ...] = ()
    wanted_earned: tuple[str, ...] = ()
    unwanted_earned: tuple[str, ...] = ()
    dataset: Publication = field(default_factory=Publication)
    heuristics: Mapping[str, Mapping[str, object] | None]
    decided_by: Literal["policy", "person"]
    policy: tuple[PolicyRule, ...]
    formats: tuple[OutputFormat, ...]
    has_releases: bool = False
    sinks: tuple[Sink, ...] = ()
    out: Path
    # It may have a password.
    store_url: str = field(default="", repr=False)
    rehearsal: RehearsalPlan
    tells_gold: bool = False
    imported: Reading | None = None
    growth: Growth | None = None
    gold: tuple[Item, ...] = ()
    gold_share: float = 0.0
    machine: tuple[MachineVote, ...] = ()
    experiment: Experiment | None = None
    crowds: Crowds | None = None
    number: int | None = None
    inputs_now: Inputs | None = None
    derived: tuple[Derived, ...] = field(default=(), compare=False)
    unused_rules: tuple[str, ...] = field(default=(), compare=False)

    @property
    def source_hash(self) -> str:
        """The sha256 of the campaign file's bytes."""
        return self.inputs.source_hash

    @property
    def markets(self) -> tuple[str, ...]:
        """The markets that its HITs go to; `("",)` if it names none."""
        return ("",) if self.crowds is None else self.crowds.markets

    @property
    def store(self) -> StoreAddress:
        """Where the campaign's store is."""
        return store_address(self.out, campaign=self.name, url=self.store_url)

    @property
    def pictures_address(self) -> str | None:
        """The folder or bucket of pictures, as a marketplace takes it."""
        return None if self.pictures is None else self.pictures.address

    @property
    def own_items(self) -> tuple[Item, ...]:
        """The items of the dataset: all except those mixed in as gold."""
        return tuple(item for item in self.items if not item.columns.get(MIXED_IN))

    @property
    def mixed_in_items(self) -> tuple[Item, ...]:
        """The items that no dataset has: gold that was only mixed in to check workers."""
        return tuple(item for item in self.items if item.columns.get(MIXED_IN))

    @property
    def known_items(self) -> tuple[Item, ...]:
        """The items with a known answer."""
        return tuple(
            item
            for item in self.items
            if any(cell for name, cell in item.columns.items() if name.startswith(GOLD))
        )

    @property
    def is_for_masters(self) -> bool:
        """Whether only MTurk's masters may work, which costs an additional fee."""
        return any(
            requirement.qualification_type_id in MASTERS and requirement.comparator == "Exists"
            for requirement in self.requirements
        )

    @property
    def has_drawn_truth(self) -> bool:
        """Whether a rehearsal has to draw the true answers at random.

        Then the answers of its workers say nothing about the items.
        """
        if self.task.dataset == "captions":
            return self.rehearsal.replay is None and not self.rehearsal.scenes
        return bool(without_truth(self.items, self.task))


def without_truth(items: Iterable[Item], task: Task) -> list[ItemId]:
    """Return the items without columns for all required answers."""
    asked = [field.name for field in task.item_fields if not field.optional]
    return [
        item.item_id
        for item in items
        if not all(
            item.columns.get(TRUTH + name) or item.columns.get(GOLD + name) for name in asked
        )
    ]
