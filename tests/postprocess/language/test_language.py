"""What the spelling rule knows: words, places, candidates, kinds of typos, counts."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rapidfuzz.distance import OSA
from spellchecker import SpellChecker

from postprocess.language import features, lexicon
from postprocess.language.candidates import candidates, near, splits
from postprocess.language.corpus import EDGE, Corpus
from postprocess.language.suspects import MANY_ITEMS, Suspect, find_suspects
from postprocess.language.tokens import capitals, folded, place, words
from postprocess.language.typos import KINDS, PLACES, typos
from postprocess.language.weights import WEIGHTS
from postprocess.text import Text

LETTERS = st.text(alphabet="abcdeilnorst", min_size=4, max_size=9)


def _corpus(*texts: tuple[str, str]) -> Corpus:
    return Corpus(texts)


def _read(*texts: Text) -> tuple[Corpus, list[Suspect]]:
    corpus = Corpus((text.item_id, text.text) for text in texts)
    return corpus, find_suspects(texts, corpus)


@settings(deadline=None, max_examples=25)
@given(LETTERS)
def test_candidates_are_all_words_within_two_edits(word: str) -> None:
    """Found at once, and the same as comparing with every word one by one."""
    every = [target for words_ in lexicon.targets().values() for target in words_]
    expected = {target for target in every if OSA.distance(word, target) <= 2}
    assert set(near([word])[word]) == expected


@pytest.mark.parametrize("word", ["skatebord", "tabel", "womna", "umbrela", "frisbe"])
def test_pyspellcheckers_candidates_are_among_ours(word: str) -> None:
    """The dictionary's own search is the oracle, but for words too rare to be meant."""
    oracle = SpellChecker(language="en", distance=1).candidates(word) or set()
    assert {one for one in oracle if lexicon.zipf(one) >= 2} <= set(near([word])[word])


def test_every_target_is_surely_right() -> None:
    """What was corrected is never corrected again, so cleaning comes to an end."""
    doubtful = [
        word
        for words_ in lexicon.targets().values()
        for word in words_
        if not lexicon.is_surely_right(word)
    ]
    assert doubtful == []


def test_new_words_complete_the_dictionary() -> None:
    """Pyspellchecker lacks them, and must not make `to` of `tv`."""
    for word in ("tv", "countertop", "selfie", "smartphone", "dvd", "screenshot"):
        assert not lexicon.is_known(word)
        assert lexicon.is_surely_right(word)


def test_common_misspellings_of_the_web_are_still_doubts() -> None:
    """Wordfreq has met them; the dictionary has not."""
    for word in ("tatoos", "jewlery", "umbrela", "skatebord"):
        assert not lexicon.is_surely_right(word)


@pytest.mark.parametrize(
    ("word", "meant", "kinds"),
    [
        ("wmoan", "woman", {"swap": 1}),
        ("hte", "the", {"swap": 1, "at_start": 1}),
        ("skiis", "skis", {"add_double": 1}),
        ("runing", "running", {"drop_double": 1}),
        ("tble", "table", {"drop_vowel": 1}),
        ("tale", "table", {"drop_other": 1}),
        ("farward", "forward", {"for_vowel": 1}),
        ("tahle", "table", {"for_near": 1}),
        ("gazelle", "gaselle", {"for_near": 1}),
        ("recieve", "receive", {"swap": 1}),
        ("womans", "woman's", {"apostrophe": 1, "at_end": 1}),
        ("able", "table", {"drop_other": 1, "at_start": 1}),
        ("tables", "table", {"add_near": 1, "at_end": 1, "inflection": 1}),
        ("same", "same", {}),
    ],
)
def test_kinds_of_slips(word: str, meant: str, kinds: dict[str, int]) -> None:
    """Read from left to right: what the fingers did."""
    assert typos(word, meant) == kinds


