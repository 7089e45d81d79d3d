"""Laws of the joined suspicion: readable, taught by people, blind to outcomes."""

import math
import re
from datetime import UTC, datetime

import numpy as np
import pandas as pd
import pytest

from piecework.domain.hit import MTURK
from piecework.domain.tables import COLLECTED
from piecework.domain.verdicts import JOINED, Finding, PolicyRule
from piecework.qc.features import (
    OF_ANSWERS,
    OF_WORKERS,
    answer_features,
    own_features,
    worker_features,
)
from piecework.qc.joined import Weights, findings, fit, probabilities, refitted, shipped
from piecework.qc.policy import check_rules, decide
from piecework.qc.registry import HEURISTICS, assess, scores
from tests.qc.heuristics.test_text_off_item import answers
from tests.qc.heuristics.test_texts_off_items import sent
from tests.qc.tables import NAN, row, table

AT = datetime(2026, 3, 2, tzinfo=UTC)
LONGEST = MTURK.longest_reason


def test_the_probability_is_the_logistic_of_the_weighted_sum() -> None:
    """By hand: 1 / (1 + exp(-(-1 + 2*1.5 - 0.5*2))) = 1 / (1 + exp(-1)) = 0.731."""
    weights = Weights(intercept=-1.0, weights={"a": 2.0, "b": -0.5})
    rows = pd.DataFrame({"b": [2.0], "other": [9.0], "a": [1.5]})
    assert probabilities(weights, rows).tolist() == pytest.approx([0.7311], abs=1e-4)


def test_the_fit_is_the_known_one() -> None:
    """Without a feature, the intercept is the log odds: of 3 in 4, log 3."""
    rows, bad = np.zeros((400, 0)), np.array([1.0, 1.0, 1.0, 0.0] * 100)
    fitted = fit(rows, bad, around=np.zeros(1), precision=np.array([1e-9]))
    assert fitted.tolist() == pytest.approx([np.log(3)], abs=1e-6)


def test_own_decisions_move_the_weights_by_as_much_as_they_are() -> None:
    """Two decisions hardly, four hundred until they are what people said."""
    weights = Weights(intercept=0.0, weights={"a": 0.0})

    def after(count: int) -> float:
        rows = pd.DataFrame({"a": [1.0, -1.0] * count})
        rows.index = rows.index.astype("str")
        judged = {name: place % 2 == 0 for place, name in enumerate(rows.index)}
        return refitted(weights, rows, judged).weights["a"]

    assert 0 < after(1) < 0.3
    assert after(1) < after(10) < after(200)
    assert after(200) > 2
    unknown = refitted(weights, pd.DataFrame({"a": [1.0]}, index=["x"]), {"y": True})
    assert unknown is weights


def rounded(probability: float) -> str:
    """Rounded down to hundredths: what is nearly sure is not sure."""
    return f"0.{int(probability * 100):02}"


def test_a_finding_tells_what_counts_most() -> None:
    """The probability, and the features for and against it, in words."""
    texts = ("nice view", "lovely colours", "wonderful moments", "so good", "ha ha")
    joined = [
        each
        for each in findings(answers(*sent("x", *texts)), {})
        if each.subject_id.startswith("x")
    ]
    assert joined
    for each in joined:
        assert each.heuristic == JOINED
        assert f"a probability of {rounded(each.suspicion)}; " in each.evidence
        assert "log odds: " in each.evidence
        # Not all that counts, and said so: the sum is not the probability's.
        amounts = re.findall(r" ([+-]\d+\.\d)(?=,|$| \(mean)", each.evidence)
        assert 0 < len(amounts) <= 4
        odds = math.log(each.suspicion / (1 - each.suspicion))
        assert abs(sum(map(float, amounts)) - odds) > 0.2
        assert "words that no other answer about the item uses" in each.evidence
        assert each.flag == (each.suspicion >= 0.9)


def test_a_worker_s_copies_count_as_one_text() -> None:
    """Copies of an odd text are not as much evidence as different odd texts."""

    def means_of(*texts: str) -> dict[str, float]:
        rows = answer_features(answers(*sent("x", *texts)), {})
        return {str(name): float(rows[name]["x.0"]) for name in rows if "worker:" in str(name)}

    odd = "lovely colours everywhere"
    letters = "abcde"
    copies = means_of(*[odd] * len(letters))
    others = means_of(*(f"{odd} {letter}" for letter in letters))
    assert others["worker:unshared"] > 1.5 * copies["worker:unshared"] > 0
    # Punctuation and case make no other text.
    again = means_of(odd, odd.upper(), f"{odd}!!")
    assert again["worker:unshared"] == pytest.approx(means_of(odd, odd, odd)["worker:unshared"])


