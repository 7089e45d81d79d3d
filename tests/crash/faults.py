"""The faults for a campaign, one line each; they are the columns of the table."""

from dataclasses import dataclass
from typing import Any, Literal

Kind = Literal["death", "script", "world"]
Where = Literal["before-send", "response-received", "after-call", "at-commit", "after-commit"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """What goes wrong at one call of a campaign.

    Attributes:
        name: its name in the table.
        kind: the pass is killed; the marketplace follows a script; or the world around
            the pass changes at that moment.
        where: the moment of the call: before the request leaves; when the marketplace
            is done and its reply is unread; when the reply is read and not written;
            just before or just after the store commits the outcome.
        script: what the marketplace is told, without the chosen call.
        world: what happens around the pass (`tests.crash.world`).
        hours_dead: virtual time until the next pass.
        ends: exit codes that a disturbed pass may end with.
    """

    name: str
    kind: Kind
    where: Where = "before-send"
    script: tuple[dict[str, Any], ...] = ()
    world: str = ""
    hours_dead: float = 0
    ends: frozenset[int] = frozenset({0})


RECONCILED = frozenset({0, 3})
"""A copy is refused, until it was compared with the marketplace."""
KILLED, FAILED, EITHER = frozenset({-9}), frozenset({1}), frozenset({0, 1})
_LOST = {"kind": "lose_reply"}
_BROKEN = {"kind": "server_error"}
_LAG = {"kind": "lag", "seconds": 3600}

FAULTS = (
    Fault(name="killed before the call", kind="death", ends=KILLED),
    Fault(name="killed, reply unread", kind="death", where="response-received", ends=KILLED),
    Fault(name="killed, nothing recorded", kind="death", where="after-call", ends=KILLED),
    Fault(name="killed while it is recorded", kind="death", where="at-commit", ends=KILLED),
    Fault(name="killed just after", kind="death", where="after-commit", ends=KILLED),
    Fault(
        name="killed, next pass 25 h later",
        kind="death",
        where="response-received",
        hours_dead=25,
        ends=KILLED,
    ),
    Fault(
        name="killed, and lists lag by 1 h",
        kind="death",
        where="response-received",
        script=(_LAG,),
        ends=KILLED,
    ),
    Fault(name="reply lost", kind="script", script=({**_LOST, "times": 1},)),
    Fault(
        name="all replies lost",
        kind="script",
        script=({**_LOST, "times": 1000},),
        # A listing has no effects to lose; the caller repeats it and gives up in the
        # end.
        ends=FAILED,
    ),
    Fault(name="throttled 3 times", kind="script", script=({"kind": "throttle", "times": 3},)),
    Fault(name="500 twice", kind="script", script=({**_BROKEN, "times": 2},)),
    Fault(name="500 every time", kind="script", script=({**_BROKEN, "times": 1000},), ends=FAILED),
    Fault(
        name="slower than patience",
        kind="script",
        script=({"kind": "slow", "times": 1, "seconds": 1.5},),
    ),
    Fault(name="disk full", kind="world", world="disk full", ends=EITHER),
    Fault(name="store locked", kind="world", world="store locked", ends=EITHER),
    Fault(name="clock a day ahead", kind="world", world="clock a day ahead"),
    Fault(name="clock an hour back", kind="world", world="clock an hour back"),
    Fault(
        name="marketplace killed, back at once",
        kind="world",
        world="marketplace restarted",
        ends=EITHER,
    ),
    Fault(
        name="marketplace killed after the reply",
        kind="world",
        where="after-call",
        world="marketplace killed",
        ends=EITHER,
    ),
    Fault(name="connection refused", kind="world", world="marketplace killed", ends=FAILED),
    Fault(
        name="store restored from a copy made before the call",
        kind="world",
        world="store restored",
        ends=RECONCILED,
    ),
)
BY_NAME = {fault.name: fault for fault in FAULTS}
