"""The command `piecework`: its arguments, options, output and exit codes."""

import sys
from pathlib import Path

if sys.platform == "win32":
    # A later import would fail with a traceback: Windows lacks some locks and signals.
    sys.exit(
        "piecework runs on Linux and macOS, and not on Windows, which lacks the locks, "
        "signals and limits that it uses. On Windows, run it in WSL (wsl --install)."
    )

_PACKAGE = Path(__file__).parents[1]
_LOST_LINKS = [
    name
    for name in ("config", "flows", "hit_templates", "postprocess", "qc")
    if not (_PACKAGE / name).is_dir()
]
if _LOST_LINKS:
    sys.stderr.write(
        f"{_PACKAGE}: {', '.join(_LOST_LINKS)} should be links to folders and are "
        "not: a ZIP of the repository, or a disk without symbolic links, turns them "
        "into files\n"
        "next: git clone the repository onto a disk that has symbolic links, or pip "
        "install the wheel\n"
    )
    sys.exit(2)
