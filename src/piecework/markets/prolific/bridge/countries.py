"""Prolific's list of countries by ISO 3166 code."""

from collections.abc import Mapping

from piecework.markets.prolific.resources.recruiting import FilterKind

COUNTRY = "current-country-of-residence"


def choices_of(kind: FilterKind) -> Mapping[str, str]:
    """Return Prolific's choice for each country, by two-letter code.

    Countries are matched by name, because Prolific numbers them in its own way.
    """
    import pycountry  # noqa: PLC0415 - an extra; the commands check for it

    by_name = {str(name).casefold(): choice for choice, name in kind.choices.items()}
    choices = {}
    for country in pycountry.countries:
        for words in ("name", "common_name", "official_name"):
            choice = by_name.get(getattr(country, words, "").casefold())
            if choice is not None:
                choices[country.alpha_2] = choice
                break
    return choices
