"""Laws of agreement with the others beyond chance."""

import itertools
import json
import math
import random
import re
from dataclasses import replace

import numpy as np
import pytest

from piecework.analyses.dawid_skene import beliefs_of_others
from piecework.domain.field import Field
from piecework.qc.heuristics.low_agreement import Params, score
from piecework.qc.ratings import rating
from piecework.qc.relations import line_of, nearness
from tests.qc.rated import box, boxes, choice, ratings, scale, task_of
from tests.qc.tables import cells, flagged, row, table

TASK = task_of(choice("fit", "yes", "no"))


def test_the_strength_is_the_slope_over_what_the_others_believe() -> None:
    """By hand: the others are sure of nothing, so a vote by their odds has slope 1.

    The third worker of each item sees two votes. If both say yes, each weighs log 4 (right
    four times in five), so yes is 16 to 1; in the first round and in all later ones, because
    all are right as often.
    """
    votes = np.array([[0, 0, 0], [1, 1, 1], [0, 0, 0], [1, 1, 1]])
    items, workers = np.repeat(np.arange(4), 3), np.tile(np.arange(3), 4)
    beliefs = beliefs_of_others(items, workers, votes.ravel())
    assert beliefs.sum(axis=1) == pytest.approx(1.0)
    assert np.argmax(beliefs, axis=1).tolist() == votes.ravel().tolist()
    # All are right as often, and both values are as frequent.
    (odds,) = {round(float(row.max() / row.min()), 6) for row in beliefs}
    right = 0.8
    for _ in range(20):
        right = (4 * right**2 / (right**2 + (1 - right) ** 2) + 8) / (4 + 10)
    assert odds == pytest.approx((right / (1 - right)) ** 2, rel=0.05)
    rows = [
        (worker, f"{n}", "yes" if n % 2 else "no") for n in range(12) for worker in ("a", "b", "c")
    ]
    sentence = cells(score(ratings(TASK, rows), Params()), "a")[2]
    probable = float(sentence.split("answers are ")[1].split(" %")[0]) / 100
    # Votes from 0 to 1 over beliefs from 1 - p to p.
    assert f"with strength {1 / (2 * probable - 1):.2f}, give" in sentence


def test_grades_are_read_as_they_are() -> None:
    """By hand: four grades apart by a quarter of the scale, each a quarter.

    Item by item a says 1, 2, 3, 4 of five grades, b and c one more: 2, 3, 4, 5. a is
    1/4 from both on each item. The pool is 1, 2 x3, 3 x3, 4 x3, 5 x2: a blind answer is
    from 2 at (1 + 0 + 3 + 6 + 6) / 48 = 16/48, from 3 at (2 + 3 + 0 + 3 + 4) / 48 =
    12/48, from 4 at (3 + 6 + 3 + 0 + 2) / 48 = 14/48, from 5 at (4 + 9 + 6 + 3 + 0) /
    48 = 22/48. So a: 1 - 1 / ((16 + 12 + 14 + 22) / 48) = 1 - 48/64 = 0.25.
    """
    task = task_of(choice("grade", "1", "2", "3", "4", "5"))
    rows = [
        (worker, f"i{n}", f"{n + more}")
        for n in range(1, 5)
        for worker, more in (("a", 0), ("b", 1), ("c", 1))
    ]
    scores = score(ratings(task, rows), Params(min_items=4))
    assert ": 0.25, give or take" in cells(scores, "a")[2]


@pytest.mark.parametrize("seed", range(5))
def test_a_guesser_is_found_among_careful_people(seed: int) -> None:
    """Six people who are right nine times of ten, and one who tosses a coin."""
    rng = random.Random(seed)  # noqa: S311 - no secret
    rows = []
    for n in range(40):
        truth, other = rng.sample(["yes", "no"], 2)
        rows += [(worker, f"{n}", truth if rng.random() < 0.9 else other) for worker in "abcdef"]
        rows.append(("guesser", f"{n}", rng.choice([truth, other])))
    scores = score(ratings(TASK, rows), Params())
    assert flagged(scores) == {"guesser"}


