"""Read a campaign file into a `Campaign` with its task, items, heuristics and policy.

All errors are collected before any is raised, so that a person can fix them together.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TypeVar, cast

from piecework.campaign.binding import refuse_imported
from piecework.campaign.campaign_faults import faults_of_names, faults_with_items
from piecework.campaign.deriving import (
    batches_of,
    complete_text,
    counted,
    header_of,
    most_shown,
    purpose,
    stated_first,
    with_derived_budget,
    with_found_columns,
    with_standard_rules,
)
from piecework.campaign.generic_questions import located, task_of_file, test_of_file
from piecework.campaign.growing_source import first_rows, growth_of
from piecework.campaign.labelled_items import (
    Sample,
    all_gold,
    machine_texts,
    machine_votes,
    with_gold,
    with_pictures,
)
from piecework.campaign.provenance import inputs_of
from piecework.campaign.rehearsal_folders import at_number, file_with_results, latest_rehearsal
from piecework.config import campaign_file as values
from piecework.config.campaign_file import CampaignFile, parse
from piecework.config.input_tables import ImportedTable
from piecework.config.items_file import items_from_rows
from piecework.config.requirements_table import read_recruiting
from piecework.config.rewards import pay_of, read_rewards
from piecework.config.schema import CampaignTables
from piecework.config.user_files import whole_path
from piecework.domain.campaign import Campaign, Derived, EarlierCampaign, RehearsalPlan, formats_of
from piecework.domain.errors import ConfigError
from piecework.domain.field import StatedField
from piecework.domain.hit import Item
from piecework.domain.pictures import SCENE_COLUMNS, scene_rows
from piecework.domain.qualifications import QualificationTest
from piecework.domain.task import GENERIC, PRACTICE, Task, is_page
from piecework.domain.toml_text import line_of
from piecework.hit_templates.generic import faults_of_keys
from piecework.hit_templates.own_html.task import (
    ITEM_ID,
    Around,
    answers_task,
    html_task,
    with_shown_columns,
)
from piecework.hit_templates.qualification import faults_of_test
from piecework.hit_templates.tasks import TASK_FILE, is_own, load_task
from piecework.qc.heuristics import like_samples
from piecework.qc.policy import check_rules
from piecework.qc.registry import check_settings
from piecework.store import imports
from piecework.store.database import exists, open_store

_KEYS = (("only_workers_of", True), ("no_workers_of", False))


def read_earlier(file: CampaignFile) -> tuple[EarlierCampaign, ...]:
    """Return the earlier campaigns that `[requirements]` names.

    Raises:
        ConfigError: a campaign file is not there, is wrong, is this one, or is named
            twice.
    """
    faults: list[str] = []
    earlier: list[EarlierCampaign] = []
    for key, is_wanted in _KEYS:
        for named in getattr(file.tables.requirements, key):
            where, path = file.at("requirements", key), file.path.parent / named
            try:
                other = parse(path)
            except ConfigError as error:
                faults += [f"{where}: {fault}" for fault in error.faults]
                continue
            store = other.store
            if store == replace(file, rehearsal=None).store:
                faults.append(f"{where}: {named} is this campaign itself")
            if file.rehearsal is not None and (number := latest_rehearsal(other)) is not None:
                store = replace(other, rehearsal=number).store
            if any(each.store == store for each in earlier):
                faults.append(f"{where}: {named} is named before")
            earlier.append(
                EarlierCampaign(name=other.tables.name, store=store, key=key, is_wanted=is_wanted)
            )
    if faults:
        raise ConfigError(faults)
    return tuple(earlier)


def warnings_of_earlier(campaign: Campaign) -> Iterator[str]:
    """Yield a warning for each earlier campaign that was not started yet."""
    for each in campaign.earlier:
        if not exists(each.store):
            yield (
                f"requirements.{each.key}: the campaign {each.name} was not started "
                "yet; without its workers, no HIT of this campaign can be posted"
            )


_T = TypeVar("_T")
_MOST_REQUIREMENTS = 10
"""MTurk's limit for one HIT type; piecework itself uses up to four of them."""


def load_campaign(path: Path) -> Campaign:
    """Load the campaign of a file, with the installed tasks and heuristics.

    Raises:
        ConfigError: every error in the file, its items, heuristics and policy.
    """
    return assemble(parse(path))


