"""A library that an extra installs is missing: one sentence says what to run."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT, in_full

_BLOCKED = """
import sys
for module in ("HanTa", "distributed", "offline_markets", "pycountry"):
    sys.modules[module] = None
from piecework.cli.main import main
main(sys.argv[1:])
"""
"""Python takes a module whose place holds None for one that is not installed."""

_OFFLINE = ("offline_markets", "offline-markets")
_DEMO = str(ROOT / "config/campaigns/demo.toml")


@pytest.mark.parametrize(
    ("words", "use", "module", "extra"),
    [
        (["market", "serve", "--crowd", "prolific"], "--crowd prolific", "pycountry", "prolific"),
        (["market", "prolific", "emulator"], "piecework market prolific emulator", *_OFFLINE),
        (
            ["rehearse", _DEMO, "--crowd", "panel", "--crowd", "connect"],
            "--crowd connect",
            *_OFFLINE,
        ),
        *in_full(
            (
                ["market", "connect", "emulator", "--help"],
                "piecework market connect emulator",
                *_OFFLINE,
            ),
            (["rehearse", _DEMO, "--crowd", "prolific"], "--crowd prolific", *_OFFLINE),
            (["data", "describe", "captions.txt"], "piecework data describe", "HanTa", "describe"),
            (["rehearse", _DEMO, "--dask", "local"], "--dask", "distributed", "dask"),
        ),
    ],
)
def test_a_missing_extra_is_named(
    words: list[str], use: str, module: str, extra: str, tmp_path: Path
) -> None:
    """The command ends with what to install, and no traceback."""
    (tmp_path / "captions.txt").write_text("a cat on a mat\n", encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-c", _BLOCKED, *words],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.stderr.strip().splitlines() == [
        f"{use} needs {module}, which is not installed",
        f"next: pip install 'piecework[{extra}]'",
    ]
    assert done.returncode == 2


def test_other_rehearsals_need_no_offline_market() -> None:
    """What `rehearse` loads after it has read the campaign is loaded without."""
    loaded = "import piecework.flows.rehearse, piecework.simulation.rehearsals.campaign\n"
    program = _BLOCKED.replace("main(sys.argv[1:])\n", loaded)
    subprocess.run([sys.executable, "-c", program], check=True, timeout=120)
