"""Rules that all texts follow until no rule changes anything, part by part.

Texts are dealt by item. Each part counts its own words (`Corpus`, whole numbers that
add up) and one process joins the counts; each part follows a rule with these counts;
changed texts are counted again. So the edits are those of
`piecework.postprocess.apply.clean_and_propose`, however the texts are split.

The texts of a part are on shelves, pickled, about a hundred texts on each. Most rounds
only look near the last changes; the shelves of these are known without reading them.
"""

import pickle
from array import array
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from io import BytesIO
from itertools import chain, count
from typing import NamedTuple

from piecework.bulk.answer_files import as_frame
from piecework.bulk.buckets import by_item
from piecework.bulk.parts import Source, known_items
from piecework.bulk.running import PartRunner
from piecework.bulk.work_folder import gc_paused, unpickled
from piecework.domain.tables import COLLECTED
from piecework.postprocess.apply import forget_counts
from piecework.postprocess.drafts import Changes, Drafts, Made
from piecework.postprocess.language.corpus import Corpus
from piecework.postprocess.registry import RULES, Rule, TextRule
from piecework.postprocess.rule_rounds import (
    Followed,
    Selection,
    rarer_words,
    until_settled,
)
from piecework.postprocess.text import Text, protected_words

COLUMNS = {name: COLLECTED[name] for name in ("item_id", "text", "is_canned")}
"""The columns that rules need."""

ROWS = 75_000
"""Rows per bucket, about: some 200 MB while a rule looks at its texts."""

_BY_NAME = {rule.NAME: rule for rule in RULES}

_COUNTED_AT_ONCE = 100_000
"""Changed texts in memory while they are counted, before and after: some 100 MB."""

_JOINED = 8
"""Buckets to join at a time before joining the counts of all, which takes longer."""

_SHELF = 100
"""About this many texts are on a shelf."""


_Holders = Mapping[str, bytes]
"""The shelves with each word, as whole numbers of four bytes."""


class _Shelved(NamedTuple):
    """The results of the rules for the texts of a shelf.

    Attributes:
        made: pickled (`postprocess.drafts.Made`).
        waiting: names of the rules that have not looked at it since its last change.
        unsure: names of the rules that were unsure of an edit.
    """

    made: bytes
    waiting: frozenset[str]
    unsure: frozenset[str]


_UNTOUCHED = _Shelved(pickle.dumps(Made()), frozenset(_BY_NAME), frozenset())


class _State(NamedTuple):
    """The results of the rules for the texts of a bucket.

    Attributes:
        shelves: in the same order as those of the texts.
        holders: by new word, the shelves with a text that got it.
    """

    shelves: list[_Shelved]
    holders: dict[str, set[int]]


def split(source: Source, number: int) -> None:
    """Deal the rows of a piece by item."""
    source.split(number, partial(by_item, n=source.buckets))


def follow_rules(source: Source, run_parts: PartRunner) -> int:
    """Clean the texts of a split source; return the number of the last round.

    Words of the known items (`known_items`) are protected.
    """
    run_parts("reading", partial(_read, source), range(source.buckets))
    rounds = _Rounds(source, run_parts)
    until_settled(RULES, rounds.follow)
    return next(rounds.numbers)


def drafts_of(source: Source, bucket: int, number: int) -> Drafts:
    """The texts of a bucket after `number` rounds."""
    shelves: Sequence[bytes] = source.folder.kept(f"texts-{bucket}")
    state: _State = source.folder.kept(f"made-{bucket}-{number}")
    return _together(map(_taken_down, shelves), state.shelves)


def _taken_down(shelf: bytes) -> Sequence[Text]:
    """The texts of a shelf as workers wrote them: all texts of its items."""
    texts: Sequence[Text] = unpickled(BytesIO(shelf))
    return texts


def _together(texts: Iterable[Sequence[Text]], shelved: Iterable[_Shelved]) -> Drafts:
    """The texts of some shelves after the rules."""
    made = Made()
    for shelf in shelved:
        made.add(unpickled(BytesIO(shelf.made)))
    return Drafts(chain.from_iterable(texts), made)


@dataclass(slots=True)
class _Rounds:
    """Runs rule after rule over all parts; finished work is not repeated."""

    source: Source
    run_parts: PartRunner
    numbers: "count[int]" = field(default_factory=count)
    corpus: Corpus | None = None

    def follow(self, rule: Rule, selection: Selection) -> Followed:
        """Let all parts follow a rule (`postprocess.rule_rounds.until_settled`)."""
        number, folder = next(self.numbers), self.source.folder
        if not folder.at(f"followed-{number}").exists():
            corpus = self.corpus or self._counted(number)
            self.corpus = corpus
            if not isinstance(rule, TextRule):
                folder.keep(f"counts-{number}", lambda: (corpus, selection))
            step = f"{rule.NAME} ({number + 1})"
            follow = partial(_follow, self.source, number, rule.NAME)
            self.run_parts(step, follow, range(self.source.buckets))
            followed = self._count_changes(corpus, number)
            folder.keep(f"followed-{number}", lambda: followed)
        folder.at(f"counts-{number}").unlink(missing_ok=True)
        for bucket in range(self.source.buckets):
            folder.at(f"made-{bucket}-{number}").unlink(missing_ok=True)
        kept: Followed = folder.kept(f"followed-{number}")
        return kept

    def _counted(self, number: int) -> Corpus:
        """The counts of all texts before this round."""
        folder, first = self.source.folder, range(0, self.source.buckets, _JOINED)
        self.run_parts("counting", partial(_count, self.source, number), first)
        corpus = Corpus()
        for bucket in first:
            corpus.join(folder.kept(f"counted-{bucket}-{number}"))
            folder.at(f"counted-{bucket}-{number}").unlink()
        return corpus

    def _count_changes(self, corpus: Corpus, number: int) -> Followed:
        has_changed, replaced = False, Counter[str]()
        before, after, items = list[Text](), list[Text](), Counter[str]()
        for bucket in range(self.source.buckets):
            changes: Changes = self.source.folder.kept(f"changes-{bucket}-{number}")
            has_changed |= changes.is_any_left or bool(changes.after)
            replaced.update(changes.replaced())
            before += changes.before
            after += changes.after
            items.update(changes.items)
            if len(after) >= _COUNTED_AT_ONCE:
                corpus.replace(before, after, items)
                before, after, items = [], [], Counter()
        if after:
            corpus.replace(before, after, items)
        return Followed(has_changed, rarer_words(replaced, corpus))


