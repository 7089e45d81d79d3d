"""Which of Prolific's filters somebody means, by other words than the filter's id."""

import re
from collections.abc import Collection, Sequence
from difflib import get_close_matches

from piecework.markets.prolific.resources.recruiting import FilterKind

_MOST_MEANT = 3
_ALIKE = 0.75
"""The least likeness of two words for a slip of the pen."""

SYNONYMS = {
    "first-language": "native mother tongue speaker l1 monolingual",
    "fluent-languages": "bilingual multilingual speak",
    "current-country-of-residence": "country location live located residence region",
    "nationality": "citizen citizenship passport",
    "country-of-birth": "born birthplace",
    "age": "old years adult birthday",
    "sex": "gender male female man woman men women",
    "handedness": "handed hand",
    "ethnicity-simplified": "race ethnic white black asian",
    "highest-education-level-completed": "degree university school college education",
    "employment-status": "job work working unemployed",
    "student-status": "study studying",
    "approval_rate": "approval approved quality reliable",
    "previous_studies": "experience experienced",
}
"""Other words that people look for, by the filter that they mean."""


def meant(words: Sequence[str], kinds: Collection[FilterKind]) -> str:
    """Return the filters that words may mean, as the end of a sentence; or ""."""
    alike = dict.fromkeys(
        kind.id
        for word in map(str.casefold, words)
        for kind in kinds
        if word in SYNONYMS.get(kind.id, "").split()
    )
    by_word = {
        part: kind.id
        for kind in reversed([*kinds])
        for text in (kind.id, kind.title, *map(str, kind.choices.values()))
        # Requirements name a filter without its hyphens.
        for part in (*re.findall(r"\w+", text.casefold()), re.sub(r"[\W_]", "", kind.id))
    }
    if not alike:  # A word that is only spelled alike means less than a synonym.
        close = (get_close_matches(word.casefold(), by_word, n=1, cutoff=_ALIKE) for word in words)
        alike = dict.fromkeys(by_word[each[0]] for each in close if each)
    return f"; did you mean {' or '.join([*alike][:_MOST_MEANT])}?" if alike else ""
