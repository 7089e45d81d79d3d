"""Items, and the HITs that show them."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import PurePosixPath
from typing import Literal
from urllib.parse import urlsplit

from piecework.domain.ids import HitId, HitKey, HitTypeId, ItemId, QualificationTypeId

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

PICTURES = frozenset(
    {".avif", ".bmp", ".gif", ".jpeg", ".jpg", ".png", ".svg", ".webp"}
)
"""How names of files end that browsers show as pictures."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One thing to be worked on; `columns` holds all that its row said, id included."""

    item_id: ItemId
    columns: Mapping[str, str]

    @property
    def picture(self) -> str:
        """Where its picture is: its `url`, else the first cell that names one, else "".

        Its id does not count, which may be made of a picture's name without being one.

        >>> Item(item_id=ItemId("7"), columns={"id": "7", "photo": "a/b.jpg"}).picture
        'a/b.jpg'
        """
        if url := self.columns.get("url"):
            return url
        cells = (cell for cell in self.columns.values() if cell != self.item_id)
        return next((cell for cell in cells if is_picture(cell)), "")


def is_picture(cell: str) -> bool:
    """Whether a cell names a picture: an address or a file, by how its path ends."""
    try:
        return PurePosixPath(urlsplit(cell).path).suffix.lower() in PICTURES
    except ValueError:
        return False


@dataclass(frozen=True, slots=True, kw_only=True)
class QualificationRequirement:
    """Who may accept a HIT, in MTurk's terms.

    Attributes:
        integer_values: for comparisons with a number.
        locales: countries (`US`) or subdivisions (`US-WA`), for the locale type only.
        lets_look: who lacks it may see the HIT all the same, and so learn what there is
            to be had (a test); otherwise the HIT is hidden.
    """

    qualification_type_id: QualificationTypeId
    comparator: Comparator
    integer_values: tuple[int, ...] = ()
    locales: tuple[str, ...] = ()
    lets_look: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class HitType:
    """What HITs of one group share; the platform keeps equal ones as one.

    Attributes:
        expected_seconds: how long one HIT is expected to take, for workers to read;
            `None`: it is not said.
    """

    title: str
    description: str
    keywords: tuple[str, ...]
    reward_cents: int
    assignment_duration_seconds: int
    auto_approval_delay_seconds: int
    requirements: tuple[QualificationRequirement, ...]
    expected_seconds: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PostableTest:
    """A qualification test as the platform is given it.

    Attributes:
        name: unique for a requester.
        question_form: and `answer_key`, documents in MTurk's schemas.
        retry_seconds: after which it may be taken again; `None`: once only.
    """

    name: str
    description: str
    question_form: str
    answer_key: str
    duration_seconds: int
    retry_seconds: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedHit:
    """A HIT, or slots that are added to one, as we know it before and after the post.

    Attributes:
        round: 0 for the first posting of a batch, then one more for each replacement.
        reward_cents: and `fee_cents`, of one assignment, as they were when it was
            planned; a campaign file that changes later changes no HIT.
        max_assignments: slots that it has; of an extension, slots that it adds.
        item_ids: in the order shown.
        extends: the HIT that slots are added to; `None`: it is a HIT of its own. An
            extension never has a `hit_id`.
        hit_id: the platform's id, once it is known.
        looked_at: when it was last asked for answers while it was open.
    """

    hit_key: HitKey
    batch: int
    round: int
    max_assignments: int
    reward_cents: int
    fee_cents: int
    item_ids: tuple[ItemId, ...]
    extends: HitKey | None = None
    hit_type_id: HitTypeId | None = None
    hit_id: HitId | None = None
    posted_at: datetime | None = None
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
