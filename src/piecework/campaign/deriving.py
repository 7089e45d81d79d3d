"""What a campaign file leaves out: derived from what it states, its task and its items.

`check` prints each derived value with its reason, and `check --full` the complete file,
which is the same campaign. What is derived depends only on the file and the files that it
names, never on the day: so two passes of the same files derive the same.

The rules of a new campaign depend on what its task asks. They never refuse pay: dropped
answers are paid. A person sees flagged answers first, because a new campaign file says
`by = "person"`.
"""

import math
import tomllib
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import date
from decimal import ROUND_CEILING, Decimal
from pathlib import Path
from typing import Any

from piecework.campaign.columns import match_columns
from piecework.campaign.dealing import first_rounds_cost_cents
from piecework.campaign.pricing import largest_hit, price
from piecework.campaign.warnings import not_used, within_reach
from piecework.config.campaign_file import CampaignFile, parse_text
from piecework.config.input_tables import is_read_as_it_arrives
from piecework.config.items_file import first_row, read_rows
from piecework.config.named import texts_of
from piecework.config.schema import CampaignTables
from piecework.config.schema_faults import as_written
from piecework.config.user_files import variables_in
from piecework.domain.campaign import Campaign, Derived, Rewards
from piecework.domain.errors import ConfigError
from piecework.domain.field import MERGED
from piecework.domain.hit import Item
from piecework.domain.inputs import Inputs
from piecework.domain.money import cents_to_wire
from piecework.domain.task import GOLD, MIXED_IN, PRACTICE, TWIN, Task
from piecework.domain.text import plural, without_secrets
from piecework.domain.toml_text import key_name, toml_document
from piecework.domain.verdicts import PolicyRule
from piecework.hit_templates.own_html.placeholders import template_of
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


_ROOM = Decimal("1.2")
"""A budget is a fifth more than the expected cost, rounded up to a whole unit."""

_BATCHES, _ITEMS_A_BATCH = 5, 10
"""Bad workers of one batch are kept out of the next, so there are several batches."""

_RULES = "decisions.rule"


