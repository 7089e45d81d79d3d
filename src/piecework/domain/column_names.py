"""The names of columns in everything that leaves the store.

A page or another tool names its answers as it likes: `width`, `色`, `q1.a` beside
`q1_a`. A dataset has columns of its own, and makes further ones from a field's name
(`mood_share`). The writers of tables take their fixed columns and endings from here,
and `ColumnNames` gives out each name once, so no two columns can share one.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Literal

from piecework.domain.assignment import TYPING
from piecework.domain.field import MERGED_KINDS, AggregateKind, Field

ColumnType = Literal["text", "whole", "number", "truth", "time", "texts"]
Columns = Mapping[str, ColumnType]
"""The types of a table's columns, in order."""

ANSWERS_BEGIN: Columns = {
    "answer_id": "text",
    "item_id": "text",
    "split": "text",
    "batch": "whole",
    "round": "whole",
    "position": "whole",
    "place": "whole",
}
ANSWERS_END: Columns = {
    "problems": "texts",
    "worker": "text",
    "shown_seconds": "number",
    "submitted_at": "time",
    "is_provisional": "truth",
}
EDITS = "edits"
SET_ASIDE: Columns = {
    "is_rejected": "truth",
    "rejected_because": "text",
    "is_surplus": "truth",
    "set_aside": "text",
}
CAPTIONS: Columns = {
    "answer_id": "text",
    "item_id": "text",
    "url": "text",
    "file_name": "text",
    "split": "text",
    "batch": "whole",
    "round": "whole",
    "position": "whole",
    "caption": "text",
    "caption_original": "text",
    "is_precanned": "truth",
    "is_rejected": "truth",
    "rejected_because": "text",
    "text_detected": "text",
    "flaws": "texts",
    "flaw_other": "text",
    "worker": "text",
    "shown_seconds": "number",
    "submitted_at": "time",
    EDITS: "text",
    "is_surplus": "truth",
    "is_provisional": "truth",
}
"""Columns of `captions.*`, in order; `set_aside.*` also has `set_aside`."""

OUTCOME = "outcome_elsewhere"
"""Additional column of imported answers: the decision where they were collected, as
that tool wrote it; '' without one."""

MARKET = "market"
"""Additional column if HITs went to several markets: the market that the worker came
from; '' for HITs without one."""

RELEASE, IS_WITHDRAWN = IN_SINKS = "piecework_release", "piecework_is_withdrawn"
"""Additional columns of a table in a database: the release that wrote a row; with history,
whether it removed the row. Few items or questions have columns of these names."""

ITEM, URL, SPLIT = "item_id", "url", "split"
PICTURE = FILE_NAME, WIDTH, HEIGHT = "file_name", "width", "height"
COUNT = "answers"
"""The number of answers about an item that count."""

OF_CONDITIONS: Columns = {
    "field": "text",
    "condition": "text",
    "inside": "text",
    "subjects": "whole",
    "mean": "number",
    "sd": "number",
    "low": "number",
    "high": "number",
}
OF_PARTICIPANTS = ("field", "value", "participants")

SENT, SENT_MORE = "sent_", "sent_more"
"""Begins the columns of what was sent and is no field; `SENT_MORE` is the rest."""

INPUT, ORDER_OF = "input_", "order_"
"""Begin the columns of an item's own columns, and of what the page shuffled."""

ORIGINAL = "_original"
SHARE, VOTES, MAJORITY = "_share", "_votes", "_majority"
LIKELIEST, PROBABILITY = "_likeliest", "_probability"
MEAN, SD, LOW, HIGH = "_mean", "_sd", "_low", "_high"
ADJUSTED, ADJUSTED_ERROR = "_adjusted", "_adjusted_error"
MERGED, AGREEMENT = "_merged", "_agreement"
SETTLED = "_settled_by_person"
"""Endings of columns that are made from a field's name."""

MEASURES = ("shown_ms", "pastes", "keystrokes", "focus_losses")
"""The counts that piecework's script sends for each item, as whole numbers."""

PLAYED = "played_part"
"""What it sends too if the page has a sound or video: how much of the item's longest was
played, per mille; in tables as a part of 1."""

ON_THE_PAGE = frozenset(
    {"item", "hit", "order", "practice", "comment", "task", TYPING, *MEASURES, PLAYED}
)
"""What the names of fields on a page may not be, since the page uses them itself."""

OF_DATASETS = frozenset(
    {
        *ANSWERS_BEGIN,
        *ANSWERS_END,
        *SET_ASIDE,
        *PICTURE,
        *IN_SINKS,
        *(ITEM, URL, SPLIT, COUNT, EDITS, OUTCOME, MARKET, PLAYED, SENT_MORE),
    }
)
"""The fixed columns of all tables with a column for each field."""

