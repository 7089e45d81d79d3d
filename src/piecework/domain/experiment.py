"""A randomised experiment with the page: sentences about writing, and paste policies.

Each HIT gets an arm, and not each worker: the page is made before anyone accepts it.
"""

import json
import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Self

PastePolicy = Literal["allowed", "discouraged", "blocked"]
"""What a page does about pastes from elsewhere: nothing, ask workers not to, or refuse
them until a worker says that they need them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Arm:
    """One kind of page.

    Attributes:
        wording: a sentence that the page shows about writing; empty for none.
        paste: what it does about pastes.
    """

    wording: str = ""
    paste: PastePolicy = "allowed"

    def as_text(self) -> str:
        """Return the arm as the store keeps it; `from_text` reads it."""
        return json.dumps([self.paste, self.wording], ensure_ascii=False)

    @classmethod
    def from_text(cls, text: str) -> Self:
        """Return the arm of a text."""
        paste, wording = json.loads(text)
        return cls(wording=wording, paste=paste)


PLAIN = Arm()
"""The page without an experiment."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Experiment:
    """The arms, each wording with each policy.

    Attributes:
        wordings: the first is what others are compared with.
        pastes: the same.
    """

    wordings: tuple[str, ...]
    pastes: tuple[PastePolicy, ...]

    @property
    def arms(self) -> Sequence[Arm]:
        """All arms, those of the first wording first."""
        return [
            Arm(wording=wording, paste=paste) for wording in self.wordings for paste in self.pastes
        ]

    def arm_of(self, campaign: str, *, batch: int, round_: int, number: int) -> Arm:
        """Return the arm of a HIT, by its place in its round of its batch, from 1.

        Each block of as many HITs as there are arms has every arm once, in an order
        drawn for it and for the campaign's name. Batches begin at different places of such
        a block, so that small batches together have every arm too.
        """
        arms = self.arms
        series, offset = divmod(batch - 1, len(arms))
        block, place = divmod(offset + number - 1, len(arms))
        name = f"piecework experiment {campaign} 1 {round_} {series} {block}"
        order = random.Random(name).sample(range(len(arms)), len(arms))  # noqa: S311 - no secret
        return arms[order[place]]
