"""What a corpus is made of: its texts and its pictures.

The most common words, and the words that no word list knows.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any

from piecework.analyses.corpus.composition import PARTS, WORD_PARTS, Composition, Part, top_words
from piecework.domain.text import NOTHING, count, plural, share
from piecework.report import plots
from piecework.report.components import (
    Cell,
    Column,
    Figure,
    Gallery,
    Note,
    Quote,
    Section,
    Table,
    number,
    table,
    text,
)
from piecework.report.corpus.comparison import (
    KINDS,
    LEVEL_PERCENT,
    MAJORITY_PERCENT,
    MEANS,
    MINORITY_PERCENT,
    OTHER_MEANS,
    OTHER_UNIQUE,
    PEOPLE_PERCENT,
    TEXT_PERCENT,
    UNIQUE,
    UNKNOWN_PERCENT,
    WORDS_LISTED,
    Comparison,
)
from piecework.report.corpus.concept_counts import card
from piecework.report.corpus.description import Description
from piecework.report.formatting import excerpt, listed
from piecework.report.sections import items

_HEADERS: Mapping[Part, Column[Any]] = {
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
        f"{plural(whole.captions, 'free-text caption')} of {plural(whole.images, 'image')} "
        f"use {count(whole.unique['words'])} different words."
    )
    return Section(
        key="words",
        title="What the captions consist of",
        lead=(lead, *_beside(description)),
        notes=tuple(_notes(description.comparison)),
        figures=(_figure(whole),),
        tables=(_means(description), _different(description), _by_image(description)),
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
    rows = [
        plots.Bar(part, whole.per_caption[part], f"{whole.per_caption[part]:.2f}") for part in PARTS
    ]
    return plots.bar_figure(rows, key="parts", title="Mean number in a caption")


def _means(description: Description) -> Table:
    ours = (
        (name, count(of.captions), *(f"{of.per_caption[part]:.2f}" for part in PARTS))
        for name, of in _compositions(description)
    )
    return table(
        "Mean number in a caption",
        (*ours, *_papers(description, PARTS, MEANS, OTHER_MEANS, "{:.1f}")),
        text("Captions of"),
        number("Captions"),
        *(_HEADERS[part] for part in PARTS),
        note=_LIKELY,
        is_wide=True,
    )


def _different(description: Description) -> Table:
    ours = (
        (name, count(of.captions), *(count(of.unique[part]) for part in WORD_PARTS))
        for name, of in _compositions(description)
    )
    return table(
        "Different words",
        (*ours, *_papers(description, WORD_PARTS, UNIQUE, OTHER_UNIQUE, "{:,}")),
        text("Captions of"),
        number("Captions"),
        *(_HEADERS[part] for part in WORD_PARTS),
        note="Ignoring case. The number grows with the number of captions.",
        is_wide=True,
    )


def _by_image(description: Description) -> Table:
    return table(
        "Mean number over images of the mean of their captions",
        (
            (name, of.images, *(f"{of.per_image[part]:.2f}" for part in PARTS))
            for name, of in _compositions(description)
        ),
        text("Captions of"),
        number("Images"),
        *(_HEADERS[part] for part in PARTS),
        is_folded=True,
    )


def _compositions(description: Description) -> Iterable[tuple[Cell, Composition]]:
    for name, composition in description.compositions.items():
        # A column's values may be anybody's words.
        shown = "all images" if name == "all" else name
        yield Quote(excerpt(shown, limit=60)), composition
    if comparison := description.comparison:
        sample = comparison.sample
        yield Quote(excerpt(comparison.source, limit=60)), comparison.composition
        drawn_from = comparison.source if sample.is_of_other else description.source
        yield (Quote(f"sample of {excerpt(drawn_from, limit=60)}"), sample.composition)


def _papers(
    description: Description,
    parts: Sequence[Part],
    tables: Mapping[str, Mapping[Part, float]],
    others: Mapping[str, Mapping[Part, float]],
    form: str,
) -> Iterable[tuple[str, ...]]:
    """Yield the paper's rows for the same groups."""
    rows = {
        "VizWiz-Captions" if name == "all" else name: tables[name]
        for name in description.compositions
        if name in tables
    }
    for name, values in (rows | dict(others if description.comparison else {})).items():
        yield f"paper: {name}", NOTHING, *_published(values, parts, form)


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
        tables=(
            _unknown(description),
            word_lists("The most common words", "Part", _most_common(description)),
            word_lists(
                "The most common unknown words",
                "Word list",
                (
                    (name, dict(islice(unknown.words.items(), WORDS_LISTED)))
                    for name, unknown in description.unknown.items()
                ),
            ),
        ),
    )


def _most_common(description: Description) -> Iterable[tuple[str, Mapping[str, int]]]:
    for part in KINDS:
        counts = description.word_counts[part]
        yield part, {word: counts[word] for word in top_words(counts, WORDS_LISTED)}


def _vocabulary_figure(description: Description) -> Figure:
    counts = description.word_counts["nouns"]
    rows = [
        plots.Bar(excerpt(noun, limit=_WORD_CHARACTERS), counts[noun], count(counts[noun]))
        for noun in top_words(counts, _DRAWN)
    ]
    return plots.bar_figure(rows, key="nouns", title="The most common nouns")


