"""`piecework data describe`: tables, page and JSON; bad files end in a sentence and 2."""

import json
import re
from pathlib import Path

import pandas as pd
import pytest
from click.testing import CliRunner, Result

from piecework.cli.main import main

CAPTIONS = """image_id,caption,is_precanned
1,A red cup on a [bold]table[/bold],0
1,A red mug on the table,0
2,"<script>alert(1)</script> a dog",0
2,Quality issues are too severe,1
"""


@pytest.fixture
def captions(tmp_path: Path) -> Path:
    """Two images, one of them easy."""
    path = tmp_path / "cups.csv"
    path.write_text(CAPTIONS, encoding="utf-8")
    return path


def _describe(*words: object) -> Result:
    return CliRunner().invoke(main, ["data", "describe", *map(str, words)], catch_exceptions=False)


def test_the_terminal_shows_every_analysis(captions: Path) -> None:
    """Levels, parts of speech, specificity and scores, and what is absent."""
    result = _describe(captions, "--against", captions)
    assert result.exit_code == 0
    for words in (
        "Levels of difficulty",
        "Mean number in a caption",
        "Overlap of the most common words",
        "Specificity",
        "BLEU-4",
        "SPICE",
        "not computed",
    ):
        assert words in result.output


def test_json_is_one_document_with_the_same_figures(captions: Path) -> None:
    """Counted by hand: two images, three novel captions, one image easy."""
    figures = json.loads(_describe(captions, "--against", captions, "--json").output)
    assert (figures["images"], figures["captions"], figures["canned"]) == (2, 3, 1)
    assert figures["images_by_difficulty"] == {"easy": 1, "medium": 1}
    assert figures["human_performance"]["images"] == 1
    assert figures["human_performance"]["absent"] == ["SPICE"]
    assert figures["overlap"]["words"]["share"] == 1
    assert figures["against"]["composition"] == figures["composition"]["all"]
    assert figures["against"]["sample"]["images_missing"] == 0
    assert figures["against"]["novel_words"]["nouns"] == {}


def test_json_lists_the_words_of_each_kind(captions: Path) -> None:
    """Counted by hand: three captions, and "red" in two of them."""
    figures = json.loads(_describe(captions, "--json").output)
    assert figures["top_words"]["adjectives"]["red"] == 2
    assert figures["unknown_words"]["dictionary"]["of_captions"] == 3


def test_the_page_shows_pictures_of_the_folder_alone(tmp_path: Path) -> None:
    """A name that leads out of the folder, or is no name, is not followed."""
    folder = tmp_path / "photos"
    folder.mkdir()
    drawing = '<svg xmlns="http://www.w3.org/2000/svg" width="1" height="1"></svg>'
    for name in ("in.svg", "a b#1 50%.svg"):
        (folder / name).write_text(drawing, encoding="utf-8")
    (tmp_path / "out.svg").write_text(drawing, encoding="utf-8")
    path, page = tmp_path / "cups.csv", tmp_path / "page.html"
    path.write_text(
        "image_id,file_name,caption\n"
        "1,in.svg,a cup\n1,in.svg,a mug\n2,../out.svg,a cup\n2,../out.svg,a mug\n"
        "5,a b#1 50%.svg,a cup\n5,a b#1 50%.svg,a mug\n"
        f"3,a\0b.svg,a cup\n3,a\0b.svg,a mug\n4,{'x' * 5000},cup\n4,{'x' * 5000},mug\n",
        encoding="utf-8",
    )
    result = _describe(path, "--html", page, "--pictures", folder)
    assert result.exit_code == 0
    html = page.read_text(encoding="utf-8")
    links = set(re.findall(r'<a href="([^"#][^"]*)"><img', html))
    assert links == {"photos/in.svg", "photos/a%20b%231%2050%25.svg"}
    assert html.count("<img") == html.count('"><img')


