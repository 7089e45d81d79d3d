"""Descriptions with one wrong word, for the study of the severity of errors.

Design and wording follow *Gradations of error severity in automatic image descriptions*
(INLG 2020): seven pictures, each with a reference description and four descriptions
with one error (gender, age, type of clothing, colour of clothing), which in Chinese
differ from the reference in one character. The tennis player's five sentences, the
pitcher's reference and the frisbee's English are from the paper. Its other sentences
and its photographs are not available, so the rest follows its pattern.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

from piecework.simulation.pictures.portraits import Garment, Portrait, Who

Row = Mapping[str, str]

ERRORS = ("gender", "age", "clothing_type", "clothing_color")

DIRECTIONS: Mapping[tuple[Who, Who], str] = {
    ("man", "woman"): "male_to_female",
    ("boy", "girl"): "male_to_female",
    ("woman", "man"): "female_to_male",
    ("girl", "boy"): "female_to_male",
    ("man", "boy"): "old_to_young",
    ("woman", "girl"): "old_to_young",
    ("boy", "man"): "young_to_old",
    ("girl", "woman"): "young_to_old",
}

MEANS: Mapping[str, int] = {
    "male_to_female": 41,
    "female_to_male": 42,
    "young_to_old": 58,
    "old_to_young": 49,
    "clothing_type": 48,
    "clothing_color": 40,
}
"""The mean ratings, from 0 to 100. The first four are from table 3 of the paper,
rounded (40.508, 41.601, 58.475, 49.226). Table 1 is not available, so the last two are
chosen to reproduce its tests: colour below type and age, type between age and
gender."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stimulus:
    """A picture and the wrong words of its descriptions.

    Attributes:
        wrong_garment: replaces the garment worn; in Chinese one character differs.
        wrong_colour: replaces the colour shown.
        child: the Chinese character for a child; the paper has two.
    """

    portrait: Portrait
    wrong_garment: str
    wrong_colour: str
    child: str = "孩"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Person:
    """The words of one description."""

    who: Who
    garment: str
    colour: str


_GENDER: Mapping[Who, Who] = {
    "man": "woman", "woman": "man", "boy": "girl", "girl": "boy",
}  # fmt: skip
_AGE: Mapping[Who, Who] = {
    "man": "boy", "boy": "man", "woman": "girl", "girl": "woman",
}  # fmt: skip

_CHINESE: Mapping[str, str] = {
    "shirt": "上衣", "coat": "大衣", "skirt": "裙子", "trousers": "褲子",
    "yellow": "黃", "purple": "紫", "pink": "粉", "green": "綠", "black": "黑",
    "white": "白", "red": "紅", "blue": "藍",
    "tennis": "在網球場打網球", "frisbee": "在草地上丟飛盤", "pitching": "在棒球場投球",
    "kite": "在公園放風箏", "umbrella": "在海邊撐傘", "dog": "在街上遛狗",
    "ball": "在海灘玩球", "bicycle": "在街上牽腳踏車", "flower": "在公園拿著花",
    "bucket": "在海灘提著水桶",
}  # fmt: skip
_ENGLISH: Mapping[str, str] = {
    "tennis": "plays tennis on the tennis court",
    "frisbee": "throws a frisbee",
    "pitching": "pitches at the baseball field",
    "kite": "flies a kite in the park",
    "umbrella": "holds an umbrella at the beach",
    "dog": "walks a dog on the street",
    "ball": "plays with a ball on the beach",
    "bicycle": "stands by a bicycle on the street",
    "flower": "holds a flower in the park",
    "bucket": "carries a bucket on the beach",
}


class _Explained(NamedTuple):
    """A Chinese activity word for word, and in English."""

    gloss: str
    translation: str


_EXPLAINED: Mapping[str, _Explained] = {
    "tennis": _Explained("on tennis court play tennis", "plays tennis on the tennis court"),
    "frisbee": _Explained("on grass throw frisbee", "throws a frisbee on the grass"),
    "pitching": _Explained("on baseball field pitch", "pitches at the baseball field"),
    "kite": _Explained("in park fly kite", "flies a kite in the park"),
    "umbrella": _Explained("at seaside hold umbrella", "holds an umbrella at the seaside"),
    "dog": _Explained("on street walk dog", "walks a dog on the street"),
    "ball": _Explained("on beach play ball", "plays with a ball on the beach"),
    "bicycle": _Explained("on street push bicycle", "pushes a bicycle on the street"),
    "flower": _Explained("in park hold flower", "holds a flower in the park"),
    "bucket": _Explained("on beach carry bucket", "carries a bucket on the beach"),
}


def _stimulus(
    who: Who, garment: Garment, colour: str, doing: str, *, wrong: tuple[str, str]
) -> Stimulus:
    return Stimulus(
        portrait=Portrait(who=who, garment=garment, colour=colour, doing=doing),
        wrong_garment=wrong[0],
        wrong_colour=wrong[1],
    )


STIMULI: tuple[Stimulus, ...] = (
    _stimulus("man", "shirt", "yellow", "tennis", wrong=("coat", "purple")),
    _stimulus("woman", "skirt", "pink", "frisbee", wrong=("trousers", "green")),
    replace(_stimulus("boy", "shirt", "black", "pitching", wrong=("coat", "white")), child="童"),
    _stimulus("girl", "coat", "red", "kite", wrong=("shirt", "blue")),
    _stimulus("man", "coat", "green", "umbrella", wrong=("shirt", "pink")),
    _stimulus("woman", "skirt", "purple", "dog", wrong=("trousers", "yellow")),
    _stimulus("boy", "shirt", "blue", "ball", wrong=("coat", "red")),
)
"""The seven pictures of the main experiment."""

