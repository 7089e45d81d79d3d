"""What a drawn picture truly shows, so that its description can be right or wrong."""

from dataclasses import dataclass

from piecework.domain.ids import ItemId

CLEAR = 0.5
"""Up to this severity everybody can read a picture."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Thing:
    """Some equal objects of a picture.

    Attributes:
        name: singular, as the catalogue calls it (`mug`).
        text: what is printed on each of them, if anything.
    """

    name: str
    colour: str
    count: int = 1
    text: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """One picture and the whole truth about it.

    Attributes:
        place: where it plays, as the catalogue calls it (`kitchen counter`).
        flaws: wire values of the flaws that were drawn in; empty for a good picture.
        severity: how much the flaws hide, from 0 (nothing) to 1 (everything); see
            `unreadable_share`.
        layout_seed: decides where things stand; the same scene is drawn the same.
    """

    item_id: ItemId
    place: str
    things: tuple[Thing, ...]
    flaws: tuple[str, ...] = ()
    severity: float = 0.0
    layout_seed: int = 0

    @property
    def text(self) -> str:
        """All that is printed in the picture, joined by blanks; empty without any."""
        return " ".join(thing.text for thing in self.things if thing.text)

    @property
    def unreadable_share(self) -> float:
        """The share of honest people who give this picture up, from 0 to 1.

        0 up to a severity of `CLEAR`, then straight up to 1 at 1.0: a severity of 0.6
        makes one of five people give up, 0.9 makes four of five.
        """
        return max(0.0, min(1.0, (self.severity - CLEAR) / (1 - CLEAR)))
