"""Runs the work on files in parts, with its progress on a terminal."""

import json
import secrets
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import asdict, dataclass
from pathlib import Path

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

from piecework.bulk.assessing import assess_in_parts
from piecework.bulk.cleaning import clean_files
from piecework.bulk.exporting import export_files
from piecework.bulk.running import Run, here, on_dask
from piecework.campaign.assembling import load_campaign
from piecework.domain.campaign import Campaign
from piecework.domain.counts import plural
from piecework.domain.dataset import Publication
from piecework.domain.task import Task
from piecework.hit_templates.tasks import load_task
from piecework.postprocess.datasets.facts import DatasetFacts
from piecework.results.provenance import code_version

_NOTHING = Task(
    name="answers",
    version=1,
    title="",
    description="",
    keywords=(),
    columns=(),
    items_per_hit=1,
    reward_cents=0,
    assignment_duration_seconds=1,
    fields=(),
    rules=(),
)
"""Without `--task`: nothing is known of what was asked but the text."""


@dataclass(frozen=True, kw_only=True)
class Asked:
    """What is known of how the answers in files were asked for.

    Attributes:
        campaign: whose answers they are, if that was said.
    """

    task: Task
    campaign: Campaign | None = None


def asked(*, campaign: Path | None, task_name: str) -> Asked:
    """What a command's `--as` and `--task` say."""
    if campaign is None:
        return Asked(task=load_task(task_name) if task_name else _NOTHING)
    if task_name:
        raise click.UsageError("--as says the task already; leave out --task")
    whole = load_campaign(campaign)
    return Asked(task=whole.task, campaign=whole)


def assess(
    files: Sequence[Path], *, into: Path, asked: Asked, dask: str, as_json: bool
) -> None:
    """Judge answers in parts; the findings are Parquet in a folder."""
    whole = asked.campaign
    with _runner(dask) as run:
        found = assess_in_parts(
            files,
            run,
            into=into,
            task=asked.task,
            settings=whole.heuristics if whole else {},
            seed=whole.rehearsal.seed if whole else 0,
            items=whole.items if whole else (),
        )
    if as_json:
        document = {
            "folder": str(found.folder),
            "answers": found.answers,
            "findings": found.findings,
            "flagged": dict(found.flagged),
        }
        click.echo(json.dumps(document, indent=2))
        return
    for name, number in found.flagged.items():
        click.echo(f"{number:>12,}  {name}")
    click.echo(
        f"{plural(found.answers, 'answer')} in {plural(found.files, 'file')}; "
        f"{plural(found.findings, 'finding')} in {found.folder}"
    )


def clean(files: Sequence[Path], *, into: Path, dask: str, as_json: bool) -> None:
    """Clean texts in parts; clean texts and edits are Parquet in a folder."""
    with _runner(dask) as run:
        done = clean_files(files, run, into=into)
    if as_json:
        click.echo(json.dumps({**asdict(done), "folder": str(done.folder)}, indent=2))
        return
    click.echo(
        f"{plural(done.edits, 'edit')} in {done.changed:,} of "
        f"{plural(done.answers, 'answer')}, {plural(done.proposals, 'proposal')}; "
        f"in {done.folder}"
    )


def export(
    files: Sequence[Path], *, into: Path, asked: Asked, dask: str, as_json: bool
) -> None:
    """Write a dataset's tables in parts; they are folders of Parquet in a folder."""
    whole = asked.campaign
    facts = DatasetFacts(
        campaign=whole.name if whole else into.name,
        purpose=whole.description if whole else "",
        task=asked.task,
        source_hash=whole.source_hash if whole else "",
        code_commit=code_version(),
        is_rehearsal=False,
        is_imported=whole is not None and whole.imported is not None,
        wanted_per_item="",
        publication=whole.dataset if whole else Publication(),
        is_part=True,
    )
    with _runner(dask) as run:
        done = export_files(
            files,
            run,
            into=into,
            facts=facts,
            key=secrets.token_bytes(),
            items=whole.items if whole else (),
        )
    if as_json:
        click.echo(json.dumps({**asdict(done), "folder": str(done.folder)}, indent=2))
        return
    for name, number in done.rows.items():
        click.echo(f"{number:>12,}  {done.folder / name}")
    click.echo(f"of {plural(done.answers, 'answer')}")


@contextmanager
def _runner(dask: str) -> Iterator[Run]:
    """Who does the parts: this process, or Dask's if an address is given."""
    with (
        _told() as told,
        on_dask(dask, told) if dask else nullcontext(here(told)) as run,
    ):
        yield run


@contextmanager
def _told() -> Iterator[Callable[[str, int, int], None]]:
    """A bar a step on a terminal; a line a step elsewhere."""
    if not sys.stderr.isatty():
        yield (
            lambda step, done, of: (
                click.echo(f"{step}: {of:,} parts", err=True) if done == of else None
            )
        )
        return
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, console=Console(stderr=True)) as progress:
        bars = {}

        def tell(step: str, done: int, of: int) -> None:
            if step not in bars:
                bars[step] = progress.add_task(step, total=of)
            progress.update(bars[step], completed=done)

        yield tell
