"""psiTurk in an environment of its own, driven line by line."""

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from piecework.marketplace.http.server import Running
from tests.clients.driven import Driven
from tests.clients.environments import UnavailableError, python_client

_DRIVER = Path(__file__).with_name("drivers") / "psiturk_driver.py"
# The botocore that psiTurk 3.3.1 pins imports names that Python 3.10 took away.
_PYTHONS = ("3.9",)


class PsiTurk:
    """One requester of psiTurk's."""

    def __init__(self, driven: Driven) -> None:
        self._driven = driven

    def answer(self, call: str, **arguments: object) -> dict[str, Any]:
        """The wrapper's response: status, data, and an exception if it caught one."""
        reply = self._driven.ask(call, **arguments)
        assert "error" not in reply, reply["error"]
        response: dict[str, Any] = reply["result"]
        return response

    def do(self, call: str, **arguments: object) -> Any:  # noqa: ANN401 - JSON
        """The data of a response that is a success."""
        response = self.answer(call, **arguments)
        assert response["status"] == "success", response
        return response["data"]

    def post(self, *, num_workers: int = 1) -> str:
        """A HIT; its id."""
        made = self.do("create_hit", num_workers=num_workers, reward=0.55, duration=1)
        return str(made["hit_id"])

    def hit(self, hit_id: str) -> dict[str, Any]:
        """What psiTurk shows of a HIT."""
        hit: dict[str, Any] = self.do("get_hit", hit_id=hit_id)
        return hit


@contextmanager
def psiturk_on(running: Running, home: Path) -> Iterator[PsiTurk]:
    """PsiTurk with an empty project, configured by variables as on a server.

    Args:
        running: a marketplace that stands in for Amazon's hosts.
        home: an empty folder.
    """
    try:
        python = python_client("psiturk", pythons=_PYTHONS) / "python"
    except UnavailableError as fault:
        pytest.skip(f"psiTurk is not here: {fault}")
    assert running.aws_proxy is not None
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        **running.aws_proxy.environment(),
        "AWS_ACCESS_KEY_ID": "P" + secrets.token_hex(8),
        "AWS_SECRET_ACCESS_KEY": "unused",
        "PSITURK_TITLE": "Describe a picture",
        "PSITURK_DESCRIPTION": "Say what it shows.",
        "PSITURK_KEYWORDS": "image, caption",
        "PSITURK_AD_URL_DOMAIN": "pictures.example",
    }
    words = [str(python), "-W", "ignore", str(_DRIVER)]
    with Driven(words, environment=environment, folder=home) as driven:
        yield PsiTurk(driven)
