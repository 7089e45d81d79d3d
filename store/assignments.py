"""What workers sent: kept verbatim first, then typed; never rewritten."""

import json
from collections.abc import Iterable
from typing import Any

from domain.assignment import Answer, Assignment, FieldValue
from domain.ids import AnswerId, AssignmentId, HitId, ItemId, WorkerId
from store.database import Store
from store.times import from_text, to_text

_TELEMETRY = ("shown_ms", "pastes", "keystrokes", "focus_losses")


def keep(store: Store, assignment: Assignment, answers: Iterable[Answer]) -> None:
    """Keep an assignment and its answers; a second time changes nothing.

    Part of the caller's transaction.
    """
    store.db.execute(
        "INSERT OR IGNORE INTO assignments VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        [
            assignment.assignment_id,
            assignment.hit_id,
            assignment.worker_id,
            assignment.status,
            to_text(assignment.accepted_at),
            to_text(assignment.submitted_at),
            assignment.raw,
            json.dumps(dict(assignment.fields)),
        ],
    )
    store.db.conn.executemany(
        "INSERT OR IGNORE INTO answers VALUES (?, ?, ?, ?, ?, ?)",
        [
            (
                answer.answer_id,
                answer.assignment_id,
                answer.item_id,
                answer.position,
                json.dumps(
                    {
                        "values": dict(answer.values),
                        **{name: getattr(answer, name) for name in _TELEMETRY},
                        **_shown(answer),
                    }
                ),
                json.dumps(answer.problems),
            )
            for answer in answers
        ],
    )


def every(store: Store) -> list[Assignment]:
    """All assignments, in the order of their submission."""
    return [
        Assignment(
            assignment_id=AssignmentId(row["assignment_id"]),
            hit_id=HitId(row["hit_id"]),
            worker_id=WorkerId(row["worker_id"]),
            status=row["status_when_collected"],
            accepted_at=from_text(row["accepted_at"]),
            submitted_at=from_text(row["submitted_at"]),
            raw=row["raw"],
            fields=json.loads(row["fields"]),
        )
        for row in store.db.query(
            "SELECT * FROM assignments ORDER BY submitted_at, assignment_id"
        )
    ]


def answers(store: Store) -> list[Answer]:
    """All answers, in the order of submission and position."""
    return [
        _answer(row)
        for row in store.db.query(
            "SELECT answers.* FROM answers JOIN assignments USING (assignment_id) "
            "ORDER BY submitted_at, assignment_id, position"
        )
    ]


def _shown(answer: Answer) -> dict[str, object]:
    """How the page showed the item, and what was asked once; where there is any."""
    found = {
        "place": answer.place,
        "orders": dict(answer.orders),
        "hit_values": dict(answer.hit_values),
    }
    return {name: value for name, value in found.items() if value not in (None, {})}


def _values(found: dict[str, Any]) -> dict[str, FieldValue]:
    return {
        name: tuple(value) if isinstance(value, list) else value
        for name, value in found.items()
    }


def _answer(row: dict[str, Any]) -> Answer:
    fields = json.loads(row["fields"])
    return Answer(
        answer_id=AnswerId(row["answer_id"]),
        assignment_id=AssignmentId(row["assignment_id"]),
        item_id=ItemId(row["item_id"]),
        position=row["position"],
        values=_values(fields["values"]),
        place=fields.get("place"),
        orders={name: tuple(order) for name, order in fields.get("orders", {}).items()},
        hit_values=_values(fields.get("hit_values", {})),
        problems=tuple(json.loads(row["problems"])),
        **{name: fields[name] for name in _TELEMETRY},
    )


def count_by_hit(store: Store) -> dict[HitId, int]:
    """How many assignments of each HIT are here."""
    rows = store.db.query("SELECT hit_id, count(*) AS n FROM assignments GROUP BY 1")
    return {HitId(row["hit_id"]): row["n"] for row in rows}
