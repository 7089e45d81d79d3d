"""What an honest person perceives of an item, from any source of knowledge.

Items without a known truth get a random one, so a task can be rehearsed before any answer is
known: careful workers agree with each other because they see the same truth, and the others can
be found.

Captions written by real people may be sent again by honest workers, because a rehearsal that
only checks sentences from piecework's own grammar proves little. Supported files: CSV or JSON
Lines with `image_id` (or `file_name`) and `caption`, and the token format of Flickr8k
(`name.jpg#0<TAB>caption`).
"""

import csv
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Protocol

from piecework.domain.errors import ConfigError
from piecework.domain.field import Field, is_unlimited
from piecework.domain.hit import Item
from piecework.domain.ids import ItemId
from piecework.domain.task import GOLD, TRUTH, Rule, Task
from piecework.hit_templates.answers import SEPARATOR, offered
from piecework.hit_templates.jinja_helpers import plain_number
from piecework.simulation.crowd.typing_traces import broken_rules, repair
from piecework.simulation.pictures.scenes import CLEAR, Scene, describe_scene
from piecework.simulation.seeded_rng import seeded_rng

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
            sentence=describe_scene(scene, rng, accuracy=accuracy),
            has_text=bool(scene.text) and scene.unreadable_share < 1,
            flaws=tuple(
                flaw
                for flaw in scene.flaws
                if scene.severity > _BARELY_WORTH_A_WORD and rng.random() < _NOTICES_A_FLAW
            ),
            gives_up=rng.random() < scene.unreadable_share,
            is_hopeless=scene.unreadable_share == 1,
        )


_THINGS = (
    *("a lamp", "two chairs", "an old bridge", "the harbour", "a green door", "snow"),
    *("a crowded street", "my neighbour", "the last train", "a paper boat", "rain"),
    *("three bottles", "the kitchen table", "a quiet garden", "a brown dog", "bread"),
)
_DOINGS = (
    *("stands beside", "is in front of", "reminds me of", "comes after", "is near"),
    *("belongs to", "looks like", "is older than", "has more light than", "follows"),
)
_ENDS = ("in the morning", "at the back", "as far as one sees", "once more", "today")
_TICKED = 0.35


_WORDS = ("lamp", "bridge", "harbour", "garden", "kitchen", "bread", "train", "boat")


def with_truth(task: Task, item: Item, *, seed: int) -> Item:
    """Return the item with a truth for every field; truths in columns are kept.

    The truth of a correction is the text to correct with one word replaced, or the text
    itself if it needs no correction.
    """
    drawn = {
        TRUTH + field.name: item.columns.get(GOLD + field.name)
        or _truth(field, item, seeded_rng(seed, item.item_id, field.name, "truth"))
        for field in task.item_fields
        if not item.columns.get(TRUTH + field.name)
    }
    columns = {**item.columns, **drawn}
    for rule in task.rules:
        name = f"{TRUTH}{rule.field}"
        if rule.kind == "edited_with_option" and name in drawn:
            rng = seeded_rng(seed, item.item_id, rule.field, "edit")
            columns[name] = _edited(rule, columns, rng)
    return Item(item_id=item.item_id, columns=columns)


def _edited(rule: Rule, columns: Mapping[str, str], rng: Random) -> str:
    """Return the text with one word replaced, if that is the truth."""
    before = columns.get(str(rule.parameters["column"]), "")
    if columns[f"{TRUTH}{rule.parameters['chosen_in']}"] != rule.parameters["option"]:
        return before
    words = before.split(" ")
    place = rng.randrange(len(words))
    words[place] = rng.choice([word for word in _WORDS if word != words[place]])
    return " ".join(words)


def misheard(text: str, rng: Random, *, accuracy: float) -> str:
    """Return a text as a person heard it, who gets each word right with this chance.

    A wrong word is another, or is missing, equally often.
    """
    heard = []
    for word in text.split(" "):
        if rng.random() < accuracy:
            heard.append(word)
        elif rng.random() < 0.5:  # noqa: PLR2004 - equally often
            heard.append(rng.choice([other for other in _WORDS if other != word]))
    return " ".join(heard)


DRAWN = "{}"
"""The truth of a field of regions that the items do not state: the crowd draws it from the
labels on the page."""


def _truth(field: Field, item: Item, rng: Random) -> str:
    if field.regions:
        return DRAWN
    if field.kind == "text":
        parts = (_THINGS, _DOINGS, _THINGS, _ENDS)
        return " ".join(rng.choice(words) for words in parts)
    if field.kind == "number":
        if is_unlimited(field):
            return str(rng.randrange(101))
        steps = round((field.maximum - field.minimum) / field.step)
        return plain_number(field.minimum + rng.randint(0, steps) * field.step)
    options = offered(field, item.columns)
    if field.kind == "choice":
        return rng.choice(options)
    ticked = [option for option in options if rng.random() < _TICKED]
    return SEPARATOR.join(ticked or [rng.choice(options)])


