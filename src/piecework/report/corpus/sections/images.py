"""How hard the images are, and what a majority of workers says about them."""

from collections.abc import Iterable
from dataclasses import replace

from piecework.domain.text import NOTHING, share
from piecework.report.components import Gallery, Note, Section, Table, number, table, text
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
