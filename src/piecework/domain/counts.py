"""Counts with nouns that agree: one HIT, two HITs; an answer, a novel caption.

Shares are never rounded to 0 % or 100 %: 99.96 % is shown as >99.9 %.
"""

NOTHING = "–"  # noqa: RUF001 - an en dash is what a table shows for "no value"

_VOWELS = "aeiou"
_HISSING = ("s", "x", "z", "ch", "sh")
_IRREGULAR = {"child": "children", "person": "people", "series": "series"}
_CONSONANT_FIRST = ("eu", "uni", "use", "one")
_SILENT_H = ("hour", "honest", "honour", "heir")


def count(number: float) -> str:
    """Format a whole number with thousands separators.

    >>> count(195905)
    '195,905'
    """
    return f"{int(number):,}"


def plural(number: float, noun: str, many: str = "") -> str:
    """Format a number with its noun.

    >>> plural(1, "worker"), plural(2, "worker"), plural(0, "HIT")
    ('1 worker', '2 workers', '0 HITs')
    >>> plural(2, "more", "more")
    '2 more'
    """
    return f"{count(number)} {noun if number == 1 else many or plural_of(noun)}"


def plural_of(noun: str) -> str:
    """Return the plural of a noun of ours; names of fields are never nouns.

    >>> [plural_of(noun) for noun in ("HIT", "summary", "survey", "batch", "box")]
    ['HITs', 'summaries', 'surveys', 'batches', 'boxes']
    >>> [plural_of(noun) for noun in ("person", "analysis", "novel series")]
    ['people', 'analyses', 'novel series']
    """
    first, _, last = noun.rpartition(" ")
    if last in _IRREGULAR:
        return f"{first} {_IRREGULAR[last]}".lstrip()
    if noun.endswith("sis"):
        return f"{noun[:-2]}es"
    if noun.endswith("y") and noun[-2:-1] not in _VOWELS:
        return f"{noun[:-1]}ies"
    return f"{noun}es" if noun.endswith(_HISSING) else f"{noun}s"


def with_article(noun: str) -> str:
    """Return a noun with its indefinite article, chosen by its first sound.

    >>> with_article("hour"), with_article("unit")
    ('an hour', 'a unit')

    >>> with_article("answer"), with_article("novel caption"), with_article("item")
    ('an answer', 'a novel caption', 'an item')
    """
    sound = noun.lower()
    is_vowel = sound[:1] in _VOWELS and not sound.startswith(_CONSONANT_FIRST)
    return f"{'an' if is_vowel or sound.startswith(_SILENT_H) else 'a'} {noun}"


def share(part: float, whole: float) -> str:
    """Format a percentage with one decimal; 0 and 100 appear only if exact.

    >>> share(1, 3), share(2999, 3000), share(1, 3000), share(-0.0, 5), share(1, 0)
    ('33.3 %', '>99.9 %', '<0.1 %', '0.0 %', '\u2013')
    """
    if not whole:
        return NOTHING
    percent = 100 * part / whole + 0.0  # turns a negative zero into 0.0
    if 0 < percent < 0.05:  # noqa: PLR2004 - half of the last decimal shown
        return "<0.1 %"
    if 99.95 <= percent < 100:  # noqa: PLR2004 - as above
        return ">99.9 %"
    return f"{percent:.1f} %"
