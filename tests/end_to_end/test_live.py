"""`--live` as installed: keys sign the calls, and are never written down.

A marketplace on 127.0.0.2 is another machine's to `piecework`, which knows its own by
three names only.
"""

import os
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from piecework.marketplace.http.server import Marketplace, serve
from tests.end_to_end.conftest import ROOT
from tests.small_campaign import write_campaign

pytestmark = [pytest.mark.flow, pytest.mark.full]

PATIENT = {"PREFECT_SERVER_EPHEMERAL_STARTUP_TIMEOUT_SECONDS": "300"}
"""A new home is made ready first, which takes long on a busy machine."""
SECRET = "Sup3rS3cretKeyOfTheTestThatNobodyMayRead"  # noqa: S105 - it is grepped for


@pytest.fixture
def campaign(tmp_path: Path) -> Path:
    """The small campaign: $2.40 plain, $9.60 at worst, cap $20."""
    return write_campaign(tmp_path)


@pytest.fixture
def elsewhere(tmp_path: Path) -> Iterator[str]:
    """URL of a marketplace that is not at a loopback name."""
    with serve(
        Marketplace(
            tmp_path / "marketplace.db",
            rehearsal=True,
            seed=1,
            start=datetime(2026, 1, 5, 9, tzinfo=UTC),
            host="127.0.0.2",
        )
    ) as running:
        yield running.endpoint_url


def _deployed(campaign: Path, endpoint: str, more: str = "") -> None:
    campaign.with_suffix(".deployment.toml").write_text(
        f'endpoint = "{endpoint}"\nlive = true\nspend_at_most = "5"\n{more}\n'
    )


def test_the_secret_is_in_no_store_log_or_message(
    campaign: Path, elsewhere: str, tmp_path: Path
) -> None:
    """A pass at the noisiest level: the key signs, and is found nowhere after."""
    home = tmp_path / "prefect"
    _deployed(campaign, elsewhere)
    done = subprocess.run(
        [
            *(sys.executable, "-c"),
            ("import sys\nfrom piecework.flows.advance import advance\nadvance(sys.argv[1])\n"),
            campaign,
        ],
        capture_output=True,
        timeout=600,
        check=False,
        cwd=ROOT,
        env={
            **os.environ,
            "PREFECT_HOME": str(home),
            **PATIENT,
            "PREFECT_LOGGING_LEVEL": "DEBUG",
            "PREFECT_LOGGING_ROOT_LEVEL": "DEBUG",
            "AWS_ACCESS_KEY_ID": "A-KEY-OF-THE-TEST",
            "AWS_SECRET_ACCESS_KEY": SECRET,
        },
    )
    assert done.returncode == 0, done.stderr
    assert SECRET.encode() not in done.stdout + done.stderr
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert any(path.name == "piecework.db" for path in files)
    assert any(path.suffix == ".db" and home in path.parents for path in files)
    assert [path for path in files if SECRET.encode() in path.read_bytes()] == []


def test_keys_in_a_prefect_block_sign_the_calls(
    campaign: Path, elsewhere: str, tmp_path: Path
) -> None:
    """A flow without an environment finds them by the block's name, or says so."""
    script = (
        "from prefect.blocks.system import Secret\n"
        "from piecework.flows.advance import advance\n"
        "import sys\n"
        "Secret(value={'access_key_id': 'A-KEY', 'secret_access_key': sys.argv[2]})"
        ".save('market')\n"
        "from pathlib import Path\n"
        "print(advance(sys.argv[1])['hits_posted'])\n"
        "file = Path(sys.argv[1]).with_suffix('.deployment.toml')\n"
        "file.write_text(file.read_text().replace('market', 'other'))\n"
        "advance(sys.argv[1])\n"
    )
    _deployed(campaign, elsewhere, 'credentials_block = "market"')
    environment = {name: value for name, value in os.environ.items() if "AWS" not in name}
    done = subprocess.run(
        [sys.executable, "-c", script, campaign, SECRET],
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
        cwd=ROOT,
        env={
            **environment,
            "PREFECT_HOME": str(tmp_path / "prefect"),
            **PATIENT,
            "HOME": str(tmp_path),
        },
    )
    assert done.stdout.splitlines()[-1] == "1", done.stderr
    assert "there is no Prefect block secret/other" in done.stderr
    assert SECRET not in done.stdout + done.stderr
    assert SECRET.encode() not in (campaign.parent / "out/crash/piecework.db").read_bytes()
