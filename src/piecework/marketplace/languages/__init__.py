"""The languages of the worker site: its sentences in the language of each request.

The English sentence in a template or in the code is also the key. A file
`<language>.toml` here holds the same sentences in another language; `%(name)s` stands
for a value. A sentence that depends on a number has a list: one form for each of the
language's plurals. `stand_ins/<language>.toml` holds the sentences of the scripts that replace
Amazon's in HITs. `tests/marketplace/test_languages.py` checks that every file has
every sentence, and that no template has a sentence outside them.

The language that a worker chose in the menu of a page comes first, and a cookie keeps it.
Without it, a page around a HIT is in the HIT's language, as its HTML states it
(`<html lang>`); another cookie keeps that language for the site's other pages. Before
that, the browser's preference decides.
"""

import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache
from pathlib import Path

FOLDER = Path(__file__).parent
ENGLISH = "en"
COOKIE = "worker_language"
CHOSEN = "worker_chose_language"
"""The cookies of the last HIT's language and of the one that the worker chose."""

_RIGHT_TO_LEFT = frozenset({"ar", "fa", "he", "ur"})
_ALSO = {"zh-tw": "zh-Hant", "zh-hk": "zh-Hant", "zh-mo": "zh-Hant", "iw": "he"}
_PLURALS: Mapping[str, Callable[[int], int]] = {
    "zh-Hant": lambda _count: 0,
    "he": lambda count: int(count != 1),
}
"""Which form a number takes, by language; English has its own two."""

_HTML_LANGUAGE = re.compile(
    r"""<html\b[^>]*?\slang\s*=\s*["']?([A-Za-z0-9-]{2,20})""", re.IGNORECASE
)
_language: ContextVar[str] = ContextVar("language", default=ENGLISH)
_is_chosen: ContextVar[bool] = ContextVar("is_chosen", default=False)


@lru_cache
def languages() -> tuple[str, ...]:
    """Return the languages of the site, English first."""
    return ENGLISH, *sorted(path.stem for path in FOLDER.glob("*.toml"))


def current() -> str:
    """Return the language of the request."""
    return _language.get()


def direction() -> str:
    """Return `rtl` for a language that is written from right to left, else `ltr`."""
    return "rtl" if current() in _RIGHT_TO_LEFT else "ltr"


@contextmanager
def speaking(language: str, *, is_chosen: bool = False) -> Iterator[None]:
    """Speak a language within a block; one that the worker chose stays until its end."""
    tokens = _language.set(language), _is_chosen.set(is_chosen)
    try:
        yield
    finally:
        _language.reset(tokens[0])
        _is_chosen.reset(tokens[1])


def speak(language: str) -> None:
    """Speak a HIT's language for the rest of the request, unless the worker chose one."""
    if not _is_chosen.get():
        _language.set(language)


def own_names() -> Mapping[str, str]:
    """Return the languages' names in themselves, by tag.

    >>> own_names()["he"]
    'עברית'
    """
    name = sentence("English")
    return {tag: str(_sentences(tag).get(name, name)) for tag in languages()}


def fitting(tag: str) -> str | None:
    """Return the site's language for a language tag, or `None`.

    >>> fitting("zh-TW"), fitting("zh-Hant-TW"), fitting("xx")
    ('zh-Hant', 'zh-Hant', None)
    """
    parts = tag.strip().casefold().split("-")
    known = {name.casefold(): name for name in languages()} | _ALSO
    shorter = ("-".join(parts[:length]) for length in range(len(parts), 0, -1))
    return next((known[part] for part in shorter if part in known), None)


def of_page(html: str) -> str | None:
    """Return the site's language for the one that an HTML page states, or `None`.

    >>> of_page('<!DOCTYPE html><html lang="zh-Hant"><title>x</title>')
    'zh-Hant'
    """
    stated = _HTML_LANGUAGE.search(html[:2000])
    return fitting(stated[1]) if stated else None


def preferred(accepted: str, kept: str = "") -> str:
    """Return the language of a request, from `Accept-Language` and the cookie.

    >>> preferred("fr, zh-TW;q=0.8, en;q=0.5"), preferred("zh-TW", "en")
    ('zh-Hant', 'en')
    """
    if kept in languages():
        return kept
    weighted = []
    for place, part in enumerate(accepted[:500].split(",")):
        tag, _, weight = part.partition(";q=")
        try:
            weighted.append((-float(weight or 1), place, tag))
        except ValueError:
            continue
    tags = (fitting(tag) for _, _, tag in sorted(weighted))
    return next(filter(None, tags), ENGLISH)


def say(text: str, **values: object) -> str:
    """Return a sentence in the request's language, with values for `%(name)s`."""
    sentence = _sentences(current()).get(text, text)
    spoken = sentence if isinstance(sentence, str) else text
    return spoken % values if values else spoken


def say_count(single: str, many: str, count: int, **values: object) -> str:
    """Return the form of a sentence that fits `%(count)s`."""
    return plural(single, many, count) % {"count": count, **values}


def plural(single: str, many: str, count: int) -> str:
    """Return the form of a sentence for a number, its values not yet filled in."""
    forms = _sentences(current()).get(single)
    if not isinstance(forms, list):
        return single if count == 1 else many
    return str(forms[_PLURALS[current()](count)])


def sentence(text: str) -> str:
    """Mark a sentence that is translated where it is shown; return it unchanged."""
    return text


@lru_cache
def _sentences(language: str) -> Mapping[str, str | list[str]]:
    return {} if language == ENGLISH else _read(FOLDER / f"{language}.toml")


def stand_in_sentences(language: str) -> Mapping[str, str | list[str]]:
    """Return the sentences of the scripts in place of Amazon's; none for English."""
    path = FOLDER / "stand_ins" / f"{language}.toml"
    return _read(path) if path.is_file() else {}


def _read(path: Path) -> dict[str, str | list[str]]:
    whole: dict[str, str | list[str]] = tomllib.loads(path.read_text("utf-8"))
    return whole
