"""Which code made a dataset: the commit if there is one, else the version."""

import subprocess
from functools import cache
from importlib.metadata import version
from pathlib import Path

_ROOT = Path(__file__).resolve().parents[3]


@cache
def code_version() -> str:
    """Return the commit of the checkout, marked if files have changed since.

    >>> len(code_version()) > 0
    True
    """
    # If installed, the code may be in an environment inside another repository.
    commit = _git("rev-parse", "HEAD") if (_ROOT / ".git").exists() else ""
    if not commit:
        return f"piecework {version('piecework')}"
    return f"{commit} with local changes" if _git("status", "--porcelain") else commit


def _git(*words: str) -> str:
    try:
        done = subprocess.run(  # noqa: S603 - fixed words, no shell
            ["git", "-C", str(_ROOT), *words],  # noqa: S607 - git of the path
            capture_output=True,
            text=True,
            timeout=10,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""
