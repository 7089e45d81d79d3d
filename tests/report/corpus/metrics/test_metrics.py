"""Each metric on captions small enough to be computed by hand, and its laws."""

import math
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from piecework.analyses.corpus.caption_metrics import (
    Alignment,
    Pair,
    align,
    best_meteor_stats,
    bleu,
    cider_d,
    cider_d_each,
    meteor,
    meteor_stats,
    rouge_l,
    rouge_l_of,
)

_CAPTION = st.lists(st.sampled_from(["cup", "cups", "red", "a", "on"]), min_size=1)
_SHORT = st.lists(st.sampled_from("abc"), min_size=1, max_size=5)
_PAIRS = st.lists(st.builds(Pair, _CAPTION, st.lists(_CAPTION, min_size=1, max_size=4)), max_size=4)


def _pair(candidate: str, *references: str) -> Pair:
    return Pair(candidate.split(), [reference.split() for reference in references])


def test_bleu_by_hand() -> None:
    """Clipped counts over the corpus, and the penalty of the closest length."""
    # "the the cat": "the" is clipped to 1 of 2, so 2 of 3 words and 1 of 2 pairs are
    # right ("the cat"); lengths 3 against 4 (closest): exp(1 - 4/3).
    pairs = [_pair("the the cat", "see the cat run", "a b c d e f g h")]
    penalty = math.exp(1 - 4 / 3)
    bleu_1, bleu_2, bleu_3, _ = bleu(pairs)
    assert bleu_1 == pytest.approx(penalty * 2 / 3)
    assert bleu_2 == pytest.approx(penalty * math.sqrt(2 / 3 * 1 / 2))
    assert bleu_3 == 0


def test_bleu_takes_the_shorter_of_two_lengths_equally_close() -> None:
    """3 lies between 2 and 4: measured against 2, no penalty falls due."""
    assert bleu([_pair("a b c", "a b", "a b c d")])[0] == 1


def test_rouge_by_hand() -> None:
    """Best precision and best recall may come from different references."""
    # "a b c d" and "a b" share 2: P 2/4, R 2/2. With "a x b c y z" it shares 3:
    # P 3/4, R 3/6. The best are P 3/4 and R 1.
    score = rouge_l_of(_pair("a b c d", "a b", "a x b c y z"))
    assert score == pytest.approx((1 + 1.44) * 0.75 * 1 / (1 + 1.44 * 0.75))


def test_rouge_of_strangers_is_nothing() -> None:
    """No word in common, no score; no pair at all, none either."""
    assert rouge_l([_pair("a b", "c d")]) == 0
    assert rouge_l([]) == 0


def test_cider_by_hand() -> None:
    """Two images that share no word: each n-gram weighs log 2, and so falls out."""
    # "a b" against "a b": cosine 1 for orders 1 and 2, no n-gram for 3 and 4: 10 * 2/4.
    # "c" against "d": nothing.
    each = cider_d_each([_pair("a b", "a b"), _pair("c", "d")])
    assert each == pytest.approx([5, 0])
    assert cider_d([_pair("a b", "a b"), _pair("c", "d")]) == pytest.approx(2.5)


def test_cider_lowers_the_score_of_a_caption_that_repeats_itself() -> None:
    """The D in its name: counts are clipped, and a length that differs costs."""
    # "a a" against "a", beside an image of other words (each weighs log 2 = w):
    # clipped min(2w, w) * w over the norms 2w and w is 1/2; the lengths in bigrams
    # are 1 and 0: exp(-1/72). The pair "a a" is in no reference: 0. Mean of 4 orders.
    score = cider_d_each([_pair("a a", "a"), _pair("c", "d")])[0]
    assert score == pytest.approx(10 * 0.5 * math.exp(-1 / 72) / 4)


def test_cider_of_one_image_is_nothing() -> None:
    """Every n-gram is in every document, so none has weight."""
    assert cider_d([_pair("a b", "a b")]) == 0


