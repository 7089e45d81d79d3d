"""All heuristics in one tuple, and the functions that run them.

`HEURISTICS` is the whole list: no heuristic registers itself.
"""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

from piecework.domain.errors import ConfigError
from piecework.domain.late_modules import np, pd
from piecework.domain.tables import COLLECTED, task_columns
from piecework.domain.task import Task
from piecework.domain.text import did_you_mean
from piecework.domain.verdicts import JOINED, NOT_WRITTEN_HERE, Finding, SubjectKind
from piecework.qc import joined, parameters, written_here
from piecework.qc.heuristics import (
    answered_before,
    canary,
    canned_share,
    capitals,
    contradiction,
    drafts_kept,
    gold_failed,
    ignored_page_warnings,
    left_empty,
    like_samples,
    low_agreement,
    low_scale_variance,
    minority_canned,
    not_typed,
    outside_study,
    quality_words,
    random_sample,
    rule_violation,
    rushed,
    same_place,
    same_sentence,
    same_sentence_in_hit,
    sentence_off_items,
    straight_line,
    text_disagreement,
    text_off_item,
    texts_off_items,
    time_in_batch,
    time_in_image,
    too_fast,
)
from piecework.qc.joined import Judged
from piecework.qc.ratings import sources
from piecework.qc.scores import SHOWN_FROM, BatchScores, Facts, Scope
from piecework.qc.text_fit import FIT, text_fit, with_text_fit

Settings = Mapping[str, Mapping[str, object] | None]
"""Parameters by heuristic name. Absent: defaults, except for `OFF_BY_DEFAULT`, which
are off; `None`: switched off."""

KnownScores: TypeAlias = "dict[tuple[str, object], pd.DataFrame]"
"""Scores of one table, by heuristic and its parameters."""


class Heuristic(Protocol):
    """What a module in `piecework.qc.heuristics` provides.

    Attributes:
        TITLE: the name that people read; `NAME` is the identifier.
        SCOPE: the rows that have to be scored together.
    """

    NAME: str
    TITLE: str
    VERSION: int
    SUBJECT: SubjectKind
    SCOPE: Scope
    FACTS: Facts
    Params: type[Any]

    @property
    def COLUMNS(self) -> tuple[str, ...]:  # noqa: N802 - a module's constant
        """The columns that `score` reads.

        Names of columns; prefixes that end in a dot, for all such columns; a name in
        braces (`value.{field}`) is replaced by that parameter's value.
        """
        ...

    @property
    def score(self) -> Callable[[pd.DataFrame, Any], pd.DataFrame]:
        """A function that returns a row for every subject of the table."""
        ...


HEURISTICS: tuple[Heuristic, ...] = (
    rushed,
    time_in_batch,
    time_in_image,
    too_fast,
    capitals,
    canned_share,
    minority_canned,
    quality_words,
    same_sentence,
    same_sentence_in_hit,
    sentence_off_items,
    text_off_item,
    texts_off_items,
    text_disagreement,
    not_typed,
    canary,
    like_samples,
    rule_violation,
    left_empty,
    answered_before,
    straight_line,
    same_place,
    drafts_kept,
    low_scale_variance,
    ignored_page_warnings,
    gold_failed,
    contradiction,
    low_agreement,
    outside_study,
    random_sample,
)

BY_NAME: Mapping[str, Heuristic] = {heuristic.NAME: heuristic for heuristic in HEURISTICS}

TITLES: Mapping[str, str] = {
    **{heuristic.NAME: heuristic.TITLE for heuristic in HEURISTICS},
    JOINED: joined.TITLE,
    NOT_WRITTEN_HERE: written_here.TITLE,
}
"""By name, the title that people read; of what joins several heuristics too."""

IF_KNOWN = frozenset({"typing", "played_part"})
"""Columns that tables of earlier versions lack; their cells are empty if not known."""

