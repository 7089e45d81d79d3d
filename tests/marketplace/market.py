"""What a marketplace's customers can do, as objects for tests."""

import secrets
import socket
from contextlib import ExitStack, suppress
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import boto3
import httpx
from botocore.config import Config
from botocore.exceptions import ClientError

if TYPE_CHECKING:
    from mypy_boto3_mturk import MTurkClient

START = datetime(2026, 1, 5, 9, tzinfo=UTC)
SCHEMAS = "http://mechanicalturk.amazonaws.com/AWSMechanicalTurkDataSchemas"
QUESTION = (
    f'<HTMLQuestion xmlns="{SCHEMAS}/2011-11-11/HTMLQuestion.xsd"><HTMLContent>'
    "<![CDATA[<!doctype html><title>A question</title><p>What is it?]]>"
    "</HTMLContent><FrameHeight>0</FrameHeight></HTMLQuestion>"
)
HIT_TYPE: dict[str, Any] = {
    "Title": "Describe a picture",
    "Description": "Say what it shows.",
    "Keywords": "image, caption",
    "Reward": "0.55",
    "AssignmentDurationInSeconds": 600,
    "AutoApprovalDelayInSeconds": 3600,
}

UNUSED = "unused"  # signatures are not checked

_session = boto3.session.Session(
    aws_access_key_id="unused", aws_secret_access_key=UNUSED, region_name="us-east-1"
)


class Worker:
    """A simulated worker as a program."""

    def __init__(self, endpoint: str, **standing: object) -> None:
        self.http = httpx.Client(base_url=endpoint)
        attributes = {"handle": secrets.token_hex(8), "country": "US", **standing}
        reply = self.http.post("/rehearsal/workers", json=attributes)
        reply.raise_for_status()
        self.worker_id: str = reply.json()["worker_id"]
        self.token: str = reply.json()["token"]
        self.http.cookies.set("worker_session", self.token)
        self.http.headers["accept"] = "application/json"

    def groups(self) -> list[dict[str, Any]]:
        """What he is offered."""
        groups: list[dict[str, Any]] = self.http.get("/worker/hits").json()["hit_groups"]
        return groups

    def accept(self, group_id: str, **form: str) -> httpx.Response:
        """Take a HIT of the group."""
        return self.http.post(f"/worker/groups/{group_id}/accept", data=form)

    def give_back(self, assignment_id: str) -> httpx.Response:
        """Return a HIT."""
        return self.http.post(f"/worker/assignments/{assignment_id}/return")

    def submit(self, assignment_id: str, **fields: str | list[str]) -> httpx.Response:
        """Send the form of a question."""
        form = {"assignmentId": assignment_id, **(fields or {"caption": "A red bird."})}
        return self.http.post("/mturk/externalSubmit", data=form)

    def do(self, group_id: str, **fields: str) -> str:
        """Accept and submit; the assignment's id."""
        reply = self.accept(group_id)
        assert reply.status_code == 201, reply.text
        assignment_id: str = reply.json()["assignment_id"]
        assert self.submit(assignment_id, **fields).status_code == 200
        return assignment_id


class Market:
    """A rehearsing marketplace as its customers see it."""

    def __init__(self, endpoint: str, frames: str) -> None:
        self.endpoint = endpoint
        self.frames = frames
        self.http = httpx.Client(base_url=endpoint)
        self._clients: dict[str, MTurkClient] = {}
        self._open = ExitStack()
        self._open.callback(self.http.close)

    def close(self) -> None:
        """Let go of all connections."""
        self._open.close()

    def requester(self, access_key: str = "") -> "MTurkClient":
        """A requester whom nobody met before, unless named again; never retries."""
        key = access_key or "T" + secrets.token_hex(8)
        if key not in self._clients:
            client = _session.client(
                "mturk",
                endpoint_url=self.endpoint,
                aws_access_key_id=key,
                aws_secret_access_key=UNUSED,
                config=Config(retries={"total_max_attempts": 1}, parameter_validation=False),
            )
            self._open.callback(client.close)
            self._clients[key] = client
        return self._clients[key]

    def worker(self, **standing: object) -> Worker:
        """A worker whom nobody met before, unless a handle says otherwise."""
        worker = Worker(self.endpoint, **standing)
        self._open.callback(worker.http.close)
        return worker

    def now(self) -> datetime:
        """Virtual time."""
        reply = self.http.get("/rehearsal/clock").json()
        return datetime.fromisoformat(reply["now"])

    def wait(self, **duration: float) -> None:
        """Let virtual time pass."""
        moment = self.now() + timedelta(**duration)
        self.http.put("/rehearsal/clock", json={"now": moment.isoformat()}).raise_for_status()

    def books(self) -> dict[str, Any]:
        """The whole state."""
        all_books: dict[str, Any] = self.http.get("/rehearsal/books").json()
        return all_books

    def set_faults(self, *faults: dict[str, Any]) -> httpx.Response:
        """Script faults."""
        return self.http.put("/rehearsal/faults", json=list(faults))


def post(client: "MTurkClient", **parameters: object) -> dict[str, Any]:
    """Post a HIT of the usual type, with other values where they are given."""
    values: dict[str, Any] = {
        **HIT_TYPE,
        "LifetimeInSeconds": 86_400,
        "Question": QUESTION,
        **parameters,
    }
    return dict(client.create_hit(**values)["HIT"])


_HELD: list[socket.socket] = []


def free_port() -> int:
    """A port on which nothing answers, kept for a server that this test starts.

    A socket holds it until the tests end, so the system gives it to no other program.
    It does not listen, so a server that may share the address can still listen there.
    """
    held = socket.socket()
    held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    held.bind(("127.0.0.1", 0))
    _HELD.append(held)
    return int(held.getsockname()[1])


def free_ports() -> int:
    """A port as `free_port` holds it, and the next one is free too."""
    while True:
        first = free_port()
        held = socket.socket()
        held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        with suppress(OSError):
            held.bind(("127.0.0.1", first + 1))
            _HELD.append(held)
            return first
        held.close()


def expire(client: "MTurkClient", hit_id: str, at: object = 0) -> None:
    """Change a HIT's expiry; 0 is the past, as many clients send it."""
    parameters: dict[str, Any] = {"HITId": hit_id, "ExpireAt": at}
    client.update_expiration_for_hit(**parameters)


def refusal(fault: ClientError) -> tuple[str, str, str]:
    """Type, TurkErrorCode and message of a refused call."""
    error = fault.response["Error"]
    turk_code = str(fault.response.get("TurkErrorCode", ""))
    return (error["Code"], turk_code.removeprefix("AWS.MechanicalTurk."), error["Message"])
