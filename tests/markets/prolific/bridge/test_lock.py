"""Two bridges on one database would pay twice; the second is refused."""

import subprocess
import sys
from pathlib import Path

import pytest

from piecework.foundation.client.errors import Unusable
from piecework.markets.bridging.accounts import Running, only_bridge
from piecework.markets.prolific.bridge.serving import step
from tests.markets.prolific.bridge.town import Town

_HOLD = (
    "import sys; from pathlib import Path; "
    "from piecework.markets.bridging.accounts import only_bridge\n"
    "with only_bridge(Path(sys.argv[1]), 'Prolific'):\n"
    "    print('held', flush=True); sys.stdin.read()"
)


def test_a_second_process_is_refused_until_the_first_dies(tmp_path: Path) -> None:
    """The lock names its holder, and a killed process leaves none."""
    database = tmp_path / "market.db"
    with subprocess.Popen(
        [sys.executable, "-c", _HOLD, str(database)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "held\n"
        with (
            pytest.raises(Unusable, match=f"process {other.pid}"),
            only_bridge(database, "Prolific"),
        ):
            pass
        other.kill()
        other.wait()
    with only_bridge(database, "Prolific"):
        pass


def test_a_bridge_that_runs_holds_its_database(town: Town) -> None:
    """Whoever starts a second one is told, before it makes a step."""
    database = town.bridge.backend.database
    running = Running(town.bridge, step)
    with (
        only_bridge(database, "Prolific"),
        pytest.raises(Unusable, match="already serves it for Prolific"),
        running.running(),
    ):
        pass
    with (
        Running(town.bridge, step).running(),
        pytest.raises(Unusable),
        only_bridge(database, "Prolific"),
    ):
        pass
