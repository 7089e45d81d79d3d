"""What counts as a word, a sentence and a beginning."""

from unicodedata import normalize

from hypothesis import given
from hypothesis import strategies as st

from piecework.hit_templates.rules import Points, begins_with, is_one_sentence, plain, words
from tests.for_each import for_each

POINTS = Points(
    abbreviations=("st", "dr", "oz", "approx"),
    before_number=("no",),
    after_number=("in",),
    names=("yahoo",),
)


@for_each(
    ("text", "count"),
    [
        ("", 0),
        ("a red mug", 3),
        ("red,blue;green.black", 4),  # no spaces, still four words
        ("An 8.5 oz can", 4),  # a number is one word
        ("1,000,000 ants", 2),
        ("1,2,3", 1),  # cannot be told from a number
        ("the U.S. flag", 3),
        ("at 5 p.m. today", 4),
        ("the U.S.A.", 2),
        ("a well-known brand", 3),
        ("a dog - a cat", 4),  # the lone hyphen is no word
        ("- - - - - - - -", 0),
        ("salt & pepper", 2),
        ("a dog \N{DOG FACE} \N{DOG FACE}", 2),
        ("a\N{NO-BREAK SPACE}dog", 2),
        ("a\N{ZERO WIDTH SPACE}dog", 1),
        ("dog\N{EM DASH}cat", 2),
        ("wait\N{HORIZONTAL ELLIPSIS}what", 2),
        ("costs $5", 2),
        ("it's John's", 2),
        ("\N{CJK UNIFIED IDEOGRAPH-72AC} \N{GREEK SMALL LETTER ALPHA}", 2),
    ],
)
def test_words_are_counted_as_a_person_counts_them(text: str, count: int) -> None:
    """A word is what a person would call one."""
    assert len(words(text)) == count


@for_each(
    "text",
    [
        "A dog.",
        "A dog. ",
        "A dog. \N{DOG FACE}",
        "The arch of St. Louis by a river.",
        "A can of Dr. Pepper on a table.",
        "A 2 oz. can, approx. 3 inches tall.",
        "A 12oz. can.",
        "A U.S. flag and a portrait of J. Smith.",
        "A bottle of perfume No. 5 on a shelf.",
        "A 10 in. pan on a stove.",
        "A 10in. pan on a stove.",
        "The logo of Yahoo! Mail on a screen.",
        "A Pronto! keyboard.",
        "A dog ... on a mat.",
        "A dog\N{HORIZONTAL ELLIPSIS} on a mat.",
        'A sign says "Stop. Go back." in red letters.',
        "A sign says \N{LEFT DOUBLE QUOTATION MARK}Stop. Go.\N{RIGHT DOUBLE QUOTATION MARK} in red.",  # noqa: E501
        "A red,blue.green bag.",
        "草地上有一隻狗。",
        "草地上有一隻狗。\N{DOG FACE}",
        "牌子上寫著「停。看。」的路口",
        "手機上的Yahoo\uff01奇摩首頁",
        "",
    ],
)
def test_an_honest_sentence_is_never_refused_for_a_period(text: str) -> None:
    """Abbreviations, initials, units, names, pauses and quotations end no sentence."""
    assert is_one_sentence(text, POINTS)


@for_each(
    "text",
    [
        "A dog. A cat.",
        "A dog. a cat",
        "A dog.\nA cat.",
        "A dog.\N{NO-BREAK SPACE}A cat.",
        "A dog! A cat.",
        "A dog? A cat.",
        "A dog (a big one.) It sits.",
        'A sign says "Stop". The door is shut.',
        '"A dog. A cat."',  # all of it quoted: the quotes hide nothing
        "The sign says no. The door is shut.",  # "no." without a number
        "The dog is in. It is wet.",
        "A room with 5. It is big.",
        "這是一隻狗。牠很大。",
        "這是一隻狗。 牠很大",
        "犬がいる\uff01猫もいる",
        "犬ですか\uff1fはい",
        "犬がいる\N{HALFWIDTH IDEOGRAPHIC FULL STOP}猫もいる",
        "A dog。A cat",
        "「一隻狗。一隻貓。」",
    ],
)
def test_a_second_sentence_is_seen(text: str) -> None:
    """After a period, exclamation or question mark something new begins."""
    assert not is_one_sentence(text, POINTS)


@for_each(
    ("text", "beginning", "expected"),
    [
        ("There is a dog", "There is", True),
        ("  there   IS\ta dog", "There is", True),
        ('"There is a dog"', "There is", True),
        ("- There is a dog", "There is", True),
        ("There is", "There is", True),
        ("There is, on a mat, a dog", "There is", True),
        ("This island is green", "This is", False),
        ("The imagery is odd", "The image", False),
        ("The picture-perfect garden", "The picture", False),
        ("The image's corner", "The image", True),
        ("It's a dog", "It's", True),
        ("It\N{RIGHT SINGLE QUOTATION MARK}s a dog", "It's", True),
        ("it`s a dog", "It's", True),
        ("Its tail", "It's", False),
        ("There\N{ZERO WIDTH SPACE} is a dog", "There is", True),
        ("A dog; there is a cat", "There is", False),
        ("這是一隻狗", "這是", True),
        ("「這是一隻狗」", "這是", True),
        ("這是a dog", "這是", True),
        ("IKEA的椅子", "IKEA", True),
        ("そこに這是", "這是", False),
        ("狗", " ", False),
    ],
)
def test_a_beginning_is_found_whole_and_however_typed(
    text: str, beginning: str, *, expected: bool
) -> None:
    """Case, spaces, quotes and kinds of apostrophe change nothing; word ends do."""
    assert begins_with(text, ["Nothing", beginning]) is expected


@given(st.text())
def test_plain_text_is_plain_already(text: str) -> None:
    """Measuring twice gives the same."""
    assert plain(plain(text)) == plain(text)


@given(st.text())
def test_composed_and_decomposed_text_measure_alike(text: str) -> None:
    """However an accent is encoded, the text has the same words."""
    assert words(normalize("NFD", text)) == words(normalize("NFC", text))


@given(st.lists(st.text(st.characters(categories=["Ll", "Lu"]), min_size=1)))
def test_words_of_letters_are_counted_one_by_one(parts: list[str]) -> None:
    """Letters parted by spaces are as many words as there are parts with a letter."""
    shown = [part for part in parts if plain(part)]
    assert len(words(" ".join(shown))) == len(shown)
