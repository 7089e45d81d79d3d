"""What an honest person makes of one item, wherever that knowledge comes from."""

from dataclasses import dataclass
from random import Random
from typing import Protocol

from piecework.domain.errors import ConfigError
from piecework.domain.ids import ItemId
from piecework.rehearsal.pictures.describe import describe
from piecework.rehearsal.pictures.scene_model import CLEAR, Scene

_NOTICES_A_FLAW = 0.85
_BARELY_WORTH_A_WORD = 0.08


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """One person's view of one item.

    Attributes:
        sentence: what the person would write.
        flaws: wire values of the flaws noticed; empty: nothing is wrong.
        gives_up: whether an honest person would call it unreadable this time.
        is_hopeless: whether everybody would.
        is_verbatim: whether a real person wrote the sentence; it is left as it is.
    """

    sentence: str
    has_text: bool
    flaws: tuple[str, ...] = ()
    gives_up: bool = False
    is_hopeless: bool = False
    is_verbatim: bool = False


class ItemKnowledge(Protocol):
    """Where simulated workers get from what they write."""

    def knows(self, item_id: ItemId) -> bool:
        """Whether anything can be said about this item."""
        ...

    def look(self, item_id: ItemId, rng: Random, *, accuracy: float) -> View:
        """One honest person's view of the item."""
        ...


class SceneKnowledge:
    """Knows drawn scenes, because it knows the truth about them."""

    def __init__(self, scenes: tuple[Scene, ...]) -> None:
        self._scenes = {scene.item_id: scene for scene in scenes}

    def knows(self, item_id: ItemId) -> bool:
        """Whether the item is one of the scenes."""
        return item_id in self._scenes

    def look(self, item_id: ItemId, rng: Random, *, accuracy: float) -> View:
        """One view; the worse the picture, the more of its details are wrong.

        Raises:
            ConfigError: the item is no scene.
        """
        if item_id not in self._scenes:
            raise ConfigError([f"item {item_id!r} is none of the drawn scenes"])
        scene = self._scenes[item_id]
        accuracy *= 1 - max(0.0, scene.severity - CLEAR / 2) / 2
        return View(
            sentence=describe(scene, rng, accuracy=accuracy),
            has_text=bool(scene.text) and scene.unreadable_share < 1,
            flaws=tuple(
                flaw
                for flaw in scene.flaws
                if scene.severity > _BARELY_WORTH_A_WORD
                and rng.random() < _NOTICES_A_FLAW
            ),
            gives_up=rng.random() < scene.unreadable_share,
            is_hopeless=scene.unreadable_share == 1,
        )