TRIALS: tuple[tuple[Stimulus, str], ...] = (
    (_stimulus("woman", "coat", "blue", "bicycle", wrong=("shirt", "red")), "clothing_color"),
    (_stimulus("boy", "shirt", "green", "flower", wrong=("coat", "purple")), "age"),
    (_stimulus("girl", "skirt", "yellow", "bucket", wrong=("trousers", "green")), "gender"),
    (_stimulus("man", "shirt", "white", "kite", wrong=("coat", "black")), "clothing_type"),
)
"""The four practice trials: other pictures, one error of each kind."""


def rows(language: str) -> Iterator[Row]:
    """Yield the practice trials and the 28 items as rows of an items file.

    Args:
        language: the language of the descriptions, `en` or `zh-Hant`.
    """
    for number, (stimulus, error) in enumerate(TRIALS, start=1):
        yield _row(f"trial_{number}", stimulus, error, language, is_trial=True)
    for number, stimulus in enumerate(STIMULI, start=1):
        for error in ERRORS:
            yield _row(f"person_{number}", stimulus, error, language)


class Described(NamedTuple):
    """A portrait with an English description that has one error, and the correct one.

    Attributes:
        category: the error's name in the tasks of error analysis.
    """

    portrait: Portrait
    category: str
    text: str
    correct: str


_CATEGORIES: Mapping[str, str] = {
    "age": "age",
    "gender": "gender",
    "clothing_type": "type_of_clothing",
    "clothing_color": "color_of_clothing",
}


def described(category: str) -> Iterator[Described]:
    """Yield every portrait with an error about people or their clothes.

    Args:
        category: `age`, `gender`, `type_of_clothing` or `color_of_clothing`.
    """
    error = next(name for name, own in _CATEGORIES.items() if own == category)
    for stimulus in (*STIMULI, *(trial for trial, _ in TRIALS)):
        seen = _seen(stimulus)
        yield Described(
            stimulus.portrait,
            category,
            _sentence(_with_error(seen, stimulus, error), stimulus, "en"),
            _sentence(seen, stimulus, "en"),
        )


PEOPLE_CATEGORIES = tuple(_CATEGORIES.values())
"""The categories of errors about people and their clothes."""


def portraits() -> Iterator[tuple[str, Portrait]]:
    """Yield file names, as used in the rows, and pictures."""
    for number, (stimulus, _) in enumerate(TRIALS, start=1):
        yield f"trial_{number}.svg", stimulus.portrait
    for number, stimulus in enumerate(STIMULI, start=1):
        yield f"person_{number}.svg", stimulus.portrait


def _row(
    picture: str, stimulus: Stimulus, error: str, language: str, *, is_trial: bool = False
) -> Row:
    seen = _seen(stimulus)
    described = _with_error(seen, stimulus, error)
    direction = DIRECTIONS.get((seen.who, described.who), "")
    return {
        "item_id": picture if is_trial else f"{picture}_{ERRORS.index(error) + 1}",
        "url": f"{picture}.svg",
        "reference": _sentence(seen, stimulus, language),
        "description": _sentence(described, stimulus, language),
        "error": error,
        "direction": direction,
        **(_explained(seen, described, stimulus) if language != "en" else {}),
        "practice": "yes" if is_trial else "",
        "truth.quality": str(MEANS[direction or error]),
    }


def _explained(seen: _Person, described: _Person, stimulus: Stimulus) -> Row:
    """Return glosses and translations of both Chinese sentences, as in the paper."""
    doing = _EXPLAINED[stimulus.portrait.doing]

    def gloss(person: _Person) -> str:
        worn = f"wear {person.colour} {person.garment}"
        return f"a {person.who} {worn} {doing.gloss}"

    def translation(person: _Person) -> str:
        article = "" if person.garment == "trousers" else "a "
        worn = f"in {article}{person.colour} {person.garment}"
        return f"A {person.who} {worn} {doing.translation}."

    return {
        "gloss": gloss(described),
        "translation": translation(described),
        "reference_gloss": gloss(seen),
        "reference_translation": translation(seen),
    }


def _seen(stimulus: Stimulus) -> _Person:
    portrait = stimulus.portrait
    return _Person(who=portrait.who, garment=portrait.garment, colour=portrait.colour)


def _with_error(seen: _Person, stimulus: Stimulus, error: str) -> _Person:
    if error == "gender":
        return replace(seen, who=_GENDER[seen.who])
    if error == "age":
        return replace(seen, who=_AGE[seen.who])
    if error == "clothing_type":
        return replace(seen, garment=stimulus.wrong_garment)
    return replace(seen, colour=stimulus.wrong_colour)


def _sentence(person: _Person, stimulus: Stimulus, language: str) -> str:
    doing = stimulus.portrait.doing
    if language == "en":
        # Replace one word by one word: English "trousers" would also drop the article.
        garment = "coat" if person.garment == "trousers" else person.garment
        return f"A {person.who} in a {person.colour} {garment} {_ENGLISH[doing]}."
    adult = {"man": "男人", "woman": "女人"}.get(person.who)
    sex = "男" if person.who == "boy" else "女"
    who = adult or f"{sex}{stimulus.child}"
    worn = f"{_CHINESE[person.colour]}色{_CHINESE[person.garment]}"
    return f"一位{who}穿著{worn}{_CHINESE[doing]}"
