"""Participants: generated from the seed or added by a rehearsing program."""

import json
import math
import sqlite3
from random import Random
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from offline_markets.core.errors import ApiError, not_found
from offline_markets.prolific.call import Call
from offline_markets.prolific.filters import COUNTRIES, COUNTRY, KNOWN, approval_rate
from offline_markets.prolific.messages import document as message_document
from offline_markets.prolific.messages import send
from offline_markets.prolific.pages import listing
from offline_markets.prolific.state import State

_WEIGHTS = (39, 29, 2, 4, 3, 3, 6, 5, 5, 2, 1, 1)
"""The probability of each country, in percent."""
_CHOICES = [choice for choice, _ in COUNTRIES.values()]
_YOUNGEST, _OLDEST = 18, 90
_MEDIAN_APPROVALS = 120

Count = Annotated[int, Field(ge=0, le=1_000_000)]


class NewParticipant(BaseModel):
    """A participant as described by a program.

    Attributes:
        country: where they live, by ISO code.
        age: in years.
        approvals: their earlier approved submissions.
        rejections: their earlier rejected submissions.
        answers: their answers, as choice ids by filter.
    """

    model_config = ConfigDict(extra="forbid", strict=True)

    country: str = "GB"
    age: int = Field(30, ge=_YOUNGEST, le=120)
    approvals: Count = 100
    rejections: Count = 1
    answers: dict[str, list[str]] = {}


def draw(state: State, count: int) -> None:
    """Generate this many participants from the seed, if there are none."""
    if state.number("SELECT count(*) FROM participant"):
        return
    for number in range(count):
        insert(state, _drawn(state.rng("prolific participant", str(number))))


def insert(state: State, new: NewParticipant) -> str:
    """Add a participant and return the id."""
    if new.country not in COUNTRIES:
        raise ApiError(400, {"country": [f"One of {', '.join(COUNTRIES)}."]})
    for name, choices in new.answers.items():
        known = KNOWN.get(name)
        if known is None or not set(choices) <= set(known.choices):
            raise ApiError(400, {"answers": [f"No such filter or choice: {name}."]})
    participant_id = state.new_id()
    answers = {COUNTRY: [COUNTRIES[new.country][0]], **new.answers}
    state.conn.execute(
        "INSERT INTO participant (id, age, approvals, rejections, answers) VALUES (?, ?, ?, ?, ?)",
        (participant_id, new.age, new.approvals, new.rejections, json.dumps(answers)),
    )
    return participant_id


def create(call: Call) -> dict[str, Any]:
    """Add a participant described by a program."""
    try:
        new = NewParticipant.model_validate(call.body)
    except ValidationError as fault:
        raise ApiError(
            400, {str(error["loc"][0]): [error["msg"]] for error in fault.errors()}
        ) from fault
    return _document(row_of(call.state, insert(call.state, new)))


def list_participants(call: Call) -> dict[str, Any]:
    """List all participants."""
    return listing(call, "participant", (), render=_document)


def get(call: Call) -> dict[str, Any]:
    """Return one participant."""
    return _document(row_of(call.state, call.path["participant_id"]))


def list_messages(call: Call) -> dict[str, Any]:
    """List messages to and from a participant."""
    participant_id = row_of(call.state, call.path["participant_id"])["id"]
    return listing(
        call,
        "message WHERE ? IN (sender_id, recipient_id)",
        [participant_id],
        render=message_document,
    )


def write(call: Call) -> dict[str, Any]:
    """Send a message from a participant to the requester."""
    call.only("body", "study_id")
    send(
        call.state,
        sender_id=row_of(call.state, call.path["participant_id"])["id"],
        recipient_id=call.state.user_id,
        body=call.text("body"),
        study_id=call.optional_text("study_id"),
    )
    return {}


def row_of(state: State, participant_id: str) -> sqlite3.Row:
    """Return the row of a participant.

    Raises:
        ApiError: there is no such participant.
    """
    row = state.row("SELECT * FROM participant WHERE id = ?", (participant_id,))
    if row is None:
        raise not_found("participant", participant_id)
    return row


def _drawn(rng: Random) -> NewParticipant:
    [country] = rng.choices(list(COUNTRIES), _WEIGHTS)
    approvals = round(_MEDIAN_APPROVALS * math.exp(rng.gauss(0.0, 1.2)))
    rate = rng.betavariate(30, 1)
    speaks = "0" if country in ("GB", "US", "IE", "ZA", "CA") else rng.choice("0123")
    return NewParticipant(
        country=country,
        age=min(_OLDEST, max(_YOUNGEST, round(rng.gauss(38, 13)))),
        approvals=approvals,
        rejections=round(approvals * (1 - rate) / rate),
        answers={
            "first-language": [speaks],
            "fluent-languages": sorted({"0", speaks}),
            "handedness": rng.choices("012", (10, 88, 2)),
            "nationality": rng.choices((COUNTRIES[country][0], rng.choice(_CHOICES)), (9, 1)),
            "vision": rng.choices("01", (9, 1)),
        },
    )


def _document(row: sqlite3.Row) -> dict[str, Any]:
    answers = json.loads(row["answers"])
    codes = {choice: code for code, (choice, _) in COUNTRIES.items()}
    return {
        "id": row["id"],
        "country": codes[answers.pop(COUNTRY)[0]],
        "age": row["age"],
        "approvals": row["approvals"],
        "rejections": row["rejections"],
        "approval_rate": round(approval_rate(row["approvals"], row["rejections"]), 2),
        "answers": answers,
    }