_RESERVED = ON_THE_PAGE | OF_DATASETS | {"text"}
_PREFIXES = (INPUT, ORDER_OF, SENT)
_LONGEST = 48
"""A name fits into 63 bytes, with an ending, if its letters are ASCII."""

_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


class ColumnNames:
    """Gives out names of columns, each only once."""

    def __init__(self, taken: Iterable[str] = ()) -> None:
        self._taken = {_key(name) for name in (*_RESERVED, *taken)}
        self._numbers = Counter[str]()

    def take(
        self,
        called: str,
        derived: Callable[[str], Iterable[str]] = lambda _: (),
        *,
        prefix: str = "",
    ) -> str:
        """Return a name for what is `called` so; no later name will equal it.

        Args:
            called: the name elsewhere: any text.
            derived: the names of columns that are made from a name.
            prefix: stands before the name; else, no name begins with a dataset's own
                prefixes.
        """
        word = f"{prefix}{column_word(called)}"
        if not prefix and word.startswith(_PREFIXES):
            word = f"answer_{word}"
        elif _key(word) in _RESERVED:
            word = f"{word}_answer"
        for name in self._candidates(word):
            names = {_key(made) for made in (name, *derived(name))}
            if not names & self._taken:
                self._taken |= names
                return name
        raise AssertionError("candidates do not end")

    def _candidates(self, word: str) -> Iterator[str]:
        while True:
            self._numbers[word] += 1
            number = self._numbers[word]
            yield word if number == 1 else f"{word}_{number}"


def column_word(called: str) -> str:
    """Return a name as a word of small letters, digits and _, in its own script.

    >>> column_word("Answer.fooBar"), column_word("色"), column_word("Größe (cm)")
    ('answer_foo_bar', '色', 'größe_cm')
    >>> column_word("2nd"), column_word("???")
    ('field_2nd', 'field')
    """
    text = unicodedata.normalize("NFKC", _CAMEL.sub("_", called)).lower()
    # Marks belong to their letters: the vowels of Hindi are marks. Format characters
    # (a joiner, a direction) are invisible, so they separate nothing.
    letters = "".join(
        char if kind in "LMN" else "" if name == "Cf" else " "
        for char in unicodedata.normalize("NFC", text)
        for name in [unicodedata.category(char)]
        for kind in [name[0]]
    )
    word = "_".join(letters.split())[:_LONGEST].rstrip("_")
    return word if word[:1].isalpha() else f"field_{word}".rstrip("_")


def derived_columns(
    field: Field, kinds: Collection[AggregateKind], *, is_main_text: bool = False
) -> list[str]:
    """Return the names of all columns that are made from a field, without its own.

    Args:
        field: the field.
        kinds: how its answers are combined.
        is_main_text: whether it is the task's main text, which is cleaned.
    """
    options = [option.value for option in field.options]
    endings: list[str] = [ORIGINAL] if is_main_text else []
    if "majority" in kinds:
        endings += [SHARE, LIKELIEST, PROBABILITY, SETTLED]
        endings += [f"{VOTES}_{option}" for option in options]
    if "shares" in kinds:
        endings += [MAJORITY, SETTLED]
        for ending in (SHARE, PROBABILITY):
            endings += [f"{ending}_{option}" for option in options]
    if "mean" in kinds:
        endings += [MEAN, SD, LOW, HIGH, VOTES, ADJUSTED, ADJUSTED_ERROR]
    if "best_edit" in kinds:
        endings += [SHARE, VOTES]
    if MERGED_KINDS & set(kinds):
        endings += [MERGED, AGREEMENT]
    return [f"{field.name}{ending}" for ending in endings]


def faults_of_names(
    fields: Iterable[Field],
    kinds: Mapping[str, Collection[AggregateKind]],
    *,
    main_text: str,
    columns: Iterable[str],
) -> list[str]:
    """Return which names of a task cannot all be columns of its dataset: clauses.

    A task's author chooses them, so they are not changed.

    Args:
        fields: of the task.
        kinds: how answers are combined, by field.
        main_text: the field that is cleaned, or "".
        columns: the items' columns that the dataset repeats.
    """
    owners = dict.fromkeys(map(_key, OF_DATASETS), "the dataset")
    faults = []
    for field in fields:
        made = derived_columns(
            field, kinds.get(field.name, ()), is_main_text=field.name == main_text
        )
        for name in (field.name, *made):
            owner = owners.setdefault(_key(name), f"the field {field.name}")
            if owner != f"the field {field.name}":
                faults.append(f"{field.name}: its column {name!r} is a column of {owner}")
    for name in columns:
        owner = owners.setdefault(_key(name), "")
        if owner:
            faults.append(f"the items' column {name!r} is a column of {owner}")
    return faults


def _key(name: str) -> str:
    """What two names have in common that a database or a file system takes as equal."""
    return unicodedata.normalize("NFC", name).casefold()
