"""How good the spelling rules are: `python -m tests.postprocess.spelling_fit.figures`.

Prints the tables of docs/internals/measurements/cleaning.md, or with `--write` puts them there,
from the development half, by cross-validation over images: each word is judged with a
channel and weights that were fitted to captions of other images. With `--data FOLDER`,
laid out as that half is, it judges what ships instead, which is the honest figure for
captions that were never seen.
"""

import argparse
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np

from piecework.domain.edit import Edit
from piecework.postprocess.apply import clean_and_propose
from piecework.postprocess.language import channel, features, lexicon
from piecework.postprocess.language.channel import Channel
from piecework.postprocess.language.weights import WEIGHTS
from piecework.postprocess.rules import real_words, spelling
from piecework.results.follow_up_items import DOUBTED_UP_TO
from tests.postprocess.spelling_fit import cases, fit, labels, logit

PAGE = Path(__file__).resolve().parents[3] / "docs/internals/measurements/cleaning.md"
BLOCK = re.compile(r"(?<=<!-- figures -->\n).*?(?=<!-- /figures -->)", re.DOTALL)
"""What of the page is made here."""

_NAMES = {
    "real": "real typos",
    "typo": "injected typos",
    "missing_space": "missing spaces",
    "realword": "swapped real words",
}
_SOURCES = {"vizwiz": "VizWiz", "coco": "COCO", "flickr8k": "Flickr8k"}
_OF_INTERVALS = (
    "Real typos, with 95 % intervals over images (2,000 bootstrap samples), in one "
    "campaign and in campaigns of 60 images (300 captions) each:"
)
_OF_THRESHOLDS = (
    "Real typos with other thresholds, in one campaign and in campaigns of 60 images each:"
)
_OF_QUESTIONS = (
    "Real typos if people say what was meant by each word with a probability in a "
    "range, and are always right:"
)
_OF_CALIBRATION = "How often the likeliest change of a real word is right, by probability:"
_OF_ERRORS = "What cleaning still gets wrong among the real words, by class, and a few examples:"
_EXAMPLES = 6
_NAME_LIKE = features.FEATURE_NAMES.index("name_like")
_SAMPLES = 2_000
_ASKED = (
    (0.0, 0.0),
    (spelling.WORTH_A_LOOK, spelling.SURE),
    (spelling.WORTH_A_LOOK, DOUBTED_UP_TO),
)
_BINS = (0.0, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 0.8, 0.9, 0.95, 1.01)
_THRESHOLDS = (50, 55, 60, 65, 70, 75, 80, 85, 90)


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What became of a labelled word: fixed, wrong, missed, harmed or kept."""

    kind: str
    source: str
    text_id: str
    start: int
    item_id: str
    outcome: str
    word: str
    meant: str
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
        outcomes = list(outcomes_of(half, by_place(clean_and_propose(half.texts).edits)))
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
        for each in sorted(outcomes, key=lambda each: (each.kind, each.outcome, each.word)):
            if each.outcome in {"wrong", "missed", "harmed"}:
                print(each.kind, each.source, each.outcome, each.word, each.after)


def cross_validated(half: labels.Half) -> tuple[list["Outcome"], list[str]]:
    """What became of the labelled words, and all tables."""
    by_fold = cases.channels(half)
    return measured(half, cases.all_cases(half, by_fold), cases.doubts(half, channel.shipped()))


def measured(
    half: labels.Half, typo_cases: Sequence[cases.Case], doubts: Sequence[cases.Doubt]
) -> tuple[list["Outcome"], list[str]]:
    """The same, with the weights of each fold fitted to the images of the others."""
    judged: list[Judged] = []
    edits: dict[tuple[str, int], str] = {}
    for fold in range(labels.FOLDS):
        weights = fit.fitted(typo_cases, doubts, without=fold)
        judged += [_judged(case, weights.typos) for case in typo_cases if case.fold == fold]
        edits |= _real_words((doubt for doubt in doubts if doubt.fold == fold), weights.real_words)
    # The other labels of captions with an added slip would be in the same places.
    whole = [each for each in judged if each[0].kind in {*_NAMES, "isolated"}]
    whole = [each for each in whole if not each[0].is_small]
    small = [each for each in judged if each[0].is_small]
    # Spelling comes first among the rules.
    of_small = edits | _spelled(small)
    edits |= _spelled(whole)
    outcomes = [*outcomes_of(half, edits)]
    ranked = Counter(
        (case.source, best in case.right) for case, best, _ in judged if case.kind == "isolated"
    )
    only_real = [each for each in outcomes_of(half, of_small) if each.kind == "real"]
    return outcomes, [
        *table_of_outcomes(outcomes),
        "",
        _OF_INTERVALS,
        "",
        *table_of_intervals({"one campaign": outcomes, "60 images each": only_real}),
        "",
        _OF_THRESHOLDS,
        "",
        *table_of_thresholds(whole, small, half),
        "",
        _OF_QUESTIONS,
        "",
        *table_of_questions(whole, small, half),
        "",
        _OF_CALIBRATION,
        "",
        *table_of_calibration(whole, small),
        "",
        "Why a typo is missed:",
        "",
        *table_of_misses(whole, half),
        "",
        _OF_ERRORS,
        "",
        *table_of_errors(whole, outcomes),
        "",
        "Isolated misspellings, ranked without context:",
        "",
        *table_of_lists(ranked, half),
    ]


def _spelled(judged: Iterable["Judged"]) -> dict[tuple[str, int], str]:
    """What the spelling rule would write, by text and place."""
    return {
        (case.text_id, case.start): case.meant[best]
        for case, best, chance in judged
        if best
        and chance >= (spelling.SURE_IN_FEW if case.is_small else spelling.SURE)
        and not _is_a_name(case, case.meant[best])
    }


def _is_a_name(case: cases.Case, meant: str) -> bool:
    return bool(case.rows[0, _NAME_LIKE]) and meant.startswith("a ")


def _real_words(doubts: Iterable[cases.Doubt], weights: logit.Floats) -> dict[tuple[str, int], str]:
    """What the rule for real words would write, by text and place."""
    edits = {}
    for doubt in doubts:
        chances = logit.chances(doubt.rows, weights)
        best = 1 + int(chances[1:].argmax())
        if chances[best] >= real_words.SURE:
            edits[doubt.text_id, doubt.start] = doubt.meant[best]
    return edits


Judged = tuple[cases.Case, int, float]


def _judged(case: cases.Case, weights: logit.Floats) -> Judged:
    if len(case.rows) == 1:
        return case, 0, 0.0
    chances = logit.chances(case.rows, weights)
    best = 1 + int(chances[1:].argmax())
    return case, best, float(chances[best])


def by_place(edits: Mapping[str, Sequence[Edit]]) -> dict[tuple[str, int], str]:
    """What edits of words write, by text and place."""
    names = {spelling.NAME, real_words.NAME}
    return {
        (text_id, edit.start): edit.after
        for text_id, made in edits.items()
        for edit in made
        if names.intersection(edit.rule.split("+"))
    }


def outcomes_of(half: labels.Half, edits: Mapping[tuple[str, int], str]) -> Iterator[Outcome]:
    """What edits, by text and place, made of the labelled words."""
    for label in half.labels:
        after = labels.folded(edits.get((label.text_id, label.start), ""))
        yield Outcome(
            kind=label.kind,
            source=label.source,
            text_id=label.text_id,
            start=label.start,
            item_id=label.item_id,
            meant=label.right[0],
            outcome=_outcome(
                is_typo=label.is_typo,
                is_made=after not in {"", labels.folded(label.word)},
                is_right=after in label.right,
            ),
            word=label.word,
            after=after,
        )
    clean = frozenset(half.clean)
    for (text_id, start), after in edits.items():
        if text_id in clean:
            yield Outcome(
                kind="clean",
                source=text_id.split("|")[0],
                text_id=text_id,
                start=start,
                item_id="",
                outcome="harmed",
                word="",
                meant="",
                after=after,
            )


def isolated_with(half: labels.Half, by_fold: Sequence[Channel]) -> Counter[tuple[str, bool]]:
    """How many isolated words are ranked right and not, by list; weights as shipped."""
    weights = np.array([WEIGHTS[name] for name in features.FEATURE_NAMES])
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


def table_of_intervals(outcomes: Mapping[str, Sequence[Outcome]]) -> Iterator[str]:
    """One row a way to divide the captions into campaigns."""
    yield "| | typos fixed | harmed | precision |"
    yield "|---|---|---|---|"
    for name, several in outcomes.items():
        real = [each for each in several if each.kind == "real"]
        items = dict.fromkeys(each.item_id for each in real)
        rows = {item: n for n, item in enumerate(items)}
        counts = np.zeros((len(rows), len(_OUTCOMES)))
        for each in real:
            counts[rows[each.item_id], _OUTCOMES.index(each.outcome)] += 1
        random = np.random.default_rng(39)
        draws = random.multinomial(len(rows), np.full(len(rows), 1 / len(rows)), size=_SAMPLES)
        whole, sampled = _three(counts.sum(axis=0)), _three((draws @ counts).T)
        low, high = np.percentile(sampled, [2.5, 97.5], axis=1)
        cells = " | ".join(
            f"{100 * share:.1f} % ({100 * a:.1f} to {100 * b:.1f})"
            for share, a, b in zip(whole, low, high, strict=True)
        )
        yield f"| {name} | {cells} |"


_OUTCOMES = ("fixed", "wrong", "missed", "harmed", "kept")


def _three(counts: logit.Floats) -> logit.Floats:
    """Shares of typos fixed, of right words harmed, and of changes that are right."""
    fixed, wrong, missed, harmed, kept = counts
    return np.array(
        [
            fixed / (fixed + wrong + missed),
            harmed / (harmed + kept),
            fixed / (fixed + wrong + harmed),
        ]
    )


def _row_name(name: str, source: str, tally: Counter[str]) -> str:
    number, right = _typos(tally), tally["harmed"] + tally["kept"]
    both = f"{number:,}; {right:,} right words" if tally["kept"] else f"{number:,}"
    return f"{name if source == 'all' else _SOURCES[source]} ({both})"


def table_of_thresholds(
    whole: Sequence[Judged], small: Sequence[Judged], half: labels.Half
) -> Iterator[str]:
    """What other thresholds would do to real typos."""
    yield "| threshold | fixed | wrong | harmed | precision | small: fixed | right |"
    yield "|---|---|---|---|---|---|---|"
    for percent in _THRESHOLDS:
        tally, of_small = (
            _with_threshold(judged, half, percent / 100) for judged in (whole, small)
        )
        fixed, _, _, precision = _shares(of_small).split(" | ")
        yield f"| {percent / 100:.2f} | {_shares(tally)} | {fixed} | {precision} |"


def table_of_questions(
    whole: Sequence[Judged], small: Sequence[Judged], half: labels.Half
) -> Iterator[str]:
    """What people's answers about doubted words would do to real typos."""
    yield (
        "| | probability | words asked | typos among them | fixed | wrong | harmed | precision |"
    )
    yield "|---|---|---|---|---|---|---|---|"
    campaigns = {
        text.text_id: number
        for number, texts in enumerate(labels.as_campaigns(half, cases.SMALL))
        for text in texts
    }
    for name, judged in {"one campaign": whole, "60 images each": small}.items():
        for low, high in _ASKED:
            band = [
                case for case, _, chance in judged if case.kind == "real" and low <= chance < high
            ]
            # In small campaigns, a word of two campaigns is asked about twice.
            words = {
                (campaigns[case.text_id] if judged is small else 0, labels.folded(case.word))
                for case in band
            }
            typos = sum(case.is_typo for case in band)
            tally = _with_threshold(judged, half, spelling.SURE, asked=(low, high))
            limits = f"{low} to {high}" if high else "none"
            yield (f"| {name} | {limits} | {len(words):,} | {typos:,} | {_shares(tally)} |")


