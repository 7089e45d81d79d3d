"""The kinds of rules for answers, as data and as pure functions.

A rule in `task.toml` names a kind, a field, parameters and the message that a worker
reads. `_rules.js` has the same kinds for the page; tests/browser checks that both give
the same verdicts.

Only `required`, `text_with_option` and `must_choose` can fail for an empty field. The
others always hold for it, so that a worker who wrote nothing reads one message, not
five. A kind with a parameter `column` compares the answer with that column of the item.

Rules for tasks that change a text as little as possible compare words without case and
surrounding punctuation, so a comma or a capital is not a change.

The page measures the same text in JavaScript, so this code may not depend
on a Unicode table that grows with each release. Every class of characters is listed in
`CHARACTERS`, which the page receives as data. Each class is the inside of a regular
expression's `[...]`, in a form that Python and JavaScript read alike.

These decisions are finer than those of the original page (VizWiz-Captions, 2019):

- **Words** are separated by white space, comma, period, semicolon, ellipsis and long
  dash. `8.5`, `1,000` and `U.S.` are one word each, as a person would count them (the
  original: two). `red,blue` and `cat.The` are two: a forgotten space does not cost a
  word. A hyphenated word is one. Each letter of Chinese or Japanese is a word. A lone
  `-`, `&` or emoji is not a word (the original counted it), because otherwise eight
  dashes would be a caption.
- **A second sentence** begins after `.`, `!` or `?`, white space and another word; those
  of Chinese and Japanese need no space. In doubt the text is one sentence: refusing an
  honest caption costs a worker's time, while a second sentence does little harm. So these
  do not end a sentence: known abbreviations (`St. Louis`, `Dr. Pepper`, `2 oz. can`),
  single letters (`U.S. flag`, `J. Smith`), `No. 5`, `10 in. pan`, an ellipsis, anything
  inside double quotes, and `!` or `?` before a small letter or after a known name.
- **A beginning** ignores case, quotes, white space and which apostrophe was typed, and
  ends where a word ends: "This island" does not begin with "This is".
"""

import re
import unicodedata
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from piecework.domain.assignment import FieldValue
from piecework.domain.edit import Change, changes, size_of_changes
from piecework.domain.field import FieldScope
from piecework.domain.task import Rule, Task

CHARACTERS: Mapping[str, str] = {
    # White space, and invisible letters (Hangul fillers, empty braille).
    "spaces": "\t-\r\x1c- \x85\xa0\u115f\u1160\u1680\u2000-\u200a\u2028\u2029\u202f"
    "\u205f\u2800\u3000\u3164\uffa0",
    # Control characters, joiners, directions, variation selectors, tags.
    "invisible": "\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\xad\u034f\u061c\u17b4\u17b5"
    "\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff"
    "\U000e0000-\U000e0fff",
    # Not words on their own: punctuation, currency, arrows, emoji.
    "symbols": "!-/:-@\\[-`{-~\xa1-\xa9\xab-\xb1\xb4\xb6-\xb8\xbb\xbf\xd7\xf7"
    "\u02b9-\u02df\u2010-\u2027\u2030-\u205e\u20a0-\u20cf\u2190-\u2bff"
    "\u2e00-\u2e7f\u3001-\u3003\u3008-\u3020\u3030\ufe10-\ufe6f\uff01-\uff0f"
    "\uff1a-\uff20\uff3b-\uff40\uff5b-\uff65\ufffc\ufffd"
    "\U0001f000-\U0001fbff",
    "apostrophes": "'`\xb4\u02b9\u02bb\u02bc\u2018\u2019\u201b\u2032\uff07",
    "double_quotes": '"\u201c-\u201f\xab\xbb\u2033\u300c-\u300f\uff02',
    "hyphens": "\\-\u2010\u2011",
    "breaks": " ,.;\u2014\u2026",
    # Each is a word: Chinese and Japanese have no spaces between words.
    "unspaced": "\u3041-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff",
    "wide_ends": "\u3002\uff01\uff1f\uff61",
}

_CHARACTER_CLASS = {name: f"[{inside}]" for name, inside in CHARACTERS.items()}
_NO_WORD = CHARACTERS["spaces"] + CHARACTERS["symbols"]
_LETTER = f"[^{_NO_WORD}]"

