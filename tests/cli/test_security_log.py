"""The security log of `piecework market serve`: who came in, who did not, who was paid."""

import json
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx
import pytest
from botocore.exceptions import ClientError

from piecework.marketplace.requester.signature import expected_signature, read_signature
from piecework.marketplace.state import accounts, clock
from piecework.marketplace.state.accounts import Key
from piecework.marketplace.workers import invitations
from tests.marketplace.live_market import Live, give, opened
from tests.marketplace.market import HIT_TYPE, QUESTION
from tests.marketplace.signing import send, with_header

if TYPE_CHECKING:
    from mypy_boto3_mturk import MTurkClient

ROOT = Path(__file__).resolve().parents[2]
CAPTION = "A caption that nobody else reads"
FLOOD = 400


@dataclass
class Scene:
    """A marketplace in a process of its own, with its log file.

    Attributes:
        live: it, with a requester's key.
        log: the file.
        secrets: what may stand in no line.
    """

    live: Live
    log: Path
    secrets: list[str] = field(default_factory=list)

    def lines(self) -> list[str]:
        """The security log so far: `event=... peer=...`."""
        text = self.log.read_text()
        return re.findall(r"^\S+ INFO (event=.*)$", text, re.MULTILINE)

    def invited(self, name: str) -> tuple[str, str]:
        """A new worker's id, and the code of the invitation."""
        new = accounts.NewWorker(handle=name, country="DE")
        with opened(self.live.database) as backend, backend.transaction() as inside:
            made = invitations.invite(inside, new, lifetime_ms=clock.DAY)
        self.secrets.append(made.code)
        return made.worker_id, made.code


@contextmanager
def serving(database: Path, key: Key, log: Path) -> Iterator[Scene]:
    """`piecework market serve` as a process."""
    command = [
        sys.executable,
        "-c",
        "from piecework.cli.main import main; main()",
        "market",
        "serve",
    ]
    command += ["--database", str(database), "--log-file", str(log)]
    command += ["--port", "0", "--frames-port", "0"]
    with (
        subprocess.Popen(
            command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        ) as process,
        httpx.Client() as http,
    ):
        try:
            assert process.stdout is not None
            (site,) = re.findall(r"marketplace at (\S+)", process.stdout.readline())
            yield Scene(Live(database, site, key, http), log, [key.secret])
        finally:
            process.send_signal(signal.SIGTERM)


@pytest.fixture
def scene(tmp_path: Path) -> Iterator[Scene]:
    """A marketplace with one requester."""
    database = tmp_path / "live.db"
    with serving(database, give(database), tmp_path / "serve.log") as scene:
        yield scene


def create(client: "MTurkClient", number: int) -> dict[str, Any]:
    """Post a HIT; no two calls are alike."""
    return dict(
        client.create_hit(
            **HIT_TYPE, LifetimeInSeconds=3600, Question=QUESTION, RequesterAnnotation=str(number)
        )["HIT"]
    )


