"""`[experiment]` of a campaign file: which pages are compared, at random."""

import unicodedata
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
from piecework.domain.experiment import PastePolicy


def _shown(value: str) -> str:
    if any(unicodedata.category(letter) in {"Cc", "Cs"} for letter in value):
        raise ValueError("write a sentence on one line, without control characters")
    return value


_Wording = Annotated[
    str,
    StringConstraints(strip_whitespace=True, max_length=500),
    AfterValidator(_shown),
    Names.NOTHING,
]


class ExperimentTable(BaseModel):
    """`[experiment]`: sentences about writing, and what happens to pastes."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    wordings: Annotated[tuple[_Wording, ...], Field(min_length=1, max_length=4)] = ("",)
    paste: Annotated[tuple[PastePolicy, ...], Field(min_length=1, max_length=3)] = ("allowed",)
    seed: Annotated[int, Field(ge=0)] = 1

    @model_validator(mode="after")
    def _compares_something(self) -> "ExperimentTable":
        for name in ("wordings", "paste"):
            values = getattr(self, name)
            if len(set(values)) < len(values):
                raise ValueError(f"{name} states something twice")
        if len(self.wordings) * len(self.paste) == 1:
            raise ValueError(
                "there is nothing to compare; state several wordings, or several values of paste"
            )
        return self
