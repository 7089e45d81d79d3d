"""The command `piecework`: reads the arguments, runs a command, sets the exit code.

0 done, 1 failed, 2 used wrongly, 3 refused for safety, 4 a source of items not read.
"""

import sys

import click

from piecework.cli import logs, prefect_environment
from piecework.cli.errors import ErrorCodes
from piecework.cli.lazy_group import LazyCommand, commands_of_markets, docs_line

_SECTIONS = {
    "Prepare, without cost": [
        LazyCommand("init", "init", "Write a campaign file from your answers."),
        LazyCommand("examples", "tasks:examples", "Copy the example campaigns to a folder."),
        LazyCommand("tasks", "tasks", "List the available tasks."),
        LazyCommand("new-task", "tasks:new_task", "Create a task of your own."),
        LazyCommand("check", "check", "Check, render and price a campaign."),
        LazyCommand("preview", "tasks:preview", "Do a HIT yourself in the browser."),
        LazyCommand("rehearse", "rehearse", "Run a whole campaign on simulated workers."),
        LazyCommand(
            "forecast", "rehearse:forecast", "Compare cost, time and quality over rehearsals."
        ),
        LazyCommand("compare", "compare", "Compare rehearsals, or rules on the same answers."),
    ],
    "Run a campaign": [
        LazyCommand("run", "run", "Make passes until the campaign ends."),
        LazyCommand("advance", "run:advance", "Make one pass, for a schedule."),
        LazyCommand("status", "status", "Show progress, cost and next steps."),
        LazyCommand("review", "review", "Decide about flagged work in the browser."),
        LazyCommand("decisions", "review:decisions", "Export and import decisions as CSV."),
        LazyCommand("workers", "workers", "List, exclude, invite and revoke workers."),
        LazyCommand("pay", "pay", "Pay bonuses, each exactly once."),
        LazyCommand("unreject", "review:unreject", "Reverse a rejection and pay the worker."),
        LazyCommand("stop", "run:stop", "Stop posting and close open HITs."),
        LazyCommand("archive", "store:archive", "Move settled batches into Parquet files."),
        LazyCommand("store", "store", "Copy a store between a file and PostgreSQL."),
        LazyCommand(
            "reconcile", "store:reconcile", "Compare store and marketplace after a restore."
        ),
        LazyCommand("backup", "backup", "Copy stores continuously to a bucket."),
        LazyCommand("restore", "backup:restore", "Bring a database back from its backup."),
        LazyCommand("rebind", "store:rebind", "Continue at a marketplace's new address."),
    ],
    "Use the results": [
        LazyCommand("export", "export", "Write the dataset and report again."),
        LazyCommand("report", "export:report", "Write the report again."),
        LazyCommand("assess", "assess", "Run every heuristic on collected answers."),
        LazyCommand(
            "analyse", "analyse", "Measure agreement, labels, comparisons and order effects."
        ),
        LazyCommand("clean", "clean", "Clean the texts in large Parquet files."),
        LazyCommand("words", "clean:words", "Show or decide words that cleaning doubts."),
        LazyCommand("describe", "analyse:describe", "Describe a caption dataset."),
        LazyCommand("score", "analyse:score", "Score captioning systems against a dataset."),
        LazyCommand("import", "import_results", "Import results from another tool."),
    ],
    "Serve a marketplace": [
        LazyCommand("serve", "serve", "Run the MTurk-compatible marketplace."),
        LazyCommand("requester", "requester", "Manage requester accounts and access keys."),
        LazyCommand("layout", "requester:layout", "Manage HIT layouts for other programs."),
        LazyCommand("crowd", "rehearse:crowd", "Run a marketplace with simulated workers."),
        *commands_of_markets(),
    ],
}


@click.group(
    cls=ErrorCodes,
    sections=_SECTIONS,
    aliases={"validate": "check", "dry-run": "rehearse", "worker": "workers"},
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog=docs_line("piecework"),
)
@click.version_option(package_name="piecework")
def main() -> None:
    """Turn a campaign file into a dataset that people can trust.

    Rehearsals use simulated workers: they cost nothing and need no account.

    \b
    To start, copy the example campaigns and rehearse one:
      piecework examples tries
      piecework rehearse tries/config/campaigns/demo.toml
    To write a campaign file of your own:
      piecework init
    """  # noqa: D301 - click's mark for lines that stay lines
    prefect_environment.set_defaults()
    logs.begin()
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(errors="replace")
