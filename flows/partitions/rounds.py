"""Rules that all texts follow until none has anything left to make, part by part.

Texts are dealt by item. One process counts the words of all parts (`Corpus`, whole
numbers that add up); each part follows a rule by these counts; what changed is counted
anew. So the edits are those of `postprocess.apply.clean_and_propose`, whatever the
parts are.

The texts of a part stand on shelves, pickled, some hundred items on each. Most rounds
look near the last changes alone; which shelves these are is known without reading them.
"""

import pickle
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from functools import partial
from io import BytesIO
from itertools import chain, count
from typing import NamedTuple

from domain.tables import COLLECTED
from flows.partitions.answer_files import as_frame
from flows.partitions.buckets import by_item
from flows.partitions.parts import Source, known_items
from flows.partitions.running import Run
from flows.partitions.work_folder import unpickled
from postprocess.apply import (
    Changes,
    Drafts,
    Followed,
    Made,
    Text,
    forget_counts,
    seldom_now,
    until_settled,
)
from postprocess.language.corpus import Corpus
from postprocess.registry import RULES
from postprocess.text import Rule, TextRule, protected_words

COLUMNS = {name: COLLECTED[name] for name in ("item_id", "text", "is_canned")}
"""What rules ask of an answer."""

_BY_NAME = {rule.NAME: rule for rule in RULES}

_COUNTED_AT_ONCE = 300_000
"""Texts that are held to be counted: some 300 MB."""

_SHELF = 5_000
"""About so many texts stand on a shelf."""


class _Shelf(NamedTuple):
    """Texts as workers wrote them.

    Attributes:
        texts: pickled; all that there are about their items.
        words: that they hold.
    """

    texts: bytes
    words: frozenset[str]


class _Shelved(NamedTuple):
    """What rules made of the texts of a shelf.

    Attributes:
        made: pickled (`postprocess.apply.Made`).
        words: that the changed texts hold.
        waiting: names of the rules that have not looked at it since it was changed.
    """

    made: bytes
    words: frozenset[str]
    waiting: frozenset[str]


_UNTOUCHED = _Shelved(pickle.dumps(Made()), frozenset(), frozenset(_BY_NAME))


def split(source: Source, number: int) -> None:
    """Deal the rows of a piece by item."""
    source.split(number, partial(by_item, n=source.buckets))


def follow_rules(source: Source, run: Run) -> int:
    """Clean the texts of a source that is split; the number of the last round.

    Words of the items that are known (`known_items`) are protected.
    """
    run("reading", partial(_read, source), range(source.buckets))
    rounds = _Rounds(source, run)
    until_settled(RULES, rounds.follow)
    return next(rounds.numbers)


def drafts_of(source: Source, bucket: int, number: int) -> Drafts:
    """The texts of a bucket as so many rounds have left them."""
    shelves: Sequence[_Shelf] = source.folder.kept(f"texts-{bucket}")
    shelved: Sequence[_Shelved] = source.folder.kept(f"made-{bucket}-{number}")
    return _together(map(_taken_down, shelves), shelved)


def _taken_down(shelf: _Shelf) -> Sequence[Text]:
    texts: Sequence[Text] = unpickled(BytesIO(shelf.texts))
    return texts


def _together(texts: Iterable[Sequence[Text]], shelved: Iterable[_Shelved]) -> Drafts:
    """The texts of some shelves as the rules have left them."""
    made = Made()
    for one in shelved:
        made.add(unpickled(BytesIO(one.made)))
    return Drafts(chain.from_iterable(texts), made)


@dataclass(slots=True)
class _Rounds:
    """Rule after rule over all parts; what was done before is not done again."""

    source: Source
    run: Run
    numbers: "count[int]" = field(default_factory=count)
    corpus: Corpus | None = None

    def follow(self, rule: Rule, near: AbstractSet[str] | None) -> Followed:
        """Let all parts follow a rule (`postprocess.apply.until_settled`)."""
        number, folder = next(self.numbers), self.source.folder
        if not folder.at(f"followed-{number}").exists():
            corpus = self.corpus or self._counted(number)
            self.corpus = corpus
            if not isinstance(rule, TextRule):
                folder.keep(f"counts-{number}", lambda: (corpus, near))
            step = f"{rule.NAME} ({number + 1})"
            follow = partial(_follow, self.source, number, rule.NAME)
            self.run(step, follow, range(self.source.buckets))
            followed = self._count_changes(corpus, number)
            folder.keep(f"followed-{number}", lambda: followed)
        folder.at(f"counts-{number}").unlink(missing_ok=True)
        for bucket in range(self.source.buckets):
            folder.at(f"made-{bucket}-{number}").unlink(missing_ok=True)
        kept: Followed = folder.kept(f"followed-{number}")
        return kept

    def _counted(self, number: int) -> Corpus:
        """The counts of all texts as they are before this round."""
        corpus, texts = Corpus(), list[Text]()
        for bucket in range(self.source.buckets):
            texts += drafts_of(self.source, bucket, number).texts()
            # Several parts at once: each time all counts move.
            if len(texts) >= _COUNTED_AT_ONCE or bucket + 1 == self.source.buckets:
                corpus.add(texts)
                texts = []
        return corpus

    def _count_changes(self, corpus: Corpus, number: int) -> Followed:
        has_changed, words = False, set[str]()
        before, after, items = list[Text](), list[Text](), Counter[str]()
        for bucket in range(self.source.buckets):
            changes: Changes = self.source.folder.kept(f"changes-{bucket}-{number}")
            has_changed |= bool(changes.after)
            words |= changes.replaced()
            before += changes.before
            after += changes.after
            items.update(changes.items)
            if len(after) >= _COUNTED_AT_ONCE:
                corpus.replace(before, after, items)
                before, after, items = [], [], Counter()
        if after:
            corpus.replace(before, after, items)
        return Followed(has_changed, seldom_now(words, corpus))


