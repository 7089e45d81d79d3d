"""The results of a doctor command: one check each, and how to fix it."""

from dataclasses import asdict, dataclass
from typing import Literal

from piecework.foundation.client.errors import ApiError

Level = Literal["ok", "warn", "fail"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """The result of one check.

    Attributes:
        name: what was checked, in a word or two.
        level: `ok`, `warn` (it may work) or `fail` (it will not work).
        sentence: what was found.
        next_step: how to fix it; empty if nothing has to be done.
    """

    name: str
    level: Level
    sentence: str
    next_step: str = ""

    def as_dict(self) -> dict[str, str]:
        """Return plain values, for `--json`."""
        return asdict(self)


def passed(name: str, sentence: str) -> Check:
    """Return a check that passed."""
    return Check(name=name, level="ok", sentence=sentence)


def failed(name: str, fault: ApiError) -> Check:
    """Return a check that failed because the call failed."""
    return Check(name=name, level="fail", sentence=str(fault), next_step=fault.next_step)
