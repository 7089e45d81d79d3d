"""`export`: dataset and report again; of files, the tables of a dataset."""

from pathlib import Path

import click

from cli.options import AS_CAMPAIGN, DASK, FILES_IN_PARTS, JSON, TASK


@click.command()
@click.argument(
    "what",
    metavar="CAMPAIGN|FILES",
    type=click.Path(path_type=Path),
    nargs=-1,
    required=True,
)
@click.option(
    "--answers",
    metavar="FILE",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Of a CAMPAIGN: write all answers into one Parquet file instead, as "
    "`assess FILES` and `export FILES` read them.",
)
@TASK
@FILES_IN_PARTS
@AS_CAMPAIGN
@DASK
@JSON
def export(
    what: tuple[Path, ...],
    *,
    answers: Path | None,
    task: str | None,
    into: Path | None,
    campaign: Path | None,
    dask: str,
    as_json: bool,
) -> None:
    """Write the dataset and the report again, as far as the campaign has come.

    Of FILES in piecework's own columns, of any size, --to FOLDER writes the tables of a
    dataset in parts: answers that count, those set aside, and items with what their
    answers say together. Texts are cleaned, workers become pseudonyms.

    \b
    Example:  piecework export config/campaigns/demo.toml
              piecework export config/campaigns/demo.toml --answers answers.parquet
              piecework export answers/ --to dataset --task caption --dask
    """  # noqa: D301 - click's mark for lines that stay lines
    if into is not None:
        from cli.work import partitions  # noqa: PLC0415 - pandas costs a second

        if answers:
            raise click.UsageError("--answers is of a CAMPAIGN, --to of FILES")
        asked = partitions.asked(campaign=campaign, task_name=task or "")
        partitions.export(what, into=into, asked=asked, dask=dask, as_json=as_json)
        return
    if dask or campaign or task:
        raise click.UsageError("--dask, --as and --task are of FILES, with --to FOLDER")
    if len(what) > 1:
        raise click.UsageError("several FILES need --to FOLDER")
    _of_campaign(what[0], answers)


def _of_campaign(path: Path, answers: Path | None) -> None:
    from domain.counts import plural  # noqa: PLC0415
    from flows.assembling import load_campaign  # noqa: PLC0415
    from flows.opening import open_to_look  # noqa: PLC0415
    from flows.results.answers_file import write_answers  # noqa: PLC0415
    from flows.results.clean import clean  # noqa: PLC0415 - dictionaries cost a second
    from flows.results.export import export as write_files  # noqa: PLC0415

    with open_to_look(load_campaign(path)) as run:
        clean(run)
        if answers is not None:
            click.echo(f"{plural(write_answers(run, answers), 'answer')} in {answers}")
            return
        report = write_files(run)
        click.echo(f"dataset: {run.campaign.out / 'dataset'}")
        click.echo(f"report: {report}")
