"""Strangers' bytes: whatever is sent, the answer is a sentence and never a 5xx."""

import contextlib
import json
import random
import socket
from collections.abc import Iterator
from typing import Any

import pytest
from botocore.model import ListShape, Shape, StructureShape

from piecework.marketplace.requester.wire import TARGET_PREFIX, input_shape, operation_names
from tests.marketplace.documents import form, question
from tests.marketplace.market import QUESTION, Market, post

SIGNED = "AWS4-HMAC-SHA256 Credential=FUZZ/20260105/us-east-1/mturk-requester/x"
NASTY: list[Any] = [
    "",
    "\x00",
    "'; DROP TABLE hits; --",
    "\ud800",
    "\U0001d54f" * 3000,
    "../../etc/passwd",
    -1,
    0,
    2**31,
    2**63,
    10**300,
    1.5,
    1e308,
    -1e-308,
    True,
    None,
    [],
    {},
    [[]],
    [None],
    {"a": {"b": []}},
    "A",
    "3ABC",
    QUESTION,
    form(question("q")),
    "0.01",
    "Exists",
]


def value_for(shape: Shape, chance: random.Random) -> Any:  # noqa: ANN401 - anything at all
    """Something that nearly fits a shape, or does not at all."""
    if chance.random() < 0.25:
        return chance.choice(NASTY)
    if isinstance(shape, StructureShape):
        return structure_for(shape, chance)
    if isinstance(shape, ListShape):
        return [value_for(shape.member, chance) for _ in range(chance.randrange(4))]
    if shape.metadata.get("enum"):
        return chance.choice(shape.metadata["enum"])
    fitting: dict[str, list[Any]] = {
        "integer": [1, 60, 3600],
        "long": [60, 3600],
        "boolean": [True, False],
        "timestamp": [0, 1_767_700_000, "2026-02-01T00:00:00Z"],
        "string": ["3ABC", "A1B2", "0.55", "text", QUESTION],
    }
    return chance.choice(fitting[shape.type_name])


def structure_for(shape: StructureShape, chance: random.Random) -> dict[str, Any]:
    """Most of the required members, some of the others."""
    structure = {}
    for name, member in shape.members.items():
        often = 0.95 if name in shape.required_members else 0.4
        if chance.random() < often:
            structure[name] = value_for(member, chance)
    return structure


def calls(chance: random.Random) -> Iterator[tuple[str, bytes]]:
    """Requests to every operation, ten of each."""
    for operation in operation_names():
        shape = input_shape(operation)
        for _ in range(10):
            body = structure_for(shape, chance) if shape else chance.choice(NASTY)
            yield operation, json.dumps(body).encode()


def test_fuzzed_requester_calls_are_answered_and_leave_the_books_in_order(market: Market) -> None:
    """390 calls built from the service model with nasty values in them: no 5xx."""
    post(market.requester("FUZZ"))
    chance = random.Random(1)  # noqa: S311 - the same calls every time
    for operation, body in calls(chance):
        reply = market.http.post(
            "/",
            content=body,
            headers={"X-Amz-Target": TARGET_PREFIX + operation, "Authorization": SIGNED},
        )
        assert reply.status_code < 500, (operation, body, reply.text)
        reply.json()
    books = market.books()
    assert books["balance_cents"] + books["held_cents"] <= 1_000_000


PATHS = [
    "/",
    "/worker/hits",
    "/worker/history",
    "/worker/hits?q={}&min={}&sort={}&page={}",
    "/worker/history?state={}&before={}",
    "/worker/sign-in?token=x",
    "/worker/sign-in?invitation={}",
    "/worker/sign-out",
    "/worker/thanks?of={}",
    "/worker/groups/{}/preview",
    "/worker/groups/{}/preview?hit_id={}",
    "/worker/groups/{}/accept",
    "/worker/assignments/{}",
    "/worker/assignments/{}/return",
    "/worker/assignments/{}/time",
    "/worker/assignments/{}/thanks",
    "/worker/qualifications",
    "/worker/qualifications?q={}&before={}",
    "/worker/qualifications/{}/request",
    "/worker/qualifications/{}/test",
    "/worker/static/{}",
    "/mturk/externalSubmit",
    "/mturk/externalSubmit?assignmentId={}&{}={}",
    "/stand-ins/{}",
    "/rehearsal/clock",
    "/rehearsal/workers",
    "/rehearsal/faults",
    "/rehearsal/events?after={}",
    "/frames/{}",
    "/pictures/{}",
]
FILLINGS = ["x", "%00", "%ff%fe", "..%2f..%2fetc%2fpasswd", "%F0%9F%90%A6", "a" * 2000]
BODIES: list[tuple[str, bytes]] = [
    ("application/x-www-form-urlencoded", b"assignmentId=x&a=b"),
    ("application/x-www-form-urlencoded", b"%00=%ff&&&=&assignmentId"),
    ("application/x-www-form-urlencoded", b"\xff\xfe"),
    ("application/x-www-form-urlencoded", b"a=1&" * 6000),
    ("multipart/form-data", b"--x"),
    ("multipart/form-data; boundary=x", b"--x\r\nbroken"),
    (
        "multipart/form-data; boundary=x; charset=nope",
        b'--x\r\nContent-Disposition: form-data; name="a"\r\n\r\n\xff\r\n--x--\r\n',
    ),
    *(
        (
            f"multipart/form-data; boundary=x; charset={charset}",
            (
                b'--x\r\nContent-Disposition: form-data; name="text"\r\n\r\n+2AA-\r\n'
                b'--x\r\nContent-Disposition: form-data; name="assignmentId"\r\n\r\n+2AA-\r\n'
                b"--x--\r\n"
            ),
        )
        for charset in ("utf-7", '"UTF-7"', "undefined")
    ),
    (
        "multipart/form-data; boundary=x",
        b'--x\r\nContent-Disposition: form-data; name="f"; filename="f"\r\n\r\nx\r\n',
    ),
    ("application/json", b'{"handle": "\\ud800", "country": "US"}'),
    ("application/json", b"[" * 5000),
    ("text/plain", b"x"),
]


