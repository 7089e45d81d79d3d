"""A campaign file's tables as values, from the file alone."""

from collections.abc import Iterator, Mapping
from pathlib import Path

from piecework.config.earned_table import EarnedTable
from piecework.config.experiment_table import ExperimentTable
from piecework.config.prolific_table import FilterRange, FilterShares, ParticipantFile
from piecework.config.requirements_table import RequirementsTable
from piecework.config.schema import CampaignTables, DatasetTable, OutputTable, PostingTable
from piecework.domain.campaign import AsNeeded, Posting
from piecework.domain.dataset import Publication, Shares, Sink
from piecework.domain.earned import EarnedRule
from piecework.domain.experiment import Experiment
from piecework.domain.hit import PROLIFIC, Comparator, QualificationRequirement, Share
from piecework.domain.ids import QualificationTypeId
from piecework.domain.licences import Licence, licence_named
from piecework.domain.task import Task
from piecework.domain.verdicts import PolicyRule

# MTurk's system qualification types (API reference, data structures).
NUMBER_HITS_APPROVED = QualificationTypeId("00000000000000000040")
PERCENT_APPROVED = QualificationTypeId("000000000000000000L0")
LOCALE = QualificationTypeId("00000000000000000071")

HOUR = 3600
"""Seconds in an hour."""

Heuristics = Mapping[str, Mapping[str, object] | None]


def heuristics(tables: CampaignTables) -> Heuristics:
    """Return settings by heuristic; `None` for a heuristic that is switched off."""
    return {
        name: None if settings is False else settings
        for name, settings in tables.heuristics.items()
    }


def policy(tables: CampaignTables) -> tuple[PolicyRule, ...]:
    """Return the rules of the policy, in the file's order."""
    return tuple(
        PolicyRule(
            subject_kind=rule.on,
            any_of=rule.any_of,
            at_least=rule.at_least,
            share=rule.share,
            least_answers=rule.least_answers,
            suspicion_above=rule.suspicion_above,
            then=rule.then,
            because=rule.because,
        )
        for rule in tables.decisions.rule
    )


def posting(table: PostingTable, task: Task) -> Posting:
    """Return how HITs are posted, with the task's defaults."""
    minutes, asked = table.assignment_minutes, table.assignments
    return Posting(
        batches=table.batches,
        assignments=asked if isinstance(asked, int) else asked.least,
        items_per_hit=table.items_per_hit or task.items_per_hit,
        lifetime_seconds=round(table.lifetime_hours * HOUR),
        assignment_duration_seconds=(
            round(minutes * 60) if minutes else task.assignment_duration_seconds
        ),
        auto_approval_delay_seconds=round(table.auto_approval_hours * HOUR),
        max_rounds=table.max_rounds,
        as_needed=None if isinstance(asked, int) else AsNeeded(most=asked.most, until=asked.until),
        records_typing=table.records_typing,
    )


def experiment(table: ExperimentTable | None) -> Experiment | None:
    """Return the experiment with the page, if there is one."""
    if table is None:
        return None
    return Experiment(wordings=table.wordings, pastes=table.paste, seed=table.seed)


def earned(tables: tuple[EarnedTable, ...], folder: Path) -> tuple[EarnedRule, ...]:
    """Return when workers earn qualifications; records are relative to the folder."""
    return tuple(
        EarnedRule(
            name=table.name,
            kind=table.kind,
            agreement=table.agreement,
            over=table.over,
            revoke_below=table.revoke_below,
            forget_days=table.forget_after_days,
            records=folder / table.records,
        )
        for table in tables
    )


def requirements(table: RequirementsTable) -> tuple[QualificationRequirement, ...]:
    """Return who may accept a HIT, in MTurk's terms."""
    built_in = []
    if table.approved_hits_above is not None:
        built_in.append(
            QualificationRequirement(
                qualification_type_id=NUMBER_HITS_APPROVED,
                comparator="GreaterThan",
                integer_values=(table.approved_hits_above,),
            )
        )
    if table.approval_rate_at_least is not None:
        built_in.append(
            QualificationRequirement(
                qualification_type_id=PERCENT_APPROVED,
                comparator="GreaterThanOrEqualTo",
                integer_values=(table.approval_rate_at_least,),
            )
        )
    if table.countries:
        built_in.append(
            QualificationRequirement(
                qualification_type_id=LOCALE, comparator="In", locales=table.countries
            )
        )
    return (
        *built_in,
        *of_prolific(table),
        *(
            QualificationRequirement(
                qualification_type_id=QualificationTypeId(extra.id),
                comparator=extra.comparator,
                integer_values=extra.values,
            )
            for extra in table.qualification
        ),
    )


def of_prolific(table: RequirementsTable) -> Iterator[QualificationRequirement]:
    """Yield what participants of Prolific have to answer about themselves."""
    for name, wanted in table.prolific.items():
        type_id = _type_of_filter(name)
        if isinstance(wanted, ParticipantFile):
            continue
        if not isinstance(wanted, FilterRange):
            choices = wanted.choices if isinstance(wanted, FilterShares) else wanted
            yield QualificationRequirement(
                qualification_type_id=type_id, comparator="In", integer_values=choices
            )
            continue
        ends: tuple[tuple[Comparator, int | None], ...] = (
            ("GreaterThanOrEqualTo", wanted.at_least),
            ("LessThanOrEqualTo", wanted.at_most),
        )
        for comparator, end in ends:
            if end is not None:
                yield QualificationRequirement(
                    qualification_type_id=type_id, comparator=comparator, integer_values=(end,)
                )


def shares(table: RequirementsTable) -> tuple[Share, ...]:
    """Return how the visits are divided among the choices of filters."""
    return tuple(
        Share(
            type_id=_type_of_filter(name),
            percent=tuple(zip(wanted.choices, wanted.percent, strict=True)),
        )
        for name, wanted in table.prolific.items()
        if isinstance(wanted, FilterShares)
    )


def _type_of_filter(name: str) -> QualificationTypeId:
    return QualificationTypeId(PROLIFIC + "".join(filter(str.isalnum, name.upper())))


def publication(table: DatasetTable, *, grows: bool = False) -> Publication:
    """Return what the requester states for readers of the dataset."""
    return Publication(
        title=table.title or "",
        version=table.version,
        licence=_licence(table.licence, table.licence_url),
        items_licence=_licence(table.items_licence, table.items_licence_url),
        contact=table.contact or "",
        citation=table.citation or "",
        consent=table.consent or "",
        ethics=table.ethics or "",
        homepage=table.homepage or "",
        tags=table.tags,
        pictures=table.pictures,
        shares=Shares(
            train_percent=table.splits.train,
            val_percent=table.splits.val,
            seed=table.split_seed,
            group_by=table.split_by or "",
            fixed_by=table.split_column or "",
            are_stable=grows,
        ),
    )


def has_releases(tables: CampaignTables) -> bool:
    """Return whether the dataset is released: as stated, or if it grows or has sinks.

    A dataset that grows and is not written as Parquet is not released by itself.
    """
    output = tables.output
    if "releases" in output.model_fields_set or output.sinks:
        return output.releases or bool(output.sinks)
    return tables.items.grows and "parquet" in (output.formats or ("parquet",))


def sinks(table: OutputTable) -> tuple[Sink, ...]:
    """Return where else the releases go."""
    return tuple(
        Sink(
            to=sink.to,
            table=sink.table or "",
            has_history=sink.history,
            is_manifest=sink.format == "manifest",
        )
        for sink in table.sinks
    )


def _licence(name: str | None, url: str | None) -> Licence | None:
    return licence_named(name, url or "") if name else None
