"""Values as Prolific writes them."""

from datetime import UTC, datetime

from pydantic import Field

from piecework.foundation.client.calls import CostInMinor, Money


class Cost(Money):
    """A cost, as Prolific writes an amount with its currency."""

    minor: CostInMinor = Field(alias="amount")


def wire_moment(moment: datetime) -> str:
    """Return an aware datetime as Prolific reads it."""
    return moment.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
