"""Campaigns, datasets and other tools' results, read from files."""

import json
from datetime import date
from pathlib import Path

import pytest

import piecework
from tests.conftest import ROOT
from tests.importing.batches import row, stances, write


def test_results_of_several_files_are_one_frame(tmp_path: Path) -> None:
    """Numbered columns become tasks; what was asked once a HIT is `hit.`."""
    write(tmp_path / "1.csv", stances(status="Approved"))
    more = [
        row(9, "W9", shown={"text1": "Rain"}, sent={"stance1": "yes", "note": "hm"})
        | {"Input.text2": "Sun", "Input.source": "web", "Answer.stance2": "no"}
    ]
    write(tmp_path / "2.csv", more)
    answers = piecework.read_results([tmp_path / "1.csv", str(tmp_path / "2.csv")])
    assert answers.index.name == "answer"
    assert answers.groupby("worker")["stance"].agg(list)["W9"] == ["yes", "no"]
    assert {*answers["outcome"]} == {"Approved", "Submitted"}
    assert answers["assignment"].nunique() == 4
    assert answers["hit.note"].unique().tolist() == ["fine", "hm"]
    assert "Rain tomorrow" in {*answers["item.text"]}
    assert str(answers["submitted_at"].dtype) == "datetime64[us, UTC]"
    again = piecework.assess(answers)
    assert {*again["subject_kind"]} <= {"answer", "assignment", "worker"}


def test_a_table_of_no_tool_is_read_by_what_a_file_says(tmp_path: Path) -> None:
    """Its gold answers and odd names of fields come along."""
    table = tmp_path / "votes.csv"
    rows = "".join(f"{item},P{n},{'yes' if n else 'no'},no\n" for item in "abc" for n in range(3))
    table.write_text("item,who,seconds,truth\n" + rows)
    columns = tmp_path / "columns.toml"
    columns.write_text(
        'item = ["item"]\nitem_id = "item"\nanswers = { seconds = "seconds" }\n'
        'gold = { seconds = "truth" }\n[columns]\nworker = "who"\n'
    )
    answers = piecework.read_results(table, columns=columns)
    assert answers["seconds_answer"].tolist() == ["no", "yes", "yes"] * 3
    assert answers["seconds"].isna().all()
    assert {*answers["gold.seconds"]} == {"no"}


def test_rows_that_cannot_be_read_are_told(tmp_path: Path) -> None:
    """With their number and the line of the first."""
    write(tmp_path / "1.csv", stances())
    text = (tmp_path / "1.csv").read_text()
    (tmp_path / "1.csv").write_text(text + "cut,off\n")
    with pytest.warns(UserWarning, match=r"1 row could not be read .* line 5"):
        answers = piecework.read_results(tmp_path / "1.csv")
    assert len(answers) == 6


def test_files_that_cannot_be_read_are_refused(tmp_path: Path) -> None:
    """None at all, one that is not there, one of no tool."""
    with pytest.raises(piecework.ConfigError, match="files: is empty"):
        piecework.read_results([])
    with pytest.raises(piecework.ConfigError, match="there is no such file"):
        piecework.read_results(tmp_path / "missing.csv")
    (tmp_path / "a.csv").write_text("a,b\n1,2\n")
    with pytest.raises(piecework.ConfigError, match="unknown format"):
        piecework.read_results(tmp_path / "a.csv")


def test_a_folder_that_holds_no_dataset_is_refused(tmp_path: Path) -> None:
    """Nothing there; a description of something else; a table that is missing."""
    with pytest.raises(piecework.ConfigError, match="cannot be read"):
        piecework.read_dataset(tmp_path)
    croissant = tmp_path / "croissant.json"
    croissant.write_text("[]")
    with pytest.raises(piecework.ConfigError, match="does not describe a dataset"):
        piecework.read_dataset(tmp_path)
    croissant.write_text('{"recordSet": [{"name": "answers", "field": []}]}')
    with pytest.raises(piecework.ConfigError, match=r"the table 'answers': .*No such"):
        piecework.read_dataset(tmp_path)
    (tmp_path / "answers.csv").write_text("answer_id\n1\n")
    croissant.write_text('{"recordSet": [{"name": "answers"}]}')
    with pytest.raises(piecework.ConfigError, match="the table 'answers': 'field'"):
        piecework.read_dataset(tmp_path)


def test_a_field_called_answer_keeps_its_column(tmp_path: Path) -> None:
    """As in every campaign of `describe`; the index is then the id, by its own name."""
    fields = [{"name": f"answers/{name}", "dataType": "sc:Text"} for name in _DESCRIBED]
    document = {"recordSet": [{"name": "answers", "field": fields}]}
    (tmp_path / "croissant.json").write_text(json.dumps(document))
    (tmp_path / "answers.csv").write_text(f"{','.join(_DESCRIBED)}\na.1,p1,W,A dog.\n")
    answers = piecework.read_dataset(tmp_path).answers
    assert answers.index.name == "answer_id"
    assert answers.loc["a.1"].to_dict() == {"task": "p1", "worker": "W", "answer": "A dog."}
    assert answers.reset_index()["answer_id"].tolist() == ["a.1"]


_DESCRIBED = ("answer_id", "item_id", "worker", "answer")


def test_a_campaign_is_priced_by_the_fees_of_a_day(tmp_path: Path) -> None:
    """From its path or as it was loaded: 63 pairs, ten a HIT, five answers each.

    A batch has 32 or 31 pairs, so 4 HITs; 8 HITs times 5 assignments at 45 cents and a
    fifth of it to the marketplace.
    """
    path = ROOT / "config/campaigns/congruency.toml"
    campaign = piecework.load_campaign(path)
    cost = piecework.price(campaign, on=date(2026, 1, 5))
    assert cost == piecework.price(str(path), on=date(2026, 1, 5))
    assert (cost.hits, cost.assignments) == (8, 40)
    assert (cost.rewards, cost.fees) == (40 * 45, 40 * 9)
    assert piecework.price(campaign).plain == cost.plain
    with pytest.raises(piecework.ConfigError, match="no fees are known"):
        piecework.price(campaign, on=date(1990, 1, 1))
    with pytest.raises(piecework.ConfigError, match=r"missing\.toml"):
        piecework.load_campaign(tmp_path / "missing.toml")
