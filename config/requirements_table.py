"""`[requirements]` of a campaign file: who may work."""

import re
from typing import Annotated

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    StringConstraints,
    model_validator,
)

from piecework.config.earned_table import EarnedName
from piecework.config.named import Names
from piecework.config.prolific_table import ProlificTable
from piecework.domain.hit import Comparator

_Words = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1), Names.NOTHING]


def _country(value: str) -> str:
    if not re.fullmatch(r"[A-Za-z]{2}(-[A-Za-z0-9]{2})?", value):
        raise ValueError('write a country as "US" or a subdivision as "US-WA"')
    return value.upper()


Country = Annotated[str, AfterValidator(_country), Names.NOTHING]

CampaignPath = Annotated[
    str, StringConstraints(pattern=r"^\S(.*\S)?\.toml$", max_length=200), Names.DEFINITION
]
"""Another campaign's file, relative to this one."""


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class QualificationTable(_Strict):
    """`[[requirements.qualification]]`: any requirement in MTurk's own terms."""

    id: _Words
    comparator: Comparator
    values: tuple[Annotated[int, Field(ge=0, le=1_000_000_000)], ...] = ()

    @model_validator(mode="after")
    def _values_fit(self) -> "QualificationTable":
        # MTurk's rules for qualification requirements (API reference).
        least, most = {"Exists": (0, 0), "DoesNotExist": (0, 0)}.get(
            self.comparator, (1, 15) if self.comparator in {"In", "NotIn"} else (1, 1)
        )
        if not least <= len(self.values) <= most:
            raise ValueError(
                f"comparator {self.comparator} takes {least} to {most} values, "
                f"not {len(self.values)}"
            )
        return self


class RequirementsTable(_Strict):
    """`[requirements]`: who may work."""

    approved_hits_above: Annotated[int, Field(ge=0, le=1_000_000_000)] | None = None
    approval_rate_at_least: Annotated[int, Field(ge=0, le=100)] | None = None
    countries: Annotated[tuple[Country, ...], Field(max_length=30)] = ()
    exclusion_name: _Words | None = None
    workers: Annotated[int, Field(ge=1, le=1_000_000)] | None = None
    max_hits_per_worker: Annotated[int, Field(ge=1, le=1_000_000)] | None = None
    max_hits_per_worker_per_batch: Annotated[int, Field(ge=1, le=1_000_000)] | None = None
    qualification: Annotated[tuple[QualificationTable, ...], Field(max_length=6)] = ()
    only_workers_of: Annotated[tuple[CampaignPath, ...], Field(max_length=3)] = ()
    no_workers_of: Annotated[tuple[CampaignPath, ...], Field(max_length=3)] = ()
    earned: Annotated[tuple[EarnedName, ...], Field(max_length=3)] = ()
    not_earned: Annotated[tuple[EarnedName, ...], Field(max_length=3)] = ()
    prolific: ProlificTable = {}

    @model_validator(mode="after")
    def _wants_no_opposites(self) -> "RequirementsTable":
        if both := set(self.earned) & set(self.not_earned):
            raise ValueError(f"earned and not_earned both name {min(both)!r}")
        return self
