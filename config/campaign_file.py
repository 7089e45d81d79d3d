"""From a TOML file to a `Campaign`, with every fault at once, each with key and line.

All paths in the file are relative to the file, so that a schedule started in another
folder finds the same store and cannot post a second time.
"""

import hashlib
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from pydantic import ValidationError

from config.items_file import Row, items_from_rows, read_items
from config.lines import line_of
from config.rewards import read_rewards
from config.schema import CampaignFile, RequirementsTable
from domain.campaign import FORMATS, Campaign, Posting, RehearsalPlan
from domain.errors import ConfigError
from domain.hit import Item, QualificationRequirement
from domain.ids import QualificationTypeId
from domain.qualification import QualificationTest
from domain.task import PRACTICE, Task
from domain.verdicts import PolicyRule

# MTurk's system qualification types (API reference, data structures).
NUMBER_HITS_APPROVED = QualificationTypeId("00000000000000000040")
PERCENT_APPROVED = QualificationTypeId("000000000000000000L0")
LOCALE = QualificationTypeId("00000000000000000071")

_HOUR = 3600
_T = TypeVar("_T")
Heuristics = Mapping[str, Mapping[str, object] | None]


def read_file(path: Path) -> CampaignFile:
    """The campaign file's own words, checked key by key; items are not read yet.

    Raises:
        ConfigError: the file cannot be read, is no TOML, or breaks the schema.
    """
    text = _text(path)
    try:
        return CampaignFile.model_validate(tomllib.loads(text))
    except tomllib.TOMLDecodeError as fault:
        raise ConfigError([f"{path}: no valid TOML: {fault}"]) from fault
    except ValidationError as fault:
        raise ConfigError(_schema_faults(path, text, fault)) from fault


def read_campaign(
    path: Path,
    *,
    load_task: Callable[[str, str], Task],
    check_items: Callable[[Task, Sequence[Item]], Sequence[str]],
    check_heuristics: Callable[[Heuristics], Sequence[str]],
    check_policy: Callable[[Sequence[PolicyRule]], Sequence[str]],
    check_qualification: Callable[[QualificationTest], Sequence[str]] = lambda _: (),
    drawn: Sequence[Row] | None = None,
) -> Campaign:
    """The campaign that a file describes, items included.

    Args:
        path: the campaign file.
        load_task: finds a task by name and language; raises `ConfigError` for an
            unknown one.
        check_items: says in sentences what of the items the task cannot show.
        check_heuristics: says in sentences what is wrong with heuristics' settings.
        check_policy: says in sentences what is wrong with the policy's rules.
        check_qualification: says in sentences why this cannot be a test.
        drawn: rows of drawn pictures; without them, they are read from where the
            rehearsal left them.

    Raises:
        ConfigError: with all faults of file, heuristics, policy and items.
    """
    words = read_file(path)
    heuristics: Heuristics = {
        name: None if settings is False else settings
        for name, settings in words.heuristics.items()
    }
    policy = _policy(words)
    faults = [
        f"{path}: {fault}"
        for fault in (*check_heuristics(heuristics), *check_policy(policy))
    ]
    task = _collect(faults, lambda: load_task(words.task, words.language))
    faults += _posting_faults(path, words)
    out = output_folder(path, words)
    test = _collect(faults, lambda: _qualification(path, words, load_task))
    faults += [
        f"{path}: {fault}" for fault in (check_qualification(test) if test else ())
    ]
    pictures, items = None, None
    if task is not None:
        pictures = _pictures(path, words, out)
        items = _collect(faults, lambda: _items(path, words, task, out, drawn=drawn))
        counted = [item for item in items or () if not item.columns.get(PRACTICE)]
        faults += _faults_with_items(path, words, task, out, count=len(counted))
        faults += [f"{path}: {fault}" for fault in check_items(task, items or ())]
        if items and not counted:
            faults.append(f"{path}: all items are practice; nothing is left to answer")
    if faults or task is None or items is None:
        raise ConfigError(faults)
    campaign = _campaign(path, words, task, items, heuristics)
    return replace(campaign, pictures=pictures, policy=policy, qualification=test)


def output_folder(path: Path, words: CampaignFile) -> Path:
    """Where store, dataset and report of a campaign live."""
    folder = words.output.folder or f"out/{words.name}"
    return (path.parent / folder).resolve()


