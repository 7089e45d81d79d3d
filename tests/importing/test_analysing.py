"""`analyse`: published figures come out of the command, on the files they belong to."""

import json
import math
from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path
from random import Random
from typing import Any, cast

import pandas as pd
import pytest

from piecework.analyses import agreement
from piecework.domain.field import WIDEST, Arrangement
from piecework.domain.hit import Item
from piecework.domain.ids import ItemId
from piecework.hit_templates.tasks import load_task
from piecework.report.analysis.answers import AnalysedAnswers
from piecework.report.analysis.page import analyse
from piecework.report.page import render_sections
from tests.importing.batches import stances, write
from tests.importing.test_importing import campaign as campaign  # noqa: PLC0414 - a fixture
from tests.importing.test_importing import done, piecework
from tests.postprocess.made_tables import made_table
from tests.qc.rated import choice, scale, task_of

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT.parent / "shared" / "data"
COLUMNS = ROOT / "config" / "columns"

of_shared = pytest.mark.skipif(not DATA.is_dir(), reason="../shared/data is not here")


def analysed(file: str, columns: str, *words: object) -> dict[str, Any]:
    """The analyses of a file of ../shared/data."""
    columns_file = COLUMNS / f"{columns}.toml"
    text = done("data", "analyse", DATA / file, "--columns", columns_file, *words, "--json")
    document: dict[str, Any] = json.loads(text)
    return document


def by(rows: list[dict[str, Any]], name: str) -> dict[str, dict[str, Any]]:
    """Rows by one of their columns."""
    return {str(row[name]): row for row in rows}


def test_figures_of_labels_do_not_depend_on_drawn_pseudonyms(tmp_path: Path) -> None:
    """Which votes models leave out follows the order of workers, never that of their names."""
    chance = Random(5)  # noqa: S311 - drawn votes
    rows = ["task,worker,label"]
    for item in range(60):
        for worker in chance.sample(range(9), 5):
            is_right = chance.random() < 0.6 + worker / 25
            rows.append(f"i{item:02d},w{worker},{'yes' if is_right == (item % 2 == 0) else 'no'}")
    file = tmp_path / "votes.csv"
    file.write_text("\n".join(rows) + "\n", encoding="utf-8")
    words = ("data", "analyse", file, "--item", "task", "--worker", "worker")
    labels = [json.loads(done(*words, "--label", "label", "--json"))["labels"] for _ in range(3)]
    assert labels[0] == labels[1] == labels[2]


def test_agreement_by_hand(tmp_path: Path) -> None:
    """Two items: yes yes no, and no no with one empty.

    Fleiss: the items' agreement is 1/3 and 1, so 2/3; of five votes two are yes, so
    chance is .16 + .36 = .52, and kappa (.667 - .52) / .48.
    """
    batch = write(tmp_path / "batch.csv", stances())
    analysis = json.loads(done("data", "analyse", batch, "--json"))
    (field,) = analysis["agreement"]
    assert field["kappa"] == pytest.approx((2 / 3 - 0.52) / 0.48)
    assert field["unanimous"] == 0.5
    yes = by(analysis["categories"], "category")["yes"]
    # Of the two others beside each yes, one says yes.
    assert yes["agreement_on"] == 0.5
    labels = by(analysis["labels"], "method")
    assert (labels["majority"]["items"], labels["majority"]["ties"]) == (2, 0)
    # Two votes to one, and two of two: neither is as sure as many would be.
    assert 0.5 < labels["ability"]["sure"] < 0.96


def test_the_page_holds_what_the_terminal_says(tmp_path: Path) -> None:
    """Self-contained; a worker's id is in neither."""
    batch = write(tmp_path / "batch.csv", stances())
    page = tmp_path / "page.html"
    printed = done("data", "analyse", batch, "--html", page)
    text = page.read_text(encoding="utf-8")
    for words in ("Agreement on each field", "One label per item"):
        assert words in printed
        assert words in text
    assert "http" not in text.replace("http-equiv", "")


def test_a_campaign_is_analysed_by_what_counts(campaign: Path) -> None:
    """Imported answers that nobody has dropped."""
    campaign.write_text(campaign.read_text().replace('by = "person"', 'by = "policy"'))
    analysis = json.loads(done("data", "analyse", campaign, "--json"))
    assert analysis["agreement"][0]["answers"] == 5


def test_a_column_that_items_lack_is_a_fault(tmp_path: Path) -> None:
    """With those that they have."""
    batch = write(tmp_path / "batch.csv", stances())
    result = piecework("data", "analyse", batch, "--condition", "system")
    assert result.exit_code == 2
    assert "items have no column 'system'; the columns are" in result.output


