"""`piecework preview`: the campaign's first HITs on a marketplace for one person.

Nothing is kept: store, marketplace and pictures live in a folder that goes away.
"""

import signal
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import click

from domain.campaign import Campaign
from domain.clock import SystemClock
from flows.assembling import read_anywhere
from flows.opening import open_for_rehearsal
from flows.rehearsing.campaign import draw_pictures
from flows.rehearsing.marketplace import assumed_prices
from flows.steps.launch import launch
from marketplace.http.server import serve
from rehearsal.crowd.preview_worker import sign_in_url


def serve_preview(path: Path, *, port: int) -> None:
    """Serve a preview until the person presses Ctrl-C."""
    # Told to stop, it stops as by Ctrl-C, so that the folder goes away with it.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with opened(read_anywhere(path), port=port) as address:
        click.echo(f"open {address}")
        click.echo("nobody is paid and nothing is kept; Ctrl-C ends it")
        try:
            threading.Event().wait()
        except KeyboardInterrupt:
            click.echo("ended")


@contextmanager
def opened(campaign: Campaign, *, port: int = 0) -> Iterator[str]:
    """A marketplace with the campaign's first batch; the address that signs one in."""
    with tempfile.TemporaryDirectory(prefix="piecework-preview-") as folder:
        out = Path(folder)
        pictures = campaign.pictures
        if campaign.rehearsal.scenes:
            shown = (*campaign.practice, *campaign.items)
            draw_pictures(out, campaign.rehearsal.seed, shown)
            pictures = out / "pictures"
        # Whoever looks at it should get in, whatever the campaign asks of workers.
        opened_to_all = replace(campaign, out=out, requirements=())
        clock = SystemClock()
        with (
            serve(
                out / "marketplace.db",
                rehearsal=True,
                seed=1,
                clock_runs=True,
                prices=assumed_prices(campaign),
                pictures=pictures,
                port=port,
                frames_port=port + 1 if port else 0,
            ) as running,
            open_for_rehearsal(opened_to_all, running.endpoint_url, clock) as run,
        ):
            launch(run)
            yield sign_in_url(running.endpoint_url)
