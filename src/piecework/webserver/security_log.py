"""A log of who came in, who was refused, and what was decided about people and money.

One event a line, with ids and the address of the peer: no token, signature or answer.
What a client sends is written only if it looks like an id. Each kind of event has
an allowance of lines, so that strangers cannot fill a disk, nor push out of the log
what others did; the next line says how many were left out.
"""

import logging
import re
import threading
import time
from typing import Literal

from starlette.types import Scope

from piecework.webserver.log_limits import Allowance

_LOG = logging.getLogger(__name__)

Event = Literal[
    "signed_in",
    "signed_out",
    "sign_in_refused",
    "session_refused",
    "signature_refused",
    "webhook_refused",
    "form_refused",
    "paid",
    "pay_refused",
    "excluded",
    "included",
    "qualification_given",
    "qualification_taken",
]

_OF_STRANGERS: frozenset[Event] = frozenset(
    {
        "sign_in_refused",
        "session_refused",
        "signature_refused",
        "webhook_refused",
        "form_refused",
    }
)
_KEY = "piecework.security"
_ID = re.compile(r"[A-Za-z0-9_.:/@-]{1,128}")
_allowances: dict[Event, Allowance] = {}
_lock = threading.Lock()


def note(scope: Scope, event: Event, **ids: str) -> None:
    """Remember an event of a request; it is written once the request is answered.

    Args:
        scope: of the request.
        event: what happened.
        ids: whom and what it is about; an empty one is left out.
    """
    scope.setdefault(_KEY, []).append((event, ids))


def write_noted(scope: Scope) -> None:
    """Write what was remembered of a request: it has happened."""
    for event, ids in scope.pop(_KEY, ()):
        write(scope, event, **ids)


def forget_noted(scope: Scope) -> None:
    """Forget what was remembered of a request: it could not be stored."""
    scope.pop(_KEY, None)


def write(scope: Scope, event: Event, **ids: str) -> None:
    """Write an event that has happened, unless its kind has used its lines up."""
    with _lock:
        allowance = _allowances.setdefault(event, _new_allowance(event))
        left_out = allowance.take(time.monotonic())
    if left_out is None:
        return
    peer = scope.get("client") or ("",)
    facts = {
        "event": event,
        **{name: _shown(value) for name, value in ids.items() if value},
        "peer": _shown(str(peer[0])),
        **({"left_out": str(left_out)} if left_out else {}),
    }
    line = " ".join(f"{name}={value}" for name, value in facts.items())
    _LOG.info("%s", line, extra={"facts": facts})


def reset_allowances() -> None:
    """Give each kind of event its lines back."""
    with _lock:
        _allowances.clear()


def _new_allowance(event: Event) -> Allowance:
    if event in _OF_STRANGERS:
        return Allowance(at_once=60, per_second=1)
    return Allowance(at_once=5_000, per_second=100)


def _shown(value: str) -> str:
    return value if _ID.fullmatch(value) else "?"
