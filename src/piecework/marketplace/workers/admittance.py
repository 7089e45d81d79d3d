"""Who may work on a marketplace, and how they come in."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from piecework.marketplace.state.outside_crowd import OutsideCrowd

if TYPE_CHECKING:
    from piecework.signin.provider import Provider


@dataclass(frozen=True, slots=True, kw_only=True)
class Admittance:
    """How workers come in.

    Attributes:
        crowds: the markets that send workers as visitors.
        consent: the text, one string per paragraph, to which its other workers agree
            before their first HIT; empty for none.
        provider_at: makes the provider at which invited workers may sign in, from the
            address to which it sends them back; `None`: only links sign in.
    """

    crowds: Sequence[OutsideCrowd] = ()
    consent: Sequence[str] = ()
    provider_at: "Callable[[str], Provider] | None" = None
