"""Every file of ../shared/data that holds results, imported with its known figures."""

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from piecework.campaign.assembling import load_campaign
from piecework.engine.opening import open_to_look
from piecework.store import imports
from tests.importing.test_importing import done

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT.parent / "shared" / "data"
COLUMNS = ROOT / "config" / "columns"

pytestmark = [
    pytest.mark.shared,
    pytest.mark.skipif(not DATA.is_dir(), reason="../shared/data is not here"),
]

FILES = {
    "vizwiz_pipeline/hit.results": ("", 10, 50, 10),
    "foreign_results/amti_batch": ("", 8, 8, 8),
    "foreign_results/amti_extract.csv": ("", 30, 30, 30),
    "foreign_results/simple_amt_results.txt": ("", 2, 2, 2),
    "mturk_batches": ("", 1450, 6850, 1365),
    "prolific_export_551.csv": ("", 550, 550, 1),
    "snow_rte.csv": ("snow_rte", 8000, 8000, 800),
    "para_quality_half.csv": ("para_quality", 1129, 3387, 120),
    "multimodal_caption_eval.csv": ("caption_ratings", 300, 900, 300),
    "iiw_side_by_side_gpt4v.jsonl": ("side_by_side", 100, 100, 100),
    "vizwiz_val_captions_half.csv": ("vizwiz_captions", 19215, 19215, 3843),
    "vizwiz_quality_train.json": ("vizwiz_quality", 23431, 23431, 23431),
    "error_analysis_2017/annotations_emiel/congruency_data_final.json": (
        *("congruency", 1014, 1014, 1014),
    ),
    "error_analysis_2017/annotations_emiel/incongruent_final.json": (
        *("error_categories", 812, 812, 812),
    ),
}
"""By file: the columns that are said, then assignments, answers and items."""

FLAGGED = {
    "vizwiz_pipeline/hit.results": 21,
    "foreign_results/amti_batch": 8,
    "foreign_results/amti_extract.csv": 30,
    "foreign_results/simple_amt_results.txt": 0,
    "iiw_side_by_side_gpt4v.jsonl": 0,
    "multimodal_caption_eval.csv": 0,
    "para_quality_half.csv": 123,
    "error_analysis_2017/annotations_emiel/congruency_data_final.json": 0,
    "error_analysis_2017/annotations_emiel/incongruent_final.json": 0,
}
"""Flagged answers by file, also in docs/internals/measurements/imports.md."""

_JUDGEMENTS = ("flickr8k/CrowdFlowerAnnotations.txt", "caption_judgements")
_DEAR = {"vizwiz_val_captions_half.csv", "vizwiz_quality_train.json", "snow_rte.csv"}


def understood(name: str, columns: str) -> dict[str, object]:
    """What `data import --dry-run` says about a file."""
    path = DATA / name
    files = sorted(path.glob("*.csv")) if name == "mturk_batches" else [path]
    columns_option = ["--columns", COLUMNS / f"{columns}.toml"] if columns else []
    document: dict[str, object] = json.loads(
        done("data", "import", *files, *columns_option, "--dry-run", "--json")
    )
    return document


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=[pytest.mark.full] if name in _DEAR else []) for name in FILES],
)
def test_each_file_is_understood(name: str) -> None:
    """With the counts of data/README.md, and those that follow from them."""
    columns, assignments, answers, items = FILES[name]
    summary = understood(name, str(columns))
    files = summary["files"]
    assert isinstance(files, list)
    assert sum(file["assignments"] for file in files) == assignments
    assert (summary["answers"], summary["items"]) == (answers, items)
    assert not sum(file["unreadable"] for file in files)


@pytest.mark.full
def test_counted_judgements_are_as_many_answers() -> None:
    """144,860 of 47,830 pairs."""
    summary = understood(*_JUDGEMENTS)
    assert (summary["answers"], summary["items"]) == (144860, 47830)


@pytest.mark.full
@pytest.mark.parametrize("name", FLAGGED)
def test_each_file_becomes_a_dataset_with_a_report(name: str, tmp_path: Path) -> None:
    """All answers come out; what is flagged is set aside until somebody decides."""
    columns, _, answers, _ = FILES[name]
    flagged, campaign = FLAGGED[name], tmp_path / "c.toml"
    columns_option = ["--columns", COLUMNS / f"{columns}.toml"] if columns else []
    done("data", "import", DATA / name, *columns_option, "--as", campaign)
    # Which answers are drawn depends on chance alone.
    text = campaign.read_text() + "\n[heuristics.random_sample]\nshare = 0.0\n"
    campaign.write_text(text)
    printed = " ".join(done("data", "assess", campaign).split())
    assert f"Flagged answers: {flagged} (" in printed
    done("export", campaign)
    main = "captions" if name.endswith(".results") else "answers"
    kept, aside = (
        pd.read_parquet(tmp_path / f"out/c/dataset/{part}.parquet") for part in (main, "set_aside")
    )
    assert len(kept) + len(aside) == answers
    why = aside["set_aside"].value_counts()
    assert set(why.index) <= {"undecided", "surplus", "canned"}
    # The rules ask for more than one flag of some heuristics, and for whole HITs.
    assert (int(why.get("undecided", 0)) > 0) == (flagged > 0)
    assert (tmp_path / "out/c/report.html").is_file()


