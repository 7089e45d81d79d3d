"""Ways in which a text gets into a box: people who type, and what is not typed.

Each way drives a real Chromium. Keys and compositions go through its devtools, so the
page cannot tell them from a keyboard's; the rhythms are ours, not recorded people's.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from random import Random

from playwright.sync_api import CDPSession, Page

from piecework.simulation.seeded_rng import seeded_rng

BOX = "#caption-1"

SENTENCES = (
    "A red house with a brown roof stands beside a post sign",
    "Two dogs run along a wet beach while a child throws a ball",
    "A white mug with a chipped handle stands on a wooden table",
    "The screen of a phone shows a message about a late train",
    "A woman in a green coat waits at the corner of a street",
    "Three tins of soup stand on a shelf next to a bag of rice",
)
_CHINESE = (
    ("hongse", "紅色"),
    ("de", "的"),
    ("fangzi", "房子"),
    ("pangbian", "旁邊"),
    ("you", "有"),
    ("yige", "一個"),
    ("huangse", "黃色"),
    ("youxiang", "郵箱"),
    ("he", "和"),
    ("shu", "樹"),
)

Way = Callable[[Page, str, Random], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Typist:
    """One way.

    Attributes:
        is_typed: whether a person enters the text here, by keys, composition or voice;
            `None` if they enter a part of it.
        is_visible: whether its record can differ from that of an honest person.
    """

    name: str
    way: Way
    is_typed: bool | None
    is_visible: bool = True


def _keys(wpm: float, *, errors: float = 0.02, pauses: float = 0.12) -> Way:
    """A person who types; five characters are a word."""

    def way(page: Page, text: str, rng: Random) -> None:
        middle = 12 / wpm * 0.8  # the longer intervals make up the rest
        for character in text:
            if character == " " and rng.random() < pauses:
                _wait(rng.expovariate(1 / 0.9))
            if rng.random() < errors:
                page.keyboard.press(rng.choice("etaoinsr"))
                _wait(rng.lognormvariate(-0.9, 0.4))
                page.keyboard.press("Backspace")
                _wait(rng.lognormvariate(-1.4, 0.4))
            page.keyboard.press(character)
            _wait(middle * rng.lognormvariate(0, 0.45))

    return way


def _composed(page: Page, _text: str, rng: Random) -> None:
    """Chinese by an input method: letters in a composition, then characters."""
    devtools = page.context.new_cdp_session(page)
    for letters, characters in _CHINESE:
        for end in range(1, len(letters) + 1):
            _compose(devtools, letters[:end])
            _wait(rng.lognormvariate(-1.8, 0.4))
        _wait(rng.lognormvariate(-0.9, 0.4))
        devtools.send("Input.insertText", {"text": characters})
        page.keyboard.press("Space")
        _wait(rng.lognormvariate(-1.2, 0.4))


def _by_phone(page: Page, text: str, rng: Random) -> None:
    """A phone's keyboard composes word by word; it corrects some, completes others."""
    devtools = page.context.new_cdp_session(page)
    for word in text.split():
        letters, fate = word, rng.random()
        if fate < 0.2 and len(word) > 2:
            letters = f"{word[1]}{word[0]}{word[2:]}"
        elif fate < 0.4 and len(word) > 4:
            letters = word[:3]
        for end in range(1, len(letters) + 1):
            _compose(devtools, letters[:end])
            _wait(rng.lognormvariate(-1.7, 0.4))
        devtools.send("Input.insertText", {"text": word})
        _wait(rng.lognormvariate(-3, 0.5))
        devtools.send("Input.insertText", {"text": " "})
        _wait(rng.lognormvariate(-1.4, 0.5))


def _dictated(page: Page, text: str, rng: Random) -> None:
    """Speech arrives in phrases, each after the time that it takes to say."""
    devtools = page.context.new_cdp_session(page)
    words = text.split()
    while words:
        count = rng.randint(3, 6)
        phrase, words = " ".join(words[:count]) + " ", words[count:]
        _wait(len(phrase) * rng.uniform(0.055, 0.085))
        devtools.send("Input.insertText", {"text": phrase})


def _pasted(page: Page, text: str, rng: Random) -> None:
    _copy_elsewhere(page, text)
    _wait(rng.uniform(0.2, 1))
    page.keyboard.press("Control+V")


