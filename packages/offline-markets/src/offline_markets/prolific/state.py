"""The state of an offline Prolific, and its events."""

import json
import uuid
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path

from offline_markets.core.clock import machine_ms
from offline_markets.core.database import Kind, OfflineState
from offline_markets.prolific.options import Options, Switches

_KIND = Kind(
    name="prolific-emulator 1",
    schema=Path(__file__).with_name("schema.sql"),
    id_name="prolific",
    id_digits=24,
)


class State(OfflineState[Switches]):
    """The state of the emulator.

    Attributes:
        is_strict: whether only what Prolific documents is accepted.
        currency: the currency of all money.
        fee_percent: Prolific's fee on a reward.
        vat_percent: the tax on that fee.
        user_id: the account that every token belongs to.
    """

    def __init__(self, options: Options, machine_ms: Callable[[], int] = machine_ms) -> None:
        self.is_strict = options.is_strict
        switches = Switches(errors="documented" if options.is_strict else "wrapped")
        super().__init__(
            _KIND,
            options.database,
            {
                "seed": options.seed,
                "currency": options.currency,
                "fee_percent": options.fee_percent,
                "vat_percent": options.vat_percent,
                "user_id": _KIND.id(options.seed, 0),
            },
            switches,
            start=options.start,
            clock_runs=options.clock_runs,
            machine_ms=machine_ms,
        )
        self.currency = self.setting("currency")
        self.fee_percent = Decimal(self.setting("fee_percent"))
        self.vat_percent = Decimal(self.setting("vat_percent"))
        self.user_id = self.setting("user_id")

    def new_uuid(self) -> str:
        """Return a new id in the form that surveys and data collections have."""
        return str(uuid.uuid5(uuid.NAMESPACE_OID, self.new_id()))


EVENT_TYPES = {
    "study.status.change": "A study's status has changed.",
    "submission.status.change": "A submission's status has changed.",
}


def announce(
    state: State, workspace_id: str, event_type: str, *, resource_id: str, **fields: str
) -> None:
    """Record an event for each of the workspace's subscriptions to this type."""
    payload = {"resource_id": resource_id, "event_type": event_type, **fields}
    for row in state.rows(
        "SELECT id FROM subscription WHERE workspace_id = ? AND event_type = ? "
        "AND is_enabled = 1 ORDER BY number",
        (workspace_id, event_type),
    ):
        state.conn.execute(
            "INSERT INTO event (id, subscription_id, resource_id, payload, next_ms, "
            "created_ms, updated_ms) VALUES (?1, ?2, ?3, ?4, ?5, ?5, ?5)",
            (state.new_id(), row["id"], resource_id, json.dumps(payload), state.now_ms),
        )
