"""Work that was lost, and the state of a bridge that says so.

What came in after the copy was made is missing from the file, while the market shows
that its participant ended there, with a code or without. Such a submission is not paid
by itself, since codes get shared, and not rejected, since its participant may have done
the work. A person decides, who can look into the campaign's store.
"""

import json
import sqlite3
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any, TypedDict

from piecework.foundation.client.errors import Unusable
from piecework.marketplace.state import clock, lineage
from piecework.marketplace.state.transaction import Transaction
from piecework.markets.bridging.accounts import Bridge, LastStart, number_of
from piecework.markets.bridging.studies import StudyName, in_own_study, of_own_person

_WITHOUT_ANSWERS = (
    "SELECT id, submission_id FROM visits WHERE study = ?1 AND outcome IS NULL "
    "AND stage IN ('Left', 'Late') AND loss = '' AND return_asked_ms IS NULL "
    # A visit that its participant left while the file knew of it can have no answers.
    "AND NOT (stage = 'Left' AND began_ms < closed_ms AND closed_ms < ?2)"
)


def suspect_losses(
    transaction: Transaction,
    *,
    study: int,
    undecided: Mapping[str, datetime | None],
    before_ms: int,
    trouble: str,
) -> None:
    """Leave submissions to a person if a restored copy may lack their answers.

    Args:
        transaction: the open one.
        study: row id.
        undecided: by submission id, when each submission began that has ended at the
            market and waits for a decision; None if that is unknown.
        before_ms: when this start of the server began; what began later is in the file.
        trouble: what a person is told, with `{submission}` for the id.
    """
    for visit in transaction.all(_WITHOUT_ANSWERS, study, before_ms):
        submission = visit["submission_id"]
        if submission not in undecided:
            continue
        began = undecided[submission]
        if began is None or clock.to_ms(began) < before_ms:
            transaction.execute(
                "UPDATE visits SET loss = 'Suspected', trouble = ? WHERE id = ?",
                trouble.format(submission=submission),
                visit["id"],
            )


def state_losses(transaction: Transaction, study_id: str) -> int:
    """Record a person's word that a study's suspected losses are lost: they are paid.

    Args:
        transaction: the open one.
        study_id: the study's id at the market.

    Returns:
        How many submissions.
    """
    rows = transaction.all(
        "UPDATE visits SET loss = 'Stated', trouble = '' WHERE loss = 'Suspected' "
        "AND outcome IS NULL "
        "AND study = (SELECT id FROM studies WHERE study_id = ?) RETURNING id",
        study_id,
    )
    return len(rows)


@dataclass(frozen=True, slots=True, kw_only=True)
class UnknownStudy:
    """A study at the other market that is not in the marketplace's file.

    Attributes:
        submissions: how many participants took a place.
        spent_cents: what the market charged for it, including fees, tax and bonuses.
        held_cents: what the market holds for its places.
        is_left: whether a person decided to leave it to the market.
    """

    study_id: str
    internal_name: str
    status: str
    places: int
    submissions: int
    spent_cents: int
    held_cents: int
    is_left: bool = False

    def as_dict(self) -> dict[str, Any]:
        """Return plain values, for `--json`."""
        return asdict(self)


def read_unknown(transaction: Transaction, market: str) -> tuple[UnknownStudy, ...]:
    """Return all unknown studies of a market, as last read."""
    rows = transaction.all(
        "SELECT study_id, internal_name, status, places, submissions, spent_cents, "
        "held_cents, is_left FROM unknown_studies WHERE market = ? ORDER BY study_id",
        market,
    )
    return tuple(UnknownStudy(**{**dict(row), "is_left": bool(row["is_left"])}) for row in rows)


def undecided(transaction: Transaction, market: str) -> tuple[UnknownStudy, ...]:
    """Return the unknown studies of a market that a person has to decide about."""
    return tuple(each for each in read_unknown(transaction, market) if not each.is_left)


def keep_unknown(transaction: Transaction, market: str, study: UnknownStudy) -> None:
    """Store an unknown study, or its present state; a person's decision stays."""
    transaction.execute(
        "INSERT INTO unknown_studies (study_id, market, internal_name, status, "
        "places, submissions, spent_cents, held_cents) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?) "
        "ON CONFLICT (study_id) DO UPDATE SET status = excluded.status, "
        "places = excluded.places, submissions = excluded.submissions, "
        "spent_cents = excluded.spent_cents, held_cents = excluded.held_cents",
        study.study_id,
        market,
        study.internal_name,
        study.status,
        study.places,
        study.submissions,
        study.spent_cents,
        study.held_cents,
    )


def leave_unknown(transaction: Transaction, study_id: str) -> None:
    """Record a person's decision to leave an unknown study to the market."""
    transaction.execute("UPDATE unknown_studies SET is_left = 1 WHERE study_id = ?", study_id)


def unknown_row(transaction: Transaction, study_id: str, *, word: str, see: str) -> sqlite3.Row:
    """Return the row of an unknown study.

    Args:
        transaction: the open one.
        study_id: the study's id at the market.
        word: what the market calls a study.
        see: the command that lists unknown studies.

    Raises:
        Unusable: there is no such study.
    """
    row = transaction.first_row("SELECT * FROM unknown_studies WHERE study_id = ?", study_id)
    if row is None:
        raise Unusable(f"{study_id} is not an unknown {word} of this marketplace", next_step=see)
    return row


