"""What commands on files of any size share: the runner of parts, and the origin."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

if TYPE_CHECKING:
    from piecework.bulk.answer_files import Origin
    from piecework.bulk.running import PartRunner


def origin_of(*, campaign: Path | None, task_name: str) -> "Origin":
    """Return the origin of answers that `--as` and `--task` state."""
    from piecework.bulk.answer_files import UNKNOWN_TASK, Origin
    from piecework.campaign.assembling import load_campaign
    from piecework.hit_templates.tasks import load_task

    if campaign is None:
        return Origin(task=load_task(task_name) if task_name else UNKNOWN_TASK)
    if task_name:
        raise click.UsageError("--as already states the task; leave out --task")
    loaded = load_campaign(campaign)
    return Origin(task=loaded.task, campaign=loaded)


@contextmanager
def runner(dask: str) -> Iterator["PartRunner"]:
    """Yield what runs the parts: this process, or Dask if an address is given."""
    from piecework.bulk.running import here, on_dask

    with _progress() as report:
        if not dask:
            yield here(report)
            return
        with on_dask(dask, report) as run_parts:
            yield run_parts


@contextmanager
def _progress() -> Iterator[Callable[[str, int, int], None]]:
    """Yield what shows each step: a bar on a terminal, otherwise a line."""
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

        def show(step: str, done: int, of: int) -> None:
            if step not in bars:
                bars[step] = progress.add_task(step, total=of)
            progress.update(bars[step], completed=done)

        yield show