def load_with_results(path: Path, *, rehearsal: int | None = None) -> Campaign:
    """Load a campaign where its results are: live, else in its latest rehearsal.

    A rehearsal is read with the copies of its files, and keeps what the files are now, so
    that a result can say what has changed since.

    Args:
        path: path of the campaign file.
        rehearsal: the number of the rehearsal to read instead.

    Raises:
        ConfigError: as `load_campaign`; or there is no such rehearsal.
    """
    file = parse(path)
    where = file_with_results(file) if rehearsal is None else at_number(file, rehearsal)
    campaign = assemble(where)
    now = inputs_of(file)
    if now.text != campaign.inputs.text:
        # What it leaves out is asked for only then; a file with faults leaves out nothing.
        with suppress(ConfigError):
            now = replace(now, complete=complete_text(assemble(file)))
    return replace(campaign, inputs_now=now)


def read_anywhere(path: Path) -> Campaign:
    """Load the campaign of a file where pages are shown or posted.

    Raises:
        ConfigError: as `load_campaign`.
        RefusedForSafety: its answers were imported; there is no page.
    """
    return assemble_anywhere(parse(path))


def assemble_anywhere(file: CampaignFile) -> Campaign:
    """Do the same for a campaign file that was read."""
    campaign = assemble(file)
    if file.tables.imported is not None:
        refuse_imported(campaign)
    return campaign


def assemble(file: CampaignFile) -> Campaign:
    """Return the campaign that a file describes, with items; see `load_campaign`."""
    if faults := faults_of_names(file):
        raise ConfigError(faults)
    faults, steps = _own_faults(file), list[str]()
    task = _collect(faults, steps, lambda: _asked(file))
    test = _collect(faults, steps, lambda: test_of_file(file, partial(_task, file)))
    if test is not None:
        faults += [f"{file.path}: {fault}" for fault in faults_of_test(test)]
    items, matched = None, tuple[Derived, ...]()
    if task is not None:
        file, matched = with_found_columns(file, task)
        items = _collect(faults, steps, partial(_read_items, file, task))
        faults += faults_with_items(file, task, items or ())
    machine, samples = None, None
    if task is not None and items is not None:
        asked, rows = task, items
        machine = _collect(faults, steps, lambda: machine_votes(file, asked, rows))
        samples = _collect(faults, steps, lambda: machine_texts(file, asked, rows))
    if faults or task is None or items is None:
        raise ConfigError(faults, next_step=next(filter(None, steps), ""))
    campaign = _campaign(file, with_shown_columns(task, items), items, test)
    campaign = replace(
        campaign,
        machine=machine or (),
        heuristics=_with_samples(campaign.heuristics, samples or ()),
        derived=(*stated_first(file, campaign), *matched, *campaign.derived),
    )
    return with_derived_budget(with_standard_rules(campaign, file))


def _read_items(file: CampaignFile, task: Task) -> tuple[Item, ...]:
    return with_pictures(task, with_gold(file, task, _reader_of(file)(file, task)))


def _with_samples(
    settings: Mapping[str, Mapping[str, object] | None], samples: Sequence[Sample]
) -> Mapping[str, Mapping[str, object] | None]:
    """Give the texts of programs to the heuristic that compares with them."""
    own = settings.get(like_samples.NAME, {})
    if own is None or not samples:
        return settings
    return {**settings, like_samples.NAME: {**own, "samples": tuple(samples)}}


def _asked(file: CampaignFile) -> Task:
    """Return what the campaign asks: its task, or the page that it names instead."""
    tables = file.tables
    named = str(tables.task)
    if named in GENERIC:
        return task_of_file(file)
    task = _asked_otherwise(file, named)
    if is_page(named) and not (tables.posting.description or tables.description):
        task = replace(task, description=purpose(task))
    if faults := faults_of_keys(tables.task or "[imported]", tables.model_fields_set):
        raise ConfigError([located(file, fault) for fault in faults])
    return task


def _asked_otherwise(file: CampaignFile, named: str) -> Task:
    """Return a task that does not take its question from the file."""
    tables = file.tables
    if tables.imported is not None and tables.task is None:
        return _asked_elsewhere(file, tables.imported)
    if not is_page(named):
        return _task(file, named)
    return html_task(file.named(named), _around_page(file))


def _asked_elsewhere(file: CampaignFile, imported: ImportedTable) -> Task:
    tables = file.tables
    try:
        return answers_task(
            tables.name,
            _stated_fields(tables),
            title=tables.posting.title or tables.description,
            columns=(ITEM_ID, *(name for name in imported.item if name != ITEM_ID)),
            language=tables.language,
            canned=_canned(tables),
        )
    except ConfigError as error:
        raise ConfigError([f"{file.path}: {fault}" for fault in error.faults]) from error


def _stated_fields(tables: CampaignTables) -> dict[str, StatedField]:
    return {
        name: StatedField(**table.model_dump(exclude={"canned"}))
        for name, table in tables.fields.fields.items()
    }


