"""Logs who signed in, who was refused, and decisions about people and money.

Each line is one event, with ids and the peer's address, but without tokens, signatures
or answers. A client's text is logged only if it looks like an id. Each kind of event
has a limit on lines, so that outsiders can neither fill a disk nor push other events
out of the log. The next line says how many were left out.
"""

import logging
import re
import threading
import time
from typing import Literal

from starlette.types import Scope

from piecework.foundation.server.limits import Allowance

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
    {"sign_in_refused", "session_refused", "signature_refused", "webhook_refused", "form_refused"}
)
_KEY = "piecework.security"
_ID = re.compile(r"[A-Za-z0-9_.:/@-]{1,128}")
_allowances: dict[Event, Allowance] = {}
_lock = threading.Lock()


def note(scope: Scope, event: Event, **ids: str) -> None:
    """Remember an event of a request, to be logged once the request is answered.

    Args:
        scope: the request's scope.
        event: what happened.
        ids: who and what it is about; empty ones are left out.
    """
    scope.setdefault(_KEY, []).append((event, ids))


def write_noted(scope: Scope) -> None:
    """Log the remembered events of a request, which have happened."""
    for event, ids in scope.pop(_KEY, ()):
        write(scope, event, **ids)


def forget_noted(scope: Scope) -> None:
    """Forget the remembered events of a request that could not be stored."""
    scope.pop(_KEY, None)


def write(scope: Scope, event: Event, **ids: str) -> None:
    """Log an event, unless its kind has used up its lines."""
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
    """Reset the line limits of all kinds of events."""
    with _lock:
        _allowances.clear()


def _new_allowance(event: Event) -> Allowance:
    if event in _OF_STRANGERS:
        return Allowance(at_once=60, per_second=1)
    return Allowance(at_once=5_000, per_second=100)


def _shown(value: str) -> str:
    return value if _ID.fullmatch(value) else "?"
