"""What the captions consist of: Table 1 of the VizWiz-Captions paper, and their vocabulary.

The most common words, and the words that no word list knows.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import islice

from piecework.analyses.corpus.composition import PARTS, WORD_PARTS, Composition, Part, top_words
from piecework.domain.text import NOTHING, count, plural, share
from piecework.report import plots
from piecework.report.components import (
    Cell,
    Column,
    Figure,
    Note,
    Quote,
    Section,
    Table,
    number,
    text,
)
from piecework.report.corpus.comparison import KINDS, WORDS_LISTED, Comparison
from piecework.report.corpus.description import Description
from piecework.report.corpus.published import (
    MEANS,
    OTHER_MEANS,
    OTHER_UNIQUE,
    UNIQUE,
    UNKNOWN_PERCENT,
)
from piecework.report.formatting import excerpt, listed
from piecework.report.plots import draw_svg

_HEADERS: Mapping[Part, Column] = {
    "words": number("Words"),
    "words and punctuation": number("+ marks", spoken="Words and punctuation marks"),
    "nouns": number("Nouns"),
    "verbs": number("Verbs"),
    "adjectives": number("Adj.", spoken="Adjectives"),
    "spatial relations": number("Spatial", spoken="Spatial relations"),
    "prepositions": number("Prep.", spoken="All prepositions"),
}

_LIKELY = (
    "The paper does not say how it counted. On half of its validation images, words "
    "with punctuation marks are 13.0 and all prepositions 1.9; on half of MSCOCO's "
    "validation images, 11.3 and 1.7. These are the paper's figures, so it probably "
    "counted in this way; this is not proven. The table shows them in both columns."
)

_PAPER_COUNTS: Mapping[Part, Part] = {
    "words and punctuation": "words",
    "prepositions": "spatial relations",
}
"""What the paper probably counted, and what it calls it."""


def composition_section(description: Description) -> Section | None:
    """Show means and different words, of all captions, of groups and of others."""
    if not description.compositions:
        return None
    whole = description.compositions["all"]
    nouns, verbs, adjectives = (
        f"{whole.per_caption[part]:.1f} {part}" for part in ("nouns", "verbs", "adjectives")
    )
    lead = (
        f"A caption has {whole.per_caption['words']:.1f} words on average, "
        f"including {listed([nouns, verbs, adjectives])}. "
        f"{plural(whole.captions, 'novel caption')} of {plural(whole.images, 'image')} "
        f"use {count(whole.unique['words'])} different words."
    )
    return Section(
        key="words",
        title="What the captions consist of",
        lead=(lead, *_beside(description)),
        notes=tuple(_notes(description.comparison)),
        figures=(_figure(whole),),
        tables=(_means(description), _different(description), _images(description)),
    )


def _beside(description: Description) -> Iterable[str]:
    comparison = description.comparison
    if comparison:
        here = description.compositions["all"].per_caption
        there = comparison.composition.per_caption
        yield (
            f"In {excerpt(comparison.source, limit=80)} a caption has "
            f"{there['words']:.1f} words; nouns {there['nouns']:.1f} (here "
            f"{here['nouns']:.1f}), verbs {there['verbs']:.1f} ({here['verbs']:.1f}), "
            f"adjectives {there['adjectives']:.1f} ({here['adjectives']:.1f})."
        )


def _notes(comparison: Comparison | None) -> Iterable[Note]:
    if comparison and comparison.sample.missing:
        yield Note(
            "watch",
            f"The sample lacks {plural(comparison.sample.missing, 'image')}, because "
            "too few images of the larger dataset have as many captions.",
        )


def _figure(whole: Composition) -> Figure:
    title = "Mean number in a caption"
    rows = [
        plots.Bar(part, whole.per_caption[part], f"{whole.per_caption[part]:.2f}") for part in PARTS
    ]
    described = "; ".join(f"{row.label}: {row.words}" for row in rows)
    drawing = draw_svg(plots.bars(rows), key="parts", title=title, description=described)
    return Figure(title=title, svg=drawing)


def _means(description: Description) -> Table:
    return _by_part(
        description,
        "Mean number in a caption",
        PARTS,
        own=lambda composition, part: f"{composition.per_caption[part]:.2f}",
        printed=_papers(description, MEANS, OTHER_MEANS),
        form="{:.1f}",
        note=_LIKELY,
    )


def _different(description: Description) -> Table:
    return _by_part(
        description,
        "Different words",
        WORD_PARTS,
        own=lambda composition, part: count(composition.unique[part]),
        printed=_papers(description, UNIQUE, OTHER_UNIQUE),
        form="{:,}",
        note="Ignoring case. The number grows with the number of captions.",
    )


def _by_part(
    description: Description,
    caption: str,
    parts: Sequence[Part],
    *,
    own: Callable[[Composition, Part], str],
    printed: Iterable[tuple[str, Mapping[Part, float]]],
    form: str,
    note: str,
) -> Table:
    """A row for each composition and each printed one, with a column for each part."""
    ours = (
        (name, count(composition.captions), *(own(composition, part) for part in parts))
        for name, composition in _compositions(description)
    )
    papers = (
        (f"paper: {name}", NOTHING, *_published(values, parts, form)) for name, values in printed
    )
    return Table(
        caption=caption,
        columns=(text("Captions of"), number("Captions"), *(_HEADERS[part] for part in parts)),
        rows=(*ours, *papers),
        note=note,
        is_wide=True,
    )


def _images(description: Description) -> Table:
    return Table(
        caption="Mean number over images of the mean of their captions",
        columns=(text("Captions of"), number("Images"), *(_HEADERS[part] for part in PARTS)),
        rows=tuple(
            (
                name,
                count(composition.images),
                *(f"{composition.per_image[part]:.2f}" for part in PARTS),
            )
            for name, composition in _compositions(description)
        ),
        is_folded=True,
    )


def _compositions(description: Description) -> Iterable[tuple[Cell, Composition]]:
    for name, composition in description.compositions.items():
        # A column's values may be anybody's words.
        yield Quote(excerpt(_images_of(name), limit=60)), composition
    if comparison := description.comparison:
        sample = comparison.sample
        yield Quote(excerpt(comparison.source, limit=60)), comparison.composition
        drawn_from = comparison.source if sample.is_of_other else description.source
        yield (Quote(f"sample of {excerpt(drawn_from, limit=60)}"), sample.composition)


def _images_of(name: str) -> str:
    return {"all": "all images"}.get(name, name)


def _papers(
    description: Description,
    tables: Mapping[str, Mapping[Part, float]],
    others: Mapping[str, Mapping[Part, float]],
) -> Iterable[tuple[str, Mapping[Part, float]]]:
    """Yield the paper's rows for the same groups."""
    for name in description.compositions:
        if name in tables:
            yield ("VizWiz-Captions" if name == "all" else name), tables[name]
    if description.comparison:
        yield from others.items()


