"""Labelled words as choices, each priced by a channel that never saw the word."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from piecework.postprocess.language import confusions, features
from piecework.postprocess.language.candidates import candidates
from piecework.postprocess.language.channel import Channel
from piecework.postprocess.language.corpus import Corpus, Suspect, find_suspects
from piecework.postprocess.language.lexicon import may_be_typo
from piecework.postprocess.language.tokens import Place, Text, words
from tests.postprocess.spelling_fit import channel_training
from tests.postprocess.spelling_fit.labels import FOLDS, Half, Label, as_campaigns, fold_of, pairs
from tests.postprocess.spelling_fit.logit import Choice, Floats

SMALL = 60
"""Images of a small campaign: 300 captions."""

_WEIGHTS = {"real": 1.0, "typo": 0.15, "missing_space": 0.1, "slipped_space": 0.03, "isolated": 0.3}
"""Injected errors are many and easy; real ones should decide. More weight for isolated
words than for injected ones fixes more typos in small campaigns."""

_OF_SMALL = 0.5
"""The same words in small campaigns."""

_OF_NO_CANDIDATE = 0.3
_ANYWHERE = Place(is_fixed=False, is_shouted=False, is_name_like=False, is_hyphened=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A labelled word that is weighed.

    Attributes:
        kind: of its label, or `isolated`, whose source is the list.
        meant: what each rival would write, "" for leaving, which comes first.
        rows: the rivals' features.
        right: the rivals that are right.
        is_small: whether it stands in a small campaign.
    """

    kind: str
    source: str
    text_id: str
    item_id: str
    start: int
    word: str
    is_typo: bool
    fold: int
    meant: Sequence[str]
    rows: Floats
    right: tuple[int, ...]
    is_small: bool = False

    def choice(self) -> Choice | None:
        """What weights are fitted to; None where nothing can be learnt from it."""
        weight = _WEIGHTS[self.kind] * (_OF_SMALL if self.is_small else 1)
        if self.kind == "isolated":
            if self.right == (0,):
                return None
            right = tuple(each - 1 for each in self.right)
            return Choice(rows=self.rows[1:], right=right, weight=weight)
        if self.is_typo and self.right == (0,):
            weight *= _OF_NO_CANDIDATE
        return Choice(rows=self.rows, right=self.right, weight=weight)


def channels(half: Half) -> list[Channel]:
    """One channel a fold of words, trained on the words of the others."""
    all_pairs = pairs(half)
    return [
        Channel(channel_training.costs(pair for pair in all_pairs if fold_of(pair.meant) != fold))
        for fold in range(FOLDS)
    ]


def all_cases(half: Half, by_fold: Sequence[Channel]) -> list[Case]:
    """Everything that is weighed for spelling."""
    return [
        *caption_cases(half, by_fold),
        *slipped_cases(half, by_fold),
        *small_cases(half, by_fold),
        *isolated_cases(half, by_fold),
    ]


def caption_cases(half: Half, by_fold: Sequence[Channel]) -> list[Case]:
    """The labelled suspects among all captions, cleaned as one campaign."""
    return _cases(half.texts, _by_place(half.labels), by_fold, Corpus(half.texts))


def slipped_cases(half: Half, by_fold: Sequence[Channel]) -> list[Case]:
    """The words without a space between them, with a slip in the longer one too.

    No label has both, but `cruisship` is written, and the fit has to see some.
    """
    corpus = Corpus(half.texts)
    labels = _by_place(label for label in half.labels if label.kind == "missing_space")
    both = [
        (label, suspect)
        for suspect in find_suspects(half.texts, corpus)
        if (label := labels.get((suspect.text_id, suspect.start))) and label.is_typo
    ]
    slipped = []
    for label, suspect in both:
        word = _slipped(*label.right[0].split(" "))
        if may_be_typo(word):
            slipped.append(
                (
                    replace(label, kind="slipped_space", word=word),
                    replace(suspect, word=word, surface=word),
                )
            )
    return _weighed(slipped, corpus, by_fold)


def _slipped(head: str, tail: str) -> str:
    """Two words without their space, the longer one without a letter, or with two."""
    longer = max(head, tail, key=len)
    at = 1 + fold_of(head + tail, len(longer) - 1)
    again = longer[at] if fold_of(tail + head, 2) else ""
    changed = longer[:at] + again * 2 + longer[at + 1 :]
    return changed + tail if longer == head else head + changed


def small_cases(half: Half, by_fold: Sequence[Channel]) -> list[Case]:
    """The really mistyped and the right ones again, in small campaigns."""
    labels = _by_place(label for label in half.labels if label.kind == "real")
    return [
        replace(case, is_small=True)
        for texts in as_campaigns(half, SMALL)
        for case in _cases(texts, labels, by_fold, Corpus(texts))
    ]