def test_places_and_ticks_have_distances_too() -> None:
    """On a scale near is near; who is far from everybody on all items is flagged."""
    rows = []
    for n in range(12):
        place = float(n * 8)
        rows += [(worker, f"{n}", place) for worker in "abc"]
        rows.append(("far", f"{n}", 88.0 - place))
    assert flagged(score(ratings(task_of(scale("s")), rows), Params())) == {"far"}


def test_a_number_outside_the_scale_excuses_nobody() -> None:
    """One slip of a careful worker would make all others near, and is no place at all."""
    rows = []
    for n in range(12):
        place = float(n * 8)
        rows += [(worker, f"{n}", place) for worker in "abc"]
        rows.append(("far", f"{n}", 88.0 - place))
    rows[0] = ("a", "0", 100_000.0)
    rated = ratings(task_of(scale("s")), rows)
    assert flagged(score(rated, Params())) == {"far"}
    places = rated["rated.s"]
    assert places.isna().tolist() == [True] + [False] * 47
    assert rating(scale("s"), -1.0) == pytest.approx(math.nan, nan_ok=True)
    assert rating(replace(scale("s"), minimum=0.1, maximum=0.7), 0.7) == pytest.approx(1.0)


def test_few_answers_of_an_honest_worker_are_noise() -> None:
    """Wrong on five of ten is below the line, and within what chance does."""
    rows = [(worker, f"{n}", "yes" if n % 2 else "no") for n in range(10) for worker in "abc"]
    rows += [("d", f"{n}", "yes" if n in {0, 1, 3, 4, 5, 6} else "no") for n in range(10)]
    scores = score(ratings(TASK, rows), Params())
    assert "d" not in flagged(scores)
    assert "d" in flagged(score(ratings(TASK, rows), Params(errors=0.0)))


def test_the_busiest_bad_worker_does_not_pass() -> None:
    """A relation of a tenth is significant on a thousand items, and small on any number."""
    rng = random.Random(2)  # noqa: S311 - no secret
    rows = []
    for n in range(1_000):
        truth, other = rng.sample(["yes", "no"], 2)
        honest = rng.sample([f"w{k}" for k in range(12)], 3)
        rows += [(worker, f"{n}", truth if rng.random() < 0.85 else other) for worker in honest]
        rows.append(("busy", f"{n}", truth if rng.random() < 0.55 else other))
    assert flagged(score(ratings(TASK, rows), Params())) == {"busy"}


@pytest.mark.parametrize("seed", range(3))
def test_rare_labels_are_not_held_against_those_who_met_none(seed: int) -> None:
    """Thirty honest people of twelve to forty votes each, where one item in ten is "yes"."""
    rng = random.Random(seed)  # noqa: S311 - no secret
    truth = {f"{n}": "yes" if rng.random() < 0.1 else "no" for n in range(200)}
    rows = [
        (f"w{worker}", item, "yes" if truth[item] == "yes" and rng.random() < 0.8 else "no")
        for worker in range(30)
        for item in rng.sample(sorted(truth), rng.randint(12, 40))
    ]
    rows += [("always yes", item, "yes") for item in rng.sample(sorted(truth), 20)]
    assert flagged(score(ratings(TASK, rows), Params())) == {"always yes"}


def test_suspicion_ranks_workers_of_few_votes_too() -> None:
    """Three wrong votes of three are more suspect than three right, and no flag."""
    rows = [(worker, f"{n}", "yes" if n % 2 else "no") for n in range(20) for worker in "abcd"]
    rows += [("right", f"{n}", "yes" if n % 2 else "no") for n in range(3)]
    rows += [("wrong", f"{n}", "no" if n % 2 else "yes") for n in range(3)]
    scores = score(ratings(TASK, rows), Params())
    assert scores["suspicion"]["right"] < scores["suspicion"]["wrong"] < 0.5
    assert flagged(scores) == set()


WORDS = ("against", "perhaps against", "neutral", "perhaps for", "for")


