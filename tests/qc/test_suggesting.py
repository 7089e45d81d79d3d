"""Rules chosen from what is known about work, and measured on other workers."""

import dataclasses
from collections.abc import Collection, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import pandas as pd
import pytest

from piecework.domain.hit import MTURK
from piecework.domain.verdicts import PolicyRule, SubjectKind
from piecework.qc.policy import decide
from piecework.qc.registry import Settings, assess
from piecework.qc.suggesting import OwnRules, Suggestion, suggest
from tests.bench.truth.sets import (
    DATA,
    LabelledSet,
    answer,
    as_table,
    exchanged,
    flickr_captions,
    gold_votes,
    paraphrases,
)
from tests.for_each import for_each

SHOUT = PolicyRule(
    subject_kind="answer", any_of=("capitals",), then="drop", because="Set aside: {evidence}."
)

REJECT = dataclasses.replace(
    SHOUT, subject_kind="assignment", any_of=("same_sentence",), then="reject"
)
APPROVE = dataclasses.replace(REJECT, any_of=("same_sentence", "capitals"), then="approve")


def work(*, bad_workers: int = 8, good_workers: int = 20) -> tuple[pd.DataFrame, dict[str, bool]]:
    """Ten answers each: bad workers repeat a sentence, two good ones shout once."""
    rows, is_bad = [], {}
    for worker in range(bad_workers + good_workers):
        for item in range(10):
            name = f"w{worker}.{item}"
            is_bad[name] = worker < bad_workers
            words = f"a thing of kind {worker * 31 + item * 7} beside number {item}"
            text = f"worker {worker} sees a nice picture here" if is_bad[name] else words
            shouts = worker in {bad_workers, bad_workers + 1} and item == 0
            rows.append(
                answer(
                    name,
                    worker_id=f"w{worker}",
                    item_id=f"i{item}",
                    text=text.upper() if shouts else text,
                )
            )
    return as_table(rows), is_bad


def suggested(
    table: pd.DataFrame,
    is_bad: Mapping[str, bool],
    *rules: PolicyRule,
    kind: SubjectKind = "answer",
    most_harmed: float = 0.01,
    only: Collection[str] | None = None,
    **more: Any,  # noqa: ANN401 - of `OwnRules`
) -> Suggestion:
    """What is suggested instead of these rules."""
    return suggest(
        table,
        kind=kind,
        is_bad=is_bad,
        campaign=OwnRules(rules=rules, seed=1, **{"settings": {}, **more}),
        most_harmed=most_harmed,
        only=only,
    )


def test_a_rule_that_finds_the_bad_work_is_suggested() -> None:
    """It finds nearly all of it, on workers whom it was not chosen from, and harms no one."""
    table, is_bad = work()
    result = suggested(table, is_bad, SHOUT)
    assert result.added
    assert result.held_out is not None
    assert result.held_out.caught >= 0.8 * result.held_out.bad
    assert result.held_out.harmed <= 2
    workers = {f"w{number}": number < 12 for number in range(50)}
    table, _ = work(bad_workers=12, good_workers=38)
    of_workers = suggested(table, workers, kind="worker")
    assert of_workers.held_out is not None
    assert (of_workers.held_out.caught, of_workers.held_out.harmed) == (12, 0)
    assert all(rule.then == "exclude" for rule in of_workers.added)


def test_rules_that_harm_too_many_are_dropped_and_others_are_kept() -> None:
    """The campaign's own rule about capitals harms 1 % of good answers."""
    table, is_bad = work()
    assert suggested(table, is_bad, SHOUT, most_harmed=0.005).kept == ()
    assert suggested(table, is_bad, SHOUT, most_harmed=0.02).kept == (0,)


KEEP = dataclasses.replace(SHOUT, any_of=("same_sentence",), then="keep")
EXCLUDE = dataclasses.replace(
    SHOUT, subject_kind="worker", any_of=("canned_share",), then="exclude"
)
LATE: Settings = {"same_sentence": {"min_images": 15}}
"""Under it nothing is flagged in ten answers of a worker; half of it flags all repeated ones."""


