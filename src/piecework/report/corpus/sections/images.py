"""How hard the images are, and what a majority of workers says about them."""

from collections.abc import Iterable
from dataclasses import replace

from piecework.domain.text import NOTHING, count, share
from piecework.report.components import Gallery, Note, Section, Table, number, text
from piecework.report.corpus.concept_counts import card
from piecework.report.corpus.description import Description
from piecework.report.corpus.published import (
    LEVEL_PERCENT,
    MAJORITY_PERCENT,
    MINORITY_PERCENT,
    PEOPLE_PERCENT,
    TEXT_PERCENT,
)
from piecework.report.formatting import excerpt
from piecework.report.sections import items

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
            is_folded=True,
        )


def _names(description: Description) -> Table:
    names = description.levels.names
    images = sum(names.values())
    rows = [(name, names.get(name, 0), LEVEL_PERCENT[name]) for name in _LEVELS]
    majority = names.get("difficult", 0) + names.get("unrecognizable", 0)
    rows += [
        ("canned for a minority", names.get("medium", 0), MINORITY_PERCENT),
        ("canned for a majority", majority, MAJORITY_PERCENT),
    ]
    return Table(
        caption="Levels of difficulty",
        columns=(text("Level"), number("Images"), number("Share"), number("VizWiz-Captions")),
        rows=tuple(
            (name, count(many), share(many, images), f"{published:g} %")
            for name, many, published in rows
        ),
        note=(
            "Easy: no answer was canned; medium: up to half, a minority of the "
            "workers; difficult: more than half; unrecognizable: all."
        ),
    )


def _majorities(description: Description) -> tuple[Table, ...]:
    made = []
    votes = description.levels.text
    if votes["yes"] or votes["no"]:
        made.append(_text(description))
    if description.captions:
        made.append(_people(description))
    if flaws := description.levels.flaws:
        made.append(
            Table(
                caption="Flaws that a majority of the workers saw",
                columns=(text("Flaw"), number("Images"), number("Share")),
                rows=tuple(
                    (
                        _FLAWS.get(name, excerpt(name, limit=40)),
                        count(many),
                        share(many, description.images),
                    )
                    for name, many in sorted(flaws.items(), key=lambda pair: (-pair[1], pair[0]))
                ),
            )
        )
    return tuple(made)


def _text(description: Description) -> Table:
    votes = description.levels.text
    images = sum(votes.values())
    rows = [("yes", "yes"), ("no", "no"), ("tie, or no vote", "")]
    published = {"yes": f"{TEXT_PERCENT:.1f} %", "no": f"{100 - TEXT_PERCENT:.1f} %"}
    return Table(
        caption="Does the image show text, by majority",
        columns=(text("Shows text"), number("Images"), number("Share"), number("VizWiz-Captions")),
        rows=tuple(
            (
                name,
                count(votes.get(key, 0)),
                share(votes.get(key, 0), images),
                published.get(key, NOTHING),
            )
            for name, key in rows
        ),
    )


def _people(description: Description) -> Table:
    return Table(
        caption="Images captioned with a word for people",
        columns=(text("Statement"), number("Images"), number("Share"), number("VizWiz-Captions")),
        rows=(
            (
                "a caption names people",
                count(description.people),
                share(description.people, description.images),
                f"{PEOPLE_PERCENT:.1f} %",
            ),
            (
                "the same, also in parts of words",
                count(description.people_in_words),
                share(description.people_in_words, description.images),
                f"{PEOPLE_PERCENT:.1f} %",
            ),
        ),
        note=(
            "People, person, man, woman, child, hand, foot or torso, in exactly these "
            "forms; in parts of words, also as man in manual. On half of the paper's "
            "validation images that gives 26.5 % and whole words 20.4 %, so the paper "
            "probably counted parts of words; this is not proven."
        ),
    )
