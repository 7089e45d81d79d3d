"""Items, the HITs that show them, and what a platform can do with HITs.

Capabilities and limits are facts about a platform, not settings. Campaign files are
checked against `MTURK`, because piecework posts everything through MTurk's requester
API. Code that runs on a platform uses that platform's own
(`platforms.mturk.MTurk.capabilities`).
"""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from hashlib import sha256
from pathlib import PurePosixPath
from typing import Literal
from urllib.parse import urlsplit

from piecework.domain.ids import HitId, HitKey, HitTypeId, ItemId, QualificationTypeId

PROLIFIC = "PROLIFIC"
"""How the id of a qualification type begins that is a filter of Prolific's.

The rest is the filter's id in capitals, without hyphens."""

Comparator = Literal[
    "LessThan",
    "LessThanOrEqualTo",
    "GreaterThan",
    "GreaterThanOrEqualTo",
    "EqualTo",
    "NotEqualTo",
    "Exists",
    "DoesNotExist",
    "In",
    "NotIn",
]

HitStatus = Literal["Assignable", "Unassignable", "Reviewable", "Reviewing", "Disposed"]

PICTURES = frozenset({".avif", ".bmp", ".gif", ".jpeg", ".jpg", ".png", ".svg", ".webp"})
"""Endings of file names that browsers show as pictures."""


