"""A Prefect server with the settings that are shipped answers nobody else."""

import os
import subprocess
from pathlib import Path

import httpx
import pytest

from tests.schedule.prefect_apart import ROOT, prefect_apart

pytestmark = [pytest.mark.flow, pytest.mark.full]

EVIL = "https://evil.example"


def _shipped() -> dict[str, str]:
    """config/prefect.env as a shell reads it."""
    script = "set -a; . config/prefect.env; env -0"
    done = subprocess.run(
        ["sh", "-c", script],
        capture_output=True,
        check=True,
        cwd=ROOT,
        env={"PATH": os.environ["PATH"], "PIECEWORK_PREFECT_AUTH": "ada:a secret"},
    )
    pairs = (setting.partition("=") for setting in done.stdout.decode().split("\0"))
    return {name: value for name, _, value in pairs if name.startswith("PREFECT_")}


def test_the_shipped_settings_need_a_secret_of_ones_own() -> None:
    """Without it the shell stops: nobody runs an open server by accident."""
    done = subprocess.run(
        ["sh", "-c", "set -a; . config/prefect.env"],
        capture_output=True,
        check=False,
        cwd=ROOT,
        env={"PATH": os.environ["PATH"]},
    )
    assert done.returncode != 0
    assert b"PIECEWORK_PREFECT_AUTH" in done.stderr


def test_a_web_page_can_start_no_pass(tmp_path: Path) -> None:
    """It has no secret, and the browser is told that it may not even ask."""
    with prefect_apart(tmp_path / "prefect", _shipped()) as prefect:
        prefect.server()
        read = f"{prefect.api}/flow_runs/filter"
        page = {"Origin": EVIL}
        assert httpx.post(read, json={}, headers=page).status_code == 401
        asked = {
            **page,
            "Access-Control-Request-Method": "POST",
            "Access-Control-Request-Headers": "authorization,content-type",
        }
        reply = httpx.options(read, headers=asked)
        assert reply.headers.get("access-control-allow-origin") not in {"*", EVIL}
        assert httpx.post(read, json={}, auth=("ada", "a secret")).status_code == 200
