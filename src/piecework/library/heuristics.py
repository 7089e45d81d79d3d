"""Heuristics on a DataFrame of answers: what is suspicious, and why."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType

import pandas as pd

from piecework.domain.errors import ConfigError
from piecework.domain.field import FieldKind
from piecework.domain.text import did_you_mean
from piecework.domain.verdicts import Finding
from piecework.library.answers import OpenedAnswers, opened_answers
from piecework.qc import registry
from piecework.qc.ratings import with_ratings
from piecework.qc.silence import silences

Settings = Mapping[str, Mapping[str, object] | None]
"""Parameters by heuristic name; `None` switches a heuristic off."""

_FINDINGS = {
    "subject_kind": "str",
    "subject": "str",
    "heuristic": "str",
    "version": "int64",
    "suspicion": "float64",
    "flag": "bool",
    "evidence": "str",
}


def assess(
    answers: pd.DataFrame,
    *,
    heuristics: str | Sequence[str] = (),
    settings: Settings = MappingProxyType({}),
    fields: Mapping[str, FieldKind] = MappingProxyType({}),
    task: str = "",
    seed: int = 1,
) -> pd.DataFrame:
    """Run heuristics on answers.

    Args:
        answers: one row per answer, with `task`, `worker`, a column for each field that
            was asked, and other known columns (docs/reference/library.md).
        heuristics: names of the heuristics to run; default: all that are on by default,
            and the joined suspicion.
        settings: parameters by heuristic, as in a campaign file.
        fields: kinds of columns of answers: "text", "choice", "choices", "number"; the
            others are guessed from the answers.
        task: the task in the gallery that was asked, if any.
        seed: the seed of random draws.

    Returns:
        One row per finding, the most suspicious first: `subject_kind` ("answer",
        "assignment" or "worker"), `subject` (an answer's label in the index of
        `answers` as str, an assignment's or a worker's id), `heuristic`, `version`,
        `suspicion` (0 to 1), `flag` (it passed the threshold), `evidence`. For a
        subject without a row, the heuristics found nothing.

    Raises:
        ConfigError: a column is missing or has the wrong dtype, or a heuristic or a
            parameter does not exist; it has every fault.
    """
    names = [heuristics] if isinstance(heuristics, str) else [*heuristics]
    _refuse_faults(names, settings)
    with opened_answers(answers, fields=fields, task=task) as stored:
        known = _with_task(stored, names, settings)
        rows = [
            (
                finding.subject_kind,
                stored.subjects.get((finding.subject_kind, finding.subject_id), finding.subject_id),
                finding.heuristic,
                finding.version,
                finding.suspicion,
                finding.flag,
                finding.evidence,
            )
            for finding in _findings(_rated(stored), known, names, seed=seed)
        ]
    findings = pd.DataFrame(rows, columns=list(_FINDINGS)).astype(_FINDINGS)
    order = ["flag", "suspicion"]
    return findings.sort_values(order, ascending=False, kind="stable", ignore_index=True)


def heuristics(
    answers: pd.DataFrame | None = None,
    *,
    settings: Settings = MappingProxyType({}),
    fields: Mapping[str, FieldKind] = MappingProxyType({}),
    task: str = "",
) -> pd.DataFrame:
    """List all heuristics; with answers, say which cannot judge them, and why.

    Args:
        answers: as for `assess`.
        settings: as for `assess`.
        fields: as for `assess`.
        task: as for `assess`.

    Returns:
        Index `heuristic`: `subject_kind`, `version`, `is_on` (by default), `idea` (one
        line); with answers also `silent_because` ("" if it can judge them).

    Raises:
        ConfigError: as for `assess`.
    """
    _refuse_faults([], settings)
    described = registry.describe_heuristics()
    listed = pd.DataFrame(
        {
            "subject_kind": [each.subject for each in described],
            "version": [each.version for each in described],
            "is_on": [registry.is_on(each.name, settings) for each in described],
            "idea": [each.idea for each in described],
        },
        index=pd.Index([each.name for each in described], name="heuristic"),
    )
    if answers is None:
        return listed
    with opened_answers(answers, fields=fields, task=task) as stored:
        known = _with_task(stored, [], settings)
        silent = silences(_rated(stored), known)
    return listed.assign(silent_because=[silent.get(name, "") for name in listed.index])


def _findings(
    table: pd.DataFrame, settings: Settings, names: Sequence[str], *, seed: int
) -> list[Finding]:
    """Return the findings of all heuristics, or of the named ones."""
    if not names:
        return registry.assess(table, settings, seed=seed)
    by_name = {heuristic.NAME: heuristic for heuristic in registry.HEURISTICS}
    return [
        finding
        for name, rows in registry.scores(table, settings, seed=seed).items()
        for finding in registry.findings_of(by_name[name], rows)
    ]


def _rated(stored: OpenedAnswers) -> pd.DataFrame:
    campaign = stored.opened.campaign
    return with_ratings(stored.opened.answers(), campaign.task, campaign.items)


def _refuse_faults(names: Sequence[str], settings: Settings) -> None:
    """Refuse unknown heuristics and settings.

    Raises:
        ConfigError: a heuristic or a parameter does not exist; it has every fault.
    """
    known = [heuristic.NAME for heuristic in registry.HEURISTICS]
    faults = [
        f"heuristics: there is no heuristic {name!r}"
        f"{did_you_mean(name, known) or '; allowed are ' + ', '.join(sorted(known))}"
        for name in names
        if name not in known
    ]
    faults += registry.check_settings(settings)
    if faults:
        raise ConfigError(faults, next_step="piecework.heuristics() lists them")


def _with_task(stored: OpenedAnswers, names: Sequence[str], settings: Settings) -> Settings:
    """Return the task's settings below the caller's; with names, all others off."""
    of_task = stored.opened.campaign.task.heuristics
    if not names:
        return {**of_task, **settings}
    known = (heuristic.NAME for heuristic in registry.HEURISTICS)
    off: dict[str, Mapping[str, object] | None] = {
        name: None for name in known if name not in names
    }
    return {**off, **{name: settings.get(name) or of_task.get(name) or {} for name in names}}
