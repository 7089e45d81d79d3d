"""What the people of different markets have in common when they arrive and return."""

from abc import abstractmethod
from collections.abc import Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from piecework.marketplace.state.outside_crowd import OutsideCrowd
from piecework.markets.bridging.admission import Admission, Limits, Register

_CONSENT = (
    (
        "Your answers go to the researchers named above, for the purpose described "
        "here. They do not see your name or {identity}, only a number that "
        "stands for you on this site."
    ),
    (
        "Please write nothing in your answers that could identify you or others. You "
        "may stop at any time before the end; your answers are then not used."
    ),
    (
        "The pages may record how you enter your answers, such as pauses, the times "
        "between keys, and how much is typed or pasted. They do not record what you "
        "delete or paste."
    ),
)


def usual_consent(identity: str) -> tuple[str, ...]:
    """Return the paragraphs that people agree to, if the requester states no others.

    Args:
        identity: what researchers do not see, such as "your Prolific ID".
    """
    return tuple(text.format(identity=identity) for text in _CONSENT)


C = TypeVar("C")


@dataclass(frozen=True, slots=True)
class AdmittedCrowd(OutsideCrowd, Generic[C]):
    """People of a market that is asked about each arrival, within limits.

    Attributes:
        clients: clients with their own transports and little patience.
        consent: what participants agree to before they begin.
        limits: how many calls arriving people may cause.
        pool: where calls wait; None for threads of its own.
    """

    clients: Sequence[C]
    consent: Sequence[str] = field(default=(), kw_only=True)
    limits: Limits = field(default_factory=Limits, kw_only=True)
    pool: Executor | None = field(default=None, kw_only=True)
    _admission: Admission = field(init=False)

    def __post_init__(self) -> None:
        registers = [self.register(client) for client in self.clients]
        admission = Admission(self.market, registers, self.limits, pool=self.pool)
        object.__setattr__(self, "_admission", admission)

    @abstractmethod
    def register(self, client: C) -> Register:
        """Return what the market says about arrivals."""

    def close(self) -> None:
        """Let go of the threads."""
        self._admission.close()
