"""What a marketplace knows of the continuous backup of its database.

The backup itself is made elsewhere: this package only shows how far it is behind.
"""

from typing import Protocol


class Distance(Protocol):
    """The distance between the database and its replica."""

    @property
    def seconds(self) -> float:
        """Age of the oldest commit that the replica lacks; 0 if it lacks none."""

    @property
    def commits(self) -> int:
        """How many commits the replica lacks."""

    @property
    def is_running(self) -> bool:
        """Whether the last attempt to complete the replica succeeded."""


class Replica(Protocol):
    """A continuous backup."""

    def distance(self) -> Distance:
        """Return how far it is behind now."""
