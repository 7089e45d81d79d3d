"""How good the spelling rules are: `python -m tests.postprocess.spelling_fit.figures`.

Prints the tables of docs/measurements/cleaning.md, or with `--write` puts them there,
from the development half, by cross-validation over words: each word is judged with a
channel and weights that were fitted to other words. With `--data FOLDER`, laid out as
that half is, it judges what ships instead, which is the honest figure for captions that
were never seen.
"""

import argparse
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from piecework.domain.edit import Edit
from piecework.postprocess.apply import clean_and_propose
from piecework.postprocess.language import channel, features
from piecework.postprocess.language.channel import Channel
from piecework.postprocess.language.weights import WEIGHTS
from piecework.postprocess.rules import spelling
from tests.postprocess.spelling_fit import cases, fit, labels, logit

PAGE = Path(__file__).resolve().parents[3] / "docs/measurements/cleaning.md"
BLOCK = re.compile(r"(?<=<!-- figures -->\n).*?(?=<!-- /figures -->)", re.DOTALL)
"""What of the page is made here."""

_NAMES = {
    "real": "real typos",
    "typo": "injected typos",
    "missing_space": "missing spaces",
    "realword": "swapped real words",
}
_SOURCES = {"vizwiz": "VizWiz", "coco": "COCO", "flickr8k": "Flickr8k"}
_OF_THRESHOLDS = (
    "Real typos at the first look with other thresholds, in one campaign and in "
    "campaigns of 60 images each:"
)
_THRESHOLDS = (50, 55, 60, 65, 70, 75, 80, 85, 90)


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What became of a labelled word: fixed, wrong, missed, harmed or kept."""

    kind: str
    source: str
    outcome: str
    word: str
    after: str


def main() -> None:
    """Print the tables, or write them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, help="judge what ships, on this folder")
    parser.add_argument("--words", action="store_true", help="list what went wrong")
    parser.add_argument("--write", action="store_true", help="write them to the page")
    options = parser.parse_args()
    if options.data:
        half = labels.read(options.data)
        outcomes = list(outcomes_of(half, clean_and_propose(half.texts).edits))
        ranked = isolated_with(half, [channel.shipped()] * labels.FOLDS)
        lines = [*table_of_outcomes(outcomes), "", *table_of_lists(ranked, half)]
    else:
        outcomes, lines = cross_validated(labels.read())
    if options.write:
        text = "\n".join(["", *lines, "", ""])
        page = PAGE.read_text(encoding="utf-8")
        PAGE.write_text(BLOCK.sub(lambda _: text, page), encoding="utf-8")
    print("\n".join(lines))
    if options.words:
        for each in sorted(
            outcomes, key=lambda each: (each.kind, each.outcome, each.word)
        ):
            if each.outcome in {"wrong", "missed", "harmed"}:
                print(each.kind, each.source, each.outcome, each.word, each.after)


def cross_validated(half: labels.Half) -> tuple[list["Outcome"], list[str]]:
    """What became of the labelled words, and all tables."""
    by_fold = cases.channels(half)
    typo_cases = cases.all_cases(half, by_fold)
    doubts = cases.doubts(half, channel.shipped())
    judged: list[Judged] = []
    outcomes: list[Outcome] = []
    for fold, channel_of_others in enumerate(by_fold):
        first = fit.fitted(typo_cases, doubts, without=fold)
        edits = fit.cleaned(half.texts, channel_of_others, first)
        later = cases.later_cases(half, edits, by_fold)
        weights = fit.fitted([*typo_cases, *later], doubts, without=fold)
        judged += [
            _judged(case, weights.typos) for case in typo_cases if case.fold == fold
        ]
        edits = fit.cleaned(half.texts, channel_of_others, weights)
        outcomes += outcomes_of(half, edits, fold)
    whole = [each for each in judged if not each[0].is_small]
    small = [each for each in judged if each[0].is_small]
    ranked = Counter(
        (case.source, best in case.right)
        for case, best, _ in judged
        if case.kind == "isolated"
    )
    return outcomes, [
        *table_of_outcomes(outcomes),
        "",
        _OF_THRESHOLDS,
        "",
        *table_of_thresholds(whole, small, half),
        "",
        "Why the first look misses a typo:",
        "",
        *table_of_misses(whole, half),
        "",
        "Isolated misspellings, ranked without context:",
        "",
        *table_of_lists(ranked, half),
    ]


Judged = tuple[cases.Case, int, float]


def _judged(case: cases.Case, weights: logit.Floats) -> Judged:
    if len(case.rows) == 1:
        return case, 0, 0.0
    chances = logit.chances(case.rows, weights)
    best = 1 + int(chances[1:].argmax())
    return case, best, float(chances[best])


def outcomes_of(
    half: labels.Half, edits: Mapping[str, Sequence[Edit]], fold: int | None = None
) -> Iterator[Outcome]:
    """What edits made of the labelled words, of one fold or all."""
    for label in half.labels:
        if fold not in {None, label.fold}:
            continue
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
            of_fold = labels.fold_of(labels.folded(edit.after))
            if edit.rule != "whitespace" and fold in {None, of_fold}:
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
    return Counter((case.source, best in case.right) for case, best, _ in judged)


