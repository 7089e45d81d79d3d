"""Published figures of the studies that tasks repeat, for comparison in reports.

They are in `published.toml` of a task's folder, as the source prints them.
"""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import TypeVar

from pydantic import TypeAdapter

from piecework.domain.task import Task
from piecework.hit_templates.messages import FOLDER

FILE = "published.toml"


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """What a study says about two conditions."""

    first: str
    second: str
    outcome: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """Mean and standard deviation in a part of a condition, as printed."""

    name: str
    mean: str
    sd: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedConditions:
    """A study that compared conditions within participants; numbers as printed.

    Attributes:
        hypotheses: the outcome of each hypothesis of the task, in order.
        pairs: of conditions, and of parts of conditions.
        note: what readers of the analysis of variance should know.
        limitations: of the study's design, which a repetition shares.
    """

    source: str
    participants: str
    f: str
    df: str
    df_error: str
    p: str
    eta_squared: str
    hypotheses: tuple[str, ...] = ()
    pairs: tuple[Pair, ...] = ()
    parts: tuple[Part, ...] = ()
    note: str = ""
    limitations: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedGains:
    """What a study gained by correcting one kind of error at a time.

    Attributes:
        descriptions: how many were scored, and `bleu_4` of them uncorrected.
        bleu_4_gains: by kind of error, in BLEU points from 0 to 100, as printed.
        meteor: how its METEOR differs from ours, in a sentence.
    """

    source: str
    descriptions: int
    bleu_4: str
    bleu_4_gains: Mapping[str, str] = field(default_factory=dict)
    meteor: str = ""


_Published = TypeVar("_Published")


def published_conditions(task: Task) -> PublishedConditions | None:
    """Return the published comparison that a task of the gallery repeats, if any."""
    if task.own is not None or not task.conditions:
        return None
    return _read(task.name, PublishedConditions)


def published_gains(task: Task) -> PublishedGains | None:
    """Return the published gains of the corrections that a task repeats, if any."""
    if task.own is not None or not task.one_value_per_hit:
        return None
    return _read(task.name, PublishedGains)


@cache
def _read(name: str, kind: type[_Published]) -> _Published | None:
    path = FOLDER / name / FILE
    if not path.is_file():
        return None
    table = tomllib.loads(path.read_text("utf-8"))
    return TypeAdapter(kind).validate_python(table)
