"""Drawn pairs of which it is known who is better."""

from piecework.simulation.pictures.scenes import PLACES
from tools.examples.backgrounds import BACKGROUNDS
from tools.examples.items_files import SEED, clear_scenes, pairwise_rows
from tools.examples.pairs import pairs_of, swapped

ROWS = list(pairs_of(clear_scenes(), images=12, seed=SEED))


def test_each_image_comes_twice_in_a_row_with_other_systems() -> None:
    """Two pairs of an image have four systems between them, and four texts."""
    for first, second in zip(ROWS[::2], ROWS[1::2], strict=True):
        assert first["image_id"] == second["image_id"]
        assert first["correct"] == second["correct"]
        names = ("generated_1", "generated_2")
        assert len({row[f"made_by.{n}"] for row in (first, second) for n in names}) == 4
        assert len({row[name] for row in (first, second) for name in names}) == 4


def test_descriptions_are_long_and_describe_the_place_they_name() -> None:
    """About a hundred words, except from the system that leaves things out."""
    for row in ROWS:
        for name in ("correct", "generated_1", "generated_2"):
            if row.get(f"made_by.{name}") == "terse":
                assert len(row[name].split()) < 15
                continue
            assert 85 <= len(row[name].split()) <= 115
            (place,) = (place for place, words in BACKGROUNDS.items() if words in row[name])
            assert any(phrase in row[name] for phrase in PLACES[place].phrases)


def test_the_grades_follow_from_what_was_planted() -> None:
    """No error beats one slightly and two by far; a thing left out is one detail."""
    for row in ROWS:
        faults = {"thorough": 0, "terse": 0, "hasty": 1, "dreaming": 2}
        first, second = row["made_by.generated_1"], row["made_by.generated_2"]
        wrong = faults[first] - faults[second]
        gone = (first == "terse") - (second == "terse")
        assert row["truth.mistakes"] == str(3 + wrong)
        assert row["truth.missing_details"] == str(3 + gone)
        assert row["truth.overall_quality"] == str(3 + max(-2, min(2, wrong + gone)))


def test_a_pair_that_is_asked_again_is_the_other_way_round() -> None:
    """Texts and systems change places, and grades are mirrored at 3."""
    for row in ROWS:
        again = swapped(row)
        assert again["generated_1"] == row["generated_2"]
        assert again["made_by.generated_2"] == row["made_by.generated_1"]
        for name in ("truth.mistakes", "truth.missing_details", "truth.overall_quality"):
            assert int(again[name]) + int(row[name]) == 6


def test_the_campaign_has_gold_and_pairs_asked_twice() -> None:
    """Quality control has something to hold answers against."""
    rows = list(pairwise_rows())
    known = {row["pair_id"] for row in rows}
    assert sum(row["gold.overall_quality"] != "" for row in rows) >= 3
    twins = [row["twin"] for row in rows if row["twin"]]
    assert len(twins) >= 2
    assert set(twins) <= known