OFF_BY_DEFAULT = frozenset(heuristic.NAME for heuristic in HEURISTICS if not heuristic.FACTS.is_on)
"""Naming one of them in a campaign file (`[heuristics.time_in_batch]`) switches it
on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Description:
    """One heuristic as the page and the help show it.

    Attributes:
        is_on: whether it runs without being named in a campaign file.
        idea: one line.
        sections: the other paragraphs of its module's docstring.
    """

    name: str
    title: str
    version: int
    subject: SubjectKind
    is_on: bool
    idea: str
    sections: tuple[str, ...]
    parameters: tuple[parameters.Described, ...]


def assess(
    table: pd.DataFrame,
    settings: Settings,
    *,
    seed: int,
    judged: Judged | None = None,
    batches: BatchScores | None = None,
    known: KnownScores | None = None,
    only: Collection[str] | None = None,
) -> list[Finding]:
    """Return the findings of all heuristics that are switched on.

    There is a finding for every subject that is flagged or has a suspicion of at least
    `qc.scores.SHOWN_FROM`. If a heuristic has no finding about a subject, it looked and
    found little against it.

    Args:
        table: of `piecework.qc.ratings.with_ratings`.
        settings: the campaign's.
        seed: the campaign's, for the random sample.
        judged: people's decisions, to which the joined suspicion is fitted.
        batches: scores kept from earlier passes over the same campaign.
        known: scores of this very table, to which new ones are added, so that other
            settings of a few heuristics do not score the table again.
        only: run these alone, and nothing that joins several; by default, all.

    Raises:
        ConfigError: the settings name an unknown heuristic or parameter, or a value
            that is not allowed; lists all faults.
    """
    findings: list[Finding] = []
    refuse_faults(settings)
    if only is not None:
        settings = {**settings, **dict.fromkeys(BY_NAME.keys() - set(only))}
    if batches is not None:
        batches.forget_changed(table)
    table = _compared(table, batches, known)
    scores = _scores(table, settings, seed, batches, known)
    for name, rows in scores.items():
        findings.extend(findings_of(BY_NAME[name], rows))
    if only is not None:
        return findings
    findings.extend(joined.findings(table, scores, judged))
    findings.extend(written_here.findings(table, scores))
    return findings


def findings_of(heuristic: Heuristic, scores: pd.DataFrame) -> Iterator[Finding]:
    """Yield the findings of one heuristic, from its scores."""
    suspicion, flag = scores["suspicion"].to_numpy(), scores["flag"].to_numpy()
    places = np.flatnonzero(flag | (suspicion >= SHOWN_FROM))
    for subject, amount, is_flagged, evidence in zip(
        scores.index.take(places).tolist(),
        suspicion[places].tolist(),
        flag[places].tolist(),
        scores["evidence"].take(places).tolist(),
        strict=True,
    ):
        yield Finding(
            heuristic=heuristic.NAME,
            version=heuristic.VERSION,
            subject_kind=heuristic.SUBJECT,
            subject_id=subject,
            suspicion=amount,
            flag=is_flagged,
            evidence=evidence,
        )


def scores(table: pd.DataFrame, settings: Settings, *, seed: int) -> dict[str, pd.DataFrame]:
    """By heuristic name, a row for every subject: `suspicion`, `flag`, `evidence`.

    Raises:
        ConfigError: as `assess`.
    """
    refuse_faults(settings)
    return _scores(_compared(table), settings, seed)


def is_on(name: str, settings: Settings) -> bool:
    """Whether a heuristic runs with these settings."""
    return settings.get(name, None if name in OFF_BY_DEFAULT else {}) is not None


def columns(settings: Settings, task: Task) -> list[str]:
    """Return the columns of the table of answers that these settings need, sorted.

    With only these columns, passed through `piecework.qc.ratings.with_ratings`, a table
    has the same scores as the whole one.
    """
    needed = _needed(settings, task)
    offered = {**COLLECTED, **task_columns(task)}
    beginnings = tuple(name for name in needed if name.endswith("."))
    return sorted(name for name in offered if name in needed or name.startswith(beginnings))


def columns_if_there(settings: Settings, task: Task) -> frozenset[str]:
    """Return those of `columns` that a table may lack.

    A heuristic reads them only because it reads all fields that were asked, or uses
    them if they are known.
    """
    read = frozenset(columns(settings, task))
    return (read - _needed(settings, task)) | (read & IF_KNOWN)


def _needed(settings: Settings, task: Task) -> set[str]:
    """Return columns and beginnings of columns (`value.`) that these settings need."""
    needed = set(sources(task))
    for heuristic in _switched_on(settings):
        params = dataclasses.asdict(params_of(heuristic, settings, seed=0))
        needed |= {name.format(**params) for name in heuristic.COLUMNS}
    return needed


def check_settings(settings: Settings) -> list[str]:
    """List every fault of the settings, one sentence each."""
    faults = []
    for name, own in settings.items():
        if name not in BY_NAME:
            names = ", ".join(sorted(BY_NAME))
            meant = did_you_mean(name, BY_NAME) or f"; allowed are {names}."
            faults.append(f"heuristics.{name}: no such heuristic{meant}")
        elif own is not None:
            faults += parameters.read_parameters(
                BY_NAME[name].Params, own, where=f"heuristics.{name}"
            )[1]
    return faults


def refuse_faults(settings: Settings) -> None:
    """Raise an error unless heuristics can run with these settings.

    Raises:
        ConfigError: the faults that `check_settings` finds.
    """
    if faults := check_settings(settings):
        raise ConfigError(faults, next_step="Correct the [heuristics] tables.")


def describe_heuristics() -> Sequence[Description]:
    """Describe all heuristics in their order, as the page and the help show them."""
    return [_description(heuristic) for heuristic in HEURISTICS]


def _compared(
    table: pd.DataFrame, batches: BatchScores | None = None, known: KnownScores | None = None
) -> pd.DataFrame:
    """Compare the texts of the table once: the joined suspicion always reads that."""
    if batches is None:
        return with_text_fit(table)
    known = {} if known is None else known
    if (FIT, None) not in known:
        known[FIT, None] = batches.scored(FIT, table, text_fit, of_answers=True)
    return with_text_fit(table, known[FIT, None])


def _scores(
    table: pd.DataFrame,
    settings: Settings,
    seed: int,
    batches: BatchScores | None = None,
    known: KnownScores | None = None,
) -> dict[str, pd.DataFrame]:
    known = {} if known is None else known
    scores: dict[str, pd.DataFrame] = {}
    for heuristic in _switched_on(settings):
        params = params_of(heuristic, settings, seed=seed)
        key = (heuristic.NAME, params)
        if key not in known:
            known[key] = _scored(heuristic, table, params, batches)
        scores[heuristic.NAME] = known[key]
    return scores


def _scored(
    heuristic: Heuristic,
    table: pd.DataFrame,
    params: Any,  # noqa: ANN401 - each has its own
    batches: BatchScores | None,
) -> pd.DataFrame:
    if batches is None or heuristic.SCOPE not in {"row", "batch"}:
        return heuristic.score(table, params)
    return batches.scored(
        heuristic.NAME,
        table,
        lambda part: heuristic.score(part, params),
        of_answers=heuristic.SUBJECT == "answer",
    )


def _switched_on(settings: Settings) -> list[Heuristic]:
    return [heuristic for heuristic in HEURISTICS if is_on(heuristic.NAME, settings)]


def params_of(heuristic: Heuristic, settings: Settings, *, seed: int) -> Any:  # noqa: ANN401 - each has its own
    """A heuristic's parameters under these settings; `seed` unless they name one."""
    own = settings.get(heuristic.NAME) or {}
    values, _ = parameters.read_parameters(heuristic.Params, own, where=heuristic.NAME)
    if "seed" in {field.name for field in dataclasses.fields(heuristic.Params)}:
        values.setdefault("seed", seed)
    return heuristic.Params(**values)


def _description(heuristic: Heuristic) -> Description:
    idea, *sections = (inspect.getdoc(heuristic) or "").split("\n\n")
    return Description(
        name=heuristic.NAME,
        title=heuristic.TITLE,
        version=heuristic.VERSION,
        subject=heuristic.SUBJECT,
        is_on=heuristic.FACTS.is_on,
        idea=idea,
        sections=tuple(" ".join(section.split()) for section in sections),
        parameters=tuple(parameters.describe_parameters(heuristic.Params)),
    )
