"""The crowds of one marketplace: one for each market that sends people."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from piecework.marketplace.state.outside_crowd import OutsideCrowd


@dataclass(frozen=True, slots=True)
class Crowds:
    """The crowds, at least one, in the order in which they are served.

    Attributes:
        all: the crowds.
    """

    all: Sequence[OutsideCrowd]

    @property
    def titles(self) -> str:
        """The markets' display names, joined by "or"."""
        return " or ".join(crowd.market for crowd in self.all)

    def of_link(self, query: Mapping[str, str]) -> OutsideCrowd:
        """Return the crowd whose links have these parameters.

        It is the first crowd if no crowd's links have them; that crowd refuses the
        link.
        """
        for crowd in self.all:
            if set(crowd.link_names) <= set(query):
                return crowd
        return self.all[0]

    def of_market(self, name: str) -> OutsideCrowd:
        """Return the crowd of a market; the first if the market is not served."""
        return next((crowd for crowd in self.all if crowd.name == name), self.all[0])
