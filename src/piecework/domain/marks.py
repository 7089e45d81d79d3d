"""Marks: how a store and its marketplace recognise a restored copy of each other.

A mark is `generation/count`: one state of one database. Each side keeps the last mark
that the other sent and asks for it when they meet again. A copy that was made before
that state does not have it.
"""

import re
from dataclasses import dataclass

_MARK = re.compile(r"([0-9a-f]{8})/([0-9]{1,10})")


@dataclass(slots=True)
class Marks:
    """The marks that a store and its marketplace exchange; shared by threads.

    Attributes:
        store: name of the store; "" until it and the marketplace have recognised each
            other: until then no marks are sent or kept.
        own: the store's current mark; each request carries it.
        heard: the newest mark of the marketplace in a reply.
        went_back: whether a reply carried an older mark after another start: the
            marketplace was restored from a copy while this process was at work.
    """

    store: str = ""
    own: str = ""
    heard: str = ""
    went_back: bool = False

    def hear(self, mark: str) -> None:
        """Take in the mark that a reply carries; replies may arrive in any order."""
        if not is_mark(mark):
            return
        if not self.heard or count(mark) > count(self.heard):
            self.heard = mark
        elif generation(mark) != generation(self.heard):
            self.went_back |= count(mark) < count(self.heard)


@dataclass(frozen=True, slots=True, kw_only=True)
class Meeting:
    """A marketplace's reply to a store that comes back to it.

    Attributes:
        account: the requester's account, the same in all copies of the marketplace.
        has_seen: whether it has the state that the store saw last.
        store_mark: the last mark that it received from the store; "" if none.
    """

    account: str
    has_seen: bool
    store_mark: str


def is_mark(text: str) -> bool:
    """Whether a text has the form of a mark.

    >>> is_mark("0123abcd/7"), is_mark("7")
    (True, False)
    """
    return _MARK.fullmatch(text) is not None


def generation(mark: str) -> str:
    """Return the generation of a mark."""
    return mark.split("/", maxsplit=1)[0]


def count(mark: str) -> int:
    """Return how many changes the database had counted at a mark."""
    return int(mark.split("/")[1])