def test_images_are_grouped_by_any_column_and_by_their_questions(
    captions: Path, tmp_path: Path
) -> None:
    """From a table of images; a grouping that is not there is named."""
    items = tmp_path / "items.csv"
    items.write_text("image_id,question,place\n1,what is it?,home\n2,,park\n")
    words = (captions, "--items", items, "--by", "question", "--by", "place")
    composition = json.loads(_describe(*words, "--json").output)["composition"]
    assert {name: group["captions"] for name, group in composition.items()} == {
        "all": 3,
        "with a question": 2,
        "without a question": 1,
        "place: home": 2,
        "place: park": 1,
    }
    refused = _describe(captions, "--by", "colour")
    assert refused.exit_code == 2
    assert "no column 'colour'" in " ".join(refused.output.split())


@pytest.mark.parametrize("kind", ["json", "csv"])
def test_captions_are_searched_for_answers(captions: Path, tmp_path: Path, kind: str) -> None:
    """The most popular of several answers counts; unanswerable questions do not."""
    path = tmp_path / f"questions.{kind}"
    if kind == "json":
        asked = [
            {
                "image": "1",
                "answer_type": "other",
                "answerable": 1,
                "answers": [{"answer": "dog"}, {"answer": "mug"}, {"answer": "mug"}],
            },
            {"image": "2", "answerable": 0, "answers": [{"answer": "dog"}]},
        ]
        path.write_text(json.dumps(asked), encoding="utf-8")
    else:
        path.write_text("image_id,answer,answer_type\n1,mug,other\n", encoding="utf-8")
    figures = json.loads(_describe(captions, "--answers", path, "--json").output)
    assert figures["answered"] == [
        {"images": "all", "kind": "all", "questions": 1, "answered": 1},
        {"images": "all", "kind": "other", "questions": 1, "answered": 1},
    ]
    assert "answer is in a caption" in _describe(captions, "--answers", path).output


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("a.json", "{", "not JSON"),
        ("b.json", "[1]", "entry 0: no 'image' and 'answers'"),
        ("c.json", "[]", "no answerable questions"),
        ("d.csv", "image_id,reply\n1,a\n", "questions need an image id"),
        ("e.csv", "image_id,answer\n9,a\n", "none of the questions"),
    ],
)
def test_unusable_questions_are_refused(
    captions: Path, tmp_path: Path, name: str, content: str, words: str
) -> None:
    """With the file or the image, and exit code 2."""
    path = tmp_path / name
    path.write_text(content, encoding="utf-8")
    result = _describe(captions, "--answers", path)
    assert result.exit_code == 2
    assert words in " ".join(result.output.split())


def test_a_list_of_a_thousand_concepts_is_read(captions: Path, tmp_path: Path) -> None:
    """The page lists a hundred of them, the JSON all."""
    path, page = tmp_path / "things.txt", tmp_path / "page.html"
    names = ["cup", *(f"thing {number}" for number in range(999))]
    path.write_text("\n".join(names), encoding="utf-8")
    words = (captions, "--concepts", path, "--html", page, "--json")
    concepts = json.loads(_describe(*words).output)["concepts"]
    assert concepts["lists"] == [{"name": "things", "concepts": 1000, "here": 1, "there": None}]
    assert len(concepts["images_by_concept"]) == 1000
    assert concepts["images_by_concept"]["cup"] == {"here": 1, "there": None}
    assert page.read_text(encoding="utf-8").count("thing ") < 250


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("\n\n", "holds no names"),
        ("x" * 201, "line 1: 201 characters"),
        ("a\n" * 50_001, "50,001 names"),
    ],
)
def test_an_unusable_list_of_concepts_is_refused(
    captions: Path, tmp_path: Path, content: str, words: str
) -> None:
    """Empty, a text instead of names, or too long."""
    path = tmp_path / "things.txt"
    path.write_text(content, encoding="utf-8")
    result = _describe(captions, "--concepts", path)
    assert result.exit_code == 2
    assert words in " ".join(result.output.split())