def _read(source: Source, bucket: int) -> None:
    """Put the texts of a bucket on shelves."""

    @gc_paused()
    def shelves() -> list[bytes]:
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
        by_items = list(_by_items(texts))
        source.folder.keep(f"words-{bucket}", lambda: _holders(by_items))
        return [pickle.dumps(own, protocol=5) for own in by_items]

    source.folder.keep(f"texts-{bucket}", shelves)
    # Otherwise a later round has replaced it.
    if not any(source.folder.path.glob(f"made-{bucket}-*")):
        n = len(source.folder.kept(f"texts-{bucket}"))
        source.folder.keep(f"made-{bucket}-0", lambda: _State([_UNTOUCHED] * n, {}))


def _by_items(texts: Sequence[Text]) -> Iterator[Sequence[Text]]:
    """Yield texts in the order of their items, in groups that do not divide an item."""
    start = 0
    for end in range(1, len(texts) + 1):
        is_last = end == len(texts)
        if is_last or (
            end - start >= _SHELF and texts[end].item_id != texts[end - 1].item_id
        ):
            yield texts[start:end]
            start = end


def _holders(shelves: Sequence[Sequence[Text]]) -> _Holders:
    shelves_by_word: defaultdict[str, array[int]] = defaultdict(partial(array, "I"))
    for n, texts in enumerate(shelves):
        for word in set(chain.from_iterable(text.words for text in texts)):
            shelves_by_word[word].append(n)
    return {word: numbers.tobytes() for word, numbers in shelves_by_word.items()}


@gc_paused()
def _count(source: Source, number: int, first: int) -> None:
    """Count the texts of some buckets, from `first`, before a round."""

    def counted() -> Corpus:
        corpus = Corpus()
        for bucket in range(first, min(first + _JOINED, source.buckets)):
            corpus.join(Corpus(drafts_of(source, bucket, number).texts()))
        return corpus

    source.folder.keep(f"counted-{first}-{number}", counted)


def _follow(source: Source, number: int, name: str, bucket: int) -> None:
    """Let the texts of a bucket follow a rule."""
    folder, rule = source.folder, _BY_NAME[name]

    @gc_paused()
    def made() -> _State:
        # The counts of many texts take gigabytes; rules for single texts do not need
        # it.
        corpus, selection = Corpus(), Selection()
        if not isinstance(rule, TextRule):
            corpus, selection = folder.latest(f"counts-{number}", forget_counts)
        state: _State = folder.kept(f"made-{bucket}-{number}")
        asked = _asked(state, partial(folder.kept, f"words-{bucket}"), name, selection)
        shelves: Sequence[bytes] = folder.kept(f"texts-{bucket}") if asked else ()
        texts = [_taken_down(shelves[n]) for n in asked]
        drafts = _together(texts, [state.shelves[n] for n in asked])
        proposed = drafts.propose(rule, corpus, selection)
        changes = drafts.accept(rule, proposed, selection)
        owners = {
            each.text_id: n for n, own in zip(asked, texts, strict=True) for each in own
        }
        for text in changes.after:
            for word in drafts.new_words(text.text_id):
                state.holders.setdefault(word, set()).add(owners[text.text_id])
        for n, own_made in drafts.made.dealt(owners, asked).items():
            state.shelves[n] = _put_back(own_made)
        folder.keep(f"changes-{bucket}-{number}", lambda: changes)
        return state

    folder.keep(f"made-{bucket}-{number + 1}", made)


def _asked(
    state: _State, read_holders: Callable[[], _Holders], rule: str, selection: Selection
) -> Sequence[int]:
    """The numbers of the shelves for which a rule may propose new edits."""
    if selection.has_all:
        return range(len(state.shelves))
    asked = {
        n
        for n, shelved in enumerate(state.shelves)
        if rule in shelved.waiting or (selection.has_unsure and rule in shelved.unsure)
    }
    of_originals = read_holders() if selection.words else {}
    for word in selection.words:
        asked |= state.holders.get(word, set())
        asked.update(array("I", of_originals.get(word, b"")))
    return sorted(asked)


def _put_back(made: Made) -> _Shelved:
    return _Shelved(
        made=pickle.dumps(made, protocol=5),
        waiting=frozenset(name for name in _BY_NAME if made.unseen.get(name, True)),
        unsure=frozenset(name for name, edits in made.unsure.items() if edits),
    )
