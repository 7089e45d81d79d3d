"""People differ in opinions as persons, by condition and by answer, and in no fact."""

import statistics
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from piecework.analyses.within_subject import paired_t_tests, repeated_measures
from piecework.campaign.assembling import read_anywhere
from piecework.domain.hit import Item
from piecework.domain.ids import AssignmentId, ItemId
from piecework.hit_templates.render import render_hit
from piecework.hit_templates.tasks import load_task
from piecework.simulation.crowd.browser import read_page
from piecework.simulation.crowd.chosen_answers import Judging
from piecework.simulation.crowd.people import opinion_offset, people

CAMPAIGNS = Path(__file__).resolve().parents[3] / "config" / "campaigns"

TASK = load_task("severity")
QUALITY = next(field for field in TASK.fields if field.name == "quality")
CROWD = people({"diligent": 600}, seed=1)


def item(name: str, error: str) -> Item:
    """An item of a condition."""
    return Item(item_id=ItemId(name), columns={"error": error})


def test_people_differ_as_much_as_those_of_the_study() -> None:
    """sqrt(21^2 + 10.5^2 + 18^2) = 29.6 of 100; 600 people give it within 10 %."""
    off = [opinion_offset(TASK, QUALITY, item("a", "age"), person, seed=1) for person in CROWD]
    assert statistics.stdev(off) == pytest.approx(29.6, rel=0.1)
    assert abs(statistics.mean(off)) < 3.5 * 29.6 / 600**0.5


def test_two_answers_of_a_person_are_alike_most_of_all_in_one_condition() -> None:
    """The sd between two is 18 sqrt 2 there, and sqrt(18^2 + 10.5^2) sqrt 2 else."""
    within, between = [], []
    for person in CROWD:
        first, same, other = (
            opinion_offset(TASK, QUALITY, made, person, seed=1)
            for made in (item("a", "age"), item("b", "age"), item("c", "gender"))
        )
        within.append(first - same)
        between.append(first - other)
    assert statistics.stdev(within) == pytest.approx(18 * 2**0.5, rel=0.1)
    assert statistics.stdev(between) == pytest.approx(20.8 * 2**0.5, rel=0.1)


@pytest.mark.full
def test_simulated_studies_find_what_the_study_found() -> None:
    """In the middle of 15 of them: F = 13.8, age t = -4.49, gender p = 0.407.

    61 of the campaign's honest people each, by the forms that they send.
    """
    campaign = read_anywhere(CAMPAIGNS / "severity.toml")
    served = [
        replace(rated, columns={**rated.columns, "url": f"/pictures/{rated.item_id}"})
        for rated in campaign.items
    ]
    page = read_page(render_hit(campaign.task, served))
    judging = Judging(campaign.task, campaign.items)
    studies = []
    for seed in range(15):
        crowd = people(campaign.rehearsal.crowd, seed=seed)
        honest = [person for person in crowd if person.trait.manner == "plain"]
        rows = []
        for place in np.random.default_rng(seed).permutation(len(honest))[:61]:
            person = honest[place]
            form = judging.fill_in(
                page,
                AssignmentId(f"{seed}.{person.handle}"),
                person=person,
                shown_ms=[10_000] * len(campaign.items),
                seed=seed,
            )
            for n, rated in enumerate(campaign.items, start=1):
                columns = rated.columns
                value = float(form[f"quality.{n}"][0])
                rows.append((person.handle, columns["error"], columns["direction"], value))
        ratings = pd.DataFrame(rows, columns=["subject", "error", "direction", "value"])
        effect = repeated_measures(ratings.rename(columns={"error": "condition"})).f
        tests = {
            error: paired_t_tests(some.rename(columns={"direction": "condition"}))
            for error, some in ratings[ratings["direction"] != ""].groupby("error")
        }
        studies.append(
            {
                "effect": effect,
                "age": tests["age"]["t"].iloc[0],
                "gender": tests["gender"]["p_value"].iloc[0],
            }
        )
    middle = pd.DataFrame(studies).median()
    assert 10 < middle["effect"] < 18
    assert 3.5 < abs(middle["age"]) < 5.5
    assert 0.25 < middle["gender"] < 0.7


def test_what_is_no_opinion_has_no_leaning() -> None:
    """Where something is right, honest people mean the same."""
    fact = replace(QUALITY, is_opinion=False)
    assert opinion_offset(TASK, fact, item("a", "age"), CROWD[0], seed=1) == 0.0


def test_people_answer_about_themselves_as_often_as_the_campaign_says() -> None:
    """35 women and 26 men of 61, 59 native speakers and 2 fluent ones, as published."""
    campaign = read_anywhere(CAMPAIGNS / "severity.toml")
    served = [
        replace(rated, columns={**rated.columns, "url": f"/pictures/{rated.item_id}"})
        for rated in campaign.items
    ]
    page = read_page(render_hit(campaign.task, served))
    judging = Judging(campaign.task, campaign.items, people=campaign.rehearsal.people)
    forms = [
        judging.fill_in(
            page,
            AssignmentId(person.handle),
            person=person,
            shown_ms=[10_000] * len(campaign.items),
            seed=1,
        )
        for person in CROWD[:300]
    ]

    def share(field: str, option: str) -> float:
        return statistics.mean(form[f"hit.{field}"] == [option] for form in forms)

    # Four standard errors of a share of 300.
    assert share("gender", "woman") == pytest.approx(35 / 61, abs=0.115)
    assert share("gender", "woman") + share("gender", "man") == 1
    assert share("proficiency", "native") == pytest.approx(59 / 62, abs=0.05)
    assert share("proficiency", "intermediate") == 0
    assert share("color_vision", "color_blind") < 0.05
