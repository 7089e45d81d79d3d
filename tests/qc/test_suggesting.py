"""Rules chosen from what is known about work, and measured on other workers."""

import dataclasses
from collections.abc import Mapping

import pandas as pd
import pytest

from piecework.domain.verdicts import PolicyRule, SubjectKind
from piecework.qc.suggesting import Suggestion, suggest
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

SHOUT = PolicyRule(
    subject_kind="answer", any_of=("capitals",), then="drop", because="Set aside: {evidence}."
)


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
) -> Suggestion:
    """What is suggested instead of these rules."""
    return suggest(
        table,
        kind=kind,
        is_bad=is_bad,
        settings={},
        rules=rules,
        most_harmed=most_harmed,
        seed=1,
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
                settings=labelled.settings,
                rules=default_rules(labelled),
                most_harmed=0.02,
                seed=1,
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
            settings={},
            rules=(rule,),
            most_harmed=0.02,
            seed=1,
            only=labelled.heuristics,
        )
        own, new = result.own, result.held_out
        assert own is not None
        assert new is not None
        assert new.harmed <= own.harmed, labelled.name
        if own.harmed <= 0.02 * own.good:
            assert new.caught >= own.caught, labelled.name