def table_of_outcomes(outcomes: Sequence[Outcome]) -> Iterator[str]:
    """One row a kind of error and source."""
    yield "| | typos fixed | wrong | harmed | precision |"
    yield "|---|---|---|---|---|"
    for kind, name in _NAMES.items():
        for source in ("all", *_SOURCES):
            tally = Counter(
                each.outcome
                for each in outcomes
                if each.kind == kind and source in {"all", each.source}
            )
            if tally:
                yield f"| {_row_name(name, source, tally)} | {_shares(tally)} |"
    changed = sum(each.kind == "clean" for each in outcomes)
    yield f"| captions without an unknown word | | | {changed} changes | |"


def _row_name(name: str, source: str, tally: Counter[str]) -> str:
    number, right = _typos(tally), tally["harmed"] + tally["kept"]
    both = f"{number:,}; {right:,} right words" if tally["kept"] else f"{number:,}"
    return f"{name if source == 'all' else _SOURCES[source]} ({both})"


def table_of_thresholds(
    whole: Sequence[Judged], small: Sequence[Judged], half: labels.Half
) -> Iterator[str]:
    """What other thresholds would do to real typos at the first look."""
    yield "| threshold | fixed | wrong | harmed | precision | small: fixed | right |"
    yield "|---|---|---|---|---|---|---|"
    for percent in _THRESHOLDS:
        tally, of_small = (
            _first_look(judged, half, percent / 100) for judged in (whole, small)
        )
        fixed, _, _, precision = _shares(of_small).split(" | ")
        yield f"| {percent / 100:.2f} | {_shares(tally)} | {fixed} | {precision} |"


def _first_look(
    judged: Sequence[Judged], half: labels.Half, sure: float
) -> Counter[str]:
    """The outcomes of real words, those that are no suspects included."""
    totals = half.totals()
    tally = Counter({"missed": totals["real", True, "all"]})
    tally["kept"] = totals["real", False, "all"]
    for case, best, chance in judged:
        if case.kind == "real" and best and chance >= sure:
            is_right = best in case.right
            tally[_outcome(is_typo=case.is_typo, is_made=True, is_right=is_right)] += 1
            tally["missed" if case.is_typo else "kept"] -= 1
    return tally


def table_of_misses(judged: Sequence[Judged], half: labels.Half) -> Iterator[str]:
    """How many typos of each kind are not fixed, by why."""
    why = ("no suspect", "no candidate", "outranked", "0.5 and more", "0.2", "less")
    yield (
        "| | not suspected | right word no candidate | outranked by another | "
        "likeliest, but only from 0.5 | from 0.2 | below 0.2 |"
    )
    yield "|---|---|---|---|---|---|---|"
    for kind in ("real", "typo", "missing_space"):
        tally = Counter(
            _why(*each) for each in judged if each[0].kind == kind and each[0].is_typo
        )
        whole = half.totals()[kind, True, "all"]
        tally["no suspect"] = whole - tally.total()
        cells = " | ".join(str(tally[each]) for each in why)
        yield f"| {_NAMES[kind]} ({whole:,}) | {cells} |"


def _why(case: cases.Case, best: int, chance: float) -> str:
    if case.right == (0,):
        return "no candidate"
    if best not in case.right:
        return "outranked"
    if chance >= spelling.SURE:
        return "fixed"
    steps = ((0.5, "0.5 and more"), (0.2, "0.2"), (0.0, "less"))
    return next(name for least, name in steps if chance >= least)


def table_of_lists(
    tally: Counter[tuple[str, bool]], half: labels.Half
) -> Iterator[str]:
    """One row a list; a word that is not looked at at all is not ranked right."""
    yield "| list | words | ranked right |"
    yield "|---|---|---|"
    for name, words in half.isolated.items():
        yield f"| {name} | {len(words):,} | {_percent(tally[name, True], len(words))} |"


def _typos(tally: Counter[str]) -> int:
    return tally["fixed"] + tally["wrong"] + tally["missed"]


def _shares(tally: Counter[str]) -> str:
    typos, harmed = _typos(tally), tally["harmed"]
    right = harmed + tally["kept"]
    changed = tally["fixed"] + tally["wrong"] + harmed
    share = f"{_percent(harmed, right, 2)} ({harmed})" if tally["kept"] else str(harmed)
    right_ones = f"({tally['fixed']:,} of {changed:,})"
    return (
        f"{_percent(tally['fixed'], typos)} | {_percent(tally['wrong'], typos)} | "
        f"{share} | {_percent(tally['fixed'], changed)} {right_ones}"
    )


def _percent(part: int, whole: int, digits: int = 1) -> str:
    return f"{100 * part / whole:.{digits}f} %" if whole else "-"


def _outcome(*, is_typo: bool, is_made: bool, is_right: bool) -> str:
    if is_typo:
        return "fixed" if is_made and is_right else "wrong" if is_made else "missed"
    return "harmed" if is_made else "kept"


if __name__ == "__main__":
    main()
