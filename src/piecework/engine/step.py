"""A step of a pass: it reads once what is due, and carries it out."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from piecework.campaign.opened import OpenedCampaign
from piecework.engine.reader import Reader

_T = TypeVar("_T")
_Due = TypeVar("_Due")
_Opened = TypeVar("_Opened", bound=OpenedCampaign)


class Call(Protocol):
    """Runs a step by its name; gives what the step gives."""

    def __call__(self, name: str, step: Callable[[], _T], /) -> _T:
        """Run the step once."""
        ...


def call_plainly(_name: str, step: Callable[[], _T], /) -> _T:
    """Run a step, and nothing around it."""
    return step()


@dataclass(frozen=True, slots=True)
class Step(Generic[_Opened, _Due]):
    """One verb of a pass.

    Attributes:
        name: the verb.
        due: reads what is to be done; a value that is false if nothing is.
        act: does it, and gives a number that the log explains
            (`piecework.engine.passes`).
    """

    name: str
    due: Callable[[Reader], _Due]
    act: Callable[[_Opened, _Due], int]

    def __call__(
        self,
        opened: _Opened,
        reader: Reader | None = None,
        *,
        call: Call = call_plainly,
    ) -> int:
        """Do what is due, if anything is.

        Args:
            opened: the campaign.
            reader: of the pass; a new one without.
            call: what runs the step if something is due.
        """
        due = self.due(reader or Reader(opened))
        return call(self.name, lambda: self.act(opened, due)) if due else 0
