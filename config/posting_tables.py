"""Tables of a campaign file about what is asked and posted, and what it may cost.

`answers` is a number, or as many as needed; `markets` names the markets that
HITs go to; `[experiment]` compares pages at random; `[gold]` mixes in items with known
answers; `[machine]` is what models say about the items. Labels of models join people's
votes; texts of models are samples, with which people's texts are compared. What a file
states about a generic task besides its question is here too
(`piecework.hit_templates.generic`).

Amounts of money are text, all in one currency. `budget` is an amount, or a table of caps.
An amount may begin with the sign of its currency, which then is the campaign's.
"""

import re
import unicodedata
from collections.abc import Iterator, Mapping
from datetime import date
from decimal import Decimal
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

from piecework.config.named import Names, Words, as_list
from piecework.domain.crowds import MARKETS, Market
from piecework.domain.experiment import PastePolicy
from piecework.domain.money import NAMES, Currency, cents_from_text, currency_of
from piecework.domain.text import did_you_mean
from piecework.domain.toml_text import line_of

_AMOUNT = 'write an amount as text, for example "0.55"'


def _cents(value: object) -> int:
    if not isinstance(value, str):
        raise ValueError(_AMOUNT)  # noqa: TRY004 - pydantic only collects ValueError
    return cents_from_text(value)


Cents = Annotated[int, BeforeValidator(_cents)]
_Cap = Annotated[Cents, Field(ge=1)] | None


class BudgetTable(BaseModel):
    """`budget` as a table: the most that the campaign, or a part of it, may cost."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    total: Cents | None = None
    batch: _Cap = None
    day: _Cap = None
    month: _Cap = None
    item: _Cap = None


def _budget(value: object) -> object:
    if isinstance(value, str):
        return {"total": value}
    if not isinstance(value, dict | BudgetTable):
        raise ValueError(  # noqa: TRY004 - pydantic only collects ValueError
            f'{_AMOUNT}, or a table such as {{ total = "50.00", day = "10.00" }}'
        )
    return value


Budget = Annotated[BudgetTable, BeforeValidator(_budget)]

Percent = Annotated[Decimal, Field(ge=0, le=100)]


class FeesTable(BaseModel):
    """`[[fees]]` of the machine's file: the marketplace's fees from a day on."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    valid_from: date
    percent: Percent
    extra_percent_from_ten: Percent = Decimal(0)
    masters_percent: Percent = Decimal(0)
    minimum: Cents = 0
    source: Words


def _differ(schedules: tuple[FeesTable, ...]) -> tuple[FeesTable, ...]:
    days = [schedule.valid_from for schedule in schedules]
    if len(set(days)) < len(days):
        raise ValueError("two schedules of fees start on the same day")
    return schedules


Fees = Annotated[tuple[FeesTable, ...], AfterValidator(_differ)]

_Where = tuple[str | int, ...]


def is_money(key: str) -> bool:
    """Return whether a key of a campaign file has an amount, such as `budget.day`."""
    return key.partition(".")[0] in {"reward", "hourly_wage", "budget"}


def currency_of_signs(document: Mapping[str, object]) -> Currency | None:
    """Return the currency of the first amount with a sign; `None` if none has one."""
    return next((currency for _, _, currency in _signed(document)), None)


def faults_of_money(document: Mapping[str, object], text: str = "") -> Iterator[tuple[_Where, str]]:
    """Yield the key whose amount is in another currency than the first, and the fault.

    Args:
        document: the campaign file as read.
        text: its text, for the line of the other key.
    """
    amounts = [*_signed(document)]
    for where, amount, currency in amounts[1:]:
        first, other, known_currency = amounts[0]
        if currency != known_currency:
            line = line_of(text, first)
            at = f" (line {line})" if line else ""
            fault = (
                f"{amount} is in {NAMES[currency]}, but {'.'.join(map(str, first))} = "
                f"{other}{at} is in {NAMES[known_currency]}; state all amounts in one currency"
            )
            yield where, fault
            return
    is_paid = {"reward", "hourly_wage"} & document.keys()
    if amounts and amounts[0][2] != "USD" and not is_paid:
        where, _, currency = amounts[0]
        yield where, f"the task's own reward is in dollars: set reward or hourly_wage in {currency}"


