"""Somebody who is invited to a marketplace, as a command or a file names the person."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from piecework.marketplace.state.accounts import NewWorker

_LONGEST_NAME = 100
_LETTERS = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Person:
    """A person to invite.

    Attributes:
        name: the house's own; requesters never see it.
        country: two letters; `subdivision` two of a state, or "".
        adult: agreed to adult content.
        master: is one of the masters.
    """

    name: str
    country: str
    subdivision: str
    adult: bool
    master: bool

    def as_worker(self) -> "NewWorker":
        """The person as the marketplace lets one in."""
        from piecework.marketplace.state.accounts import NewWorker

        return NewWorker(
            handle=self.name,
            country=self.country.upper(),
            subdivision=self.subdivision.upper() or None,
            is_adult=self.adult,
            is_master=self.master,
        )


def faults_of(person: Person) -> list[str]:
    """What is wrong with a person's name or country, a phrase each."""
    faults = []
    if not _is_name(person.name):
        faults.append(f"name must be 1 to {_LONGEST_NAME} printable characters")
    if not _is_two_letters(person.country):
        faults.append("country must be two letters, as ISO 3166 has them")
    if person.subdivision and not _is_two_letters(person.subdivision):
        faults.append("subdivision must be two letters")
    return faults


def _is_name(name: str) -> bool:
    return bool(name.strip()) and name.isprintable() and len(name) <= _LONGEST_NAME


def _is_two_letters(text: str) -> bool:
    return len(text) == _LETTERS and text.isascii() and text.isalpha()
