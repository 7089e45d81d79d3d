"""`serve`: the marketplace as a process of its own."""

from datetime import UTC, datetime
from pathlib import Path

import click


@click.command()
@click.option(
    "--database",
    type=click.Path(path_type=Path),
    default=Path("marketplace.db"),
    show_default=True,
    help="The marketplace's one file.",
)
@click.option("--port", default=8080, show_default=True, help="Site and requester API.")
@click.option("--frames-port", default=8081, show_default=True, help="Question pages.")
@click.option(
    "--pictures",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    help="Folder of pictures to serve under /pictures/.",
)
@click.option(
    "--rehearsal", is_flag=True, help="Open the control path: virtual time, workers."
)
@click.option("--seed", default=1, show_default=True, help="For ids in a rehearsal.")
def serve(
    *,
    database: Path,
    port: int,
    frames_port: int,
    pictures: Path | None,
    rehearsal: bool,
    seed: int,
) -> None:
    """Run the MTurk-compatible marketplace on this machine.

    Example:  piecework serve --rehearsal --port 8080
    """
    from marketplace.server import serve_forever  # noqa: PLC0415 - only when it serves

    serve_forever(
        database,
        rehearsal=rehearsal,
        seed=seed,
        start=datetime(2026, 1, 5, 9, tzinfo=UTC) if rehearsal else None,
        pictures=pictures,
        port=port,
        frames_port=frames_port,
    )
