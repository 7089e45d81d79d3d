"""What the spelling rule knows: words, places, candidates, kinds of typos, counts."""

import math
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rapidfuzz.distance import OSA
from spellchecker import SpellChecker

from piecework.postprocess.language import channel, confusions, features, lexicon
from piecework.postprocess.language.candidates import candidates, sound, splits, targets
from piecework.postprocess.language.channel import UNHEARD_OF, Channel
from piecework.postprocess.language.corpus import EDGE, Corpus, Suspect, find_suspects, has_name
from piecework.postprocess.language.lexicon import is_foreign, is_spelling_variant
from piecework.postprocess.language.tokens import Text, capitals, folded, place, words
from piecework.postprocess.language.weights import REAL_WORD_WEIGHTS, WEIGHTS
from tests.examples import examples
from tests.for_each import for_each

LETTERS = st.text(alphabet="abcdeilnorst", min_size=4, max_size=9)


def _corpus(*texts: tuple[str, str]) -> Corpus:
    return Corpus(
        Text(text_id=str(n), item_id=item_id, text=text) for n, (item_id, text) in enumerate(texts)
    )


def _read(*texts: Text) -> tuple[Corpus, list[Suspect]]:
    corpus = Corpus(texts)
    return corpus, find_suspects(texts, corpus)


@examples(10)
@given(LETTERS)
def test_candidates_are_all_words_within_two_edits(word: str) -> None:
    """Found at once, and the same as comparing with every word one by one."""
    every = [target for words_ in lexicon.targets().values() for target in words_]
    expected = {target for target in every if OSA.distance(word, target) <= 2}
    neighbours = targets().near([word])[word]
    assert {other for other, edits in neighbours.items() if edits <= 2} == expected


@examples(10)
@given(LETTERS)
def test_the_likeliest_are_the_first_of_all_that_are_near(word: str) -> None:
    """Not all are sorted, and still none is missed, nor in another order."""
    near = targets().near([word])[word]

    def promise(meant: str) -> float:
        zipf, edits = lexicon.zipf(meant), near[meant]
        return 1.6 * zipf - 4.0 * edits + 3.0 * (sound(meant) == sound(word))

    every = sorted(near, key=lambda meant: (-promise(meant), meant))
    assert targets().likeliest([word], 5)[word] == every[:5]
    assert targets().likeliest([word], len(every))[word] == every


def test_long_words_and_like_sounds_reach_further() -> None:
    """Three edits in a long word, and more for the ear."""
    assert "skateboarding" in targets().near(["skatborrdin"])["skatborrdin"]
    assert "photograph" in targets().near(["fotograf"])["fotograf"]


@pytest.mark.parametrize("word", ["skatebord", "tabel", "womna", "umbrela", "frisbe"])
def test_pyspellcheckers_candidates_are_among_ours(word: str) -> None:
    """The dictionary's own search is the oracle, but for words too rare to be meant."""
    oracle = SpellChecker(language="en", distance=1).candidates(word) or set()
    assert {other for other in oracle if lexicon.zipf(other) >= 2} <= targets().near([word])[
        word
    ].keys()


def test_every_candidate_is_surely_right() -> None:
    """What was corrected is never corrected again, so cleaning comes to an end."""
    typed = {"recieved", "tabel", "countertp", "ontop", "teh", "wierdo", "jewlery"}
    proposals = candidates(typed, Corpus(), channel.shipped())
    assert all(proposals.values())
    for candidate in [each for many in proposals.values() for each in many]:
        assert all(map(lexicon.is_surely_right, candidate.meant.split(" ")))


def test_new_words_complete_the_dictionary() -> None:
    """Pyspellchecker lacks them."""
    for word in ("countertop", "selfie", "smartphone", "screenshot", "captcha"):
        assert not lexicon.is_known(word)
        assert lexicon.is_surely_right(word)


def test_common_misspellings_of_the_web_are_still_doubts() -> None:
    """Wordfreq has met them; the dictionary has not."""
    for word in ("tatoos", "jewlery", "umbrela", "skatebord", "recieve", "teh"):
        assert not lexicon.is_surely_right(word)


