"""Items of a campaign that follows one with answers: its labels, or words that cleaning doubts.

*Guidelines for image description error analysis* (2017) has three tasks in a row: is a
description congruent with its image, what is wrong with those that are not, and what is
gained by correcting each kind of error. Each takes what the one before it labelled. A
task's `follows` says which tasks it can take items from.

The task `which_word` asks about ten words per HIT. Its answers become decisions about
words, like those of a reviewer (`piecework.results.cleaning`). What a reviewer
decided stays.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from piecework.analyses.labels_from_votes import ability
from piecework.analyses.votes import answers_that_count, votes
from piecework.analyses.votes import votes_that_count as voices
from piecework.campaign.opened import OpenedCampaign
from piecework.domain.edit import Edit
from piecework.domain.errors import ConfigError
from piecework.domain.hit import Item
from piecework.domain.tables import value_column
from piecework.domain.task import GOLD, TRUTH, TWIN, TWIN_REVERSED, Follows, Task
from piecework.domain.text import shell_word
from piecework.domain.verdicts import WORKERS, Label, WordVerdict
from piecework.engine.judge import proposed_verdicts
from piecework.postprocess.aggregates import item_aggregates
from piecework.postprocess.datasets.file_table import to_csv
from piecework.postprocess.language.tokens import key_of
from piecework.results.cleaning import is_of_a_word, without_capitals_of, words_shown
from piecework.results.table import answers_table, hidden_ids
from piecework.store import results
from piecework.store.database import writing
from piecework.store.files import write_whole

Row = Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class NextItems:
    """The items of the next campaign, and what did not become one.

    Attributes:
        rows: the cells of each item by column.
        unlabelled: items without a label: no answers that count, or a tie.
        other_labels: how many items have which other labels.
        missing: columns that the task needs and no item has; they are written empty.
    """

    rows: tuple[Row, ...]
    unlabelled: int
    other_labels: Mapping[str, int]
    missing: tuple[str, ...]


def write_next_items(opened: OpenedCampaign, task: Task, path: Path) -> NextItems:
    """Write the items of a campaign of `task` as CSV.

    Raises:
        ConfigError: the task does not follow the campaign's, or no item has a label
            that it takes.
    """
    items = next_items(opened, task)
    if not items.rows:
        raise ConfigError(
            [f"no item of {opened.campaign.path} has a label that {task.name} takes"],
            next_step="look at the labels: piecework data analyse "
            f"{shell_word(opened.campaign.path)}",
        )
    names = list(dict.fromkeys(name for row in items.rows for name in row))
    ids = hidden_ids(opened)
    cells = {name: [ids.named(name, row.get(name, "")) for row in items.rows] for name in names}
    write_whole(path, lambda file: file.write(to_csv(cells, are_items=True)))
    return items


def next_items(opened: OpenedCampaign, task: Task) -> NextItems:
    """Return the items that a campaign's labels give to `task`.

    A label is what most workers chose, or what a person settled; of a field with
    several choices, each category that more than half ticked. Items that were mixed in
    to check workers, and second questions about an item, are left out; so are the
    campaign's own known answers. Other columns stay, and the label is added in a column
    with the field's name. A column `<task>.truth.<field>` becomes `truth.<field>`, so a
    chain of campaigns can be rehearsed.

    Raises:
        ConfigError: the task does not follow the campaign's.
    """
    campaign = opened.campaign
    follows = _follows(campaign.task, task)
    items = [item for item in campaign.own_items if not item.columns.get(TWIN)]
    labelled = _labels(opened, items, follows)
    allowed = task.column_values.get(follows.column, ()) if follows.column else ()
    rows: list[Row] = []
    others = Counter[str]()
    unlabelled = 0
    for item in items:
        own = labelled[str(item.item_id)]
        taken = [
            label
            for label in own
            if (not follows.options or label in follows.options)
            and (not allowed or label in allowed)
        ]
        unlabelled += not own
        others.update(label for label in own if label not in taken)
        if taken:
            rows += _rows(item, taken, campaign.task, task, follows)
    missing = [name for name in task.columns if not any(row.get(name) for row in rows)]
    return NextItems(
        rows=tuple({**dict.fromkeys(missing, ""), **row} for row in rows),
        unlabelled=unlabelled,
        other_labels=dict(others.most_common()),
        missing=tuple(missing),
    )


def _follows(earlier: Task, task: Task) -> Follows:
    fields = {field.name for field in earlier.fields}
    for follows in task.follows:
        if follows.task == earlier.name and follows.field in fields:
            return follows
    known = ", ".join(follows.task for follows in task.follows)
    raise ConfigError(
        [
            f"{task.name} does not take its items from {earlier.name}; "
            + (f"it takes them from: {known}" if known else "it follows no task")
        ],
        next_step="[[follows]] of a task.toml says what a task takes: "
        "docs/reference/task-folder.md",
    )


def _labels(
    opened: OpenedCampaign, items: Sequence[Item], follows: Follows
) -> dict[str, tuple[str, ...]]:
    """Return the labels of each item; none for a tie or without answers."""
    task = opened.campaign.task
    proposed = proposed_verdicts(opened)
    table = answers_table(opened, proposed=proposed)
    table = table[~table["is_provisional"] | table.index.isin(proposed)]
    ids = [str(item.item_id) for item in items]
    aggregates = [
        aggregate
        for aggregate in task.aggregates
        if aggregate.field == follows.field and aggregate.kind in {"majority", "shares"}
    ]
    if not aggregates:
        raise ConfigError([f"{task.name} gives its items no label in {follows.field}"])
    whole = item_aggregates(table, ids, task.fields, aggregates[:1], are_all=False)
    name = follows.field
    several = aggregates[0].kind == "shares"
    column = whole[f"{name}_majority" if several else name]
    settled = results.load_labels(opened.store)
    return {item_id: _label(column[item_id], settled.get((item_id, name))) for item_id in ids}


def _label(value: object, settled: Label | None) -> tuple[str, ...]:
    if settled is not None:
        return (settled.value,)
    if isinstance(value, tuple):
        return value
    return (value,) if isinstance(value, str) and value else ()


def _rows(
    item: Item, taken: Sequence[str], earlier: Task, task: Task, follows: Follows
) -> Iterator[Row]:
    answered = {field.name for field in earlier.fields}
    left_out = {
        earlier.columns[0],
        task.columns[0],
        TWIN,
        TWIN_REVERSED,
        follows.field,
        *(f"{TRUTH}{name}" for name in answered),
    }
    # `correction.truth.outcome` is a truth for rehearsals of a later task.
    own_truth = f"{task.name}.{TRUTH}"
    kept = {
        name.removeprefix(f"{task.name}.") if name.startswith(own_truth) else name: cell
        for name, cell in item.columns.items()
        if name not in left_out and not name.startswith(GOLD)
    }
    for label in taken if follows.column else taken[:1]:
        suffix = f"_{label}" if follows.column else ""
        own = {follows.column: label} if follows.column else {}
        yield {
            task.columns[0]: f"{item.item_id}{suffix}",
            **kept,
            **own,
            follows.field: "|".join(taken),
        }


WORD_TASK = "which_word"
DOUBTED_UP_TO = 0.9
"""Edits are asked about up to this probability, although cleaning makes them from 0.7
on: of those in between, six in seven are right."""

ENOUGH = 0.8
"""The lowest probability of a label that becomes a decision. With so few answers that
nothing is this probable, three workers who agree are enough."""

_ANSWERS = 3
_LEAST_ALIKE = 2
_AROUND = 200
_SENTENCES = 3
_Use = tuple[tuple[str, ...], Edit, bool]
"""A text before, at and after an edit, the edit, and whether cleaning makes it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WordQuestion:
    """A word that cleaning doubts.

    Attributes:
        word: by `key_of`.
        proposed: what cleaning would write.
        times: how often it was written.
        mistakes: how many of these cleaning expects to get wrong: a typo that it leaves
            or a word that it changes wrongly.
        sentences: text before, the word as written, text after; at most three.
    """

    word: str
    proposed: str
    times: int
    mistakes: float
    sentences: Sequence[tuple[str, str, str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class WordCost:
    """What the answers to all questions cost in rewards and fees, without bonuses."""

    hits: int
    assignments: int
    cents: int


@dataclass(frozen=True, slots=True, kw_only=True)
class WordsTaken:
    """What people's answers decided.

    Attributes:
        replaced: words that they replace.
        right: words that are right as written.
        unsure: words on which they disagree, or that they cannot tell.
        by_reviewer: words that a reviewer decided before.
        unknown: words that cleaning neither changes nor proposes to change.
    """

    replaced: int
    right: int
    unsure: int
    by_reviewer: int
    unknown: int


def word_questions(opened: OpenedCampaign) -> list[WordQuestion]:
    """Return the words that the last cleaning doubted, most mistakes first.

    Workers read the sentences, so they have pseudonyms for ids of workers.
    """
    decided, ids = results.load_words(opened.store), hidden_ids(opened)
    table = opened.answers()["text"]
    uses: dict[str, list[_Use]] = defaultdict(list)
    for is_made, kept in (
        (False, results.load_proposed_edits(opened.store)),
        (True, results.load_edits(opened.store)),
    ):
        for answer_id, of_answer in kept.items():
            for edit in filter(is_of_a_word, of_answer):
                word = key_of(edit.before)
                if word not in decided and edit.probability < DOUBTED_UP_TO:
                    text = str(table[answer_id])
                    parts = text[: edit.start], edit.before, text[edit.end :]
                    hidden = tuple(map(ids.everywhere, parts))
                    if "".join(hidden) == ids.everywhere(text):  # else part of an id
                        uses[word].append((hidden, edit, is_made))
    questions = [_question(word, of_word) for word, of_word in uses.items()]
    return sorted(questions, key=lambda each: (-each.mistakes, each.word))


def _question(word: str, uses: Sequence[_Use]) -> WordQuestion:
    proposals = Counter(without_capitals_of(edit.before, edit.after) for _, edit, _ in uses)
    return WordQuestion(
        word=word,
        proposed=proposals.most_common(1)[0][0],
        times=len(uses),
        mistakes=sum(
            1 - edit.probability if is_made else edit.probability for _, edit, is_made in uses
        ),
        sentences=list(dict.fromkeys(_sentence(*parts) for parts, _, _ in uses))[:_SENTENCES],
    )


def _sentence(before: str, written: str, after: str) -> tuple[str, str, str]:
    return (
        ("…" if len(before) > _AROUND else "") + before[-_AROUND:],
        written,
        after[:_AROUND] + ("…" if len(after) > _AROUND else ""),
    )


def word_cost(opened: OpenedCampaign, questions: int, task: Task) -> WordCost:
    """Return the cost of three answers to each question at the task's own reward.

    Raises:
        ConfigError: no fees are known for this day.
    """
    hits = math.ceil(questions / task.items_per_hit)
    fees = opened.campaign.rewards.fees_on(opened.clock.now().date())
    fee = fees.reward_fee_cents(task.reward_cents, max_assignments=_ANSWERS)
    assignments = hits * _ANSWERS
    return WordCost(
        hits=hits, assignments=assignments, cents=assignments * (task.reward_cents + fee)
    )


def write_word_items(questions: Sequence[WordQuestion], path: Path) -> None:
    """Write the items file of a campaign of `which_word` as CSV.

    Raises:
        ConfigError: there is no question.
    """
    if not questions:
        raise ConfigError(["cleaning doubts no word that people have not decided"])
    rows = [_row(question) for question in questions]
    cells = {name: [row[name] for row in rows] for name in rows[0]}
    write_whole(path, lambda file: file.write(to_csv(cells, are_items=True)))


def _row(question: WordQuestion) -> Mapping[str, str]:
    before, written, after = question.sentences[0]
    others = ["".join(sentence) for sentence in question.sentences[1:]]
    return {
        "word_id": f"word_{question.word}",
        "before": before,
        "word": written,
        "after": after,
        "proposed": question.proposed,
        "also_1": others[0] if others else "",
        "also_2": others[1] if others[1:] else "",
    }


def take_words(opened: OpenedCampaign, asked: OpenedCampaign) -> WordsTaken:
    """Store what the workers of a campaign of `which_word` decided about words.

    The same decisions may be taken again: those of earlier answers are replaced.

    Args:
        opened: the campaign with the texts.
        asked: the campaign of `which_word`.

    Raises:
        ConfigError: the campaign has another task, or was rehearsed and the other was
            not.
    """
    if asked.campaign.task.name != WORD_TASK:
        raise ConfigError(
            [f"{asked.campaign.path} has the task {asked.campaign.task.name}"],
            next_step=f"name a campaign of {WORD_TASK}: docs/how-to/chains.md",
        )
    if asked.is_rehearsal and not opened.is_rehearsal:
        raise ConfigError(
            [f"{asked.campaign.path} was rehearsed: its answers are simulated"],
            next_step="take the answers of a campaign that people worked on",
        )
    reviewer = WORKERS + asked.campaign.name
    known = {shown.word for shown in words_shown(opened)}
    tally = Counter[str]()
    answered = list(_decided(asked))
    with writing(opened.store):
        before = results.load_words(opened.store)
        for item, meant in answered:
            word = key_of(item.columns["word"])
            earlier = before.get(word)
            if earlier is not None and not earlier.is_of_workers:
                tally["by_reviewer"] += 1
            elif word not in known:
                tally["unknown"] += 1
            elif meant is None:
                tally["unsure"] += 1
            else:
                is_right = key_of(meant) == word
                tally["right" if is_right else "replaced"] += 1
                results.keep_word(
                    opened.store,
                    WordVerdict(
                        word=word,
                        meant=None if is_right else meant,
                        reviewer=reviewer,
                        reviewed_at=opened.clock.now(),
                    ),
                )
    return WordsTaken(
        **{name: tally[name] for name in ("replaced", "right", "unsure", "by_reviewer", "unknown")}
    )


def _decided(asked: OpenedCampaign) -> Iterable[tuple[Item, str | None]]:
    """Yield each item with the word that was meant; `None` if that is not known."""
    proposed = proposed_verdicts(asked)
    table = answers_table(asked, proposed=proposed)
    rows = answers_that_count(table[~table["is_provisional"] | table.index.isin(proposed)])
    by_name = {field.name: field for field in asked.campaign.task.fields}
    field = by_name["meant"]
    meant, typed = value_column(field), value_column(by_name["other_word"])
    chosen = _word_labels(voices(votes(rows, field)), [each.value for each in field.options])
    settled = results.load_labels(asked.store)
    for item in asked.campaign.own_items:
        item_id = str(item.item_id)
        by_hand = settled.get((item_id, field.name))
        label = by_hand.value if by_hand else chosen.get(item_id, "")
        if label == "other":
            of_item = rows.loc[(rows["item_id"] == item_id) & (rows[meant] == label)]
            yield item, _typed(of_item[typed], item.columns["word"])
        else:
            of_label = {"written": "word", "proposed": "proposed"}.get(label)
            yield item, item.columns[of_label] if of_label else None


def _word_labels(cast: pd.DataFrame, options: Sequence[str]) -> dict[str, str]:
    """Return the label of each item that is probable, or on which all agree.

    Args:
        cast: votes; those for no option do not count.
        options: of the field.
    """
    cast = cast[cast["value"].isin(options)]
    if cast.empty:
        return {}
    by_item = cast.groupby("item_id")["value"]
    agreed = by_item.first()[(by_item.size() >= _ANSWERS) & (by_item.min() == by_item.max())]
    chosen = {str(item_id): str(value) for item_id, value in agreed.items()}
    estimated = ability(cast, values=options).labels
    probable = estimated[estimated["probability"] >= ENOUGH]["value"].dropna()
    return chosen | {str(item_id): str(value) for item_id, value in probable.items()}


def _typed(cells: "pd.Series[str]", written: str) -> str | None:
    """Return the word that most typed; `None` if fewer than two typed the same.

    Args:
        cells: what workers typed.
        written: the word in the sentence that they read.
    """
    # Keyboards of phones begin what is typed with a capital, also for a word without one.
    begun = written[:1].upper() + written[1:]
    typed = [without_capitals_of(begun, " ".join(str(cell).split())) for cell in cells]
    leading = Counter(key_of(word) for word in typed if word).most_common(2)
    if not leading or leading[0][1] < _LEAST_ALIKE:
        return None
    if len(leading) > 1 and leading[1][1] == leading[0][1]:
        return None
    spellings = Counter(word for word in typed if key_of(word) == leading[0][0])
    return spellings.most_common(1)[0][0]
