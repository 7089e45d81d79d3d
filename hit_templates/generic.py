"""Builds the tasks whose question, options and examples are in the campaign file.

All but `tag` share a page (`_generic/question.html.j2`). What the campaign file states
becomes the document that a task's folder would hold, and is validated in the same way.
Any columns of the items are shown: how, their cells decide.
"""

import hashlib
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import islice
from pathlib import PurePosixPath
from urllib.parse import quote, urlsplit

from piecework.domain.errors import ConfigError
from piecework.domain.hit import is_picture
from piecework.domain.pictures import PictureLocation
from piecework.domain.task import (
    GOLD,
    MADE_BY,
    MIXED_IN,
    PRACTICE,
    TRUTH,
    TWIN,
    TWIN_REVERSED,
    OwnFiles,
    Part,
    PartKind,
    Task,
    WorkedExample,
)
from piecework.domain.text import did_you_mean, plural
from piecework.foundation.media_types import suffixes_of
from piecework.hit_templates.answers import typed, value_problems
from piecework.hit_templates.item_faults import TRANSCRIBED
from piecework.hit_templates.jinja_helpers import filled
from piecework.hit_templates.messages import FOLDER, frame_texts, messages, table_in
from piecework.hit_templates.own_html.task import ITEM_ID
from piecework.hit_templates.rules import check
from piecework.hit_templates.tasks import built, load_task
from piecework.hit_templates.templates import QUESTION

MOST_OPTIONS = 50
ITEMS_PER_HIT = 5
ANSWER = "answer"
"""The name of the field of every generic task."""

_OWN = FOLDER / "_generic"
_VERSION = 1
_MOST_STEPS = 100
_HOUR = 3600
_LONGEST_TITLE = 120
_ALWAYS = {"question", "instructions", "examples"}
_KEYS: Mapping[str, Collection[str]] = {
    "choose": {*_ALWAYS, "options", "several"},
    "compare": {*_ALWAYS, "options"},
    "describe": {*_ALWAYS, "text"},
    "rate": {*_ALWAYS, "options", "scale"},
    "tag": {"question", "instructions", "options"},
    "transcribe": {*_ALWAYS, "text"},
}
OF_TEXTS = frozenset({"describe", "transcribe"})
"""Tasks that ask for a text, and have a question of their own."""
KEYS = sorted(set().union(*_KEYS.values()))
"""The keys of a campaign file that only generic tasks have."""

