"""Without the offline markets, the commands that need them say what installs them."""

import subprocess
import sys

from tests.conftest import ROOT
from tests.for_each import for_each

_DEMO = str(ROOT / "config/campaigns/demo.toml")
_PROGRAM = """
import sys

class Hidden:
    @staticmethod
    def find_spec(name, path=None, target=None):
        if name.partition(".")[0] == "offline_markets":
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Hidden)
if sys.argv[1] == "import":
    import piecework.flows.rehearse, piecework.simulation.rehearsals.previous_rehearsal
else:
    from piecework.cli.main import main
    main()
"""


def _run(*words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", _PROGRAM, *words]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)


@for_each(
    ("words", "use"),
    [
        (("prolific-emulator",), "piecework prolific-emulator"),
        (("connect-emulator", "--help"), "piecework connect-emulator"),
        (("rehearse", _DEMO, "--crowd", "prolific"), "--crowd prolific"),
        (("rehearse", _DEMO, "--crowd", "panel", "--crowd", "connect"), "--crowd connect"),
    ],
)
def test_what_needs_the_offline_markets_is_refused_in_one_sentence(
    words: tuple[str, ...], use: str
) -> None:
    """With the command that installs them; nothing is started and no file is written."""
    done = _run(*words)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.splitlines() == [
        f"{use} needs offline_markets, which is not installed",
        "next: pip install 'piecework[offline-markets]'",
    ]


def test_other_rehearsals_load_nothing_of_the_offline_markets() -> None:
    """Nor does the help, which lists the commands that need them."""
    for word in ("import", "--help"):
        done = _run(word)
        assert done.returncode == 0, done.stderr
