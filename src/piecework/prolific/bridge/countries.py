"""Countries by ISO 3166 code, as Prolific's own list writes them out."""

from collections.abc import Mapping

from piecework.prolific.resources.recruiting import FilterKind

COUNTRY = "current-country-of-residence"


def choices_of(kind: FilterKind) -> Mapping[str, str]:
    """The choice of each country in Prolific's list, by two-letter code.

    Countries are known by their names, since Prolific's numbers of them are its own.
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
