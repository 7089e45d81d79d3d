"""The most common words, and the words that no word list knows."""

from collections.abc import Iterable
from itertools import islice

from piecework.analyses.corpus.composition import top_words
from piecework.domain.counts import NOTHING, count, share
from piecework.report import plots
from piecework.report.components import Figure, Quote, Section, Table, number, text
from piecework.report.corpus.comparison import KINDS, WORDS_LISTED
from piecework.report.corpus.description import Description
from piecework.report.corpus.published import UNKNOWN_PERCENT
from piecework.report.formatting import excerpt
from piecework.report.svg import svg

_DRAWN = 15
_WORD_CHARACTERS = 30


def build(description: Description) -> Section | None:
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
        figures=(_figure(description),),
        tables=(_unknown(description), _top(description), _lacking(description)),
    )


def _figure(description: Description) -> Figure:
    counts = description.word_counts["nouns"]
    title = "The most common nouns"
    rows = [
        plots.Bar(excerpt(noun, limit=_WORD_CHARACTERS), counts[noun], count(counts[noun]))
        for noun in top_words(counts, _DRAWN)
    ]
    described = "; ".join(f"{row.label}: {row.words}" for row in rows)
    drawing = svg(plots.bars(rows), key="nouns", title=title, description=described)
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
