"""The options that group images by their columns."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from piecework.analyses.corpus.captions import Corpus

BY = click.option(
    "--by",
    "groupings",
    multiple=True,
    metavar="text|difficulty|question|COLUMN",
    help="Also show each group of images; repeat for several groupings.",
)

ITEMS = click.option(
    "--items",
    type=click.Path(path_type=Path, dir_okay=False, exists=True),
    help="CSV, Parquet or JSON of images with the columns for --by.",
)


def image_groups(corpus: "Corpus", names: Sequence[str], table: Path) -> dict[str, dict[str, str]]:
    """Return the group of each image by grouping.

    Raises:
        click.UsageError: the table has no such column.
    """
    from piecework.domain.errors import ConfigError
    from piecework.postprocess.datasets.image_columns import read_image_column
    from piecework.report.corpus.image_groups import group_of_images

    groupings = {}
    for name in dict.fromkeys(names):
        try:
            column = partial(read_image_column, table)
            groupings[name] = group_of_images(corpus, name, column)
        except ConfigError as fault:
            raise click.UsageError(
                f"--by {name}: {fault}; it may be 'text', 'difficulty', 'question' or "
                "a column of the images (--items FILE)"
            ) from fault
    return groupings