def isolated_cases(half: Half, by_fold: Sequence[Channel]) -> list[Case]:
    """Wrong words by themselves: standing alone is no place, so no place speaks."""
    columns = [features.FEATURE_NAMES.index(name) for name in features.ENGLISH_NAMES]
    cases = []
    nothing = Corpus()
    for name, both in half.isolated.items():
        labels = [
            Label(
                kind="isolated",
                source=name,
                text_id="",
                item_id="",
                start=0,
                word=typed,
                is_typo=True,
                right=meant,
                word_fold=fold_of(meant[0]),
                fold=fold_of(meant[0]),
            )
            for typed, meant in both
            if " " not in typed
        ]
        cases += _weighed([(label, _alone(label.word)) for label in labels], nothing, by_fold)
    for case in cases:
        case.rows[:, columns] = 0
    return cases


@dataclass(frozen=True, slots=True, kw_only=True)
class Doubt:
    """A place where another word may be meant, and its label if it has one.

    Attributes:
        kind: of the caption's label, `clean`, or "" for a caption without.
        text: the caption; `start`: where the word begins.
        rows: the features of leaving, all 0, and of the other words.
        right: as labelled; leaving where nothing says otherwise.
    """

    kind: str
    source: str
    text_id: str
    text: str
    start: int
    word: str
    meant: Sequence[str]
    fold: int
    rows: Floats
    right: tuple[int, ...]
    is_labelled: bool


def doubts(half: Half, channel: Channel) -> list[Doubt]:
    """All places where a word that is a word may not be the one that was meant."""
    corpus = Corpus(half.texts)
    doubtful = confusions.doubts(half.texts, corpus, channel)
    labels = _by_place(label for label in half.labels if label.kind == "realword")
    kinds = {label.text_id: label.kind for label in half.labels}
    kinds |= dict.fromkeys(half.clean, "clean")
    made = []
    for first, after in pairwise(doubtful.first.tolist()):
        text = half.texts[int(doubtful.text[first])]
        if not confusions.is_ordinary(text, int(doubtful.at[first])):
            continue
        word = words(text.text)[int(doubtful.at[first])]
        meant = ["", *doubtful.meant[first:after]]
        label = labels.get((text.text_id, word.start))
        right = label.right if label else ()
        made.append(
            Doubt(
                kind=kinds.get(text.text_id, ""),
                source=text.text_id.split("|")[0],
                text_id=text.text_id,
                text=text.text,
                start=word.start,
                word=word.word,
                meant=meant,
                fold=fold_of(text.item_id),
                rows=np.vstack([np.zeros(len(confusions.NAMES)), doubtful.features[first:after]]),
                right=tuple(n for n, each in enumerate(meant) if each in right) or (0,),
                is_labelled=label is not None,
            )
        )
    return made


def _cases(
    texts: Sequence[Text],
    labels: Mapping[tuple[str, int], Label],
    by_fold: Sequence[Channel],
    corpus: Corpus,
) -> list[Case]:
    labelled = [
        (label, suspect)
        for suspect in find_suspects(texts, corpus)
        if (label := labels.get((suspect.text_id, suspect.start))) and label.kind in _WEIGHTS
    ]
    return _weighed(labelled, corpus, by_fold)


def _weighed(
    labelled: Sequence[tuple[Label, Suspect]], corpus: Corpus, by_fold: Sequence[Channel]
) -> list[Case]:
    cases: list[Case] = []
    for fold, channel in enumerate(by_fold):
        mine = [each for each in labelled if each[0].word_fold == fold]
        proposals = candidates({suspect.word for _, suspect in mine}, corpus, channel)
        typos = features.Typos(proposals, corpus)
        if not mine:
            continue
        weighed = features.rivals([suspect for _, suspect in mine], typos, corpus)
        ends = [*weighed.first.tolist(), len(weighed.meant)]
        for (label, suspect), (start, end) in zip(mine, pairwise(ends), strict=True):
            meant = weighed.meant[start:end]
            cases.append(
                Case(
                    kind=label.kind,
                    source=label.source,
                    text_id=label.text_id,
                    item_id=label.item_id,
                    start=label.start,
                    word=suspect.word,
                    is_typo=label.is_typo,
                    fold=label.fold,
                    meant=meant,
                    rows=weighed.features[start:end].astype(np.float32),
                    right=tuple(
                        n
                        for n, each in enumerate(meant)
                        if n and label.is_typo and each in label.right
                    )
                    or (0,),
                )
            )
    return cases


def _by_place(labels: Iterable[Label]) -> dict[tuple[str, int], Label]:
    return {(label.text_id, label.start): label for label in labels}


def _alone(word: str) -> Suspect:
    return Suspect(
        text_id="",
        start=0,
        end=len(word),
        surface=word,
        word=word,
        before=("", ""),
        after=("", ""),
        place=_ANYWHERE,
        about={},
    )
