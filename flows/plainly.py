"""A whole pass without Prefect: for cron, for a terminal, and for a small machine."""

from domain.progress import Progress
from flows.orders import Orders
from flows.results.clean import clean
from flows.results.export import export
from flows.steps.whole_pass import whole_pass
from flows.worlds import world
from store import standing


def advance_plainly(orders: Orders, *, harvest: bool = False) -> Progress:
    """Do what is due on a campaign; dataset and report once it is finished.

    Args:
        orders: what the pass is told.
        harvest: ask open HITs for what they have got, however lately that was done.

    Raises:
        PieceworkError: as the steps say; running it again is always safe.
    """
    with world(orders) as place:
        reached = whole_pass(place, harvest=harvest)
        if reached.is_finished:
            clean(place)
            export(place)
        standing.remember(place.store, reached.as_dict(), asked=orders.digest())
    return reached
