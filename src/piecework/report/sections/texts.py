"""What is in the dataset: its splits, lengths and words of its texts, and what cleaning changed."""

from collections import Counter
from collections.abc import Iterable

import pandas as pd
import regex  # type: ignore[import-untyped] # its stubs are not locked

from piecework.domain.edit import Edit
from piecework.domain.field import Field
from piecework.domain.text import NOTHING, count, plural, plural_of, share, with_article
from piecework.domain.verdicts import NOT_WRITTEN_HERE
from piecework.qc.written_here import FLAG_FROM, SHOWN_PROBABILITY
from piecework.report import plots
from piecework.report.components import (
    Code,
    Figure,
    Note,
    Quote,
    Section,
    Table,
    number,
    table,
    text,
)
from piecework.report.formatting import excerpt, part_of, with_marks
from piecework.report.model import ReportModel

_LONGEST_SHOWN = 40
"""In words; longer texts share the last column, which keeps the plot readable."""

_TYPED_FROM = 0.2
"""Keystrokes per character, as in `not_typed`."""

_PLACES = {"train": 0, "val": 1, "test": 2}

_WORD = regex.compile(r"[\w\p{M}]+(?:['’][\w\p{M}]+)*")  # noqa: RUF001 - workers type both apostrophes
"""A vowel sign of Hindi or Thai is no letter, but a part of its word."""


def texts_section(model: ReportModel) -> Section | None:
    """Show the lengths of accepted texts and what else is known about the items.

    None for a task that asks for no text.
    """
    if not model.text_noun:
        return None
    texts = model.column("clean_text", "novel")
    lengths = texts.map(lambda text_: len(text_.split())).astype(int)
    return Section(
        key="captions",
        title=f"The {plural_of(model.text_noun)}",
        lead=(_lead(model, texts, lengths),),
        notes=(*_not_typed(model), *_not_written_here(model)),
        figures=(_figure(model, lengths),) if len(lengths) else (),
        tables=(_splits(model), *_majorities(model)),
    )


def _lead(model: ReportModel, texts: pd.Series, lengths: pd.Series) -> str:
    noun = model.text_noun
    if texts.empty:
        return f"There is no {model.accepted_noun} yet."
    different = len({word for text_ in texts for word in _words(text_)})
    repeated = len(texts) - texts.str.casefold().nunique()
    return (
        f"The {plural(len(texts), model.accepted_noun)} have "
        f"{lengths.mean():.1f} words on average (median {lengths.median():g}, "
        f"shortest {count(lengths.min())}, "
        f"longest {count(lengths.max())}) and use {count(different)} different words, "
        f"ignoring case. {plural(repeated, noun)} "
        f"{'repeats' if repeated == 1 else 'repeat'} the text of another."
    )


def _not_typed(model: ReportModel) -> tuple[Note, ...]:
    """How many texts have hardly any keystrokes, and what that does not prove."""
    answers = model.facts.answers
    length = answers["text"].str.strip().str.len()
    is_known = answers["keystrokes"].notna() & (length > 0) & ~answers["is_canned"]
    if not is_known.any():
        return ()
    few = is_known & (answers["keystrokes"] < _TYPED_FROM * length)
    return (
        Note(
            "fact",
            f"{part_of(int(few.sum()), int(is_known.sum()), 'text')} have fewer than "
            f"{_TYPED_FROM:g} keystrokes per character: they were pasted, dictated, "
            "completed by a phone, or written by a program. The page cannot tell "
            "which, so pay must not depend on this alone.",
        ),
    )


def _not_written_here(model: ReportModel) -> tuple[Note, ...]:
    """How many texts were probably not written on the page by a person."""
    findings = model.facts.findings
    own = findings[findings["heuristic"] == NOT_WRITTEN_HERE]
    answers = model.facts.answers
    # Few answers have such a finding, and pandas makes an object of each value to look for.
    suspected = answers.index[answers.index.isin(own["subject_id"])]
    own = own[own["subject_id"].isin(suspected)]
    if own.empty:
        return ()
    texts = int(((answers["text"].str.strip() != "") & ~answers["is_canned"]).sum())
    return (
        Note(
            "fact",
            f"{part_of(int(own['flag'].sum()), texts, 'text')} were not written on "
            f"the page by a person with a probability of {FLAG_FROM:.0%} or more, and "
            f"{part_of(len(own), texts, 'text')} with {SHOWN_PROBABILITY:.0%} or "
            "more. It follows from how they were entered, samples of programs and a "
            "planted word, as far as the campaign has them, and takes one text in six "
            "as usual. It knows neither programs without samples nor retyped texts, "
            "and a person may have pasted their own text.",
        ),
    )


def _words(text_: str) -> list[str]:
    words: list[str] = _WORD.findall(text_.casefold())
    return words


def _figure(model: ReportModel, lengths: pd.Series) -> Figure:
    clipped = Counter(min(length, _LONGEST_SHOWN) for length in lengths.tolist())
    longest = max(clipped)
    bins = [plots.Bin(words - 0.5, words + 0.5, clipped[words]) for words in range(longest + 1)]
    step = 5 if longest > 12 else 1  # noqa: PLR2004 - so many labels fit side by side
    ticks = [(float(place), str(place)) for place in range(0, longest + 1, step)]
    if longest == _LONGEST_SHOWN:
        ticks[-1] = (float(longest), f"{longest}+")
    noun = model.text_noun
    commonest, times = max(clipped.items(), key=lambda pair: (pair[1], -pair[0]))
    description = (
        f"Most {plural_of(noun)} have between {lengths.quantile(0.05):.0f} and "
        f"{lengths.quantile(0.95):.0f} words (nine in ten); the most frequent length "
        f"is {plural(commonest, 'word')} ({plural(times, noun)})."
    )
    plot = plots.histogram(
        bins,
        x_label="words",
        y_label=plural_of(noun),
        ticks=ticks,
        mark=(float(lengths.mean()), f"mean {lengths.mean():.1f}"),
    )
    title = f"Words in {with_article(model.accepted_noun)}"
    return plots.figure(plot, key="lengths", title=title, description=description, note=description)


