"""The section on pages that were drawn at random."""

from dataclasses import replace

import numpy as np
import pandas as pd

from piecework.report.components import Section, Table
from piecework.report.model import report_model
from piecework.report.sections import experiment
from piecework.report.sections.experiment import PageExperiment
from tests.report.campaign import by_hand

WORDING = "Please write in your own words, and do not let programs write for you."


def texts(hits: int = 20, *, pasted: int = 2) -> pd.DataFrame:
    """Four texts of each HIT by four of twelve workers.

    HITs take the four pages in turn; where pasting is allowed, some texts are flagged.
    """
    return pd.DataFrame(
        [
            {
                "hit": f"h{hit}",
                "worker": f"w{(hit + 3 * turn) % 12}",
                "wording": WORDING if hit % 4 >= 2 else "",
                "paste": "blocked" if hit % 2 else "allowed",
                "is_flagged": not hit % 2 and turn < pasted,
                "words": 10.0 + hit % 2,
                "seconds": np.nan if turn == 3 else 30.0,
            }
            for hit in range(hits)
            for turn in range(4)
        ]
    )


def built(table: pd.DataFrame, *, records_typing: bool = True) -> Section:
    """The section of an experiment with these texts."""
    facts = PageExperiment(
        wordings=("", WORDING),
        pastes=("allowed", "blocked"),
        texts=table,
        records_typing=records_typing,
    )
    section = experiment.experiment_section(
        report_model(replace(by_hand.small(), of_sections=(facts,)))
    )
    assert section is not None
    return section


def rows(table: Table) -> list[tuple[str, ...]]:
    """The cells of a table."""
    return [tuple(map(str, row)) for row in table.rows]


def test_a_campaign_without_an_experiment_has_no_such_section() -> None:
    """All HITs had one page."""
    assert experiment.experiment_section(report_model(by_hand.small())) is None


def test_each_page_has_its_texts() -> None:
    """Five HITs of four texts each; half are flagged where pasting is allowed."""
    arms, _ = built(texts()).tables
    cells = rows(arms)
    assert cells[0][:5] == ("no sentence", "allowed", "5", "12", "20")
    assert cells[0][5:] == ("10 (50.0 %)", "10.0", "30")
    assert cells[3][:2] == (WORDING, "blocked")
    assert cells[3][5:7] == ("0 (0.0 %)", "11.0")


def test_differences_have_intervals_and_the_lead_says_what_they_mean() -> None:
    """The policy makes a difference of 50 points, the sentence none."""
    section = built(texts())
    of_wording, of_paste = section.lead[1:]
    assert "That may be chance." in of_wording
    assert "“Please write in your own words, and do …”" in of_wording
    assert "With pasting blocked, 0.0 % of the texts are flagged" in of_paste
    assert "instead of 50.0 % (difference: \N{MINUS SIGN}50.0 points" in of_paste
    assert "chance" not in of_paste
    effects = {(row[0], row[1]): row for row in rows(section.tables[1])}
    assert effects["pasting blocked", "words"][4] == "+1.0"
    assert effects["pasting blocked", "seconds"][4] == "factor 1.00"
    assert "not that people wrote more" in section.notes[0].text


def test_few_hits_are_shown_and_not_compared() -> None:
    """With a reason; without any text the section stands too."""
    section = built(texts(8))
    assert rows(section.tables[1]) == []
    assert "fewer than 5 HITs for each page" in section.tables[1].empty
    nothing = built(texts().iloc[:0])
    assert "0 texts by 0 workers came back" in nothing.lead[0]


def test_pages_without_records_are_named() -> None:
    """Their flags follow from counts."""
    section = built(texts(), records_typing=False)
    assert any("counts of keys" in note.text for note in section.notes)
