"""Ten items with their pictures and the answers about them, and how hard the images are.

The ten are for the first page. An image is as hard as the number of workers who gave the
canned answer.
"""

import math
from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import pandas as pd

from piecework.analyses.votes import on_scale
from piecework.domain.edit import Edit
from piecework.domain.field import Field
from piecework.domain.hit import Item
from piecework.domain.ids import ItemId
from piecework.domain.tables import value_column
from piecework.domain.task import Task
from piecework.domain.text import count, plural, regions_in_words, share
from piecework.report import plots
from piecework.report.components import (
    Card,
    Figure,
    Gallery,
    Piece,
    Reply,
    Section,
    Table,
    Tag,
    number,
    table,
    text,
)
from piecework.report.formatting import cut, excerpt, part_of, spoken, visible, with_marks
from piecework.report.item_sample import Kind, ShownItem
from piecework.report.model import Outcome, ReportModel, tally

_MOST_REPLIES = 5
_AT_FIRST: Mapping[Kind, int] = {
    "agreed": 2, "disputed": 2, "plain": 2, "dropped": 1, "edited": 1,
}  # fmt: skip
"""Answers that are not folded."""

_MOST_TEXTS = 12
_TEXT_CHARACTERS = 90
_REASON_CHARACTERS = 50
_NAME_CHARACTERS = 60
_MOST_EDITS = 4
_EDIT_CHARACTERS = 40
_AROUND = 24
"""Characters that are shown on each side of an edit."""
_ROW = 5
_LINE_CHARACTERS = 30
"""Cards beside each other on a desktop's screen, and what fits a line of a card."""

_MOST_LINES = 22
"""Lines of the highest cards of all rows; if they have more, only a row is open."""

_NOTHING = "nothing"
_COUNTED = ("novel", "canned")

_WHY: Mapping[Kind, str] = {
    "agreed": "workers agree",
    "disputed": "workers differ",
    "dropped": "answers dropped",
    "edited": "text cleaned",
    "plain": "",
}

_TAGS: Mapping[Outcome, Tag] = {
    "novel": Tag("kept", "fine"),
    "canned": Tag("canned", "fact"),
    "surplus": Tag("surplus", "fact"),
    "dropped": Tag("dropped", "watch"),
    "rejected": Tag("rejected", "problem"),
}


def gallery(model: ReportModel) -> Gallery | None:
    """Show up to ten items with their answers; None without answers."""
    shown = model.facts.shown_items
    if not shown:
        return None
    answers = model.facts.answers[
        model.facts.answers["item_id"].isin([item.item_id for item in shown])
    ]
    by_item = dict(tuple(answers.sort_index().groupby("item_id")))
    noun = model.item_noun
    note = (
        "Chosen by their answers: examples, not a representative sample. Answers "
        "without a label are kept."
        + " Pictures outside the campaign's folder are not shown."
        * any(_lacks_picture(item, model.facts.task) for item in shown)
    )
    cards = [_card(model, item, by_item[item.item_id]) for item in shown]
    more: list[Card] = []
    rows = [cards[start : start + _ROW] for start in range(0, len(cards), _ROW)]
    if sum(max(map(_lines, row)) for row in rows) > _MOST_LINES:
        turns = _by_turns(shown)
        cards, more = (
            [cards[place] for place in turns[:_ROW]],
            [cards[place] for place in turns[_ROW:]],
        )
    return Gallery(
        title=f"{count(len(shown))} of {plural(model.facts.items, noun)}, and the answers",
        cards=tuple(cards),
        more=tuple(more),
        note=note,
    )


def _by_turns(shown: Sequence[ShownItem]) -> list[int]:
    """Places of the items: the first of each kind, then the second of each."""
    kinds = [item.kind for item in shown]
    return sorted(range(len(shown)), key=lambda place: kinds[:place].count(kinds[place]))


def _lines(card: Card) -> int:
    """About how many lines of text a card has without its folded answers."""
    texts = [f"{name}: {words}" for name, words in (*card.texts, *card.votes)]
    texts += [
        f"{''.join(piece.text for piece in reply.changed) or reply.text} {reply.because}"
        for reply in card.replies
    ]
    return sum(math.ceil(len(text) / _LINE_CHARACTERS) for text in texts)