def _text(path: Path) -> str:
    try:
        return path.read_bytes().decode("utf-8-sig")
    except OSError as fault:
        raise ConfigError(
            [f"{path}: the campaign file cannot be read ({fault.strerror})"],
            next_step="see config/campaigns/demo.toml for an example",
        ) from fault
    except UnicodeDecodeError as fault:
        raise ConfigError([f"{path}: not UTF-8 at byte {fault.start}"]) from fault


def _schema_faults(path: Path, text: str, fault: ValidationError) -> list[str]:
    faults = []
    for error in fault.errors(include_url=False):
        location = [part for part in error["loc"] if not _is_branch(part)]
        key = ".".join(str(part) for part in location) or "the file"
        line = line_of(text, location)
        where = f"{path}:{line}" if line else str(path)
        if error["type"] == "extra_forbidden":
            faults.append(f"{where}: {key}: no such key")
        elif error["type"] == "missing":
            faults.append(f"{where}: {key}: is missing")
        else:
            message = error["msg"].removeprefix("Value error, ")
            faults.append(f"{where}: {key}: {message} (found {error['input']!r:.80})")
    return faults


def _is_branch(part: str | int) -> bool:
    # pydantic names the branch of a union in the location; no key is called so.
    return isinstance(part, str) and part.startswith(("dict[", "literal["))


def _collect(faults: list[str], read: Callable[[], _T]) -> _T | None:
    try:
        return read()
    except ConfigError as error:
        faults.extend(error.faults)
        return None


def _posting_faults(path: Path, words: CampaignFile) -> list[str]:
    faults = []
    if words.decisions.by == "policy" and not words.decisions.rule:
        faults.append(
            f"{path}: decisions.by is 'policy', but no [[decisions.rule]] says what "
            "the policy is"
        )
    known = bool(words.requirements.countries) + (words.qualification is not None)
    if len(words.requirements.qualification) + known + 3 > 10:  # noqa: PLR2004 - MTurk's limit
        faults.append(f"{path}: requirements: MTurk allows ten for one HIT type")
    return faults


def _faults_with_items(
    path: Path, words: CampaignFile, task: Task, out: Path, *, count: int
) -> list[str]:
    """What only shows beside the task and its items, each with its line."""
    posting, faults = words.posting, []
    allowed = FORMATS[task.dataset]
    faults += [
        f"{_at(path, 'output', 'formats')}: {name} is for captions; a dataset of "
        f"{task.name} is written as {' or '.join(allowed)}"
        for name in words.output.formats or ()
        if name not in allowed
    ]
    if posting.items_per_hit and posting.items_per_hit > task.items_per_hit:
        faults.append(
            f"{_at(path, 'posting', 'items_per_hit')}: is {posting.items_per_hit}; a "
            f"HIT of {task.name} shows 1 to {task.items_per_hit} items"
        )
    if count and posting.batches > count:
        faults.append(
            f"{_at(path, 'posting', 'batches')}: is {posting.batches}, but there are "
            f"only {count} items"
        )
    above = next(folder for folder in (out, *out.parents) if folder.exists())
    if not above.is_dir():
        faults.append(f"{_at(path, 'output', 'folder')}: {above} is no folder")
    return faults


def _at(path: Path, *key: str) -> str:
    line = line_of(_text(path), key)
    return f"{path}:{line}: {'.'.join(key)}" if line else f"{path}: {'.'.join(key)}"


def _pictures(path: Path, words: CampaignFile, out: Path) -> Path | None:
    if words.items.scenes:
        return out / "pictures"
    if words.items.pictures:
        return (path.parent / words.items.pictures).resolve()
    return None


def _items(
    path: Path,
    words: CampaignFile,
    task: Task,
    out: Path,
    *,
    drawn: Sequence[Row] | None,
) -> tuple[Item, ...]:
    if drawn is not None:
        return items_from_rows(drawn, task.columns)
    if words.items.scenes and words.items.file is None:
        file = out / "items.jsonl"
        if not file.is_file():
            first = f"run `piecework rehearse {path}` first"
            raise ConfigError([f"{path}: items.scenes: none are drawn yet; {first}"])
    else:
        file = path.parent / str(words.items.file)
    # Drawn pictures need not be there yet: a rehearsal draws those that are named.
    pictures = None if words.items.scenes else _pictures(path, words, out)
    return read_items(
        file, task.columns, pictures=pictures, drawn=words.items.scenes or 0
    )


