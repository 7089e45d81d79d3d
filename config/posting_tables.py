"""Tables of a campaign file about what is posted, where and how often.

`answers` is a number, or as many as needed; `markets` names the markets that
HITs go to; `[experiment]` compares pages at random; `[gold]` mixes in items with known
answers; `[machine]` is what models say about the items. Labels of models join people's
votes; texts of models are samples, with which people's texts are compared.
"""

import unicodedata
from typing import Annotated

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    StringConstraints,
    Tag,
    model_validator,
)

from piecework.config.named import Names, as_list
from piecework.domain.crowds import MARKETS, Market
from piecework.domain.experiment import PastePolicy
from piecework.domain.text import did_you_mean


class AnswersTable(BaseModel):
    """`answers` as a table: as many answers as an item needs."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    least: Annotated[int, Field(ge=1, le=99)]
    most: Annotated[int, Field(ge=2, le=100)]
    # A label's probability never exceeds 1 - `analyses.labels_from_votes.SHARED_ERROR`.
    until: Annotated[float, Field(gt=0.5, le=0.95)] = 0.95

    @model_validator(mode="after")
    def _may_grow(self) -> "AnswersTable":
        if self.most <= self.least:
            raise ValueError("most must be more than least; for a fixed number, write it alone")
        return self


def _number_or_table(value: object) -> str:
    return "branch[table]" if isinstance(value, dict) else "branch[number]"


Answers = Annotated[
    Annotated[int, Field(ge=1, le=100), Tag("branch[number]")]
    | Annotated[AnswersTable, Tag("branch[table]")],
    Discriminator(_number_or_table),
]
"""A union with tags, so that errors are only about the branch that was meant."""


_WHOLE = 100
_KNOWN = ", ".join(MARKETS)


def _markets(value: object) -> object:
    """Return shares by market; markets in a list share equally, and the first has the rest."""
    if not isinstance(value, list | dict) or not value:
        raise ValueError(
            f'name at least one market, such as ["prolific"]; piecework knows {_KNOWN}'
        )
    for name in value:
        if name not in MARKETS:
            meant = did_you_mean(str(name), MARKETS) or f"; it knows {_KNOWN}"
            raise ValueError(f"piecework knows no such market: {name!r:.60}{meant}")
    if isinstance(value, dict):
        return value
    if len(set(value)) < len(value):
        raise ValueError("names a market twice")
    each, left = divmod(_WHOLE, len(value))
    return {name: each + (number < left) for number, name in enumerate(value)}


def _adds_up(shares: dict[Market, int]) -> dict[Market, int]:
    total = sum(shares.values())
    if total != _WHOLE:
        raise ValueError(f"the shares add up to {total} per cent, not to 100")
    return shares


_Percent = Annotated[int, Field(strict=True, ge=1, le=_WHOLE)]

Markets = Annotated[dict[Market, _Percent], BeforeValidator(_markets), AfterValidator(_adds_up)]
"""Per cent of the assignments by market."""


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


class GoldTable(BaseModel):
    """`[gold]`: the gold items, and their share of all items that workers see.

    With `feedback`, workers are told if they were wrong about a gold item.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    file: Annotated[str, Field(min_length=1), Names.INPUT]
    share: Annotated[float, Field(gt=0, le=0.5)] = 0.1
    feedback: bool = False


_Path = Annotated[str, Field(min_length=1), Names.INPUT]


class MachineTable(BaseModel):
    """`[machine]`: files of labels, and a file of texts."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    votes: Annotated[tuple[_Path, ...], BeforeValidator(as_list), Field(min_length=1)] | None = None
    texts: _Path | None = None

    @model_validator(mode="after")
    def _names_a_file(self) -> "MachineTable":
        if self.votes is None and self.texts is None:
            raise ValueError("name a file of labels (votes), or of texts (texts)")
        return self