def set_aside(
    table: pd.DataFrame, result: Suggestion, rules: Sequence[PolicyRule], settings: Settings
) -> set[str]:
    """The answers that the policy drops by the rules that are written into the file."""
    kept = [
        rule
        for place, rule in enumerate(rules)
        if rule.subject_kind != result.kind or place in result.kept
    ]
    changed = {**settings, **result.settings}
    decided = decide(
        table,
        assess(table, changed, seed=1, only=FEW),
        [*kept, *result.added],
        campaign="birds",
        at=datetime(2026, 3, 2, tzinfo=UTC),
        longest_reason=MTURK.longest_reason,
    )
    return {each.subject_id for each in decided if (each.subject_kind, each.verdict) == DROPPED}


FEW = frozenset({"capitals", "same_sentence", "same_sentence_in_hit", "canned_share"})
DROPPED = ("answer", "drop")


@for_each(
    ("rules", "settings"),
    [
        ((SHOUT,), {}),
        ((KEEP, SHOUT), {}),
        ((SHOUT, KEEP), {}),
        ((KEEP, dataclasses.replace(SHOUT, any_of=("same_sentence", "capitals"))), {}),
        ((APPROVE, REJECT), {}),
        ((REJECT, APPROVE), {}),
        ((SHOUT,), LATE),
        ((dataclasses.replace(EXCLUDE, any_of=("same_sentence",)),), LATE),
        ((dataclasses.replace(KEEP, any_of=("same_sentence_in_hit",)), SHOUT), LATE),
    ],
)
def test_what_is_fitted_is_what_the_suggested_rules_decide(
    rules: tuple[PolicyRule, ...], settings: Settings
) -> None:
    """Exceptions and rejections count as the policy applies them, and no rule changes another."""
    table, is_bad = work()
    result = suggested(table, is_bad, *rules, most_harmed=0.02, settings=settings, only=FEW)
    dropped = set_aside(table, result, rules, settings)
    assert result.fitted is not None
    assert (result.fitted.caught, result.fitted.harmed) == (
        sum(is_bad[name] for name in dropped),
        sum(not is_bad[name] for name in dropped),
    )


def test_an_exception_stays_and_catches_nothing() -> None:
    """Also where rules that harm too many are left out; nothing that it spares is caught."""
    table, is_bad = work()
    result = suggested(table, is_bad, KEEP, SHOUT, most_harmed=0.005)
    assert result.own is not None
    assert (result.own.caught, result.own.harmed) == (0, 2)
    assert result.kept == (0,)
    assert result.added == ()


@for_each(
    "others",
    [
        (dataclasses.replace(EXCLUDE, any_of=("same_sentence",)),),
        (dataclasses.replace(REJECT, any_of=("canned_share", "same_sentence")),),
        (dataclasses.replace(EXCLUDE, any_of=(), suspicion_above=0.9),),
    ],
)
def test_what_other_rules_use_keeps_its_parameters(others: tuple[PolicyRule, ...]) -> None:
    """Also what the joined suspicion is made of; without these rules it is changed."""
    table, is_bad = work()
    alone = suggested(table, is_bad, settings=LATE, only={"same_sentence"})
    assert dict(alone.settings) == {"same_sentence": {"min_images": 7}}
    beside = suggested(table, is_bad, *others, settings=LATE, only={"same_sentence"})
    assert not beside.settings
    workers = {f"w{number}": number < 12 for number in range(50)}
    more, _ = work(bad_workers=12, good_workers=38)
    for earlier in (alone, dataclasses.replace(alone, settings={})):
        after = suggested(
            more,
            workers,
            kind="worker",
            settings=LATE,
            only={"same_sentence"},
            earlier=[earlier],
        )
        assert dict(after.settings) == earlier.settings
        assert bool(after.added) == bool(earlier.settings)


def test_a_suggestion_repeats_only_what_a_file_states() -> None:
    """The texts of programs are named in `[machine]`, and may be thousands."""
    table, is_bad = work()
    more = {"same_sentence": {"min_images": 15, "instructions": ["from elsewhere"]}}
    for stated in (None, LATE):
        result = suggested(table, is_bad, settings=more, stated=stated, only={"same_sentence"})
        assert ("instructions" in result.settings["same_sentence"]) == (stated is None)
        assert result.settings["same_sentence"]["min_images"] == 7


