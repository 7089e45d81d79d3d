"""One call of the requester API, with its errors translated, at a rate that is learned.

A marketplace restarts, or a network fails for a minute. botocore gives up a call after six
tries, and all calls of a client after about fifty in total, which takes three seconds if
many are under way. Every call may be repeated (`piecework.store.intents`), so all of them
wait together until the marketplace answers or the time limit of the outage ends.

MTurk throttles without a published rate, so a client learns it (docs/internals/decisions/pace.md).
Calls are not delayed until the first one is throttled. From then on they leave one after
the other at the rate that recently succeeded. It slowly grows while no call is throttled.
"""

import json
import logging
import os
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from threading import Lock
from typing import TYPE_CHECKING, Any, TypeVar

from piecework.domain.errors import (
    PlatformRefused,
    RefusalKind,
    TransientPlatformError,
)
from piecework.domain.text import one_line
from piecework.platforms.endpoint import Credentials, missing_key, refuse_key

if TYPE_CHECKING:
    from botocore.exceptions import BotoCoreError, ClientError

THROTTLED = frozenset({"ThrottlingException", "Throttling", "TooManyRequestsException", "SlowDown"})
"""Error codes that ask a client to be slower."""

_LOG = logging.getLogger(__name__)
_T = TypeVar("_T")
_PREFIX = "AWS.MechanicalTurk."
_TRANSIENT = THROTTLED | {"ServiceFault", "RequestTimeout"}
_CLIENT_FAULT, _SERVER_FAULT = 400, 500
_NOT_IMPLEMENTED = 501
"""A plain file server answers calls like this; a marketplace or proxy that starts up
never does."""
_SHORT = 4096
_OF_HIT = ("HITId", "MaxAssignments", "HITStatus")
_OF_LISTED = (
    *("HITId", "HITTypeId", "MaxAssignments", "Reward", "CreationTime"),
    *("NumberOfAssignmentsAvailable", "NumberOfAssignmentsPending"),
)
_OF_ASSIGNMENT = (
    *("AssignmentId", "HITId", "WorkerId", "AssignmentStatus"),
    *("AcceptTime", "SubmitTime"),
)
_READ: Mapping[str, Sequence[Sequence[str]]] = {
    "CreateHITType": [("HITTypeId",)],
    "CreateHITWithHITType": [("HIT", "HITId")],
    "CreateQualificationType": [("QualificationType", "QualificationTypeId")],
    "GetAccountBalance": [("AvailableBalance",)],
    "GetAssignment": [("Assignment", "AssignmentStatus")],
    "GetHIT": [("HIT", name) for name in _OF_HIT],
    "ListAssignmentsForHIT": [("Assignments", name) for name in _OF_ASSIGNMENT],
    "ListBonusPayments": [
        ("BonusPayments", name) for name in ("AssignmentId", "WorkerId", "BonusAmount")
    ],
    "ListHITs": [("HITs", name) for name in _OF_LISTED],
    "ListQualificationTypes": [
        ("QualificationTypes", name) for name in ("Name", "QualificationTypeId")
    ],
    "ListReviewableHITs": [("HITs", "HITId")],
    "ListWorkersWithQualificationType": [
        ("Qualifications", name) for name in ("WorkerId", "IntegerValue")
    ],
}
"""The members that are read from a reply; a reply without them is not a
marketplace's."""
_KINDS: Mapping[str, RefusalKind] = {
    "HITDoesNotExist": "hit_unknown",
    "HITTypeDoesNotExist": "hit_type_unknown",
    "QualificationTypeDoesNotExist": "qualification_type_unknown",
    "HitAlreadyExists": "already_exists",
    "QualificationTypeAlreadyExists": "already_exists",
    "InvalidAssignmentState": "decided_already",
}
"""MTurk's codes, without their prefix, for the kinds that callers distinguish."""

_NEXT_STEPS: Mapping[str, str] = {
    "InsufficientFunds": "pay into the account (on your own marketplace: "
    "`piecework market account add NAME --balance AMOUNT`), then run the same command again",
}
"""Next steps after these codes."""


