"""The section on labels of models."""

from dataclasses import replace

import pandas as pd

from piecework.analyses.answers_needed import Replay, Replays
from piecework.domain.campaign import AsNeeded
from piecework.report.components import Section
from piecework.report.model import report_model
from piecework.report.sections import other_sources
from piecework.report.sections.other_sources import Machine, MachineModel
from tests.report.campaign import by_hand


def replay(asked: list[int], lacking: list[bool] | None = None) -> Replay:
    """Three images; they are sure unless they lack answers."""
    lack = pd.Series(lacking or [False] * 3)
    return Replay(asked=pd.Series(asked), is_sure=~lack, is_lacking=lack, same=2)


def built(people: Replay, models: Replay, shuffled: Replay) -> Section:
    """The section of a model that agrees with people about one image of two."""
    made = Replays(
        rule=AsNeeded(most=5, until=0.9),
        least=1,
        comparable=3,
        people=people,
        models=models,
        shuffled=shuffled,
    )
    facts = Machine(
        field="colour",
        models=(
            MachineModel(
                name="small", items=3, with_people=2, as_people=1, with_final=3, as_final=3
            ),
        ),
        replays=made,
        is_rule_its_own=True,
        answered=3,
    )
    section = other_sources.machine_section(
        report_model(replace(by_hand.small(), of_sections=(facts,)))
    )
    assert section is not None
    return section


def test_a_campaign_without_models_has_no_such_section() -> None:
    """Only people answered."""
    assert other_sources.machine_section(report_model(by_hand.small())) is None


def test_what_was_saved_and_what_wrong_labels_cost_are_stated() -> None:
    """4 answers of 8 saved, 10 of 8: a quarter more; each image changes alike."""
    section = built(replay([2, 2, 4]), replay([1, 1, 2]), replay([4, 2, 4]))
    saved, cost = section.lead[2:]
    assert saved.startswith("With the models, 4 answers instead of 8: 50.0 % saved (95")
    assert "as a wrong model has them, 10 answers instead of 8: 25.0 % more" in cost
    assert section.tables[0].rows == (("small", "3", "50.0 %", "100.0 %"),)
    assert section.tables[1].rows[1] == ("With models", "1.33", "100.0 %", "66.7 %")


def test_answers_that_were_not_kept_make_bounds() -> None:
    """People alone ask for 6 answers, or for 6 - 2 + 5 = 9; shuffled for as many."""
    lacks = [True, False, False]
    section = built(replay([2] * 3, lacks), replay([1] * 3), replay([2] * 3, lacks))
    saved, cost, why = section.lead[2:]
    assert "3 answers instead of 6 to 9: 50.0 % to 66.7 % saved" in saved
    assert "6 to 9 answers instead of 6 to 9: too few answers were kept" in cost
    assert "were kept about 1 of 3 images (33.3 %), with the models about 0" in why