def table_of_calibration(whole: Sequence[Judged], small: Sequence[Judged]) -> Iterator[str]:
    """How often proposed changes are right, by their probability."""
    yield "| probability | words | mean | right | small: words | mean | right |"
    yield "|---|---|---|---|---|---|---|"
    for low, high in pairwise(_BINS):
        row = [f"| {low} to {min(high, 1.0)} "]
        for judged in (whole, small):
            chances = [
                (chance, best in case.right)
                for case, best, chance in judged
                if case.kind == "real" and best and low <= chance < high
            ]
            mean, right = np.mean(chances, axis=0)
            row.append(f"| {len(chances):,} | {mean:.3f} | {right:.3f} ")
        yield "".join(row) + "|"


def _with_threshold(
    judged: Sequence[Judged],
    half: labels.Half,
    sure: float,
    *,
    asked: tuple[float, float] = (0.0, 0.0),
) -> Counter[str]:
    """The outcomes of real words, those that are no suspects included.

    People decide words with a probability in the range `asked`.
    """
    totals = half.totals()
    tally = Counter({"missed": totals["real", True, "all"]})
    tally["kept"] = totals["real", False, "all"]
    low, high = asked
    for case, best, chance in judged:
        if case.kind != "real":
            continue
        is_asked = low <= chance < high
        is_made = case.is_typo if is_asked else bool(best) and chance >= sure
        if is_made:
            is_right = is_asked or best in case.right
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
        tally = Counter(_why(*each) for each in judged if each[0].kind == kind and each[0].is_typo)
        whole = half.totals()[kind, True, "all"]
        tally["no suspect"] = whole - tally.total()
        cells = " | ".join(str(tally[each]) for each in why)
        yield f"| {_NAMES[kind]} ({whole:,}) | {cells} |"