Row = Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class TextRules:
    """What a text must obey; `None`, empty or false: no such rule."""

    min_words: int | None = None
    max_words: int | None = None
    max_characters: int | None = None
    max_capitals_percent: int | None = None
    one_sentence: bool = False
    banned_beginnings: tuple[str, ...] = ()
    canned: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """Whole numbers from `minimum` to `maximum`, with words for the ends."""

    minimum: int
    maximum: int
    low: str = ""
    high: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What a campaign file states about a generic task.

    Attributes:
        stated: the keys of `KEYS` that are in the file.
        options: value and label of each.
        examples: the cells of an item, with `answer` and perhaps `because`.
        seconds: the expected time for a HIT, if stated.
        seen_in_hit: how many items that HIT shows; fewer than there may be if a batch has
            fewer.
        hidden: columns that workers do not see.
        pictures: where the marketplace gets pictures from that are named without a host.
        path: of the campaign file.
    """

    kind: str
    stated: Collection[str]
    path: str
    question: str | None = None
    instructions: tuple[str, ...] = ()
    options: tuple[tuple[str, str], ...] = ()
    several: bool = False
    scale: Scale | None = None
    examples: tuple[Row, ...] = ()
    text: TextRules | None = None
    description: str = ""
    reward_cents: int = 1
    seconds: float | None = None
    items_per_hit: int = ITEMS_PER_HIT
    seen_in_hit: int = ITEMS_PER_HIT
    hidden: Collection[str] = ()
    pictures: PictureLocation | None = None
    language: str = "en"


def faults_of_keys(kind: str, stated: Collection[str]) -> list[str]:
    """Return which keys do not belong to a task, each in a sentence with the key first."""
    faults = []
    for key in (name for name in KEYS if name in stated and name not in _KEYS.get(kind, ())):
        fitting = " or ".join(f'"{name}"' for name in _KEYS if key in _KEYS[name])
        faults.append(f"{key}: goes with task = {fitting}, not with {kind!r}; remove it")
    return faults


def generic_task(asked: Asked, rows: Sequence[Row], *, grows: bool = False) -> Task:
    """Return the task that the file states, for items with these columns.

    Args:
        asked: what the file states.
        rows: the items' rows, or the first of them.
        grows: more rows may arrive, so a cell may be empty in any column.

    Raises:
        ConfigError: each fault begins with its key.
    """
    faults = [*faults_of_keys(asked.kind, asked.stated), *faults_of_stated(asked)]
    parts = shown_parts(asked, rows, grows=grows)
    if rows:
        faults += _faults_of_parts(asked, parts, rows)
    if faults:
        raise ConfigError(faults)
    words = messages(_OWN, asked.language)
    texts = {name: str(text) for name, text in table_in(words, "texts").items()}
    raw = _raw(asked, parts, texts, table_in(words, "rules"), id_column(rows))
    frame = frame_texts(asked.language)
    has_picture = any(part.kind == "picture" and not part.is_option for part in parts)
    texts["noun"] = frame["noun_with_picture" if has_picture else "noun"]
    task = built(raw, name=asked.kind, language=asked.language, texts=texts)
    if isinstance(task, list):
        raise ConfigError([f"task: {fault}" for fault in task])
    task = replace(
        task,
        is_generic=True,
        # Numbers to choose from are codes; only those of "rate" are grades.
        fields=tuple(replace(field, is_nominal=asked.kind != "rate") for field in task.fields),
        parts=parts,
        instructions=asked.instructions,
        own=own_files(asked),
        examples=tuple(_worked(asked, row, task, parts) for row in asked.examples),
    )
    if faults := [*_faults_of_canned(task), *_faults_of_examples(asked, task, parts)]:
        raise ConfigError(faults)
    return task


def faults_of_stated(asked: Asked) -> Iterator[str]:
    """Yield what is wrong with the question, the options and the scale alone."""
    if asked.kind not in OF_TEXTS and asked.question is None:
        yield f'question: is missing; write what {asked.kind!r} asks: question = "..."'
    if asked.kind == "rate" and ("options" in asked.stated) == ("scale" in asked.stated):
        yield (
            "scale: write the numbers, scale = [1, 5], or the steps in "
            "words as options, and only one of them"
        )
    if asked.scale is not None and not 0 < asked.scale.maximum - asked.scale.minimum <= _MOST_STEPS:
        yield f"scale: the second number must be 1 to {_MOST_STEPS} above the first"
    if "options" in asked.stated or asked.kind in {"choose", "compare", "tag"}:
        yield from _faults_of_options(asked)


def _faults_of_options(asked: Asked) -> Iterator[str]:
    many = len(asked.options)
    if many < (1 if asked.kind == "tag" else 2):
        there = plural(many, "option") if many else "none"
        yield f'options: there must be two or more, but there is {there}: options = ["yes", "no"]'
    if many > MOST_OPTIONS:
        yield (
            f"options: there are {many}; a page can offer {MOST_OPTIONS} at most: keep those, "
            'or ask for a text with task = "describe"'
        )
    for place, what in ((0, "value"), (1, "label")):
        seen = Counter(" ".join(option[place].split()).casefold() for option in asked.options)
        twice = [text for text, times in seen.items() if times > 1]
        yield from (f"options: the {what} {text!r} is there twice; remove one" for text in twice)
        if twice:
            return
    numbered = enumerate(asked.options, start=1)
    faults = (_fault_of_option(asked, value, str(number)) for number, (value, _) in numbered)
    yield from islice(filter(None, faults), 1)


def _fault_of_option(asked: Asked, value: str, number: str) -> str:
    in_words, is_number = _is_in_words(asked), bool(_INTEGER.fullmatch(value))
    pair = '{ value = "...", label = "..." }'
    if "|" in value or "\n" in value:
        return f"options: {value!r} has a | or a line break; state another value: {pair}"
    if asked.kind == "rate" and not (in_words or is_number):
        return f"options: the values of grades are whole numbers, not {value!r}"
    if in_words and is_number and value != number:
        return f"options: {value!r} among words would count as {number}, its place; write {pair}"
    return ""


_INTEGER = re.compile("-?[0-9]+")


def _is_in_words(asked: Asked) -> bool:
    """Return whether the steps of a scale are words, which get the numbers from 1 on."""
    are_numbers = all(_INTEGER.fullmatch(value) for value, _ in asked.options)
    is_plain = all(value == label for value, label in asked.options)
    return asked.kind == "rate" and is_plain and not are_numbers


_IDS = frozenset({ITEM_ID, "id"})
_NOT_SHOWN = frozenset({PRACTICE, TWIN, TWIN_REVERSED, MIXED_IN})
_SOUNDS, _FILMS = suffixes_of("audio"), suffixes_of("video")
_NAMES_OF_PICTURES = re.compile(r"^url$|(image|picture|photo|img|thumbnail|logo)", re.IGNORECASE)


def id_column(rows: Sequence[Row]) -> str:
    """Return the column with the items' ids; `item_id` if the rows are numbered.

    >>> id_column([{"review_id": "a", "text": "x"}, {"review_id": "b", "text": "x"}])
    'review_id'
    """
    header = list(rows[0]) if rows else []
    for name in header:
        if name.lower() in _IDS:
            return name
    for name in (name for name in header if name.lower().endswith("_id")):
        cells = [row.get(name, "").strip() for row in rows]
        if all(cells) and len(set(cells)) == len(cells):
            return name
    return ITEM_ID


def shown_parts(asked: Asked, rows: Sequence[Row], *, grows: bool) -> tuple[Part, ...]:
    """Return what a page shows of the items, in the order of the file."""
    header = list(dict.fromkeys(name for row in rows for name in row))
    values = {value for value, _ in asked.options} if asked.kind == "compare" else set()
    own = {id_column(rows), *_NOT_SHOWN, *asked.hidden}
    parts = []
    for name in header:
        # A table that pandas wrote has a first column without a name.
        if not name.strip() or name in own or name.startswith((TRUTH, GOLD, MADE_BY)):
            continue
        cells = [row.get(name, "").strip() for row in rows]
        lacks = name not in values and (grows or not all(cells))
        kind = _kind(name, list(filter(None, cells)), has_files=asked.pictures is not None)
        parts.append(Part(column=name, kind=kind, may_lack=lacks, is_option=name in values))
    return tuple(parts)


def _kind(name: str, cells: Sequence[str], *, has_files: bool) -> PartKind:
    """Return how a column is shown: as what all its cells are."""
    is_named = bool(_NAMES_OF_PICTURES.search(name))
    # Without a folder of pictures, a sentence that ends as a file's name is a text.
    if not cells or (not (has_files or is_named) and any(" " in cell for cell in cells)):
        return "text"
    if all(is_picture(cell) and ("://" not in cell or _is_address(cell)) for cell in cells):
        return "picture"
    if not all(map(_is_address, cells)):
        return "text"
    endings = {PurePosixPath(urlsplit(cell).path).suffix.lower() for cell in cells}
    if is_named or endings <= _SOUNDS:
        return "picture" if is_named else "audio"
    return "video" if endings <= _FILMS else "link"


def _is_address(cell: str) -> bool:
    try:
        parts = urlsplit(cell)
    except ValueError:
        return False
    return parts.scheme in {"http", "https"} and bool(parts.hostname) and " " not in cell


def _faults_of_parts(asked: Asked, parts: Sequence[Part], rows: Sequence[Row]) -> Iterator[str]:
    shown = [part.column for part in parts]
    header = ", ".join(rows[0])
    if not parts:
        yield f"items: no column can be shown; the columns are {header}"
    elif asked.kind == "transcribe" and not any(part.kind in TRANSCRIBED for part in parts):
        yield (
            "items: workers transcribe a sound, a video or a picture, and no column has "
            f"addresses of any; the columns are {header}"
        )
    if asked.kind != "compare" or len(asked.options) < 2:  # noqa: PLR2004 - a choice
        return
    named = [part.column for part in parts if part.is_option]
    if len(named) < 2:  # noqa: PLR2004 - a comparison
        other = next((value for value, _ in asked.options if value not in shown), "")
        yield (
            "options: name the columns to compare, two or more"
            f"{did_you_mean(other, shown) or '.'} The columns are {header}"
        )
    labelled = [value for value, label in asked.options if value in named and label != value]
    yield from (f"options: {value!r} shows its column, so it takes no label" for value in labelled)


def title_of(question: str) -> str:
    """Return the title of a HIT that asks this."""
    return question if len(question) <= _LONGEST_TITLE else f"{question[:_LONGEST_TITLE]}…"


def _raw(
    asked: Asked,
    parts: Sequence[Part],
    texts: Mapping[str, str],
    of_rules: Mapping[str, object],
    id_name: str,
) -> dict[str, object]:
    """Return the document that a folder of this task would hold."""
    question = asked.question or texts[f"{asked.kind}_picture" if _is_seen(parts) else asked.kind]
    field = _field(asked, parts) | {"name": ANSWER, "label": question}
    kind = str(field["kind"])
    begins = min(9.0, (asked.seconds or _HOUR) / 2)
    own_pace = 45.0 if kind == "text" else 12.0 + 6.0 * (asked.kind == "compare")
    return {
        "version": _VERSION,
        "title": title_of(question),
        "description": asked.description or question,
        "keywords": [],
        "columns": [id_name, *(part.column for part in parts if not part.may_lack)],
        "optional_columns": [part.column for part in parts if part.may_lack],
        "items_per_hit": asked.items_per_hit,
        "reward_cents": asked.reward_cents,
        "assignment_duration_seconds": _HOUR,
        "seconds_to_begin": begins,
        "seconds_per_item": (
            (asked.seconds - begins) / asked.seen_in_hit if asked.seconds else own_pace
        ),
        "shuffles_items": True,
        "main_text": ANSWER if kind == "text" else "",
        "canned_text": (asked.text.canned or "") if asked.text else "",
        "fields": [field],
        "rules": [
            {
                "name": f"{ANSWER}_{rule}",
                "kind": rule,
                "field": ANSWER,
                "parameters": parameters,
                "message": filled(
                    str(of_rules[f"{rule}_{kind}" if rule == "required" else rule]), **words
                ),
            }
            for rule, parameters, words in _rules(asked)
        ],
        "aggregates": [
            {"field": ANSWER, "kind": _AGGREGATES[combined]}
            for combined in [{"rate": "number", "transcribe": asked.kind}.get(asked.kind, kind)]
            if combined in _AGGREGATES
        ],
        "heuristics": {"too_fast": {"min_seconds": 2.0}},
    }


_AGGREGATES = {
    "choice": "majority",
    "choices": "shares",
    "number": "mean",
    "transcribe": "transcript",
}


def _is_seen(parts: Sequence[Part]) -> bool:
    """Return whether the items are pictures and nothing else."""
    return bool(parts) and all(part.kind == "picture" for part in parts)


def _field(asked: Asked, parts: Sequence[Part]) -> dict[str, object]:
    """Return kind and options of the field, as a task's file would state them."""
    if asked.kind in OF_TEXTS:
        return {"kind": "text"}
    if asked.scale is not None:
        ends = {"low_label": asked.scale.low, "high_label": asked.scale.high}
        numbers = {"minimum": asked.scale.minimum, "maximum": asked.scale.maximum, "step": 1}
        return {"kind": "number", "expects_variation": True, **numbers, **ends}
    shown = {part.column for part in parts if part.is_option}
    options: list[dict[str, object]] = []
    for number, (value, label) in enumerate(asked.options, start=1):
        if value in shown:
            options.append({"value": value, "column": value})
        else:
            own = str(number) if _is_in_words(asked) else value
            options.append({"value": own, "label": label, "last": bool(shown)})
    return {
        "kind": "choices" if asked.several else "choice",
        "options": options,
        "shuffled": bool(shown),
        "expects_variation": True,
    }


