"""`[requirements]`, `[prolific]` and `earned` of a campaign file: who may work.

`[prolific]` is what participants of Prolific answered, by filter. Two filters
are lists of people, whose ids are in a file. A filter with choices may also say how many
per cent of the visits each of them gets. `earned` are qualifications that workers earn
by good work.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, get_args

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
from piecework.config.user_files import read_text
from piecework.domain.errors import ConfigError
from piecework.domain.hit import Comparator, Recruiting, Share
from piecework.domain.text import did_you_mean

_WHOLE = 100

_Number = Annotated[int, Field(ge=0, le=1_000_000_000)]

FilterId = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9_-]{0,54}$")]
"""A filter of Prolific's, such as `first-language`."""


def _numbers(value: object) -> object:
    if isinstance(value, list | tuple) and all(type(choice) is int for choice in value):
        return value
    raise ValueError(
        "write numbers of choices, such as [0, 1]; `piecework market prolific filters`, with the "
        "filter's name, lists them"
    )


FilterChoices = Annotated[
    tuple[_Number, ...], BeforeValidator(_numbers), Field(min_length=1, max_length=15)
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


_PARTICIPANT = re.compile(r"[0-9a-f]{24}")
_MOST_PARTICIPANTS = 5000
_FAULTS_SHOWN = 3


def read_recruiting(
    table: Mapping[str, object],
    shares: Sequence[Share],
    *,
    named: Callable[[str], Path],
    at: Callable[..., str],
) -> Recruiting | None:
    """Return whom a campaign recruits at Prolific beyond its filters.

    Args:
        table: `[prolific]`.
        shares: the shares of visits by what participants answered.
        named: the path of a file that the campaign file names.
        at: where a key is, for a fault.

    Raises:
        ConfigError: a file of ids cannot be read, has a line that is not an id,
            none or too many ids, or both lists have the same id.
    """
    only, never = (
        _ids(filter_, named(filter_.file), at("prolific", name))
        if isinstance(filter_ := table.get(name), ParticipantFile)
        else ()
        for name in (ALLOWED, BLOCKED)
    )
    if both := set(only) & set(never):
        raise ConfigError([f"{at('prolific', BLOCKED)}: {min(both)} is in {ALLOWED} too"])
    if not (only or never or shares):
        return None
    return Recruiting(only=only, never=never, shares=tuple(shares))


def _ids(named: ParticipantFile, path: Path, where: str) -> tuple[str, ...]:
    if not path.is_file():
        raise ConfigError([f"{where}: no such file: {named.file}"])
    lines = {
        number: text
        for number, line in enumerate(read_text(path).splitlines(), start=1)
        if (text := line.partition("#")[0].strip())
    }
    faults = [
        f"{where}: {named.file}:{number}: {text[:40]!a} is not the id of a "
        "participant, 24 digits and letters from a to f"
        for number, text in lines.items()
        if not _PARTICIPANT.fullmatch(text)
    ]
    ids = tuple(dict.fromkeys(lines.values()))
    if not ids:
        faults.append(f"{where}: {named.file} has no id")
    if len(ids) > _MOST_PARTICIPANTS:
        faults.append(f"{where}: {named.file} has {len(ids)} ids; {_MOST_PARTICIPANTS} are allowed")
    if faults:
        raise ConfigError(faults[:_FAULTS_SHOWN])
    return ids


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


def _form(value: object) -> str:
    """Return which form a value has, so that only the faults of that form are reported."""
    keys = set(value) if isinstance(value, dict) else set()
    if "file" in keys or isinstance(value, ParticipantFile):
        return "branch[file]"
    if keys & {"choices", "percent"} or isinstance(value, FilterShares):
        return "branch[shares]"
    is_range = isinstance(value, dict | FilterRange)
    return "branch[range]" if is_range else "branch[choices]"


_Filter = Annotated[
    Annotated[FilterChoices, Tag("branch[choices]")]
    | Annotated[FilterRange, Tag("branch[range]")]
    | Annotated[FilterShares, Tag("branch[shares]")]
    | Annotated[ParticipantFile, Tag("branch[file]")],
    Discriminator(_form),
]

ProlificTable = Annotated[
    dict[FilterId, _Filter],
    Field(max_length=6),
    AfterValidator(_are_lists),
]


_Line = StringConstraints(
    strip_whitespace=True, min_length=1, max_length=100, pattern=r"^[^\x00-\x1f\x7f]*$"
)

EarnedName = Annotated[str, _Line, Names.NOTHING]
"""The name of an earned qualification."""


class EarnedTable(BaseModel):
    """A file of `earned`: what earns a qualification, and what loses it."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    file: Annotated[str, Names.DEFINITION] = ""
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


_HIGHEST = 1_000_000_000
_COMPARATORS: tuple[Comparator, ...] = get_args(Comparator)


def wanted_qualification(text: str) -> tuple[str, Comparator, tuple[int, ...]]:
    """Return the id, the comparator and the values of a requirement in MTurk's terms.

    >>> wanted_qualification("3AWO4KN9YO3JRSN25G0KTXS4AQW9I6 GreaterThanOrEqualTo 80")
    ('3AWO4KN9YO3JRSN25G0KTXS4AQW9I6', 'GreaterThanOrEqualTo', (80,))

    Raises:
        ValueError: the text is not a requirement.
    """
    type_id, *rest = text.split()
    stated, values = rest[0] if rest else "", rest[1:]
    comparator = next((known for known in _COMPARATORS if known == stated), None)
    if comparator is None:
        meant = did_you_mean(stated, _COMPARATORS) or f"; comparators: {', '.join(_COMPARATORS)}"
        raise ValueError(f'write "ID COMPARATOR VALUES", such as "{type_id} EqualTo 1"{meant}')
    # MTurk's rules for qualification requirements (API reference).
    least, most = {"Exists": (0, 0), "DoesNotExist": (0, 0)}.get(
        comparator, (1, 15) if comparator in {"In", "NotIn"} else (1, 1)
    )
    if not least <= len(values) <= most:
        raise ValueError(
            f"comparator {comparator} takes {least} to {most} values, not {len(values)}"
        )
    for value in values:
        if not re.fullmatch("[0-9]{1,10}", value) or int(value) > _HIGHEST:
            raise ValueError(
                f"{value[:40]!r} is not a value: those are whole numbers from 0 to {_HIGHEST:,}, "
                "with spaces between them"
            )
    return type_id, comparator, tuple(map(int, values))


def _qualification(text: str) -> str:
    type_id, comparator, values = wanted_qualification(text)
    return " ".join((type_id, comparator, *map(str, values)))


Qualification = Annotated[Words, AfterValidator(_qualification)]


Limit = Annotated[int, Field(ge=1, le=1_000_000)] | None
"""How many HITs a worker may do."""


class RequirementsTable(_Strict):
    """`[requirements]`: who may work."""

    approved_hits_above: Annotated[int, Field(ge=0, le=1_000_000_000)] | None = None
    approval_rate_at_least: Annotated[int, Field(ge=0, le=100)] | None = None
    countries: Annotated[tuple[Country, ...], Field(max_length=30)] = ()
    workers: Annotated[int, Field(ge=1, le=1_000_000)] | None = None
    qualifications: Annotated[
        tuple[Qualification, ...], BeforeValidator(as_list), Field(max_length=6)
    ] = ()
    only_workers_of: Annotated[tuple[CampaignPath, ...], Field(max_length=3)] = ()
    no_workers_of: Annotated[tuple[CampaignPath, ...], Field(max_length=3)] = ()
    earned: Annotated[tuple[EarnedName, ...], Field(max_length=3)] = ()
    not_earned: Annotated[tuple[EarnedName, ...], Field(max_length=3)] = ()
    exclusion_name: Words | None = None

    @model_validator(mode="after")
    def _wants_no_opposites(self) -> "RequirementsTable":
        if both := set(self.earned) & set(self.not_earned):
            raise ValueError(f"earned and not_earned both name {min(both)!r}")
        return self