def test_pieces_of_a_word_come_out_as_others() -> None:
    """The cheapest way to write it counts, piece by piece."""
    pieces = Channel({("ph", "f"): 1.0, ("p", "f"): 2.0, ("h", ""): 0.5, ("o", "u"): 4})
    # "ph" as "f" costs 1, cheaper than 2 + 0.5; then "o" as "u".
    assert pieces.price([("funes", "phones"), ("phones", "phones")]).tolist() == [5, 0]


def test_what_was_never_seen_costs_more_than_anything() -> None:
    """A letter too many, one too few, another: each is priced, even a strange one."""
    nothing = Channel({})
    pairs = [("tabl", "table"), ("tablex", "table"), ("tablx", "table"), ("\u00e9", "e")]
    assert nothing.price(pairs).tolist() == [UNHEARD_OF] * 4


@examples(10)
@given(st.lists(st.tuples(LETTERS, LETTERS), min_size=1, max_size=20))
def test_a_price_is_the_same_alone_and_among_others(pairs: list[tuple[str, str]]) -> None:
    """Pairs are priced at once, in groups; none tells on another."""
    together = channel.shipped().price(pairs).tolist()
    assert together == [channel.shipped().price([pair])[0] for pair in pairs]


def test_likely_typos_are_cheaper() -> None:
    """Swaps and neighbours on the keyboard happen; other letters rarely do."""
    cheap, dear = channel.shipped().price([("teh", "the"), ("txe", "the")]).tolist()
    assert cheap < dear


def test_every_feature_has_a_weight() -> None:
    """And no weight is left over."""
    assert tuple(WEIGHTS) == features.FEATURE_NAMES
    assert tuple(REAL_WORD_WEIGHTS) == confusions.NAMES


@for_each(
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
        ("A TABEL AND A CHAIR", "tabel", False),
    ],
)
def test_places_that_fix_a_word(text: str, word: str, is_fixed: bool) -> None:  # noqa: FBT001 - a table of cases
    """Digits, signs, addresses, quotes, inner capitals say: no ordinary word."""
    (token,) = [each for each in words(text) if each.word == word]
    assert place(text, token).is_fixed is is_fixed


@pytest.mark.parametrize(
    ("text", "is_name_like"),
    [
        ("Tabel here", False),
        (' "Tabel here', False),
        ("A dog. Tabel here", False),
        ("A Tabel here", True),
        ("a tabel here", False),
    ],
)
def test_capitals_tell_names_from_beginnings(text: str, *, is_name_like: bool) -> None:
    """A capital inside a sentence is a name's."""
    (token,) = [each for each in words(text) if each.word == "tabel"]
    assert place(text, token).is_name_like is is_name_like


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
    assert folded(text) == tuple(word.word for word in words(text))
    assert capitals(text) == [word.word for word in words(text) if word.start and word.is_capital]


def _ids(corpus: Corpus, *words_: str) -> list[npt.NDArray[np.int64]]:
    return [np.array([corpus.number(word)]) for word in words_]


def test_counts_of_a_corpus() -> None:
    """Words, items and neighbours, counted by hand."""
    corpus = _corpus(("1", "a red dog"), ("1", "A dog and a Fox"), ("2", "red red"))

    def count(word: str) -> int:
        return int(corpus.counts[corpus.number(word)])

    assert (count("a"), count("red"), count("cat")) == (3, 3, 0)
    assert (corpus.about("dog"), corpus.about("red"), corpus.about("cat")) == (1, 2, 0)
    # "A" opens its text, so of three only its two others count, both small.
    assert corpus.capital_share("a") == 0
    assert corpus.capital_share("fox") == 1
    assert corpus.pairs(*_ids(corpus, "a", "red")) == [1]
    assert corpus.pairs(*_ids(corpus, "red", EDGE)) == [1]
    assert corpus.pairs(*_ids(corpus, "red", "cat")) == [0]
    assert corpus.triples(*_ids(corpus, "a", "red", "dog")) == [1]
    # "dog" and "a" stand so once; by chance 2 dogs and 3 a of all words would.
    chance = 2 * 3 / (5_000 + int(corpus.counts.sum()))
    assert corpus.over_one(*_ids(corpus, "dog", "a")) == [
        pytest.approx(math.log((1 + 0.5) / (chance + 0.5)))
    ]
    assert corpus.over_one(*_ids(corpus, EDGE, "a")) == [0]
    assert corpus.over_one(*_ids(corpus, "red", "a")) < 0
    # Texts are apart: what ends one is no neighbour of what begins the next.
    assert corpus.triples(*_ids(corpus, "dog", EDGE, "a")) == [0]