def pairs(*judged: tuple[str, str, str, str]) -> AnalysedAnswers:
    """Judgements by two criteria of pairs of systems: first, second, value of each."""
    fields = tuple(choice(name, "1", "2", "3", mirrored_by="sides") for name in ("fluent", "true"))
    sides = Arrangement(name="sides", columns=("one", "two"))
    task = task_of(*fields, arrangements=(sides,))
    items = [
        Item(item_id=ItemId(f"i{n}"), columns={"made_by.one": first, "made_by.two": second})
        for n, (first, second, *_) in enumerate(judged)
    ]
    table = made_table(
        [
            {
                "answer_id": f"a{n}",
                "item_id": f"i{n}",
                "worker": f"w{n}",
                "order.sides": ("one", "two"),
                "value.fluent": fluent,
                "value.true": true,
            }
            for n, (_, _, fluent, true) in enumerate(judged)
        ],
        task,
    )
    return AnalysedAnswers(table=table, task=task, items=items)


def test_systems_that_were_never_compared_have_the_reason_for_rows() -> None:
    """Every other analysis is there; the page and the values are written."""
    judged = pairs(("a", "b", "1", "1"), ("b", "a", "1", "1"), ("c", "d", "3", "3"))
    made = analyse("a file", judged)
    values = made.as_dict()
    assert values["strengths_fluent"] == []
    assert "were never compared" in render_sections(made.page)
    assert "sides_of_the_page" in values


def test_each_criterion_has_its_own_test_of_the_first_side() -> None:
    """By one the first wins four times, by the other the second: together nobody does."""
    judged = pairs(*[("a", "b", "1", "3")] * 4)
    by_side = analyse("a file", judged).as_dict()["sides_of_the_page"]
    assert by_side == [
        {
            "criterion": name,
            "first_side_wins": first,
            "ties": 0,
            "second_side_wins": second,
            "p_value": 0.125,
        }
        for name, first, second in (("fluent", 4, 0), ("true", 0, 4))
    ]


def test_numbers_that_nearly_all_differ_fit_into_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """200 different values of 100 items: √(500 / 2) = 15 items are drawn, and no kappa."""
    monkeypatch.setattr(agreement, "_MOST_CELLS", 500)
    task = task_of(replace(scale("s"), minimum=-WIDEST, maximum=WIDEST))
    table = made_table(
        [
            {
                "answer_id": f"a{n}",
                "item_id": f"i{n // 2}",
                "worker": f"w{n % 2}",
                "value.s": n // 2 + n / 1000,
            }
            for n in range(200)
        ],
        task,
    )
    items = [Item(item_id=ItemId(f"i{n}"), columns={}) for n in range(100)]
    values = analyse("a file", AnalysedAnswers(table=table, task=task, items=items)).as_dict()
    (row,) = cast("list[dict[str, object]]", values["agreement"])
    assert (row["answers"], row["items"]) == (200, 15)
    assert (row["kappa"], row["kappa_of_equal"]) == (None, None)
    assert cast("float", row["alpha"]) > 0.9
    assert "pairs_of_workers" not in values


def scores(path: Path, values: Sequence[str]) -> Path:
    """Two systems on twenty images, rated by three workers with one of the values."""
    lines = ["image,system,worker,score"]
    rows = product(range(20), ("a", "b"), ("ada", "bob", "cy"))
    for number, (image, system, worker) in enumerate(rows):
        value = values[number % len(values)]
        lines.append(f"img_{image},{system},{worker},{value}")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


SCORES = """
item = ["image", "system"]
answers = { score = "score" }
columns = { worker = "worker" }
"""


def test_scores_with_decimals_are_compared_by_condition(tmp_path: Path) -> None:
    """Nineteen of them, from 1.9 to 5, are a number and not nineteen options."""
    file = scores(tmp_path / "r.csv", [f"{1.9 + 0.17 * n:.2f}" for n in range(19)])
    columns = tmp_path / "columns.toml"
    columns.write_text(SCORES)
    words = ("--columns", columns, "--condition", "system", "--unit", "image")
    analysis = json.loads(done("data", "analyse", file, *words, "--json"))
    assert {row["condition"] for row in analysis["means_score"]} == {"a", "b"}
    assert analysis["agreement"][0]["compared_as"] == "interval"


