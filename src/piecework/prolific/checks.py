"""What a look before use finds: one line for each thing, and what to do about it."""

from dataclasses import asdict, dataclass
from typing import Literal

from piecework.prolific.http.errors import ProlificError

Level = Literal["ok", "warn", "fail"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One thing that was looked at.

    Attributes:
        name: of the thing, in a word or two.
        level: `ok`; `warn`, it may do; `fail`, it will not do.
        sentence: what was seen.
        next_step: what helps; empty where nothing has to be done.
    """

    name: str
    level: Level
    sentence: str
    next_step: str = ""

    def as_dict(self) -> dict[str, str]:
        """Plain values, for `--json`."""
        return asdict(self)


def passed(name: str, sentence: str) -> Check:
    """A thing that is in order."""
    return Check(name=name, level="ok", sentence=sentence)


def failed(name: str, fault: ProlificError) -> Check:
    """A thing that could not be looked at."""
    return Check(
        name=name, level="fail", sentence=str(fault), next_step=fault.next_step
    )
