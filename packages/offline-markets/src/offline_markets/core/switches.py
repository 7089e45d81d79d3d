"""Switches: behaviour that a market does not document, changed while it runs."""

from dataclasses import asdict, dataclass, fields, replace
from typing import Any, Literal, Self, get_args, get_origin, get_type_hints

from offline_markets.core.errors import wrong

_LONGEST_SECONDS = 30 * 24 * 3600


@dataclass(frozen=True, slots=True, kw_only=True)
class Switches:
    """The switches of a market: its own class has a field for each.

    A field is a flag, a number of seconds, or a `Literal` of texts.
    """

    def document(self) -> dict[str, Any]:
        """Return all switches."""
        return asdict(self)

    def changed(self, settings: dict[str, Any]) -> Self:
        """Return these switches with some changes.

        Raises:
            ApiError: a name is unknown, or a value has the wrong type.
        """
        known = {field.name: getattr(self, field.name) for field in fields(self)}
        types = get_type_hints(type(self))
        for name, value in settings.items():
            if name not in known:
                raise wrong(name, f"The switches are {', '.join(known)}.")
            if get_origin(types[name]) is Literal:
                if value not in get_args(types[name]):
                    raise wrong(name, f"One of {', '.join(get_args(types[name]))}.")
            else:
                _check(name, value, known[name])
        return replace(self, **settings)


def _check(name: str, value: object, present: object) -> None:
    if type(value) is not type(present):
        raise wrong(name, f"Of the kind of {present!r}.")
    if isinstance(value, int) and not 0 <= value <= _LONGEST_SECONDS:
        raise wrong(name, f"From 0 to {_LONGEST_SECONDS}.")
