"""`assess`: what heuristics find, in a file of another tool or in imported answers."""

from pathlib import Path

import click

from cli.options import JSON


@click.command()
@click.argument("what", metavar="CAMPAIGN|FILE", type=click.Path(path_type=Path))
@click.option(
    "--columns",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Of a FILE: a TOML file that says which column is what.",
)
@click.option("--task", help="Of a FILE: what was asked, if it is in the gallery.")
@click.option(
    "--html",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write the findings as one self-contained page.",
)
@click.option(
    "--parquet",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write the findings as a Parquet table.",
)
@JSON
def assess(
    what: Path,
    *,
    columns: Path | None,
    task: str | None,
    html: Path | None,
    parquet: Path | None,
    as_json: bool,
) -> None:
    """Let every heuristic look at answers that another tool collected.

    Of a FILE, nothing is kept and nothing decided: it is read, judged and told. Of a
    CAMPAIGN that `piecework import` made, findings are kept and the rules of its file
    are followed: what nothing speaks against is kept, the rest waits for a person.

    \b
    Example:  piecework assess Batch_123_batch_results.csv --html findings.html
              piecework assess stance.toml
    """  # noqa: D301 - click's mark for lines that stay lines
    from cli.work.assess import assess_campaign, assess_file, say  # noqa: PLC0415 - pandas costs a second

    if what.suffix == ".toml":
        if columns or task:
            raise click.UsageError("--columns and --task are of a FILE")
        found = assess_campaign(what)
    else:
        found = assess_file(what, columns=columns, task_name=task or "")
    say(found, html=html, parquet=parquet, as_json=as_json)
