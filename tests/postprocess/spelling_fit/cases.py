"""Labelled words as choices, each priced by a channel that never saw the word."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from piecework.domain.edit import Edit
from piecework.postprocess.edits import replay
from piecework.postprocess.language import confusions, english, features
from piecework.postprocess.language.candidates import candidates
from piecework.postprocess.language.channel import Channel
from piecework.postprocess.language.corpus import Corpus
from piecework.postprocess.language.suspects import Suspect, find_suspects
from piecework.postprocess.language.tokens import Place, words
from piecework.postprocess.text import Text
from tests.postprocess.spelling_fit import channel_training
from tests.postprocess.spelling_fit.labels import (
    FOLDS,
    Half,
    Label,
    as_campaigns,
    fold_of,
    pairs,
)
from tests.postprocess.spelling_fit.logit import Choice, Floats

SMALL = 60
"""Images of a small campaign: 300 captions."""

_WEIGHTS = {"real": 1.0, "typo": 0.15, "missing_space": 0.1, "isolated": 0.1}
"""Injected errors are many and easy; real ones should decide."""

_OF_OTHERS = 0.5
"""The same words in small campaigns, and in one that was cleaned once."""

_OF_NO_CANDIDATE = 0.3
_ANYWHERE = Place(
    is_fixed=False, is_shouted=False, is_name_like=False, is_hyphened=False
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A labelled word that is weighed.

    Attributes:
        kind: of its label, or `isolated`, whose source is the list.
        meant: what each rival would write, "" for leaving, which comes first.
        rows: the rivals' features.
        right: the rivals that are right.
        is_small: whether it stands in a small campaign.
        is_again: whether the campaign was cleaned once already.
    """

    kind: str
    source: str
    word: str
    is_typo: bool
    fold: int
    meant: Sequence[str]
    rows: Floats
    right: tuple[int, ...]
    is_small: bool = False
    is_again: bool = False

    def choice(self) -> Choice | None:
        """What weights are fitted to; None where nothing can be learnt from it."""
        weight = _WEIGHTS[self.kind] * (
            _OF_OTHERS if self.is_small or self.is_again else 1
        )
        if self.kind == "isolated":
            if self.right == (0,):
                return None
            right = tuple(each - 1 for each in self.right)
            return Choice(rows=self.rows[1:], right=right, weight=weight)
        if self.is_typo and self.right == (0,):
            weight *= _OF_NO_CANDIDATE
        return Choice(rows=self.rows, right=self.right, weight=weight)


def channels(half: Half) -> list[Channel]:
    """One channel a fold, trained on the words of the others."""
    all_pairs = pairs(half)
    return [
        Channel(
            channel_training.costs(
                pair for pair in all_pairs if fold_of(pair.meant) != fold
            )
        )
        for fold in range(FOLDS)
    ]


def all_cases(half: Half, by_fold: Sequence[Channel]) -> list[Case]:
    """Everything that can be looked at before anything was cleaned."""
    return [
        *caption_cases(half, by_fold),
        *small_cases(half, by_fold),
        *isolated_cases(half, by_fold),
    ]


def caption_cases(half: Half, by_fold: Sequence[Channel]) -> list[Case]:
    """The labelled suspects among all captions, cleaned as one campaign."""
    return _cases(half.texts, _by_place(half.labels), by_fold, Corpus(half.texts))


def small_cases(half: Half, by_fold: Sequence[Channel]) -> list[Case]:
    """The really mistyped and the right ones again, in small campaigns."""
    labels = _by_place(label for label in half.labels if label.kind == "real")
    return [
        replace(case, is_small=True)
        for texts in as_campaigns(half, SMALL)
        for case in _cases(texts, labels, by_fold, Corpus(texts))
    ]


def later_cases(
    half: Half, edits: Mapping[str, Sequence[Edit]], by_fold: Sequence[Channel]
) -> list[Case]:
    """The labelled suspects once more, among captions that were cleaned by edits.

    Cleaning looks again until nothing changes. Then fewer typos are left, so an unknown
    word looks less like one, and fewer others look like names beside it.
    """
    cleaned = _CleanedCorpus(
        replace(text, text=replay(text.text, edits[text.text_id]))
        for text in half.texts
    )
    repeated = _cases(half.texts, _by_place(half.labels), by_fold, cleaned)
    return [replace(case, is_again=True) for case in repeated]


class _CleanedCorpus(Corpus):
    """Counts of cleaned texts, asked about texts with words that none of these has."""

    def texts_with(self, word: str) -> tuple[int, int]:
        """As if the text that is asked about had been counted too."""
        texts, with_names = super().texts_with(word)
        return max(1, texts), max(1, with_names)


def isolated_cases(half: Half, by_fold: Sequence[Channel]) -> list[Case]:
    """Wrong words by themselves: standing alone is no place, so no place speaks."""
    columns = [features.NAMES.index(name) for name in english.NAMES]
    cases = []
    nothing = Corpus()
    for name, both in half.isolated.items():
        labels = [
            Label(
                kind="isolated",
                source=name,
                text_id="",
                start=0,
                word=typed,
                is_typo=True,
                right=meant,
                fold=fold_of(meant[0]),
            )
            for typed, meant in both
            if " " not in typed
        ]
        cases += _weighed(
            [(label, _alone(label.word)) for label in labels], nothing, by_fold
        )
    for case in cases:
        case.rows[:, columns] = 0
    return cases


@dataclass(frozen=True, slots=True, kw_only=True)
class Doubt:
    """A place where another word may be meant, and its label if it has one.

    Attributes:
        kind: of the caption's label, `clean`, or "" for a caption without.
        rows: the features of leaving, all 0, and of the other words.
        right: as labelled; leaving where nothing says otherwise.
    """

    kind: str
    source: str
    text: str
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
                text=text.text,
                word=word.word,
                meant=meant,
                fold=fold_of(right[0] if right else meant[1]),
                rows=np.vstack(
                    [np.zeros(len(confusions.NAMES)), doubtful.features[first:after]]
                ),
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
        if (label := labels.get((suspect.text_id, suspect.start)))
        and label.kind in _WEIGHTS
    ]
    return _weighed(labelled, corpus, by_fold)


def _weighed(
    labelled: Sequence[tuple[Label, Suspect]],
    corpus: Corpus,
    by_fold: Sequence[Channel],
) -> list[Case]:
    cases: list[Case] = []
    for fold, channel in enumerate(by_fold):
        mine = [each for each in labelled if each[0].fold == fold]
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
                    word=suspect.word,
                    is_typo=label.is_typo,
                    fold=fold,
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