def test_the_same_difference_for_every_unit_is_named(tmp_path: Path) -> None:
    """F is infinite, and no cell is nan."""
    file = scores(tmp_path / "r.csv", ["1.5"] * 3 + ["2.5"] * 3 + ["2"] * 3 + ["3"] * 3)
    columns = tmp_path / "columns.toml"
    columns.write_text(SCORES)
    words = ("--columns", columns, "--condition", "system", "--unit", "image")
    printed = done("data", "analyse", file, *words)
    assert "F is infinite" in printed
    assert "∞" in printed
    (row,) = json.loads(done("data", "analyse", file, *words, "--json"))["anova_score"]
    assert (row["f"], row["df"], row["p_value"]) == (None, 1, 0)


def test_a_condition_with_a_single_value_is_refused(tmp_path: Path) -> None:
    """It is not left out without a word."""
    file = scores(tmp_path / "r.csv", ["1.5", "2.5", "4"])
    file.write_text(file.read_text().replace(",b,", ",a,"))
    columns = tmp_path / "columns.toml"
    columns.write_text(SCORES)
    refused = piecework("data", "analyse", file, "--columns", columns, "--condition", "system")
    assert refused.exit_code == 2
    assert "--condition system" in refused.output
    assert "only 'a'" in refused.output


def test_a_condition_without_anything_rated_is_refused_with_the_way_out(tmp_path: Path) -> None:
    """Words are no numbers; they are compared once it is said what they stand for."""
    file = scores(tmp_path / "r.csv", ["good", "fair", "bad"])
    columns = tmp_path / "columns.toml"
    columns.write_text(SCORES)
    words = ("--columns", columns, "--condition", "system", "--unit", "image")
    refused = piecework("data", "analyse", file, *words)
    assert refused.exit_code == 2
    assert "--condition system" in refused.output
    assert "score (choice)" in refused.output
    assert '[fields.NAME] kind = "number"' in refused.output
    columns.write_text(
        f'{SCORES}values = {{ good = "3", fair = "2", bad = "1" }}\n'
        '[fields.score]\nkind = "number"\nmaximum = 4\n'
    )
    analysis = json.loads(done("data", "analyse", file, *words, "--json"))
    assert len(analysis["means_score"]) == 2


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ('[fields.scroe]\nkind = "number"', "no such answer; did you mean 'score'"),
        ('[fields.score]\nkind = "nubmer"', "fields.score.kind"),
        ("[field.score]", "field: no such key; did you mean 'fields'?"),
    ],
)
def test_a_wrong_field_of_columns_is_named(tmp_path: Path, table: str, words: str) -> None:
    """With the one that was meant, and never the same word again."""
    columns = tmp_path / "columns.toml"
    columns.write_text(f"{SCORES}{table}\n")
    file = scores(tmp_path / "r.csv", ["1.5", "2.5"])
    refused = piecework("data", "analyse", file, "--columns", columns)
    assert refused.exit_code == 2
    assert words in refused.output


def test_a_number_that_is_none_is_refused(tmp_path: Path) -> None:
    """With the answer that is no number."""
    columns = tmp_path / "columns.toml"
    columns.write_text(f'{SCORES}[fields.score]\nkind = "number"\n')
    file = scores(tmp_path / "r.csv", ["1.5", "good"])
    refused = piecework("data", "analyse", file, "--columns", columns)
    assert refused.exit_code == 2
    assert "such as 'good'" in refused.output


@pytest.mark.full
@of_shared
@pytest.mark.shared
def test_three_captions_on_a_page() -> None:
    """The means of docs/internals/measurements/published-figures.md: 4.51, 3.49 and 1.97."""
    analysis = analysed(
        "multimodal_caption_eval.csv",
        "caption_ratings",
        *("--condition", "choice", "--unit", "image_id", "--margin", "0.5"),
    )
    means = by(analysis["means_visual_fit"], "condition")
    rounded = {name: round(row["mean"], 2) for name, row in means.items()}
    assert rounded == {"gt": 4.51, "ours": 3.49, "zerocap_fixed": 1.97}
    assert (round(means["gt"]["low"], 2), round(means["gt"]["high"], 2)) == (4.37, 4.65)
    (test,) = analysis["anova_visual_fit"]
    assert round(test["f"], 1) == 158.2
    assert (round(test["df"], 2), round(test["df_error"], 1)) == (1.98, 196.1)
    assert round(test["eta_squared_generalised"], 2) == 0.52
    places = by(analysis["order_visual_fit"], "position")
    assert [round(row["mean"], 2) for row in places.values()] == [3.02, 3.43, 3.53]
    assert [round(row["beyond"], 2) for row in places.values()] == [-0.03, 0.04, -0.01]
    assert round(places["1"]["p_value"], 2) == 0.89
    fit = by(analysis["agreement"], "field")["visual_fit"]
    assert fit["compared_as"] == "ordinal"
    assert round(fit["alpha"], 2) == 0.68
    assert (round(fit["alpha_low"], 1), round(fit["alpha_high"], 1)) == (0.6, 0.7)
    assert len(analysis["equivalence_visual_fit"]) == 3


