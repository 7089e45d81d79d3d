"""Prints what a full lock has beyond `requirements.lock`: the extras of the image.

`make lock` pipes the lock of the extras `backup`, `oidc`, `prolific` and `sql` through
it. The image installs both files, so each pin is written once.
"""

import re
import sys
from pathlib import Path

RUN = Path(__file__).resolve().parents[1] / "requirements.lock"
"""The lock of what piecework needs to run."""

_ENTRY = re.compile(r"^(?P<pin>\S+==\S+).*\n(?:^    .*\n)*", re.MULTILINE)


def entries(lock: str) -> dict[str, str]:
    r"""Return the entries of a lock, with their hashes, by name and version.

    >>> list(entries("a==1 \\\n    --hash=sha256:0\nb==2 \\\n    --hash=sha256:1\n"))
    ['a==1', 'b==2']
    """
    return {match["pin"]: match[0] for match in _ENTRY.finditer(lock)}


def beyond(full: str, lock: str) -> str:
    """Return the entries of one lock that another lacks, as a lock."""
    known = entries(lock)
    return "".join(text for pin, text in entries(full).items() if pin not in known)


if __name__ == "__main__":
    sys.stdout.write(beyond(sys.stdin.read(), RUN.read_text(encoding="utf-8")))
