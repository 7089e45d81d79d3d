"""The policy of a new campaign, depending on what its task asks.

Its rules never refuse pay: dropped answers are paid. A person sees flagged answers
first, because a new campaign file says `by = "person"`.
"""

from collections.abc import Iterator, Sequence

from piecework.domain.field import MERGED
from piecework.domain.hit import Item
from piecework.domain.task import GOLD, TWIN, Task
from piecework.domain.verdicts import PolicyRule
from piecework.qc.heuristics import quality_words
from piecework.qc.ratings import has_places
from piecework.qc.registry import is_on

_TWO_IN_FIVE = 0.4
_SENTENCES = frozenset({"min_words", "one_sentence"})
"""Kinds of rules that one word cannot satisfy."""

_SET_ASIDE = "Set aside: {evidence}."
_NOT_INVITED = "Not invited again: {evidence}."


def standard_rules(
    task: Task, items: Sequence[Item], *, asks_for_sentences: bool = False
) -> tuple[PolicyRule, ...]:
    """Return rules in order, depending on what the task asks and its items hold.

    Args:
        task: its fields and rules determine which heuristics can find anything.
        items: their columns show whether right answers or twins are known.
        asks_for_sentences: its question asks for sentences, though no rule wants words.
    """
    patterns = [*_patterns(task), *_by_items(items)] if _is_judged(task) else []
    texts = [*_about_texts(task, asks_for_sentences=asks_for_sentences)]
    # Speed says little where workers invent a text without reading one.
    hasty = ["too_fast"] if patterns else []
    dropped = ["rule_violation", *hasty, *texts, *_about_items(task), *patterns]
    return (
        PolicyRule(
            subject_kind="answer",
            any_of=tuple(dict.fromkeys(dropped)),
            then="drop",
            because=_SET_ASIDE,
        ),
        *_outside_study(task),
        *_canned(task),
        *_exclusions(patterns, texts),
        *_off_items(task),
    )


def _is_judged(task: Task) -> bool:
    return task.dataset != "captions" and any(
        field.kind != "text" or field.is_merged for field in task.item_fields
    )


def _patterns(task: Task) -> Iterator[str]:
    """Yield heuristics about workers who answer by a pattern or by chance."""
    fields = task.item_fields
    scales = [field for field in fields if has_places(field)]
    if any(
        (field.kind != "text" and field not in scales) or field.regions in MERGED.values()
        for field in fields
    ):
        yield "straight_line"
    if scales or any(field.mirrored_by for field in fields):
        yield "low_scale_variance"
    if task.arrangements or any(field.shuffled for field in fields):
        yield "same_place"
    if not all(field.is_opinion for field in fields if field.kind != "text" or field.is_merged):
        yield "low_agreement"
    if any(rule.is_question for rule in task.rules):
        yield "ignored_page_warnings"


def _by_items(items: Sequence[Item]) -> Iterator[str]:
    columns = {name for item in items for name, cell in item.columns.items() if cell}
    if any(name.startswith(GOLD) for name in columns):
        yield "gold_failed"
    if TWIN in columns:
        yield "contradiction"


def _about_texts(task: Task, *, asks_for_sentences: bool) -> Iterator[str]:
    if task.dataset == "captions" and task.language == "en":
        yield "capitals"
        if is_on(quality_words.NAME, task.heuristics):
            yield quality_words.NAME
    is_edited = any(aggregate.kind == "best_edit" for aggregate in task.aggregates)
    if is_edited:
        yield "not_typed"
    # A worker who names colours may rightly write "red" under every item. The same
    # sentence under every item is suspicious.
    wants_sentences = asks_for_sentences or any(rule.kind in _SENTENCES for rule in task.rules)
    if is_edited or wants_sentences:
        yield "same_sentence"


def _about_items(task: Task) -> Iterator[str]:
    """Yield heuristics about texts that share no words with others about the item."""
    if task.dataset == "captions":
        yield from ("sentence_off_items", "text_off_item")


def _outside_study(task: Task) -> Iterator[PolicyRule]:
    if any(option.excludes for field in task.fields for option in field.options):
        yield PolicyRule(
            subject_kind="answer",
            any_of=("outside_study",),
            then="drop",
            because="The study is about other people; you are still paid for taking part.",
        )


def _canned(task: Task) -> Iterator[PolicyRule]:
    if not task.canned_text:
        return
    yield PolicyRule(
        subject_kind="answer",
        any_of=("canned_share", "minority_canned"),
        at_least=2,
        then="drop",
        because=_SET_ASIDE,
    )
    yield PolicyRule(
        subject_kind="worker", any_of=("canned_share",), then="exclude", because=_NOT_INVITED
    )


def _off_items(task: Task) -> Iterator[PolicyRule]:
    """Exclude by all texts of a worker: one such text may show a sharper eye."""
    if task.dataset == "captions":
        yield PolicyRule(
            subject_kind="worker", any_of=("texts_off_items",), then="exclude", because=_NOT_INVITED
        )


def _exclusions(patterns: list[str], texts: list[str]) -> Iterator[PolicyRule]:
    if patterns:
        yield PolicyRule(
            subject_kind="worker", any_of=tuple(patterns), then="exclude", because=_NOT_INVITED
        )
    if texts:
        yield PolicyRule(
            subject_kind="worker",
            any_of=tuple(texts),
            share=_TWO_IN_FIVE,
            then="exclude",
            because="Not invited again: {flagged} of {answers} answers in one batch, "
            "such as: {evidence}.",
        )