def _splits(model: ReportModel) -> Table:
    novel = model.column("split", "novel")
    items = model.facts.answers.groupby("split")["item_id"].nunique()
    texts = Counter(novel)
    noun, text_noun = model.item_noun, plural_of(model.text_noun)
    return table(
        "Splits",
        sorted(items.items(), key=lambda row: (_PLACES.get(str(row[0]), 9), row[0])),
        text("Split", lambda row: Code(excerpt(str(row[0]), limit=40) or "none")),
        number(plural_of(noun).capitalize()),
        number(plural_of(model.accepted_noun).capitalize(), lambda row: texts[row[0]]),
        number(f"Share of {text_noun}", lambda row: share(texts[row[0]], len(novel))),
        note=f"Only {plural_of(noun)} with at least one answer belong to a split here.",
        empty=f"No {noun} has an answer yet.",
    )


def _majorities(model: ReportModel) -> tuple[Table, ...]:
    """What else was asked about the items; no table if nothing was."""
    voters, noun, task = model.accepted_per_item, model.item_noun, model.facts.task
    asked = [
        field
        for field in task.item_fields
        if field.kind == "choices" or field.name == task.text_present_field
    ]
    if not asked:
        return ()
    statements = [statement for field in asked for statement in _statements(model, field)]
    return (
        table(
            f"What most workers say about the {plural_of(noun)}",
            statements if len(voters) else (),
            text("Statement"),
            number(
                f"{plural_of(noun).capitalize()} where a majority says so",
                lambda statement: part_of(_majority(statement[1], voters), len(voters)),
            ),
            note=f"A majority is more than half of the accepted answers about an {noun}.",
            empty=f"No {noun} has an accepted answer yet.",
        ),
    )


def _statements(model: ReportModel, field: Field) -> list[tuple[str, pd.Series]]:
    """The statements, each with the number of workers who agree, by item."""
    field_votes = model.votes(field, "canned", "novel")
    if field.name == model.facts.task.text_present_field:
        yes = field_votes[field_votes["value"] == "yes"]
        return [("shows text", yes.groupby("item_id").size())]
    named = field_votes.explode("value").dropna(subset="value")
    noun = field.name.removesuffix("s").replace("_", " ")
    return [
        (f"{noun}: {excerpt(str(value), limit=40)}", rows.groupby("item_id").size())
        for value, rows in named.groupby("value")
    ]


def _majority(yes: pd.Series, voters: pd.Series) -> int:
    return int((yes.reindex(voters.index, fill_value=0) * 2 > voters).sum())


_MOST_PAIRS = 8
_PAIR_CHARACTERS = 60


def cleaning_section(model: ReportModel) -> Section | None:
    """Show the edits by rule, and the most frequent changes."""
    if not (model.facts.task.main_text and model.facts.task.is_cleaned):
        return None
    lists: list[tuple[Edit, ...]] = model.column("edits", "novel").tolist()
    edits = [edit for edits in lists for edit in edits]
    lead = (
        f"Cleaning changed "
        f"{part_of(sum(map(bool, lists)), len(lists), model.accepted_noun)} with "
        f"{plural(len(edits), 'edit')}. The dataset keeps each original "
        f"{model.text_noun}, and every edit can be replayed and undone."
    )
    return Section(
        key="cleaning",
        title="What cleaning changed",
        lead=(lead,),
        tables=(_rules(model, lists), _pairs(edits)),
    )


def _rules(model: ReportModel, lists: Iterable[tuple[Edit, ...]]) -> Table:
    times: Counter[str] = Counter()
    changed: Counter[str] = Counter()
    for edits in lists:
        times.update(edit.rule for edit in edits)
        changed.update({edit.rule for edit in edits})
    versions = model.facts.rules
    return table(
        "Edits by rule",
        sorted({*versions, *times}, key=lambda rule: (-times[rule], rule)),
        text("Rule", lambda rule: Code(excerpt(rule, limit=_PAIR_CHARACTERS))),
        number("Version", lambda rule: str(versions.get(rule, NOTHING))),
        number("Edits", lambda rule: times[rule]),
        number(f"{plural_of(model.text_noun).capitalize()} changed", lambda rule: changed[rule]),
        note="Names joined by + mean that several rules edited the same place.",
        empty="Nothing was changed.",
    )


def _pairs(edits: list[Edit]) -> Table:
    pairs = Counter((edit.before, edit.after, edit.rule) for edit in edits)
    frequent = sorted(pairs.items(), key=lambda pair: (-pair[1], pair[0]))
    return table(
        "The most frequent edits",
        [(*edit, times) for edit, times in frequent[:_MOST_PAIRS]],
        text("Before", lambda row: Quote(_shown(row[0]))),
        text("After", lambda row: Quote(_shown(row[1]))),
        text("Rule", lambda row: Code(excerpt(row[2], limit=_PAIR_CHARACTERS))),
        number("Times"),
        note=f"{plural(len(pairs), 'different edit')} in all. ␣ marks a space.",
        empty="Nothing was changed.",
    )


def _shown(piece: str) -> str:
    """Format a piece of a text with visible blanks, which may be all that changed."""
    if not piece:
        return "(nothing)"
    return excerpt(with_marks(piece), limit=_PAIR_CHARACTERS)