def test_a_worker_s_probability_is_the_mean_of_the_answers() -> None:
    """Of three or more; the sentence tells the mean of what counts in each."""
    texts = ("nice view", "lovely colours", "wonderful moments", "so good", "ha ha")
    joined: dict[str, Finding] = {}
    for many in (2, 5):
        whole = answers(*sent("x", *texts[:many]))
        joined = {
            each.subject_id: each for each in findings(whole, {}) if each.subject_id.startswith("x")
        }
        assert {f"x.{n}" for n in range(many)} <= joined.keys()
        assert ("x" in joined) == (many > 2)
    mean = np.mean([joined[f"x.{n}"].suspicion for n in range(5)])
    assert joined["x"].suspicion == pytest.approx(mean)
    assert joined["x"].evidence.endswith("(mean of 5 answers)")


def test_texts_of_one_hit_are_compared_with_each_other() -> None:
    """Each with those beside it: the same words again are more alike than usual."""
    same = [f"a red bird sits on the wire number {n}" for n in range(4)]
    others = ("two green cups", "a wide street at night", "somebody sleeps", "old brown dogs")
    rows = [
        row(f"{who}{n}", worker_id=who, assignment_id=who, hit_id="h", text=text, item_id=f"i{n}")
        for who, texts in (("copies", same), ("honest", others))
        for n, text in enumerate(texts)
    ]
    rows.append(row("alone", worker_id="alone", assignment_id="alone", text="a lone text"))
    own = own_features(table(*rows))["like_own"]
    assert own["copies0"] > 0.5 > -0.5 > own["honest0"]
    assert own["alone"] == 0
    # Another order of the rows changes nothing, to the bit.
    again = own_features(table(*rows[::-1]))["like_own"]
    assert again.reindex(own.index).equals(own)


def test_a_repeated_text_counts_once() -> None:
    """Whichever heuristics see it; and not at all if the texts of the HIT tell it."""
    alike = ["a red bird sits on the wire"] * 4
    others = ("two green cups", "a wide street at night", "somebody sleeps", "old brown dogs")
    rows = [
        row(f"{who}{n}", worker_id=who, assignment_id=hit.format(n), text=text, item_id=f"i{n}")
        for who, hit, texts in (
            *(("apart", "p{}", alike), ("together", "t", alike)),
            *((name, name, others) for name in "abcdefghij"),
        )
        for n, text in enumerate(texts)
    ]
    whole = table(*rows)
    sure = pd.DataFrame({"suspicion": 1.0}, index=whole.index)

    def likely(*names: str) -> tuple[float, float]:
        features = answer_features(whole, dict.fromkeys(names, sure))
        of_answers = pd.Series(probabilities(shipped()["answer"], features), index=whole.index)
        return of_answers["apart0"], of_answers["together0"]

    neither, first, second = likely(), likely("sentence_off_items"), likely("same_sentence")
    apart, together = likely("sentence_off_items", "same_sentence")
    assert apart == max(first[0], second[0]) > neither[0]
    assert together == neither[1]


def test_no_outcome_is_a_feature() -> None:
    """Approval rates and rejections contain what is to be found out."""
    rows = answer_features(answers(), {})
    allowed = {"unshared", "off_item", "short", "fast", "like_item", "odd_likeness"}
    allowed |= {*OF_ANSWERS, "like_own", "odd_own"}
    assert {name.removeprefix("worker:") for name in rows.columns} == allowed
    assert set(shipped()["answer"].weights) == set(rows.columns)
    workers = worker_features(answers(), {}, pd.Series(dtype="float64"))
    assert set(workers.columns) == {"answers", *OF_WORKERS} == set(shipped()["worker"].weights)
    assert {*OF_ANSWERS, *OF_WORKERS} <= {heuristic.NAME for heuristic in HEURISTICS}
    assert not [name for name in COLLECTED if "approv" in name]


def test_shipped_weights_say_what_they_were_fitted_to_and_how_good_they_are() -> None:
    """Answers beat the best single heuristic on work held out; calibration is told."""
    provenance = shipped()["answer"].provenance
    held_out, single = provenance["held out"], provenance["text_off_item alone"]
    assert held_out["auc"] > single["auc"]
    at_two = "recall at 2 % of the honest"
    assert held_out[at_two] > single[at_two]
    assert held_out["ece"][0] <= 0.05
    assert provenance["fitted to"]