def _rules(asked: Asked) -> Iterator[tuple[str, dict[str, object], dict[str, object]]]:
    """Yield kind, parameters and the words of the message of each rule."""
    yield "required", {}, {}
    text = asked.text
    if text is None:
        return
    if text.min_words is not None:
        yield "min_words", {"minimum": text.min_words}, {"minimum": text.min_words}
    if text.max_words is not None:
        yield "max_words", {"maximum": text.max_words}, {"maximum": text.max_words}
    if text.max_characters is not None:
        limit = text.max_characters
        yield "max_length", {"maximum": limit}, {"maximum": f"{limit:,}"}
    if text.max_capitals_percent is not None:
        yield "max_capitals", {"maximum": text.max_capitals_percent}, {}
    if text.one_sentence:
        yield "one_sentence", _words_with_points(), {}
    if text.banned_beginnings:
        words = ", ".join(f"“{words}”" for words in text.banned_beginnings)
        yield "banned_prefixes", {"prefixes": list(text.banned_beginnings)}, {"words": words}


@cache
def _words_with_points() -> dict[str, object]:
    """Return the words after which a period ends no sentence, as captions have them."""
    rule = next(rule for rule in load_task("caption").rules if rule.kind == "one_sentence")
    return dict(rule.parameters)


def own_files(asked: Asked) -> OwnFiles:
    """Return what binds HITs to the texts that the file states."""
    stated = {name: repr(getattr(asked, name)) for name in KEYS if name in asked.stated}
    stated["language"] = asked.language
    whole = repr((asked.kind, _VERSION, sorted(stated.items())))
    return OwnFiles(
        path=asked.path,
        digest=hashlib.sha256(whole.encode()).hexdigest(),
        templates={QUESTION: (_OWN / QUESTION).read_text("utf-8")},
        digests={
            name: hashlib.sha256(text.encode()).hexdigest()[:8] for name, text in stated.items()
        },
    )


