"""`piecework data score`: tables, page and JSON; bad files end in a sentence and 2."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from playwright.sync_api import Browser

from piecework.cli.main import main
from tests.browser.pages import faults_of_file

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
        {"1": "a red cup on a table", "2": "dogs in a park", "3": "a white door", "4": "x"},
    )


@pytest.fixture
def poor(tmp_path: Path) -> Path:
    """A system that says the same of all, and nothing of one."""
    return _predict(tmp_path, "poor", {"1": "a red thing", "2": "a red thing", "3": ""})


def _score(*words: object) -> Result:
    return CliRunner().invoke(main, ["data", "score", *map(str, words)], catch_exceptions=False)


def test_every_system_is_scored_and_compared(dataset: Path, good: Path, poor: Path) -> None:
    """The better system comes first; what was left out is stated."""
    result = _score(good, poor, "--against", dataset, "--by", "difficulty")
    assert result.exit_code == 0
    output = " ".join(result.output.split())
    assert "good is best" in output
    assert "1 image without a caption by a person" in output
    assert "poor: 1 caption without a word" in output
    # A long path is broken where the line ends.
    assert f"{poor},entry2" in output.replace(" ", "")
    assert "Differences in CIDEr-D" in output


@pytest.mark.browser
def test_everybody_can_read_the_page(
    browser: Browser, tmp_path: Path, dataset: Path, good: Path, poor: Path
) -> None:
    """On a desktop and a phone, also with names of systems that begin alike."""
    page = tmp_path / "scores.html"
    named = [
        path.rename(tmp_path / f"a_model_of_pictures_and_their_captions_{path.name}")
        for path in (good, poor)
    ]
    _score(*named, "--against", dataset, "--by", "difficulty", "--by", "place", "--html", page)
    for width in (1280, 390):
        assert faults_of_file(browser, page, width=width) == []
    text = page.read_text()
    assert "captions_good</text>" in text
    assert "captions_poor</text>" in text


def test_json_has_every_metric_with_its_interval(dataset: Path, good: Path, poor: Path) -> None:
    """A caption that equals a reference has BLEU 100; three images are scored."""
    words = (good, poor, "--against", dataset, "--by", "text", "--by", "place")
    figures = json.loads(_score(*words, "--json").output)
    whole = [row for row in figures["scores"] if row["by"] is None]
    assert [(row["system"], row["images"]) for row in whole] == [("good", 3), ("poor", 3)]
    assert whole[0]["scores"]["BLEU-1"]["score"] == pytest.approx(100)
    assert whole[0]["scores"]["BLEU-1"]["low"] <= 100
    groups = {(row["by"], row["group"], row["images"]) for row in figures["scores"]}
    # A group of one image has no CIDEr-D, so "with text" and "park" are left out.
    assert groups == {(None, None, 3), ("text", "without text", 2), ("place", "home", 2)}
    assert {row["metric"] for row in figures["differences"]} == set(figures["metrics"])


def test_the_same_words_give_the_same_page(dataset: Path, good: Path, tmp_path: Path) -> None:
    """Byte for byte; with the published results on request."""
    pages = [tmp_path / "one.html", tmp_path / "two.html"]
    for page in pages:
        result = _score(good, "--against", dataset, "--vizwiz", "--html", page)
        assert result.exit_code == 0
    assert pages[0].read_bytes() == pages[1].read_bytes()
    assert "AoANet, from scratch" in pages[0].read_text(encoding="utf-8")


def _refused(*words: object) -> str:
    result = _score(*words)
    assert result.exit_code == 2
    return " ".join(result.output.split())


@pytest.mark.parametrize(
    ("captions", "words"),
    [
        ({"8": "x", "9": "y"}, ["'8', '9'", "'1', '2', '3'"]),
        ({"1": "x", "2": "y", "3": "z", "9": "y"}, ["'9'", "entry 3"]),
        ({"1": "x", "2": "y"}, ["'3'", "empty caption"]),
    ],
)
def test_captions_of_other_images_are_refused_with_what_to_do(
    dataset: Path, tmp_path: Path, captions: dict[str, str], words: list[str]
) -> None:
    """Another split, images too many, images too few; each with the file's name."""
    path = _predict(tmp_path, "other", captions)
    output = _refused(path, "--against", dataset)
    for word in [str(path), *words]:
        assert word in output


@pytest.mark.parametrize("text", ["eine rote Tasse im Zimmer", "\u4e00\u96bb\u72d7\u5728\u8dd1"])
def test_captions_in_another_language_are_refused(dataset: Path, tmp_path: Path, text: str) -> None:
    """People use hardly a word of them, so every score would be 0."""
    path = _predict(tmp_path, "foreign", {"1": text, "2": text, "3": text})
    output = _refused(path, "--against", dataset)
    assert str(path) in output
    assert "entry 0" in output
    assert text in output


