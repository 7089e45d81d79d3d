"""Laws of how HITs get their pages in an experiment."""

from collections import Counter

from piecework.domain.experiment import PLAIN, Arm, Experiment

FOUR = Experiment(wordings=("", "Type."), pastes=("allowed", "blocked"))


def arms(batch: int, hits: int, campaign: str = "c") -> list[Arm]:
    """The arms of a batch's HITs in the first round."""
    return [
        FOUR.arm_of(campaign, batch=batch, round_=0, number=number) for number in range(1, hits + 1)
    ]


def test_every_wording_comes_with_every_policy() -> None:
    """In the order of the file; the first arm is the page as it always was."""
    assert FOUR.arms[0] == PLAIN
    assert len(set(FOUR.arms)) == 4


def test_a_batch_has_every_arm_as_often() -> None:
    """Whole runs exactly; the rest of a run adds one HIT to some arms."""
    assert set(Counter(arms(1, 20)).values()) == {5}
    assert max(Counter(arms(3, 22)).values()) - min(Counter(arms(3, 22)).values()) <= 2


def test_batches_of_one_hit_have_every_arm_together() -> None:
    """Four batches, four arms."""
    assert len({arms(batch, 1)[0] for batch in range(1, 5)}) == 4


def test_the_order_is_drawn_again_and_always_the_same() -> None:
    """It differs between runs and campaigns, and not between passes."""
    assert arms(1, 40) == arms(1, 40)
    runs = [tuple(arms(1, 40)[start : start + 4]) for start in range(0, 40, 4)]
    assert len(set(runs)) > 3
    assert arms(1, 40, "other") != arms(1, 40)


def test_an_arm_survives_the_store() -> None:
    """As text, with any wording."""
    arm = Arm(wording='“Type” — [", please', paste="blocked")
    assert Arm.from_text(arm.as_text()) == arm
