"""`[requirements.prolific]`: what participants of Prolific answered, by filter.

Two filters are lists of people, whose ids are in a file. A filter with choices may also
say how many per cent of the visits each of them gets.
"""

from typing import Annotated

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    StringConstraints,
    model_validator,
)

from piecework.config.named import Names

_WHOLE = 100

_Number = Annotated[int, Field(ge=0, le=1_000_000_000)]

FilterId = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9_-]{0,54}$")]
"""A filter of Prolific's, such as `first-language`."""

FilterChoices = Annotated[tuple[_Number, ...], Field(min_length=1, max_length=15)]
"""Numbers of a filter's choices."""


class FilterRange(BaseModel):
    """The ends of a filter's range, both included."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    at_least: _Number | None = None
    at_most: _Number | None = None

    @model_validator(mode="after")
    def _is_range(self) -> "FilterRange":
        if self.at_least is None and self.at_most is None:
            raise ValueError("state at_least, at_most or both")
        if None not in (self.at_least, self.at_most) and (
            (self.at_least or 0) > (self.at_most or 0)
        ):
            raise ValueError("at_least is above at_most")
        return self


class FilterShares(BaseModel):
    """Choices of a filter, and how many per cent of the visits each of them gets."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    choices: FilterChoices
    percent: tuple[Annotated[int, Field(ge=1, le=99)], ...]

    @model_validator(mode="after")
    def _adds_up(self) -> "FilterShares":
        if len(set(self.choices)) < len(self.choices):
            raise ValueError("choices names a choice twice")
        if len(self.percent) != len(self.choices):
            raise ValueError(
                f"there are {len(self.choices)} choices and {len(self.percent)} numbers in percent"
            )
        if sum(self.percent) != _WHOLE:
            raise ValueError(f"percent adds up to {sum(self.percent)}, not to 100")
        return self


class ParticipantFile(BaseModel):
    """A file with ids of participants, one on each line."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    file: Annotated[str, StringConstraints(min_length=1, max_length=200), Names.INPUT]


ALLOWED, BLOCKED = "custom_allowlist", "custom_blocklist"
"""Prolific's filters with ids of participants."""


def _are_lists(table: dict[str, object]) -> dict[str, object]:
    for name, value in table.items():
        is_list = name in (ALLOWED, BLOCKED)
        if is_list != isinstance(value, ParticipantFile):
            raise ValueError(
                f"{name} takes {{ file = ... }}"
                if is_list
                else f"{name} takes no file; {ALLOWED} and {BLOCKED} do"
            )
    return table


ProlificTable = Annotated[
    dict[FilterId, FilterChoices | FilterRange | FilterShares | ParticipantFile],
    Field(max_length=6),
    AfterValidator(_are_lists),
]