def _pasted_in_pieces(page: Page, text: str, rng: Random) -> None:
    words = text.split(" ")
    while words:
        count = rng.randint(2, 4)
        piece, words = " ".join(words[:count]), words[count:]
        _pasted(page, piece, rng)
        if words:
            _wait(rng.uniform(0.2, 0.8))
            page.keyboard.press("Space")


def _ended_by_a_paste(page: Page, text: str, rng: Random) -> None:
    """Begin by hand and paste the rest: from a sixth of the words to all but a few."""
    words = text.split(" ")
    count = rng.randint(2, len(words) - 2)
    _keys(60)(page, " ".join(words[:count]) + " ", rng)
    _pasted(page, " ".join(words[count:]), rng)


def _set(page: Page, text: str, _rng: Random) -> None:
    page.eval_on_selector(
        BOX, "(box, text) => { box.value = text; box.dispatchEvent(new Event('change')); }", text
    )


def _filled(page: Page, text: str, _rng: Random) -> None:
    page.fill(BOX, text)  # one trusted event, as tools for tests and extensions do


def _dispatched(page: Page, text: str, rng: Random) -> None:
    """A script in the page that makes events at a person's rhythm."""
    for character in text:
        page.eval_on_selector(
            BOX,
            """(box, key) => {
              box.dispatchEvent(new KeyboardEvent('keydown', {key, bubbles: true}));
              box.value += key;
              box.dispatchEvent(new InputEvent(
                'input', {inputType: 'insertText', data: key, bubbles: true}));
            }""",
            character,
        )
        _wait(0.12 * rng.lognormvariate(0, 0.45))


def _metronome(page: Page, text: str, rng: Random) -> None:
    page.keyboard.type(text, delay=rng.choice((30, 60, 90, 120)))


def _like_a_person(page: Page, text: str, rng: Random) -> None:
    for character in text:
        page.keyboard.press(character)
        _wait(rng.uniform(0.06, 0.2))


TYPISTS = (
    Typist(name="typed, 40 words a minute", way=_keys(40), is_typed=True),
    Typist(name="typed, 100 words a minute", way=_keys(100), is_typed=True),
    Typist(name="typed, 20 words a minute", way=_keys(20), is_typed=True),
    Typist(name="typed with many corrections", way=_keys(45, errors=0.12), is_typed=True),
    Typist(name="composed by an input method", way=_composed, is_typed=True),
    Typist(name="typed on a phone that corrects and completes", way=_by_phone, is_typed=True),
    Typist(name="dictated", way=_dictated, is_typed=True),
    Typist(name="pasted", way=_pasted, is_typed=False),
    Typist(name="pasted in pieces", way=_pasted_in_pieces, is_typed=False),
    Typist(name="begun by hand, ended by a paste", way=_ended_by_a_paste, is_typed=None),
    Typist(name="set by a script, without events", way=_set, is_typed=False),
    Typist(name="filled in by one event", way=_filled, is_typed=False),
    Typist(name="events made by a script", way=_dispatched, is_typed=False),
    Typist(name="keys sent at equal intervals", way=_metronome, is_typed=False),
    Typist(
        name="keys sent at a person's intervals",
        way=_like_a_person,
        is_typed=False,
        is_visible=False,
    ),
    Typist(
        name="a machine's text, retyped by a person",
        way=_keys(50, errors=0.01, pauses=0.04),
        is_typed=True,
        is_visible=False,
    ),
    Typist(name="a person's own text, pasted", way=_pasted, is_typed=False),
)

BY_NAME = {typist.name: typist for typist in TYPISTS}


def enter(page: Page, typist: Typist, *, seed: int) -> None:
    """Enter a sentence into the first caption that way."""
    rng = seeded_rng(seed, typist.name)
    page.focus(BOX)
    _wait(rng.uniform(0.3, 1))
    typist.way(page, rng.choice(SENTENCES), rng)


def _copy_elsewhere(page: Page, text: str) -> None:
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.evaluate("(text) => navigator.clipboard.writeText(text)", text)


def _compose(devtools: CDPSession, letters: str) -> None:
    key = {"windowsVirtualKeyCode": 229, "key": "Process"}
    devtools.send("Input.dispatchKeyEvent", {"type": "rawKeyDown", **key})
    devtools.send(
        "Input.imeSetComposition",
        {"text": letters, "selectionStart": len(letters), "selectionEnd": len(letters)},
    )


def _wait(seconds: float) -> None:
    time.sleep(seconds)