def _canned(tables: CampaignTables) -> dict[str, str]:
    return {
        name: table.canned
        for name, table in tables.fields.fields.items()
        if table.canned is not None
    }


def _around_page(file: CampaignFile) -> Around:
    tables = file.tables
    return Around(
        title=tables.posting.title or "",
        description=tables.posting.description or tables.description,
        fields=_stated_fields(tables),
        hosts=tables.hosts,
        reward_cents=tables.reward or 1,
        seconds=tables.minutes and tables.minutes * 60,
        language=tables.language,
        canned=_canned(tables),
        items_per_hit=tables.posting.items_per_hit,
        folder=file.folder,
        header=header_of(file),
    )


def _task(file: CampaignFile, named: str) -> Task:
    if is_own(named) and file.copies is not None:
        named = str(file.named(named))
    task = load_task(named, file.tables.language, beside=file.path.parent)
    if faults := check_settings(task.heuristics):
        raise ConfigError([_of_task(task, fault) for fault in faults])
    return task


def _of_task(task: Task, fault: str) -> str:
    """Add file and line to an error in the heuristics that a task states."""
    if task.own is None:
        return f"the task {task.name}: {fault}"
    path = Path(task.own.path) / TASK_FILE
    key = fault.split(maxsplit=1)[0].rstrip(":")
    line = line_of(path.read_text("utf-8"), key.split("."))
    return f"{path}:{line}: {fault}"


def _own_faults(file: CampaignFile) -> list[str]:
    """Return errors in heuristics, policy and requirements, each with its line."""
    tables = file.tables
    known = bool(tables.requirements.countries) + (tables.qualification is not None)
    faults = _faults_of_rules(file)
    decides, is_stated = tables.decisions, "rule" in tables.decisions.model_fields_set
    is_without = not decides.rule and (is_stated or tables.imported is not None)
    if decides.by == "policy" and is_without:
        faults.append(_without_rules(file))
    stated = len(tables.requirements.qualifications) + known
    stated += len([*values.of_prolific(tables)])
    stated += len(tables.requirements.only_workers_of)
    stated += len(tables.requirements.no_workers_of)
    added = 3 + (tables.markets is not None)
    if stated + added > _MOST_REQUIREMENTS:
        faults.append(
            f"{file.at('requirements')}: there are {stated}, and piecework adds up to "
            f"{added}, but MTurk allows {_MOST_REQUIREMENTS} for one HIT type"
        )
    return faults


def _without_rules(file: CampaignFile) -> str:
    return (
        f"{file.at('decisions', 'by')}: is 'policy', but no [[decisions.rule]] "
        "states the policy; add a rule, or set it to 'person'"
    )


def _faults_of_rules(file: CampaignFile) -> list[str]:
    """Return errors in heuristics and policy, each with its line."""
    tables = file.tables
    return [
        *(located(file, fault) for fault in check_settings(values.heuristics(tables))),
        *(_of_rule(file, fault) for fault in check_rules(values.policy(tables))),
    ]


def with_rules_of(campaign: Campaign, file: CampaignFile) -> Campaign:
    """Return a campaign with the heuristics and the policy of another file.

    A file without rules has the standard rules, and an empty list is no rule.

    Raises:
        ConfigError: every error in its heuristics and policy.
    """
    faults, decisions = _faults_of_rules(file), file.tables.decisions
    # Imported answers have no standard rules; an empty list is tried as it says.
    is_forgotten = campaign.imported is not None and "rule" not in decisions.model_fields_set
    if decisions.by == "policy" and is_forgotten:
        faults.append(_without_rules(file))
    if faults:
        raise ConfigError(faults)
    own = {**campaign.task.heuristics, **values.heuristics(file.tables)}
    stated = campaign.heuristics.get(like_samples.NAME) or {}
    samples = cast("tuple[Sample, ...]", stated.get("samples", ()))
    ruled = replace(
        campaign,
        heuristics=_with_samples(own, samples),
        policy=values.policy(file.tables),
        decided_by=file.tables.decisions.by,
    )
    return with_standard_rules(ruled, file)


def _of_rule(file: CampaignFile, fault: str) -> str:
    """Add the rule's line to a sentence that begins with `policy rule 2: `."""
    number = int(fault.removeprefix("policy rule ").partition(":")[0])
    where = file.at("decisions", "rule", str(number - 1))
    return f"{where.rpartition(': ')[0]}: {fault}"


def _collect(faults: list[str], steps: list[str], read: Callable[[], _T]) -> _T | None:
    try:
        return read()
    except ConfigError as error:
        faults.extend(error.faults)
        steps.append(error.next_step)
        return None


