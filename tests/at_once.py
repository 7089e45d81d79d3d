"""Real processes that do the same to a new file at the same instant."""

import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PROCESSES = 4
FILES = 4

_SCRIPT = """
import sys, time
from pathlib import Path
{imports}
folder = Path(sys.argv[1])
for number in range({files}):
    print("ready", flush=True)
    while not (folder / f"gate-{{number}}").exists():
        time.sleep(0.0002)
    path = folder / f"{{number}}.db"
    {opening}
"""


def complaints_of_opening(imports: str, opening: str, folder: Path) -> list[str]:
    """What each of several processes says on stderr that open new files together.

    Args:
        imports: what the opening needs.
        opening: a statement that opens the file at `path` and closes it.
        folder: where the files go.
    """
    script = _SCRIPT.format(imports=imports, opening=opening, files=FILES)
    with ExitStack() as stack:
        started = [
            stack.enter_context(
                subprocess.Popen(
                    [sys.executable, "-c", script, str(folder)],
                    cwd=ROOT,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,
                    text=True,
                )
            )
            for _ in range(PROCESSES)
        ]
        for number in range(FILES):
            for process in started:
                assert process.stdout is not None
                process.stdout.readline()  # empty, if it has ended with a complaint
            (folder / f"gate-{number}").touch()
        return [process.communicate(timeout=240)[1] for process in started]
