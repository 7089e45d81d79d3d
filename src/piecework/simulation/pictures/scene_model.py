"""The true content of a drawn picture, against which descriptions can be checked."""

from dataclasses import dataclass

from piecework.domain.ids import ItemId

CLEAR = 0.5
"""Up to this severity everyone can read a picture."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Thing:
    """One or more identical objects in a picture.

    Attributes:
        name: the singular name in the catalogue (`mug`).
        text: the text printed on each of them, if any.
    """

    name: str
    colour: str
    count: int = 1
    text: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """A picture and its complete true content.

    Attributes:
        place: the place's name in the catalogue (`kitchen counter`).
        flaws: wire values of the flaws drawn; empty for a good picture.
        severity: how much the flaws hide, from 0 (nothing) to 1 (everything); see
            `unreadable_share`.
        layout_seed: decides where things are placed.
    """

    item_id: ItemId
    place: str
    things: tuple[Thing, ...]
    flaws: tuple[str, ...] = ()
    severity: float = 0.0
    layout_seed: int = 0

    @property
    def text(self) -> str:
        """Return all text printed in the picture, joined by spaces."""
        return " ".join(thing.text for thing in self.things if thing.text)

    @property
    def unreadable_share(self) -> float:
        """Return the share of honest people who give up on this picture, from 0 to 1.

        It is 0 up to a severity of `CLEAR`, then rises linearly to 1 at 1.0: at a
        severity of 0.6 one in five people gives up, at 0.9 four in five.
        """
        return max(0.0, min(1.0, (self.severity - CLEAR) / (1 - CLEAR)))
