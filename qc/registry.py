"""All heuristics in one tuple, and the one way to run them.

Reading `HEURISTICS` is reading the whole list: nothing registers itself.
"""

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import pandas as pd

from domain.errors import ConfigError
from domain.verdicts import Finding, SubjectKind
from qc import parameters
from qc.heuristics import (
    answered_before,
    canned_share,
    capitals,
    contradiction,
    gold_failed,
    ignored_page_warnings,
    low_agreement,
    low_scale_variance,
    minority_canned,
    outside_study,
    pasted,
    quality_words,
    random_sample,
    rule_violation,
    same_place,
    same_sentence,
    straight_line,
    text_disagreement,
    time_in_batch,
    time_in_image,
    too_fast,
)

Settings = Mapping[str, Mapping[str, object] | None]
"""Parameters by heuristic name; absent: defaults; `None`: switched off."""


class Heuristic(Protocol):
    """What a module in `qc.heuristics` offers."""

    NAME: str
    VERSION: int
    SUBJECT: SubjectKind
    Params: type[Any]

    @property
    def score(self) -> Callable[[pd.DataFrame, Any], pd.DataFrame]:
        """A row for every subject of the frame."""
        ...


HEURISTICS: tuple[Heuristic, ...] = (
    time_in_batch,
    time_in_image,
    too_fast,
    capitals,
    canned_share,
    minority_canned,
    quality_words,
    same_sentence,
    text_disagreement,
    pasted,
    rule_violation,
    answered_before,
    straight_line,
    same_place,
    low_scale_variance,
    ignored_page_warnings,
    gold_failed,
    contradiction,
    low_agreement,
    outside_study,
    random_sample,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Description:
    """One heuristic as the page and the help show it.

    Attributes:
        idea: one line.
        sections: the rest of its module's words, by paragraph.
    """

    name: str
    version: int
    subject: SubjectKind
    idea: str
    sections: tuple[str, ...]
    parameters: tuple[parameters.Described, ...]


def assess(frame: pd.DataFrame, settings: Settings, *, seed: int) -> list[Finding]:
    """What all heuristics that are switched on have to say.

    A finding for every subject that is flagged or under any suspicion. A subject
    without a finding of a heuristic was looked at and nothing spoke against it.

    Raises:
        ConfigError: the settings name what does not exist or cannot be; all faults.
    """
    findings: list[Finding] = []
    kinds = {heuristic.NAME: heuristic for heuristic in HEURISTICS}
    for name, scored in scores(frame, settings, seed=seed).items():
        said = scored[scored["flag"] | (scored["suspicion"] > 0)]
        findings.extend(
            Finding(
                heuristic=name,
                version=kinds[name].VERSION,
                subject_kind=kinds[name].SUBJECT,
                subject_id=subject,
                suspicion=suspicion,
                flag=flag,
                evidence=evidence,
            )
            for subject, suspicion, flag, evidence in zip(
                said.index.tolist(),
                said["suspicion"].tolist(),
                said["flag"].tolist(),
                said["evidence"].tolist(),
                strict=True,
            )
        )
    return findings


def scores(
    frame: pd.DataFrame, settings: Settings, *, seed: int
) -> dict[str, pd.DataFrame]:
    """By heuristic name, a row for every subject: `suspicion`, `flag`, `evidence`.

    Raises:
        ConfigError: the settings name what does not exist or cannot be; all faults.
    """
    faults = check_settings(settings)
    if faults:
        raise ConfigError(faults, next_step="Mend the [heuristics] tables.")
    return {
        heuristic.NAME: heuristic.score(frame, _params(heuristic, settings, seed=seed))
        for heuristic in HEURISTICS
        if settings.get(heuristic.NAME, {}) is not None
    }


def check_settings(settings: Settings) -> list[str]:
    """Every fault of the settings, one sentence each."""
    known = {heuristic.NAME: heuristic for heuristic in HEURISTICS}
    faults = []
    for name, given in settings.items():
        if name not in known:
            names = ", ".join(sorted(known))
            faults.append(f"heuristics.{name}: no such heuristic; allowed are {names}.")
        elif given is not None:
            faults += parameters.read(
                known[name].Params, given, where=f"heuristics.{name}"
            )[1]
    return faults


def describe() -> Sequence[Description]:
    """All heuristics in their order, as the page and the help show them."""
    return [_description(heuristic) for heuristic in HEURISTICS]


def _params(heuristic: Heuristic, settings: Settings, *, seed: int) -> object:
    given = settings.get(heuristic.NAME) or {}
    values, _ = parameters.read(heuristic.Params, given, where=heuristic.NAME)
    if "seed" in {each.name for each in parameters.describe(heuristic.Params)}:
        values.setdefault("seed", seed)
    return heuristic.Params(**values)


def _description(heuristic: Heuristic) -> Description:
    idea, *sections = (inspect.getdoc(heuristic) or "").split("\n\n")
    return Description(
        name=heuristic.NAME,
        version=heuristic.VERSION,
        subject=heuristic.SUBJECT,
        idea=idea,
        sections=tuple(" ".join(section.split()) for section in sections),
        parameters=tuple(parameters.describe(heuristic.Params)),
    )