def table_of_errors(judged: Sequence[Judged], outcomes: Sequence[Outcome]) -> Iterator[str]:
    """How many words of each class are harmed, missed, or changed to a wrong word."""
    why = {(each[0].text_id, each[0].start): _why(*each) for each in judged}
    by_class: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
    for each in outcomes:
        if each.kind == "real" and each.outcome in {"harmed", "missed", "wrong"}:
            if each.outcome == "harmed":
                name = _class_of_harm(each)
            elif " " in each.meant:
                name = "a space is missing"
            elif each.outcome == "missed":
                name = _MISSES[why.get((each.text_id, each.start), "no suspect")]
            else:
                name = "a similar word"
            shown = f"`{each.word}`"
            shown += f" ({each.after})" if each.after else f" ({each.meant})"
            by_class[each.outcome, name].append(shown)
    yield "| | class | words | examples |"
    yield "|---|---|---:|---|"
    for (outcome, name), words in sorted(
        by_class.items(), key=lambda row: (row[0][0], -len(row[1]), row[0][1])
    ):
        examples = ", ".join(sorted({*words})[:_EXAMPLES])
        yield f"| {outcome} | {name} | {len(words)} | {examples} |"


_MISSES = {
    "no suspect": "not suspected",
    "no candidate": "the right word is no candidate",
    "outranked": "another word is likelier",
    "0.5 and more": "likeliest, from 0.5",
    "0.2": "likeliest, from 0.2",
    "less": "likeliest, below 0.2",
    "fixed": "a name after `a`",
}


def _class_of_harm(outcome: Outcome) -> str:
    word = labels.folded(outcome.word)
    if " " in outcome.after:
        return "closed compound"
    if lexicon.is_agent(word):
        return "agent noun"
    if lexicon.is_inflected(word):
        return "known word with an ending"
    if lexicon.zipf(word) > 0:
        return "name or new word that is known on the web"
    return "in no list"


def _why(case: cases.Case, best: int, chance: float) -> str:
    if case.right == (0,):
        return "no candidate"
    if best not in case.right:
        return "outranked"
    if chance >= spelling.SURE:
        return "fixed"
    steps = ((0.5, "0.5 and more"), (0.2, "0.2"), (0.0, "less"))
    return next(name for least, name in steps if chance >= least)


def table_of_lists(tally: Counter[tuple[str, bool]], half: labels.Half) -> Iterator[str]:
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