def test_captions_that_are_all_blank_are_refused(dataset: Path, tmp_path: Path) -> None:
    """A system that lost its output is no system that scores 0."""
    path = _predict(tmp_path, "blank", {"1": "", "2": " ", "3": "..."})
    output = _refused(path, "--against", dataset)
    assert str(path) in output
    assert "entry 0" in output


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A dataset's folder: a table with item ids, JSON with numbers, two splits."""
    folder = tmp_path / "dataset"
    folder.mkdir()
    rows = [line.split(",") for line in CAPTIONS.splitlines()[1:]]
    rows = [row for row in rows if row[2] == "0"] + [["4", "A blue boat"]]
    table = "".join(f"a{n},scene_{row[0]},{row[1]}\n" for n, row in enumerate(rows))
    (folder / "captions.csv").write_text("answer_id,item_id,caption\n" + table)
    images = [
        {"id": n, "item_id": f"scene_{n}", "split": "val" if n < 3 else "train"}
        for n in (1, 2, 3, 4)
    ]
    for split in ("", "_val", "_train"):
        listed = [each for each in images if f"_{each['split']}".endswith(split)]
        numbers = [each["id"] for each in listed]
        document = {
            "images": listed,
            "annotations": [
                {"image_id": int(row[0]), "caption": row[1]}
                for row in rows
                if int(row[0]) in numbers
            ],
        }
        (folder / f"captions{split}.json").write_text(json.dumps(document))
    return folder


def test_numbers_of_a_dataset_folder_are_accepted(folder: Path, tmp_path: Path) -> None:
    """COCO's numbers mean the images that captions.json gives them; or item ids do."""
    numbers = {"1": "a red cup", "2": "dogs in a park", "3": "a door", "4": "a boat"}
    by_number = _predict(tmp_path, "system", numbers)
    by_item = tmp_path / "items" / "system.csv"
    by_item.parent.mkdir()
    by_item.write_text(
        "item_id,caption\n" + "".join(f"scene_{n},{t}\n" for n, t in numbers.items())
    )
    results = {
        json.dumps(json.loads(_score(path, "--against", against, "--json").output))
        for path, against in ((by_number, folder), (by_item, folder))
    }
    assert len(results) == 1
    val = folder / "captions_val.json"
    half = tmp_path / "half.csv"
    half.write_text("item_id,caption\nscene_1,a red cup\nscene_2,dogs in a park\n")
    assert _score(half, "--against", val).exit_code == 0


def test_numbers_that_may_be_item_ids_are_refused_with_what_to_do(
    folder: Path, tmp_path: Path
) -> None:
    """Item ids 1 to 4 in another order: each way out gives the scores of its own meaning."""
    for path in folder.iterdir():
        text = path.read_text()
        for n in (1, 2, 3, 4):
            text = text.replace(f"scene_{n}", str(n % 4 + 1))
        path.write_text(text)
    texts = ("a red cup on a table", "dogs in a park", "a white door", "a blue boat")
    numbers = {str(n): text for n, text in enumerate(texts, start=1)}
    path = _predict(tmp_path, "model", numbers)
    output = _refused(path, "--against", folder)
    assert "image_id '1' may be a number or an item id" in output
    assert "score against" in output
    by_item = tmp_path / "items.csv"
    rows = (f"{int(n) % 4 + 1},{text}\n" for n, text in numbers.items())
    by_item.write_text("item_id,caption\n" + "".join(rows))
    scores = [
        json.loads(_score(made, "--against", against, "--json").output)["scores"][0]["scores"]
        for made, against in (
            (path, folder / "captions.json"),
            (by_item, folder),
            (by_item, folder / "captions.json"),
        )
    ]
    assert scores[0] == scores[1] == scores[2]
    assert scores[0]["BLEU-1"]["score"] > 90


def test_captions_of_one_split_name_the_command_that_scores_them(
    folder: Path, tmp_path: Path
) -> None:
    """Against the whole folder images are missing; against a split they are not."""
    half = _predict(tmp_path, "half", {"1": "a red cup", "2": "dogs in a park"})
    val = folder / "captions_val.json"
    for against in (folder, folder / "captions_train.json"):
        output = _refused(half, "--against", against)
        assert f"piecework data score {half} --against {val}" in output
    assert _score(half, "--against", val).exit_code == 0
    whole = {"1": "a red cup", "2": "dogs in a park", "3": "a door", "4": "a boat"}
    output = _refused(_predict(tmp_path, "whole", whole), "--against", val)
    assert f"--against {folder}" in output


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
