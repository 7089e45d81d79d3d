"""Write the releases of a dataset to the places that the campaign file names.

They can be augmented manifests, the output of SageMaker Ground Truth: a line per item
with its picture (`source-ref`) or text (`source`), and for each label the number of its
class with `NAME-metadata`.
"""

import json
import logging
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from piecework.campaign.exchange.sinks import SinkFailed
from piecework.domain.campaign import Campaign
from piecework.domain.dataset import Sink
from piecework.domain.errors import PieceworkError
from piecework.domain.task import Field
from piecework.domain.text import plural
from piecework.results.releases import FOLDER, latest_release, read_release

_ENDING = ".manifest"


def manifest_names(count: int) -> list[str]:
    """Return the names of the manifests of all releases.

    >>> manifest_names(2)
    ['000001.manifest', '000002.manifest']
    """
    return [f"{number:06}{_ENDING}" for number in range(1, count + 1)]


def augmented_manifest(campaign: Campaign, releases: Path, name: str) -> bytes:
    """Return the labelled items of a release, complete.

    Args:
        campaign: the campaign.
        releases: the folder of its releases.
        name: the name of the manifest (`manifest_names`).

    Raises:
        ReleaseDamaged: a file of the release is missing or was changed.
    """
    number = name.removesuffix(_ENDING)
    facts = json.loads((releases / number / "manifest.json").read_bytes())
    rows = read_release(releases, int(number), table="items").to_pylist()
    lines = _lines(campaign, rows, facts["released_at"])
    return "".join(f"{json.dumps(line, ensure_ascii=False)}\n" for line in lines).encode()


def _lines(
    campaign: Campaign, rows: list[dict[str, Any]], released_at: str
) -> Iterator[dict[str, Any]]:
    for row in rows:
        line: dict[str, Any] = {}
        for field in campaign.task.label_fields:
            line |= _label_of_row(field, row, campaign.name, released_at)
        if line:
            yield {**_source(campaign, row), "item-id": row["item_id"], **line}


def _source(campaign: Campaign, row: dict[str, Any]) -> dict[str, str]:
    if url := row.get("url"):
        return {"source-ref": url}
    cells = (
        row.get(f"input_{name}") or row.get(name)
        for name in campaign.task.shown_columns
        if name != campaign.task.columns[0]
    )
    return {"source": next((str(cell) for cell in cells if cell), "")}


def _label_of_row(
    field: Field, row: dict[str, Any], campaign: str, released_at: str
) -> dict[str, Any]:
    label = row.get(field.name)
    options = [option.value for option in field.options]
    if label not in options:  # no answers, or a tie
        return {}
    confidence = row.get(f"{field.name}_probability") or row.get(f"{field.name}_share")
    # A label attribute has no underscores.
    name = field.name.replace("_", "-")
    return {
        name: options.index(label),
        f"{name}-metadata": {
            "class-name": label,
            "confidence": confidence,
            "type": "groundtruth/image-classification"
            if row.get("url")
            else "groundtruth/text-classification",
            "job-name": f"labeling-job/{campaign}",
            "human-annotated": "yes",
            "creation-date": released_at.partition("+")[0],
        },
    }


_LOG = logging.getLogger(__name__)


def deliver(campaign: Campaign) -> None:
    """Write to each sink what it lacks; one that fails does not keep the others back.

    Raises:
        SinkFailed: a sink failed; it has the fault of each.
    """
    _of_each(campaign.sinks, lambda sink: _write_to_sink(campaign, sink))


def reach_sinks(campaign: Campaign) -> None:
    """Ask each sink for an answer, without writing.

    Raises:
        SinkFailed: a sink does not answer or refuses; it has the fault of each.
    """
    _of_each(campaign.sinks, lambda sink: _reach_sink(campaign, sink))


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


def _write_to_sink(campaign: Campaign, sink: Sink) -> None:
    # A database or a bucket is nothing that other campaigns wait for.
    from piecework.campaign.exchange.sinks import (  # noqa: PLC0415  # noqa: PLC0415
        copy_releases,
        is_repository,
        write_files,
        write_release,
    )
    from piecework.campaign.exchange.table_sink import write_releases  # noqa: PLC0415

    releases = campaign.out / FOLDER
    if is_repository(sink.to):
        number = write_release(campaign.out / "dataset", releases, sink.to)
    elif sink.table:
        number = write_releases(releases, sink.to, sink.table, has_history=sink.has_history)
    elif sink.is_manifest:
        number = write_files(
            sink.to,
            manifest_names(latest_release(releases)),
            partial(augmented_manifest, campaign, releases),
            beside=campaign.path.parent,
        )
    else:
        number = copy_releases(releases, sink.to, beside=campaign.path.parent)
    _LOG.info("wrote %s to %s", plural(number, "release"), sink.to)


def _reach_sink(campaign: Campaign, sink: Sink) -> None:
    from piecework.campaign.exchange.sinks import is_repository, reach_folder, reach_repository  # noqa: PLC0415
    from piecework.campaign.exchange.table_sink import reach_database  # noqa: PLC0415

    if is_repository(sink.to):
        reach_repository(sink.to)
    elif sink.table:
        reach_database(sink.to)
    else:
        reach_folder(sink.to, beside=campaign.path.parent)
