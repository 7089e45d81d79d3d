"""What a campaign file states about a generic task besides its question.

`piecework.hit_templates.generic` says which of it belongs to which task.
"""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, model_validator

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


class ScaleTable(BaseModel):
    """`[scale]`: the numbers that the task `rate` offers."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    minimum: Annotated[int, Field(ge=-1_000, le=1_000)] = 1
    maximum: Annotated[int, Field(ge=-1_000, le=1_000)] = 5
    low: Words | None = None
    high: Words | None = None


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
