"""AWS JSON 1.1 as boto3 speaks it, held against the service model in botocore.

It knows headers, JSON, error documents and the shapes of requests, but nothing about HITs.
Only this module loads the service model. A later botocore may drop it, since the service
has closed; then it raises a clear error. botocore checks only part of a request on the
client's side (not patterns, enums or maximums), so a request that passed there may be
refused here. All faults of a request are collected.
"""

import json
import math
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from typing import Any

import botocore.loaders
import orjson
from botocore.exceptions import DataNotFoundError, UnknownServiceError
from botocore.model import ListShape, ServiceModel, Shape, StructureShape

from piecework.marketplace.exceptions import TURK, Refusal, invalid_parameters

SERVICE = "mturk"
API_VERSION = "2017-01-17"
TARGET_PREFIX = "MTurkRequesterServiceV20170117."


@cache
def service_model() -> ServiceModel:
    """Return the model of MTurk's requester API, version 2017-01-17.

    Raises:
        RuntimeError: this botocore no longer ships it.
    """
    loader = botocore.loaders.Loader()
    try:
        described = loader.load_service_model(SERVICE, "service-2", API_VERSION)
    except (DataNotFoundError, UnknownServiceError) as missing:
        raise RuntimeError(
            "This botocore no longer ships the service model "
            f"{SERVICE} {API_VERSION}; install the version in requirements.lock."
        ) from missing
    return ServiceModel(described, SERVICE)


def operation_names() -> tuple[str, ...]:
    """Return all operations of the API, in alphabetical order."""
    return tuple(sorted(service_model().operation_names))


@cache
def input_shape(operation: str) -> StructureShape | None:
    """Return an operation's input; None if it has no input."""
    return service_model().operation_model(operation).input_shape


CONTENT_TYPE = "application/x-amz-json-1.1"

