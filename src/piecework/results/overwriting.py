"""Keeps a person from replacing another person's label or word.

A page says with a decision what it showed of the label or word before. If that has changed
meanwhile, nothing is stored. Workers' decisions about words may be replaced by any reviewer.
"""

from piecework.domain.errors import ConfigError
from piecework.domain.verdicts import Label, WordVerdict
from piecework.store.database import to_text

Stored = Label | WordVerdict | None
"""What is decided about a label or a word; `None`: it is open."""

OPEN = "open"


class DecidedSince(Exception):  # noqa: N818 - not an error; another person was faster
    """A label or word is not as the page showed it.

    Attributes:
        stored: what is decided now.
    """

    def __init__(self, stored: Stored) -> None:
        super().__init__("decided since")
        self.stored = stored


def mark_of(stored: Stored) -> str:
    """Return what tells a decision from every other one: who made it, and when."""
    return OPEN if stored is None else f"{to_text(stored.reviewed_at)} {stored.reviewer}"


def may_replace(stored: Stored, *, by: str, is_requester: bool) -> bool:
    """Return whether a person may replace or remove a decision."""
    is_of_workers = isinstance(stored, WordVerdict) and stored.is_of_workers
    return stored is None or is_requester or is_of_workers or stored.reviewer == by


def refuse_overwriting(stored: Stored, *, by: str, seen: str, is_requester: bool) -> None:
    """Return if a person may decide now, in the transaction that stores the decision.

    Args:
        stored: what is decided now.
        by: the person.
        seen: `mark_of` what they saw.
        is_requester: whether the person may replace what others decided.

    Raises:
        DecidedSince: it is not what they saw.
        ConfigError: another person decided it.
    """
    if seen != mark_of(stored):
        raise DecidedSince(stored)
    if stored is not None and not may_replace(stored, by=by, is_requester=is_requester):
        raise ConfigError([f"{stored.reviewer} decided it; a requester can change it"])