@of_shared
@pytest.mark.shared
def test_long_descriptions_side_by_side() -> None:
    """Better, neutral, worse on five criteria, and +48 % over them."""
    analysis = analysed("iiw_side_by_side_gpt4v.jsonl", "side_by_side")
    rows = by(analysis["preferences"], "criterion")
    counts = {name: (row["better"], row["neutral"], row["worse"]) for name, row in rows.items()}
    assert counts == {
        "comprehensiveness": (48, 39, 13),
        "first_lines": (81, 8, 11),
        "hallucination": (65, 29, 6),
        "human_like": (40, 41, 19),
        "specificity": (69, 15, 16),
    }
    assert round(100 * sum(row["net"] for row in rows.values()) / 5) == 48
    assert rows["human_like"]["p_adjusted"] == pytest.approx(0.043, abs=5e-4)


@of_shared
@pytest.mark.shared
@pytest.mark.full
def test_textual_entailment() -> None:
    """Majority 0.8969 with 65 ties, Dawid-Skene 0.9275; ability 0.9287."""
    analysis = analysed("snow_rte.csv", "snow_rte")
    methods = by(analysis["labels"], "method")
    assert round(methods["majority"]["right"], 4) == 0.8969
    assert methods["majority"]["ties"] == 65
    assert round(methods["Dawid-Skene"]["right"], 4) == 0.9275
    assert methods["weighted majority"]["right"] > methods["majority"]["right"]
    assert round(methods["ability"]["right"], 4) == 0.9287
    # Left-out votes show that this crowd shares few errors, so it is nearly as sure as right.
    assert round(methods["ability"]["sure"], 4) == 0.9255
    assert all(
        math.isfinite(row["kappa"])
        for row in analysis["pairs_of_workers"]
        if row["kappa"] is not None
    )


@of_shared
@pytest.mark.shared
@pytest.mark.full
def test_crowd_sourced_judgements() -> None:
    """Fleiss' kappa 0.515 of 46,780 pairs judged three times, 0.511 of all."""
    analysis = analysed("flickr8k/CrowdFlowerAnnotations.txt", "caption_judgements")
    (field,) = analysis["agreement"]
    assert (field["usual_answers"], field["items_of_equal"]) == (3, 46780)
    assert round(field["kappa_of_equal"], 3) == 0.515
    assert round(field["kappa"], 3) == 0.511
    assert round(100 * field["unanimous"], 1) == 90.5
    yes = by(analysis["categories"], "category")["yes"]
    assert round(yes["share"], 4) == 0.0688


@of_shared
@pytest.mark.shared
def test_errors_in_generated_captions() -> None:
    """202 of 1,014 are congruent; 264 are generally unrelated."""
    folder = "error_analysis_2017/annotations_emiel"
    analysis = analysed(f"{folder}/congruency_data_final.json", "congruency")
    assert by(analysis["categories"], "category")["congruent"]["answers"] == 202
    analysis = analysed(f"{folder}/incongruent_final.json", "error_categories")
    categories = by(analysis["categories"], "category")
    assert categories["generally unrelated"]["answers"] == 264
    assert categories["color of clothing"]["answers"] == 195


def test_conditions_of_the_task_are_compared_within_workers() -> None:
    """All of a study's participants share one HIT, which is no unit to compare in."""
    table = pd.DataFrame(
        {"item_id": ["a", "b", "a", "b"], "hit_id": "only", "worker": ["ann", "ann", "bob", "bob"]}
    )
    items = [
        Item(item_id=ItemId("a"), columns={"error": "age", "image": "one"}),
        Item(item_id=ItemId("b"), columns={"error": "gender", "image": "two"}),
    ]
    answers = AnalysedAnswers(
        table=table, task=load_task("severity"), items=items, condition="error"
    )
    assert answers.units.tolist() == ["ann", "ann", "bob", "bob"]
    assert replace(answers, unit="image").units.tolist() == ["one", "two"] * 2
    assert replace(answers, condition="image").units.tolist() == ["only"] * 4
