"""What was known when something was said; numbers of a sentence held to it."""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from piecework.domain.campaign import Campaign
from piecework.domain.field import Field
from tests.end_to_end.evidence.comparing import Comparison, compare
from tests.end_to_end.evidence.features import features
from tests.end_to_end.evidence.raw_answers import RawAnswer, firsts, words

Match = re.Match[str]
Rating = frozenset[str] | float

FlagEvidence = tuple[float, str]
Flags = Mapping[tuple[str, str], Mapping[str, FlagEvidence]]
"""By kind and id of a subject, by heuristic, suspicion and evidence of its flag; the
joined suspicion, where something is told of it."""


def is_near(number: str, value: float) -> bool:
    """Whether a number is the value, rounded to the decimals that are told."""
    number = number.replace(",", "")
    decimals = len(number.partition(".")[2])
    return abs(float(number) - value) <= 0.5 * 10.0**-decimals + 1e-6


def is_share(share: str, part: float, whole: float) -> bool:
    """Whether a percentage is that of the part; 0 and 100 are exact."""
    exact = part / whole
    if share.startswith((">", "<")):
        limit = float(share[1:-2]) / 100
        return (limit < exact < 1) if share[0] == ">" else (0 < exact < limit)
    percent = share.removesuffix(" %")
    is_whole = {"100.0": exact == 1, "0.0": exact == 0}.get(percent, 0 < exact < 1)
    return is_near(percent, 100 * exact) and is_whole


def is_quote(quote: str, text: str) -> bool:
    """Whether a quotation is the text, on one line, or its beginning."""
    line = " ".join(text.split())
    return line == quote or (quote.endswith("…") and line.startswith(quote[:-1]))


@dataclass(frozen=True, kw_only=True, eq=False)
class World:
    """What was known when something was said.

    Attributes:
        answers: that had come in.
        flags: that stood.
    """

    campaign: Campaign
    answers: Sequence[RawAnswer]
    flags: Flags

    def param(self, heuristic: str, name: str, default: float | str) -> Any:  # noqa: ANN401 - as the file has it
        """A parameter of the campaign's file, or what the documentation says it is."""
        own = self.campaign.heuristics.get(heuristic) or {}
        return own.get(name, default)

    def runs(self, heuristic: str) -> bool:
        """Whether the campaign's file leaves a heuristic on that runs by default."""
        return self.campaign.heuristics.get(heuristic, {}) is not None

    @cached_property
    def field_by_name(self) -> Mapping[str, Field]:
        """What is asked about an item."""
        return {field.name: field for field in self.campaign.task.item_fields}

    @cached_property
    def columns_of(self) -> Mapping[str, Mapping[str, str]]:
        """By item, its cells in the items file."""
        return {str(item.item_id): item.columns for item in self.campaign.items}

    @cached_property
    def firsts(self) -> Sequence[RawAnswer]:
        """The answers of which one counts for a worker and an item."""
        return firsts(self.answers)

    @cached_property
    def compared(self) -> Mapping[str, Comparison]:
        """By answer, how its text compares with the others of its batch."""
        comparison_of: dict[str, Comparison] = {}
        for batch in {answer.batch for answer in self.answers}:
            texts = [
                answer
                for answer in self.answers
                if answer.batch == batch and self.text(answer) and not self.is_canned(answer)
            ]
            comparison_of |= compare(texts, self.text)
        return comparison_of

    @cached_property
    def features(self) -> Mapping[str, Mapping[str, float]]:
        """By answer, what its text and its time say."""
        plain = {
            answer.answer_id: "" if self.is_canned(answer) else " ".join(words(self.text(answer)))
            for answer in self.answers
        }
        return features(self.answers, self.compared, plain)

    def text(self, answer: RawAnswer) -> str:
        """The task's main text."""
        return answer.sent.get(self.campaign.task.main_text, "")

    def is_canned(self, answer: RawAnswer) -> bool:
        """Whether the text is the page's own for what cannot be described."""
        canned = self.campaign.task.canned_text.strip().lower()
        return bool(canned) and self.text(answer).strip().lower() == canned

    def by_worker(self, answers: Iterable[RawAnswer]) -> dict[str, list[RawAnswer]]:
        """The answers of each worker."""
        groups = defaultdict[str, list[RawAnswer]](list)
        for answer in answers:
            groups[answer.worker_id].append(answer)
        return groups

    def value(self, field: Field, answer: RawAnswer) -> str:
        """What was answered; on a scale that was shown turned round, turned back."""
        value = answer.sent.get(field.name, "")
        if field.mirrored_by and value and self.is_turned(field, answer):
            values = [option.value for option in field.options]
            return dict(zip(values, reversed(values), strict=True))[value]
        return value

    def is_turned(self, field: Field, answer: RawAnswer) -> bool:
        """Whether the two sides were shown the other way round."""
        (sides,) = [
            arrangement.columns
            for arrangement in self.campaign.task.arrangements
            if arrangement.name == field.mirrored_by
        ]
        return answer.sent[f"order.{field.mirrored_by}"].split("|") != [*sides]

    def rated(self, field: Field) -> list[tuple[RawAnswer, Rating]]:
        """The answers that count and say something in a field."""
        own = [(answer, rating(field, self.value(field, answer))) for answer in self.firsts]
        return [(answer, rated) for answer, rated in own if rated is not None]


def rating(field: Field, value: str) -> Rating | None:
    """A place on the scale from 0 to 1, or the options chosen; None: nothing."""
    if not value:
        return None
    if field.kind == "number":
        return (float(value) - field.minimum) / (field.maximum - field.minimum)
    values = [option.value for option in field.options]
    is_coded = field.shuffled or field.is_nominal or not all(map(str.isdigit, values))
    grades = [] if is_coded else [*map(int, values)]
    if (
        field.kind == "choice"
        and len(grades) > 2
        and grades in (sorted(grades), sorted(grades)[::-1])
    ):
        return (int(value) - min(grades)) / (max(grades) - min(grades))
    return frozenset(value.split("|"))


def apart(first: Rating, other: Rating) -> float:
    """The distance on the scale, or 1 minus Jaccard's index."""
    if isinstance(first, frozenset) and isinstance(other, frozenset):
        return 1 - len(first & other) / len(first | other)
    assert isinstance(first, float)
    assert isinstance(other, float)
    return abs(first - other)


Check = Callable[[Match, Sequence[RawAnswer], World], bool]
"""Whether a sentence about a subject with these answers is true."""


class Claim(NamedTuple):
    """A kind of sentence that a heuristic says.

    Attributes:
        is_true: by what had come in.
        shows_why: whether the numbers of one that flags show why it does.
    """

    heuristic: str
    pattern: str
    is_true: Check
    shows_why: Callable[[Match, World], bool] = lambda _match, _world: True
