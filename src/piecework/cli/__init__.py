"""The command `piecework`: words only, no work."""

import sys

if sys.platform == "win32":
    # Before a lock or a signal is imported that Windows has not: a sentence, no trace.
    sys.exit(
        "piecework runs on Linux and macOS, and not on Windows: its locks, signals and "
        "limits are theirs. On Windows run it in WSL (wsl --install)."
    )
