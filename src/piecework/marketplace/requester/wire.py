"""Reads and writes AWS JSON 1.1 as boto3 does.

It handles headers, JSON and error documents, but knows nothing about HITs.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from piecework.marketplace.exceptions import TURK, Refusal
from piecework.marketplace.requester.model import TARGET_PREFIX

CONTENT_TYPE = "application/x-amz-json-1.1"

_CREDENTIAL = re.compile(r"Credential=([\w.-]{1,128})/")
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


def read(headers: Mapping[str, str], body: bytes) -> Request:
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


def members(body: bytes) -> object:
    """Return the JSON document of a request.

    Raises:
        Refusal: the body is not JSON.
    """
    try:
        return json.loads(body or b"{}", parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as fault:
        raise Refusal(
            "SerializationException", "The request's body is not a JSON document."
        ) from fault


def answer(document: dict[str, Any]) -> bytes:
    """Return the body of a successful reply."""
    # A refusal quotes the input, even lone surrogates that UTF-8 cannot encode.
    return json.dumps(document, ensure_ascii=False).encode(errors="replace")


def error(refusal: Refusal, *, now_ms: int) -> bytes:
    """Return the body of an error reply; the service's own end in a number, as live.

    So clients cannot match a message by equality.
    """
    if refusal.kind not in _SPOKEN_BY_TURK:
        return answer({"__type": refusal.kind, "message": refusal.message})
    document = {"__type": refusal.kind, "Message": f"{refusal.message} ({now_ms})"}
    if refusal.turk_code:
        document["TurkErrorCode"] = TURK + refusal.turk_code
    return answer(document)


def _refuse_constant(name: str) -> object:
    raise ValueError(f"{name} is not JSON")
