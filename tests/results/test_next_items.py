"""A campaign's labels become the items of the next: congruency, categories, edits."""

import csv
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from piecework.campaign.assembling import load_campaign
from tests.importing.test_importing import done, piecework

DATA = Path(__file__).resolve().parents[3] / "shared" / "data" / "error_analysis_2017"
_NAMES = {
    "generally unrelated": "unrelated",
    "scene/event/location": "scene",
    "wrong-subject": "wrong_subject",
}


def read(path: Path) -> list[dict[str, str]]:
    """The rows of a CSV file."""
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def imported(folder: Path, task: str, field: str, rows: Sequence[Mapping[str, str]]) -> Path:
    """A campaign of a gallery task with these answers."""
    file, columns = folder / f"{task}.csv", folder / f"{task}_columns.toml"
    with file.open("w", encoding="utf-8", newline="") as out:
        writer = csv.DictWriter(out, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    asked = [name for name in (field, "other_what") if name in rows[0]]
    own = [name for name in rows[0] if name not in {"worker", *asked}]
    pairs = ", ".join(f'{name} = "{name}"' for name in asked)
    columns.write_text(
        f"item = {json.dumps(own)}\nitem_id = {json.dumps(own[0])}\n"
        f'columns = {{ worker = "worker" }}\nanswers = {{ {pairs} }}\n'
    )
    path = folder / f"{task}.toml"
    done("data", "import", file, "--as", path, "--task", task, "--columns", columns)
    path.write_text(path.read_text().replace('by = "person"', 'by = "policy"'))
    return path


def answers(item: str, field: str, values: Sequence[str]) -> list[dict[str, str]]:
    """Answers of several workers about an item."""
    return [
        {
            "pair_id": item,
            "url": f"https://example.org/{item}.jpg",
            "description": f"Description {item}",
            "reference_1": "A man.",
            "correction.truth.outcome": "corrected",
            "worker": f"w{number}",
            field: value,
        }
        for number, value in enumerate(values)
    ]


def test_what_most_call_incongruent_gets_categories(tmp_path: Path) -> None:
    """Ties and congruent ones are counted and left out; other columns stay."""
    yes, no = "congruent", "incongruent"
    rows = [
        *answers("a", "congruent", [no, no, yes]),
        *answers("b", "congruent", [yes, yes, no]),
        *answers("c", "congruent", [yes, no]),
        *answers("d", "congruent", [no]),
    ]
    campaign = imported(tmp_path, "congruency", "congruent", rows)
    next_file = tmp_path / "next.csv"
    words = ("export", campaign, "--items-for", "error_categories", next_file)
    printed = done(*words)
    assert "2 items for error_categories" in printed
    assert "not taken: 1 item labelled congruent" in printed
    assert "without a label: 1 item" in printed
    first, second = read(next_file)
    assert (first["pair_id"], second["pair_id"]) == ("a", "d")
    assert first["description"] == "Description a"
    assert first["reference_1"] == "A man."
    assert first["congruent"] == no
    assert first["correction.truth.outcome"] == "corrected"


def test_each_category_that_can_be_corrected_is_an_item_of_its_own(tmp_path: Path) -> None:
    """More than half ticked it; "generally unrelated" cannot be corrected."""
    field = "categories"
    rows = [
        *answers("a", field, ["color|number", "color", "color|number"]),
        *answers("b", field, ["unrelated", "unrelated", "scene"]),
        *answers("c", field, ["scene", "color", "number"]),
    ]
    campaign = imported(tmp_path, "error_categories", field, rows)
    next_file = tmp_path / "next.csv"
    printed = done("export", campaign, "--items-for", "correction", next_file)
    assert "not taken: 1 item labelled unrelated" in printed
    assert "without a label: 1 item" in printed
    made = read(next_file)
    assert [(row["correction_id"], row["error"]) for row in made] == [
        ("a_number", "number"),
        ("a_color", "color"),
    ]
    assert {row["truth.outcome"] for row in made} == {"corrected"}
    # The other way round: what has a category goes back to the first task.
    done("export", campaign, "--items-for", "congruency", next_file)
    assert [row["pair_id"] for row in read(next_file)] == ["a", "b"]
    assert {row["categories"] for row in read(next_file)} == {"number|color", "unrelated"}


def test_tasks_that_do_not_follow_each_other_are_refused(tmp_path: Path) -> None:
    """With those that do; a column that the task needs and nobody has is told."""
    rows = answers("a", "congruent", ["incongruent"])
    for row in rows:
        del row["url"]
    campaign = imported(tmp_path, "congruency", "congruent", rows)
    file = tmp_path / "next.csv"
    refused = piecework("export", campaign, "--items-for", "correction", file)
    assert refused.exit_code == 2
    assert "error_categories" in refused.output
    assert not file.exists()
    printed = done("export", campaign, "--items-for", "error_categories", file)
    assert "the column url" in printed
    none = tmp_path / "none"
    none.mkdir()
    congruent = imported(none, "congruency", "congruent", answers("a", "congruent", ["congruent"]))
    refused = piecework("export", congruent, "--items-for", "error_categories", file)
    assert refused.exit_code == 2
    assert "no item" in refused.output


@pytest.mark.shared
@pytest.mark.skipif(not DATA.is_dir(), reason="../shared/data is not here")
def test_the_chain_of_2017_from_its_own_annotations(tmp_path: Path) -> None:
    """1,014 captions, 812 incongruent, 195 with a wrong color of clothing."""
    texts = (DATA / "satyrid/19-sept-2016-error-analysis.dev.txt").read_text()
    lines = texts.splitlines()
    folder = DATA / "annotations_emiel"
    congruency = json.loads((folder / "congruency_data_final.json").read_text())
    ticked = json.loads((folder / "incongruent_final.json").read_text())

    def row(number: str, field: str, value: str) -> dict[str, str]:
        return {
            "pair_id": number,
            "url": f"https://example.org/{number}.jpg",
            "description": lines[int(number)],
            "worker": "first author",
            field: value,
        }

    rows = [row(number, "congruent", value) for number, value in congruency.items()]
    first = imported(tmp_path, "congruency", "congruent", rows)
    file = tmp_path / "next.csv"
    done("export", first, "--items-for", "error_categories", file)
    taken = {made["pair_id"]: made["description"] for made in read(file)}
    assert len(taken) == 812
    assert set(ticked) <= set(taken)

    rows = [
        row(number, "categories", "|".join(map(_value, values)))
        # The guidelines do not ask what "other" is; our task does.
        | {"other_what": "not said" if "other" in values else ""}
        for number, values in ticked.items()
        if number in taken
    ]
    second = imported(tmp_path, "error_categories", "categories", rows)
    done("export", second, "--items-for", "correction", file)
    kinds = Counter(made["error"] for made in read(file))
    counted = Counter(_value(name) for values in ticked.values() for name in values)
    del counted["unrelated"]
    assert kinds == counted
    assert kinds["color_of_clothing"] == 195
    assert load_campaign(second).task.name == "error_categories"


def _value(name: str) -> str:
    return _NAMES.get(name, name.replace("-", "_").replace(" ", "_"))
