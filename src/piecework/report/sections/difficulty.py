"""How hard the images are, by how many workers gave the canned answer.

The measure is that of VizWiz-Captions (Gurari et al., ECCV 2020, section 3.2): the
number of images that 0, 1, ... 5 of five workers called too bad to recognise.
"""

import pandas as pd

from piecework.domain.counts import count, plural, share
from piecework.report import plots
from piecework.report.components import Figure, Section, Table, number, text
from piecework.report.formatting import part_of
from piecework.report.model import ReportModel, tally
from piecework.report.svg import svg

_PUBLISHED_PERCENT = (68.5, 16.7, 5.9, 3.6, 3.1, 2.2)
"""VizWiz-Captions, 39,181 images with five answers each; section 3.2."""


def build(model: ReportModel) -> Section | None:
    """Count images by the number of canned answers among their accepted ones."""
    if not model.facts.task.canned_text:
        return None
    levels = _levels(model)
    return of_levels(
        levels,
        wanted=model.facts.wanted_per_item,
        incomplete=int(levels.sum()) - model.complete_items,
    )


def of_levels(levels: pd.Series, *, wanted: int, incomplete: int) -> Section:
    """Build the section on images counted by canned answers (`model.tally`).

    Args:
        levels: images by number of canned answers among the accepted ones.
        wanted: accepted answers that an image should have.
        incomplete: images that have fewer.
    """
    images = int(levels.sum())
    hard = int(levels[levels.index > wanted / 2].sum())
    lead = (
        f"{part_of(hard, images, 'image')} with accepted answers were called too bad "
        f"to recognise by a majority of the {count(wanted)} workers wanted."
    )
    return Section(
        key="difficulty",
        title="Difficulty of the images",
        lead=(lead if images else "No image has an accepted answer yet.",),
        figures=(_figure(levels),) if images else (),
        tables=(_table(levels, incomplete),),
    )


def _levels(model: ReportModel) -> pd.Series:
    """Images by the number of canned answers among their accepted ones."""
    items = model.column("item_id", "canned", "novel")
    per_item = model.column("is_canned", "canned", "novel").groupby(items).sum()
    return tally(per_item.astype(int), at_least=model.facts.wanted_per_item)


def _figure(levels: pd.Series) -> Figure:
    images = int(levels.sum())
    bins = [
        plots.Bin(
            level - 0.5,
            level + 0.5,
            int(number_),
            plots.TEAL if level <= levels.index[-1] / 2 else plots.AMBER,
        )
        for level, number_ in enumerate(levels)
    ]
    title = "Images by canned answers"
    description = "; ".join(
        f"{level} canned: {plural(int(images_), 'image')} ({share(images_, images)})"
        for level, images_ in enumerate(levels)
    )
    plot = plots.histogram(
        bins,
        x_label="workers who found the image too bad to recognise",
        y_label="images",
        ticks=[(float(level), str(level)) for level in range(len(bins))],
    )
    drawing = svg(plot, key="difficulty-plot", title=title, description=description)
    return Figure(title=title, svg=drawing)


def _table(levels: pd.Series, fewer: int) -> Table:
    images = int(levels.sum())
    is_comparable = len(levels) == len(_PUBLISHED_PERCENT)
    published = [f"{percent:.1f} %" for percent in _PUBLISHED_PERCENT]
    rows = tuple(
        (
            str(level),
            count(images_),
            share(images_, images),
            *([published[level]] if is_comparable else []),
        )
        for level, images_ in enumerate(levels)
    )
    comparison = (number("VizWiz-Captions"),) if is_comparable else ()
    return Table(
        caption="Difficulty: canned answers per image",
        columns=(text("Canned answers"), number("Images"), number("Share"), *comparison),
        rows=rows if images else (),
        note=(
            f"{plural(fewer, 'image')} still lack accepted answers, so their "
            f"difficulty can only rise. "
            if fewer
            else ""
        )
        + (
            "VizWiz-Captions: published for 39,181 photographs by blind people "
            "(Gurari et al. 2020)."
            if is_comparable
            else ""
        ),
        empty="No image has an accepted answer yet.",
    )
