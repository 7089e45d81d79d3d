"""How a call of an API can fail, and whether it may have had an effect.

A call that may have taken effect must never be repeated without checking first. The
`outcome` of each error says which case it is.
"""

import re
from typing import ClassVar, Literal

Outcome = Literal["refused", "lost"]
"""`refused`: no effect. `lost`: possibly an effect; check before repeating."""

_AT_MOST = 500
_BAD_TOKEN = 401
_ID = re.compile(r"\b[0-9a-fA-F]{24}(?:[0-9a-fA-F]{8})?\b")
"""Ids of people: 24 hexadecimal digits at Prolific, 32 at Connect."""


class ApiError(Exception):
    """A call failed.

    Attributes:
        outcome: whether the call can have had an effect at the service.
        may_pass: whether the same call may succeed later.
        wait_seconds: how long the service asks callers to wait, if it says so.
        next_step: what the user can do about it; may be empty.
    """

    outcome: ClassVar[Outcome]

    def __init__(
        self,
        message: str,
        *,
        next_step: str = "",
        may_pass: bool = False,
        wait_seconds: float | None = None,
    ) -> None:
        super().__init__(message)
        self.next_step, self.may_pass = next_step, may_pass
        self.wait_seconds = wait_seconds


class Refused(ApiError):  # noqa: N818 - the service's verdict, or our own before a call
    """The call had no effect: the service refused it, or it was never sent.

    Attributes:
        status: the HTTP status; `None` if there was no answer.
        detail: the service's full sentence, for programs. It may name participants, so
            the message leaves it out.
    """

    outcome = "refused"

    def __init__(
        self,
        message: str,
        *,
        status: int | None = None,
        detail: str = "",
        next_step: str = "",
        may_pass: bool = False,
        wait_seconds: float | None = None,
    ) -> None:
        super().__init__(message, next_step=next_step, may_pass=may_pass, wait_seconds=wait_seconds)
        self.status, self.detail = status, detail

    @property
    def is_final(self) -> bool:
        """Whether this call stays refused and others may succeed, unlike with a bad token."""
        return not self.may_pass and self.status != _BAD_TOKEN


class NoAccess(Refused):
    """401 or 404: the resource does not exist, or this token may not see it."""


class Throttled(Refused):
    """429: too many calls; this one had no effect."""


class Unreachable(Refused):
    """No connection could be made, so the call was not sent."""


class Unusable(Refused):
    """The request cannot be right, so it was not sent."""


class Lost(ApiError):  # noqa: N818 - what became of the call, not of us
    """The call may have had an effect: no reply came, or the service failed."""

    outcome = "lost"


class Unreadable(Lost):
    """The answer is not the service's, or lacks a documented field."""


def sentence(text: str, *, at_most: int = _AT_MOST) -> str:
    r"""Return untrusted text as one printable line, with ids replaced by `[id]`.

    >>> sentence("no such\n participant: 60ffe5c8371090c7041d43f8")
    'no such participant: [id]'
    """
    words = " ".join(_ID.sub("[id]", text).split())
    shown = "".join(letter if letter.isprintable() else "�" for letter in words)
    return shown if len(shown) <= at_most else f"{shown[:at_most]}…"
