"""A step of a pass: it reads once what is due and does it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from piecework.campaign.opened import OpenedCampaign
from piecework.engine.snapshot import Reader
from piecework.engine.watching.pass_watcher import Watch
from piecework.foundation.tracing.spans import span

_T = TypeVar("_T")
_Due = TypeVar("_Due")
_Opened = TypeVar("_Opened", bound=OpenedCampaign)


class Call(Protocol):
    """Run a step by its name and return its result."""

    def __call__(self, name: str, step: Callable[[], _T], /) -> _T:
        """Run the step once."""
        ...


def call_plainly(_name: str, step: Callable[[], _T], /) -> _T:
    """Run a step without any wrapper."""
    return step()


def timed(call: Call, watch: Watch) -> Call:
    """Wrap `call` so that each step is timed, for metrics and for a trace."""

    def call_timed(name: str, step: Callable[[], _T], /) -> _T:
        with span(f"step {name}", is_shared=True):
            return watch.time_step(name, lambda: call(name, step))

    return call_timed


@dataclass(frozen=True, slots=True)
class Step(Generic[_Opened, _Due]):
    """One verb of a pass.

    Attributes:
        name: the verb.
        due: reads what to do; the value is false if there is no work to do.
        act: does it, and returns a number that the log explains
            (`piecework.engine.run_pass`).
    """

    name: str
    due: Callable[[Reader], _Due]
    act: Callable[[_Opened, _Due], int]

    def __call__(
        self, opened: _Opened, reader: Reader | None = None, *, call: Call = call_plainly
    ) -> int:
        """Do what is due, if any.

        Args:
            opened: the campaign.
            reader: the reader of the pass; a new one by default.
            call: runs the step if something is due.
        """
        due = self.due(reader or Reader(opened))
        return call(self.name, lambda: self.act(opened, due)) if due else 0
