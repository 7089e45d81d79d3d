"""A study's internal name, by which the bridge finds it again at the other market.

It contains the identity that all copies of the marketplace's file share, and the
generation that created the study, so no copy repeats a name.
"""

import re
from dataclasses import dataclass
from typing import Self

from piecework.marketplace.state import lineage
from piecework.marketplace.state.transaction import Transaction

_NAME = re.compile(
    r"piecework (?P<hit_type_id>\w+) (?P<number>\d+) "
    r"(?P<identity>\w{8})-(?P<generation>\w{8})( (?P<qualification_type_id>\w+))?"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyName:
    """The parts of a study's internal name.

    Attributes:
        identity: the identity of the marketplace's file and its copies.
        generation: the generation of the file that created the study.
        qualification_type_id: the type with the test it pays for; "" in other studies.
    """

    hit_type_id: str
    number: int
    identity: str
    generation: str
    qualification_type_id: str = ""

    @classmethod
    def new(
        cls,
        transaction: Transaction,
        hit_type_id: str,
        number: int,
        qualification_type_id: str = "",
    ) -> Self:
        """Return the name for a new study."""
        return cls(
            hit_type_id=hit_type_id,
            number=number,
            identity=lineage.identity(transaction),
            generation=lineage.current(transaction),
            qualification_type_id=qualification_type_id,
        )

    @classmethod
    def read(cls, internal_name: str | None) -> Self | None:
        """Parse a name; None if it is not in piecework's format."""
        match = _NAME.fullmatch(internal_name or "")
        if match is None:
            return None
        return cls(
            hit_type_id=match["hit_type_id"],
            number=int(match["number"]),
            identity=match["identity"],
            generation=match["generation"],
            qualification_type_id=match["qualification_type_id"] or "",
        )

    def __str__(self) -> str:
        words = f"piecework {self.hit_type_id} {self.number}"
        name = f"{words} {self.identity}-{self.generation}"
        return f"{name} {self.qualification_type_id}".rstrip()
