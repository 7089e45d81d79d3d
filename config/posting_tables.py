"""Tables of a campaign file about what is posted, where and how often.

`answers` is a number, or as many as needed; `[markets]` names the markets that
HITs go to; `[experiment]` compares pages at random; `[gold]` mixes in items with known
answers; `[machine]` is what models say about the items. Labels of models join people's
votes; texts of models are samples, with which people's texts are compared.
"""

import unicodedata
from typing import TYPE_CHECKING, Annotated, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    StringConstraints,
    Tag,
    create_model,
    model_validator,
)

from piecework.config.named import Names, as_list
from piecework.domain.crowds import MARKETS, Crowds, Market
from piecework.domain.experiment import PastePolicy


class AnswersTable(BaseModel):
    """`answers` as a table: as many answers as an item needs."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    least: Annotated[int, Field(ge=1, le=99)]
    most: Annotated[int, Field(ge=2, le=100)]
    # A label's probability never exceeds 1 - `analyses.ability.SHARED_ERROR`.
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
_HOUR = 3600
_KNOWN = ", ".join(MARKETS)


def _market(value: object) -> object:
    if value not in MARKETS:
        raise ValueError(f"piecework knows no such market; it knows {_KNOWN}")
    return value


_Named = Annotated[Market, BeforeValidator(_market)]
_Percent = Annotated[int, Field(strict=True, ge=1, le=_WHOLE)]


class _MarketsTable(BaseModel):
    """`[markets]`: shares of the assignments by market, or the cheapest in time."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    cheapest: Annotated[tuple[_Named, ...], Field(max_length=len(MARKETS))] = ()
    within_hours: Annotated[float, Field(gt=0, le=8760)] | None = None

    @model_validator(mode="after")
    def _is_of_one_form(self) -> Self:
        stated = self._percent()
        if stated and ("cheapest" in self.model_fields_set or self.within_hours):
            raise ValueError(
                "state either shares by market, or cheapest with within_hours, not both"
            )
        if stated:
            return self._adds_up(stated)
        if not self.cheapest:
            raise ValueError(
                f"state shares by market, together 100, or cheapest with within_hours; "
                f"piecework knows the markets {_KNOWN}"
            )
        if len(set(self.cheapest)) < len(self.cheapest):
            raise ValueError("cheapest names a market twice")
        if self.within_hours is None:
            raise ValueError("cheapest needs a deadline; set within_hours")
        return self

    def _adds_up(self, stated: dict[Market, int]) -> Self:
        total = sum(stated.values())
        if total != _WHOLE:
            raise ValueError(f"the shares add up to {total} per cent, not to 100")
        return self

    def _percent(self) -> dict[Market, int]:
        """Return the stated shares, in the order of `MARKETS`."""
        values = self.model_dump()
        return {name: values[name] for name in MARKETS if values[name] is not None}

    def crowds(self) -> Crowds:
        """Return which markets the campaign's HITs go to."""
        return Crowds(
            percent=tuple(self._percent().items()),
            cheapest=self.cheapest,
            within_seconds=round((self.within_hours or 0) * _HOUR),
        )


if TYPE_CHECKING:
    MarketsTable = _MarketsTable
else:  # with a key for each market
    MarketsTable = create_model(
        "MarketsTable",
        __base__=_MarketsTable,
        __doc__=_MarketsTable.__doc__,
        **dict.fromkeys(MARKETS, (_Percent | None, None)),
    )


def _shares(value: object) -> object:
    """Return the equal shares of a list of markets, the first with what is left over."""
    if not isinstance(value, list):
        return value
    names = [_market(name) for name in value]
    if not names or len({*map(str, names)}) < len(names):
        raise ValueError("name at least one market, and none twice")
    each, left = divmod(_WHOLE, len(names))
    return {name: each + (number < left) for number, name in enumerate(names)}


Markets = Annotated[MarketsTable, BeforeValidator(_shares)]


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
    """`[machine]`: files of labels, the field that they label, and a file of texts."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    votes: Annotated[tuple[_Path, ...], BeforeValidator(as_list), Field(min_length=1)] | None = None
    field: Annotated[str, Field(min_length=1), Names.NOTHING] | None = None
    texts: _Path | None = None

    @model_validator(mode="after")
    def _names_a_file(self) -> "MachineTable":
        if self.votes is None and self.texts is None:
            raise ValueError("name a file of labels (votes), or of texts (texts)")
        if self.votes is None and self.field is not None:
            raise ValueError("field is for labels; name their file in votes")
        return self
