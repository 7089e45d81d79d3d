"""Makes what the spelling rules know: `python -m tests.postprocess.spelling_fit.fit`.

It reads ../shared/data/spelling and writes `channel.tsv` and `weights.py` of
`postprocess/language`. Both hold coefficients only. A typo's price in the channel is
always asked of one that was not trained on that word, lest the price be trusted too
much; the channel that ships is trained on all.
"""

from collections.abc import Sequence
from pathlib import Path

import postprocess.language
from postprocess.language import confusions, features
from postprocess.language.channel import Channel
from tests.postprocess.spelling_fit import cases, channel_training, labels, logit

_ROOM = Path(str(postprocess.language.__file__)).parent

PENALTY = 2.0
_PENALTY_OF_REAL_WORDS = 0.2
"""Of typos there are many features and few labels; of words that are words the other
way round."""

_NATURAL = 0.5
"""Unlabelled captions hold errors too: a place that looks as likely to be one after a
first fit as this is not fitted to as being right."""


def main() -> None:
    """Write both files."""
    half = labels.read()
    by_fold = cases.channels(half)
    choices = [
        *cases.caption_cases(half, by_fold),
        *cases.small_cases(half, by_fold),
        *cases.isolated_cases(half, by_fold),
    ]
    whole = Channel(channel_training.costs(labels.pairs(half)))
    _write_channel(whole)
    typos = logit.fit([each for case in choices if (each := case.choice())], PENALTY)
    real_words = fit_doubts(cases.doubts(half, whole))
    path = _ROOM / "weights.py"
    path.write_text(_as_module(typos, real_words), encoding="utf-8")


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


def _as_module(typos: logit.Floats, real_words: logit.Floats) -> str:
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
            *rows(features.NAMES, typos),
            "}",
            '"""Of a typo; `postprocess.language.features` says what each is."""',
            "",
            "REAL_WORD_WEIGHTS: Mapping[str, float] = {",
            *rows(confusions.NAMES, real_words),
            "}",
            '"""Of a word that is not the one that was meant; `confusions`."""',
            "",
        ]
    )


if __name__ == "__main__":
    main()