def test_few_decisions_say_nothing() -> None:
    """One decision, decisions about one worker, or only bad work: a sentence, no rule."""
    table, is_bad = work()
    first = next(iter(is_bad))
    for known in (
        {},
        {first: True},
        {name: bad for name, bad in is_bad.items() if name.startswith("w0.") or not bad},
        dict.fromkeys(is_bad, True),
        dict.fromkeys(is_bad, False),
        {"unknown": True},
    ):
        result = suggested(table, known, SHOUT)
        assert result.too_few.startswith("too few decisions to say: ")
        assert (result.added, result.kept, result.held_out) == ((), (), None)


def test_the_order_of_what_is_known_changes_nothing() -> None:
    """Folds follow the names of the workers, and equal candidates their order."""
    table, is_bad = work()
    back = dict(reversed([*is_bad.items()]))
    assert suggested(table, is_bad, SHOUT) == suggested(table, back, SHOUT)


def default_rules(labelled: LabelledSet) -> tuple[PolicyRule, ...]:
    """The policy of a new campaign, as far as the set can say something about it."""
    texts: tuple[str, ...] = ("capitals", "quality_words", "same_sentence")
    if not (labelled.table["text"] != "").any():
        texts = ("rule_violation",)
    off = ("sentence_off_items", "text_off_item")
    exclude = PolicyRule(
        subject_kind="worker", any_of=texts, share=0.4, then="exclude", because="{evidence}"
    )
    return (
        dataclasses.replace(SHOUT, any_of=("rule_violation", *texts, *off)),
        exclude,
        dataclasses.replace(exclude, any_of=("texts_off_items",), share=0.0),
    )


@pytest.mark.shared
@pytest.mark.full
@pytest.mark.skipif(not DATA.is_dir(), reason="../shared/data is not here")
def test_on_labelled_work_no_recall_is_lost_and_half_the_sets_gain() -> None:
    """Folds over workers, 2 % of honest work harmed at most, against the default policy."""
    gains = []
    for labelled in (paraphrases(), exchanged("Flickr8k", flickr_captions())):
        for kind, bad in labelled.bad.items():
            if kind == "assignment":
                continue
            names = labelled.table.index
            if kind == "worker":
                names = pd.Index(labelled.table["worker_id"].unique())
            result = suggest(
                labelled.table,
                kind=kind,
                is_bad={name: name in bad for name in names},
                campaign=OwnRules(
                    rules=default_rules(labelled), settings=labelled.settings, seed=1
                ),
                most_harmed=0.02,
            )
            assert result.own is not None
            assert result.held_out is not None
            assert result.held_out.caught >= result.own.caught
            gains.append(result.held_out.caught > result.own.caught)
    assert len(gains) == 4
    assert sum(gains) * 2 >= len(gains)


@pytest.mark.shared
@pytest.mark.full
@pytest.mark.skipif(not (DATA / "votes").is_dir(), reason="../shared/data/votes is not here")
def test_on_votes_rules_within_the_bound_lose_nothing_and_others_harm_less() -> None:
    """Of the examples' rules: what harms 2 % at most is kept, what harms more is replaced."""
    rule = PolicyRule(
        subject_kind="worker",
        any_of=("gold_failed", "low_agreement", "straight_line", "same_place"),
        then="exclude",
        because="{evidence}",
    )
    for labelled, is_bad in gold_votes():
        result = suggest(
            labelled.table,
            kind="worker",
            is_bad=is_bad,
            campaign=OwnRules(rules=(rule,), settings={}, seed=1),
            most_harmed=0.02,
            only=labelled.heuristics,
        )
        own, new = result.own, result.held_out
        assert own is not None
        assert new is not None
        assert new.harmed <= own.harmed, labelled.name
        if own.harmed <= 0.02 * own.good:
            assert new.caught >= own.caught, labelled.name
