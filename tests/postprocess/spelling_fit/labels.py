"""Captions labelled by hand and pairs of wrong and right words, read from the data.

Nothing of them enters the project but coefficients. Words fall into folds twice: by
what was meant, so that no typo of a word helps to price another typo of it, and by the
image of their caption, because the half that is kept back has other images.
"""

import hashlib
import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from piecework.postprocess.language.tokens import Text
from tests.postprocess.spelling_fit.channel_training import Pair

SPELLING = Path(__file__).resolve().parents[3] / "../shared/data/spelling"
FOLDS = 5

_WORD = re.compile(r"[a-z]+(?:'[a-z]+)?")
_OF_ISOLATED = 1.0
_OF_CAPTIONS = {"real": 2.0, "typo": 0.3}
"""Real typos show best how captions are mistyped; the injected ones follow a recipe."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Label:
    """One labelled word of a caption.

    Attributes:
        kind: `real`, `typo` (injected), `missing_space` or `realword`.
        right: what may stand there, casefolded; the word itself where it is right.
        word_fold: by what was meant.
        fold: by image; of isolated words, by what was meant.
    """

    kind: str
    source: str
    text_id: str
    item_id: str
    start: int
    word: str
    is_typo: bool
    right: tuple[str, ...]
    word_fold: int
    fold: int


@dataclass(frozen=True, slots=True)
class Half:
    """One half of the labelled captions, and the isolated words beside it.

    Attributes:
        clean: ids of captions in which nothing was found.
        isolated: (typed, meant) by list.
    """

    texts: Sequence[Text]
    labels: Sequence[Label]
    clean: Sequence[str]
    isolated: dict[str, list[tuple[str, tuple[str, ...]]]] = field(repr=False)

    def totals(self) -> Counter[tuple[str, bool, str]]:
        """How many labels of each kind, typo or not, of each source and of `all`."""
        return Counter(
            (label.kind, label.is_typo, source)
            for label in self.labels
            for source in (label.source, "all")
        )


def read(folder: Path = SPELLING) -> Half:
    """Everything of a folder that is laid out as the development half is."""
    rows = [json.loads(line) for line in _lines(folder / "input_corpus.jsonl")]
    gold = [json.loads(line) for line in _lines(folder / "gold.jsonl")]
    images = {row["key"]: row["image"] for row in rows}
    return Half(
        texts=[Text(text_id=row["key"], item_id=row["image"], text=row["text"]) for row in rows],
        labels=[
            _label(entry, token, images[entry["key"]])
            for entry in gold
            for token in entry["tokens"]
            if token["cls"] != "amb"
        ],
        clean=[entry["key"] for entry in gold if entry["kind"] == "clean"],
        isolated={
            path.stem.removeprefix("iso_"): [
                (folded(typed), tuple(map(folded, meant)))
                for typed, meant in json.loads(path.read_text(encoding="utf-8"))
            ]
            for path in sorted(folder.glob("iso_*.json"))
        },
    )


def pairs(half: Half) -> list[Pair]:
    """What a channel is trained on: isolated words, and the typos of captions."""
    examples = [
        (typed, meant[0], _OF_ISOLATED)
        for words in half.isolated.values()
        for typed, meant in words
    ]
    examples += [
        (folded(label.word), label.right[0], _OF_CAPTIONS[label.kind])
        for label in half.labels
        if label.is_typo and label.kind in _OF_CAPTIONS
    ]
    return [
        Pair(typed=typed, meant=meant, weight=weight)
        for typed, meant, weight in examples
        if _WORD.fullmatch(typed) and _WORD.fullmatch(meant)
    ]


def as_campaigns(half: Half, images: int) -> Iterator[list[Text]]:
    """The same captions as campaigns of so many images each, of one source each."""
    by_item: defaultdict[str, list[Text]] = defaultdict(list)
    for text in half.texts:
        by_item[text.item_id].append(text)
    order = sorted(by_item, key=lambda item: (item.split("|")[0], _digest(item)))
    for at in range(0, len(order), images):
        yield [text for item in order[at : at + images] for text in by_item[item]]


def fold_of(group: str, folds: int = FOLDS) -> int:
    """Which fold an image or a word is in."""
    return int(_digest(group), 16) % folds


def folded(word: str) -> str:
    """A word as rules see it: casefolded, with a straight apostrophe."""
    return word.replace("\u2019", "'").casefold()


def _label(entry: dict[str, str], token: dict[str, object], image: str) -> Label:
    right = tuple(folded(str(each)) for each in token["gold"])  # type: ignore[attr-defined]
    word = str(token["word"])
    is_typo = token["cls"] == "typo"
    return Label(
        kind=entry["kind"],
        source=entry["key"].split("|")[0],
        text_id=entry["key"],
        item_id=image,
        start=int(str(token["start"])),
        word=word,
        is_typo=is_typo,
        right=right,
        word_fold=fold_of(right[0] if is_typo else folded(word)),
        fold=fold_of(image),
    )


def _digest(word: str) -> str:
    return hashlib.sha256(word.encode()).hexdigest()


def _lines(path: Path) -> Iterator[str]:
    return iter(path.read_text(encoding="utf-8").splitlines())
