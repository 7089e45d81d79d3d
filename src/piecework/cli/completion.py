"""Types of arguments for which a shell completes more than file names."""

import tomllib
from pathlib import Path

import click
from click.shell_completion import CompletionItem

_EXAMPLES = Path("config/campaigns")


class CampaignFile(click.Path):
    """The path of a campaign file; a shell offers the campaign files of the folder."""

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """Return the campaign files that begin so, or let the shell offer files."""
        folder = Path(incomplete) if incomplete.endswith("/") else Path(incomplete).parent
        folders = [folder] if "/" in incomplete else [Path(), _EXAMPLES]
        paths = sorted(path for each in folders for path in each.glob("*.toml"))
        campaigns = [
            CompletionItem(str(path))
            for path in paths
            if str(path).startswith(incomplete) and _is_campaign(path)
        ]
        return campaigns or super().shell_complete(ctx, param, incomplete)


class TaskName(click.ParamType[str]):
    """A task's name, or another way to state a task; a shell offers the names."""

    name = "task"

    def shell_complete(
        self,
        ctx: click.Context,  # noqa: ARG002 - click's
        param: click.Parameter,  # noqa: ARG002 - click's
        incomplete: str,
    ) -> list[CompletionItem]:
        """Return the task names that begin so, or let the shell offer files."""
        from piecework.hit_templates.tasks import task_names

        names = [name for name in task_names() if name.startswith(incomplete)]
        return [CompletionItem(name) for name in names] or [CompletionItem(incomplete, type="file")]


def _is_campaign(path: Path) -> bool:
    try:
        tables = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    return "name" in tables and bool({"task", "question", "imported"} & tables.keys())
