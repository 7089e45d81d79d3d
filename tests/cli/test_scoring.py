"""`piecework score`: tables, page and JSON; bad files end in a sentence and 2."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from piecework.cli.main import main

CAPTIONS = """image_id,caption,is_precanned,text_detected,place
1,A red cup on a table,0,yes,home
1,A red mug on the table,0,yes,home
2,Two green dogs run in a park,0,no,park
2,Dogs in a park,0,no,park
3,A white door,0,no,home
3,Quality issues are too severe,1,no,home
4,Quality issues are too severe,1,no,park
"""


@pytest.fixture
def dataset(tmp_path: Path) -> Path:
    """Four images, of which three have captions by people."""
    path = tmp_path / "val.csv"
    path.write_text(CAPTIONS, encoding="utf-8")
    return path


def _predict(folder: Path, name: str, captions: dict[str, str]) -> Path:
    rows = [{"image_id": int(i), "caption": text} for i, text in captions.items()]
    path = folder / f"{name}.json"
    path.write_text(json.dumps(rows), encoding="utf-8")
    return path


@pytest.fixture
def good(tmp_path: Path) -> Path:
    """A system that says what people say, and something about image 4."""
    return _predict(
        tmp_path,
        "good",
        {
            "1": "a red cup on a table",
            "2": "dogs in a park",
            "3": "a white door",
            "4": "x",
        },
    )


@pytest.fixture
def poor(tmp_path: Path) -> Path:
    """A system that says the same of all, and nothing of one."""
    return _predict(tmp_path, "poor", {"1": "a red thing", "2": "a red thing", "3": ""})


def _score(*words: object) -> Result:
    return CliRunner().invoke(main, ["score", *map(str, words)], catch_exceptions=False)


def test_every_system_is_scored_and_compared(
    dataset: Path, good: Path, poor: Path
) -> None:
    """The better system comes first; what was left out is stated."""
    result = _score(good, poor, "--against", dataset, "--by", "difficulty")
    assert result.exit_code == 0
    output = " ".join(result.output.split())
    assert "good is best" in output
    assert "1 image without a caption by a person" in output
    assert "poor: 1 caption without a word" in output
    assert "Differences in CIDEr-D" in output


def test_json_has_every_metric_with_its_interval(
    dataset: Path, good: Path, poor: Path
) -> None:
    """A caption that equals a reference has BLEU 100; three images are scored."""
    words = (good, poor, "--against", dataset, "--by", "text", "--by", "place")
    figures = json.loads(_score(*words, "--json").output)
    whole = [row for row in figures["scores"] if row["by"] is None]
    assert [(row["system"], row["images"]) for row in whole] == [
        ("good", 3),
        ("poor", 3),
    ]
    assert whole[0]["scores"]["BLEU-1"]["score"] == pytest.approx(100)
    assert whole[0]["scores"]["BLEU-1"]["low"] <= 100
    groups = {(row["by"], row["group"], row["images"]) for row in figures["scores"]}
    # A group of one image has no CIDEr-D, so "with text" and "park" are left out.
    assert groups == {
        (None, None, 3),
        ("text", "without text", 2),
        ("place", "home", 2),
    }
    assert {row["metric"] for row in figures["differences"]} == set(figures["metrics"])


def test_the_same_words_give_the_same_page(
    dataset: Path, good: Path, tmp_path: Path
) -> None:
    """Byte for byte; with the published results on request."""
    pages = [tmp_path / "one.html", tmp_path / "two.html"]
    for page in pages:
        result = _score(good, "--against", dataset, "--vizwiz", "--html", page)
        assert result.exit_code == 0
    assert pages[0].read_bytes() == pages[1].read_bytes()
    assert "AoANet, from scratch" in pages[0].read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("captions", "words"),
    [
        ({"8": "x", "9": "y"}, "none of its 2 images is in"),
        ({"1": "x", "2": "y", "3": "z", "9": "y"}, "1 image not in"),
        ({"1": "x", "2": "y"}, "no caption for 1 image of 3: '3'"),
    ],
)
def test_captions_of_other_images_are_refused_with_what_to_do(
    dataset: Path, tmp_path: Path, captions: dict[str, str], words: str
) -> None:
    """Another split, images too many, images too few."""
    result = _score(_predict(tmp_path, "other", captions), "--against", dataset)
    assert result.exit_code == 2
    assert words in " ".join(result.output.split())


def test_another_language_is_remarked(dataset: Path, tmp_path: Path) -> None:
    """Hardly a word is in the dataset's vocabulary."""
    german = {"1": "eine rote Tasse", "2": "zwei Hunde im Park", "3": "weisse Tuer"}
    result = _score(_predict(tmp_path, "german", german), "--against", dataset)
    assert result.exit_code == 0
    assert "Is it in the dataset's language?" in " ".join(result.output.split())


@pytest.mark.parametrize("column", ["no_such", "caption"])
def test_a_grouping_that_the_dataset_lacks_is_refused(
    dataset: Path, good: Path, column: str
) -> None:
    """A column that is not there is named; any other that is there may group."""
    result = _score(good, "--against", dataset, "--by", column)
    if column == "no_such":
        assert result.exit_code == 2
        assert "no column 'no_such'" in " ".join(result.output.split())
        assert str(dataset) in result.output.replace("\n", "")
    else:
        assert result.exit_code == 0
