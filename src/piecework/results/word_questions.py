"""Words that cleaning doubts, as items of a campaign that asks people what was meant.

The task `which_word` asks about ten words per HIT. Its answers become decisions about
words, like those of a reviewer (`piecework.results.cleaning`). What a reviewer
decided stays.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
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
from piecework.domain.task import Task
from piecework.domain.verdicts import WORKERS, WordVerdict
from piecework.engine.judge import proposed_verdicts
from piecework.postprocess.datasets.file_table import to_csv
from piecework.postprocess.language.tokens import key_of
from piecework.results.cleaning import is_of_a_word, without_capitals_of, words_shown
from piecework.results.table import answers_table, hidden_ids
from piecework.store import results
from piecework.store.database import writing
from piecework.store.files import write_whole

TASK = "which_word"
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
class Cost:
    """What the answers to all questions cost in rewards and fees, without bonuses."""

    hits: int
    assignments: int
    cents: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Taken:
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


def cost(opened: OpenedCampaign, questions: int, task: Task) -> Cost:
    """Return the cost of three answers to each question at the task's own reward.

    Raises:
        ConfigError: no fees are known for this day.
    """
    hits = math.ceil(questions / task.items_per_hit)
    fees = opened.campaign.rewards.fees_on(opened.clock.now().date())
    fee = fees.reward_fee_cents(task.reward_cents, max_assignments=_ANSWERS)
    assignments = hits * _ANSWERS
    return Cost(hits=hits, assignments=assignments, cents=assignments * (task.reward_cents + fee))


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


def take_words(opened: OpenedCampaign, asked: OpenedCampaign) -> Taken:
    """Store what the workers of a campaign of `which_word` decided about words.

    The same decisions may be taken again: those of earlier answers are replaced.

    Args:
        opened: the campaign with the texts.
        asked: the campaign of `which_word`.

    Raises:
        ConfigError: the campaign has another task, or was rehearsed and the other was
            not.
    """
    if asked.campaign.task.name != TASK:
        raise ConfigError(
            [f"{asked.campaign.path} has the task {asked.campaign.task.name}"],
            next_step=f"name a campaign of {TASK}: docs/how-to/chains.md",
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
    return Taken(
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
    chosen = _labels(voices(votes(rows, field)), [each.value for each in field.options])
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


def _labels(cast: pd.DataFrame, options: Sequence[str]) -> dict[str, str]:
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
