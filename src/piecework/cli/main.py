"""The command `piecework`: parses words, calls the work, turns errors into exit codes.

0 done, 1 failed, 2 used wrongly, 3 refused for safety.
"""

import sys

import click

from piecework.cli import logs, prefect_environment
from piecework.cli.errors import ErrorCodes
from piecework.cli.lazy_group import LazyCommand

_COMMANDS = [
    LazyCommand(
        "advance",
        "advance",
        "Make one pass: do what is due, and end; for a schedule.",
    ),
    LazyCommand(
        "analyse",
        "analyse",
        "Agreement, labels, comparisons, conditions and order effects of answers.",
    ),
    LazyCommand(
        "assess",
        "assess",
        "Let every heuristic look at answers that another tool collected.",
    ),
    LazyCommand("check", "check", "Read, render and price everything; touch nothing."),
    LazyCommand(
        "clean",
        "clean",
        "Clean the texts of answers in Parquet FILES, all together.",
    ),
    LazyCommand(
        "crowd",
        "crowd",
        "Be the world of a rehearsed schedule: a marketplace and its simulated "
        "workers.",
    ),
    LazyCommand(
        "decisions",
        "decisions",
        "Take decisions to a person and back, as a CSV file; `review` is the "
        "page for it.",
    ),
    LazyCommand(
        "describe",
        "describe",
        "Tell what a caption dataset holds: the analyses of VizWiz-Captions.",
    ),
    LazyCommand(
        "examples",
        "examples",
        "Copy the example campaigns to FOLDER/config/campaigns, where they can be run.",
    ),
    LazyCommand(
        "export",
        "export",
        "Export dataset and report again, for the work so far.",
    ),
    LazyCommand(
        "forecast",
        "forecast",
        "Rehearse a campaign many times, as it is or varied, and compare.",
    ),
    LazyCommand(
        "import",
        "import_results",
        "Make a campaign of results that another tool collected.",
    ),
    LazyCommand(
        "init", "init", "Write a campaign FILE; what no option says is asked for."
    ),
    LazyCommand(
        "layout",
        "layout",
        "Keep pages for programs that post HITs with a HITLayoutId.",
    ),
    LazyCommand(
        "new-task",
        "new_task",
        "Write a task into the folder PATH, with items and a campaign file beside it.",
    ),
    LazyCommand(
        "pay", "pay", "Pay bonuses, each once: up to the wage floor, or from a file."
    ),
    LazyCommand(
        "preview",
        "preview",
        "Do the task yourself in a browser; nothing is stored with the campaign.",
    ),
    LazyCommand(
        "prolific",
        "prolific",
        "Look at an account at Prolific, where real participants are.",
    ),
    LazyCommand(
        "prolific-emulator",
        "prolific_emulator",
        "Run an offline Prolific on this machine: its API, without people or money.",
    ),
    LazyCommand(
        "reconcile",
        "reconcile",
        "After a restore, make store and marketplace agree.",
    ),
    LazyCommand(
        "rehearse", "rehearse", "Rehearse the whole campaign on simulated workers."
    ),
    LazyCommand(
        "requester",
        "requester",
        "Say who may call a live marketplace: accounts, and keys to sign with.",
    ),
    LazyCommand(
        "review",
        "review",
        "Decide in a browser what waits for a person; nothing is spent by it.",
    ),
    LazyCommand(
        "run",
        "run",
        "Make passes until the campaign is finished or waits for people.",
    ),
    LazyCommand(
        "serve", "serve", "Run the MTurk-compatible marketplace on this machine."
    ),
    LazyCommand(
        "status",
        "status",
        "Say how far a campaign is, what it cost, and who waits for whom.",
    ),
    LazyCommand(
        "stop",
        "stop",
        "Post nothing more, and let nobody take the HITs that are open.",
    ),
    LazyCommand(
        "tasks", "tasks", "List the tasks of the gallery, and those in FOLDERS."
    ),
    LazyCommand(
        "unreject",
        "unreject",
        "Take a rejection back: pay for the work and let its answers in again.",
    ),
    LazyCommand(
        "worker",
        "worker",
        "Say who may work on a marketplace: invite people, list them, shut them out.",
    ),
    LazyCommand(
        "workers",
        "workers",
        "List the workers of a campaign, exclude one, or include one again.",
    ),
]


@click.group(
    cls=ErrorCodes,
    commands=_COMMANDS,
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.version_option(package_name="piecework")
def main() -> None:
    """Turn a campaign file into a dataset that people can trust.

    Amazon Mechanical Turk closed on 2026-09-30. piecework brings a marketplace that
    speaks the same protocol: rehearsals run on simulated workers, cost nothing and
    need no account.

    \b
    Start with:  piecework examples tries
    Your own:    piecework init
    """  # noqa: D301 - click's mark for lines that stay lines
    prefect_environment.set_defaults()
    logs.begin()
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(errors="replace")
