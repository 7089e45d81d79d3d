"""`decisions`: what waits for a person as CSV, the answers, and the audit trail."""

from pathlib import Path

import click

from piecework.cli.options import CAMPAIGN
from piecework.config.user_files import read_text


@click.command()
@CAMPAIGN
@click.option(
    "--write", type=click.Path(path_type=Path), help="Write the decisions to make to this CSV file."
)
@click.option(
    "--read",
    type=click.Path(path_type=Path),
    help="Read a filled-in file; an error in one row rejects the whole file.",
)
@click.option(
    "--audit",
    type=click.Path(path_type=Path),
    help="Write who signed in, and all decisions and undos so far, to this CSV file.",
)
@click.option("--by", help="With --read: the name of the person who decided.")
def decisions(
    campaign: Path, *, write: Path | None, read: Path | None, audit: Path | None, by: str | None
) -> None:
    """Export and import decisions as CSV.

    Write the file, fill it in, and read it back. `piecework review` offers the same
    decisions on a page.

    Examples:
      piecework decisions birds.toml --write decisions.csv
      piecework decisions birds.toml --read decisions.csv --by ada
      piecework decisions birds.toml --audit audit.csv
    """
    if [write, read, audit].count(None) != 2:  # noqa: PLR2004 - of three
        raise click.UsageError(
            "give --write FILE, --read FILE or --audit FILE, and only one of them"
        )
    if read is not None and not (by or "").strip():
        raise click.UsageError("--read needs --by NAME: the store keeps who decided")
    from piecework.campaign.assembling import load_campaign
    from piecework.engine.opening import open_to_look
    from piecework.review.model.audit_csv import audit_csv
    from piecework.review.model.decisions_csv import read_decisions, waiting_csv
    from piecework.store.files import write_private

    with open_to_look(load_campaign(campaign)) as opened:
        if write is not None:
            content, rows = waiting_csv(opened)
            write_private(write, content)
            click.echo(f"{write}: {rows} decisions to make")
        elif audit is not None:
            content, rows = audit_csv(opened)
            write_private(audit, content)
            click.echo(f"{audit}: {rows} entries")
        elif read is not None:
            new = read_decisions(
                opened, read_text(read), decided_by=str(by).strip(), name=str(read)
            )
            then = "the next export shows them"
            if not opened.is_imported:
                then = "the next pass acts on them"
            click.echo(f"{read}: {new} decisions stored; {then}")