def _lacks_picture(shown: ShownItem, task: Task) -> bool:
    """Whether the item has a picture but the report has no copy of it."""
    of_page = task.shown_pictures
    item = Item(item_id=ItemId(shown.item_id), columns=shown.columns, picture_columns=of_page)
    return bool(item.picture) and not shown.picture


def _card(model: ReportModel, shown: ShownItem, answers: pd.DataFrame) -> Card:
    outcomes = model.outcomes[answers.index]
    is_counted = outcomes.isin(_COUNTED)
    replies = answers
    votes: tuple[tuple[str, str], ...] = ()
    if not model.text_noun:
        # Kept choices are added up as votes; other answers are listed.
        replies = answers[~is_counted]
        votes = tuple(
            (spoken(field.name, limit=_NAME_CHARACTERS), words)
            for field in model.facts.task.item_fields
            if (words := _votes(field, answers[is_counted]))
        )
    rows = replies.assign(outcome=outcomes[replies.index])
    if shown.kind != "edited":
        rows = rows.assign(edits=rows["edits"].map(lambda _: ()))
    is_first = rows["is_rejected"] == (shown.kind == "dropped")
    rows = rows.loc[is_first.sort_values(ascending=False, kind="stable").index]
    if shown.kind == "edited":
        is_changed = rows["edits"].map(bool)
        rows = rows.loc[is_changed.sort_values(ascending=False, kind="stable").index]
    times = Counter(_reply(model, row) for row in rows.to_dict("records"))
    replies_shown = [replace(reply, times=number) for reply, number in times.items()]
    beside = _AT_FIRST[shown.kind]
    if votes:
        beside = int(shown.kind == "dropped")
    more = sum([*times.values()][_MOST_REPLIES:])
    return Card(
        heading=excerpt(shown.item_id, limit=_NAME_CHARACTERS),
        picture=shown.picture,
        why=_WHY[shown.kind],
        texts=_texts(model, shown),
        votes=votes,
        replies=tuple(replies_shown[:beside]),
        more=tuple(replies_shown[beside:_MOST_REPLIES]),
        note=f"{plural(more, 'more answer')} not shown." if more else "",
    )


def _texts(model: ReportModel, shown: ShownItem) -> tuple[tuple[str, str], ...]:
    """What workers were shown beside the picture, without the heading."""
    task = model.facts.task
    names = [
        name
        for name in (*task.columns[1:], *task.optional_columns)
        if name not in {"url", "image_id"}
        and shown.columns.get(name, "") not in {"", shown.item_id}
    ]
    return tuple(
        (name.replace("_", " "), cut(shown.columns[name], limit=_TEXT_CHARACTERS))
        for name in names[:_MOST_TEXTS]
    )


def _votes(asked: Field, rows: pd.DataFrame) -> str:
    values = rows[value_column(asked)]
    if asked.kind == "number":
        numbers = on_scale(asked, values).dropna()
        if numbers.empty:
            return ""
        return (
            f"mean {numbers.mean():.1f} of {plural(len(numbers), 'answer')}, "
            f"from {numbers.min():g} to {numbers.max():g}"
        )
    if asked.kind == "text":
        texts = Counter(cut(_shown(asked, text), limit=_TEXT_CHARACTERS) for text in values if text)
        return "; ".join(
            f"{text} ({times} times)" if times > 1 else text
            for text, times in texts.most_common(_MOST_REPLIES)
        )
    named = values.explode() if asked.kind == "choices" else values
    counts = Counter(str(value) for value in named.dropna() if value)
    return ", ".join(
        f"{spoken(asked.words_of(value), limit=_NAME_CHARACTERS)}: {plural(times, 'vote')}"
        for value, times in sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
    )


def _reply(model: ReportModel, row: Mapping[Hashable, Any]) -> Reply:
    return Reply(
        text=_answer_text(model, row),
        tag=_TAGS[row["outcome"]],
        because=cut(str(row["rejected_because"]), limit=_REASON_CHARACTERS),
        changed=_changed(str(row["text"]), row["edits"]) if row["edits"] else (),
    )