def called(call: Callable[..., _T], **arguments: Any) -> _T:  # noqa: ANN401 - boto3's own
    """Make a call and return its result.

    Raises:
        TransientPlatformError: the outcome is unknown.
        PlatformRefused: the platform refused the call.
        ConfigError: there are no credentials.
    """
    from botocore import exceptions, parsers  # noqa: PLC0415 - only calls need it

    try:
        return call(**arguments)
    except exceptions.ClientError as fault:
        raise _translated(fault) from fault
    except exceptions.NoCredentialsError as fault:
        raise missing_key(os.environ) from fault
    # botocore raises these for times and numbers that it cannot parse.
    except (
        *(ValueError, TypeError, AttributeError, RecursionError),
        parsers.ResponseParserError,
    ) as fault:
        raise TransientPlatformError(
            f"the platform's answer cannot be read: {one_line(str(fault))}",
            next_step="check the address and any proxy on the way, then run the same "
            "command again; no step is done twice",
        ) from fault
    except exceptions.BotoCoreError as fault:
        raise _unreachable(fault) from fault


def _unreachable(fault: "BotoCoreError") -> TransientPlatformError:
    from botocore.exceptions import SSLError  # noqa: PLC0415 - as above

    check = "if it is your own `piecework market serve`, check that it runs"
    if isinstance(fault, SSLError):
        check = (
            "renew the certificate if it has expired; AWS_CA_BUNDLE names a file with "
            "an authority of your own"
        )
    return TransientPlatformError(
        f"the platform could not be reached: {one_line(str(fault))}",
        next_step=f"{check}; then run the same command again: no step is done twice",
    )


def hear_only_the_marketplace(
    events: Any,  # noqa: ANN401 - botocore's emitter
    endpoint: str,
    used: Credentials,
) -> None:
    """Make a botocore client accept replies only from the marketplace.

    Most acts have an empty reply, so botocore would accept any page with HTTP 200 as a
    success: the page of a captive portal would count as a payment.
    """

    def check(response_dict: dict[str, Any], **_: object) -> None:
        status = response_dict["status_code"]
        if "x-amzn-requestid" in response_dict["headers"]:
            if is_cut(response_dict["headers"], response_dict["body"]):
                response_dict["body"] = b""  # `platforms.outage` repeats the call
            if not _is_document(response_dict["body"]):
                raise _strange(endpoint, status)
            return
        if status >= _SERVER_FAULT and status != _NOT_IMPLEMENTED:
            # botocore repeats the call; the rest of a stranger's reply is ignored.
            response_dict["body"] = b""
            return
        raise _strange(endpoint, status)

    def check_parsed(
        parsed: Mapping[str, Any],
        model: Any,  # noqa: ANN401 - botocore's
        **_: object,
    ) -> None:
        status = parsed.get("ResponseMetadata", {}).get("HTTPStatusCode", 200)
        refuse_key(parsed.get("Error", {}), endpoint, used)
        lacks = (path for path in _READ.get(model.name, ()) if not _has(parsed, path))
        if status < _CLIENT_FAULT and any(lacks):
            raise _strange(endpoint, status)

    events.register_first("before-parse.mturk", check)
    events.register_first("after-call.mturk", check_parsed)


def _strange(endpoint: str, status: int) -> TransientPlatformError:
    return TransientPlatformError(
        f"{endpoint}: the answer (HTTP {status}) is not a marketplace's: it comes "
        "from a proxy, a portal or another program on that port",
        next_step="check the address (`piecework market serve` prints its own, and --port "
        "changes it) and any proxy on the way, then run the same command again; "
        "no step is done twice",
    )


def _is_document(body: bytes) -> bool:
    """Whether a body can be a JSON object; of a long one, only the ends are checked.

    botocore treats an unreadable body as an empty reply, which most acts have.
    """
    if len(body) > _SHORT:
        return body[:1] == b"{" and body.rstrip()[-1:] == b"}"
    try:
        return not body or isinstance(json.loads(body), dict)
    except (ValueError, RecursionError):
        return False


def _has(parsed: object, path: Sequence[str]) -> bool:
    """Whether a reply has a member, in each element of lists on the path."""
    if isinstance(parsed, list):
        return all(_has(element, path) for element in parsed)
    if not path:
        return parsed is not None
    if not isinstance(parsed, Mapping) or parsed.get(path[0]) is None:
        return False
    return _has(parsed[path[0]], path[1:])


def _translated(fault: "ClientError") -> PlatformRefused | TransientPlatformError:
    response: Mapping[str, Any] = fault.response
    error = response.get("Error", {})
    code = one_line(str(error.get("Code", "")), at_most=100)
    sentence = one_line(str(error.get("Message") or fault))
    status = response.get("ResponseMetadata", {}).get("HTTPStatusCode", 400)
    turk_code = str(response.get("TurkErrorCode") or "").removeprefix(_PREFIX)
    turk_code = one_line(turk_code, at_most=100)
    kind = _KINDS.get(turk_code or code, "other")
    # Callers expect the kinds that they distinguish, so those are no news.
    _LOG.log(
        logging.INFO if kind == "other" else logging.DEBUG,
        "%s was not done (HTTP %s %s): request %s",
        *(fault.operation_name, status, turk_code or code, _request_id(response)),
    )
    if code in _TRANSIENT or status >= _SERVER_FAULT:
        return TransientPlatformError(
            f"the platform is busy ({code}): {sentence}",
            next_step="run the same command again; no step is done twice",
        )
    code = turk_code or code
    return PlatformRefused(sentence, code=code, kind=kind, next_step=_NEXT_STEPS.get(code, ""))