@pytest.mark.full
def test_the_same_words_give_the_same_page(captions: Path, tmp_path: Path) -> None:
    """Byte for byte, with strangers' words escaped."""
    pages = [tmp_path / "one.html", tmp_path / "two.html"]
    for page in pages:
        result = _describe(captions, "--html", page, "--against", captions)
        assert f"page: {page}" in result.output.replace("\n", "")
    assert pages[0].read_bytes() == pages[1].read_bytes()
    assert "<script" not in pages[0].read_text(encoding="utf-8")


def test_one_caption_an_image_has_neither_specificity_nor_scores(tmp_path: Path) -> None:
    """What cannot be computed is left out, not shown as zero."""
    path = tmp_path / "single.csv"
    path.write_text("image_id,caption\n1,a cup\n2,a dog\n", encoding="utf-8")
    result = _describe(path)
    assert result.exit_code == 0
    assert "BLEU" not in result.output
    assert "how hard the images are is unknown" in " ".join(result.output.split())
    figures = json.loads(_describe(path, "--json").output)
    assert figures["specificity"] == {"images": 0, "mean": None, "median": None}
    assert figures["images_by_difficulty"] == {}


def test_votes_on_quality_need_no_captions(tmp_path: Path) -> None:
    """Levels and flaws are told, words are not."""
    path = tmp_path / "votes.json"
    vote = {"image": "a", "unrecognizable": 1, "flaws": {"BLR": 5}}
    path.write_text(json.dumps([vote]), encoding="utf-8")
    output = _describe(path).output
    assert "blur" in output
    assert "nouns" not in output


def test_a_bad_file_ends_in_a_sentence_and_exit_code_2(tmp_path: Path) -> None:
    """The dataset's faults, and those of the other corpus."""
    good, bad = tmp_path / "good.txt", tmp_path / "bad.csv"
    good.write_text("a cup\n", encoding="utf-8")
    bad.write_text("hit,answer\n1,yes\n", encoding="utf-8")
    for words, fault in (
        ((bad,), "no column has a name that says it holds the texts"),
        ((good, "--against", bad), "no column has a name that says it holds the texts"),
    ):
        result = _describe(*words)
        assert result.exit_code == 2
        assert fault in result.output


def _boxes(*boxes: tuple[str, int]) -> str:
    sides = [
        {"label": label, "left": left, "top": 0, "width": 10, "height": 10} for label, left in boxes
    ]
    return json.dumps({"boundingBoxes": sides, "inputImageProperties": {"width": 99, "height": 99}})


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_a_dataset_of_marks_is_counted(tmp_path: Path, ending: str) -> None:
    """Two items: the first with equal boxes of two workers and one more, the second empty."""
    answers = pd.DataFrame(
        {
            "answer_id": ["1", "2", "3"],
            "item_id": ["a", "a", "b"],
            "answer": [_boxes(("cat", 0), ("dog", 50)), _boxes(("cat", 0)), _boxes()],
            "worker": ["w1", "w2", "w1"],
        }
    )
    if ending == "csv":
        answers.to_csv(tmp_path / "answers.csv", index=False)
    else:
        answers.to_parquet(tmp_path / "answers.parquet")
    for dataset in (tmp_path, tmp_path / f"answers.{ending}"):
        shown = _describe(dataset)
        assert shown.exit_code == 0, shown.output
        for words in ("Items: 2 (3 answers)", "Mean agreement: 0.67", "Marks by label", "cat"):
            assert words in shown.output
        figures = json.loads(_describe(dataset, "--json").output)
        assert (figures["marks"], figures["items"], figures["empty"]) == (3, 2, 1)
        # 1.5 marks in an answer about a, none about b.
        assert figures["per_item"] == 0.75
        # Two of three boxes match: F1 is 2 * 1 / 3.
        assert (figures["agreement"], figures["items_compared"]) == (pytest.approx(2 / 3), 1)
        assert figures["labels"][0] == {"label": "cat", "marks": 2, "answers": 2, "items": 1}
    refused = CliRunner().invoke(main, ["data", "describe", str(tmp_path), "--text", "answer"])
    assert refused.exit_code == 2
    assert "no use with a dataset of marks" in refused.output
