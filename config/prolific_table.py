"""`[requirements.prolific]`: what participants of Prolific answered, by filter."""

from typing import Annotated

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    StringConstraints,
    model_validator,
)

_Number = Annotated[int, Field(ge=0, le=1_000_000_000)]

FilterId = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9_-]{0,54}$")]
"""A filter of Prolific's, such as `first-language`."""

FilterChoices = Annotated[
    tuple[_Number, ...],
    Field(min_length=1, max_length=15),
]
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


ProlificTable = Annotated[
    dict[FilterId, FilterChoices | FilterRange], Field(max_length=6)
]
