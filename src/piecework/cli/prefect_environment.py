"""Prefect's settings in the environment, set before anything imports Prefect."""

import contextlib
import os
from pathlib import Path

_DEFAULTS = {
    # Prefect sends no analytics, and this command alone reports a failure. A
    # deployment keeps its own log settings.
    "DO_NOT_TRACK": "1",
    "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
    "PREFECT_LOGGING_LEVEL": "CRITICAL",
    # The temporary server's messages are about its own pages; it retries automatically.
    "PREFECT_SERVER_LOGGING_LEVEL": "CRITICAL",
    # A page in a browser must not read or start flows of that server.
    "PREFECT_SERVER_CORS_ALLOWED_ORIGINS": "http://127.0.0.1",
    # The first server creates its tables in 17 to 28 s (measured); Prefect waits 20.
    "PREFECT_SERVER_EPHEMERAL_STARTUP_TIMEOUT_SECONDS": "120",
}


def set_defaults() -> None:
    """Set what the user has not set, and keep Prefect from creating ~/.prefect.

    Prefect creates its home when it is imported. An existing ~/.prefect, with its
    profiles, stays in use.
    """
    for name, value in _DEFAULTS.items():
        os.environ.setdefault(name, value)
    if not (Path.home() / ".prefect").exists():
        os.environ.setdefault("PREFECT_HOME", str(caches() / "prefect-home"))
        with contextlib.suppress(OSError):  # Prefect warns if it cannot create it
            caches().mkdir(parents=True, exist_ok=True)


def caches() -> Path:
    """Return the folder for what later commands reuse."""
    folder = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(folder) / "piecework"