@settings(deadline=None, max_examples=25)
@given(LETTERS)
def test_every_slip_of_a_candidate_has_a_kind(word: str) -> None:
    """As many as optimal string alignment counts, or one more.

    One swap is undone before the rest is aligned, so two swaps count as three typos;
    but none is lost.
    """
    for meant in near([word])[word]:
        found = sum(n for kind, n in typos(word, meant).items() if kind in KINDS)
        edits = OSA.distance(word, meant)
        assert edits <= found <= edits + 1


def test_every_feature_has_a_weight() -> None:
    """And no weight is left over."""
    assert tuple(WEIGHTS) == features.NAMES
    assert {*KINDS, *PLACES} <= WEIGHTS.keys()


@pytest.mark.parametrize(
    ("text", "word", "is_fixed"),
    [
        ("a tabel here", "tabel", False),
        ("a tabel, here", "tabel", False),
        ("12tabel here", "tabel", True),
        ("tabel_2", "tabel", True),
        ("see www.tabel.com", "tabel", True),
        ("mail joe@tabel.org now", "tabel", True),
        ("go to tabel.com/x", "tabel", True),
        ('it says "a tabel" there', "tabel", True),
        ("it says \u201ca tabel\u201d there", "tabel", True),
        ("the word 'tabel' there", "tabel", True),
        ("the dogs' tabel isn't here", "tabel", False),
        ("an iTabel", "itabel", True),
        ("A TABEL AND A CHAIR", "tabel", True),
    ],
)
def test_places_that_fix_a_word(text: str, word: str, is_fixed: bool) -> None:  # noqa: FBT001 - a table of cases
    """Digits, signs, addresses, quotes and capitals say: no ordinary word."""
    (found,) = [each for each in words(text) if each.word == word]
    assert place(text, found).is_fixed is is_fixed


@pytest.mark.parametrize(
    ("text", "opens", "is_name_like"),
    [
        ("Tabel here", True, False),
        (' "Tabel here', True, False),
        ("A dog. Tabel here", True, False),
        ("A Tabel here", False, True),
        ("a tabel here", False, False),
    ],
)
def test_capitals_tell_names_from_beginnings(
    text: str,
    *,
    opens: bool,
    is_name_like: bool,
) -> None:
    """A capital inside a sentence is a name's."""
    (found,) = [each for each in words(text) if each.word == "tabel"]
    where = place(text, found)
    assert (where.opens, where.is_name_like) == (opens, is_name_like)


def test_words_keep_their_places() -> None:
    """Curly apostrophes count as straight ones, and nothing else is moved."""
    text = "It\u2019s a d\u00f6g-toy"
    assert [(each.word, text[each.start : each.end]) for each in words(text)] == [
        ("it's", "It\u2019s"),
        ("a", "a"),
        ("d\u00f6g", "d\u00f6g"),
        ("toy", "toy"),
    ]


@given(st.text(alphabet=st.sampled_from("abZÉß '\u2019-1\u0130."), max_size=20))
def test_the_quick_way_to_words_finds_the_same_words(text: str) -> None:
    """Counts are made of the words that rules look at, in plain text and in any."""
    assert folded(text) == [word.word for word in words(text)]
    assert capitals(text) == [
        word.word for word in words(text) if word.start and word.is_capital
    ]


def test_corpora_of_different_items_add_up_and_can_be_taken_out() -> None:
    """Parts counted apart are the whole, and a part taken out leaves the rest."""
    first, second = ("1", "a red Dog"), ("2", "a red can of Coke")
    whole = _corpus(first, second)
    parts = _corpus(first)
    parts.add(_corpus(second))
    for corpus in (whole, parts):
        assert corpus.counts == {EDGE: 2, "a": 2, "red": 2, "dog": 1, "can": 1,
                                 "of": 1, "coke": 1}  # fmt: skip
        assert corpus.items["red"] == 2
        assert corpus.capital_share("coke") == 1
    assert parts.fits_after("a", "red") == whole.fits_after("a", "red")
    parts.subtract(_corpus(second))
    alone = _corpus(first)
    assert parts.counts["red"] == alone.counts["red"] == 1
    assert parts.fits_after("a", "red") == alone.fits_after("a", "red")
    assert parts.capital_share("coke") == alone.capital_share("coke") == 0


