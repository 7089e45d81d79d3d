"""The command `piecework`: reads the arguments, runs a command, sets the exit code.

0 done, 1 failed, 2 used wrongly, 3 refused for safety, 4 a source of items not read.
"""

import sys

import click

from piecework.cli import logs, prefect_environment
from piecework.cli.configuration import warn_of_variables
from piecework.cli.errors import ErrorCodes
from piecework.cli.lazy_group import LazyCommand, LazyGroup, docs_line, groups_of_markets, with_docs

_DATA = LazyGroup(
    "data",
    help="""Import, assess, clean and describe answers.

    Examples:
      piecework data import batch.csv --as birds.toml
      piecework data assess batch.csv
    """,
    commands=[
        LazyCommand("import", "import_results", "Import results from another tool."),
        LazyCommand("assess", "assess", "Run every heuristic on collected answers."),
        LazyCommand(
            "analyse", "analyse", "Measure agreement, labels, comparisons and order effects."
        ),
        LazyCommand("describe", "analyse:describe", "Describe a caption dataset."),
        LazyCommand(
            "score", "analyse:score", "Score captioning systems or detectors against a dataset."
        ),
        LazyCommand("clean", "clean", "Clean the texts in a table."),
        LazyCommand("words", "clean:words", "Show or decide words that cleaning doubts."),
    ],
)
_PEOPLE = LazyGroup(
    "people",
    help="""Invite people to a marketplace, and revoke invitations.

    `piecework workers list` lists them.

    Examples:
      piecework market people invite ann
      piecework market people invite --from people.csv --write links.csv
    """,
    commands=[
        LazyCommand("invite", "invitations:invite", "Print a link that signs a person in."),
        LazyCommand("revoke", "invitations:revoke", "End all links and sessions of a worker."),
        LazyCommand("links", "open_links:links", "List open links and who joined by them."),
        LazyCommand("close", "open_links:close", "Close an open link to new people."),
        LazyCommand(
            "continue",
            "invitations:continue_",
            "Print a link that continues a participant's visit.",
        ),
    ],
)
_MARKET = LazyGroup(
    "market",
    help="""Serve a marketplace; manage its people and accounts.

    The commands change the marketplace's file. You need not stop or restart its server.

    Examples:
      piecework market serve
      piecework market account add "Vision lab" --balance 500
      piecework market prolific doctor
    """,
    sections={
        "Your marketplace": [
            LazyCommand("serve", "serve", "Run the MTurk-compatible marketplace."),
            _PEOPLE,
            LazyCommand("account", "requester:account", "Manage requester accounts and keys."),
            LazyCommand("layout", "requester:layout", "Manage HIT layouts for other programs."),
            LazyCommand(
                "problems", "requester:problems", "List the problems that workers reported."
            ),
        ],
        "Paid workers from elsewhere": groups_of_markets(),
    },
)
_STORE = LazyGroup(
    "store",
    help="""Back up, restore, move and copy stores.

    Examples:
      piecework store backup birds.toml --to s3://lab-backups/birds
      piecework store restore s3://lab-backups/birds out/birds/piecework.db
    """,
    commands=[
        LazyCommand("backup", "backup", "Copy stores continuously to a bucket."),
        LazyCommand("restore", "backup:restore", "Bring a database back from its backup."),
        LazyCommand(
            "reconcile",
            "store:reconcile",
            "Make store and marketplace agree after a restore.",
        ),
        LazyCommand("move", "store:move", "Continue at a marketplace's new address."),
        LazyCommand("copy", "store:copy", "Copy a store and verify the copy."),
        LazyCommand("archive", "store:archive", "Move settled batches into Parquet files."),
    ],
)
_SECTIONS = {
    "Prepare, without cost": [
        LazyCommand("init", "init", "Write a campaign file from your answers."),
        LazyCommand("check", "check", "Check, render and price a campaign."),
        LazyCommand("preview", "rehearse:preview", "Do a HIT yourself in the browser."),
        LazyCommand("rehearse", "rehearse", "Run a whole campaign on simulated workers."),
        LazyCommand("compare", "compare", "Compare rehearsals, or rules on the same answers."),
    ],
    "Run a campaign": [
        LazyCommand("run", "run", "Make passes until the campaign ends."),
        LazyCommand("status", "status", "Show progress, cost and next steps."),
        LazyCommand("review", "review", "Decide about flagged work."),
        LazyCommand("workers", "workers", "List, exclude and forget workers."),
        LazyCommand("pay", "pay", "Pay bonuses, each exactly once."),
        LazyCommand("stop", "run:stop", "Stop posting and close open HITs."),
        LazyCommand("export", "export", "Write the dataset and report again."),
    ],
    "Tools": [with_docs(each, str(each.name)) for each in (_DATA, _MARKET, _STORE)],
}


@click.group(
    cls=ErrorCodes,
    sections=_SECTIONS,
    short_forms={"prolific": "market"},
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
      piecework init --examples tries
      piecework rehearse tries/config/campaigns/demo.toml
    To write a campaign file of your own:
      piecework init
    """  # noqa: D301 - click's mark for lines that stay lines
    prefect_environment.set_defaults()
    logs.begin_logging()
    if hasattr(sys.stdout, "reconfigure"):
        # A file or another program gets each letter, whatever this terminal can show.
        encoding = None if sys.stdout.isatty() else "utf-8"
        sys.stdout.reconfigure(encoding=encoding, errors="replace")
    warn_of_variables()
