"""`[[earned]]` of a campaign file: qualifications that workers earn by good work."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, model_validator

from piecework.config.named import Names

_Line = StringConstraints(
    strip_whitespace=True, min_length=1, max_length=100, pattern=r"^[^\x00-\x1f\x7f]*$"
)

EarnedName = Annotated[str, _Line, Names.NOTHING]
"""The name of an earned qualification."""


class EarnedTable(BaseModel):
    """`[[earned]]`: what earns a qualification, and what loses it."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: EarnedName
    kind: Annotated[str, _Line, Names.NOTHING]
    agreement: Annotated[float, Field(gt=0.5, le=1)] = 0.9
    over: Annotated[int, Field(ge=5, le=1000)] = 50
    revoke_below: Annotated[float, Field(ge=0, le=1)] = 0.8
    forget_after_days: Annotated[int, Field(ge=1, le=3650)] = 180
    records: Annotated[
        str, StringConstraints(strip_whitespace=True, min_length=1, max_length=200), Names.OUTPUT
    ] = "earned.db"

    @model_validator(mode="after")
    def _keeps_what_it_grants(self) -> "EarnedTable":
        if self.revoke_below > self.agreement:
            raise ValueError(
                f"revoke_below = {self.revoke_below:g} is above agreement = "
                f"{self.agreement:g}: a qualification would be lost as it is earned"
            )
        return self
