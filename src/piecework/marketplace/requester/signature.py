"""Signature version 4: admits callers whose request is signed and unchanged.

Every signature is checked, except in a rehearsal or with trust_local. The checks use
bytes, keys and the published algorithm; only `Admission` has a database and a clock. The
order of the checks, their messages and HTTP 400 are those observed at AWS's other
services with the same protocol (JSON 1.1), so clients know them.
"""

import hashlib
import hmac
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import lru_cache
from urllib.parse import quote_from_bytes, unquote_to_bytes

from starlette.requests import Request

from piecework.marketplace.exceptions import Refusal, unrecognized_client
from piecework.marketplace.requester import wire
from piecework.marketplace.state import clock
from piecework.marketplace.state.backend import Backend
from piecework.marketplace.state.clock import SIGNATURE_SKEW

ALGORITHM = "AWS4-HMAC-SHA256"
SERVICE = "mturk-requester"
REGIONS = ("us-east-1", "sandbox")
"""The only region, and the name with which botocore signs sandbox calls."""
TERMINATOR = "aws4_request"

_BASIC = "%Y%m%dT%H%M%SZ"
_SCOPE_PARTS = 5
_UNRESERVED = "-_.~"
_PARAMETERS = ("Credential", "Signature", "SignedHeaders")
_ONCE = "The Authorization header must hold each key=value pair once, and no others."


@dataclass(frozen=True, slots=True, kw_only=True)
class Received:
    """A request as received.

    Attributes:
        path: as sent; the requester API has only `/`, so nothing is normalised.
        headers: in order, names in lower case, as ASGI gives them.
    """

    method: str
    path: bytes
    query: bytes
    headers: tuple[tuple[bytes, bytes], ...]
    body: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Signed:
    """The claims of a request about its signature, not yet verified.

    Attributes:
        signed_at: the signature's time, in whole seconds.
        headers: names of the covered headers, in lower case and in order.
        signature: 64 hexadecimal digits, if it is well-formed.
    """

    access_key: str
    date: str
    region: str
    service: str
    terminator: str
    signed_at: datetime
    headers: tuple[str, ...]
    signature: str


def read_signature(received: Received) -> Signed:
    """Read the signature of a request.

    Raises:
        Refusal: the signature is missing or incomplete.
    """
    parameters = _parameters(_only(received, "authorization"))
    stamp = _only(received, "x-amz-date") or _only(received, "date")
    lacking = [
        f"Authorization header requires '{name}' parameter."
        for name in _PARAMETERS
        if not parameters.get(name)
    ]
    if not stamp:
        lacking.append(
            "Authorization header requires existence of either a 'X-Amz-Date' or a 'Date' header."
        )
    if lacking:
        raise _incomplete(" ".join(lacking))
    if len(parameters) > len(_PARAMETERS):
        raise _incomplete(_ONCE)
    scope = parameters["Credential"].split("/")
    if len(scope) != _SCOPE_PARTS:
        raise _incomplete(
            "Credential must have exactly 5 slash-delimited elements, e.g. "
            "keyid/date/region/service/term."
        )
    access_key, date, region, service, terminator = scope
    return Signed(
        access_key=access_key,
        date=date,
        region=region,
        service=service,
        terminator=terminator,
        signed_at=_moment(stamp),
        headers=tuple(sorted(set(parameters["SignedHeaders"].lower().split(";")))),
        signature=parameters["Signature"],
    )


def check_claim(signed: Signed, received: Received, *, now: datetime) -> None:
    """Check that the signature is for this service and at most 15 minutes off.

    Raises:
        Refusal: the signature is too old or too early, omits headers, is for another
            service or region, or has a session token, which the marketplace does not
            support.
    """
    _check_time(signed, now)
    present = {name.decode("latin-1") for name, _ in received.headers}
    must = {"host"} | {name for name in present if name.startswith("x-amz-")}
    for name in sorted(must - set(signed.headers)):
        raise _invalid(f"'{name}' must be a 'SignedHeader' in the AWS Authorization.")
    wrong = list(_scope_faults(signed))
    if wrong:
        raise _invalid(" ".join(wrong))
    if "x-amz-security-token" in present:
        raise unrecognized_client()


def check_signature(signed: Signed, received: Received, *, secret: str) -> None:
    """Check that the holder of the secret signed exactly this request.

    Raises:
        Refusal: it was signed with another secret, or changed on the way.
    """
    right = expected_signature(signed, received, secret=secret)
    if not hmac.compare_digest(right.encode(), signed.signature.encode()):
        raise _invalid(
            "The request signature we calculated does not match the signature you "
            "provided. Check your AWS Secret Access Key and signing method. Consult "
            "the service documentation for details."
        )


def expected_signature(signed: Signed, received: Received, *, secret: str) -> str:
    """Return the correct signature of this request for this secret."""
    words = [
        ALGORITHM,
        signed.signed_at.strftime(_BASIC),
        f"{signed.date}/{signed.region}/{signed.service}/{signed.terminator}",
        hashlib.sha256(_canonical(signed, received)).hexdigest(),
    ]
    key = _signing_key(secret, signed.date, signed.region, signed.service)
    return hmac.digest(key, "\n".join(words).encode(), hashlib.sha256).hex()


@lru_cache(maxsize=256)
def _signing_key(secret: str, date: str, region: str, service: str) -> bytes:
    key = b"AWS4" + secret.encode()
    for word in (date, region, service, TERMINATOR):
        key = hmac.digest(key, word.encode(), hashlib.sha256)
    return key


