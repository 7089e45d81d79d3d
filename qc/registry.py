"""All heuristics in one tuple, and the functions that run them.

`HEURISTICS` is the whole list: no heuristic registers itself.
"""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from piecework.domain.errors import ConfigError
from piecework.domain.late_modules import np, pd
from piecework.domain.tables import COLLECTED, task_columns
from piecework.domain.task import Task
from piecework.domain.text import did_you_mean
from piecework.domain.verdicts import JOINED, NOT_WRITTEN_HERE, Finding, SubjectKind
from piecework.qc import joined, parameters, written_here
from piecework.qc.batches import BatchScores, Part, SubjectIds
from piecework.qc.features import OF_ANSWERS, own_features
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
from piecework.qc.plain_text import PLAIN, texts_of
from piecework.qc.ratings import sources
from piecework.qc.scores import (
    SHOWN_FROM,
    Facts,
    Scope,
    with_first,
)
from piecework.qc.text_fit import COLUMNS as COMPARED
from piecework.qc.text_fit import FIT, text_fit, with_text_fit

Settings = Mapping[str, Mapping[str, object] | None]
"""Parameters by heuristic name. Absent: defaults, except for `OFF_BY_DEFAULT`, which
are off; `None`: switched off."""


@dataclass(slots=True)
class KnownScores:
    """What is known of one table and the batch that is judged in it.

    Attributes:
        part: the answers that are judged, with their ratings and compared texts; `None`
            before the first judging.
        scores: by heuristic and its parameters.
    """

    part: Part | None = None
    scores: dict[tuple[str, object], pd.DataFrame] = dataclasses.field(default_factory=dict)


Plan = Literal["item", "worker", "tally", "gather"]
"""Judged with all answers about an item; with all answers of a worker; with those and
the tallies of all answers; or from rows that are gathered in one place."""


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
    about: int | None = None,
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
        known: of this very table and `about`; what is computed is added, so that other
            settings do not score the table again. Where it has a part, `table` is its own.
        only: run these alone, and nothing that joins several; by default, all.
        about: return only the findings about this batch: its answers, assignments and
            workers. They are those of the whole table, but take little time for answers
            of other batches.

    Raises:
        ConfigError: the settings name an unknown heuristic or parameter, or a value
            that is not allowed; lists all faults.
    """
    refuse_faults(settings)
    if only is not None:
        settings = {**settings, **dict.fromkeys(BY_NAME.keys() - set(only))}
    if batches is not None:
        batches.forget_changed(table)
    by_people = any((judged or {}).values())
    part = known.part if known is not None else None
    if part is None:
        part = Part.of(_compared(table, batches), about, by_people=by_people)
    if known is not None:
        known.part = part
    findings: list[Finding] = []
    suspicions: dict[str, pd.DataFrame] = {}
    for name, rows in _scores(part, settings, seed, batches, known):
        findings.extend(findings_of(BY_NAME[name], rows, part.subjects))
        # Evidence of all heuristics together takes more memory than the answers.
        suspicions[name] = rows[["suspicion"]]
    if only is not None:
        return findings
    own = part.rows_of_workers(_own_features(part.table, batches, known))
    of_workers = {name: part.rows_of_workers(rows) for name, rows in suspicions.items()}
    findings.extend(joined.findings(part.of_workers, of_workers, judged, own, part.is_here))
    findings.extend(written_here.findings(part.here, suspicions))
    return findings


def findings_of(
    heuristic: Heuristic, scores: pd.DataFrame, subjects: SubjectIds | None = None
) -> Iterator[Finding]:
    """Yield the findings of one heuristic, from its scores; by default, about all subjects."""
    suspicion, flag = scores["suspicion"].to_numpy(), scores["flag"].to_numpy()
    places = np.flatnonzero(flag | (suspicion >= SHOWN_FROM))
    if subjects is not None:
        known = subjects[heuristic.SUBJECT]
        is_of_these = [name in known for name in scores.index.take(places).tolist()]
        places = places[np.array(is_of_these, dtype="bool")]
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
    return dict(_scores(Part.of(_compared(table, None)), settings, seed, None, None))


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


def plan(heuristic: Heuristic) -> Plan:
    """Return how a heuristic works on parts.

    Texts are compared beforehand (`piecework.qc.text_fit`, in two phases of its own),
    so a heuristic that reads nothing else of the batch needs only the worker's answers.
    """
    if heuristic.FACTS.tallied:
        return "tally"
    if heuristic.FACTS.together:
        return "gather"
    if set(COMPARED) <= set(heuristic.COLUMNS):
        return "worker"
    plans: Mapping[str, Plan] = {"item": "item", "campaign": "gather"}
    return plans.get(heuristic.SCOPE, "worker")


def _compared(table: pd.DataFrame, batches: BatchScores | None) -> pd.DataFrame:
    """Compare the texts of the table once: the joined suspicion always reads that."""
    if batches is None:
        return with_first(with_text_fit(table))
    texts = batches.scored(PLAIN, table, texts_of, of_answers=True)
    worded = pd.concat([table, texts], axis=1)
    fits = batches.scored(FIT, worded, text_fit, of_answers=True)
    return with_first(pd.concat([worded, fits.add_prefix(f"{FIT}.")], axis=1))


def _own_features(
    table: pd.DataFrame, batches: BatchScores | None, known: KnownScores | None
) -> pd.DataFrame:
    """Compute the joined suspicion's own features of answers; those of a batch only once."""
    if batches is None:
        return own_features(table)
    kept = {} if known is None else known.scores
    if (JOINED, None) not in kept:
        kept[JOINED, None] = batches.scored(JOINED, table, own_features, of_answers=True)
    return kept[JOINED, None]


def _scores(
    part: Part,
    settings: Settings,
    seed: int,
    batches: BatchScores | None,
    known: KnownScores | None,
) -> Iterator[tuple[str, pd.DataFrame]]:
    """Yield the scores of each heuristic, by its name."""
    for heuristic in _switched_on(settings):
        params = params_of(heuristic, settings, seed=seed)
        rows = known.scores.get((heuristic.NAME, params)) if known is not None else None
        if rows is None:
            rows = _scored(heuristic, part, params, batches)
        if known is not None:
            known.scores[heuristic.NAME, params] = rows
        yield heuristic.NAME, rows


def _scored(
    heuristic: Heuristic,
    part: Part,
    params: Any,  # noqa: ANN401 - each has its own
    batches: BatchScores | None,
) -> pd.DataFrame:
    if heuristic.SCOPE in {"row", "batch"}:
        # The joined suspicion looks at all answers of a worker.
        about = None if heuristic.NAME in OF_ANSWERS else part.about
        if batches is None:
            return heuristic.score(part.table if about is None else part.here, params)
        return batches.scored(
            heuristic.NAME,
            part.table,
            lambda rows: heuristic.score(rows, params),
            of_answers=heuristic.SUBJECT == "answer",
            about=about,
        )
    rows_by_plan = {"item": part.of_items, "worker": part.of_workers}
    phases = heuristic.FACTS.tallied
    if phases and part.about is not None:
        usual = phases.usual_of(phases.tally(part.table, params), params)
        rows = part.here if heuristic.SUBJECT == "answer" else part.of_workers
        return phases.score(rows, params, usual)
    return heuristic.score(rows_by_plan.get(plan(heuristic), part.table), params)


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
