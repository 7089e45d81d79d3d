"""Plan the next HITs: a batch's first ones, or those that replace dropped answers."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from piecework.campaign.dealing import affordable, deal, first_round, replacements
from piecework.campaign.opened import CampaignRun
from piecework.domain.hit import PlannedHit
from piecework.domain.ids import ItemId
from piecework.engine.planning.next_action import NextPosting
from piecework.engine.posting.adopting import adopt, is_adopting
from piecework.engine.posting.checks import check_campaign
from piecework.engine.posting.replacing import extendable
from piecework.engine.reader import Reader
from piecework.engine.step import Step
from piecework.store import assignments, hits, item_totals
from piecework.store.database import Store


@dataclass(frozen=True, slots=True, kw_only=True)
class Due:
    """What to plan.

    Attributes:
        begins: no batch was begun yet, and the caps have to be checked first.
        posting: the HITs to plan.
        adopts: the platform may have HITs that the store does not know.
    """

    begins: bool = False
    posting: NextPosting | None = None
    adopts: bool = False

    def __bool__(self) -> bool:
        return self.begins or self.posting is not None or self.adopts


def due(reader: Reader) -> Due:
    """Return the HITs to plan; none while earlier work is open."""
    snapshot = reader.snapshot()
    if snapshot.stopped:
        return Due()
    return Due(
        begins=not snapshot.batches,
        posting=reader.posting(),
        adopts=is_adopting(reader.opened.store),
    )


def act(run: CampaignRun, due: Due) -> int:
    """Record which HITs come next; return how many are new or were adopted.

    Raises:
        BudgetExceeded: the campaign without replacements costs more than its caps.
        ConfigError: a page of a requester's own task cannot be rendered.
    """
    adopted = adopt(run)
    check_campaign(run)
    # Adopted HITs are posted already, so the next posting may have changed.
    posting = Reader(run).posting() if adopted else due.posting
    if posting is None:
        return adopted
    planned = _planned(run, posting)
    hits.plan(run.store, planned)
    return adopted + len(planned) + adopt(run)


plan = Step("plan", due, act)


def _planned(run: CampaignRun, posting: NextPosting) -> list[PlannedHit]:
    """Return the HITs of a posting, as far as there is money for them."""
    item_ids = deal(run.campaign)[posting.batch - 1]
    if posting.round == 0:
        excluded = len(item_totals.excluded(run.store))
        planned = first_round(
            run.campaign,
            posting.batch,
            item_ids,
            on=run.clock.now().date(),
            excluded=excluded,
        )
    else:
        planned = _replacements(run, posting, item_ids)
    return affordable(planned, left_cents=posting.room_cents)


def _replacements(
    run: CampaignRun, posting: NextPosting, item_ids: list[ItemId]
) -> list[PlannedHit]:
    wanted, crowd = run.campaign.posting, run.campaign.crowd_size
    lacking = item_totals.lacking(run.store, posting.batch, wanted, crowd=crowd)
    return replacements(
        run.campaign,
        posting.batch,
        posting.round,
        # In the order in which the batch was dealt.
        {item_id: lacking[item_id] for item_id in item_ids if item_id in lacking},
        on=run.clock.now().date(),
        extendable=extendable(run, posting.batch),
        keeps_apart=run.platform.keeps_apart(),
        **({} if crowd is None else {"free": partial(count_free, run.store, crowd)}),
    )


def count_free(store: Store, crowd: int, item_ids: Sequence[ItemId]) -> int:
    """Count workers of a crowd who may work and have answered none of these items."""
    answered = assignments.workers_of_items(store, item_ids)
    return crowd - len({*answered, *item_totals.excluded(store)})