def test_counts_of_a_corpus() -> None:
    """Words, items and neighbours, counted by hand."""
    corpus = _corpus(("1", "a red dog"), ("1", "A dog and a Fox"), ("2", "red red"))
    assert (corpus.counts["a"], corpus.counts["red"], corpus.counts[EDGE]) == (3, 3, 3)
    assert (corpus.items["dog"], corpus.items["red"]) == (1, 2)
    # "A" opens its text, so of three only its two others count, both small.
    assert corpus.capital_share("a") == 0
    assert corpus.capital_share("fox") == 1


def test_neighbours_fit_better_than_strangers() -> None:
    """What was met together fits, what was met apart does not."""
    corpus = _corpus(*[(str(n), "a fire hydrant on a street") for n in range(40)])
    assert corpus.fits_after("fire", "hydrant") > 2
    assert corpus.fits_before("fire", "hydrant") > 2
    assert corpus.fits_after("street", "hydrant") < 0


def test_shares_are_those_of_english_and_of_the_campaign() -> None:
    """Without texts a share is wordfreq's; each text moves it towards its own."""
    nothing = _corpus()
    # zipf 7.73 is 10 ** (7.73 - 9) of all words.
    assert nothing.log_share("the") == pytest.approx(math.log(10) * (7.73 - 9))
    some = _corpus(("1", "hydrant hydrant"))
    assert some.log_share("hydrant") > nothing.log_share("hydrant")
    assert some.log_share("the") < nothing.log_share("the")


def test_doubts_are_the_unknown_words_only() -> None:
    """With their neighbours, and without what nobody may touch."""
    text = Text(
        text_id="a",
        item_id="i",
        text="A tabel near Jorgen and teh gevalia cup",
        protected=frozenset({"gevalia"}),
    )
    _, suspects = _read(text)
    assert [(each.word, each.left, each.right) for each in suspects] == [
        ("tabel", "a", "near"),
    ]


@pytest.mark.parametrize("items", [MANY_ITEMS - 1, MANY_ITEMS])
def test_a_word_about_many_items_is_no_suspect(items: int) -> None:
    """Items count, not texts: one worker may repeat a typo about one picture."""
    texts = [
        Text(text_id=f"{n}.{m}", item_id=str(n), text="a tabel")
        for n in range(items)
        for m in range(2)
    ]
    assert bool(_read(*texts)[1]) == (items < MANY_ITEMS)


def test_the_likeliest_candidates_come_first() -> None:
    """The corpus has a word in it, and missing spaces are thought of."""
    corpus = _corpus(*[(str(n), "a red frisbee") for n in range(20)])
    found = candidates({"frisbie", "onthe"}, corpus)
    assert found["frisbie"][0] == "frisbee"
    assert "on the" in found["onthe"]


def test_spaces_are_missed_between_common_words_only() -> None:
    """Single letters are no words, except `a`."""
    assert list(splits("asidewalk")) == ["a sidewalk", "aside walk"]
    assert list(splits("xyzzq")) == []


def test_sounds() -> None:
    """Vowels within and doubled letters are not heard."""
    assert features.sound("elefant") == features.sound("elephant")
    assert features.sound("cemetary") == features.sound("cemetery")
    assert features.sound("dog") != features.sound("cat")


def test_what_speaks_for_leaving() -> None:
    """Compounds, inflections and cue words are named as such."""
    text = Text(text_id="a", item_id="i", text="the brand smuckrs of shopfrontt")
    corpus, suspects = _read(text)
    first = features.of_leaving(suspects[0], corpus)
    assert (first["cue"], first["length"], first["leave"]) == (1, 7, 1)
    assert first["log_other_items"] == 0
