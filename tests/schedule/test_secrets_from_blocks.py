"""Secrets from Prefect's blocks reach a run as its environment, and nothing else."""

import json
import subprocess
import sys
import time
from pathlib import Path

import httpx
import pytest

from tests.schedule.prefect_apart import PrefectApart, prefect_apart

pytestmark = [pytest.mark.flow, pytest.mark.full]

_FLOW = """
from pathlib import Path
from prefect import flow
from piecework.config.user_files import with_secrets
from piecework.platforms.client import turk_client

@flow
def look(to: str) -> None:
    client = turk_client("http://127.0.0.1:9", access_key=None, secret_key=None)
    keys = client._request_signer._credentials
    url = with_secrets("postgresql://w:${WAREHOUSE_PASSWORD}@host/labels")
    Path(to).write_text(f"{keys.access_key} {keys.secret_key} {url}")
"""
_YAML = """
name: secrets
pull: []
deployments:
  - {name: look, entrypoint: "%s/look.py:look", work_pool: {name: piecework}}
"""
_BLOCKS = """
from prefect.blocks.system import Secret
Secret(value="p@ss").save("warehouse")
Secret(value={"access_key_id": "AKIA1", "secret_access_key": "hidden"}).save("market")
"""
_ENVIRONMENT = {
    "WAREHOUSE_PASSWORD": "{{ prefect.blocks.secret.warehouse }}",
    "PIECEWORK_ACCESS_KEY_ID": "{{ prefect.blocks.secret.market.access_key_id }}",
    "PIECEWORK_SECRET_ACCESS_KEY": ("{{ prefect.blocks.secret.market.secret_access_key }}"),
}


def test_a_pool_fills_the_environment_from_blocks(tmp_path: Path) -> None:
    """As docs/how-to/schedule.md says; the server's pages show only the lines."""
    written = tmp_path / "written.txt"
    (tmp_path / "look.py").write_text(_FLOW)
    (tmp_path / "prefect.yaml").write_text(_YAML % tmp_path)
    with prefect_apart(tmp_path / "home") as prefect:
        prefect.server()
        subprocess.run([sys.executable, "-c", _BLOCKS], env=prefect.environment, check=True)
        pool = {"name": "piecework", "type": "process"}
        httpx.post(f"{prefect.api}/work_pools/", json=pool, timeout=30)
        template = json.loads(
            prefect.run(*("work-pool", "get-default-base-job-template", "--type", "process"))
        )
        template["variables"]["properties"]["env"]["default"] = _ENVIRONMENT
        file = tmp_path / "pool.json"
        file.write_text(json.dumps(template))
        prefect.run("work-pool", "update", "piecework", "--base-job-template", file)
        prefect.run(
            *("--no-prompt", "deploy", "--all", "--prefect-file"), tmp_path / "prefect.yaml"
        )
        prefect.worker()
        prefect.run("deployment", "run", "look/look", "--param", f"to={written}")
        _until_written(written, prefect)
        assert written.read_text() == ("AKIA1 hidden postgresql://w:p%40ss@host/labels")
        shown = [prefect.read(f"{what}/filter") for what in ("flow_runs", "deployments")]
        shown.append(httpx.get(f"{prefect.api}/work_pools/piecework", timeout=30).json())
        assert "p@ss" not in json.dumps(shown)
        assert "hidden" not in json.dumps(shown)
        assert "prefect.blocks.secret.warehouse" in json.dumps(shown)


def _until_written(path: Path, prefect: PrefectApart) -> None:
    until = time.monotonic() + 240
    while not path.exists():
        assert time.monotonic() < until, prefect.log_tail("worker")
        time.sleep(0.5)