@pytest.mark.parametrize(
    "rows",
    [
        [],
        [row("a")],
        [row("a", worker_id="", text="", shown_seconds=NAN, market_seconds=NAN)],
        [row(f"{n}", text="the same") for n in range(30)],
        [row(f"{n}", worker_id="") for n in range(30)],
    ],
)
def test_of_what_is_little_known_nothing_is_suspected(rows: list[dict[str, object]]) -> None:
    """Without a comparison every feature is 0, and no one is rather bad than not."""
    assert list(findings(table(*rows), {})) == []


def test_a_policy_may_go_by_the_joined_suspicion() -> None:
    """From its own line on; what the reviewer reads is the reason."""
    texts = ("nice view", "lovely colours", "wonderful moments", "so good", "ha ha")
    whole = answers(*sent("x", *texts))
    assessed = assess(whole, {}, seed=1)
    likely = {
        each.subject_id: each.suspicion
        for each in assessed
        if each.heuristic == JOINED and each.subject_kind == "worker"
    }
    assert set(likely) == {"x"}

    def excluded(above: float) -> dict[str, str]:
        rule = PolicyRule(
            subject_kind="worker",
            any_of=(),
            suspicion_above=above,
            then="exclude",
            because="Not invited again: {evidence}.",
        )
        assert check_rules([rule]) == []
        made = decide(whole, assessed, [rule], campaign="birds", at=AT, longest_reason=LONGEST)
        return {
            decision.subject_id: decision.because
            for decision in made
            if decision.verdict == "exclude"
        }

    (reason,) = excluded(likely["x"]).values()
    assert reason.startswith("Not invited again: ")
    assert f"probability of {rounded(likely['x'])}; " in reason
    assert excluded(min(likely["x"] + 0.01, 1.0)) == {}


def test_a_hit_has_no_joined_suspicion() -> None:
    """Answers and workers have; a rejection needs what was measured of the HIT."""
    rule = PolicyRule(
        subject_kind="assignment",
        any_of=(),
        suspicion_above=0.9,
        then="reject",
        because="Rejected: {evidence}.",
    )
    (fault,) = check_rules([rule])
    assert "suspicion_above applies to answers and workers" in fault


def test_what_people_decided_reaches_the_findings() -> None:
    """Workers whom people keep, again and again, are suspected less."""
    texts = ("nice view", "lovely colours", "wonderful moments", "so good", "ha ha")
    whole = answers(*sent("x", *texts))
    scored = scores(whole, {}, seed=1)

    def of_x(judged: dict[str, bool]) -> list[float]:
        return [
            each.suspicion
            for each in findings(whole, scored, {"answer": judged, "worker": {}})
            if each.subject_kind == "answer" and each.subject_id.startswith("x")
        ]

    kept = of_x({f"x.{n}": False for n in range(5)})
    dropped = of_x({f"x.{n}": True for n in range(5)})
    assert sum(kept) < sum(of_x({})) < sum(dropped)


def test_it_says_nothing_about_votes_and_times_until_people_decided() -> None:
    """Without a text that can be compared, it knew only a share of bad work."""
    fast = [row(f"f{n}", text="", market_seconds=1.0, item_id="i") for n in range(9)]
    rows = [row(f"r{n}", text="", item_id="i") for n in range(30)]
    votes = table(*fast, *rows)
    suspicions = {"too_fast": scores(votes, {}, seed=1)["too_fast"]}
    suspicions["too_fast"] = suspicions["too_fast"].assign(suspicion=1.0)
    assert list(findings(votes, suspicions)) == []
    judged = dict.fromkeys(votes.index[:20], True)
    assert list(findings(votes, suspicions, {"answer": judged}))


def test_it_says_nothing_about_unknown_workers_until_people_decided() -> None:
    """What one heuristic tells of a caption without a worker id, it tells better alone."""
    texts = ("nice view", "lovely colours", "wonderful moments", "so good", "ha ha")
    known = answers(*sent("x", *texts))
    scored = scores(known, {}, seed=1)
    assert any(each.subject_kind == "answer" for each in findings(known, scored))
    unknown = known.assign(worker_id="")
    scored = scores(unknown, {}, seed=1)
    assert list(findings(unknown, scored)) == []
    judged = dict.fromkeys([f"x.{n}" for n in range(5)], True)
    assert list(findings(unknown, scored, {"answer": judged}))
