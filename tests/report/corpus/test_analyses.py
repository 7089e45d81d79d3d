"""Composition, overlap, specificity and levels on captions counted by hand."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from piecework.analyses.corpus.captions import (
    Caption,
    Corpus,
    Quality,
    Question,
    Tagged,
    TaggedCaption,
    concepts_of,
    images_with,
    tag_captions,
)
from piecework.analyses.corpus.composition import (
    compose,
    matched,
    novel_words,
    overlap,
    overlaps,
    specificity,
    unknown_words,
    word_counts,
)
from piecework.domain.errors import ConfigError
from piecework.report.corpus.description import describe_corpus
from piecework.report.corpus.image_groups import (
    difficulties,
    human_pairs,
    human_performance,
    levels,
    text_of_images,
)

_RED_CUP: Tagged = (
    ("a", "other"),
    ("red", "adjective"),
    ("cup", "noun"),
    ("of", "preposition"),
    ("tea", "noun"),
    ("on", "preposition"),
    ("tea", "noun"),
)
_CUP: Tagged = (("cup", "noun"),)

_WORDS = st.lists(st.sampled_from(["cup", "cups", "red", "dog"]), max_size=5)


def _corpus(*captions: Caption) -> Corpus:
    return Corpus(
        source="by hand",
        captions=captions,
        images=[*dict.fromkeys(caption.image for caption in captions)],
    )


def _tagged(image: str, words: Tagged, *, marks: int = 0) -> TaggedCaption:
    return TaggedCaption(image=image, text="", words=words, marks=marks)


def test_composition_by_hand() -> None:
    """Means by caption and by image differ where images have unequal many captions."""
    composition = compose([_tagged("1", _RED_CUP, marks=2), _tagged("1", _CUP), _tagged("2", _CUP)])
    assert (composition.captions, composition.images) == (3, 2)
    # Nouns: 3, 1 and 1 in the captions; image 1 has 2 a caption, image 2 has 1.
    assert composition.per_caption["nouns"] == pytest.approx(5 / 3)
    assert composition.per_image["nouns"] == pytest.approx((2 + 1) / 2)
    assert composition.per_caption["words"] == pytest.approx(9 / 3)
    assert composition.per_caption["words and punctuation"] == pytest.approx(11 / 3)
    # "of" is a preposition, but no place.
    assert composition.per_caption["spatial relations"] == pytest.approx(1 / 3)
    assert composition.per_caption["prepositions"] == pytest.approx(2 / 3)
    assert composition.unique == {
        "words": 6,
        "nouns": 2,
        "verbs": 0,
        "adjectives": 1,
        "spatial relations": 1,
        "prepositions": 2,
    }


def test_overlap_by_hand() -> None:
    """Of three most common words two are shared; the fourth does not count."""
    here = Counter({"cup": 9, "red": 8, "tea": 7, "dog": 1})
    there = Counter({"dog": 9, "cup": 8, "tea": 8, "red": 7})
    comparison = overlap(here, there, commonest=3)
    assert (comparison.compared, comparison.shared) == (3, 2)
    assert list(comparison.only_here) == ["red"]


def test_overlap_compares_lists_of_equal_length() -> None:
    """A vocabulary of one word is compared with one word; an empty one with none."""
    cup = word_counts([_CUP])
    comparisons = overlaps(word_counts([_RED_CUP]), cup)
    assert comparisons["nouns"].compared == 1
    assert comparisons["nouns"].share == 0  # "tea" is the most common noun here
    assert overlaps(cup, word_counts([]))["words"].share == 0


def test_words_are_novel_if_the_other_dataset_never_uses_them() -> None:
    """Rare words of the other dataset are not novel; ties are in alphabetical order."""
    here = Counter({"cup": 9, "dog": 2, "box": 2, "tea": 7})
    assert novel_words(here, Counter({"cup": 1}), 2) == ["tea", "box"]


def test_punctuation_is_counted_beside_the_words() -> None:
    """Each mark is a token; those inside of a number or a word are not."""
    (caption,) = tag_captions([Caption(image="1", text="A 3.5 oz. can, isn't it?")])
    assert caption.marks == 3  # the period after oz, the comma, the question mark
    assert [word for word, _ in caption.words][-3:] == ["is", "n't", "it"]


_IMAGES = st.dictionaries(
    st.sampled_from("abcdefgh"), st.lists(st.integers(), min_size=1, max_size=4)
)


@given(_IMAGES, _IMAGES, st.integers(0, 3))
def test_a_matched_sample_has_the_other_s_captions_per_image(
    larger: dict[str, list[int]], like: dict[str, list[int]], seed: int
) -> None:
    """As many images with as many captions, unless too few have enough."""
    drawn = matched(larger, like, seed=seed)
    wanted = sorted(map(len, like.values()), reverse=True)
    sizes = sorted(map(len, drawn.values()), reverse=True)
    assert not Counter(sizes) - Counter(wanted)
    for least in range(1, 5):
        # As many as are wanted, as far as there are images with so many captions.
        there = sum(len(captions) >= least for captions in larger.values())
        assert sum(size >= least for size in sizes) <= there
    if len(drawn) < len(like):
        missing = Counter(wanted) - Counter(sizes)
        left = [len(larger[image]) for image in larger.keys() - drawn.keys()]
        assert all(size < min(missing) for size in left)
    for image, captions in drawn.items():
        assert not Counter(captions) - Counter(larger[image])
    assert drawn == matched(larger, like, seed=seed)


def test_the_sample_is_drawn_from_the_dataset_with_more_images() -> None:
    """It has one image with two captions, as the smaller dataset has."""
    small = _corpus(Caption(image="x", text="a red cup."), Caption(image="x", text="a dog."))
    large = _corpus(
        *(Caption(image=image, text="two dogs run in a park") for image in "abc" for _ in range(3))
    )
    there = describe_corpus(small, against=large).comparison
    here = describe_corpus(large, against=small).comparison
    assert there is not None
    assert here is not None
    assert (there.sample.is_of_other, here.sample.is_of_other) == (True, False)
    for comparison in (there, here):
        assert comparison.sample.composition.captions == 2
        assert comparison.sample.composition.images == 1
        assert comparison.sample.composition.per_caption["words"] == 6
    assert list(there.novel["nouns"]) == ["cup", "dog"]


def test_people_are_counted_as_words_and_in_words() -> None:
    """A manual names nobody, though "man" is in it."""
    description = describe_corpus(
        _corpus(
            Caption(image="1", text="a woman"),
            Caption(image="2", text="a manual"),
            Caption(image="3", text="a cup"),
        )
    )
    assert (description.people, description.people_in_words) == (1, 2)


def test_a_word_is_known_if_its_parts_are() -> None:
    """Numbers and clitics are never unknown; a hyphen joins two words."""
    words = ["a", "t-shirt", "x-zyx", "12oz", "'s", "n't", "o'clock", "zyx", "zyx"]
    caption: Tagged = tuple((word, "other") for word in words)
    unknown = unknown_words([caption, _CUP], {"a", "t", "shirt", "o'clock"}.__contains__)
    assert unknown.words == {"zyx": 2, "cup": 1, "x-zyx": 1}
    assert (unknown.captions, unknown.of_captions) == (2, 2)
    assert (unknown.tokens, unknown.of_tokens) == (4, 10)


def test_examples_go_from_the_least_to_the_most_similar_captions() -> None:
    """Both ends are among them; canned answers are not, since they are no captions."""
    captions = [
        Caption(image=str(image), text=" ".join(["cup"] * image + [word]))
        for image in range(9)
        for word in ("red", "blue")
    ]
    corpus = _corpus(*captions, Caption(image="0", text="too bad", is_canned=True))
    description = describe_corpus(corpus)
    values = description.specificity
    shown = [example.image for example in description.by_specificity]
    assert len(shown) == 6
    assert [values[image] for image in shown] == sorted(values[image] for image in shown)
    assert values[shown[0]] == min(values.values())
    assert values[shown[-1]] == max(values.values())
    assert not any(
        caption.is_canned for example in description.by_specificity for caption in example.captions
    )


def test_examples_of_levels_go_from_easy_to_hard() -> None:
    """At most two images of each level, with their canned answers."""
    captions = [
        Caption(image=f"{canned}{copy}", text="a cup", is_canned=place < canned)
        for canned in (3, 0, 1)
        for copy in "abc"
        for place in range(3)
    ]
    examples = describe_corpus(_corpus(*captions)).by_difficulty
    assert [(example.label, example.value) for example in examples] == [
        ("easy", "0 of 3 answers canned"),
        ("easy", "0 of 3 answers canned"),
        ("medium", "1 of 3 answers canned"),
        ("medium", "1 of 3 answers canned"),
        ("unrecognizable", "3 of 3 answers canned"),
        ("unrecognizable", "3 of 3 answers canned"),
    ]


def test_answers_are_looked_for_as_whole_words_by_kind_and_text() -> None:
    """A notebook is no "no"; an image without captions does not count."""
    corpus = Corpus(
        source="asked",
        captions=[
            Caption(image="1", text="A notebook", shows_text="yes"),
            Caption(image="1", text="A Diet Coke", shows_text="yes"),
            Caption(image="2", text="No dogs", shows_text="no"),
        ],
        images=["1", "2", "3"],
    )
    questions = [
        Question(image="1", answer="no", kind="yes/no"),
        Question(image="1", answer="diet coke", kind="other"),
        Question(image="2", answer="No", kind="yes/no"),
        Question(image="3", answer="dogs", kind="other"),
    ]
    rows = describe_corpus(corpus, questions=questions).answered
    assert [(row.images, row.kind, row.answered, row.questions) for row in rows] == [
        ("all", "all", 2, 3),
        ("all", "other", 1, 1),
        ("all", "yes/no", 1, 2),
        ("with text", "all", 1, 2),
        ("with text", "other", 1, 1),
        ("with text", "yes/no", 0, 1),
        ("without text", "all", 1, 1),
        ("without text", "yes/no", 1, 1),
    ]
    with pytest.raises(ConfigError, match="none of the questions"):
        describe_corpus(corpus, questions=questions[-1:])


def test_groups_of_a_column_have_their_own_composition() -> None:
    """Images without a value are in no group."""
    corpus = _corpus(
        Caption(image="1", text="a red cup"),
        Caption(image="2", text="a dog"),
        Caption(image="3", text="a big dog runs"),
    )
    groupings = {"place": {"1": "home", "3": "park"}}
    compositions = describe_corpus(corpus, groupings=groupings).compositions
    assert {name: group.per_caption["words"] for name, group in compositions.items()} == {
        "all": 3,
        "place: home": 3,
        "place: park": 4,
    }


def test_concepts_are_found_as_whole_words_in_any_spelling() -> None:
    """Underscores are spaces, commas separate spellings, and case does not matter."""
    concepts = concepts_of(["Red_Cup", "mug, red cup", "dog", "", "red cup"])
    assert [*concepts] == ["red cup", "mug, red cup", "dog"]
    captions = {"1": [["a", "red", "cup"], ["a", "mug"]], "2": [["dogs"], ["red", "big", "cup"]]}
    assert images_with(concepts, captions) == {
        "red cup": {"1": 1},
        "mug, red cup": {"1": 2},
        "dog": {},
    }


def test_lists_and_what_they_share_are_counted_in_both_datasets() -> None:
    """Of three concepts here has two; the pair shares one, which here has alone."""
    here = _corpus(Caption(image="1", text="A cup and a dog"), Caption(image="2", text="A dog"))
    there = _corpus(Caption(image="x", text="a kite"))
    lists = {"one": ["dog", "kite"], "two": ["dog", "cup"]}
    concepts = describe_corpus(here, against=there, concept_lists=lists).concepts
    assert concepts is not None
    assert [(row.name, row.concepts, row.here, row.there) for row in concepts.lists] == [
        ("one", 2, 1, 1),
        ("two", 2, 2, 0),
    ]
    (pair,) = concepts.pairs
    assert (pair.name, pair.concepts, pair.here, pair.there) == ("one and two", 1, 1, 0)
    assert dict(concepts.here) == {"dog": 2, "cup": 1, "kite": 0}
    assert concepts.shared == ["dog"]
    assert [example.value for example in concepts.examples] == ["dog"]


def test_a_dataset_without_captions_cannot_be_compared_with() -> None:
    """A file of votes on quality, or one that has canned answers alone."""
    here = _corpus(Caption(image="1", text="a cup"))
    there = _corpus(Caption(image="1", text="too bad", is_canned=True))
    with pytest.raises(ConfigError, match="no captions by people"):
        describe_corpus(here, against=there)


def test_specificity_by_hand() -> None:
    """The share of either caption's weight that the other has too, averaged."""
    # Stems: cup in both images weighs log(1 + 2/2), red and dog log(1 + 2/1).
    cup, red = 0.6931471805599453, 1.0986122886681098
    specificities = specificity({"1": [["red", "cups"], ["cup"]], "2": [["dog"], ["cup"]]})
    assert specificities["1"] == pytest.approx((cup / (cup + red) + 1) / 2)
    assert specificities["2"] == 0