def _read(source: Source, bucket: int) -> None:
    """Put the texts of a bucket on shelves."""

    def shelves() -> list[_Shelf]:
        rows = source.about_items(bucket).sort_by("item_id")
        table = as_frame(rows, source.columns)
        protected = {
            str(item.item_id): protected_words(item)
            for item in known_items(source, bucket)
        }
        ids = table["item_id"].tolist()
        cells = zip(
            table.index.tolist(),
            ids,
            table["text"].tolist(),
            table["is_canned"].tolist(),
            strict=True,
        )
        texts = [
            Text(
                text_id=answer_id,
                item_id=item_id,
                text=text,
                protected=protected.get(item_id, frozenset()),
            )
            for answer_id, item_id, text, is_canned in cells
            if not is_canned
        ]
        return list(map(_shelf, _by_items(texts)))

    source.folder.keep(f"texts-{bucket}", shelves)
    # Were it not there, what a later round made is.
    if not any(source.folder.path.glob(f"made-{bucket}-*")):
        n = len(source.folder.kept(f"texts-{bucket}"))
        source.folder.keep(f"made-{bucket}-0", lambda: [_UNTOUCHED] * n)


def _by_items(texts: Sequence[Text]) -> Iterator[Sequence[Text]]:
    """Texts in the order of their items, so many at a time that no item is divided."""
    start = 0
    for end in range(1, len(texts) + 1):
        is_last = end == len(texts)
        if is_last or (
            end - start >= _SHELF and texts[end].item_id != texts[end - 1].item_id
        ):
            yield texts[start:end]
            start = end


def _shelf(texts: Sequence[Text]) -> _Shelf:
    return _Shelf(
        texts=pickle.dumps(texts, protocol=5),
        words=frozenset(chain.from_iterable(text.words for text in texts)),
    )


def _follow(source: Source, number: int, name: str, bucket: int) -> None:
    """Let the texts of a bucket follow a rule."""
    folder, rule = source.folder, _BY_NAME[name]

    def made() -> list[_Shelved]:
        # Of many texts it is gigabytes, which a rule for one text does not ask for.
        corpus, near = Corpus(), frozenset[str]()
        if not isinstance(rule, TextRule):
            corpus, near = folder.latest(f"counts-{number}", forget_counts)
        shelves: Sequence[_Shelf] = folder.kept(f"texts-{bucket}")
        left: list[_Shelved] = folder.kept(f"made-{bucket}-{number}")
        asked = [
            n
            for n, (shelf, shelved) in enumerate(zip(shelves, left, strict=True))
            if _is_asked(shelf, shelved, name, near)
        ]
        texts = [_taken_down(shelves[n]) for n in asked]
        drafts = _together(texts, [left[n] for n in asked])
        changes = drafts.accept(drafts.propose(rule, corpus, near))
        for n, own in zip(asked, texts, strict=True):
            left[n] = _put_back(drafts.made.of({text.text_id for text in own}))
        folder.keep(f"changes-{bucket}-{number}", lambda: changes)
        return left

    folder.keep(f"made-{bucket}-{number + 1}", made)


def _is_asked(
    shelf: _Shelf, shelved: _Shelved, rule: str, near: AbstractSet[str] | None
) -> bool:
    """Whether a rule may say something new of a shelf (`Drafts.propose`)."""
    return (
        near is None
        or rule in shelved.waiting
        or not near.isdisjoint(shelf.words)
        or not near.isdisjoint(shelved.words)
    )


def _put_back(made: Made) -> _Shelved:
    changed = made.drafts.values()
    return _Shelved(
        made=pickle.dumps(made, protocol=5),
        words=frozenset(chain.from_iterable(text.words for text in changed)),
        waiting=frozenset(name for name in _BY_NAME if made.unseen.get(name, True)),
    )