def _canonical(signed: Signed, received: Received) -> bytes:
    # The body is hashed here; X-Amz-Content-SHA256 is not trusted.
    lines = [received.method.encode(), received.path or b"/", _query(received.query)]
    for name in signed.headers:
        values = _all(received, name)
        trimmed = b",".join(b" ".join(value.split()) for value in values)
        lines.append(name.encode("latin-1") + b":" + trimmed)
    lines += [
        b"",
        ";".join(signed.headers).encode("latin-1"),
        hashlib.sha256(received.body).hexdigest().encode(),
    ]
    return b"\n".join(lines)


def _query(query: bytes) -> bytes:
    pairs = []
    for pair in filter(None, query.split(b"&")):
        name, _, value = pair.partition(b"=")
        pairs.append((_quoted(name), _quoted(value)))
    return "&".join(f"{name}={value}" for name, value in sorted(pairs)).encode()


def _quoted(word: bytes) -> str:
    return quote_from_bytes(unquote_to_bytes(word), safe=_UNRESERVED)


def _all(received: Received, name: str) -> list[bytes]:
    wanted = name.encode("latin-1")
    return [value for header, value in received.headers if header == wanted]


def _only(received: Received, name: str) -> str:
    values = _all(received, name)
    if len(values) > 1:
        raise _incomplete(f"There is more than one header '{name}'.")
    return values[0].decode("latin-1").strip() if values else ""


def _parameters(authorization: str) -> dict[str, str]:
    algorithm, _, rest = authorization.partition(" ")
    if not algorithm.startswith("AWS4-"):
        raise Refusal(
            "MissingAuthenticationTokenException", "Request is missing Authentication Token"
        )
    if algorithm != ALGORITHM:
        raise _incomplete(f"Unsupported AWS 'algorithm' (only {ALGORITHM} for now).")
    parameters: dict[str, str] = {}
    for pair in rest.split(","):
        name, equals, value = pair.strip().partition("=")
        if not equals or name in parameters:
            raise _incomplete(_ONCE)
        parameters[name] = value
    return parameters


def _moment(stamp: str) -> datetime:
    try:
        if re.fullmatch(r"\d{8}T\d{6}Z", stamp, re.ASCII):
            # strptime takes ten times as long, in each call.
            year, month, day = int(stamp[:4]), int(stamp[4:6]), int(stamp[6:8])
            hour, minute, second = int(stamp[9:11]), int(stamp[11:13]), int(stamp[13:15])
            return datetime(year, month, day, hour, minute, second, tzinfo=UTC)
        return parsedate_to_datetime(stamp).astimezone(UTC)
    except (ValueError, OverflowError) as fault:
        raise _incomplete("Date must be in ISO-8601 'basic format'.") from fault


def _check_time(signed: Signed, now: datetime) -> None:
    earliest, latest = now - SIGNATURE_SKEW, now + SIGNATURE_SKEW
    if earliest <= signed.signed_at <= latest:
        return
    stamp, present = signed.signed_at.strftime(_BASIC), now.strftime(_BASIC)
    if signed.signed_at < earliest:
        raise _invalid(
            f"Signature expired: {stamp} is now earlier than "
            f"{earliest.strftime(_BASIC)} ({present} - 15 min.)"
        )
    raise _invalid(
        f"Signature not yet current: {stamp} is still later than "
        f"{latest.strftime(_BASIC)} ({present} + 15 min.)"
    )


def _scope_faults(signed: Signed) -> Iterator[str]:
    if signed.region not in REGIONS:
        yield f"Credential should be scoped to a valid region, e.g. '{REGIONS[0]}'."
    if signed.service != SERVICE:
        yield f"Credential should be scoped to correct service: '{SERVICE}'."
    if signed.terminator != TERMINATOR:
        yield f"Credential should be scoped with a valid terminator: '{TERMINATOR}'."
    if signed.date != signed.signed_at.strftime("%Y%m%d"):
        yield (
            "Date in Credential scope does not match YYYYMMDD from ISO-8601 version "
            "of date from HTTP."
        )


def _incomplete(message: str) -> Refusal:
    return Refusal("IncompleteSignatureException", message)


def _invalid(message: str) -> Refusal:
    return Refusal("InvalidSignatureException", message)


def machine_time() -> datetime:
    """Return the current time for signatures, which virtual time does not move."""
    return clock.to_datetime(clock.machine_ms())


class Admission:
    """Admits calls of the requester API.

    Args:
        backend: the backend with the accepted keys.
        checks: whether to check signatures; otherwise the key's name is enough.
        now: the real current time.
    """

    def __init__(
        self, backend: Backend, *, checks: bool, now: Callable[[], datetime] = machine_time
    ) -> None:
        self._backend = backend
        self._checks = checks
        self._now = now

    def admit(self, request: Request, call: wire.Request) -> str:
        """Return the caller's access key, if authenticated.

        A signature may come again while it is valid, as at AWS: it has a time in whole
        seconds and no nonce, so honest programs send identical ones. TLS keeps others
        from reading it.

        Raises:
            Refusal: the caller is not authenticated.
        """
        if not self._checks:
            return call.access_key
        received = _received(request, call.body)
        signed = read_signature(received)
        check_claim(signed, received, now=self._now())
        secret = self._backend.secret_of_key(signed.access_key)
        check_signature(signed, received, secret=secret)
        return signed.access_key


def _received(request: Request, body: bytes) -> Received:
    return Received(
        method=request.method,
        path=request.scope["raw_path"],
        query=request.scope["query_string"],
        headers=tuple(request.headers.raw),
        body=body,
    )
