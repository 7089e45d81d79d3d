"""Write the releases of a dataset to the places that the campaign file names."""

import logging
from collections.abc import Callable, Iterable
from functools import partial

from piecework.domain.campaign import Campaign
from piecework.domain.counts import plural
from piecework.domain.dataset import Sink
from piecework.domain.errors import PieceworkError
from piecework.exchange.sinks import SinkFailed
from piecework.results.augmented_manifest import augmented_manifest, manifest_names
from piecework.results.releases import FOLDER, latest

_LOG = logging.getLogger(__name__)


def deliver(campaign: Campaign) -> None:
    """Write to each sink what it lacks; one that fails does not keep the others back.

    Raises:
        SinkFailed: a sink failed; it has the fault of each.
    """
    _of_each(campaign.sinks, lambda sink: _write(campaign, sink))


def reach_sinks(campaign: Campaign) -> None:
    """Ask each sink for an answer, without writing.

    Raises:
        SinkFailed: a sink does not answer or refuses; it has the fault of each.
    """
    _of_each(campaign.sinks, lambda sink: _reach(campaign, sink))


def _of_each(sinks: Iterable[Sink], act: Callable[[Sink], None]) -> None:
    faults = []
    for sink in sinks:
        try:
            act(sink)
        except PieceworkError as fault:
            faults.append(str(fault))
    if faults:
        raise SinkFailed(
            "\n".join(faults),
            next_step="correct it, and run the same command again: it writes to each "
            "sink only what is missing there",
        )


def _write(campaign: Campaign, sink: Sink) -> None:
    # A database or a bucket is nothing that other campaigns wait for.
    from piecework.exchange.sinks import copy_releases, is_repository, write_files, write_release  # noqa: PLC0415  # noqa: PLC0415
    from piecework.exchange.table_sink import write_releases  # noqa: PLC0415

    releases = campaign.out / FOLDER
    if is_repository(sink.to):
        number = write_release(campaign.out / "dataset", releases, sink.to)
    elif sink.table:
        number = write_releases(releases, sink.to, sink.table, has_history=sink.has_history)
    elif sink.is_manifest:
        number = write_files(
            sink.to,
            manifest_names(latest(releases)),
            partial(augmented_manifest, campaign, releases),
            beside=campaign.path.parent,
        )
    else:
        number = copy_releases(releases, sink.to, beside=campaign.path.parent)
    _LOG.info("wrote %s to %s", plural(number, "release"), sink.to)


def _reach(campaign: Campaign, sink: Sink) -> None:
    from piecework.exchange.sinks import (  # noqa: PLC0415
        is_repository,
        reach_folder,
        reach_repository,
    )
    from piecework.exchange.table_sink import reach_database  # noqa: PLC0415

    if is_repository(sink.to):
        reach_repository(sink.to)
    elif sink.table:
        reach_database(sink.to)
    else:
        reach_folder(sink.to, beside=campaign.path.parent)
