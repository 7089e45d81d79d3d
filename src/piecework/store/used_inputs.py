"""The inputs that passes used, in order: a row for each change.

Dataset and report name the file that decided the answers, not the file as it is when
they are written.
"""

import json
from dataclasses import dataclass
from datetime import datetime

from piecework.domain.inputs import Inputs
from piecework.store.columns import insert, to_text
from piecework.store.database import Store


@dataclass(frozen=True, slots=True, kw_only=True)
class UsedInputs:
    """Inputs, and the time of the first pass that used them."""

    since: datetime
    inputs: Inputs


def record(store: Store, inputs: Inputs, *, at: datetime) -> None:
    """Record what a pass uses, unless the pass before used the same."""
    if (last := latest(store)) is not None and not last.changes(inputs):
        return
    row = {
        "since": to_text(at),
        "file_text": inputs.text,
        "digests": json.dumps(dict(inputs.digests)),
    }
    with store.db.atomic():
        insert(store, "used_inputs", [row])


def read(store: Store) -> tuple[UsedInputs, ...]:
    """Return what the passes used, the first first; () before the first pass."""
    rows = store.db.query("SELECT since, file_text, digests FROM used_inputs ORDER BY number")
    return tuple(
        UsedInputs(
            since=datetime.fromisoformat(row["since"]),
            inputs=Inputs(text=row["file_text"], digests=json.loads(row["digests"])),
        )
        for row in rows
    )


def latest(store: Store) -> Inputs | None:
    """Return what the last pass used; `None` before the first."""
    used = read(store)
    return used[-1].inputs if used else None
