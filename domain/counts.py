"""Counts in words that agree: one HIT, two HITs; an answer, a novel caption."""

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
