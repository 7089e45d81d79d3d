"""What people say of themselves leaves the store as counts that tell of nobody."""

import csv
import io
from collections.abc import Mapping
from dataclasses import replace

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from piecework.domain.field import Field, Option
from piecework.domain.hit import Item
from piecework.domain.ids import ItemId
from piecework.domain.task import Conditions
from piecework.postprocess.datasets.facts import DatasetFacts
from piecework.postprocess.datasets.files import CARD
from piecework.postprocess.pseudonyms import HIDDEN, LEAST, participants
from tests.postprocess.answers_by_hand import TASK
from tests.postprocess.made_tables import contents, made_table

Row = Mapping[str, object]

EYESIGHT = Field(
    name="eyesight",
    kind="choice",
    label="Color-blind?",
    scope="hit",
    is_personal=True,
    options=(Option(value="no"), Option(value="some"), Option(value="yes")),
)
QUALITY = Field(name="quality", kind="number", label="How good?", minimum=0, maximum=100)


STUDY = replace(
    TASK,
    fields=(EYESIGHT, QUALITY),
    aggregates=(),
    conditions=(Conditions(field="quality", column="error"),),
)


def answer(worker: int, item: str = "i1", **more: object) -> Row:
    """An answer to the study."""
    return {
        "answer_id": f"w{worker}-{item}",
        "item_id": item,
        "worker": f"{worker:016x}",
        "hit.eyesight": "no",
        "value.quality": 50.0,
        **more,
    }


def counts(*answers: Row) -> dict[str, str]:
    """The numbers told about eyesight."""
    table = participants(made_table(answers, STUDY), [EYESIGHT, QUALITY])
    assert set(table["field"]) == {"eyesight"}
    return dict(zip(table["value"], table["participants"], strict=True))


def test_people_are_counted_once_and_only_if_they_count() -> None:
    """Six people with two answers each, one dropped and one surplus: six say no."""
    answers = [answer(n, item) for n in range(6) for item in ("i1", "i2")]
    answers.append(answer(7, is_rejected=True, **{"hit.eyesight": "yes"}))
    answers.append(answer(8, is_surplus=True, **{"hit.eyesight": "yes"}))
    assert counts(*answers) == {"no": "6", "some": "0", "yes": "0"}


def test_a_small_number_hides_another_with_it() -> None:
    """Of twelve, nine say no: with one "hidden" alone, 12 - 9 would tell the three."""
    answers = [answer(n) for n in range(9)]
    answers += [answer(n, **{"hit.eyesight": "yes"}) for n in range(9, 12)]
    assert counts(*answers) == {"no": HIDDEN, "some": "0", "yes": HIDDEN}


@given(st.dictionaries(st.sampled_from(["no", "some", "yes"]), st.integers(0, 12), min_size=3))
def test_hidden_numbers_cannot_be_computed(of: dict[str, int]) -> None:
    """No small number is told, and behind hidden ones are two at least, or all."""
    rows = [
        {"worker": f"{value}{n}", "hit.eyesight": value}
        for value, number in of.items()
        for n in range(number)
    ]
    base = {"is_rejected": False, "is_surplus": False}
    table = participants(dataset_like([{**base, **row} for row in rows]), [EYESIGHT])
    published = dict(zip(table["value"], table["participants"], strict=True))
    hidden = [value for value in published if published[value] == HIDDEN]
    for value, words in published.items():
        if words != HIDDEN:
            assert int(words) == of[value]
            assert of[value] == 0 or of[value] >= LEAST
    shown = [value for value in published if published[value] not in {HIDDEN, "0"}]
    if hidden and shown:
        assert len(hidden) > 1
        assert sum(of[value] for value in hidden) >= LEAST


def dataset_like(rows: list[dict[str, object]]) -> pd.DataFrame:
    """Only the columns that counting reads."""
    columns = ["worker", "hit.eyesight", "is_rejected", "is_surplus"]
    frame = pd.DataFrame(rows, columns=columns)
    return frame.astype({"is_rejected": "bool", "is_surplus": "bool"})


@pytest.fixture
def made(facts: DatasetFacts) -> dict[str, bytes]:
    """The files of a study: two conditions, seven people."""
    items = [
        Item(item_id=ItemId(f"i{n}"), columns={"url": "", "error": error})
        for n, error in ((1, "age"), (2, "color"))
    ]
    answers = [
        answer(n, item, **{"value.quality": 10.0 * n + (20 if item == "i1" else 0)})
        for n in range(7)
        for item in ("i1", "i2")
    ]
    study = replace(facts, task=STUDY)
    return contents(made_table(answers, STUDY), items, study, ["csv", "parquet"])


def test_no_file_has_a_persons_answer_about_himself(made: dict[str, bytes]) -> None:
    """Neither as a column nor as words, and the card says so."""
    for name in ("answers.csv", "set_aside.csv", "items.csv", "conditions.csv"):
        assert b"eyesight" not in made[name], name
    assert b"eyesight" in made["participants.csv"]
    text = made[CARD].decode()
    assert "not published with the answers: eyesight." in text
    assert "`participants.*` counts the participants" in text


def test_conditions_have_their_means_over_people(made: dict[str, bytes]) -> None:
    """Seven people gave color 0, 10, ..., 60 (mean 30) and age twenty more (50).

    The sd of 0 to 60 in tens is sqrt(2800 / 6) = 21.6025, t(6) at 97.5 % is 2.446912,
    so the interval reaches 2.446912 * 21.6025 / sqrt(7) = 19.979.
    """
    rows = {
        row["condition"]: row
        for row in csv.DictReader(io.StringIO(made["conditions.csv"].decode()))
    }
    assert rows["color"]["subjects"] == "7"
    assert float(rows["color"]["mean"]) == pytest.approx(30)
    assert float(rows["color"]["sd"]) == pytest.approx(21.6025, abs=1e-4)
    assert float(rows["color"]["low"]) == pytest.approx(10.021, abs=1e-3)
    assert float(rows["age"]["mean"]) == pytest.approx(50)
    assert b'"error"' in made["items.csv"]