def test_sign_ins_refusals_pay_and_exclusions_are_lines_without_secrets(scene: Scene) -> None:
    """One line each, in their order, with ids and the peer's address."""
    live = scene.live
    worker_id, code = scene.invited("ann")
    client = live.client()
    hits = [create(client, number) for number in range(2)]
    with httpx.Client(base_url=live.endpoint) as worker:
        assert worker.post("/worker/sign-in", data={"invitation": "x.y"}).is_error
        entered = worker.post("/worker/sign-in", data={"invitation": code})
        cookie = entered.headers["set-cookie"].partition(";")[0]
        scene.secrets.append(cookie.partition("=")[2])
        worker.headers["Accept"] = "application/json"
        done = []
        for hit in hits:
            way = f"/worker/groups/{hit['HITGroupId']}/accept"
            taken = worker.post(way, data={"hit_id": hit["HITId"]}).json()
            form = {"assignmentId": taken["assignment_id"], "caption": CAPTION}
            assert worker.post("/mturk/externalSubmit", data=form).status_code == 200
            done.append(str(taken["assignment_id"]))
        doubled = {"Cookie": f"{cookie}; {cookie}"}
        twice = httpx.get(f"{live.endpoint}/worker/hits", headers=doubled)
        assert twice.status_code == 401
        elsewhere = {"Origin": "https://evil.example"}
        assert worker.post("/worker/sign-out", headers=elsewhere).status_code == 403
        assert worker.post("/worker/sign-out").status_code == 200
    stranger = Key(access_key="STRANGER", secret=live.key.secret)
    with pytest.raises(ClientError):
        live.client(stranger).get_account_balance()
    forged = Key(access_key=live.key.access_key, secret=live.key.secret[::-1])
    with pytest.raises(ClientError):
        live.client(forged).get_account_balance()
    client.approve_assignment(AssignmentId=done[0], RequesterFeedback=CAPTION)
    client.reject_assignment(AssignmentId=done[1], RequesterFeedback=CAPTION)
    client.send_bonus(WorkerId=worker_id, AssignmentId=done[0], BonusAmount="0.25", Reason=CAPTION)
    client.create_worker_block(WorkerId=worker_id, Reason=CAPTION)
    client.delete_worker_block(WorkerId=worker_id)
    with pytest.raises(ClientError):
        client.approve_assignment(AssignmentId="3UNKNOWN")
    key, paid = f"key={live.key.access_key}", f"assignment={done[0]}"
    assert [line.removesuffix(" peer=127.0.0.1") for line in scene.lines()] == [
        "event=sign_in_refused type=InvitationRefused",
        f"event=signed_in worker={worker_id} by=invitation",
        "event=session_refused type=TwoSessions",
        "event=form_refused type=WrongOrigin",
        f"event=signed_out worker={worker_id}",
        "event=signature_refused type=UnrecognizedClientException key=STRANGER",
        f"event=signature_refused type=InvalidSignatureException {key}",
        f"event=paid operation=ApproveAssignment {key} {paid}",
        f"event=pay_refused operation=RejectAssignment {key} assignment={done[1]}",
        f"event=paid operation=SendBonus {key} {paid} worker={worker_id} amount=0.25",
        f"event=excluded operation=CreateWorkerBlock {key} worker={worker_id}",
        f"event=included operation=DeleteWorkerBlock {key} worker={worker_id}",
    ]
    assert all(line.endswith(" peer=127.0.0.1") for line in scene.lines())
    text = scene.log.read_text()
    assert not [secret for secret in [*scene.secrets, CAPTION] if secret in text]


def test_a_line_names_the_requester_who_was_let_in(scene: Scene) -> None:
    """Not a key that the caller wrote elsewhere in the signature's header."""
    worker_id, _ = scene.invited("ann")
    body = json.dumps({"WorkerId": worker_id, "Reason": "x"}).encode()
    call = scene.live.signed("CreateWorkerBlock", body)
    authorization = dict(call.headers)[b"authorization"].decode()
    credential = authorization.partition(" ")[2].partition(",")[0]
    other = "Credential=OTHER/20260105/us-east-1/mturk-requester/aws4_request"
    covered = authorization.partition("SignedHeaders=")[2].partition(",")[0]
    bent = f"AWS4-HMAC-SHA256 SignedHeaders={covered}; {other}, {credential}, Signature="
    unsigned = with_header(call, "authorization", f"{bent}x".encode())
    right = expected_signature(read_signature(unsigned), unsigned, secret=scene.live.key.secret)
    sent = with_header(call, "authorization", f"{bent}{right}".encode())
    assert send(scene.live.http, scene.live.endpoint, sent).status_code == 200
    [line] = scene.lines()
    assert f"operation=CreateWorkerBlock key={scene.live.key.access_key} " in line


@pytest.mark.full
def test_refused_calls_without_end_fill_no_disk_and_hide_nobody(scene: Scene) -> None:
    """A bound for all of a kind together; others' lines come through."""
    _, code = scene.invited("ann")
    call = scene.live.signed("GetAccountBalance", b"{}")
    headers = [
        (name, value.replace(scene.live.key.access_key.encode(), b"X" * 99 + b"\xe9"))
        for name, value in call.headers
    ]
    with httpx.Client() as http:
        for _ in range(FLOOD):
            http.post(scene.live.endpoint, content=b"{}", headers=headers)
        signed_in = http.post(f"{scene.live.endpoint}/worker/sign-in", data={"invitation": code})
    assert signed_in.status_code == 303
    refused, [last] = (
        [line for line in scene.lines() if f"event={event} " in line]
        for event in ("signature_refused", "signed_in")
    )
    # A minute's worth at once, and one a second after that.
    assert 60 <= len(refused) < FLOOD / 2
    assert "by=invitation" in last
    assert all("key=? " in line for line in refused)
