"""What a step works with: a campaign, its store and, for acts, its platform."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from piecework.campaign.deriving import complete_inputs
from piecework.config.changed_keys import changes
from piecework.domain.campaign import Campaign
from piecework.domain.clock import Clock
from piecework.domain.errors import ConfigError
from piecework.domain.hit import MTURK, Capabilities, Item, PlannedHit
from piecework.domain.ids import ItemId, ItemNumbers, ItemTags, WorkerId
from piecework.domain.late_modules import pd
from piecework.domain.text import shell_word
from piecework.domain.verdicts import SubjectKind
from piecework.postprocess.pseudonyms import pseudonym
from piecework.qc.batches import BatchScores
from piecework.store import campaign_facts, dealt_items, workers
from piecework.store.campaign_facts import UsedInputs
from piecework.store.database import Store
from piecework.store.dealt_items import DealtItems
from piecework.store.settlements import PAID_ALREADY
from piecework.store.tables import last_numbers, read_answers

if TYPE_CHECKING:
    from piecework.platforms.mturk import MTurk


class _Answers:
    """The table of answers as far as one process has read it."""

    def __init__(self) -> None:
        self._recent: pd.DataFrame | None = None
        self._all: pd.DataFrame | None = None
        self._first = self._number = 0

    def recent(self, store: Store, campaign: Campaign) -> "pd.DataFrame":
        number, first = last_numbers(store)
        if self._recent is None or first > self._first:
            self._first, self._all = first, None
            self._recent = read_answers(store, campaign.task, after=self._first)
        elif number > self._number:
            news = read_answers(store, campaign.task, after=self._number)
            self._recent = pd.concat([self._recent, news])
            if self._all is not None:
                self._all = pd.concat([self._all, news])
        self._number = number
        return self._recent

    def all(self, store: Store, campaign: Campaign) -> "pd.DataFrame":
        recent = self.recent(store, campaign)
        if not self._first:
            return recent
        if self._all is None:
            archived = read_answers(store, campaign.task, until=self._first)
            self._all = pd.concat([archived, recent])
        return self._all


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenedCampaign:
    """A campaign and its store: enough to look at it, to decide and to export.

    Attributes:
        is_rehearsal: workers are simulated and no money moves.
        pseudonym_key: key of the hashes that replace worker ids outside the store.
        endpoint: URL of the marketplace that the store is bound to; "" in a rehearsal.
        batches: the batches that this process has scored so far.
        kept: what this process made of the store, by name; the reader checks whether it is
            of the store as it is.
    """

    campaign: Campaign
    store: Store
    clock: Clock
    is_rehearsal: bool
    pseudonym_key: bytes
    endpoint: str = ""
    batches: BatchScores = field(default_factory=BatchScores, repr=False)
    kept: dict[str, Any] = field(default_factory=dict, repr=False)
    _answers: _Answers = field(default_factory=_Answers, repr=False)
    _item_numbers: list[ItemNumbers | ItemTags] = field(default_factory=list, repr=False)

    @property
    def used_inputs(self) -> tuple[UsedInputs, ...]:
        """What the passes were made from; before the first, what the file says now."""
        if used := campaign_facts.read_inputs(self.store):
            return used
        return (UsedInputs(since=self.clock.now(), inputs=complete_inputs(self.campaign)),)

    @property
    def changed_inputs(self) -> tuple[str, ...]:
        """The keys and files that have changed since the last pass."""
        now = self.campaign.inputs_now or complete_inputs(self.campaign)
        return changes(self.used_inputs[-1].inputs, now)

    @property
    def capabilities(self) -> Capabilities:
        """What its marketplace allows; MTurk's limits while no platform is there."""
        return MTURK

    @property
    def is_imported(self) -> bool:
        """Whether another tool collected the answers; there is no marketplace then."""
        return self.campaign.imported is not None

    def pseudonym(self, worker_id: WorkerId) -> str:
        """Return the keyed hash that replaces a worker's id outside the store."""
        return pseudonym(worker_id, self.pseudonym_key)

    def shown_id(self, kind: SubjectKind, subject_id: str) -> str:
        """Return the id of a subject as people see it: for a worker, the pseudonym."""
        if kind == "worker":
            return self.pseudonym(WorkerId(subject_id))
        return subject_id

    def items_of(self, planned: Iterable[PlannedHit]) -> Mapping[ItemId, Item]:
        """Return the items that these HITs show, by id; perhaps with others."""
        return self.items_by_id(item_id for hit in planned for item_id in hit.item_ids)

    def items_by_id(self, item_ids: Iterable[ItemId]) -> Mapping[ItemId, Item]:
        """Return these items by id; perhaps with others, and without unknown ones."""
        items = self.campaign.items
        if isinstance(items, DealtItems):
            return items.of(set(item_ids))
        return {item.item_id: item for item in items}

    def item_numbers(self) -> ItemNumbers | ItemTags:
        """Return names for the campaign's items in annotations; computed once."""
        if self.campaign.growth is not None:
            return ItemTags(lambda: dealt_items.all_ids(self.store))
        if not self._item_numbers:
            items = self.campaign.items
            self._item_numbers.append(ItemNumbers(item.item_id for item in items))
        return self._item_numbers[0]

    def answers(self) -> "pd.DataFrame":
        """Return the table of all answers so far, in the order of storing.

        Its columns are those of `piecework.domain.tables`.

        Each call reads only answers stored since the last call; stored answers never
        change.

        Raises:
            StoreError: a file of the archive is missing or was changed.
        """
        return self._answers.all(self.store, self.campaign)

    def recent_answers(self) -> "pd.DataFrame":
        """Return the answers that passes judge: all but those in the archive.

        A table as `answers` returns it. Archived answers may be among them.
        """
        return self._answers.recent(self.store, self.campaign)


