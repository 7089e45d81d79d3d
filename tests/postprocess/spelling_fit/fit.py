"""Makes what the spelling rules know: `python -m tests.postprocess.spelling_fit.fit`.

It reads ../shared/data/spelling and writes `channel.tsv` and `weights.py` of
`postprocess/language`. Both hold coefficients only. A typo's price in the channel is
always asked of one that was not trained on that word, lest the price be trusted too
much; the channel that ships is trained on all. Weights are fitted twice: the second
time also to the same words among captions that were cleaned with the first ones.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple
from unittest.mock import patch

from piecework.domain.edit import Edit
from piecework.postprocess import language
from piecework.postprocess.apply import clean_and_propose
from piecework.postprocess.language import confusions, features
from piecework.postprocess.language.channel import Channel
from piecework.postprocess.text import Text
from tests.postprocess.spelling_fit import cases, channel_training, labels, logit

_ROOM = Path(language.__file__).parent

PENALTY = 2.0
_PENALTY_OF_REAL_WORDS = 0.2
"""Of typos there are many features and few labels; of words that are words the other
way round."""

_NATURAL = 0.5
"""Unlabelled captions hold errors too: a place that looks as likely to be one after a
first fit as this is not fitted to as being right."""


class Weights(NamedTuple):
    """Of `features.NAMES`, and of `confusions.NAMES`."""

    typos: logit.Floats
    real_words: logit.Floats


def main() -> None:
    """Write both files."""
    half = labels.read()
    by_fold = cases.channels(half)
    whole = Channel(channel_training.costs(labels.pairs(half)))
    typo_cases = cases.all_cases(half, by_fold)
    doubts = cases.doubts(half, whole)
    edits = cleaned(half.texts, whole, fitted(typo_cases, doubts))
    weights = fitted([*typo_cases, *cases.later_cases(half, edits, by_fold)], doubts)
    _write_channel(whole)
    path = _ROOM / "weights.py"
    path.write_text(_as_module(weights), encoding="utf-8")


def fitted(
    typo_cases: Sequence[cases.Case],
    doubts: Sequence[cases.Doubt],
    without: int | None = None,
) -> Weights:
    """Weights for all words but those of one fold."""
    choices = [case.choice() for case in typo_cases if case.fold != without]
    return Weights(
        typos=logit.fit([choice for choice in choices if choice], PENALTY),
        real_words=fit_doubts([doubt for doubt in doubts if doubt.fold != without]),
    )


def cleaned(
    texts: Sequence[Text], channel: Channel, weights: Weights
) -> Mapping[str, Sequence[Edit]]:
    """What a campaign becomes with a channel and weights of one's own."""
    typos = dict(zip(features.NAMES, weights.typos.tolist(), strict=True))
    real = dict(zip(confusions.NAMES, weights.real_words.tolist(), strict=True))
    with (
        patch("piecework.postprocess.language.channel.shipped", lambda: channel),
        patch("piecework.postprocess.rules.spelling.WEIGHTS", typos),
        patch("piecework.postprocess.rules.real_words.REAL_WORD_WEIGHTS", real),
    ):
        return clean_and_propose(texts).edits


def fit_doubts(doubts: Sequence[cases.Doubt]) -> logit.Floats:
    """Weights for words that are words, from labels and what is most likely right."""
    kept = list(doubts)
    weights = logit.fit([_choice(doubt) for doubt in kept], _PENALTY_OF_REAL_WORDS)
    for _ in range(2):
        kept = [
            doubt
            for doubt in doubts
            if doubt.is_labelled or logit.chances(doubt.rows, weights)[0] > _NATURAL
        ]
        weights = logit.fit([_choice(doubt) for doubt in kept], _PENALTY_OF_REAL_WORDS)
    return weights


def _choice(doubt: cases.Doubt) -> logit.Choice:
    return logit.Choice(rows=doubt.rows, right=doubt.right, weight=1.0)


def _write_channel(channel: Channel) -> None:
    rows = (
        f"{meant}\t{typed}\t{round(100 * cost)}\n"
        for (meant, typed), cost in sorted(channel.costs.items())
    )
    (_ROOM / "channel.tsv").write_text("".join(rows), encoding="utf-8")


def _as_module(weights: Weights) -> str:
    def rows(names: Sequence[str], weights: logit.Floats) -> list[str]:
        both = zip(names, weights.tolist(), strict=True)
        return [f'    "{name}": {weight:.2f},' for name, weight in both]

    return "\n".join(
        [
            '"""Weights of the features, in nats.',
            "",
            "Made by `python -m tests.postprocess.spelling_fit.fit`.",
            '"""',
            "",
            "from collections.abc import Mapping",
            "",
            "WEIGHTS: Mapping[str, float] = {",
            *rows(features.NAMES, weights.typos),
            "}",
            '"""Of a typo; `postprocess.language.features` says what each is."""',
            "",
            "REAL_WORD_WEIGHTS: Mapping[str, float] = {",
            *rows(confusions.NAMES, weights.real_words),
            "}",
            '"""Of a word that is not the one that was meant; `confusions`."""',
            "",
        ]
    )


if __name__ == "__main__":
    main()