def test_specificity_needs_two_captions() -> None:
    """An image with one caption has none."""
    assert specificity({"1": [["cup"]]}) == {}


@given(st.lists(st.lists(_WORDS, min_size=2, max_size=4), min_size=1, max_size=3))
def test_specificity_lies_in_0_to_1_in_any_order(images: list[list[list[str]]]) -> None:
    """Captions without a word included."""
    specificities = specificity({str(n): captions for n, captions in enumerate(images)})
    back = specificity({str(n): captions[::-1] for n, captions in enumerate(images)})
    assert specificities == pytest.approx(back)
    assert all(0 <= value <= 1 + 1e-9 for value in specificities.values())


def test_levels_count_accepted_answers_alone() -> None:
    """A rejected answer makes no image harder, and is missing from its five."""
    canned = Caption(image="1", text="too bad", is_canned=True)
    rejected = Caption(image="1", text="spam", is_canned=True, is_rejected=True)
    corpus = _corpus(canned, rejected, Caption(image="1", text="cup"), canned)
    counts = levels(corpus)
    assert difficulties(corpus) == {"1": "difficult"}
    assert counts.canned.tolist() == [0, 0, 1, 0]
    assert (counts.wanted, counts.incomplete) == (3, 0)


def test_votes_on_quality_have_levels_and_flaws_without_captions() -> None:
    """Three of five votes are a majority, two are none."""
    corpus = Corpus(
        source="votes",
        images=["1"],
        quality={"1": Quality(unrecognizable=4, flaws={"BLR": 3, "DRK": 2})},
    )
    counts = levels(corpus)
    assert dict(counts.names) == {"difficult": 1}
    assert counts.canned.tolist() == [0, 0, 0, 0, 1, 0]
    assert dict(counts.flaws) == {"BLR": 1}