def is_unknown(transaction: Transaction, study_id: str, internal_name: str | None) -> bool:
    """Return whether a study that recruits belongs to this marketplace, and its file lacks it."""
    name = StudyName.read(internal_name)
    if name is None or name.identity != lineage.identity(transaction):
        return False
    # A wanted study is found by its name.
    return not transaction.first_row(
        "SELECT 1 FROM studies WHERE study_id = ? "
        "OR (internal_name = ? AND study_id IS NULL AND stage = 'Wanted')",
        study_id,
        internal_name,
    )


def loss_sentence(
    study: UnknownStudy,
    *,
    word: str,
    market: str,
    name: str,
    submissions: str,
    money: Callable[[int], object],
) -> str:
    """Return the warning about an unknown study.

    Args:
        study: the study.
        word: what the market calls it.
        market: the market's display name.
        name: the market's name in commands.
        submissions: what it calls those who took a place.
        money: returns cents as people read them.
    """
    return (
        f"the {word} {study.study_id} ({study.internal_name}) is at {market} and not "
        f"in this file: {study.status.lower()}, {study.places} places, "
        f"{study.submissions} {submissions}, {money(study.spent_cents)} spent, "
        f"{money(study.held_cents)} held. Was the file restored from a copy? Nothing "
        f"is published until you run `piecework market {name} reconcile` with --adopt "
        f"{study.study_id} or --leave {study.study_id}"
    )


def why_not_publish(bridge: Bridge, word: str) -> str:
    """Return why nothing may be published now; "" if publishing is allowed."""
    with bridge.backend.reading() as transaction:
        waiting = undecided(transaction, bridge.name)
    if not waiting:
        return ""
    return (
        f"nothing is published: {len(waiting)} of this marketplace's {word} at "
        f"{bridge.market} are not in its file; see `piecework market {bridge.name} status`"
    )


_STUDIES = (
    "SELECT studies.*, hit_types.hit_type_id, hit_types.title, "
    "requesters.name AS requester FROM studies "
    "JOIN hit_types ON hit_types.id = studies.hit_type "
    "JOIN requesters ON requesters.id = hit_types.requester "
    "WHERE studies.market = ? ORDER BY studies.id"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class OfStudy:
    """The state of one study.

    Attributes:
        status: the market's status, or the stage before the market has one.
        cost_cents: the cost of a place, including fees and tax.
        states: the number of submissions by status at the market.
        trouble: what keeps the study from continuing; "" if nothing does.
    """

    title: str
    requester: str
    status: str
    places: int
    hits_per_visit: int
    reward_cents: int
    cost_cents: int | None
    states: dict[str, int]
    trouble: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MarketStatus:
    """The state of all that a market does for a marketplace; amounts in cents.

    Attributes:
        spent_cents: what the market has charged for visits and bonuses.
        committed_cents: what is spent there or promised; the cap applies to this.
        left_cents: what the cap of the last start leaves; negative if it was lowered.
            None: nothing is published or paid.
        bonuses_waiting_cents: bonuses not paid yet.
        troubles: messages about bonuses and visits that a person should read.
        unknown_messages: messages that may or may not have been sent.
        unknown: studies at the market that the file lacks.
    """

    spent_cents: int
    committed_cents: int
    left_cents: int | None
    bonuses_waiting_cents: int
    troubles: tuple[str, ...]
    unknown_messages: int
    unknown: tuple[UnknownStudy, ...]

    def as_dict(self) -> dict[str, Any]:
        """Return plain values, for `--json`."""
        return asdict(self)


class Ends(TypedDict):
    """What is left to do, as `MarketStatus` has it."""

    left_cents: int | None
    bonuses_waiting_cents: int
    troubles: tuple[str, ...]
    unknown_messages: int
    unknown: tuple[UnknownStudy, ...]


def loose_ends(transaction: Transaction, start: LastStart, committed_cents: int) -> Ends:
    """Return what waits at a market, as of the bridge's last step."""
    of_market = in_own_study(start.name)
    troubles = transaction.all(
        f"SELECT trouble FROM bonus_batches WHERE trouble <> '' AND {of_market} "
        f"UNION SELECT trouble FROM visits WHERE trouble <> '' AND {of_market}"
    )
    return Ends(
        left_cents=start.spend_at_most_cents - committed_cents if start.is_live else None,
        bonuses_waiting_cents=number_of(
            transaction,
            "SELECT coalesce(sum(cents), 0) FROM bonus_lines "
            f"JOIN visits ON visits.id = bonus_lines.visit AND visits.{of_market} "
            "LEFT JOIN bonus_batches ON bonus_batches.id = bonus_lines.batch "
            "WHERE coalesce(bonus_batches.stage, '') <> 'Paid'",
        ),
        troubles=tuple(str(row["trouble"]) for row in troubles),
        unknown_messages=number_of(
            transaction,
            "SELECT count(*) FROM messages WHERE sent_there = 'Unknown' "
            f"AND {of_own_person(start.name)}",
        ),
        unknown=read_unknown(transaction, start.name),
    )


def described_studies(transaction: Transaction, market: str) -> list[sqlite3.Row]:
    """Return a market's studies with the title, HIT type and requester of their HITs."""
    return transaction.all(_STUDIES, market)


def states_of(visits: list[sqlite3.Row], not_begun: str = "{}") -> dict[str, int]:
    """Return the number of submissions by status at the market.

    Args:
        visits: those whose visit has begun.
        not_begun: the column of the study with the others.
    """
    begun = {visit["submission_id"] for visit in visits}
    states = Counter(visit["status"] for visit in visits)
    states.update(status for each, status in json.loads(not_begun).items() if each not in begun)
    return dict(sorted(states.items()))