_SIGNS_OF_TEXT = re.compile(
    r"\b(text|words?|letters|lettering|label(s|ed)?|says|reads|written|"
    r"writing|signs?|logo|numbers|printed|title|brand)\b",
    re.IGNORECASE,
)
_ENOUGH_MENTIONS = 2
_IMAGE_COLUMNS = ("image_id", "file_name")


class Replay:
    """Real captions by image; each is used once before any is reused.

    Attributes:
        repaired: how many sent captions had to be changed to pass the page's rules.
        swapped: how often another caption of the image was sent instead.
    """

    def __init__(self, captions: Mapping[str, tuple[str, ...]], task: Task) -> None:
        self._captions = captions
        self._task = task
        self._uses: Counter[tuple[str, int]] = Counter()
        self.repaired = 0
        self.swapped = 0

    @classmethod
    def read(cls, path: Path, task: Task) -> "Replay":
        """Read the captions of a file.

        Raises:
            ConfigError: the file is missing or contains no captions.
        """
        if not path.is_file():
            raise ConfigError([f"replay file {path} is missing"])
        captions: dict[str, list[str]] = {}
        for image, caption in _rows(path):
            for name in dict.fromkeys((image, _stem(image))):
                captions.setdefault(name, []).append(caption)
        if not captions:
            raise ConfigError([f"replay file {path} has no rows with image_id and caption"])
        return cls({name: tuple(texts) for name, texts in captions.items()}, task)

    def knows(self, item_id: ItemId) -> bool:
        """Return whether the file contains captions of this item."""
        return self._key(item_id) is not None

    def look(self, item_id: ItemId, rng: Random, *, accuracy: float) -> View:
        """Return what one real person wrote about the item.

        `accuracy` is not used: real captions have their own mistakes.

        Raises:
            ConfigError: the file has no caption of this item.
        """
        del accuracy
        key = self._key(item_id)
        if key is None:
            raise ConfigError([f"item {item_id!r} has no caption in the replay file"])
        texts = self._captions[key]
        sent = self._next(key, texts, rng)
        canned = self._task.canned_text
        return View(
            sentence=sent,
            is_verbatim=True,
            has_text=_mentions_text(texts),
            gives_up=bool(canned) and sent.strip() == canned,
            is_hopeless=bool(canned) and all(text.strip() == canned for text in texts),
        )

    def _key(self, item_id: ItemId) -> str | None:
        names = (str(item_id), _stem(item_id))
        return next((name for name in names if name in self._captions), None)

    def _next(self, key: str, texts: tuple[str, ...], rng: Random) -> str:
        """Return the least used caption, adapted to the page's rules if necessary."""
        by_use = sorted(range(len(texts)), key=lambda at: (self._uses[key, at], at))
        for place, at in enumerate(by_use):
            sent = repair(self._task, texts[at], rng)
            if not broken_rules(self._task, sent):
                self._uses[key, at] += 1
                self.repaired += sent != texts[at]
                self.swapped += place > 0
                return sent
            # The page would refuse this one, so it must not be tried first again.
            self._uses[key, at] += 1
        raise ConfigError([f"image {key!r}: the page would refuse all of its captions"])


def _rows(path: Path) -> Iterator[tuple[str, str]]:
    with path.open(encoding="utf-8-sig", newline="") as lines:
        if path.suffix in {".jsonl", ".ndjson"}:
            yield from _named(json.loads(line) for line in lines if line.strip())
        elif path.suffix == ".csv":
            yield from _named(csv.DictReader(lines))
        else:
            yield from _tokens(lines)


def _named(rows: Iterable[Mapping[str, object]]) -> Iterator[tuple[str, str]]:
    for row in rows:
        caption = str(row.get("caption") or "").strip()
        for column in _IMAGE_COLUMNS:
            if row.get(column) is not None and caption:
                yield str(row[column]), caption


def _tokens(lines: Iterable[str]) -> Iterator[tuple[str, str]]:
    for line in lines:
        image, tab, caption = line.partition("\t")
        if tab and caption.strip():
            yield image.rpartition("#")[0] or image, caption.strip()


def _stem(name: str) -> str:
    stem, dot, extension = name.rpartition(".")
    return stem if dot and 2 <= len(extension) <= 4 and stem else name  # noqa: PLR2004 - jpg, webp


def _mentions_text(texts: tuple[str, ...]) -> bool:
    """Return whether several captions mention text; then all workers report it."""
    mentions = sum(_SIGNS_OF_TEXT.search(text) is not None for text in texts)
    return mentions >= min(_ENOUGH_MENTIONS, len(texts))
