"""Laws of BLEU."""

import math
from collections import Counter

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from piecework.analyses.minimal_pairs import corpus_bleu, correction_gains
from tests.examples import examples


def test_a_collection_scored_by_hand() -> None:
    """Said is "the the cat", known "the cat sat" and "a cat": one "the" is clipped.

    2 of 3 words and 1 of 2 pairs match; both references lie one word from the three
    candidate words or hit them: 3 and 2, so the nearest is 3 and nothing is cut.
    """
    references = pd.DataFrame({"r0": ["the cat sat"], "r1": ["a cat"]})
    bleu = corpus_bleu(pd.Series(["the the cat"]), references)
    assert bleu.matches == (2, 1, 0, 0)
    assert bleu.totals == (3, 2, 1, 0)
    assert (bleu.length, bleu.reference_length) == (3, 3)
    assert bleu.scores[0] == pytest.approx(2 / 3)
    assert bleu.scores[1] == pytest.approx(math.sqrt(2 / 3 * 1 / 2))
    assert bleu.scores[2:] == (0, 0)


words = st.lists(st.sampled_from(["a", "b", "c"]), min_size=1, max_size=7).map(" ".join)
collections = st.lists(st.tuples(words, words, st.none() | words), min_size=1, max_size=4)


def grams(text: str, n: int) -> Counter[tuple[str, ...]]:
    """All runs of n words."""
    split = text.split()
    return Counter(tuple(split[at : at + n]) for at in range(len(split) - n + 1))


def papineni(rows: list[tuple[str, str, str | None]], order: int) -> float:
    """The paper's formula, in loops."""
    logs, length, nearest = [], 0, 0
    for n in range(1, order + 1):
        matches = totals = 0
        for candidate, *known in rows:
            references = [grams(text, n) for text in known if text is not None]
            for gram, times in grams(candidate, n).items():
                totals += times
                matches += min(times, max(counts[gram] for counts in references))
        if not matches:
            return 0.0
        logs.append(math.log(matches / totals))
    for candidate, *known in rows:
        size = len(candidate.split())
        sizes = [len(text.split()) for text in known if text is not None]
        length += size
        nearest += min((abs(other - size), other) for other in sizes)[1]
    brevity = min(1.0, math.exp(1 - nearest / length))
    return brevity * math.exp(sum(logs) / order)


@examples(50)
@given(collections)
def test_bleu_is_the_paper_s_formula(rows: list[tuple[str, str, str | None]]) -> None:
    """All orders, items with one or two references, short and long candidates."""
    frame = pd.DataFrame(rows, columns=["said", "r0", "r1"])
    bleu = corpus_bleu(frame["said"], frame[["r0", "r1"]])
    for order in (1, 2, 3, 4):
        assert bleu.scores[order - 1] == pytest.approx(papineni(rows, order))


def test_gains_are_sorted_and_what_changed_is_counted() -> None:
    """Correcting colour mends one of two captions wholly; number changes nothing."""
    references = pd.DataFrame({"r": ["a red bird on a wire", "two dogs run on sand"]})
    original = pd.Series(["a blue bird on a wire", "two dogs run on sand"])
    table = correction_gains(original, {"number": original, "colour": references["r"]}, references)
    assert table.index.tolist() == ["colour", "number"]
    assert table["changed"].tolist() == [1, 0]
    assert table["bleu_4"]["colour"] == pytest.approx(1.0)
    assert table["gain_4"]["number"] == 0
    # One word of eleven was wrong.
    assert table["gain_1"]["colour"] == pytest.approx(1 / 11)


def test_case_and_plain_text_are_choices() -> None:
    """As given, "Dogs." is a word of its own."""
    references = pd.DataFrame({"r": ["dogs run ."]})
    candidates = pd.Series(["Dogs run."])
    assert corpus_bleu(candidates, references).matches[0] == 0
    bleu = corpus_bleu(candidates, references, tokens="13a", lowercase=True)
    assert bleu.matches[:2] == (3, 2)


def test_candidates_without_references_are_refused() -> None:
    """They could only lower the score by accident of the data."""
    references = pd.DataFrame({"r": ["a"]}, index=["i"])
    with pytest.raises(ValueError, match="1 candidates have no reference, first j"):
        corpus_bleu(pd.Series({"i": "a", "j": "a"}), references)
    with pytest.raises(ValueError, match="no candidates"):
        corpus_bleu(pd.Series([], dtype="str"), references)
