"""How a call of Prolific's API fails: what a caller must know is what has happened.

Prolific has no idempotency key, so a call that may have happened must never be made
again without a look. Each error says which it is, by its `outcome`.
"""

import re
from typing import ClassVar, Literal

Outcome = Literal["refused", "lost"]
"""`refused`: nothing has happened. `lost`: it may have; look before a repeat."""

_AT_MOST = 500
_ID = re.compile(r"\b[0-9a-fA-F]{24}\b")


class ProlificError(Exception):
    """A call did not give what was asked for.

    Attributes:
        outcome: whether anything can have happened at Prolific.
        may_pass: whether the same call may go through later.
        wait_seconds: how long Prolific asks to be left alone, if it said so.
        next_step: what a person can do about it; may be empty.
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


class Refused(ProlificError):  # noqa: N818 - Prolific's verdict, or our own before a call
    """Nothing has happened: Prolific said no, or the call never left.

    Attributes:
        status: of the answer; `None` if there was none.
        detail: Prolific's sentence whole, for programs. It may name participants, so
            it is no part of the message.
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
        super().__init__(
            message, next_step=next_step, may_pass=may_pass, wait_seconds=wait_seconds
        )
        self.status, self.detail = status, detail


class NoAccess(Refused):
    """401 or 404: it is not there, or this token may not see it; both look alike."""


class Throttled(Refused):
    """429: too much at once; nothing was done."""


class Unreachable(Refused):
    """No connection was made, so nothing was sent."""


class Unusable(Refused):
    """What was to be sent cannot be right, so it was not sent."""


class Lost(ProlificError):  # noqa: N818 - what became of the call, not of us
    """It may have happened: the reply did not come, or Prolific failed on the way."""

    outcome = "lost"


class Unreadable(Lost):
    """An answer came that is not Prolific's, or lacks what Prolific promises."""


def sentence(text: str, *, at_most: int = _AT_MOST) -> str:
    r"""A stranger's text as one printable line, ids of people and things left out.

    >>> sentence("no such\n participant: 60ffe5c8371090c7041d43f8")
    'no such participant: [id]'
    """
    words = " ".join(_ID.sub("[id]", text).split())
    shown = "".join(letter if letter.isprintable() else "�" for letter in words)
    return shown if len(shown) <= at_most else f"{shown[:at_most]}…"
