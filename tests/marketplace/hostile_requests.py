"""Requests that no honest client sends, drawn from a seed, as bytes for a socket.

An HTTP library would mend half of them before they left.
"""

import json
import random
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote

from botocore.model import ListShape, Shape, StructureShape

from piecework.marketplace.requester.wire import TARGET_PREFIX, input_shape, operation_names
from tests.marketplace.hostile_input import (
    HOSTILE_TEXTS,
    HOSTILE_VALUES,
    HOSTILE_XML,
    METHODS,
    ORIGINS,
    PATHS,
    TRICKS,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sent:
    """One request of a stranger.

    Attributes:
        what: what is wrong with it.
        to_frames: whether it goes to the frames, not to the site.
        is_forged: whether anything but a refusal would be a way in.
        operation: which call it is, if nothing is wrong with it.
    """

    what: str
    request: bytes
    to_frames: bool = False
    is_forged: bool = False
    operation: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """What a stranger may know: true ids by member name, true sessions, true paths.

    Attributes:
        ready: members of calls that can be carried out, once, by operation.
    """

    values: Mapping[str, Any]
    session: str
    group: str
    accepted: str
    invitation: str
    ready: Mapping[str, Mapping[str, Any]]
    texts: list[str] = field(default_factory=list)


def requests(known: Known, chance: random.Random) -> Iterator[Sent]:
    """Each call once as it should be, then mischief without end."""
    for operation in sorted(known.ready):
        body = json.dumps(known.ready[operation]).encode()
        yield Sent(what=operation, request=call(operation, body), operation=operation)
    kinds: list[Callable[[Known, random.Random], Sent]] = [
        _one_member_broken,
        _one_member_broken,
        _one_member_broken,
        _bytes_broken,
        _odd_head,
        _hostile_question,
        _odd_path,
        _odd_path,
        _odd_form,
        _forged_session,
        _forged_invitation,
        _cross_site,
        _no_http,
        _nothing_wrong,
    ]
    while True:
        yield chance.choice(kinds)(known, chance)
        if chance.random() < 0.004:
            yield _too_large(known, chance)


def _valid(shape: Shape, known: Known, chance: random.Random, name: str = "") -> Any:  # noqa: ANN401 - JSON
    if name in known.values:
        return known.values[name]
    if isinstance(shape, StructureShape):
        return {
            member: _valid(inner, known, chance, member)
            for member, inner in shape.members.items()
            if member in shape.required_members or chance.random() < 0.3
        }
    if isinstance(shape, ListShape):
        return [_valid(shape.member, known, chance)]
    if shape.metadata.get("enum"):
        return chance.choice(shape.metadata["enum"])
    fitting = {
        "integer": 3,
        "long": 3600,
        "boolean": True,
        "timestamp": 1_767_700_000,
        "string": "0.05",
    }
    return fitting[shape.type_name]


def _body(known: Known, chance: random.Random) -> tuple[str, dict[str, Any]]:
    operation = chance.choice(operation_names())
    shape = input_shape(operation)
    return operation, {} if shape is None else _valid(shape, known, chance)


def _one_member_broken(known: Known, chance: random.Random) -> Sent:
    operation, body = _body(known, chance)
    spot: Any = body
    while True:
        inner = [v for v in _values(spot) if isinstance(v, dict | list) and v]
        if not inner or chance.random() < 0.6:
            break
        spot = chance.choice(inner)
    hostile = chance.choice(HOSTILE_VALUES)
    if isinstance(spot, list):
        spot[chance.randrange(len(spot))] = hostile
    elif not spot or chance.random() < 0.1:
        spot[chance.choice(["Unknown", "\u00e9", "__proto__"])] = hostile
    elif chance.random() < 0.15:
        del spot[chance.choice(list(spot))]
    else:
        spot[chance.choice(list(spot))] = hostile
    return Sent(
        what=f"{operation} with {json.dumps(body)[:400]}",
        request=call(operation, json.dumps(body).encode()),
    )


def _values(spot: Any) -> list[Any]:  # noqa: ANN401 - JSON
    return list(spot.values()) if isinstance(spot, dict) else list(spot)


def _nothing_wrong(known: Known, chance: random.Random) -> Sent:
    operation, body = _body(known, chance)
    return Sent(what=operation, request=call(operation, json.dumps(body).encode()))


def _bytes_broken(known: Known, chance: random.Random) -> Sent:
    operation, document = _body(known, chance)
    body = bytearray(json.dumps(document).encode())
    for _ in range(chance.randrange(1, 4)):
        place = chance.randrange(len(body) + 1)
        body[place : place + chance.randrange(3)] = chance.choice(
            [b"", b"\x00", b"\xff", b'"', b"{", b"]", b"NaN", b"1e999", b"\\ud800", b","]
        )
    if chance.random() < 0.1:
        body = bytearray(chance.choice([b"[" * 90_000, b'{"a":' * 90_000, b"null"]))
    return Sent(what=f"{operation} broken", request=call(operation, bytes(body)))


def _hostile_question(known: Known, chance: random.Random) -> Sent:
    operation = chance.choice(["CreateHIT", "CreateHITWithHITType"])
    shape = input_shape(operation)
    assert shape is not None
    body = _valid(shape, known, chance)
    body["Question"] = chance.choice(HOSTILE_XML)
    if chance.random() < 0.3:
        operation = "CreateQualificationType"
        body = {
            "Name": str(chance.random()),
            "Description": "x",
            "QualificationTypeStatus": "Active",
            "TestDurationInSeconds": 60,
            "Test": chance.choice(HOSTILE_XML),
            "AnswerKey": chance.choice(HOSTILE_XML),
        }
    return Sent(
        what=f"{operation}, {str(body.get('Question', body.get('Test')))[:90]}",
        request=call(operation, json.dumps(body).encode()),
    )


def _odd_head(known: Known, chance: random.Random) -> Sent:
    operation, body = _body(known, chance)
    target = chance.choice(
        ["", "Nope", TARGET_PREFIX, TARGET_PREFIX + "Nope", TARGET_PREFIX + "\xff"]
    )
    credential = chance.choice(
        ["", "Basic eDp4", "AWS4-HMAC-SHA256 Credential=", "Credential=\xff/x"]
    )
    headers = [f"X-Amz-Target: {target}", f"Authorization: {credential}"]
    headers[chance.randrange(2)] = chance.choice(
        [f"X-Amz-Target: {TARGET_PREFIX}{operation}", "Content-Type: \xff", "X: y"]
    )
    method = chance.choice(["POST", "POST", "GET", "PUT", "BREW"])
    return Sent(
        what=f"head {method} {headers}",
        request=http(f"{method} /", json.dumps(body).encode(), *headers),
    )


def _odd_path(known: Known, chance: random.Random) -> Sent:
    path = chance.choice(PATHS)
    while "{}" in path:
        trick = chance.choice([*TRICKS, known.group, known.accepted])
        path = path.replace("{}", trick, 1)
    method = chance.choice(METHODS)
    # A wrong method or path is what is tried here; what is right would be done.
    key = chance.choice(["", "\xe9", "forged"])
    return Sent(
        what=f"path {method} {path[:200]}",
        request=http(f"{method} {path}", b"a=b", *_worker(key, chance)),
        to_frames=path.startswith(("/frames", "/pictures", "/stand-ins")),
    )


def _odd_form(known: Known, chance: random.Random) -> Sent:
    kind, body = chance.choice(
        [
            ("application/x-www-form-urlencoded", b"%00=%ff&&&=&assignmentId"),
            ("application/x-www-form-urlencoded", b"assignmentId=1&assignmentId=2"),
            ("application/x-www-form-urlencoded", b"\xff\xfe"),
            ("application/x-www-form-urlencoded", b"a=1&" * 6000),
            ("multipart/form-data", b"--x"),
            ("multipart/form-data; boundary=x", b"--x\r\nbroken"),
            ("multipart/form-data; boundary=" + "x" * 300, b"--x--"),
            (
                "multipart/form-data; boundary=x",
                (
                    b'--x\r\nContent-Disposition: form-data; name="f"; filename="f"\r\n'
                    b"\r\nx\r\n--x--\r\n"
                ),
            ),
            ("application/json", b'{"assignmentId": 1}'),
            ("text/plain", f"assignmentId={known.accepted}".encode()),
            ("", b"a=b"),
        ]
    )
    path = chance.choice(["/mturk/externalSubmit", f"/worker/qualifications/{_type(known)}/test"])
    return Sent(
        what=f"form {path} {kind} {body[:60]!r}",
        request=http(
            f"POST {path}", body, f"Content-Type: {kind}", *_worker(known.session, chance)
        ),
    )


def _forged_session(known: Known, chance: random.Random) -> Sent:
    genuine = known.session
    forged = chance.choice(
        [
            genuine[:-1],
            genuine.swapcase() if genuine.swapcase() != genuine else "x",
            genuine + "x",
            genuine[::-1],
            "' OR 1=1 --",
            "\xff" * 40,
            "a" * 5000,
            f"{genuine}x; worker_session=x",
        ]
    )
    path, method = chance.choice(
        [
            ("/worker/hits", "GET"),
            ("/worker/history", "GET"),
            (f"/worker/groups/{known.group}/accept", "POST"),
            (f"/worker/assignments/{known.accepted}/return", "POST"),
            ("/mturk/externalSubmit", "POST"),
        ]
    )
    form = f"assignmentId={known.accepted}&a=b".encode()
    return Sent(
        what=f"session {method} {path} {forged[:60]!a}",
        request=http(f"{method} {path}", form, *_worker(forged, chance)),
        is_forged=True,
    )


def _forged_invitation(known: Known, chance: random.Random) -> Sent:
    code = known.invitation
    place = chance.randrange(len(code))
    letter = "A" if code[place] != "A" else "B"
    forged = chance.choice(
        [
            code[:place] + letter + code[place + 1 :],
            code[:place],
            code[:place] + "=" + code[place:],
            code * 2,
            quote(chance.choice(HOSTILE_TEXTS).encode("utf-8", "replace")),
        ]
    )
    # The last letter of base64 carries spare bits; only that change may be no forgery.
    if forged[:-1] == code[:-1]:
        forged = "x" + forged
    name = chance.choice(["invitation", "token", "code"])
    parameter = f"{name}={forged}"
    request = chance.choice(
        [
            http(f"GET /worker/sign-in?{parameter}", b""),
            http(
                "POST /worker/sign-in",
                parameter.encode("latin-1", "replace"),
                "Content-Type: application/x-www-form-urlencoded",
            ),
        ]
    )
    return Sent(what=f"invitation {parameter[:90]}", request=request, is_forged=True)


def _cross_site(known: Known, chance: random.Random) -> Sent:
    path = chance.choice(
        [
            f"/worker/groups/{known.group}/accept",
            f"/worker/assignments/{known.accepted}/return",
            f"/worker/qualifications/{_type(known)}/request",
            "/worker/sign-in",
            "/worker/sign-out",
            "/mturk/externalSubmit",
        ]
    )
    form = f"invitation={known.invitation}&assignmentId={known.accepted}&a=b".encode()
    origin = chance.choice(ORIGINS)
    return Sent(
        what=f"cross-site {path} from {origin!a}",
        request=http(
            f"POST {path}",
            form,
            "Content-Type: application/x-www-form-urlencoded",
            f"Cookie: worker_session={known.session}",
            f"Origin: {origin}",
        ),
        is_forged=True,
    )


def _no_http(_known: Known, chance: random.Random) -> Sent:
    request = chance.choice(
        [
            b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n",
            b"GET /worker/hits\r\n\r\n",
            b"GET  / HTTP/1.1\r\n\r\n",
            b"GET / HTTP/9.9\r\n\r\n",
            b"GET /\xff\xfe HTTP/1.1\r\nHost: x\r\n\r\n",
            b"GET http://evil.example/worker/hits HTTP/1.1\r\nHost: x\r\n\r\n",
            b"CONNECT evil.example:443 HTTP/1.1\r\nHost: x\r\n\r\n",
            b"OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n",
            b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n",
            (b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nxx"),
            b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
            b"GET / HTTP/1.1\r\nHost: x\r\nBad Header: x\r\n\r\n",
            b"GET / HTTP/1.1\r\nHost: x\r\n: x\r\n\r\n",
            (b"GET / HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n"),
        ]
    )
    return Sent(what=f"no HTTP {request!r}", request=request)


def _too_large(_known: Known, chance: random.Random) -> Sent:
    path = chance.choice(["/", "/mturk/externalSubmit", "/rehearsal/workers"])
    body = b"x" * (1_048_577 + chance.randrange(1000))
    return Sent(what=f"too large {path}", request=http(f"POST {path}", body))


def _type(known: Known) -> str:
    return str(known.values["QualificationTypeId"])


def _worker(key: str, chance: random.Random) -> list[str]:
    kind = chance.choice(["text/html", "application/json", "*/*", "\xff"])
    return [f"Cookie: worker_session={key}", f"Accept: {kind}"]


def call(operation: str, body: bytes, key: str = "FUZZ") -> bytes:
    """A requester's call."""
    return http(
        "POST /",
        body,
        f"X-Amz-Target: {TARGET_PREFIX}{operation}",
        f"Authorization: AWS4-HMAC-SHA256 Credential={key}/20260105/us-east-1/x",
    )


def http(what: str, body: bytes, *headers: str) -> bytes:
    """A request, byte for byte as it is written here."""
    lines = [f"{what} HTTP/1.1", "Host: marketplace", *headers]
    head = "\r\n".join([*lines, f"Content-Length: {len(body)}"])
    return head.encode("latin-1", "replace") + b"\r\n\r\n" + body
