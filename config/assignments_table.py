"""`posting.assignments` of a campaign file: a number, or as many as needed."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Discriminator, Field, Tag, model_validator


class AssignmentsTable(BaseModel):
    """`posting.assignments` as a table: as many answers as an item needs."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    least: Annotated[int, Field(ge=1, le=99)]
    most: Annotated[int, Field(ge=2, le=100)]
    # A label's probability never exceeds 1 - `analyses.ability.SHARED_ERROR`.
    until: Annotated[float, Field(gt=0.5, le=0.95)] = 0.95

    @model_validator(mode="after")
    def _may_grow(self) -> "AssignmentsTable":
        if self.most <= self.least:
            raise ValueError("most must be more than least; for a fixed number, write it alone")
        return self


def _number_or_table(value: object) -> str:
    return "branch[table]" if isinstance(value, dict) else "branch[number]"


Assignments = Annotated[
    Annotated[int, Field(ge=1, le=100), Tag("branch[number]")]
    | Annotated[AssignmentsTable, Tag("branch[table]")],
    Discriminator(_number_or_table),
]
"""A union with tags, so that errors are only about the branch that was meant."""