def test_text_is_a_majority_of_workers_before_it_is_a_word_of_the_file() -> None:
    """Without votes the file's own word holds; a tie is neither."""
    corpus = Corpus(
        source="text",
        images=["1", "2", "3", "4"],
        captions=[
            Caption(image="1", text="a", shows_text="no"),
            Caption(image="2", text="a", shows_text="no"),
            Caption(image="2", text="b", shows_text="yes"),
            Caption(image="4", text="a"),
        ],
        shows_text={"1": "yes", "3": "yes"},
    )
    assert text_of_images(corpus) == {"1": "no", "2": "", "3": "yes"}


def test_only_easy_images_measure_people() -> None:
    """An image with a canned answer, or with one caption, is left out."""
    corpus = _corpus(
        Caption(image="easy", text="a red cup"),
        Caption(image="easy", text="a red mug"),
        Caption(image="medium", text="a red cup"),
        Caption(image="medium", text="a red cup"),
        Caption(image="medium", text="too bad", is_canned=True),
        Caption(image="alone", text="a red cup"),
    )
    (pair,) = human_pairs(corpus, seed=0)
    assert {tuple(pair.candidate), tuple(pair.references[0])} == {
        ("a", "red", "cup"),
        ("a", "red", "mug"),
    }
    # Two of three words in the same order, whichever was drawn.
    assert human_performance(corpus, seed=0).scores["BLEU-1"] == pytest.approx(200 / 3)