def _qualification(
    path: Path, words: CampaignFile, load_task: Callable[[str, str], Task]
) -> QualificationTest | None:
    table = words.qualification
    if table is None:
        return None
    task = load_task(table.task, words.language)
    items = read_items(
        path.parent / table.items,
        task.columns,
        pictures=None if words.items.scenes else _pictures(path, words, path),
        drawn=words.items.scenes or 0,
    )
    retry = table.retry_hours
    return QualificationTest(
        name=table.name or f"piecework: {task.name}, test of {words.name}",
        task=task,
        items=items,
        correct_at_least=table.correct_at_least,
        duration_seconds=round(table.time_limit_minutes * 60),
        retry_seconds=None if retry is None else round(retry * _HOUR),
    )


def _campaign(
    path: Path,
    words: CampaignFile,
    task: Task,
    items: tuple[Item, ...],
    heuristics: Heuristics,
) -> Campaign:
    posting = words.posting
    minutes = posting.assignment_minutes
    return Campaign(
        name=words.name,
        path=path.resolve(),
        source_hash=hashlib.sha256(path.read_bytes()).hexdigest(),
        description=words.description,
        task=task,
        title=posting.title or task.title,
        hit_description=posting.description or task.description,
        keywords=task.keywords,
        items=tuple(item for item in items if not item.columns.get(PRACTICE)),
        practice=tuple(item for item in items if item.columns.get(PRACTICE)),
        pictures=None,
        posting=Posting(
            batches=posting.batches,
            assignments=posting.assignments,
            items_per_hit=posting.items_per_hit or task.items_per_hit,
            lifetime_seconds=round(posting.lifetime_hours * _HOUR),
            assignment_duration_seconds=(
                round(minutes * 60) if minutes else task.assignment_duration_seconds
            ),
            auto_approval_delay_seconds=round(posting.auto_approval_hours * _HOUR),
            max_rounds=posting.max_rounds,
        ),
        rewards=read_rewards(words.rewards, task),
        requirements=_requirements(words.requirements),
        exclusion_name=words.requirements.exclusion_name
        or f"piecework: not for {words.name}",
        heuristics={**task.heuristics, **heuristics},
        decided_by=words.decisions.by,
        policy=(),
        formats=words.output.formats or FORMATS[task.dataset],
        out=output_folder(path, words),
        rehearsal=RehearsalPlan(
            seed=words.rehearsal.seed,
            crowd=dict(words.rehearsal.crowd),
            replay=(path.parent / words.rehearsal.replay).resolve()
            if words.rehearsal.replay
            else None,
            scenes=words.items.scenes or 0,
        ),
    )


def _policy(words: CampaignFile) -> tuple[PolicyRule, ...]:
    return tuple(
        PolicyRule(
            subject_kind=rule.on,
            any_of=rule.any_of,
            at_least=rule.at_least,
            share=rule.share,
            then=rule.then,
            because=rule.because,
        )
        for rule in words.decisions.rule
    )


def _requirements(table: RequirementsTable) -> tuple[QualificationRequirement, ...]:
    found = []
    if table.approved_hits_above is not None:
        found.append(
            QualificationRequirement(
                qualification_type_id=NUMBER_HITS_APPROVED,
                comparator="GreaterThan",
                integer_values=(table.approved_hits_above,),
            )
        )
    if table.approval_rate_at_least is not None:
        found.append(
            QualificationRequirement(
                qualification_type_id=PERCENT_APPROVED,
                comparator="GreaterThanOrEqualTo",
                integer_values=(table.approval_rate_at_least,),
            )
        )
    if table.countries:
        found.append(
            QualificationRequirement(
                qualification_type_id=LOCALE,
                comparator="In",
                locales=table.countries,
            )
        )
    return (
        *found,
        *(
            QualificationRequirement(
                qualification_type_id=QualificationTypeId(extra.id),
                comparator=extra.comparator,
                integer_values=extra.values,
            )
            for extra in table.qualification
        ),
    )
