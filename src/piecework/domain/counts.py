"""Counts in words that agree: one HIT, two HITs; an answer, a novel caption.

Shares never round to a lie: 99.96 % is not 100 %.
"""

NOTHING = "–"  # noqa: RUF001 - an en dash is what a table shows for "no value"

_VOWELS = "aeiou"


def count(number: float) -> str:
    """A whole number with thousands marked.

    >>> count(195905)
    '195,905'
    """
    return f"{int(number):,}"


def plural(number: float, noun: str, many: str = "") -> str:
    """A number with its noun.

    >>> plural(1, "worker"), plural(2, "worker"), plural(0, "HIT")
    ('1 worker', '2 workers', '0 HITs')
    >>> plural(2, "batch", "batches")
    '2 batches'
    """
    return f"{count(number)} {noun if number == 1 else many or plural_of(noun)}"


def plural_of(noun: str) -> str:
    """Several of them; nouns of ours, or what somebody calls a field.

    >>> [plural_of(noun) for noun in ("HIT", "summary", "survey", "notes")]
    ['HITs', 'summaries', 'surveys', 'notes']
    """
    if noun.endswith("y") and noun[-2:-1] not in _VOWELS:
        return f"{noun[:-1]}ies"
    return noun if noun.endswith("s") else f"{noun}s"


def with_article(noun: str) -> str:
    """A noun with its indefinite article; nouns of ours, which sound as they begin.

    >>> with_article("answer"), with_article("novel caption"), with_article("item")
    ('an answer', 'a novel caption', 'an item')
    """
    return f"{'an' if noun[:1].lower() in _VOWELS else 'a'} {noun}"


def share(part: float, whole: float) -> str:
    """A percentage with one decimal that says 0 and 100 only where they are exact.

    >>> share(1, 3), share(2999, 3000), share(1, 3000), share(-0.0, 5), share(1, 0)
    ('33.3 %', '>99.9 %', '<0.1 %', '0.0 %', '\u2013')
    """
    if not whole:
        return NOTHING
    percent = 100 * part / whole + 0.0  # a negative zero becomes none
    if 0 < percent < 0.05:  # noqa: PLR2004 - half of the last decimal shown
        return "<0.1 %"
    if 99.95 <= percent < 100:  # noqa: PLR2004 - as above
        return ">99.9 %"
    return f"{percent:.1f} %"