def _signed(document: Mapping[str, object]) -> Iterator[tuple[_Where, str, Currency]]:
    """Yield the amounts with a sign: key, text in quotes, currency."""
    for where, amount in _amounts(document):
        if isinstance(amount, str) and (currency := currency_of(amount)):
            yield where, f'"{amount}"', currency


def _amounts(document: Mapping[str, object]) -> Iterator[tuple[_Where, object]]:
    for key in ("reward", "hourly_wage"):
        yield (key,), document.get(key)
    budget = document.get("budget")
    if isinstance(budget, dict):
        yield from ((("budget", name), amount) for name, amount in budget.items())
    else:
        yield ("budget",), budget


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


def as_option(value: object) -> object:
    """Return an option with its value and its label.

    Raises:
        ValueError: it is neither a text nor a value with a label.
    """
    stated = {"value": value} if isinstance(value, str) else value
    if not isinstance(stated, dict) or not {"value"} <= stated.keys() <= {"value", "label"}:
        raise ValueError('an option is a text, or { value = "...", label = "..." }')
    if not all(isinstance(text, str) and text.strip() for text in stated.values()):
        raise ValueError("an option is a text that is not empty; write its words, or remove it")
    return {"label": stated["value"], **stated}


def as_example(value: object) -> object:
    """Return an example with its cells as texts.

    Raises:
        ValueError: it has no answer, or a cell that is neither text nor a number.
    """
    if not isinstance(value, dict) or not value.get("answer"):
        raise ValueError('an example has the columns of an item and answer = "..."')
    if not all(isinstance(cell, str | int | float) for cell in value.values()):
        raise ValueError("the cells of an example are texts or numbers")
    return {name: str(cell) for name, cell in value.items()}


_FURTHEST = 1_000
_EXAMPLE = 'write both ends, scale = [1, 5], or with words, scale = ["1 bad", "5 good"]'


def _ends(value: object) -> object:
    """Return both ends of a scale as texts, such as `1 bad`.

    Raises:
        ValueError: it is not two ends, or an end does not begin with a whole number.
    """
    if not isinstance(value, list | tuple) or len(value) != 2:  # noqa: PLR2004 - two ends
        raise ValueError(_EXAMPLE)
    ends = [" ".join(str(end).split()) for end in value]
    for end, stated in zip(ends, value, strict=True):
        is_of_type = isinstance(stated, str | int) and not isinstance(stated, bool)
        if not is_of_type or not re.fullmatch(r"-?[0-9]{1,9}( .*)?", end):
            raise ValueError(f"{_EXAMPLE}; each end begins with a whole number")
        if abs(scale_end(end)[0]) > _FURTHEST:
            raise ValueError(f"an end is at most {_FURTHEST:,} away from 0; {end!r:.60} is not")
    return ends


def scale_end(end: str) -> tuple[int, str]:
    """Return the number of an end of a scale, and its words.

    >>> scale_end("5 very clear"), scale_end("-2")
    ((5, 'very clear'), (-2, ''))
    """
    number, _, words = end.partition(" ")
    return int(number), words


Scale = Annotated[tuple[Words, Words], BeforeValidator(_ends)]
"""`scale`: both ends of the numbers that the task `rate` offers."""


class TextTable(BaseModel):
    """`[text]`: what a text of the task `describe` must obey."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    min_words: Annotated[int, Field(ge=1, le=1_000)] | None = None
    max_words: Annotated[int, Field(ge=1, le=10_000)] | None = None
    max_characters: Annotated[int, Field(ge=1, le=50_000)] | None = None
    max_capitals_percent: Annotated[int, Field(ge=1, le=99)] | None = None
    one_sentence: bool = False
    banned_beginnings: Annotated[tuple[Words, ...], Field(max_length=100)] = ()
    canned: Words | None = None

    @model_validator(mode="after")
    def _can_be_written(self) -> "TextTable":
        if self.min_words and self.max_words and self.min_words > self.max_words:
            raise ValueError(
                f"min_words = {self.min_words} is more than max_words = {self.max_words}"
            )
        return self
