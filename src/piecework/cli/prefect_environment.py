"""What Prefect is told by the environment, before anything imports it."""

import contextlib
import os
from pathlib import Path

_DEFAULTS = {
    # Nothing is sent to anybody, and what fails is said once, by this command. A
    # deployment logs as Prefect is told to.
    "DO_NOT_TRACK": "1",
    "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
    "PREFECT_LOGGING_LEVEL": "CRITICAL",
    # Its temporary server keeps what is for its pages alone; it tries again by itself.
    "PREFECT_SERVER_LOGGING_LEVEL": "CRITICAL",
    # No page that is open in a browser is to read or start flows of that server.
    "PREFECT_SERVER_CORS_ALLOWED_ORIGINS": "http://127.0.0.1",
    # A first temporary server makes its tables: 17 to 28 s measured, Prefect waits 20.
    "PREFECT_SERVER_EPHEMERAL_STARTUP_TIMEOUT_SECONDS": "120",
}


def set_defaults() -> None:
    """Set what the user has not set, and let Prefect make no home where none is.

    Prefect makes its home as it is imported. A user's home, with its profiles, stays in
    use.
    """
    for name, value in _DEFAULTS.items():
        os.environ.setdefault(name, value)
    if not (Path.home() / ".prefect").exists():
        os.environ.setdefault("PREFECT_HOME", str(caches() / "prefect-home"))
        with contextlib.suppress(OSError):  # Prefect warns if it cannot make its own
            caches().mkdir(parents=True, exist_ok=True)


def caches() -> Path:
    """The folder for what a later command uses again."""
    folder = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(folder) / "piecework"
