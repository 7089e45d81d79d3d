"""What a campaign file states about a field that its page or the files do not say."""

from dataclasses import dataclass

from piecework.domain.field import FieldKind, FieldScope, MarkKind


@dataclass(frozen=True, slots=True, kw_only=True)
class StatedField:
    """What a campaign file states about one field of a page; `None`: not stated.

    Digests of tasks hold the `repr`.
    """

    kind: FieldKind | None = None
    label: str | None = None
    options: tuple[str, ...] | None = None
    minimum: float | None = None
    maximum: float | None = None
    step: float | None = None
    required: bool | None = None
    scope: FieldScope | None = None
    marks: MarkKind | None = None