def _worked(asked: Asked, row: Row, task: Task, parts: Sequence[Part]) -> WorkedExample:
    cells = {part.column: row[part.column] for part in parts if part.column in row}
    shown = [part.column for part in parts if part.kind == "picture" and part.column in cells]
    inside = {name: asked.pictures.name_of(cells[name]) for name in shown} if asked.pictures else {}
    cells |= {name: f"/pictures/{quote(path)}" for name, path in inside.items() if path}
    labels = {option.value: option.label for option in task.fields[0].options if option.label}
    answers = [labels.get(answer, answer) for answer in _answer(row, task).split("|")]
    return WorkedExample(cells=cells, answer=", ".join(answers), because=row.get("because", ""))


def _answer(row: Row, task: Task) -> str:
    """Return the answer of an example; grades in words have numbers as their values."""
    values = {option.label: option.value for option in task.fields[0].options if option.label}
    return values.get(row[ANSWER], row[ANSWER])


def _faults_of_canned(task: Task) -> list[str]:
    broken = check(task, {ANSWER: task.canned_text}) if task.canned_text else ()
    return [f"text.canned: it breaks {rule.name.removeprefix(ANSWER + '_')}" for rule in broken]


def _faults_of_examples(asked: Asked, task: Task, parts: Sequence[Part]) -> Iterator[str]:
    known = [part.column for part in parts]
    field = task.fields[0]
    for place, row in enumerate(asked.examples):
        columns = [name for name in row if name not in {ANSWER, "because"}]
        # Without rows, the columns are not known yet.
        for name in (name for name in columns if known and name not in known):
            meant = did_you_mean(name, known) or f"; there are {', '.join(known)}"
            yield f"examples.{place}: no column {name!r} is shown{meant}"
        value = typed(field, _answer(row, task))
        if value is None or value_problems(field, value, dict.fromkeys(known, "x")):
            yield f"examples.{place}: the answer {row[ANSWER]!r} cannot be chosen"
        elif broken := check(task, {ANSWER: value}):
            yield f"examples.{place}: the answer is one that the page refuses: {broken[0].message}"
