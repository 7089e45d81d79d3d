"""`serve --crowd prolific` as people run it: processes, keys, a kill in the middle."""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import boto3
import pytest
from botocore.exceptions import ClientError

from tests.marketplace.market import HIT_TYPE, QUESTION, free_port
from tests.prolific.bridge.town import Visitor
from tests.rehearsal.prolific.people import Researcher

PIECEWORK = Path(sys.executable).with_name("piecework")
TOKEN = "rehearsal-token"  # noqa: S105 - any word is one
_PATIENCE_SECONDS = 60.0


def _environment(url: str = "") -> dict[str, str]:
    return {**os.environ, "PROLIFIC_TOKEN": TOKEN, "PROLIFIC_URL": url}


@contextmanager
def _process(*words: str, url: str = "") -> Iterator["subprocess.Popen[str]"]:
    """A command that says in a line that it listens; killed at the end."""
    with subprocess.Popen(
        [PIECEWORK, *words],
        env=_environment(url),
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as process:
        try:
            assert process.stdout is not None
            assert " at http" in process.stdout.readline()
            yield process
        finally:
            process.kill()


class Served:
    """A marketplace's process, its requester, and a researcher who looks on."""

    def __init__(self, folder: Path, stack: ExitStack) -> None:
        self._database, self._stack = folder / "market.db", stack
        port = free_port()
        stack.enter_context(
            _process("prolific-emulator", "--port", str(port), "--participants", "0")
        )
        self.url = f"http://127.0.0.1:{port}"
        self.researcher = stack.enter_context(Researcher(self.url))
        self._ports = free_port(), free_port()
        self.endpoint = f"http://127.0.0.1:{self._ports[0]}"
        self.requester = self._requester()
        self.process = self.serve()

    def serve(self, *more: str) -> "subprocess.Popen[str]":
        """Start it, or start it again."""
        return self._stack.enter_context(
            _process(
                *("serve", "--database", str(self._database)),
                *("--port", str(self._ports[0])),
                *("--frames-port", str(self._ports[1])),
                *("--frames-url", f"http://localhost:{self._ports[1]}"),
                *("--crowd", "prolific", "--public-url", self.endpoint),
                *("--live", "--spend-at-most", "20", "--hits-per-visit", "2"),
                *("--settle-seconds", "0", *more),
                url=self.url,
            )
        )

    def _requester(self) -> Any:  # noqa: ANN401 - boto3's
        words = ("requester", "add", "Lab", "--balance", "100", "--currency", "GBP")
        given = subprocess.run(
            [PIECEWORK, *words, "--database", self._database],
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        key = dict(
            line.removeprefix("export ").split("=") for line in given.split("\n")[:2]
        )
        return boto3.client(
            "mturk",
            endpoint_url=self.endpoint,
            region_name="us-east-1",
            aws_access_key_id=key["AWS_ACCESS_KEY_ID"],
            aws_secret_access_key=key["AWS_SECRET_ACCESS_KEY"],
        )

    def post(self, hits: int, **changes: object) -> list[str]:
        """Post HITs of one type."""
        kind = self.requester.create_hit_type(**{**HIT_TYPE, **changes})["HITTypeId"]
        return [
            self.requester.create_hit_with_hit_type(
                HITTypeId=kind, Question=QUESTION, LifetimeInSeconds=3600
            )["HIT"]["HITId"]
            for _ in range(hits)
        ]

    def until(self, holds: Callable[[], object]) -> None:
        """Wait until the bridge has brought something about."""
        deadline = time.monotonic() + _PATIENCE_SECONDS
        while not holds():
            assert time.monotonic() < deadline, "the bridge has not done it"
            time.sleep(0.2)


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    """An emulator and a marketplace on it, each a process."""
    with ExitStack() as stack:
        yield Served(tmp_path, stack)


def test_a_kill_in_the_middle_of_a_visit_loses_nothing(served: Served) -> None:
    """An answer that was kept is there after it; the participant is paid once."""
    hit_ids = served.post(2)
    someone = Visitor(served.endpoint, served.researcher, country="GB")
    with someone.http:
        served.until(someone.studies)
        [study] = someone.studies()
        assert someone.arrive(study).status_code == 201
        assert someone.answer(caption="The first.")["answered"] == 1
        served.process.kill()
        served.process.wait()
        served.serve()
        visit = someone.answer(caption="The second.")
        assert visit["stage"] == "Done"
        someone.complete(someone.submission_id, visit["code"])
    for hit_id in hit_ids:
        [one] = served.requester.list_assignments_for_hit(HITId=hit_id)["Assignments"]
        assert "The " in one["Answer"]
        served.requester.approve_assignment(AssignmentId=one["AssignmentId"])
    served.until(
        lambda: (
            served.researcher.status(study) == "COMPLETED"
            and served.researcher.books()["submissions"][0]["status"] == "APPROVED"
        )
    )
    [paid] = served.researcher.books()["submissions"]
    assert paid["reward_paid"] == 110


def test_beyond_the_amount_requesters_are_refused_in_mturks_words(
    served: Served,
) -> None:
    """Twenty pounds are what may be spent, though the account has a hundred."""
    assert served.requester.get_account_balance()["AvailableBalance"] == "20.00"
    served.post(1, Reward="14.00")
    with pytest.raises(ClientError, match="insufficient funds"):
        served.post(1, Reward="1.00")
    served.until(lambda: served.researcher.get("/studies/")["results"])