def fill_in(*, is_text: bool) -> str:
    """Return what to do about an empty cell: programs that write texts leave some empty."""
    cell = 'write what workers shall read, such as "(no text)"' if is_text else "fill it in"
    return f"leave the row out, or {cell}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One thing to work on.

    Attributes:
        columns: its whole row, including the id.
        picture_columns: the columns that its page shows as pictures
            (`Task.shown_pictures`); `None`: not known, so any column may be.
    """

    item_id: ItemId
    columns: Mapping[str, str]
    picture_columns: Collection[str] | None = field(default=None, compare=False, repr=False)

    @property
    def picture(self) -> str:
        """Where its picture is: its `url`, else the first cell that names one, else "".

        A text may end as a picture's name does, so only columns of pictures count. The id
        does not: it may come from a picture's name without being one.

        >>> cells = {"id": "7", "step": "Open logo.png", "photo": "a/b.jpg"}
        >>> Item(item_id=ItemId("7"), columns=cells, picture_columns=("photo",)).picture
        'a/b.jpg'
        """
        if url := self.columns.get("url"):
            return url
        known = self.picture_columns
        named = (cell for name, cell in self.columns.items() if known is None or name in known)
        return next((cell for cell in named if cell != self.item_id and is_picture(cell)), "")


def is_picture(cell: str) -> bool:
    """Whether a cell is the address or file name of a picture, by its ending.

    >>> is_picture("https://e.org/a.jpg?x=1"), is_picture("a/Robin #3.jpg"), is_picture("a.jpg?")
    (True, True, False)
    """
    # A file's name may have the marks that end the path of an address.
    try:
        path = urlsplit(cell).path if "://" in cell or cell.startswith("//") else cell
    except ValueError:
        return False
    return PurePosixPath(path).suffix.lower() in PICTURES


def is_picture_file(name: str, endings: Collection[str] = PICTURES) -> bool:
    """Whether a file in a folder or bucket is a picture by its ending, and is not hidden.

    >>> is_picture_file("a/b.JPG"), is_picture_file("a/._b.jpg"), is_picture_file(".a/b.jpg")
    (True, False, False)
    """
    path = PurePosixPath(name)
    is_hidden = any(part.startswith(".") for part in path.parts)
    return path.suffix.lower() in endings and not is_hidden


@dataclass(frozen=True, slots=True, kw_only=True)
class QualificationRequirement:
    """Who may accept a HIT, in MTurk's terms.

    Attributes:
        integer_values: for comparisons with a number.
        locales: countries (`US`) or subdivisions (`US-WA`), for the locale type only.
        lets_look: workers without it may still see the HIT, and so learn that there is
            a test; otherwise the HIT is hidden.
    """

    qualification_type_id: QualificationTypeId
    comparator: Comparator
    integer_values: tuple[int, ...] = ()
    locales: tuple[str, ...] = ()
    lets_look: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """How visits are divided among the choices of one of Prolific's filters.

    Attributes:
        type_id: the qualification type that stands for the filter.
        percent: each choice with its per cent of the visits; together 100.
    """

    type_id: QualificationTypeId
    percent: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Recruiting:
    """Whom to recruit at Prolific, beyond requirements on its filters.

    Attributes:
        only: ids of the only participants who may come; empty: everybody may.
        never: ids of participants who may not come.
        shares: how the visits are divided.
    """

    only: tuple[str, ...] = ()
    never: tuple[str, ...] = ()
    shares: tuple[Share, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerLimit:
    """How many HITs one worker may do.

    Attributes:
        name: HIT types with a limit of the same name count together.
        most: how many HITs of these types one worker may do; `None`: all. They count
            in a limit that is stated later.
        is_of_batch: whether the limit is for one batch. HITs of batches with different
            names have different HIT types.
    """

    name: str
    most: int | None
    is_of_batch: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class HitType:
    """What the HITs of a group share; the platform treats equal HIT types as one.

    Attributes:
        expected_seconds: how long one HIT is expected to take, for workers to read;
            `None`: not stated.
        limits: how many HITs one worker may do; each limit applies.
        recruiting: whom to recruit at Prolific, if that is stated.
    """

    title: str
    description: str
    keywords: tuple[str, ...]
    reward_cents: int
    assignment_duration_seconds: int
    auto_approval_delay_seconds: int
    requirements: tuple[QualificationRequirement, ...]
    expected_seconds: int | None = None
    limits: tuple[WorkerLimit, ...] = ()
    recruiting: Recruiting | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PostableTest:
    """A qualification test as it is sent to the platform.

    Attributes:
        name: unique for a requester.
        question_form: and `answer_key`: documents in MTurk's schemas.
        retry_seconds: time after which it may be taken again; `None`: only once.
    """

    name: str
    description: str
    question_form: str
    answer_key: str
    duration_seconds: int
    retry_seconds: int | None = None

    @property
    def digest(self) -> str:
        """A digest of what workers have to do to pass, which equal tests share.

        White space does not count, nor the site that serves the form's pictures: a
        marketplace may get another address.
        """
        form, key = (" ".join(text.split()) for text in (self.question_form, self.answer_key))
        terms = (self.name, _SITE.sub("", form), key, self.duration_seconds, self.retry_seconds)
        return sha256(repr(terms).encode()).hexdigest()[:16]


_SITE = re.compile(r"(?<=<DataURL>)[^<]*?(?=/pictures/)")


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedHit:
    """A HIT, or slots added to one, before and after it is posted.

    Attributes:
        round: 0 for the first posting of a batch, plus one for each replacement.
        reward_cents: and `fee_cents`: of one assignment, as planned; later changes of
            the campaign file do not change a HIT.
        max_assignments: its slots; for an extension, the slots that it adds.
        item_ids: in the order shown.
        arm: what an experiment decided about its page (`domain.experiment`); empty for
            none, and for added slots.
        market: the market whose workers do it (`domain.crowds`); "" without [markets].
        extends: the HIT to which slots are added; `None` for a HIT itself. An extension
            never has a `hit_id`.
        hit_id: the platform's id, once known.
        lifetime_seconds: as it was posted: for how long it may be taken; 0 before, and
            of imported work.
        duration_seconds: as it was posted: how long the work on an assignment may last.
        auto_approval_seconds: as it was posted: how long after its submission the platform
            approves what was not decided; 0 as for `lifetime_seconds`.
        looked_at: when it was last checked for answers while it was open.
    """

    hit_key: HitKey
    batch: int
    round: int
    max_assignments: int
    reward_cents: int
    fee_cents: int
    item_ids: tuple[ItemId, ...]
    arm: str = ""
    market: str = ""
    extends: HitKey | None = None
    hit_type_id: HitTypeId | None = None
    hit_id: HitId | None = None
    posted_at: datetime | None = None
    lifetime_seconds: int = 0
    duration_seconds: int = 0
    auto_approval_seconds: int = 0
    looked_at: datetime | None = None
    collected_at: datetime | None = None

    @property
    def cost_cents(self) -> int:
        """The most that the HIT can cost: reward and fee of all its assignments."""
        return self.max_assignments * self.pay_cents

    @property
    def pay_cents(self) -> int:
        """Reward and fee of one assignment."""
        return self.reward_cents + self.fee_cents


@dataclass(frozen=True, slots=True, kw_only=True)
class PostedHit:
    """A HIT in a platform's listing.

    Attributes:
        annotation: the requester's own note on it; may be empty.
        slots: how many assignments it asks for.
        reward_cents: reward of one assignment.
        made_at: when it was posted.
        lifetime_seconds: for how long it may be taken; 0 if the platform does not say.
        duration_seconds: how long the work on an assignment may last.
        auto_approval_seconds: how long after its submission work is approved; 0 if the
            platform does not say.
        market: the market whose workers alone may do it; "" for no such limit.
    """

    annotation: str
    hit_id: HitId
    hit_type_id: HitTypeId
    slots: int
    reward_cents: int
    made_at: datetime
    lifetime_seconds: int
    duration_seconds: int
    auto_approval_seconds: int
    market: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Capabilities:
    """What one platform allows.

    Attributes:
        shortest_reason: and `longest_reason`: limits in characters of the reason that a
            worker reads for a rejection, for taking it back, or for a bonus.
        question_bytes: the longest question, in bytes of UTF-8.
        unreject_window: how long after a submission a rejection can be taken back;
            `None`: never.
        bonus_window: how long after a submission a bonus can be paid.
    """

    shortest_reason: int
    longest_reason: int
    question_bytes: int
    unreject_window: timedelta | None
    bonus_window: timedelta

    def allows_reason(self, reason: str) -> bool:
        """Whether a reason is one line with a length that the platform accepts."""
        return self.shortest_reason <= len(reason) <= self.longest_reason and reason.isprintable()


MTURK = Capabilities(
    shortest_reason=1,
    longest_reason=1024,  # RequesterFeedback, API reference of 2017-01-17
    question_bytes=65_535,  # Question, the same
    unreject_window=timedelta(days=30),  # ApproveAssignment, the same
    bonus_window=timedelta(days=183),  # six months, developer guide
)
"""MTurk's requester API, and every marketplace that speaks it."""
