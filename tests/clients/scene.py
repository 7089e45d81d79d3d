"""One requester's corner of a marketplace, and the AWS CLI as he types it.

What a command needs beforehand is made with boto3, which is quick; only the operation
under test goes through the command line. Every scene has a requester of its own, so
tests may run in any order.
"""

import json
import os
import secrets
import shlex
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.marketplace.market import Market, Worker, post

if TYPE_CHECKING:
    from mypy_boto3_mturk import MTurkClient


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What a command left behind."""

    exit_code: int
    printed: str
    complaint: str

    @property
    def document(self) -> dict[str, Any]:
        """The output, which must be JSON; nothing printed is an empty document."""
        assert self.exit_code == 0, self.complaint
        document: dict[str, Any] = json.loads(self.printed or "{}")
        return document

    def is_refused(self, *words: str) -> bool:
        """Whether it failed as the service's refusals fail, saying all these words."""
        # The CLI of generation 1 leaves with 255, that of generation 2 with 254.
        return self.exit_code in (254, 255) and all(word in self.complaint for word in words)


class Scene:
    """A requester with $10,000.00 and a command line."""

    def __init__(self, market: Market, aws: Path) -> None:
        self.market = market
        self.key = "C" + secrets.token_hex(8)
        self.boto: MTurkClient = market.requester(self.key)
        self._aws = aws

    def aws(self, command: str, **values: str) -> Reply:
        """Type `aws mturk <command>`; {names} in it are put in word by word."""
        words = [word.format(**values) for word in shlex.split(command)]
        done = subprocess.run(
            [str(self._aws), "mturk", *words, "--endpoint-url", self.market.endpoint],
            env=command_line_environment(self.key),
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )
        return Reply(exit_code=done.returncode, printed=done.stdout, complaint=done.stderr)

    def hit(self, **members: object) -> dict[str, Any]:
        """A posted HIT."""
        return post(self.boto, **members)

    def done_hit(self, **standing: object) -> tuple[dict[str, Any], Worker, str]:
        """A HIT, the worker who did it, and his assignment's id."""
        hit = self.hit()
        worker = self.market.worker(**standing)
        return hit, worker, worker.do(hit["HITGroupId"])

    def qualification_type(self, **members: object) -> str:
        """An own qualification type; its id."""
        values: dict[str, Any] = {
            "Name": f"Knows birds {secrets.token_hex(4)}",
            "Description": "Has named birds before.",
            "QualificationTypeStatus": "Active",
            **members,
        }
        made = self.boto.create_qualification_type(**values)
        return made["QualificationType"]["QualificationTypeId"]

    def asked(self, type_id: str) -> tuple[Worker, str]:
        """A worker who asked for a qualification, and the request's id."""
        worker = self.market.worker()
        reply = worker.http.post(f"/worker/qualifications/{type_id}/request")
        assert reply.is_success, reply.text
        pending = self.boto.list_qualification_requests(QualificationTypeId=type_id)
        return worker, pending["QualificationRequests"][0]["QualificationRequestId"]

    def held_dollars(self) -> str:
        """What is held for open HITs."""
        return self.boto.get_account_balance()["OnHoldBalance"]


def command_line_environment(key: str) -> dict[str, str]:
    """Variables of a user who keeps nothing in files."""
    return {
        "PATH": os.environ["PATH"],
        "HOME": "/nonexistent",
        "AWS_CONFIG_FILE": os.devnull,
        "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
        "AWS_ACCESS_KEY_ID": key,
        "AWS_SECRET_ACCESS_KEY": "unused",
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_MAX_ATTEMPTS": "1",
    }