_CREDENTIAL = re.compile(r"(?<![^ ,])Credential=([\w.-]{1,128})/")
_SPOKEN_BY_TURK = (
    "RequestError",
    "ServiceFault",
    "ParameterValidationError",
    "InvalidParameterCombinationError",
    "InvalidParameterValue",
)
"""Error types of the service itself; all others come from AWS's gateway."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """The parts of a request that its headers contain."""

    operation: str
    access_key: str
    body: bytes


def read_request(headers: Mapping[str, str], body: bytes) -> Request:
    """Return the operation and the requester that a request names.

    Raises: Refusal: the operation or the signature is missing.
    """
    target = headers.get("x-amz-target", "")
    if not target.startswith(TARGET_PREFIX):
        raise Refusal(
            "UnknownOperationException", f"X-Amz-Target must be {TARGET_PREFIX} and an operation."
        )
    key = access_key(headers)
    if not key:
        raise Refusal(
            "MissingAuthenticationTokenException",
            "The request has no Authorization header with a Credential.",
        )
    return Request(operation=target.removeprefix(TARGET_PREFIX), access_key=key, body=body)


def access_key(headers: Mapping[str, str]) -> str:
    """Return the access key that a request names, or ""."""
    credential = _CREDENTIAL.search(headers.get("authorization", ""))
    return "" if credential is None else credential.group(1)


def read_members(body: bytes) -> object:
    """Return the JSON document of a request.

    Raises:
        Refusal: the body is not JSON.
    """
    if not body:
        return {}
    with suppress(orjson.JSONDecodeError):
        return orjson.loads(body)
    # Either no JSON, or what orjson refuses: lone surrogates and deep nesting.
    try:
        return json.loads(body, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as fault:
        raise Refusal(
            "SerializationException", "The request's body is not a JSON document."
        ) from fault


def write_reply(document: dict[str, Any]) -> bytes:
    """Return the body of a successful reply."""
    with suppress(orjson.JSONEncodeError):
        return orjson.dumps(document)
    # A refusal quotes the input, even lone surrogates that UTF-8 cannot encode.
    return json.dumps(document, ensure_ascii=False).encode(errors="replace")


def write_error(refusal: Refusal, *, now_ms: int) -> bytes:
    """Return the body of an error reply; the service's own end in a number, as live.

    So clients cannot match a message by equality.
    """
    if refusal.kind not in _SPOKEN_BY_TURK:
        return write_reply({"__type": refusal.kind, "message": refusal.message})
    document = {"__type": refusal.kind, "Message": f"{refusal.message} ({now_ms})"}
    if refusal.turk_code:
        document["TurkErrorCode"] = TURK + refusal.turk_code
    return write_reply(document)


def _refuse_constant(name: str) -> object:
    raise ValueError(f"{name} is not JSON")


_BITS = {"integer": 31, "long": 63}
_LATEST_SECOND = 253_402_300_799  # 9999-12-31T23:59:59Z
_SHOWN = 80
NOT_TEXT = "must be text that UTF-8 can encode"


def validate_request(
    shape: StructureShape | None, sent: object, *, spared: Collection[str] = ()
) -> dict[str, Any]:
    """Return a request's members, with timestamps in milliseconds and without nulls.

    Args:
        shape: the request in the service model; `None` if it has no members.
        sent: what was sent.
        spared: required members that may be absent.

    Raises:
        Refusal: `ParameterValidationError` with all faults.
    """
    faults: list[str] = []
    if shape is None:
        if sent:
            faults.append("This operation takes no parameters.")
        members: dict[str, Any] = {}
    else:
        members = _structure(shape, sent, path="", faults=faults, spared=spared)
    if faults:
        raise invalid_parameters(*faults)
    return members


def _structure(
    shape: StructureShape,
    sent: object,
    *,
    path: str,
    faults: list[str],
    spared: Collection[str] = (),
) -> dict[str, Any]:
    if not isinstance(sent, dict):
        faults.append(_fault(path, sent, "must be an object"))
        return {}
    present = {name: value for name, value in sent.items() if value is not None}
    known = shape.members
    faults += [
        f"Unknown parameter {_at(path, str(name)[:_SHOWN])}."
        for name in present
        if name not in known
    ]
    faults += [
        f"Missing required parameter {_at(path, name)}."
        for name in shape.required_members
        if name not in present and name not in spared
    ]
    return {
        name: _value(member, present[name], path=_at(path, name), faults=faults)
        for name, member in known.items()
        if name in present
    }


def _value(shape: Shape, sent: object, *, path: str, faults: list[str]) -> Any:  # noqa: ANN401 - JSON
    if isinstance(shape, StructureShape):
        return _structure(shape, sent, path=path, faults=faults)
    if isinstance(shape, ListShape):
        return _list(shape, sent, path=path, faults=faults)
    value, complaints = _SCALARS[shape.type_name](shape, sent)
    faults += [_fault(path, sent, complaint) for complaint in complaints]
    return value


def _list(shape: ListShape, sent: object, *, path: str, faults: list[str]) -> list[Any]:
    if not isinstance(sent, list):
        faults.append(_fault(path, sent, "must be a list"))
        return []
    return [
        _value(shape.member, element, path=f"{path}[{index}]", faults=faults)
        for index, element in enumerate(sent)
    ]


def _string(shape: Shape, sent: object) -> tuple[object, list[str]]:
    if not isinstance(sent, str):
        return sent, ["must be a string"]
    if not is_text(sent):
        return "", [NOT_TEXT]
    return sent, list(_string_faults(shape, sent))


def _string_faults(shape: Shape, sent: str) -> Iterator[str]:
    limits = shape.metadata
    if len(sent) < limits.get("min", 0):
        yield f"must have at least {limits['min']} characters"
    if len(sent) > limits.get("max", math.inf):
        yield f"must have at most {limits['max']} characters"
    if "pattern" in limits and not re.fullmatch(limits["pattern"], sent):
        yield f"must match {limits['pattern']}"
    if "enum" in limits and sent not in limits["enum"]:
        yield f"must be one of {', '.join(limits['enum'])}"


def is_text(sent: object) -> bool:
    """Return whether UTF-8 can encode a JSON document: it has no half of a letter."""
    try:
        words = sent if isinstance(sent, str) else json.dumps(sent, ensure_ascii=False)
        words.encode()
    except (UnicodeEncodeError, RecursionError):
        return False
    return True


def _integer(shape: Shape, sent: object) -> tuple[object, list[str]]:
    if isinstance(sent, bool) or not isinstance(sent, int):
        return sent, ["must be an integer"]
    if not -(2 ** _BITS[shape.type_name]) <= sent < 2 ** _BITS[shape.type_name]:
        return 0, ["is out of range"]
    limits = shape.metadata
    if not limits.get("min", sent) <= sent <= limits.get("max", sent):
        return sent, [f"must be from {limits['min']} to {limits['max']}"]
    return sent, []


def _boolean(_shape: Shape, sent: object) -> tuple[object, list[str]]:
    return sent, [] if isinstance(sent, bool) else ["must be true or false"]


def _timestamp(_shape: Shape, sent: object) -> tuple[object, list[str]]:
    if isinstance(sent, str):
        return _iso_timestamp(sent)
    if isinstance(sent, bool) or not isinstance(sent, int | float):
        return sent, ["must be a timestamp"]
    if not 0 <= sent <= _LATEST_SECOND:
        return 0, ["is out of range"]
    return round(sent * 1000), []


def _iso_timestamp(sent: str) -> tuple[object, list[str]]:
    try:
        moment = datetime.fromisoformat(sent)
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=UTC)
        return _timestamp(_TIMESTAMP, moment.timestamp())
    except (ValueError, OverflowError):
        return sent, ["must be a timestamp"]


_TIMESTAMP = Shape("Timestamp", {"type": "timestamp"})

_SCALARS: dict[str, Callable[[Shape, object], tuple[object, list[str]]]] = {
    "string": _string,
    "integer": _integer,
    "long": _integer,
    "boolean": _boolean,
    "timestamp": _timestamp,
}


def _at(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


def _fault(path: str, sent: object, complaint: str) -> str:
    if isinstance(sent, dict | list):
        return f"{path or 'The request'} {complaint} (found a {type(sent).__name__})."
    shown = ascii(sent)
    if len(shown) > _SHOWN:
        shown = shown[:_SHOWN] + "..."
    return f"{path or 'The request'} {complaint} (found {shown})."
