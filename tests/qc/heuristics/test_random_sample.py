"""Laws of the random sample."""

import hashlib
import math

from hypothesis import given
from hypothesis import strategies as st

from piecework.qc.heuristics.random_sample import Params, score
from tests.examples import examples
from tests.qc.tables import flagged, row, table


def rows(count: int) -> list[dict[str, object]]:
    """So many answers."""
    return [row(f"A{place}.1") for place in range(count)]


def test_the_sample_has_about_its_share() -> None:
    """Of 2000 at 0.1, 200 are expected, sd sqrt(2000*0.1*0.9) = 13.4; within 5 sd."""
    drawn = flagged(score(table(*rows(2000)), Params(share=0.1, seed=7)))
    assert abs(len(drawn) - 200) < 5 * math.sqrt(2000 * 0.1 * 0.9)


def test_the_same_seed_draws_the_same_and_another_another() -> None:
    """The seed alone decides; nothing of the process or the platform does."""
    answers = table(*rows(300))
    drawn = flagged(score(answers, Params(share=0.2, seed=1)))
    assert drawn == flagged(score(answers, Params(share=0.2, seed=1)))
    assert drawn != flagged(score(answers, Params(share=0.2, seed=2)))


def test_whoever_knows_seed_and_id_can_check_the_draw() -> None:
    """A.1 with seed 7: the first 6 bytes of its hash, as a part of 2**48."""
    digest = hashlib.sha256(b"7:A.1").digest()
    drawn = int.from_bytes(digest[:6], "big") / 2**48
    for share in (drawn, math.nextafter(drawn, 1)):
        scores = score(table(row("A.1")), Params(share=share, seed=7))
        assert flagged(scores) == ({"A.1"} if share > drawn else set())


@examples(25)
@given(st.integers(0, 60), st.integers(0, 60), st.integers())
def test_later_answers_change_nothing(first: int, more: int, seed: int) -> None:
    """What was drawn stays drawn when answers are added, and the rest stays out."""
    params = Params(share=0.3, seed=seed)
    before = score(table(*rows(first)), params)
    after = score(table(*rows(first + more)), params)
    assert after.loc[before.index, "flag"].tolist() == before["flag"].tolist()


def test_a_larger_share_only_adds() -> None:
    """Who raises the share keeps what was reviewed already."""
    answers = table(*rows(300))
    few = flagged(score(answers, Params(share=0.1, seed=3)))
    many = flagged(score(answers, Params(share=0.4, seed=3)))
    assert few < many


def test_none_and_all() -> None:
    """A share of 0 draws none and of 1 all."""
    answers = table(*rows(50))
    assert not flagged(score(answers, Params(share=0.0)))
    assert len(flagged(score(answers, Params(share=1.0)))) == 50


def test_being_drawn_is_no_suspicion() -> None:
    """Suspicion is 0, with the reason in words."""
    scores = score(table(*rows(5)), Params(share=1.0))
    assert set(scores["suspicion"]) == {0.0}
    assert all("at random" in evidence for evidence in scores["evidence"])


def test_an_empty_table_has_no_answers() -> None:
    """No answers, no rows."""
    assert score(table(), Params()).empty
