"""How good the spelling rules are: `python -m tests.postprocess.spelling_fit.figures`.

Prints every row of docs/cleaning.md on the development half, by cross-validation over
words: each word is judged with a channel and weights that were fitted to other words.
With `--data FOLDER`, laid out as that half is, it judges what ships instead, which is
the honest figure for captions that were never seen.
"""

import argparse
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from postprocess.apply import clean
from postprocess.language import channel, features
from postprocess.language.channel import Channel
from postprocess.language.weights import WEIGHTS
from postprocess.rules import real_words, spelling
from tests.postprocess.spelling_fit import cases, fit, labels, logit

SOURCES = ("all", "vizwiz", "coco", "flickr8k")


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What became of a labelled word: fixed, wrong, missed, harmed or kept."""

    kind: str
    source: str
    outcome: str
    word: str
    after: str


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, help="judge what ships, on this folder")
    parser.add_argument("--words", action="store_true", help="list what went wrong")
    options = parser.parse_args()
    if options.data:
        half = labels.read(options.data)
        outcomes = list(shipped(half))
        print_isolated(isolated_with(half, [channel.shipped()] * labels.FOLDS))
    else:
        half = labels.read()
        by_fold = cases.channels(half)
        found = [
            *cases.caption_cases(half, by_fold),
            *cases.small_cases(half, by_fold),
            *cases.isolated_cases(half, by_fold),
        ]
        judged = list(by_folds(found))
        outcomes = [
            *outcomes_of([each for each in judged if not each[0].is_small], half),
            *real_word_outcomes(half),
        ]
        print_candidates(found)
        print_thresholds(judged, half)
        print_isolated(
            Counter(
                (case.source, best in case.right)
                for case, best, _ in judged
                if case.kind == "isolated"
            )
        )
    print_outcomes(outcomes, half)
    if options.words:
        for each in sorted(
            outcomes, key=lambda each: (each.kind, each.outcome, each.word)
        ):
            if each.outcome in {"wrong", "missed", "harmed"}:
                print(each.kind, each.source, each.outcome, each.word, each.after)


Judged = tuple[cases.Case, int, float]


def by_folds(found: Sequence[cases.Case]) -> Iterator[Judged]:
    """Each case with the rival that words of other folds choose, and its chance."""
    for fold in range(labels.FOLDS):
        others = [case.choice() for case in found if case.fold != fold]
        weights = logit.fit([choice for choice in others if choice])
        for case in found:
            if case.fold == fold:
                yield _judged(case, weights)


def _judged(case: cases.Case, weights: logit.Floats) -> Judged:
    if len(case.rows) == 1:
        return case, 0, 0.0
    chances = logit.chances(case.rows, weights)
    best = 1 + int(chances[1:].argmax())
    return case, best, float(chances[best])


def outcomes_of(
    judged: Iterable[Judged], half: labels.Half, sure: float = spelling.SURE
) -> Iterator[Outcome]:
    """The outcome of every labelled word, those that are no suspects included."""
    waiting = Counter(
        (label.kind, label.source, label.is_typo)
        for label in half.labels
        if label.kind != "realword"
    )
    for case, best, chance in judged:
        if case.kind == "isolated":
            continue
        waiting[case.kind, case.source, case.is_typo] -= 1
        is_made = best > 0 and chance >= sure
        yield Outcome(
            kind=case.kind,
            source=case.source,
            outcome=_outcome(
                is_typo=case.is_typo, is_made=is_made, is_right=best in case.right
            ),
            word=case.word,
            after=case.meant[best] if is_made else "",
        )
    for (kind, source, is_typo), n in waiting.items():
        outcome = "missed" if is_typo else "kept"
        yield from [
            Outcome(kind=kind, source=source, outcome=outcome, word="", after="")
        ] * n


def real_word_outcomes(half: labels.Half) -> Iterator[Outcome]:
    """The same for words that are words; `harmed` are changes of unlabelled ones."""
    found = cases.doubts(half, channel.shipped())
    waiting = Counter(label.source for label in half.labels if label.kind == "realword")
    for fold in range(labels.FOLDS):
        weights = fit.fit_doubts([doubt for doubt in found if doubt.fold != fold])
        for doubt in found:
            if doubt.fold != fold:
                continue
            chances = logit.chances(doubt.rows, weights)
            best = 1 + int(chances[1:].argmax())
            if chances[best] < real_words.SURE or not (
                doubt.is_labelled or doubt.kind in {"clean", "realword"}
            ):
                continue
            waiting[doubt.source] -= doubt.is_labelled
            is_right = doubt.is_labelled and best in doubt.right
            outcome = (
                "fixed" if is_right else "wrong" if doubt.is_labelled else "harmed"
            )
            kind = doubt.kind if doubt.kind == "clean" else "realword"
            yield Outcome(
                kind=kind,
                source=doubt.source,
                outcome=outcome,
                word=doubt.word,
                after=f"{doubt.meant[best]} | {doubt.text}",
            )
    for source, n in waiting.items():
        missed = Outcome(
            kind="realword", source=source, outcome="missed", word="", after=""
        )
        yield from [missed] * n


def shipped(half: labels.Half) -> Iterator[Outcome]:
    """The outcomes when all texts are cleaned as one campaign by what ships."""
    edits = clean(half.texts)
    for label in half.labels:
        edit = next(
            (
                edit
                for edit in edits[label.text_id]
                if edit.start < label.start + len(label.word)
                and label.start < edit.end
                and edit.rule != "whitespace"
            ),
            None,
        )
        after = labels.folded(edit.after) if edit else ""
        yield Outcome(
            kind=label.kind,
            source=label.source,
            outcome=_outcome(
                is_typo=label.is_typo,
                is_made=edit is not None and after != labels.folded(label.word),
                is_right=after in label.right,
            ),
            word=label.word,
            after=after,
        )
    for text_id in half.clean:
        for edit in edits[text_id]:
            if edit.rule != "whitespace":
                yield Outcome(
                    kind="clean",
                    source=text_id.split("|")[0],
                    outcome="harmed",
                    word=edit.before,
                    after=edit.after,
                )


def isolated_with(
    half: labels.Half, by_fold: Sequence[Channel]
) -> Counter[tuple[str, bool]]:
    """How many isolated words are ranked right and not, by list; weights as shipped."""
    weights = np.array([WEIGHTS[name] for name in features.NAMES])
    judged = (_judged(case, weights) for case in cases.isolated_cases(half, by_fold))
    tally = Counter((case.source, best in case.right) for case, best, _ in judged)
    for name, words in half.isolated.items():
        tally[name, False] += len(words) - tally[name, True] - tally[name, False]
    return tally


def print_isolated(tally: Counter[tuple[str, bool]]) -> None:
    """One row a list."""
    for name in sorted({name for name, _ in tally}):
        right, whole = tally[name, True], tally[name, True] + tally[name, False]
        print(
            f"isolated {name:20} ranked right {100 * right / whole:5.1f} % of {whole}"
        )


def print_candidates(found: Iterable[cases.Case]) -> None:
    """The share of typos whose right word is among the candidates, and is first."""
    tally: Counter[tuple[str, bool]] = Counter(
        (case.kind, case.right != (0,))
        for case in found
        if case.is_typo and not case.is_small
    )
    for kind in sorted({kind for kind, _ in tally}):
        whole = tally[kind, True] + tally[kind, False]
        print(f"candidates of {kind:14} {100 * tally[kind, True] / whole:5.1f} %")


def print_thresholds(judged: Sequence[Judged], half: labels.Half) -> None:
    """What other thresholds would do, to whole campaigns and to small ones."""
    for is_small in (False, True):
        these = [each for each in judged if each[0].is_small == is_small]
        for percent in (50, 60, 65, 70, 72, 75, 80, 85, 90):
            tally = Counter(
                each.outcome
                for each in outcomes_of(these, half, percent / 100)
                if each.kind == "real"
            )
            size = "small" if is_small else "whole"
            print(f"{size} campaigns, from {percent} %: {_shares(tally)}")


def print_outcomes(outcomes: Sequence[Outcome], half: labels.Half) -> None:
    """One row a kind of error and source."""
    for kind in ("real", "typo", "missing_space", "realword"):
        for source in SOURCES:
            tally = Counter(
                each.outcome
                for each in outcomes
                if each.kind == kind and source in {"all", each.source}
            )
            print(f"{kind:14}{source:10}{_shares(tally)}")
    changed = sum(each.kind == "clean" for each in outcomes)
    print(f"clean captions: {changed} changes in {len(half.clean)}")


def _shares(tally: Counter[str]) -> str:
    typos = tally["fixed"] + tally["wrong"] + tally["missed"]
    right = tally["harmed"] + tally["kept"]
    changed = tally["fixed"] + tally["wrong"] + tally["harmed"]
    return (
        f"fixed {_percent(tally['fixed'], typos)} of {typos}, "
        f"wrong {_percent(tally['wrong'], typos)}, "
        f"harmed {_percent(tally['harmed'], right, 2)} of {right}, "
        f"precision {_percent(tally['fixed'], changed)}"
    )


def _percent(part: int, whole: int, digits: int = 1) -> str:
    return f"{100 * part / whole:.{digits}f} %" if whole else "-"


def _outcome(*, is_typo: bool, is_made: bool, is_right: bool) -> str:
    if is_typo:
        return "fixed" if is_made and is_right else "wrong" if is_made else "missed"
    return "harmed" if is_made else "kept"


if __name__ == "__main__":
    main()
