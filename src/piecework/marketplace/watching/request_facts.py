"""What is known of a request, collected in its scope while it is answered.

Nothing here names a worker, and nothing is taken from a path or a query: both contain
ids and tokens.
"""

import re
from dataclasses import dataclass

from starlette.types import Scope

_SCOPE_KEY = "piecework.request_facts"
_ACCESS_KEY = re.compile(r"[A-Za-z0-9_.-]{1,128}")


@dataclass(slots=True)
class RequestFacts:
    """What the parts that answer a request have learned about it.

    Attributes:
        request_id: the id in the reply's `x-request-id`; a call's reply has it in
            `x-amzn-RequestId` too.
        operation: a call's operation, once it is known to exist; else "".
        requester: the access key of an admitted caller, which is not secret; else "".
        error: the code of a refusal; else "".
        traceparent: the W3C header of the caller's span, unchecked; "" without one.
        is_cut: whether a rehearsal cut the connection before the reply.
    """

    request_id: str
    operation: str = ""
    requester: str = ""
    error: str = ""
    traceparent: str = ""
    is_cut: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class AnsweredRequest:
    """A request after its reply was sent.

    Attributes:
        facts: what was learned about it.
        method: its HTTP method.
        route: the template of its route, without ids; "" if no route has the path.
        is_call: whether it is a call of the requester API.
        status: the reply's status; 0 if the connection ended before a reply.
        size: the bytes of the reply's body.
        seconds: from the request's head to the reply's end.
    """

    facts: RequestFacts
    method: str
    route: str
    is_call: bool
    status: int
    size: int
    seconds: float


def begin(scope: Scope, request_id: str) -> RequestFacts:
    """Begin to collect what is known of a request."""
    headers = scope.get("headers", ())
    sent = (value for name, value in headers if name == b"traceparent")
    facts = RequestFacts(request_id, traceparent=next(sent, b"").decode("latin-1"))
    scope[_SCOPE_KEY] = facts
    return facts


def facts_of(scope: Scope) -> RequestFacts:
    """Return what is known of a request so far."""
    facts: RequestFacts = scope[_SCOPE_KEY]
    return facts


def shown_key(access_key: str) -> str:
    """Return an access key, or "?" if it has signs that no issued key has."""
    return access_key if _ACCESS_KEY.fullmatch(access_key) else "?"
