"""What an honest person perceives of an item, from any source of knowledge."""

from dataclasses import dataclass
from random import Random
from typing import Protocol

from piecework.domain.errors import ConfigError
from piecework.domain.ids import ItemId
from piecework.simulation.pictures.describe import describe
from piecework.simulation.pictures.scene_model import CLEAR, Scene

_NOTICES_A_FLAW = 0.85
_BARELY_WORTH_A_WORD = 0.08


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """One person's view of one item.

    Attributes:
        sentence: what the person would write.
        flaws: wire values of the flaws noticed; empty if there are none.
        gives_up: whether this honest person would call it unreadable.
        is_hopeless: whether every honest person would.
        is_verbatim: whether a real person wrote the sentence, which is then not
            changed.
    """

    sentence: str
    has_text: bool
    flaws: tuple[str, ...] = ()
    gives_up: bool = False
    is_hopeless: bool = False
    is_verbatim: bool = False


class ItemKnowledge(Protocol):
    """The source of what simulated workers write."""

    def knows(self, item_id: ItemId) -> bool:
        """Return whether anything is known about this item."""
        ...

    def look(self, item_id: ItemId, rng: Random, *, accuracy: float) -> View:
        """Return one honest person's view of the item."""
        ...


class SceneKnowledge:
    """Knowledge of drawn scenes, from the truth about them."""

    def __init__(self, scenes: tuple[Scene, ...]) -> None:
        self._scenes = {scene.item_id: scene for scene in scenes}

    def knows(self, item_id: ItemId) -> bool:
        """Return whether the item is one of the scenes."""
        return item_id in self._scenes

    def look(self, item_id: ItemId, rng: Random, *, accuracy: float) -> View:
        """Return one view; the worse the picture, the more of its details are wrong.

        Raises:
            ConfigError: the item is not a scene.
        """
        if item_id not in self._scenes:
            raise ConfigError([f"item {item_id!r} is not one of the drawn scenes"])
        scene = self._scenes[item_id]
        accuracy *= 1 - max(0.0, scene.severity - CLEAR / 2) / 2
        return View(
            sentence=describe(scene, rng, accuracy=accuracy),
            has_text=bool(scene.text) and scene.unreadable_share < 1,
            flaws=tuple(
                flaw
                for flaw in scene.flaws
                if scene.severity > _BARELY_WORTH_A_WORD and rng.random() < _NOTICES_A_FLAW
            ),
            gives_up=rng.random() < scene.unreadable_share,
            is_hopeless=scene.unreadable_share == 1,
        )