def usual_batches(count: int, most_in_hit: int) -> int:
    """Return the default number of batches: no HIT is made smaller for it.

    >>> [usual_batches(count, 5) for count in (6, 25, 4000)], usual_batches(40, 40)
    ([1, 2, 5], 1)
    """
    return max(1, min(_BATCHES, count // _ITEMS_A_BATCH, math.ceil(count / most_in_hit)))


def batches_of(tables: CampaignTables, most: int, count: int, *, is_whole: bool = False) -> int:
    """Return the number of batches as stated, or for a number of items.

    Args:
        tables: the campaign file.
        most: how many items a HIT may show.
        count: the items.
        is_whole: conditions are compared within participants, who therefore rate all items.
    """
    if tables.batches is not None:
        return tables.batches
    is_whole = is_whole or tables.grows is not None or tables.imported is not None
    return 1 if is_whole else usual_batches(count, most)


def most_shown(
    tables: CampaignTables,
    most: int,
    count: int,
    *,
    is_whole: bool = False,
    task: Task | None = None,
) -> int:
    """Return how many of a number of items the largest HIT shows.

    The arguments are those of `batches_of` and `largest_hit`.
    """
    if tables.grows is not None or tables.imported is not None:
        return most
    batches = batches_of(tables, most, count, is_whole=is_whole)
    return largest_hit(max(1, math.ceil(count / batches)), most, task)


def counted(items: Sequence[Item]) -> int:
    """Return how many items are asked about: all but those of practice and mixed-in gold."""
    return sum(not (item.columns.get(PRACTICE) or item.columns.get(MIXED_IN)) for item in items)


def purpose(task: Task, title: str = "") -> str:
    """Return the purpose of a collection, as far as its task or its title tells."""
    name = (title or task.title).strip()
    is_untitled = not title and task.own is not None and task.title == Path(task.own.path).stem
    if task.html_page is not None and is_untitled:
        return "Answers to a page of questions about each item."
    ends = unicodedata.category(name[-1:] or ".") == "Po"
    return name if ends else f"{name}."


def needed_columns(task: Task) -> tuple[str, ...]:
    """Return the columns of items that a page shows without a default; the id is first."""
    if task.html_page is None:
        return task.columns
    template = template_of(task.html_page)
    with_default = {
        gap.column
        for gap in template.gaps
        if any(filter_.name == "default" for filter_ in gap.filters)
    }
    parts = (name.partition(".")[0] for name in template.columns if name not in with_default)
    return tuple(dict.fromkeys((*task.columns, *parts)))


def address_columns(task: Task) -> tuple[str, ...]:
    """Return the columns that hold addresses of pictures, optional ones too."""
    if task.html_page is not None:
        return task.picture_columns
    return tuple(
        name
        for name in (*task.columns, *task.optional_columns)
        if name == "url" or name.endswith("_url")
    )


def header_of(file: CampaignFile) -> tuple[str, ...] | None:
    """Return the columns of the items before they are read; `None` if rows arrive later.

    A pass must not depend on whether a source that grows can be read at the moment.
    """
    table = file.tables.items
    if file.tables.grows is not None or (table.file and is_read_as_it_arrives(table.file)):
        return None
    try:
        rows = read_rows(file.named(table.file)) if table.file else []
    except ConfigError:
        return None  # reading the items reports it
    return (*dict.fromkeys(name for _, row in rows for name in row), *table.columns)


def with_found_columns(file: CampaignFile, task: Task) -> tuple[CampaignFile, tuple[Derived, ...]]:
    """Return the file with the columns of its items that the task calls otherwise.

    Only items that do not grow: a column that a later row brings would change the choice.
    """
    table = file.tables.items
    is_table = table.file is not None and not is_read_as_it_arrives(table.file)
    if (
        file.tables.grows is not None
        or not is_table
        or task.is_generic
        or file.tables.imported is not None
    ):
        return file, ()
    path = file.named(str(table.file))
    needed = needed_columns(task)
    try:
        if {*needed} <= {*first_row(path), *table.columns}:
            return file, ()
        rows = [row for _, row in read_rows(path)]
    except ConfigError:
        rows = []
    if not rows:
        return file, ()  # reading the items reports it
    matched = match_columns(
        needed,
        rows,
        item_id=needed[0],
        addresses=address_columns(task),
        stated=table.columns,
    )
    named = {new: old for new, old in matched.renamed.items() if new not in table.columns}
    if not named:
        return file, ()
    items = table.model_copy(update={"columns": {**table.columns, **named}})
    tables = file.tables.model_copy(update={"items": items})
    why = "; ".join(f"{old} of {path.name} is {new}" for new, old in named.items() if new != old)
    return replace(file, tables=tables), (Derived("items.columns", dict(items.columns), why),)


def stated_first(file: CampaignFile, campaign: Campaign) -> tuple[Derived, ...]:
    """Return name, description, batches and others that the file does not say."""
    document, tables = tomllib.loads(file.text), file.tables
    derived = []
    if "name" not in document:
        derived.append(Derived("name", campaign.name, f"the file is {file.path.name}"))
    if not tables.description:
        derived.append(Derived("description", campaign.description, "what the task asks"))
    if tables.batches is None and tables.grows is None and tables.imported is None:
        count = counted(campaign.items)
        why = f"{plural(count, 'item')}: a batch for ten, at most five"
        derived.append(Derived("batches", campaign.posting.batches, why))
    page = campaign.task.html_page
    if page is not None and page.numbered and tables.posting.items_per_hit is None:
        ends = [name for name, column, _ in page.numbered if column == page.numbered[0][1]]
        why = f"the page shows ${{{ends[0]}}} to ${{{ends[-1]}}}"
        derived.append(Derived("posting.items_per_hit", campaign.posting.items_per_hit, why))
    if "by" not in tables.decisions.model_fields_set and tables.imported is None:
        who = "people decide about what is flagged" if campaign.decided_by == "person" else "rules"
        derived.append(Derived("decisions.by", campaign.decided_by, f"the default: {who}"))
    return tuple(derived)


def with_standard_rules(campaign: Campaign, file: CampaignFile) -> Campaign:
    """Return the campaign with the standard rules, if its file says nothing about rules.

    Rules that can flag nothing are left out. Imported answers are only judged by rules that
    the file states.
    """
    if "rule" in file.tables.decisions.model_fields_set or campaign.imported is not None:
        return campaign
    # The question that `describe` has by itself asks for sentences; one's own may not.
    usual = standard_rules(
        campaign.task,
        (*campaign.items, *campaign.practice),
        asks_for_sentences=file.tables.task == "describe" and file.tables.question is None,
    )
    on = tuple(_switched_on(rule, campaign) for rule in usual)
    kept = tuple(rule for rule in on if len(rule.any_of) >= rule.at_least)
    unused = not_used(replace(campaign, policy=kept))
    kept, _ = within_reach(campaign, kept)
    rules = [rule.as_table() for rule in kept]
    derived = (Derived(_RULES, rules, "the standard rules for this task"),)
    return replace(
        campaign, policy=kept, unused_rules=unused, derived=(*campaign.derived, *derived)
    )


def _switched_on(rule: PolicyRule, campaign: Campaign) -> PolicyRule:
    names = tuple(name for name in rule.any_of if is_on(name, campaign.heuristics))
    return replace(rule, any_of=names)


def with_derived_budget(campaign: Campaign) -> Campaign:
    """Return the campaign with its budget, if the file states none.

    It is the expected cost by the newest fees that are known, and a fifth; after a person
    has agreed to an amount, it is that amount. If labels ask for as many answers as needed,
    the most that are expected count. If markets depend on paces, every item once at the
    most expensive of them counts if it is more, as caps have to pay for it.

    Raises:
        ConfigError: as `price`.
    """
    rewards = campaign.rewards
    is_known = rewards.agreed_cents is not None or not rewards.budget_is_derived
    if is_known or not campaign.items:
        return campaign
    on = _newest_fees(rewards)
    cents = price(campaign, on=on).expected_at_most
    if campaign.crowds is not None and campaign.crowds.cheapest:
        batches = range(1, campaign.posting.batches + 1)
        cents = max(cents, first_rounds_cost_cents(campaign, batches, on=on))
    return replace(campaign, rewards=replace(rewards, budget_cents=usual_budget(cents)))


def usual_budget(expected_cents: int) -> int:
    """Return the budget for an expected cost: a fifth more, up to a whole dollar or pound.

    >>> usual_budget(1_501)
    1900
    """
    units = (Decimal(expected_cents) * _ROOM / 100).to_integral_value(ROUND_CEILING)
    return max(1, int(units)) * 100


def _newest_fees(rewards: Rewards) -> date:
    return max(schedule.valid_from for schedule in rewards.fees)


def derived_values(campaign: Campaign) -> tuple[Derived, ...]:
    """Return everything that the campaign's file leaves out, with its budget."""
    rewards = campaign.rewards
    if not rewards.budget_is_derived:
        return campaign.derived
    why = "the expected cost and a fifth"
    if campaign.crowds is not None and campaign.crowds.cheapest:
        why = "the expected cost, or every item once at the most expensive market, and a fifth"
    if rewards.agreed_cents is not None:
        why = "the amount that was agreed to"
    budget = Derived("budget.total", cents_to_wire(rewards.budget_cents), why)
    return (*campaign.derived, budget)


def complete_inputs(campaign: Campaign) -> Inputs:
    """Return what a campaign is made from, with the values that its file leaves out."""
    return replace(campaign.inputs, complete=complete_text(campaign))


def complete_text(campaign: Campaign) -> str:
    """Return the complete campaign file: what it states, and what is derived."""
    document: dict[str, object] = tomllib.loads(campaign.inputs.text)
    derived = derived_values(campaign)
    if any(each.key == "items.columns" for each in derived):
        stated = document["items"]
        document["items"] = {"file": stated} if isinstance(stated, str) else stated
    for each in derived:
        _put(document, each.key.split("."), each.value)
    ordered = [name for name in CampaignTables.model_fields if name in document]
    return toml_document({name: document[name] for name in dict.fromkeys((*ordered, *document))})


def printed_text(campaign: Campaign) -> tuple[str, Mapping[str, str]]:
    """Return the complete campaign file without the secrets that its addresses state.

    Returns:
        The text, with a new variable such as `${SECRET_1}` for each secret; and by the name
        of a variable the key that has it.
    """
    text = complete_text(campaign)
    document: Any = tomllib.loads(text)
    variables: dict[str, str] = {}
    for named in texts_of(parse_text(campaign.path, text).tables):
        *tables, last = location = as_written(text, named.key)

        def hidden(key: str = key_name(location)) -> str:
            number = 1
            while (name := f"SECRET_{number}") in {*variables, *variables_in(text)}:
                number += 1
            variables[name] = key
            return f"${{{name}}}"

        # Other texts are of a shared file, or what a key has without being stated.
        with suppress(LookupError):
            place = document
            for part in tables:
                place = place[part]
            if named.names and named.names.is_opened and isinstance(place[last], str):
                place[last] = without_secrets(place[last], hidden)
    return toml_document(document) if variables else text, variables


def _put(document: dict[str, object], key: Sequence[str], value: object) -> None:
    """Put a value into a document that does not have it yet."""
    *tables, last = key
    if key == ["budget", "total"] and "budget" not in document:
        document["budget"] = value
        return
    for name in tables:
        inner = document.get(name)
        document[name] = document = dict(inner) if isinstance(inner, Mapping) else {}
    document[last] = value