def test_meteor_by_hand() -> None:
    """A stem counts 0.6, a function word a third of a content word, chunks cost."""
    # "the dogs sleep" against "the dog is sleeping": the (exact), dogs-dog and
    # sleep-sleeping (stems). Content words weigh 0.75, "the" and "is" 0.25.
    matched = 0.25 + 0.6 * (0.75 + 0.75)
    precision = matched / (0.25 + 0.75 + 0.75)
    recall = matched / (0.25 + 0.75 + 0.25 + 0.75)
    mean = precision * recall / (0.85 * precision + 0.15 * recall)
    # Two chunks ("the dogs", then "sleep" behind "is") of three matches.
    expected = mean * (1 - 0.6 * (2 / 3) ** 0.2)
    assert meteor([_pair("the dogs sleep", "the dog is sleeping")]) == pytest.approx(expected)


def test_meteor_of_the_very_same_caption_is_1() -> None:
    """One chunk that covers both is not punished."""
    assert meteor([_pair("a red cup", "a red cup")]) == 1


def test_meteor_takes_the_best_reference() -> None:
    """A worse reference beside it changes nothing."""
    pair = _pair("a red cup", "a red bottle")
    both = _pair("a red cup", "dogs run", "a red bottle")
    assert best_meteor_stats(both) == meteor_stats(pair.candidate, pair.references[0])


def test_an_alignment_prefers_fewer_chunks_to_nearer_words() -> None:
    """The words "a desk" stay together, although another "a" stands nearer."""
    pair = _pair("a cup on a desk", "a desk and a desk on a chair")
    # Four words have partners; "a desk" is one chunk, "a" and "on" are one each.
    alignment = align(pair.candidate, pair.references[0])
    assert (len(alignment.partners), alignment.chunks) == (4, 3)
    assert {(3, 3), (4, 4)} <= {*alignment.partners}


@given(_SHORT, _SHORT)
def test_no_alignment_is_better_than_the_one_found(
    candidate: list[str], reference: list[str]
) -> None:
    """All one-to-one alignments of short captions, tried one by one."""
    alignment = align(candidate, reference)
    assert alignment.rank == min(_every(candidate, reference))


def _every(candidate: list[str], reference: list[str]) -> list[tuple[int, int, int]]:
    options = [
        (here, there)
        for here, word in enumerate(candidate)
        for there, other in enumerate(reference)
        if word == other
    ]
    ranks = []
    for many in range(min(len(candidate), len(reference)) + 1):
        for some in combinations(options, many):
            is_one_to_one = all(len({*side}) == many for side in zip(*some, strict=True))
            if is_one_to_one:
                ranks.append(_rank(some))
    return ranks


def _rank(partners: tuple[tuple[int, int], ...]) -> tuple[int, int, int]:
    follows = sum((here - 1, there - 1) in partners for here, there in partners)
    apart = sum(abs(here - there) for here, there in partners)
    return (-len(partners), len(partners) - follows, apart)


@given(_PAIRS)
def test_every_score_keeps_its_range(pairs: list[Pair]) -> None:
    """BLEU, ROUGE-L and METEOR lie in 0 to 1, CIDEr-D in 0 to 10."""
    hair = 1e-9
    assert all(0 <= score <= 1 + hair for score in bleu(pairs))
    assert 0 <= rouge_l(pairs) <= 1 + hair
    assert 0 <= meteor(pairs) <= 1 + hair
    assert 0 <= cider_d(pairs) <= 10 + hair


@given(_PAIRS)
def test_the_order_of_images_never_matters(pairs: list[Pair]) -> None:
    """Reversed, everything scores the same."""
    back = pairs[::-1]
    for metric in (rouge_l, meteor, cider_d):
        assert metric(pairs) == pytest.approx(metric(back))
    assert bleu(pairs) == pytest.approx(bleu(back))


def test_nothing_in_common_aligns_nothing() -> None:
    """The empty alignment has no chunk."""
    assert align(["a"], ["b"]) == Alignment()