def _items(file: CampaignFile, task: Task) -> tuple[Item, ...]:
    table = file.tables.items
    if table.scenes and table.file is None:
        _check_scenes(file, task)
        return items_from_rows(scene_rows(table.scenes), task.columns)
    if table.file is not None:
        page = task.html_page
        return file.items(
            task.columns,
            file=file.named(table.file),
            numbered=page is not None or task.is_generic,
            addresses=task.picture_columns,
            possible=page.possible_addresses if page is not None else (),
        )
    if task.html_page is None:
        return file.items_of_folder(task.columns)
    possible = task.html_page.possible_addresses
    needed = tuple(name for name in possible if name in task.optional_columns)
    return file.items_of_folder(task.columns, addresses=task.picture_columns or needed)


def _check_scenes(file: CampaignFile, task: Task) -> None:
    page = task.html_page
    needed = dict.fromkeys((*task.columns, *(() if page is None else page.addresses)))
    if lacking := [name for name in needed if name not in SCENE_COLUMNS]:
        where, drawn = file.at("items", "scenes"), " and ".join(SCENE_COLUMNS)
        fault = f"{where}: the items of {task.name} have {', '.join(lacking)}"
        raise ConfigError(
            [f"{fault}; drawn pictures have only {drawn}"],
            next_step='list the items in a file: items = "items.csv"',
        )


def _reader_of(file: CampaignFile) -> Callable[[CampaignFile, Task], tuple[Item, ...]]:
    """Return what reads the items of a campaign."""
    if file.tables.imported is not None:
        return _imported_items
    return first_rows if file.tables.grows is not None else _items


def _imported_items(file: CampaignFile, _task: Task) -> tuple[Item, ...]:
    """Return the items of the imported answers; empty before the first import."""
    if not exists(file.store):
        return ()
    with closing(open_store(file.store)) as store:
        return imports.items(store)


def _campaign(
    file: CampaignFile, task: Task, items: Sequence[Item], test: QualificationTest | None
) -> Campaign:
    tables, replay = file.tables, file.tables.rehearsal.replay
    most, count = tables.posting.items_per_hit or task.items_per_hit, counted(items)
    is_whole = bool(task.conditions)
    batches = batches_of(tables, most, count, is_whole=is_whole)
    shows = most_shown(tables, most, count, is_whole=is_whole, task=task)
    pay = pay_of(tables, task, shows=shows)
    return Campaign(
        name=tables.name,
        path=whole_path(file.path),
        inputs=inputs_of(file),
        description=tables.description or purpose(task, tables.posting.title or ""),
        task=replace(task, reward_cents=pay.reward_cents),
        title=tables.posting.title or task.title,
        hit_description=tables.posting.description or task.description,
        keywords=task.keywords if tables.posting.keywords is None else tables.posting.keywords,
        items=tuple(item for item in items if not item.columns.get(PRACTICE)),
        practice=tuple(item for item in items if item.columns.get(PRACTICE)),
        pictures=file.pictures,
        posting=values.posting(tables, task, batches=batches),
        experiment=values.experiment(tables.experiment),
        rewards=read_rewards(tables, pay, file.machine),
        requirements=values.requirements(tables),
        earlier=read_earlier(file),
        crowds=values.crowds(tables),
        recruiting=read_recruiting(
            tables.prolific or {}, values.shares(tables), named=file.named, at=file.at
        ),
        exclusion_name=tables.requirements.exclusion_name or f"piecework: not for {tables.name}",
        crowd_size=tables.requirements.workers,
        most_per_worker=tables.per_worker,
        most_in_batch=tables.per_worker_in_batch,
        qualification=test,
        earned=values.earned(tables.earned, whole_path(file.path).parent),
        wanted_earned=tables.requirements.earned,
        unwanted_earned=tables.requirements.not_earned,
        dataset=values.publication(tables),
        heuristics={**task.heuristics, **values.heuristics(tables)},
        decided_by=tables.decisions.by,
        policy=values.policy(tables),
        formats=tables.formats or formats_of(task),
        has_releases=values.has_releases(tables),
        sinks=values.sinks(tables),
        out=file.out,
        number=file.rehearsal,
        store_url=file.store_url,
        rehearsal=RehearsalPlan(
            seed=tables.rehearsal.seed,
            crowd=dict(tables.rehearsal.crowd),
            people=dict(tables.rehearsal.people),
            replay=file.named(replay).resolve() if replay else None,
            scenes=tables.items.scenes or 0,
        ),
        growth=growth_of(file, task),
        gold=all_gold(file, task) if tables.grows is not None else (),
        gold_share=tables.gold.share if tables.gold is not None else 0.0,
        tells_gold=tables.gold is not None and tables.gold.feedback,
        imported=None if tables.imported is None else tables.imported.reading(),
        derived=pay.derived,
    )