def _request_id(response: Mapping[str, Any]) -> str:
    """Return the id by which the marketplace's access log names the request."""
    metadata = response.get("ResponseMetadata", {})
    request_id = metadata.get("RequestId") or metadata.get("HTTPHeaders", {}).get(
        "x-request-id", ""
    )
    return one_line(str(request_id), at_most=100) or "without an id"


PATIENCE_SECONDS = 30.0
"""How long to wait during an outage; after that, a schedule's next pass tries again."""
LONG_PATIENCE_SECONDS = 600.0
"""The same if no schedule starts another pass."""
FIRST_SECONDS = 3.0
"""The same if the marketplace has never answered: the address may be wrong."""

_OUTAGE_FAULT = 500
_FIRST_DELAY, _LONGEST_DELAY = 0.05, 2.0
_WARN_AFTER = 1.0
"""Seconds of an outage after which it is logged."""
_CONTEXT = "unheard_since"


class Outage:
    """How long a marketplace has been unreachable, shared by all threads of a client.

    Args:
        endpoint: URL of the marketplace, for messages.
        patience_seconds: how long to wait during an outage; `None`: the default.
        now: returns a monotonic time in seconds.
    """

    def __init__(
        self,
        endpoint: str,
        patience_seconds: float | None = None,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._endpoint, self._now = endpoint, now
        self._patience = PATIENCE_SECONDS if patience_seconds is None else patience_seconds
        self._lock = Lock()
        self._since: float | None = None
        self._was_heard = self._is_announced = False

    def heard(self) -> None:
        """Record that the marketplace has answered."""
        with self._lock:
            if self._is_announced and self._since is not None:
                away = self._now() - self._since
                _LOG.warning("%s answers again, after %.0f s", self._endpoint, away)
            self._since, self._was_heard, self._is_announced = None, True, False

    def delay(self, context: dict[str, Any], attempts: int) -> float | None:
        """Return how long a failed call waits before the next try; `None`: give up.

        Args:
            context: the call's context, which keeps when it failed first. So a call
                that always fails is given up even while other calls succeed.
            attempts: how often it was tried.
        """
        with self._lock:
            now = self._now()
            self._since = now if self._since is None else self._since
            away = now - min(self._since, context.setdefault(_CONTEXT, now))
            most = self._patience if self._was_heard else FIRST_SECONDS
            left = min(most, self._patience) - away
            if left <= 0:
                return None
            if away >= _WARN_AFTER and not self._is_announced:
                self._is_announced = True
                _LOG.warning("%s does not answer; waiting for at most %.0f s", self._endpoint, left)
        growing = _FIRST_DELAY * 2.0 ** min(attempts, 10)
        return float(min(growing, _LONGEST_DELAY, left))


def is_cut(headers: Mapping[str, str], body: bytes) -> bool:
    """Whether a reply is incomplete because its sender died meanwhile.

    botocore treats the part as the whole.
    """
    length = headers.get("content-length", "")
    return length.isdecimal() and len(body) < int(length)


def wait_for_the_marketplace(
    events: Any,  # noqa: ANN401 - botocore's emitter
    outage: Outage,
) -> None:
    """Let a botocore client repeat unanswered calls until the time limit.

    Answered calls are left to botocore, throttled ones to `Pace`.
    """
    from botocore import exceptions  # noqa: PLC0415 - as above

    def again(
        response: tuple[Any, Mapping[str, Any]] | None,
        caught_exception: Exception | None,
        request_dict: dict[str, Any],
        attempts: int,
        **_: object,
    ) -> float | bool | None:
        away = exceptions.ConnectionError | exceptions.HTTPClientError
        is_away = isinstance(caught_exception, away)
        is_away &= not isinstance(caught_exception, exceptions.SSLError)
        if response is not None:
            answer = response[0]
            is_away = answer.status_code >= _OUTAGE_FAULT
            is_away |= is_cut(answer.headers, answer.content)
        if is_away:
            delay = outage.delay(request_dict["context"], attempts)
            # False, not None: no other handler may retry it.
            return False if delay is None else delay
        if response is not None:
            outage.heard()
        return None

    events.register_first("needs-retry.mturk", again)


_WINDOW = 1.0
"""Seconds over which successful calls are counted, if there are enough."""
_OLD = 20.0
"""Seconds after which a call is no longer used to estimate the rate."""
_SETTLE = 0.25
"""Seconds after a fall in which further throttled calls count as the same event."""
_CREEP = 0.05
"""Share by which the rate grows per second."""
_SEARCH = 0.1
"""Share by which it grows per call, until enough calls succeeded to know a rate."""
_FALL = 0.85
"""The lowest factor by which a known rate falls at once."""
_TELLING = 10
"""Number of successful calls that determine a rate."""
_ABOVE = 1.03
"""Target factor above the successful rate; below 1, a limit would never be reached."""
_LEAST = 0.5
"""The lowest rate, in calls per second."""
_PATIENCE = 40
"""Throttled attempts of one call after which it is given up."""


class Pace:
    """A rate that is learned from throttling, shared by all threads of a client.

    Args:
        now: returns a monotonic time in seconds.
        sleep: waits for a number of seconds.
    """

    def __init__(
        self, now: Callable[[], float] = time.monotonic, sleep: Callable[[float], None] = time.sleep
    ) -> None:
        self._now, self._sleep = now, sleep
        self._lock, self._turn = Lock(), Lock()
        self._through: deque[float] = deque()
        self._next = 0.0
        self._grown_at = self._fell_at = -_WINDOW
        self._left = 0
        self._is_searching = True
        self.rate: float | None = None

    def wait(self) -> None:
        """Wait until the next call may leave."""
        if self.rate is None:
            self._left += 1
            return
        # One thread waits for its time, all others for their turn, so a changed rate
        # applies to all of them.
        with self._turn:
            early = self._next - self._now()
            if early > 0:
                self._sleep(early)
            with self._lock:
                now = self._now()
                # Only a rate that calls wait for can grow.
                if early > 0:
                    self._grow(now)
                self._grown_at = now
                self._next = now + 1 / self.rate

    def heard(self, *, throttled: bool) -> None:
        """Learn from one reply."""
        with self._lock:
            now = self._now()
            self._forget(now)
            if not throttled:
                self._through.append(now)
            elif now - self._fell_at > _SETTLE:
                self._fall(now)

    def _grow(self, now: float) -> None:
        rate, quiet = self.rate or _LEAST, now - self._fell_at
        # The longer no call was throttled, the further the limit may have moved.
        calm = min(quiet / _SETTLE, quiet * rate / _TELLING)
        creep = _CREEP * (now - self._grown_at) * max(1.0, calm)
        self.rate = rate * (1 + (_SEARCH if self._is_searching else creep))

    def _fall(self, now: float) -> None:
        since = max(now - self._through[0], _SETTLE) if self._through else _SETTLE
        rate = _ABOVE * len(self._through) / since
        if self.rate is None and len(self._through) < _TELLING:
            # No rate is known yet: assume that the calls so far are allowed per second.
            rate = max(rate, self._left)
        if self.rate is not None:
            self._is_searching &= len(self._through) < _TELLING
            least = 0 if self._is_searching else _FALL * self.rate
            rate = min(max(rate, least), self.rate)
        self.rate = max(rate, _LEAST)
        self._fell_at = self._grown_at = now

    def _forget(self, now: float) -> None:
        calls = self._through
        while calls and (
            calls[0] < now - _OLD or (len(calls) > _TELLING and calls[0] < now - _WINDOW)
        ):
            calls.popleft()


def keep_pace(events: Any, pace: Pace) -> None:  # noqa: ANN401 - botocore's emitter
    """Let every attempt of a botocore client, including retries, keep a pace."""

    def wait(**_: object) -> None:
        pace.wait()

    def hear(parsed_response: Mapping[str, Any] | None, **_: object) -> None:
        if parsed_response is not None:
            pace.heard(throttled=_is_throttled(parsed_response))

    def again(
        response: tuple[object, Mapping[str, Any]] | None, attempts: int, **_: object
    ) -> float | None:
        # The pace decides when, so the retry itself has no delay.
        is_throttled = response is not None and _is_throttled(response[1])
        return 0 if is_throttled and attempts < _PATIENCE else None

    # Before the request is signed, because a signature contains the time.
    events.register_first("request-created.mturk", wait)
    events.register("response-received.mturk", hear)
    events.register_first("needs-retry.mturk", again)


def _is_throttled(parsed: Mapping[str, Any]) -> bool:
    return parsed.get("Error", {}).get("Code") in THROTTLED
