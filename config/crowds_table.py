"""`[crowds]` of a campaign file: which markets its HITs go to."""

from typing import Annotated

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from piecework.domain.crowds import MARKETS, Crowds, Market

_WHOLE = 100
_HOUR = 3600
_KNOWN = ", ".join(MARKETS)


def _market(value: object) -> object:
    if value not in MARKETS:
        raise ValueError(f"piecework knows no such market; it knows {_KNOWN}")
    return value


_Named = Annotated[Market, BeforeValidator(_market)]
_Percent = Annotated[int, Field(strict=True, ge=1, le=_WHOLE)]


class CrowdsTable(BaseModel):
    """`[crowds]`: shares of the assignments by market, or the cheapest in time."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    prolific: _Percent | None = None
    connect: _Percent | None = None
    panel: _Percent | None = None
    cheapest: Annotated[tuple[_Named, ...], Field(max_length=len(MARKETS))] = ()
    within_hours: Annotated[float, Field(gt=0, le=8760)] | None = None

    @model_validator(mode="after")
    def _is_of_one_form(self) -> "CrowdsTable":
        stated = self._percent()
        if stated and ("cheapest" in self.model_fields_set or self.within_hours):
            raise ValueError(
                "state either shares by market, or cheapest with within_hours, not both"
            )
        if stated:
            return self._adds_up(stated)
        if not self.cheapest:
            raise ValueError(
                "state shares by market (prolific = 60, connect = 40), or "
                'cheapest = ["connect", "prolific"] with within_hours = 72'
            )
        if len(set(self.cheapest)) < len(self.cheapest):
            raise ValueError("cheapest names a market twice")
        if self.within_hours is None:
            raise ValueError("cheapest needs a deadline; set within_hours")
        return self

    def _adds_up(self, stated: dict[Market, int]) -> "CrowdsTable":
        total = sum(stated.values())
        if total != _WHOLE:
            raise ValueError(f"the shares add up to {total} per cent, not to 100")
        return self

    def _percent(self) -> dict[Market, int]:
        """Return the stated shares, in the order of `MARKETS`."""
        values = self.model_dump()
        return {name: values[name] for name in MARKETS if values[name] is not None}

    def crowds(self) -> Crowds:
        """Return which markets the campaign's HITs go to."""
        return Crowds(
            percent=tuple(self._percent().items()),
            cheapest=self.cheapest,
            within_seconds=round((self.within_hours or 0) * _HOUR),
        )