@pytest.mark.full
def test_canned_captions_make_the_levels_of_difficulty(tmp_path: Path) -> None:
    """15751/4122/1424/878/725/531 images with 0 to 5 of five workers."""
    campaign = tmp_path / "quality.toml"
    columns_option = ["--columns", COLUMNS / "vizwiz_quality.toml"]
    done("data", "import", DATA / "vizwiz_quality_train.json", *columns_option, "--as", campaign)
    with open_to_look(load_campaign(campaign)) as opened:
        counts = opened.answers()["value.unrecognizable"].value_counts()
    assert [int(counts[number]) for number in range(6)] == [*(15751, 4122, 1424, 878, 725, 531)]


def test_prolifics_statuses_are_outcomes() -> None:
    """548 approved, 2 rejected, and one that was returned is no answer."""
    files: Any = understood("prolific_export_551.csv", "")["files"]
    (file,) = files
    assert file["outcomes"] == {"APPROVED": 548, "REJECTED": 2}
    assert file["not_sent"] == {"returned": 1}


def test_the_original_pipeline_s_flags_come_out_again(tmp_path: Path) -> None:
    """Text flags 2, no time flag, two workers with canned text on 3 of 5 images."""
    campaign = tmp_path / "vizwiz.toml"
    done("data", "import", DATA / "vizwiz_pipeline/hit.results", "--as", campaign)
    flags = json.loads(done("data", "assess", campaign, "--json"))["findings"]
    by_name = pd.Series([flag["heuristic"] for flag in flags]).value_counts()
    assert by_name["text_disagreement"] == 2
    assert by_name["canned_share"] == 2
    assert not {"time_in_image", "too_fast"} & set(by_name.index)
    canned = [flag for flag in flags if flag["heuristic"] == "canned_share"]
    assert {flag["evidence"] for flag in canned} == {"uses the canned text on 3 of 5 items"}


@pytest.mark.full
def test_the_batches_from_files_to_a_dataset_in_three_commands(tmp_path: Path) -> None:
    """Import, assess and export as in docs/how-to/importing.md; no answer is lost."""
    campaign = tmp_path / "stance.toml"
    batches = sorted((DATA / "mturk_batches").glob("*.csv"))
    done("data", "import", *batches, "--as", campaign)
    done("data", "assess", campaign)
    done("export", campaign)
    folder = tmp_path / "out/stance"
    kept, aside = (
        pd.read_parquet(folder / f"dataset/{name}.parquet") for name in ("answers", "set_aside")
    )
    assert len(kept) + len(aside) == 6850
    why = aside["set_aside"].value_counts()
    # Ten times somebody met an item again.
    assert why.to_dict() == {"undecided": 6850 - len(kept) - 10, "surplus": 10}
    both = pd.concat([kept, aside])
    again = both[both.duplicated(["worker", "item_id"], keep=False)]
    assert len(again) == 20
    assert set(aside.loc[aside["set_aside"] == "surplus"].index) <= set(again.index)
    assert set(kept["outcome_elsewhere"]) == {"Submitted"}
    report = (folder / "report.html").read_text(encoding="utf-8")
    assert "Where the answers come from" in report
    assert "Batch_2793845_batch_results.csv" in report
    # A worker's id never leaves the store.
    assert not any("A181" in path.read_text() for path in folder.rglob("*.csv"))
    with open_to_look(load_campaign(campaign)) as opened:
        assert sum(file.assignments for file in imports.files(opened.store)) == 1450


@pytest.mark.full
def test_an_expert_s_label_is_beside_what_heuristics_find(tmp_path: Path) -> None:
    """583 of 3,387 paraphrases cheat; of those that are flagged as too fast, all do."""
    source = DATA / "para_quality_half.csv"
    campaign = tmp_path / "para.toml"
    done("data", "import", source, "--columns", COLUMNS / "para_quality.toml", "--as", campaign)
    text = campaign.read_text() + "\n[heuristics.too_fast]\nmin_seconds = 5.0\n"
    campaign.write_text(text)
    flags = json.loads(done("data", "assess", campaign, "--json"))["findings"]
    fast = [flag["subject_id"] for flag in flags if flag["heuristic"] == "too_fast"]
    # Both have an id of the campaign's own in place of the platform's.
    done("export", campaign)
    folder = tmp_path / "out/para/dataset"
    answers = pd.concat(
        pd.read_parquet(folder / f"{name}.parquet") for name in ("answers", "set_aside")
    )
    outcome = dict(zip(answers["answer_id"], answers["outcome_elsewhere"], strict=True))
    assert sum("Cheating" in label.split("|") for label in outcome.values()) == 583
    assert len(fast) == 3
    assert all("Cheating" in outcome[answer].split("|") for answer in fast)
