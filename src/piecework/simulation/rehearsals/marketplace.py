"""The marketplace of a rehearsal, and its books afterwards.

The database is beside the store. The marketplace runs in virtual time, on one processor
core while the pipeline uses another.
"""

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress

from piecework.domain.campaign import Campaign
from piecework.domain.errors import RefusedForSafety, StoreError
from piecework.domain.store_address import FILE_NAME
from piecework.domain.text import shell_word
from piecework.engine.begun import known_store
from piecework.engine.recover.other_stores import refuse_posted_before
from piecework.marketplace.http.child_process import PROGRAM
from piecework.marketplace.http.server import Marketplace, Running, serve_apart
from piecework.marketplace.state.accounts import REHEARSAL_BALANCE_CENTS
from piecework.marketplace.state.money import PriceList
from piecework.marketplace.state.storage import WrongDatabaseError
from piecework.marketplace.state.transaction import Transaction
from piecework.platforms.clocks import START
from piecework.platforms.endpoint import REHEARSAL
from piecework.platforms.mturk import MTurk
from piecework.store.files import make_private_folder


def spent_cents(transaction: Transaction) -> int:
    """Return what requesters have spent: workers' pay and fees."""
    return _sum(transaction, "worker") + _sum(transaction, "fees")


def fees_cents_of(transaction: Transaction, market: str) -> int:
    """Return the fees on rewards and bonuses of people from one market."""
    row = transaction.first_row(
        "SELECT (SELECT coalesce(sum(fee_cents), 0) FROM assignments "
        "JOIN participants USING (worker) "
        "WHERE market = ?1 AND status = 'Approved') + "
        "(SELECT coalesce(sum(fee_cents), 0) FROM bonuses "
        "JOIN participants USING (worker) WHERE market = ?1)",
        market,
    )
    return int(row[0]) if row else 0


def outside_price_cents(transaction: Transaction) -> int:
    """Return the part of the fees that was booked after the other market had paid."""
    row = transaction.first_row(
        "SELECT coalesce(sum(cents), 0) FROM entries "
        "JOIN transfers ON transfers.id = entries.transfer "
        "JOIN accounts ON accounts.id = entries.account "
        "WHERE reason = 'outside price' AND kind = 'fees'"
    )
    return int(row[0]) if row else 0


def _sum(transaction: Transaction, kind: str) -> int:
    row = transaction.first_row(
        "SELECT coalesce(sum(balance_cents), 0) FROM accounts WHERE kind = ?", kind
    )
    return int(row[0]) if row else 0


MARKET = "marketplace.db"


def assumed_prices(campaign: Campaign) -> PriceList:
    """Return the fees of the campaign's own marketplace: those of its price."""
    fees = campaign.rewards.fees_on(START.date())
    return PriceList(
        currency=campaign.rewards.currency,
        percent=fees.percent,
        extra_percent_for_many=fees.extra_percent_for_many,
        extra_percent_for_masters=fees.masters_percent,
        minimum_cents=fees.minimum_cents,
    )


@contextmanager
def rehearsal_market(
    campaign: Campaign,
    *,
    port: int = 0,
    frames_port: int = 0,
    prices: PriceList | None = None,
    program: Sequence[str] = PROGRAM,
) -> Iterator[Running]:
    """Serve the campaign's own marketplace in virtual time, with its database.

    Args:
        campaign: the campaign.
        port: where the marketplace listens; 0 takes a free port.
        frames_port: the same for the question pages.
        prices: its currency and fees; None takes those of the campaign's price.
        program: the program that serves it (`serve_apart`).

    Raises:
        StoreError: the database belongs to something else, or has HITs of a campaign
            with a missing store.
        sqlite3.OperationalError: the disk is full, or another program holds the file.
    """
    database = campaign.out / MARKET
    make_private_folder(campaign.out)
    with ExitStack() as stack:
        try:
            running = stack.enter_context(
                serve_apart(
                    Marketplace(
                        database,
                        port=port,
                        frames_port=frames_port,
                        rehearsal=True,
                        simulates=True,
                        seed=campaign.rehearsal.seed,
                        start=START,
                        prices=prices or assumed_prices(campaign),
                        balance_cents=max(REHEARSAL_BALANCE_CENTS, campaign.rewards.budget_cents),
                        pictures=campaign.pictures_address,
                    ),
                    program=program,
                )
            )
        except sqlite3.OperationalError:
            raise  # a full disk or a lock, not a fault of the file
        except (WrongDatabaseError, sqlite3.DatabaseError) as fault:
            raise StoreError(
                f"{database}: the marketplace cannot be used ({fault})",
                next_step=f"piecework rehearse {shell_word(campaign.path)} --again",
            ) from fault
        _refuse_without_store(campaign, running.endpoint_url)
        yield running


def _refuse_without_store(campaign: Campaign, endpoint: str) -> None:
    """Refuse a marketplace with HITs of a campaign if its store is missing.

    A file without HITs is allowed: a start on a full disk leaves one. Stores in folders beside
    this one say nothing: rehearsals of a forecast run beside each other. A schedule's pass may
    make the store while this looks; HITs come after their store, so a second look sees it.
    """
    platform = MTurk.with_keys(endpoint, REHEARSAL)
    with suppress(RefusedForSafety), known_store(campaign) as store:
        refuse_posted_before(campaign, store, platform)
        return
    try:
        with known_store(campaign) as store:
            refuse_posted_before(campaign, store, platform)
    except RefusedForSafety as refusal:
        raise StoreError(
            f"{campaign.out / MARKET}: the campaign's store ({FILE_NAME}) is missing "
            "beside this marketplace, so its HITs would be posted a second time",
            next_step=f"put the store back, or move {MARKET} away to start again",
        ) from refusal
