"""The account, its participants, and the messages between them."""

from typing import Any

from offline_markets.connect import money
from offline_markets.connect.call import Call, missing
from offline_markets.connect.project import Project, read_fields
from offline_markets.connect.state import State
from offline_markets.core.clock import iso
from offline_markets.core.errors import ApiError, wrong


def draw(state: State, count: int) -> None:
    """Create this many participants in a new state."""
    if not state.number("SELECT count(*) FROM participant"):
        for _ in range(count):
            insert(state)


def insert(state: State) -> str:
    """Make a participant and return the id."""
    participant_id = state.new_id()
    state.conn.execute("INSERT INTO participant (id) VALUES (?)", (participant_id,))
    return participant_id


def create(call: Call) -> dict[str, Any]:
    """Make a participant for a program."""
    call.only()
    return {"participantId": insert(call.state)}


def list_participants(call: Call) -> dict[str, Any]:
    """List the ids of all participants."""
    rows = call.state.rows("SELECT id FROM participant ORDER BY number")
    return {"participantIds": [row["id"] for row in rows]}


def check_known(state: State, participant_id: str) -> str:
    """Return the id of a participant.

    Raises:
        ApiError: there is no such participant.
    """
    if not is_known(state, participant_id):
        raise missing(state, "participant", participant_id)
    return participant_id


def is_known(state: State, participant_id: str) -> bool:
    """Return whether there is such a participant."""
    return bool(state.number("SELECT count(*) FROM participant WHERE id = ?", (participant_id,)))


def send(call: Call) -> None:
    """Send a message to a participant of a project."""
    call.only("projectId", "subject", "message", "recipientId")
    project = Project.find(call.state, call.text("projectId"))
    recipient = call.text("recipientId")
    if not call.state.number(
        "SELECT count(*) FROM assignment WHERE project_id = ? AND participant_id = ?",
        (project.project_id, recipient),
    ):
        raise ApiError(400, f"{recipient} has not taken part in this project.")
    keep(
        call.state,
        kind="message",
        project_id=project.project_id,
        participant_id=recipient,
        subject=call.optional_text("subject"),
        body=call.text("message"),
    )


def keep(
    state: State,
    *,
    kind: str,
    project_id: str,
    participant_id: str,
    body: str,
    subject: str | None = None,
) -> None:
    """Keep a message."""
    state.conn.execute(
        "INSERT INTO message (at_ms, kind, project_id, participant_id, subject, body) "
        "VALUES (?, ?, ?, ?, ?, ?)",
        (state.now_ms, kind, project_id, participant_id, subject, body),
    )


def list_messages(call: Call) -> dict[str, Any]:
    """List the messages to a participant."""
    participant_id = check_known(call.state, call.path["participant_id"])
    rows = call.state.rows(
        "SELECT * FROM message WHERE participant_id = ? ORDER BY number", (participant_id,)
    )
    return {
        "messages": [
            {
                "sentAt": iso(row["at_ms"]),
                "kind": row["kind"],
                "projectId": row["project_id"],
                "subject": row["subject"],
                "message": row["body"],
            }
            for row in rows
        ]
    }


MOST_FEASIBLE = 5_000
"""How many participants a project can have in `feasibility`: invented."""

_DEMOGRAPHICS = [
    {
        "demographicId": "age",
        "question": "How old are you?",
        "category": "Basic",
        "options": None,
        "rangeRequirements": {"lower": 18, "upper": 99},
    },
    {
        "demographicId": "gender",
        "question": "What is your gender?",
        "category": "Basic",
        "options": [
            {"demographicOptionId": "gender-1", "value": "Man"},
            {"demographicOptionId": "gender-2", "value": "Woman"},
            {"demographicOptionId": "gender-3", "value": "Another"},
        ],
        "rangeRequirements": None,
    },
]
"""Invented: the real list was not read."""


def get(call: Call) -> dict[str, Any]:
    """Return what the account can spend."""
    return {"accountBalance": money.to_dollars(money.available(call.state))}


def validate_participants(call: Call) -> dict[str, Any]:
    """Return for each id whether a participant has it."""
    call.only("participantIds")
    ids = call.body.get("participantIds")
    if not isinstance(ids, list) or not all(isinstance(each, str) for each in ids):
        raise wrong("participantIds", "Not a list of texts.")
    return {
        "participants": [
            {"participantId": each, "isValid": is_known(call.state, each)} for each in ids
        ]
    }


def list_demographics(_call: Call) -> dict[str, Any]:
    """List what participants can be asked for."""
    return {"demographics": _DEMOGRAPHICS}


def feasibility(call: Call) -> dict[str, Any]:
    """Return what a project would cost, or null if it cannot be had."""
    call.only("estimatedTimeInMinutes", "participants", "payment", "targetingCriteria")
    body = dict(call.body)
    targeting = body.pop("targetingCriteria", None)
    fields = read_fields({**body, "name": "-", "demographicTargeting": targeting})
    cost = money.cost_of(call.state, fields.payment_cents).total * fields.participants
    is_feasible = fields.participants <= MOST_FEASIBLE
    return {
        "totalProjectCost": money.to_dollars(cost) if is_feasible else None,
        "availablePlatforms": ["Connect"] if is_feasible else [],
    }


def fund(call: Call) -> dict[str, Any]:
    """Add money to the balance, as a requester does on Connect's pages."""
    call.only("amount")
    cents = None
    match call.body.get("amount"):
        case int() | float() as amount if not isinstance(amount, bool):
            cents = money.to_cents(amount)
    if cents is None or not 0 < cents < 10**12:
        raise wrong("amount", "Dollars above 0, with at most two decimals.")
    money.move(call.state, cents, kind="fund", source="funding", target="available")
    return get(call)