@pytest.mark.parametrize("accept", ["text/html", "application/json"])
def test_fuzzed_worker_requests_are_answered(market: Market, accept: str) -> None:
    """Odd paths, methods, forms and cookies, signed in or not: no 5xx, with words."""
    ann = market.worker()
    count = 0
    for path in PATHS:
        is_frames = path.startswith(("/frames", "/pictures", "/stand-ins"))
        origin = market.frames if is_frames else market.endpoint
        for number, (kind, body) in enumerate(BODIES):
            filling = FILLINGS[number % len(FILLINGS)]
            for method in ("GET", "POST", "PUT"):
                cookie = ann.token if number % 2 else "\xe9"
                reply = market.http.request(
                    method,
                    origin + path.replace("{}", filling),
                    content=b"" if method == "GET" else body,
                    headers=[
                        (b"Content-Type", kind.encode()),
                        (b"Accept", accept.encode()),
                        (b"Cookie", f"worker_session={cookie}".encode("latin-1")),
                    ],
                )
                count += 1
                assert reply.status_code < 500, (method, path, kind, reply.text)
                if reply.status_code >= 400:
                    assert reply.text.strip(), (method, path)
    assert count > 500


def test_a_worker_cannot_touch_anothers_work(standing: Market) -> None:
    """Neither read, nor return, nor submit an assignment of somebody else."""
    client, ann, eve = standing.requester(), standing.worker(), standing.worker()
    made = post(client)
    assignment = ann.accept(made["HITGroupId"]).json()["assignment_id"]
    assert eve.submit(assignment).status_code == 409
    assert eve.give_back(assignment).status_code == 409
    page = eve.http.get(f"/worker/assignments/{assignment}")
    assert page.status_code == 404
    assert ann.submit(assignment).status_code == 200


def test_a_form_from_elsewhere_is_refused(standing: Market) -> None:
    """Other origins cannot submit; the frames cannot accept or return."""
    client, ann = standing.requester(), standing.worker()
    made = post(client)
    group = made["HITGroupId"]
    for origin in ("https://evil.example", "null", standing.frames):
        reply = ann.http.post(f"/worker/groups/{group}/accept", headers={"Origin": origin})
        assert reply.status_code == 403
    assignment = ann.accept(group).json()["assignment_id"]
    form = {"assignmentId": assignment, "a": "b"}
    for origin in ("https://evil.example", "null"):
        reply = ann.http.post("/mturk/externalSubmit", data=form, headers={"Origin": origin})
        assert reply.status_code == 403
    back = ann.http.post(
        f"/worker/assignments/{assignment}/return", headers={"Origin": standing.frames}
    )
    assert back.status_code == 403
    reply = ann.http.post("/mturk/externalSubmit", data=form, headers={"Origin": standing.frames})
    assert reply.status_code == 200


def test_nobody_works_without_a_session(standing: Market) -> None:
    """401 with a sentence, for pages and for programs."""
    for headers in ({}, {"Accept": "application/json"}):
        reply = standing.http.get("/worker/hits", headers=headers)
        assert reply.status_code == 401
        assert "not signed in" in reply.text
    reply = standing.http.post("/mturk/externalSubmit", data={"assignmentId": "x"})
    assert reply.status_code == 401


def test_an_answer_too_large_is_refused_and_the_hit_stays_the_workers(standing: Market) -> None:
    """413; the worker can shorten it and submit."""
    client, ann = standing.requester(), standing.worker()
    made = post(client)
    assignment = ann.accept(made["HITGroupId"]).json()["assignment_id"]
    assert ann.submit(assignment, a="x" * 66_000).status_code == 413
    assert ann.submit(assignment, a="x" * 2_000_000).status_code == 413
    assert ann.submit(assignment, a="x").status_code == 200


@pytest.mark.parametrize("line", [b"X-Many: 1\r\n", b"x" * 4096])
def test_a_head_that_does_not_end_is_refused(standing: Market, line: bytes) -> None:
    """400 after 64 KiB, in many headers or in one; memory is not the sender's."""
    host, _, port = standing.endpoint.removeprefix("http://").partition(":")
    with socket.create_connection((host, int(port)), timeout=20) as line_in:
        line_in.sendall(b"POST / HTTP/1.1\r\nHost: x\r\nX-Long: ")
        with contextlib.suppress(ConnectionError):
            for _ in range(200_000 // len(line)):
                line_in.sendall(line)
        with contextlib.suppress(ConnectionResetError):
            assert line_in.recv(65_536).startswith(b"HTTP/1.1 400 ")
    assert standing.http.get("/worker/hits").status_code == 401