@pytest.mark.parametrize("seed", range(5))
def test_who_uses_the_words_differently_is_not_flagged(seed: int) -> None:
    """Six say "for" where one says "perhaps for"; another draws the same words blindly.

    Both agree with nobody. The first one's answers follow the others', the second's do
    not, and only the second is flagged.
    """
    rng = random.Random(seed)  # noqa: S311 - no secret
    rows, careful = [], []
    for n in range(40):
        truth = rng.choice((0, 4))
        rows += [(worker, f"{n}", WORDS[truth if rng.random() < 0.9 else 2]) for worker in "abcdef"]
        careful.append(WORDS[1 if truth == 0 else 3])
    blind = rng.sample(careful, len(careful))
    for n, (own, other) in enumerate(zip(careful, blind, strict=True)):
        rows += [("careful", f"{n}", own), ("blind", f"{n}", other)]
    scores = score(ratings(task_of(choice("stance", *WORDS)), rows), Params())
    assert scores["suspicion"]["careful"] < 0.5
    assert flagged(scores) == {"blind"}


def test_nearness_is_against_all_orders_of_the_same_answers() -> None:
    """Mean and variance over all 720 orders of six answers, counted one by one."""
    rng = np.random.default_rng(1)
    distances, codes = rng.random((3, 6)), np.array([0, 1, 2, 0, 1, 0])
    sums = [distances[list(order), np.arange(6)].sum() for order in itertools.permutations(codes)]
    own = distances[codes, np.arange(6)].sum()
    relation, surely = nearness(codes, distances)
    assert surely == pytest.approx((np.mean(sums) - own) / np.std(sums))
    # Between two places it is the correlation.
    places, theirs = np.array([0, 1, 1, 0, 1]), rng.random(5)
    relation, _ = nearness(places, np.abs(np.array([[0.0], [1.0]]) - theirs))
    assert relation == pytest.approx(np.corrcoef(places, theirs)[0, 1])


def test_opinions_are_not_held_against_others() -> None:
    """Where to differ is no fault, even a lone voice is no suspicion."""
    task = task_of(replace(scale("s"), is_opinion=True))
    rows = []
    for n in range(12):
        place = float(n * 8)
        rows += [(worker, f"{n}", place) for worker in "abc"]
        rows.append(("far", f"{n}", 88.0 - place))
    assert score(ratings(task, rows), Params())["suspicion"].tolist() == [0.0] * 4


def test_nobody_to_compare_with_is_no_suspicion() -> None:
    """Alone on every item, or all the same everywhere: nothing is measured."""
    alone = [("w", f"{n}", "yes") for n in range(20)]
    same = [(worker, f"{n}", "yes") for n in range(20) for worker in "abc"]
    for rows in (alone, same):
        scores = score(ratings(TASK, rows), Params())
        assert scores["suspicion"].tolist() == [0.0] * len(scores)
    assert score(table(row("a")), Params())["suspicion"].tolist() == [0.0]
    assert score(table(), Params()).empty


def test_options_that_are_grades_are_put_in_order() -> None:
    """Workers who differ by a grade at most show which grades are neighbours."""
    grades = ("against", "probably", "for", "surely")
    chance = random.Random(3)  # noqa: S311 - no secret
    codes = [min(max(n % 4 + chance.choice((-1, 0, 1)), 0), 3) for n in range(400)]
    others = [min(max(n % 4 + chance.choice((-1, 0, 1)), 0), 3) for n in range(400)]
    axis = line_of(np.array(codes), np.eye(len(grades))[others])
    assert abs(np.diff(np.argsort(np.argsort(axis)))).tolist() == [1, 1, 1]


