"""What a person gets wrong around a command is said in a sentence, with exit code 2."""

import os
import traceback
from datetime import UTC, datetime
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from piecework.cli.main import main
from piecework.marketplace.http.server import Marketplace, serve
from tests.small_campaign import CAMPAIGN


def _result_of(*words: object) -> Result:
    done = CliRunner().invoke(main, [str(word) for word in words])
    kept = traceback.format_exception(done.exception) if done.exception else []
    assert isinstance(done.exception, SystemExit | None), "".join(kept)
    return done


@pytest.fixture
def campaign(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The small campaign of the crash suite, and keys for it."""
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "A-REQUESTER")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "no secret")
    path = tmp_path / "crash.toml"
    path.write_text(CAMPAIGN)
    rows = "".join(f"p{n},https://example.org/{n}.jpg\n" for n in range(1, 5))
    (tmp_path / "items.csv").write_text("image_id,url\n" + rows)
    return path


def test_who_only_reads_the_store_needs_no_credentials(
    campaign: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A profile that is not there ends a pass, and neither `status` nor `export`."""
    with serve(
        Marketplace(
            tmp_path / "marketplace.db",
            rehearsal=True,
            seed=1,
            start=datetime(2026, 1, 5, 9, tzinfo=UTC),
        )
    ) as running:
        advance = ("run", "--once", campaign, "--endpoint", running.endpoint_url)
        monkeypatch.setenv("AWS_PROFILE", "nope")
        refused = _result_of(*advance)
        assert refused.exit_code == 2
        assert "The config profile (nope) could not be found" in refused.output
        monkeypatch.delenv("AWS_PROFILE")
        assert _result_of(*advance).exit_code == 0
    monkeypatch.setenv("AWS_PROFILE", "nope")
    assert _result_of("status", campaign).exit_code == 0
    # It reads the store, and says what is missing there.
    assert "no answers came in yet" in _result_of("export", campaign).output


@pytest.mark.parametrize("seconds", ["-1", "0", "nan", "inf", "1e12", "soon"])
def test_a_wait_is_between_a_tenth_of_a_second_and_a_day(campaign: Path, seconds: str) -> None:
    """Anything else would be a traceback hours later, or a wait without an end."""
    endpoint = ("--endpoint", "http://127.0.0.1:1")
    done = _result_of("run", campaign, *endpoint, "--poll-seconds", seconds)
    assert done.exit_code == 2
    assert "--poll-seconds" in done.output


@pytest.mark.parametrize("endpoint", ["http://exa mple", "http://x_y", "http://a..b"])
def test_a_live_endpoint_that_is_no_address_is_said(campaign: Path, endpoint: str) -> None:
    """Before anybody is asked for money."""
    live = ("--live", "--spend-at-most", "20")
    done = _result_of("run", "--once", campaign, "--endpoint", endpoint, *live)
    assert done.exit_code == 2
    assert "is not an address" in done.output


def test_what_fails_inside_the_temporary_server_is_not_printed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It tries again by itself; a person would read tracebacks about its own pages."""
    monkeypatch.setenv("PREFECT_SERVER_LOGGING_LEVEL", "")  # put back afterwards
    monkeypatch.delenv("PREFECT_SERVER_LOGGING_LEVEL")
    _result_of("status", tmp_path / "nothing.toml")
    assert os.environ["PREFECT_SERVER_LOGGING_LEVEL"] == "CRITICAL"
