"""What a campaign file states about a generic task besides its question.

`piecework.hit_templates.generic` says which of it belongs to which task.
"""

import re
from typing import Annotated

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from piecework.config.named import Words


def as_option(value: object) -> object:
    """Return an option with its value and its label.

    Raises:
        ValueError: it is neither a text nor a value with a label.
    """
    stated = {"value": value} if isinstance(value, str) else value
    if not isinstance(stated, dict) or not {"value"} <= stated.keys() <= {"value", "label"}:
        raise ValueError('an option is a text, or { value = "...", label = "..." }')
    if not all(isinstance(text, str) and text.strip() for text in stated.values()):
        raise ValueError("an option is a text that is not empty; write its words, or remove it")
    return {"label": stated["value"], **stated}


def as_example(value: object) -> object:
    """Return an example with its cells as texts.

    Raises:
        ValueError: it has no answer, or a cell that is neither text nor a number.
    """
    if not isinstance(value, dict) or not value.get("answer"):
        raise ValueError('an example has the columns of an item and answer = "..."')
    if not all(isinstance(cell, str | int | float) for cell in value.values()):
        raise ValueError("the cells of an example are texts or numbers")
    return {name: str(cell) for name, cell in value.items()}


_FURTHEST = 1_000
_EXAMPLE = 'write both ends, scale = [1, 5], or with words, scale = ["1 bad", "5 good"]'


def _ends(value: object) -> object:
    """Return both ends of a scale as texts, such as `1 bad`.

    Raises:
        ValueError: it is not two ends, or an end does not begin with a whole number.
    """
    if not isinstance(value, list | tuple) or len(value) != 2:  # noqa: PLR2004 - two ends
        raise ValueError(_EXAMPLE)
    ends = [" ".join(str(end).split()) for end in value]
    for end, stated in zip(ends, value, strict=True):
        is_of_type = isinstance(stated, str | int) and not isinstance(stated, bool)
        if not is_of_type or not re.fullmatch(r"-?[0-9]{1,9}( .*)?", end):
            raise ValueError(f"{_EXAMPLE}; each end begins with a whole number")
        if abs(scale_end(end)[0]) > _FURTHEST:
            raise ValueError(f"an end is at most {_FURTHEST:,} away from 0; {end!r:.60} is not")
    return ends


def scale_end(end: str) -> tuple[int, str]:
    """Return the number of an end of a scale, and its words.

    >>> scale_end("5 very clear"), scale_end("-2")
    ((5, 'very clear'), (-2, ''))
    """
    number, _, words = end.partition(" ")
    return int(number), words


Scale = Annotated[tuple[Words, Words], BeforeValidator(_ends)]
"""`scale`: both ends of the numbers that the task `rate` offers."""


class TextTable(BaseModel):
    """`[text]`: what a text of the task `describe` must obey."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    min_words: Annotated[int, Field(ge=1, le=1_000)] | None = None
    max_words: Annotated[int, Field(ge=1, le=10_000)] | None = None
    max_characters: Annotated[int, Field(ge=1, le=50_000)] | None = None
    max_capitals_percent: Annotated[int, Field(ge=1, le=99)] | None = None
    one_sentence: bool = False
    banned_beginnings: Annotated[tuple[Words, ...], Field(max_length=100)] = ()
    canned: Words | None = None

    @model_validator(mode="after")
    def _can_be_written(self) -> "TextTable":
        if self.min_words and self.max_words and self.min_words > self.max_words:
            raise ValueError(
                f"min_words = {self.min_words} is more than max_words = {self.max_words}"
            )
        return self