def test_boxes_are_compared_by_how_they_overlap() -> None:
    """Who draws elsewhere is flagged; who draws less exactly than others is not.

    By hand: a, b and c agree fully; d draws 3 of 10 pixels beside them (IoU 7/13), which
    still matches; x matches nobody.
    """
    task = task_of(boxes("boxes"))
    shifts = {"a": 0, "b": 0, "c": 0, "d": 3, "x": 500}
    rows = [
        (worker, f"i{n}", box(100 * n + shift))
        for n in range(12)
        for worker, shift in shifts.items()
    ]
    scores = score(ratings(task, rows), Params())
    assert flagged(scores) == {"x"}
    assert "about boxes: 0.00, give or take" in cells(scores, "x")[2]
    # Three of four others are near.
    assert "about boxes: 0.75, give or take" in cells(scores, "d")[2]
    tags = [(worker, item, box(0, "nest" if worker == "x" else "bird")) for worker, item, _ in rows]
    assert flagged(score(ratings(task, tags), Params())) == {"x"}


def test_who_transcribes_something_else_is_flagged() -> None:
    """Words are compared without case and signs; who mishears a word is no bad worker."""
    task = task_of(Field(name="said", kind="text", label="Said?", is_transcript=True))
    heard = {
        "a": "The dog barks at a cat.",
        "b": "the dog barks at a cat",
        "c": "a dog barks at the cat",
        "d": "the dog parks at a cat",
        "x": "I could not hear anything",
    }
    rows = [(worker, f"i{n}", text) for n in range(12) for worker, text in heard.items()]
    scores = score(ratings(task, rows), Params())
    assert flagged(scores) == {"x"}
    assert "agrees little with others about said: 0.00" in cells(scores, "x")[2]


def test_boxes_that_cannot_be_read_count_for_nobody() -> None:
    """Neither the worker who sent them nor the others of the item agree less for them."""
    task = task_of(boxes("boxes"))
    many = json.dumps({"boundingBoxes": json.loads(box(0))["boundingBoxes"] * 501})
    drawn = {"a": box(0), "b": box(0), "c": box(0), "x": box(500)}
    bad = {"y": "[", "z": '{"boundingBoxes": 5}', "many": many}
    rows = [(worker, f"i{n}", text) for n in range(12) for worker, text in drawn.items()]
    more = [(worker, f"i{n}", text) for n in range(12) for worker, text in bad.items()]
    scores = score(ratings(task, rows + more), Params())
    assert flagged(scores) == {"x"}
    alone = score(ratings(task, rows), Params())
    assert scores.loc[[*drawn]].to_dict() == alone.to_dict()
    # Two workers whose answers can be read are too few to compare.
    assert not score(ratings(task, rows[::2] + more), Params())["flag"].any()


def _limits(sentence: str) -> list[tuple[float, float]]:
    """What a sentence states of a worker, and the limit after it."""
    far = re.search(r"(\S+) standard deviations above; limit ([\d.]+)", sentence)
    weak = re.search(
        r"(\S+), give or take \S+ \(0 is chance, 1 is [^)]*; limit ([\d.]+)\)", sentence
    )
    if far:
        assert sentence.count("limit") == 1
        return [(float(far[2]), float(far[1]))]
    return [(float(weak[1]), float(weak[2]))] if weak else []


@pytest.mark.parametrize("kind", ["votes", "places"])
def test_the_reason_names_a_limit_that_the_worker_broke(kind: str) -> None:
    """Most agree nearly fully; who is far behind them still has a strength above its limit."""
    rng = random.Random(7)  # noqa: S311 - no secret
    rows: list[tuple[str, str, object]] = []
    right = {"half": 0.62, "blind": 0.4}
    for n in range(60):
        truth, other = rng.sample([20.0, 80.0], 2)
        for worker in ("a", "b", "c", "d", "e", "f", *right):
            place = truth if rng.random() < right.get(worker, 0.97) else other
            near = place + (rng.uniform(-2, 2) if kind == "places" else 0)
            rows.append(
                (worker, f"{n}", near if kind == "places" else {20.0: "no"}.get(place, "yes"))
            )
    task = TASK if kind == "votes" else task_of(scale("s"))
    scores = score(ratings(task, rows), Params())
    assert flagged(scores) == {*right}
    sentences = {worker: cells(scores, worker)[2] for worker in right}
    assert "standard deviations above" in sentences["half"]
    assert "standard deviations above" not in sentences["blind"]
    for sentence in sentences.values():
        ((lower, higher),) = _limits(sentence)
        assert lower < higher