SENTENCES = st.lists(
    st.lists(st.sampled_from(["a", "red", "Fox", "dog", "ran"]), max_size=4), max_size=5
)


def _written(lines: list[list[str]], start: int = 0) -> list[Text]:
    """Two texts about each item."""
    return [
        Text(text_id=str(n), item_id=str(n // 2), text=" ".join(line))
        for n, line in enumerate(lines, start)
    ]


def _all_that_is_counted(corpus: Corpus) -> list[object]:
    """What a corpus says of some words and all their neighbours."""
    names = [EDGE, "a", "red", "fox", "dog", "cat"]
    pairs = [*product(names, names)]
    triples = [*product(names, names, names)]

    def of(count: Callable[..., Any], groups: Iterable[tuple[str, ...]]) -> list[float]:
        return [float(count(*_ids(corpus, *group))[0]) for group in groups]

    return [
        sorted(corpus.words()),
        [int(corpus.counts[corpus.number(each)]) for each in names],
        [corpus.about(each) for each in names],
        [corpus.capital_share(each) for each in names],
        [corpus.texts_with(each) for each in names],
        [corpus.log_share(each) for each in names],
        (corpus.n_texts, corpus.n_with_names, corpus.n_foreign),
        of(corpus.pairs, pairs),
        of(corpus.over_one, pairs),
        of(corpus.triples, triples),
        of(partial(corpus.follows, log_share=np.zeros(1)), pairs),
        of(partial(corpus.follows_two, log_share=np.zeros(1)), triples),
    ]


@pytest.mark.full
@settings(deadline=None, max_examples=30)
@given(SENTENCES, SENTENCES, SENTENCES)
def test_joining_the_counts_of_parts_is_counting_all(
    first: list[list[str]], second: list[list[str]], third: list[list[str]]
) -> None:
    """Parts number their words each in its own order."""
    parts = [_written(first), _written(second, 10), _written(third, 20)]
    joined = Corpus()
    for part in parts:
        joined.join(Corpus(part))
    whole = Corpus([text for part in parts for text in part])
    assert _all_that_is_counted(joined) == _all_that_is_counted(whole)


@settings(deadline=None, max_examples=30)
@given(SENTENCES, st.integers(1, 3))
def test_texts_counted_some_at_a_time_are_counted_alike(
    sentences: list[list[str]], at_once: int
) -> None:
    """Texts about one item, and the edges between two texts, may be in different pieces."""
    texts = [replace(text, item_id=f"i{n % 3}") for n, text in enumerate(_written(sentences))]
    whole = Corpus(texts)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("piecework.postprocess.language.corpus._AT_ONCE", at_once)
        pieces = Corpus(texts)
    assert pieces.numbered() == whole.numbered()
    assert _all_that_is_counted(pieces) == _all_that_is_counted(whole)


def test_a_sieve_lets_pass_whatever_was_met() -> None:
    """Of a few places it lets hardly any other pass."""
    corpus = _corpus(("1", "a red dog"), ("2", "a red dog"), ("3", "a red fox"))
    words = np.repeat(corpus.numbers(["a", "red", "dog", "fox"]), 100)
    before, after = words, words[::-1]
    assert corpus.may_be_pairs(*_ids(corpus, "red", "fox")).all()
    assert corpus.may_be_met(*_ids(corpus, "a", "red", "dog")).all()
    assert not corpus.may_be_met(*_ids(corpus, "a", "red", "fox")).any()  # once
    are_pairs = corpus.pairs(before, after) > 0
    assert (corpus.may_be_pairs(before, after) == are_pairs).all()


def test_nothing_was_written() -> None:
    """Of an empty corpus everything can be asked."""
    nothing = _corpus()
    assert nothing.about("red") == 0
    assert nothing.triples(*_ids(nothing, "a", "red", "dog")) == [0]


def test_neighbours_fit_better_than_strangers() -> None:
    """What was met together follows, what was met apart does not."""
    corpus = _corpus(*[(str(n), "a fire hydrant on a street") for n in range(40)])
    share = np.array([corpus.log_share("hydrant")])
    by_chance = math.exp(share[0])
    fire, street, on, hydrant = _ids(corpus, "fire", "street", "on", "hydrant")
    assert corpus.follows(fire, hydrant, share) > 5 * by_chance
    assert corpus.follows(street, hydrant, share) < by_chance
    (article,) = _ids(corpus, "a")
    two = corpus.follows_two(article, fire, hydrant, share)
    assert two > corpus.follows(fire, hydrant, share)
    assert corpus.follows_two(street, on, hydrant, share) < by_chance


def test_what_follows_is_shared_out_whole() -> None:
    """All words together follow another with probability 1, or two others."""
    corpus = _corpus(("1", "a red dog ran"), ("2", "a red fox"), ("3", "the red dog"))
    every = [EDGE, *corpus.words()]
    numbers = corpus.numbers(every)
    shares = np.log(corpus.counts[numbers] / corpus.counts.sum())
    for left in ("red", "dog", "ran"):
        before = np.full(len(every), corpus.number(left))
        assert corpus.follows(before, numbers, shares).sum() == pytest.approx(1)
        article = np.full(len(every), corpus.number("a"))
        two = corpus.follows_two(article, before, numbers, shares)
        assert two.sum() == pytest.approx(1)


def test_the_more_a_word_goes_with_the_likelier_is_another() -> None:
    """Where always the same follows, what never did is less likely."""
    corpus = _corpus(
        *[(f"a{n}", "a fire hydrant") for n in range(20)],
        *[(f"b{n}", f"a red {word}") for n, word in enumerate(["cat", "dog", "fox", "cow"] * 5)],
    )
    share = np.array([corpus.log_share("bus")])
    fire, red, bus = _ids(corpus, "fire", "red", "bus")
    assert corpus.follows(red, bus, share) > 2 * corpus.follows(fire, bus, share)


def test_shares_are_those_of_english_and_of_the_campaign() -> None:
    """Without texts a share is wordfreq's; each text moves it towards its own."""
    nothing = _corpus()
    # zipf 7.73 is 10 ** (7.73 - 9) of all words; the edges of no text count too.
    assert nothing.log_share("the") == pytest.approx(math.log(10) * (7.73 - 9), abs=0.01)
    some = _corpus(("1", "hydrant hydrant"))
    assert some.log_share("hydrant") > nothing.log_share("hydrant")
    assert some.log_share("the") < nothing.log_share("the")


@pytest.mark.parametrize(
    ("text", "is_it"),
    [
        ("a can of Smuckrs jam", True),
        ("a chobani cup", True),
        ("Smuckrs jam", False),
        ("a smuckrs can", False),
        ("a Red dog", False),
        ("", False),
    ],
)
def test_names_are_unknown_with_a_capital_or_met_by_others(text: str, *, is_it: bool) -> None:
    """A capital at the beginning says nothing, nor does one of a known word."""
    assert has_name(Text(text_id="a", item_id="i", text=text)) is is_it


def test_doubts_are_the_unknown_words_only() -> None:
    """With their neighbours, and without what nobody may touch."""
    text = Text(
        text_id="a",
        item_id="i",
        text="A tabel near 12xyzzq and teh gevalia cup",
        protected=frozenset({"gevalia"}),
    )
    _, suspects = _read(text)
    assert [(each.word, each.before, each.after) for each in suspects] == [
        ("tabel", (EDGE, "a"), ("near", "xyzzq")),
        ("teh", ("xyzzq", "and"), ("gevalia", "cup")),
    ]


@pytest.mark.parametrize(
    ("text", "is_it"),
    [
        ("una lata de sopa sobre la mesa", True),
        ("ein hund und eine katze", True),
        ("un perro negro corre en la playa", True),
        ("wmoan onthe beahc wiht dgo", False),
        ("A box of Barilla fettuccine alfredo", False),
        ("", False),
    ],
)
def test_other_languages_are_told_from_bad_english(text: str, *, is_it: bool) -> None:
    """Another language has to know more of the words than English does."""
    assert is_foreign(folded(text)) is is_it


def test_a_foreign_campaign_has_no_suspects() -> None:
    """Where most texts are foreign, the short ones among them are too."""
    texts = [
        Text(text_id=str(n), item_id=str(n), text=text)
        for n, text in enumerate(
            ["un perro negro corre en la playa", "una lata de sopa sobre la mesa"] * 3
            + ["perro negrro"]
        )
    ]
    assert _read(*texts)[1] == []
    assert [each.word for each in _read(texts[-1])[1]] == ["perro", "negrro"]


def test_the_likeliest_candidates_come_first() -> None:
    """The corpus has a word in it, and missing spaces are thought of."""
    corpus = _corpus(*[(str(n), "a red frisbee") for n in range(20)])
    proposals = candidates({"frisbie", "onthe"}, corpus, channel.shipped())
    assert proposals["frisbie"][0].meant == "frisbee"
    assert "on the" in [each.meant for each in proposals["onthe"]]


def test_a_word_of_the_campaign_may_be_meant() -> None:
    """What no list is sure of, if it was written about more items; never back."""
    corpus = _corpus(
        ("1", "a kiteboarder"), ("2", "two kiteboarders"), ("3", "some kiteboarders"),
        ("4", "many kitebaorders"),
    )  # fmt: skip
    assert not lexicon.is_surely_right("kiteboarders")
    proposals = candidates({"kitebaorders", "kiteboarders"}, corpus, channel.shipped())
    meant = {word: [each.meant for each in many] for word, many in proposals.items()}
    assert "kiteboarders" in meant["kitebaorders"]
    assert "kitebaorders" not in meant["kiteboarders"]
    alone = candidates({"kitebaorders"}, _corpus(), channel.shipped())
    assert "kiteboarders" not in [each.meant for each in alone["kitebaorders"]]


def test_spaces_are_missed_between_common_words_only() -> None:
    """Single letters are no words, except `a`."""
    assert list(splits("asidewalk")) == ["a sidewalk", "aside walk"]
    assert list(splits("xyzzq")) == []


def test_sounds() -> None:
    """Vowels within and doubled letters are not heard."""
    assert sound("elefant") == sound("elephant")
    assert sound("cemetary") == sound("cemetery")
    assert sound("dog") != sound("cat")


def test_two_englishes() -> None:
    """British and American ways to write a word are both right."""
    assert is_spelling_variant("grey", "gray")
    assert is_spelling_variant("multicoloured", "multicolored")
    assert not is_spelling_variant("from", "form")


def _leaving(text: str, name: str) -> float:
    """A feature of leaving the first suspect of a text alone."""
    corpus, suspects = _read(Text(text_id="a", item_id="i", text=text))
    proposals = candidates({each.word for each in suspects}, corpus, channel.shipped())
    table = features.rivals(suspects, features.Typos(proposals, corpus), corpus)
    assert table.meant[0] == ""
    return float(table.features[0, features.FEATURE_NAMES.index(name)])


@pytest.mark.parametrize(
    ("text", "name", "value"),
    [
        ("the brand smuckrs of shopfronts", "cue", 1),
        ("the can smuckrs of shopfronts", "cue", 0),
        ("the can smuckrs of shopfronts", "length", 7),
        ("the can smuckrs of shopfronts", "leave", 1),
        ("a can of Smuckrs here", "name_like", 1),
        ("Smuckrs here", "name_like", 0),
        ("A SMUCKRS CAN", "shouted", 1),
    ],
)
def test_what_speaks_for_leaving(text: str, name: str, value: float) -> None:
    """Cue words, capitals and length are named as such."""
    assert _leaving(text, name) == value


def test_chances_of_one_place_add_up() -> None:
    """Leaving and all candidates share the probability of a place."""
    corpus, suspects = _read(Text(text_id="a", item_id="i", text="a wooden tabel and teh xqzkv"))
    proposals = candidates({each.word for each in suspects}, corpus, channel.shipped())
    table = features.rivals(suspects, features.Typos(proposals, corpus), corpus)
    chances = features.chances(table, WEIGHTS)
    assert np.add.reduceat(chances, table.first) == pytest.approx([1, 1, 1])