def test_an_image_added_to_a_file_moves_no_other_choice() -> None:
    """The draw depends on the seed and the image alone."""
    cups = [Caption(image="1", text=f"cup {n}") for n in range(5)]
    dogs = [Caption(image="0", text=f"dog {n}") for n in range(5)]
    (alone,) = human_pairs(_corpus(*cups), seed=3)
    assert alone in [*human_pairs(_corpus(*dogs, *cups), seed=3)]


def test_another_seed_draws_other_captions() -> None:
    """Among twenty images of five captions, not every draw is the same."""
    captions = [Caption(image=f"{image}", text=f"cup {n}") for image in range(20) for n in range(5)]
    corpus = _corpus(*captions)
    assert [*human_pairs(corpus, seed=1)] != [*human_pairs(corpus, seed=2)]


def test_a_word_repeated_a_thousand_times_is_no_burden() -> None:
    """Scored by its first hundred tokens: five captions alike, in a moment."""
    captions = [Caption(image="1", text="the " * 1000) for _ in range(5)]
    (pair,) = human_pairs(_corpus(*captions), seed=0)
    assert len(pair.candidate) == 100
    scores = human_performance(_corpus(*captions), seed=0).scores
    assert scores["METEOR, exact and stem"] == pytest.approx(100)


def test_without_easy_images_people_have_no_score() -> None:
    """No numbers, not zeros."""
    assert human_performance(_corpus(), seed=0).scores == {}