def _published(values: Mapping[Part, float], parts: Iterable[Part], form: str) -> Iterable[str]:
    for part in parts:
        value = values.get(_PAPER_COUNTS.get(part, part))
        yield form.format(value) if value is not None else NOTHING


_DRAWN = 15
_WORD_CHARACTERS = 30


def vocabulary_section(description: Description) -> Section | None:
    """Show the most common words of each kind; None without captions."""
    if not description.captions:
        return None
    by_dictionary = description.unknown["dictionary"]
    captions = share(by_dictionary.captions, by_dictionary.of_captions)
    lead = (
        f"{captions} of the captions have a word that the dictionary lacks. Most such "
        "words are brands and new words."
    )
    return Section(
        key="vocabulary",
        title="The words of the captions",
        lead=(lead,),
        figures=(_vocabulary_figure(description),),
        tables=(_unknown(description), _top(description), _lacking(description)),
    )


def _vocabulary_figure(description: Description) -> Figure:
    counts = description.word_counts["nouns"]
    title = "The most common nouns"
    rows = [
        plots.Bar(excerpt(noun, limit=_WORD_CHARACTERS), counts[noun], count(counts[noun]))
        for noun in top_words(counts, _DRAWN)
    ]
    described = "; ".join(f"{row.label}: {row.words}" for row in rows)
    drawing = draw_svg(plots.bars(rows), key="nouns", title=title, description=described)
    return Figure(title=title, svg=drawing)


def _unknown(description: Description) -> Table:
    rows = []
    for name, unknown in description.unknown.items():
        published = f"{UNKNOWN_PERCENT:g} %" if name == "dictionary" else NOTHING
        rows.append(
            (
                f"captions, {name}",
                count(unknown.captions),
                share(unknown.captions, unknown.of_captions),
                published,
            )
        )
        rows.append(
            (
                f"words, {name}",
                count(unknown.tokens),
                share(unknown.tokens, unknown.of_tokens),
                NOTHING,
            )
        )
    return Table(
        caption="Captions and words that a word list does not know",
        columns=(
            text("Counted, and the word list"),
            number("Unknown"),
            number("Share"),
            number("VizWiz-Captions"),
        ),
        rows=tuple(rows),
        note=(
            "Dictionary: pyspellchecker's English words. Common words: wordfreq's, "
            "without likely misspellings. The paper's spelling service flagged 23,424 "
            "of 169,073 captions before it corrected them."
        ),
    )


def _top(description: Description) -> Table:
    return Table(
        caption="The most common words",
        columns=(text("Part"), text("The most common first, with their occurrences")),
        rows=tuple(
            (
                part,
                _listed(
                    (word, description.word_counts[part][word])
                    for word in top_words(description.word_counts[part], WORDS_LISTED)
                ),
            )
            for part in KINDS
        ),
        note=f"Up to {WORDS_LISTED} of each part.",
        is_folded=True,
    )


def _lacking(description: Description) -> Table:
    return Table(
        caption="The most common unknown words",
        columns=(text("Word list"), text("The most common first, with their occurrences")),
        rows=tuple(
            (name, _listed(islice(unknown.words.items(), WORDS_LISTED)))
            for name, unknown in description.unknown.items()
        ),
        note=f"Up to {WORDS_LISTED} of each list.",
        is_folded=True,
    )


def _listed(words: Iterable[tuple[str, int]]) -> Quote:
    return Quote(
        ", ".join(
            f"{excerpt(word, limit=_WORD_CHARACTERS)} {count(times)}" for word, times in words
        )
    )
