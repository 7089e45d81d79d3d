"""What is in the dataset: its splits, the length and the words of its captions."""

import re
from collections import Counter

import pandas as pd

from report import plots
from report.components import Code, Figure, Section, Table, number, text
from report.formatting import count, excerpt, part_of, plural, share
from report.model import Reading
from report.svg import svg

_LONGEST_SHOWN = 40
"""Words; longer captions share the last column, or one monster would flatten all."""

_PLACES = {"train": 0, "val": 1, "test": 2}

_WORD = re.compile(r"\w+(?:['’]\w+)*")  # noqa: RUF001 - workers type both apostrophes


def build(reading: Reading) -> Section | None:
    """Lengths of novel captions and what else is known about the images."""
    if reading.facts.dataset != "captions":
        return None
    novel = reading.rows("novel")
    lengths = novel["caption"].map(lambda caption: len(caption.split())).astype(int)
    return Section(
        key="captions",
        title="The captions",
        lead=(_lead(novel["caption"], lengths),),
        figures=(_figure(lengths),) if len(lengths) else (),
        tables=(_splits(reading), _flaws(reading)),
    )


def _lead(captions: pd.Series, lengths: pd.Series) -> str:
    if captions.empty:
        return "There is no novel caption yet."
    different = len({word for text_ in captions for word in _words(text_)})
    repeated = len(captions) - captions.str.casefold().nunique()
    return (
        f"The {plural(len(captions), 'novel caption')} have {lengths.mean():.1f} words "
        f"on average (median {lengths.median():g}, shortest {count(lengths.min())}, "
        f"longest {count(lengths.max())}) and use {count(different)} different words, "
        f"case aside. {plural(repeated, 'caption')} repeat the text of another one."
    )


def _words(caption: str) -> list[str]:
    return _WORD.findall(caption.casefold())


def _figure(lengths: pd.Series) -> Figure:
    clipped = Counter(min(length, _LONGEST_SHOWN) for length in lengths.tolist())
    longest = max(clipped)
    bins = [
        plots.Bin(words - 0.5, words + 0.5, clipped[words])
        for words in range(longest + 1)
    ]
    step = 5 if longest > 12 else 1  # noqa: PLR2004 - so many labels fit side by side
    ticks = [(float(place), str(place)) for place in range(0, longest + 1, step)]
    if longest == _LONGEST_SHOWN:
        ticks[-1] = (float(longest), f"{longest}+")
    title = "Words in a novel caption"
    commonest, times = max(clipped.items(), key=lambda pair: (pair[1], -pair[0]))
    description = (
        f"Most captions have between {lengths.quantile(0.05):.0f} and "
        f"{lengths.quantile(0.95):.0f} words (nine in ten); the most frequent length "
        f"is {plural(commonest, 'word')} ({plural(times, 'caption')})."
    )
    plot = plots.histogram(
        bins,
        x_label="words",
        y_label="captions",
        ticks=ticks,
        mark=(float(lengths.mean()), f"mean {lengths.mean():.1f}"),
    )
    drawing = svg(plot, key="lengths", title=title, description=description)
    return Figure(title=title, svg=drawing, note=description)


def _splits(reading: Reading) -> Table:
    novel = reading.rows("novel")
    seen = reading.facts.answers.groupby("split")["item_id"].nunique()
    captions = novel.groupby("split").size()
    order = sorted(seen.index, key=lambda split: (_PLACES.get(split, 9), split))
    rows = tuple(
        (
            Code(excerpt(split, limit=40) or "none"),
            count(seen[split]),
            count(captions.get(split, 0)),
            share(captions.get(split, 0), len(novel)),
        )
        for split in order
    )
    return Table(
        caption="Splits",
        columns=(
            text("Split"),
            number("Images"),
            number("Novel captions"),
            number("Share of captions"),
        ),
        rows=rows,
        note="Only images with at least one answer belong to a split here.",
        empty="No image has an answer yet.",
    )


def _flaws(reading: Reading) -> Table:
    accepted = reading.rows("canned", "novel")
    votes = accepted.groupby("item_id").size()
    said_text = accepted[accepted["text_detected"] == "yes"].groupby("item_id").size()
    named = accepted.explode("flaws").dropna(subset="flaws")
    rows = [("shows text", _majority(said_text, votes), len(votes))]
    rows += [
        (
            f"flaw: {excerpt(str(flaw), limit=40)}",
            _majority(one.groupby("item_id").size(), votes),
            len(votes),
        )
        for flaw, one in named.groupby("flaws")
    ]
    return Table(
        caption="What most workers say about the images",
        columns=(text("Statement"), number("Images where a majority says so")),
        rows=tuple((name, part_of(n, m)) for name, n, m in rows) if len(votes) else (),
        note="A majority is more than half of the accepted answers about an image.",
        empty="No image has an accepted answer yet.",
    )


def _majority(yes: pd.Series, votes: pd.Series) -> int:
    return int((yes.reindex(votes.index, fill_value=0) * 2 > votes).sum())