@dataclass(frozen=True, slots=True, kw_only=True)
class CampaignRun(OpenedCampaign):
    """A campaign at work on a platform, for a pass.

    Attributes:
        most_calls: how many calls may be under way at a time. A rehearsal posts HITs one
            after the other anyway, because its marketplace gives ids in that order.
        is_live: real people work and are owed money (`--live`).
    """

    platform: "MTurk"
    most_calls: int = 1
    is_live: bool = False

    @property
    def capabilities(self) -> Capabilities:
        """What its marketplace allows."""
        return self.platform.capabilities


# Fewer characters could match a worker by a typing error.
_SHORTEST_PSEUDONYM = 4


def known_worker(opened: OpenedCampaign, worker: str) -> WorkerId:
    """Return the worker of the campaign with this pseudonym.

    Args:
        opened: the campaign.
        worker: the pseudonym, or at least its first four characters.

    Raises:
        ConfigError: no worker or several have this pseudonym.
    """
    known = workers.totals(opened.store, paid_already=PAID_ALREADY)
    pseudonyms = {opened.pseudonym(worker_id): worker_id for worker_id in known}
    start = worker.strip().lower().removesuffix("…").removesuffix("...")
    if start in pseudonyms:
        return pseudonyms[start]
    matches = sorted(name for name in pseudonyms if name.startswith(start))
    if len(start) < _SHORTEST_PSEUDONYM:
        fault = (
            f"{worker!r} is too short for a pseudonym: type "
            f"{_SHORTEST_PSEUDONYM} characters or more"
        )
    elif len(matches) > 1:
        fault = f"{worker!r} matches {len(matches)} workers: {', '.join(matches[:5])}"
    elif matches:
        return pseudonyms[matches[0]]
    else:
        fault = f"no worker of this campaign has the pseudonym {worker!r}"
    raise ConfigError(
        [fault], next_step=f"piecework workers list {shell_word(opened.campaign.path)}"
    )
