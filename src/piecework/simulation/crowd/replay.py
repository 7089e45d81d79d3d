"""Captions written by real people, sent again by honest workers.

A rehearsal that only checks sentences from piecework's own grammar proves little.
Supported files: CSV or JSON Lines with `image_id` (or `file_name`) and `caption`, and
the token format of Flickr8k (`name.jpg#0<TAB>caption`).
"""

import csv
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from random import Random

from piecework.domain.errors import ConfigError
from piecework.domain.ids import ItemId
from piecework.domain.task import Task
from piecework.simulation.crowd.item_knowledge import View
from piecework.simulation.crowd.rule_repair import broken_rules, repair

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
