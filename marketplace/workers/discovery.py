"""What a worker can find: groups of HITs with something left to do."""

import json
import sqlite3
from collections import Counter
from dataclasses import dataclass
from typing import Any

from marketplace import money
from marketplace.exceptions import Refusal
from marketplace.turn import Turn
from marketplace.workers import eligibility, wording

_SELECT = (
    "SELECT hit_types.*, requesters.name AS requester_name, "
    "(SELECT max(hits.id) FROM hits WHERE hits.hit_type = hit_types.id "
    "AND hits.status = 'Assignable') AS newest_hit FROM hit_types "
    "JOIN requesters ON requesters.id = hit_types.requester "
)
_NOT_BLOCKED = (
    "NOT EXISTS (SELECT 1 FROM blocks WHERE blocks.requester = hit_types.requester "
    "AND blocks.worker = ?)"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """A group of HITs as one worker sees it.

    Attributes:
        available: HITs that he could take now.
        lacks: what keeps him from accepting, one phrase each, for programs.
        wanted: the same for people.
        requestable: qualification types that he lacks and may ask for.
    """

    row: sqlite3.Row
    available: int
    may_preview: bool
    may_accept: bool
    lacks: tuple[str, ...]
    wanted: tuple[str, ...]
    requestable: tuple[sqlite3.Row, ...]

    def to_json(self) -> dict[str, Any]:
        """As programs get it."""
        return {
            "hit_group_id": self.row["hit_group_id"],
            "hit_type_id": self.row["hit_type_id"],
            "title": self.row["title"],
            "description": self.row["description"],
            "keywords": self.row["keywords"],
            "reward": money.currency(self.row["reward_cents"]),
            "assignment_duration_seconds": self.row["duration_seconds"],
            "available": self.available,
            "requester": self.row["requester_name"],
            "may_preview": self.may_preview,
            "may_accept": self.may_accept,
            "lacks": list(self.lacks),
        }


def groups(turn: Turn, worker: sqlite3.Row) -> list[Group]:
    """All groups with something for this worker that he may see, oldest first."""
    held = eligibility.holdings(turn, worker)
    touched = _touched(turn, worker)
    rows = turn.all(
        f"{_SELECT} WHERE hit_types.assignable_hits > 0 AND {_NOT_BLOCKED} "
        "ORDER BY hit_types.id",
        worker["id"],
    )
    found = []
    for row in rows:
        available = row["assignable_hits"] - touched[row["id"]] - _unlisted(turn, row)
        requirements = json.loads(row["requirements"])
        if available > 0 and not eligibility.unmet(
            requirements, held, action="discover"
        ):
            found.append(_group(turn, row, requirements, held, available=available))
    return found


def group(turn: Turn, worker: sqlite3.Row, hit_group_id: str) -> Group:
    """One group as this worker sees it, even if nothing is left in it.

    Raises:
        Refusal: there is none, or he may not see it (404).
    """
    row = turn.one(
        f"{_SELECT} WHERE hit_types.hit_group_id = ? AND {_NOT_BLOCKED}",
        hit_group_id,
        worker["id"],
    )
    held = eligibility.holdings(turn, worker)
    if row is None:
        raise _nothing()
    requirements = json.loads(row["requirements"])
    if eligibility.unmet(requirements, held, action="discover"):
        raise _nothing()
    touched = _touched(turn, worker)[row["id"]]
    available = row["assignable_hits"] - touched - _unlisted(turn, row)
    return _group(turn, row, requirements, held, available=available)


def next_hit(turn: Turn, worker: sqlite3.Row, hit_type: int) -> sqlite3.Row | None:
    """The oldest HIT of a type with a free slot that the worker never touched."""
    return turn.one(
        "SELECT * FROM hits WHERE hit_type = ? AND status = 'Assignable' "
        # While much comes due at once, some that have expired are still called so.
        "AND expires_ms > ? AND created_ms <= ? "
        "AND NOT EXISTS (SELECT 1 FROM assignments "
        "WHERE assignments.hit = hits.id AND assignments.worker = ?) "
        "ORDER BY id LIMIT 1",
        hit_type,
        turn.now_ms,
        turn.now_ms - turn.lag_ms,
        worker["id"],
    )


def _group(
    turn: Turn,
    row: sqlite3.Row,
    requirements: list[dict[str, Any]],
    held: eligibility.Holdings,
    *,
    available: int,
) -> Group:
    lacked = eligibility.unmet(requirements, held, action="accept")
    return Group(
        row=row,
        available=available,
        may_preview=not eligibility.unmet(requirements, held, action="preview"),
        may_accept=not lacked,
        lacks=tuple(_phrase(turn, requirement) for requirement in lacked),
        wanted=tuple(
            wording.wanted(
                requirement,
                name=_name(turn, requirement),
                holding=held.get(requirement["QualificationTypeId"]),
            )
            for requirement in lacked
        ),
        requestable=_requestable(turn, lacked),
    )


def _touched(turn: Turn, worker: sqlite3.Row) -> Counter[int]:
    rows = turn.all(
        "SELECT hits.hit_type, count(DISTINCT hits.id) AS times FROM assignments "
        "JOIN hits ON hits.id = assignments.hit "
        "WHERE assignments.worker = ? AND hits.status = 'Assignable' "
        "GROUP BY hits.hit_type",
        worker["id"],
    )
    return Counter({row["hit_type"]: row["times"] for row in rows})


def _unlisted(turn: Turn, hit_type: sqlite3.Row) -> int:
    """HITs that a rehearsal's script keeps out of lists for a while."""
    if not turn.lag_ms:
        return 0
    row = turn.one(
        "SELECT count(*) FROM hits WHERE hit_type = ? AND status = 'Assignable' "
        "AND created_ms > ?",
        hit_type["id"],
        turn.now_ms - turn.lag_ms,
    )
    return row[0] if row else 0


def _requestable(turn: Turn, lacked: list[dict[str, Any]]) -> tuple[sqlite3.Row, ...]:
    rows = (
        turn.one(
            "SELECT qualification_type_id, name, test FROM qualification_types "
            "WHERE qualification_type_id = ? AND is_requestable = 1 "
            "AND status = 'Active' AND deleted_ms IS NULL",
            requirement["QualificationTypeId"],
        )
        for requirement in lacked
        if requirement["Comparator"] != "DoesNotExist"
    )
    return tuple(row for row in rows if row is not None)


def _name(turn: Turn, requirement: dict[str, Any]) -> str:
    row = turn.one(
        "SELECT name FROM qualification_types WHERE qualification_type_id = ?",
        requirement["QualificationTypeId"],
    )
    return str(row["name"]) if row else str(requirement["QualificationTypeId"])


def _phrase(turn: Turn, requirement: dict[str, Any]) -> str:
    values = [str(value) for value in requirement.get("IntegerValues", ())]
    values += [
        "-".join(filter(None, (locale["Country"], locale.get("Subdivision"))))
        for locale in requirement.get("LocaleValues", ())
    ]
    name = _name(turn, requirement)
    return " ".join([name, requirement["Comparator"], ", ".join(values)]).strip()


def _nothing() -> Refusal:
    return Refusal(
        "GroupDoesNotExist", "There is no such group of HITs for you.", status=404
    )
