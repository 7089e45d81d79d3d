"""`piecework review` as a command, and the page behind TLS for a team."""

import signal
import ssl
import subprocess
import sys
from pathlib import Path

import httpx
import pytest
from click.testing import CliRunner

from piecework.cli.main import main
from piecework.domain.clock import SystemClock
from piecework.review.desk import Manner
from piecework.review.server import Address, bound_to
from tests.marketplace.certificates import self_signed
from tests.review import stores
from tests.review.conftest import served_at

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["--listen", "0.0.0.0"], 3, "could decide who is paid"),  # noqa: S104 - refused
        (["--by", "ada", "--reviewer", "grace"], 2, "give one"),
        (["--by", "policy:birds"], 2, "policy:"),
        (["--reviewer", "ada", "--reviewer", " ada"], 2, "the same name"),
        (["--twice", "2"], 2, "range"),
        (["--url", "http://review.example.org"], 3, "could decide who is paid"),
        (["--url", "https://review.example.org/a"], 2, "give it as https://NAME"),
    ],
    ids=lambda words: " ".join(words) if isinstance(words, list) else None,
)
def test_what_would_be_unsafe_or_makes_no_sense_is_refused(
    tmp_path: Path, words: list[str], code: int, message: str
) -> None:
    """With a sentence, before anything listens."""
    with stores.opened(tmp_path, workers=1, items=2) as run:
        path = str(run.campaign.path)
        result = CliRunner().invoke(main, ["review", path, *words])
    assert result.exit_code == code
    assert message in result.output


@pytest.mark.full
def test_the_command_shows_a_link_and_ends_by_ctrl_c(tmp_path: Path) -> None:
    """The link leads to the page; interrupted, the process goes within seconds."""
    with stores.opened(tmp_path, workers=1, items=2) as run:
        path = str(run.campaign.path)
    run_main = "from piecework.cli.main import main; main()"
    command = [sys.executable, "-c", run_main, "review", path, "--by", "ada"]
    with subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.PIPE, text=True
    ) as server:
        assert server.stdout is not None
        link = server.stdout.readline().removeprefix("open ").strip()
        url, _, token = link.partition("/enter#")
        with httpx.Client(base_url=url, headers={"Origin": url}) as ada:
            assert ada.get("/enter").status_code == 200
            ada.post("/enter", data={"token": token}).raise_for_status()
            assert "2 answers wait for a person" in ada.get("/").text
        server.send_signal(signal.SIGINT)
        assert server.wait(timeout=60) in {0, 130}


def test_a_team_reviews_behind_tls_with_a_link_each(tmp_path: Path) -> None:
    """The cookie is the host's alone, and never sent in the clear."""
    certificate = self_signed(tmp_path, now=SystemClock().now())
    address = Address(certificate=certificate, reviewers=("ada", "grace"))
    with (
        stores.opened(tmp_path, workers=1, items=2) as run,
        bound_to(address) as listening,
        served_at(run, address, Manner(), listening) as page,
    ):
        trusted = ssl.create_default_context(cafile=str(certificate.chain))
        assert page.url.startswith("https://127.0.0.1:")
        token = page.links["grace"].partition("#")[2]
        with httpx.Client(
            base_url=page.url, headers={"Origin": page.url}, verify=trusted
        ) as grace:
            cookie = grace.post("/enter", data={"token": token}).headers["set-cookie"]
            assert cookie.startswith("__Host-")
            assert "Secure" in cookie
            assert ">grace<" in grace.get("/").text
