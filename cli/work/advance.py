"""One pass from the command line: a look first, and Prefect only if a server is set."""

import os
from dataclasses import replace

from domain.money import cents_to_wire
from domain.progress import Progress
from flows.looking import look
from flows.orders import Orders


def advance_once(orders: Orders, *, harvest: bool) -> Progress:
    """Do what is due; a person is asked for leave only if something is."""
    reached = None if harvest else look(orders)
    if reached is not None:
        return reached
    if not orders.rehearsal:
        orders = _with_leave(orders)
    if os.environ.get("PREFECT_API_URL"):
        from cli.work.run import advance_in_prefect  # noqa: PLC0415 - costs seconds

        return advance_in_prefect(orders, harvest=harvest)
    from flows.plainly import advance_plainly  # noqa: PLC0415 - pandas

    return advance_plainly(orders, harvest=harvest)


def _with_leave(orders: Orders) -> Orders:
    from cli.work.consent import leave_to_spend  # noqa: PLC0415 - pandas costs a second

    given = orders.spend_at_most_cents
    allowed = leave_to_spend(
        orders.campaign,
        orders.endpoint,
        live=orders.live,
        spend_at_most=None if given is None else cents_to_wire(given),
    )
    return replace(orders, spend_at_most_cents=allowed)