_INVISIBLE = re.compile(_CHARACTER_CLASS["invisible"])
_SPACES = re.compile(f"{_CHARACTER_CLASS['spaces']}+")
_LETTERS = re.compile(_LETTER)
_SYMBOLS_FIRST = re.compile(f"^[{_NO_WORD}]+")
_BREAKS = re.compile(f"{_CHARACTER_CLASS['breaks']}+")
_UNSPACED = re.compile(_CHARACTER_CLASS["unspaced"])
_POINT_WITHIN = re.compile(r"[0-9],[0-9]|\.")
_POINT_IN_NUMBER = re.compile(r"([0-9])[.,](?=[0-9])")
_POINTED_LETTERS = re.compile(f"(^|[{_NO_WORD}])((?:{_LETTER}\\.)+{_LETTER}?)(?=$|[{_NO_WORD}])")
_QUOTED = re.compile("[{0}][^{0}]*[{0}]".format(CHARACTERS["double_quotes"]))
_END = re.compile(f"[.!?{CHARACTERS['wide_ends']}]")
_LAST_MARKS = re.compile(f"[!?{CHARACTERS['wide_ends']}]+$")
_WIDE_END = re.compile(f"{_CHARACTER_CLASS['wide_ends']}(?={_LETTER})")
_APOSTROPHES = re.compile(_CHARACTER_CLASS["apostrophes"])
_CLOSERS_LAST = re.compile(f"[)\\]}}*{CHARACTERS['double_quotes']}{CHARACTERS['apostrophes']}]+$")
_LAST_PIECE = re.compile(f"(?:[^{_NO_WORD}{CHARACTERS['unspaced']}]|')+$")
_NUMBER = re.compile("^[0-9][0-9.,/]*")
_WORD_ENDS = re.compile(
    f"^(?:$|{_CHARACTER_CLASS['unspaced']}|(?!{_CHARACTER_CLASS['hyphens']})[{_NO_WORD}])"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Points:
    """Words after which punctuation does not end a sentence, in small letters.

    Attributes:
        abbreviations: words before a period (`st`, `dr`, `oz`).
        before_number: words before a period and a number (`no`, as in `No. 5`).
        after_number: words between a number and a period (`in`, as in `10 in. pan`).
        names: names that end in `!` or `?` (`yahoo`).
    """

    abbreviations: Collection[str] = ()
    before_number: Collection[str] = ()
    after_number: Collection[str] = ()
    names: Collection[str] = ()


@lru_cache(maxsize=1024)  # a dozen rules each ask for the same text
def plain(text: str) -> str:
    r"""Normalise a text to measure it: composed, visible, single spaces, trimmed.

    >>> plain(" a\u200b  caf\u0065\u0301\n")
    'a café'
    """
    composed = unicodedata.normalize("NFC", _INVISIBLE.sub("", text))
    return _SPACES.sub(" ", composed).strip(" ")


def words(text: str) -> list[str]:
    """Return the words of a text; the module's docstring defines a word.

    >>> words("An 8.5 oz. can - U.S. made,well-known")
    ['An', '85', 'oz', 'can', 'US', 'made', 'well-known']
    >>> words("紅色的house。")
    ['紅', '色', '的', 'house。']
    """
    joined = plain(text)
    if _POINT_WITHIN.search(joined):  # other captions do not need the slow patterns
        joined = _POINT_IN_NUMBER.sub(r"\1", joined)
        joined = _POINTED_LETTERS.sub(lambda m: m[1] + m[2].replace(".", ""), joined)
    joined = _UNSPACED.sub(r" \g<0> ", joined)
    return [piece for piece in _BREAKS.split(joined) if _LETTERS.search(piece)]


def is_one_sentence(text: str, points: Points) -> bool:
    """Return whether the text is a single sentence.

    >>> is_one_sentence("A dog. A cat.", Points())
    False
    >>> is_one_sentence("A U.S. flag.", Points())
    True
    """
    measured = plain(text)
    end = _END.search(measured)
    if end is None or not _LETTERS.search(measured, end.end()):
        return True  # as most captions are
    tokens = _WIDE_END.sub(r"\g<0> ", _without_quotes(measured)).split(" ")
    # The period after the last word ends the caption, even if emoji follow.
    with_word = [i for i, token in enumerate(tokens) if _LETTERS.search(token)]
    last = with_word[-1] if with_word else 0
    return not any(_ends_sentence(tokens, i, points) for i in range(last))


def begins_with(text: str, beginnings: Iterable[str]) -> bool:
    r"""Return whether the text begins with one of these as whole words.

    >>> begins_with("\u201cIt\u2019s a dog", ["There is", "It's"])
    True
    """
    opening = _folded(_SYMBOLS_FIRST.sub("", plain(text)))
    folded = _folded_beginnings(tuple(beginnings))
    return opening.startswith(folded) and any(
        opening.startswith(sought)
        and (_UNSPACED.match(sought[-1]) or _WORD_ENDS.match(opening[len(sought) :][:1]))
        for sought in folded
    )


def _folded(text: str) -> str:
    return _APOSTROPHES.sub("'", text).lower()


@lru_cache(maxsize=256)
def _folded_beginnings(beginnings: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(filter(None, (_folded(plain(beginning)) for beginning in beginnings)))


def _without_quotes(text: str) -> str:
    """Replace each quotation by one word; leave a fully quoted text unchanged."""
    outside = _QUOTED.sub(" ", text)
    return _QUOTED.sub("quoted", text) if _LETTERS.search(outside) else text


def _ends_sentence(tokens: list[str], i: int, points: Points) -> bool:
    """Return whether `tokens[i]`, which is not the last word, ends a sentence."""
    if not _END.search(tokens[i]):
        return False
    token = _CLOSERS_LAST.sub("", tokens[i])
    if token.endswith(".") and not token.endswith(".."):
        return not _is_abbreviation(tokens, i, token[:-1], points)
    marks = _LAST_MARKS.search(token)
    if marks is None or _last_piece(token[: marks.start()]) in points.names:
        return False
    return token[-1] not in "!?" or _is_capital(_next_word(tokens, i))


def _is_abbreviation(tokens: list[str], i: int, word: str, points: Points) -> bool:
    piece = _last_piece(word)
    unit = _NUMBER.sub("", piece)
    after_number = unit != piece or (i > 0 and _NUMBER.match(tokens[i - 1]) is not None)
    before_number = _NUMBER.match(_next_word(tokens, i)) is not None
    return (
        len(unit) == 1
        or unit in points.abbreviations
        or (after_number and unit in points.after_number)
        or (before_number and unit in points.before_number)
    )


def _last_piece(token: str) -> str:
    """Return the text after the last punctuation mark, in small letters."""
    match = _LAST_PIECE.search(_APOSTROPHES.sub("'", token))
    return match[0].lower() if match else ""


def _next_word(tokens: list[str], i: int) -> str:
    """Return the first word after token `i`, without leading punctuation."""
    following = next(token for token in tokens[i + 1 :] if _LETTERS.search(token))
    return _SYMBOLS_FIRST.sub("", following)


def _is_capital(word: str) -> bool:
    return word[0] != word[0].lower()


Values = Mapping[str, FieldValue]
Columns = Mapping[str, str]
Parameters = Mapping[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleKind:
    """One kind of rule.

    Attributes:
        parameters: the required parameters of such a rule, with their types.
        field_kinds: the kinds of fields that it can check.
        holds: whether the values satisfy a rule of this kind.
    """

    parameters: Mapping[str, type]
    field_kinds: tuple[str, ...]
    holds: Callable[[Values, Rule, Columns], bool]


def check(
    task: Task, values: Values, *, columns: Columns | None = None, scope: FieldScope = "item"
) -> tuple[Rule, ...]:
    """Return the rules of the task that these values break, in the task's order.

    Args:
        task: the task with the rules.
        values: the values of one item's fields, or of the HIT's.
        columns: the item's columns, for rules that compare with them.
        scope: the scope of these fields.
    """
    return tuple(
        rule
        for rule in _rules_of(task, scope)
        if not RULE_KINDS[rule.kind].holds(values, rule, columns or {})
    )


@lru_cache(maxsize=128)
def _rules_of(task: Task, scope: FieldScope) -> tuple[Rule, ...]:
    names = {field.name for field in task.fields if field.scope == scope}
    return tuple(rule for rule in task.rules if rule.field in names)


def parameter_faults(kind: str, parameters: Parameters) -> list[str]:
    """What is wrong with a rule's kind and parameters, one sentence each."""
    if kind not in RULE_KINDS:
        return [f"kind {kind!r} is not one of {', '.join(RULE_KINDS)}"]
    types = RULE_KINDS[kind].parameters
    return [
        *(f"kind {kind} needs the parameter {name}" for name in types if name not in parameters),
        *(f"kind {kind} has no parameter {name}" for name in parameters if name not in types),
        *(
            f"parameter {name} must be {_TYPE_NAMES[types[name]]}, not {value!r}"
            for name, value in parameters.items()
            if name in types and not _is_of_type(value, types[name])
        ),
    ]


_TYPE_NAMES = {int: "a whole number from 1", str: "a text", list: "a list of texts"}


def _is_of_type(value: object, expected: type) -> bool:
    if expected is int:
        return isinstance(value, int) and not isinstance(value, bool) and value > 0
    if expected is list:
        return isinstance(value, list | tuple) and all(
            isinstance(part, str) and part for part in value
        )
    return isinstance(value, str) and bool(value)


def _text(values: Values, name: str) -> str:
    value = values.get(name, "")
    if isinstance(value, float):
        return f"{value:g}"
    return plain(value if isinstance(value, str) else " ".join(value))


def chosen(values: Values, name: str) -> tuple[str, ...]:
    """Return the options chosen in a field; empty if the field is absent."""
    value = values.get(name, ())
    if isinstance(value, float):
        return ()
    if isinstance(value, str):
        return (value,) if value else ()
    return tuple(value)


def _number(rule: Rule, name: str) -> int:
    return int(str(rule.parameters[name]))


@lru_cache(maxsize=256)
def _points(rule: Rule) -> Points:
    return Points(**{name: frozenset(_texts(rule, name)) for name in _POINTS})


@lru_cache(maxsize=256)
def _texts(rule: Rule, name: str) -> tuple[str, ...]:
    stated = rule.parameters[name]
    if not isinstance(stated, list | tuple):
        raise TypeError(f"rule {rule.name}: {name} is not a list")
    return tuple(map(str, stated))


def _required(values: Values, rule: Rule, _columns: Columns) -> bool:
    return _text(values, rule.field) != ""


def _min_words(values: Values, rule: Rule, _columns: Columns) -> bool:
    text = _text(values, rule.field)
    return text == "" or len(words(text)) >= _number(rule, "minimum")


def _max_words(values: Values, rule: Rule, _columns: Columns) -> bool:
    return len(words(_text(values, rule.field))) <= _number(rule, "maximum")


def _max_capitals(values: Values, rule: Rule, _columns: Columns) -> bool:
    cased = [letter for letter in _text(values, rule.field) if letter.lower() != letter.upper()]
    capitals = sum(letter != letter.lower() for letter in cased)
    is_long = len(cased) >= _FEWEST_LETTERS
    return not is_long or 100 * capitals <= _number(rule, "maximum") * len(cased)


def _max_length(values: Values, rule: Rule, _columns: Columns) -> bool:
    return len(_text(values, rule.field)) <= _number(rule, "maximum")


def _one_sentence(values: Values, rule: Rule, _columns: Columns) -> bool:
    return is_one_sentence(_text(values, rule.field), _points(rule))


def _banned_prefixes(values: Values, rule: Rule, _columns: Columns) -> bool:
    return not begins_with(_text(values, rule.field), _texts(rule, "prefixes"))


def _exclusive_option(values: Values, rule: Rule, _columns: Columns) -> bool:
    ticked = chosen(values, rule.field)
    return rule.parameters["option"] not in ticked or len(set(ticked)) == 1


def _text_with_option(values: Values, rule: Rule, columns: Columns) -> bool:
    ticked = chosen(values, str(rule.parameters["chosen_in"]))
    return rule.parameters["option"] not in ticked or _required(values, rule, columns)


def _most_chosen(values: Values, rule: Rule, _columns: Columns) -> bool:
    return len(set(chosen(values, rule.field))) <= _number(rule, "maximum")


def _must_choose(values: Values, rule: Rule, _columns: Columns) -> bool:
    return rule.parameters["option"] in chosen(values, rule.field)


def _edited_with_option(values: Values, rule: Rule, columns: Columns) -> bool:
    ticked = chosen(values, str(rule.parameters["chosen_in"]))
    text = _text(values, rule.field)
    if not ticked or text == "":
        return True
    before = columns.get(str(rule.parameters["column"]), "")
    return (rule.parameters["option"] in ticked) != is_same(before, text)


def _few_words_changed(values: Values, rule: Rule, columns: Columns) -> bool:
    text = _text(values, rule.field)
    before = columns.get(str(rule.parameters["column"]), "")
    most = _number(rule, "maximum")
    return text == "" or size_of_changes(changes_of(before, text)) <= most


def _words_within(values: Values, rule: Rule, columns: Columns) -> bool:
    text = _text(values, rule.field)
    if text == "" or columns.get(str(rule.parameters["where"])) not in _texts(rule, "among"):
        return True
    before = columns.get(str(rule.parameters["column"]), "")
    return stays_within(changes_of(before, text), _texts(rule, "groups"))


_FEWEST_LETTERS = 4
"""A text with fewer, such as "TV", may be in capitals."""

_POINTS = ("abbreviations", "before_number", "after_number", "names")
_TEXT = ("text",)

RULE_KINDS: Mapping[str, RuleKind] = {
    "required": RuleKind(
        parameters={}, field_kinds=("text", "choice", "choices", "number"), holds=_required
    ),
    "min_words": RuleKind(parameters={"minimum": int}, field_kinds=_TEXT, holds=_min_words),
    "max_words": RuleKind(parameters={"maximum": int}, field_kinds=_TEXT, holds=_max_words),
    "max_capitals": RuleKind(parameters={"maximum": int}, field_kinds=_TEXT, holds=_max_capitals),
    "max_length": RuleKind(parameters={"maximum": int}, field_kinds=_TEXT, holds=_max_length),
    "one_sentence": RuleKind(
        parameters=dict.fromkeys(_POINTS, list), field_kinds=_TEXT, holds=_one_sentence
    ),
    "banned_prefixes": RuleKind(
        parameters={"prefixes": list}, field_kinds=_TEXT, holds=_banned_prefixes
    ),
    "exclusive_option": RuleKind(
        parameters={"option": str}, field_kinds=("choices",), holds=_exclusive_option
    ),
    "text_with_option": RuleKind(
        parameters={"chosen_in": str, "option": str}, field_kinds=_TEXT, holds=_text_with_option
    ),
    "most_chosen": RuleKind(
        parameters={"maximum": int}, field_kinds=("choices",), holds=_most_chosen
    ),
    "edited_with_option": RuleKind(
        parameters={"column": str, "chosen_in": str, "option": str},
        field_kinds=_TEXT,
        holds=_edited_with_option,
    ),
    "few_words_changed": RuleKind(
        parameters={"column": str, "maximum": int}, field_kinds=_TEXT, holds=_few_words_changed
    ),
    "words_within": RuleKind(
        parameters={"column": str, "where": str, "among": list, "groups": list},
        field_kinds=_TEXT,
        holds=_words_within,
    ),
    "must_choose": RuleKind(
        parameters={"option": str}, field_kinds=("choice", "choices"), holds=_must_choose
    ),
}


_AROUND = re.compile(f"^[{_NO_WORD}]+|[{_NO_WORD}]+$")


def compared_words(text: str) -> list[str]:
    """Return the words that count when two texts are compared.

    >>> compared_words('A "red" cat.')
    ['a', 'red', 'cat']
    """
    return [_AROUND.sub("", word).lower() for word in words(text)]


def changes_of(before: str, after: str) -> tuple[Change, ...]:
    """Return the changes, as runs of words."""
    return changes(compared_words(before), compared_words(after))


def is_same(before: str, after: str) -> bool:
    """Return whether the text was left unchanged."""
    return plain(before) == plain(after)


def stays_within(made: Sequence[Change], groups: Sequence[str]) -> bool:
    """Return whether each word was replaced by one of its group, one for one.

    Args:
        made: the changes.
        groups: each a group of interchangeable words, separated by spaces.
    """
    word_sets = [frozenset(group.split()) for group in groups]
    return all(
        len(change.removed) == len(change.inserted)
        and all(
            any(old in group and new in group for group in word_sets)
            for old, new in zip(change.removed, change.inserted, strict=True)
        )
        for change in made
    )
