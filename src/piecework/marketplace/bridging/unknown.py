"""Studies of this marketplace at the other market that its file lacks."""

from dataclasses import asdict, dataclass
from typing import Any

from piecework.marketplace.state.transaction import Transaction


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


def keep(transaction: Transaction, market: str, study: UnknownStudy) -> None:
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
