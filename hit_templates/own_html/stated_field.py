"""What a campaign file states about a field that its page or the files do not say."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from piecework.domain.field import FieldKind, FieldScope, MarkKind


@dataclass(frozen=True, slots=True, kw_only=True)
class StatedField:
    """What a campaign file states about one field of a page; `None`: not stated.

    Digests of tasks hold the `repr`; `stated_marks` adds what it leaves out.
    """

    kind: FieldKind | None = None
    label: str | None = None
    options: tuple[str, ...] | None = None
    minimum: float | None = None
    maximum: float | None = None
    step: float | None = None
    required: bool | None = None
    scope: FieldScope | None = None
    marks: MarkKind | None = field(default=None, repr=False)


def stated_marks(stated_fields: Mapping[str, StatedField]) -> tuple[tuple[str, MarkKind], ...]:
    """Return the fields that are stated to hold marks, with their kind, for a digest."""
    return tuple((name, each.marks) for name, each in stated_fields.items() if each.marks)