def _changed(typed: str, edits: Sequence[Edit]) -> tuple[Piece, ...]:
    """What cleaning changed, with a few words before and after each edit."""
    pieces: list[Piece] = []
    end = 0
    for place, edit in enumerate(edits[:_MOST_EDITS]):
        pieces.append(Piece(_around(typed[end : edit.start], before=_AROUND * bool(place))))
        # The change may be in spaces only.
        pieces.append(Piece(cut(with_marks(edit.before), limit=_EDIT_CHARACTERS), "del"))
        pieces.append(Piece(cut(with_marks(edit.after), limit=_EDIT_CHARACTERS), "ins"))
        end = edit.end
    more = len(edits) - _MOST_EDITS
    pieces.append(Piece(_around(typed[end:], before=_AROUND, after=0)))
    pieces.append(Piece(f" ({plural(more, 'more edit')})" * (more > 0)))
    return tuple(piece for piece in pieces if piece.text)


def _around(kept: str, *, before: int, after: int = _AROUND) -> str:
    """The beginning and the end of what is between two edits, in whole words."""
    if len(kept) <= before + after + len(" … "):
        return visible(kept)
    start = kept[:before].rpartition(" ")[0] or kept[:before]
    end = kept[len(kept) - after :]
    end = end.partition(" ")[2] or end
    gap = " " * bool(before) + "…" + " " * bool(after)
    return visible(f"{start}{gap}{end}")


def _answer_text(model: ReportModel, row: Mapping[Hashable, Any]) -> str:
    if model.text_noun:
        return cut(str(row["clean_text"]), limit=_TEXT_CHARACTERS)
    named_values = [
        f"{field.name.replace('_', ' ')}: {shown}"
        for field in model.facts.task.item_fields
        if (shown := _shown(field, row[value_column(field)])) != _NOTHING or not field.optional
    ]
    return cut("; ".join(named_values), limit=_TEXT_CHARACTERS)


def _shown(asked: Field, value: object) -> str:
    if isinstance(value, tuple | list):
        return ", ".join(map(str, value)) or _NOTHING
    if isinstance(value, float):
        return _NOTHING if math.isnan(value) else f"{value:g}"
    text = str(value)
    words = (
        regions_in_words(text, asked.regions) if asked.regions and text else asked.words_of(text)
    )
    return words or _NOTHING


_PUBLISHED_PERCENT = (68.5, 16.7, 5.9, 3.6, 3.1, 2.2)
"""VizWiz-Captions, 39,181 images with five answers each; section 3.2."""


def difficulty_section(model: ReportModel) -> Section | None:
    """Count images by the number of canned answers among their accepted ones."""
    if not model.facts.task.canned_text:
        return None
    levels = _levels(model)
    return difficulty_of_levels(
        levels,
        wanted=model.facts.wanted_per_item,
        incomplete=int(levels.sum()) - model.complete_items,
    )


def difficulty_of_levels(levels: pd.Series, *, wanted: int, incomplete: int) -> Section:
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
        tables=(_published_beside(levels, incomplete),),
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
    title = "Images by canned answers"
    return plots.figure(plot, key="difficulty-plot", title=title, description=description)


def _published_beside(levels: pd.Series, fewer: int) -> Table:
    images = int(levels.sum())
    is_comparable = len(levels) == len(_PUBLISHED_PERCENT)
    lacking = (
        f"{plural(fewer, 'image')} still lack accepted answers, so their difficulty can only rise. "
    )
    published = (
        "VizWiz-Captions: published for 39,181 photographs by blind people (Gurari et al. 2020)."
    )
    return table(
        "Difficulty: canned answers per image",
        enumerate(levels) if images else (),
        text("Canned answers", lambda row: str(row[0])),
        number("Images"),
        number("Share", lambda row: share(row[1], images)),
        number(
            "VizWiz-Captions",
            lambda row: f"{_PUBLISHED_PERCENT[row[0]]:.1f} %",
            is_shown=is_comparable,
        ),
        note=lacking * bool(fewer) + published * is_comparable,
        empty="No image has an accepted answer yet.",
    )