def _unknown(description: Description) -> Table:
    rows = []
    for name, of in description.unknown.items():
        published = f"{UNKNOWN_PERCENT:g} %" if name == "dictionary" else NOTHING
        rows += [
            (f"captions, {name}", of.captions, of.of_captions, published),
            (f"words, {name}", of.tokens, of.of_tokens, NOTHING),
        ]
    return table(
        "Captions and words that a word list does not know",
        rows,
        text("Counted, and the word list"),
        number("Unknown"),
        number("Share", lambda row: share(row[1], row[2])),
        number("VizWiz-Captions"),
        note="Dictionary: pyspellchecker's English words. Common words: wordfreq's, "
        "without likely misspellings. The paper's spelling service flagged 23,424 "
        "of 169,073 captions before it corrected them.",
    )


def word_lists(
    caption: str,
    named: str,
    lists: Iterable[tuple[str, Mapping[str, int]]],
    label: str = "The most common first, with their occurrences",
) -> Table:
    """A row for each list of words, with their occurrences; `named` is what a list is of."""
    return table(
        caption,
        lists,
        text(named),
        text(label, lambda row: _listed(row[1])),
        note=f"Up to {WORDS_LISTED} of each {named.removeprefix('Word ').lower()}.",
        is_folded=True,
    )


def _listed(words: Mapping[str, int]) -> Quote:
    return Quote(
        ", ".join(
            f"{excerpt(word, limit=_WORD_CHARACTERS)} {count(times)}"
            for word, times in words.items()
        )
    )


_LEVELS = ("easy", "medium", "difficult", "unrecognizable")

_FLAWS = {
    "BLR": "blur",
    "BRT": "bright",
    "DRK": "dark",
    "FRM": "framing",
    "NON": "none",
    "OBS": "obscured",
    "OTH": "other",
    "ROT": "rotation",
}
"""The names in VizWiz-QualityIssues, and those on piecework's caption page."""


def images_section(description: Description) -> Section:
    """Show the levels of difficulty as in the report, and the majorities."""
    if not description.knows_canned:
        return Section(
            key="difficulty",
            title="Difficulty of the images",
            notes=(
                Note(
                    "watch",
                    "The file does not say which answers were canned, so how hard the "
                    "images are is unknown.",
                ),
            ),
            tables=_majorities(description),
        )
    levels = description.levels
    section = items.difficulty_of_levels(
        levels.canned, wanted=levels.wanted, incomplete=levels.incomplete
    )
    tables = (*section.tables, _names(description), *_majorities(description))
    return replace(section, tables=tables, galleries=tuple(_galleries(description)))


def _galleries(description: Description) -> Iterable[Gallery]:
    if description.by_difficulty:
        yield Gallery(
            title="Example images of each level",
            cards=tuple(
                card(example, description.pictures) for example in description.by_difficulty
            ),
        )


def _names(description: Description) -> Table:
    names = description.levels.names
    images = sum(names.values())
    majority = names.get("difficult", 0) + names.get("unrecognizable", 0)
    return table(
        "Levels of difficulty",
        (
            *((name, names.get(name, 0), LEVEL_PERCENT[name]) for name in _LEVELS),
            ("canned for a minority", names.get("medium", 0), MINORITY_PERCENT),
            ("canned for a majority", majority, MAJORITY_PERCENT),
        ),
        text("Level"),
        number("Images"),
        number("Share", lambda row: share(row[1], images)),
        number("VizWiz-Captions", lambda row: f"{row[2]:g} %"),
        note="Easy: no answer was canned; medium: up to half, a minority of the "
        "workers; difficult: more than half; unrecognizable: all.",
    )


def _majorities(description: Description) -> tuple[Table, ...]:
    votes, flaws, images = description.levels.text, description.levels.flaws, description.images
    shows_text = table(
        "Does the image show text, by majority",
        (
            ("yes", votes.get("yes", 0), f"{TEXT_PERCENT:.1f} %"),
            ("no", votes.get("no", 0), f"{100 - TEXT_PERCENT:.1f} %"),
            ("tie, or no vote", votes.get("", 0), NOTHING),
        ),
        text("Shows text"),
        number("Images"),
        number("Share", lambda row: share(row[1], sum(votes.values()))),
        number("VizWiz-Captions", lambda row: row[2]),
    )
    names_people = table(
        "Images captioned with a word for people",
        (
            ("a caption names people", description.people),
            ("the same, also in parts of words", description.people_in_words),
        ),
        text("Statement"),
        number("Images"),
        number("Share", lambda row: share(row[1], images)),
        number("VizWiz-Captions", lambda _: f"{PEOPLE_PERCENT:.1f} %"),
        note="People, person, man, woman, child, hand, foot or torso, in exactly these "
        "forms; in parts of words, also as man in manual. On half of the paper's "
        "validation images that gives 26.5 % and whole words 20.4 %, so the paper "
        "probably counted parts of words; this is not proven.",
    )
    has_flaws = table(
        "Flaws that a majority of the workers saw",
        sorted(flaws.items(), key=lambda pair: (-pair[1], pair[0])),
        text("Flaw", lambda row: _FLAWS.get(row[0], excerpt(row[0], limit=40))),
        number("Images"),
        number("Share", lambda row: share(row[1], images)),
    )
    return (
        *([shows_text] if votes["yes"] or votes["no"] else []),
        *([names_people] if description.captions else []),
        *([has_flaws] if flaws else []),
    )
