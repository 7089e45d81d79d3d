"""Notes of passes for later passes; each note replaces the one before."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from piecework.store.database import Store

Note = Literal[
    "judging_digest",
    "caps_digest",
    "rendered_task_digest",
    "typing_digest",
    "models_digest",
    "verified_approvals",
    "outside_unsettled",
    "refused_markets",
    "is_adopting",
    "exported_batch",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class PassNotes:
    """The notes; `None` for those that were never made.

    Attributes:
        judging_digest: digest of everything that the last judging depended on.
        caps_digest: digest of the prices and caps that were last found to fit.
        rendered_task_digest: digest of the requester's own task when all its pages were
            rendered.
        typing_digest: digest of the task by which imported answers were typed.
        models_digest: digest of the labels of models in the last pass.
        verified_approvals: how many approvals there were when a sample of them was last
            checked.
        outside_unsettled: visits and bonuses that another market had not settled at the
            last check.
        refused_markets: why a market refused HITs in the last pass, by market.
        is_adopting: HITs of this store may be on the platform and not in the store.
        exported_batch: the last batch that was settled when a campaign that grows wrote
            its results; 0 if it never did.
    """

    judging_digest: str | None
    caps_digest: str | None
    rendered_task_digest: str | None
    typing_digest: str | None
    models_digest: str | None
    verified_approvals: int | None
    outside_unsettled: int
    refused_markets: Mapping[str, str]
    is_adopting: bool
    exported_batch: int


def read(store: Store) -> PassNotes:
    """Return the current notes."""
    (row,) = store.db.query("SELECT * FROM pass_notes")
    del row["only_row"]
    refused = json.loads(row["refused_markets"])
    is_adopting = bool(row["is_adopting"])
    return PassNotes(**{**row, "is_adopting": is_adopting, "refused_markets": refused})


def keep(store: Store, note: Note, value: str | int) -> None:
    """Store a note, in a separate transaction."""
    with store.db.atomic():
        store.db.execute(f"UPDATE pass_notes SET {note} = ?", [value])
