"""SageMaker's manifests: read as a source, and written as a sink."""

import io
import json
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from piecework.campaign.assembling import load_campaign
from piecework.campaign.exchange.sinks import SinkFailed
from piecework.campaign.exchange.table_source import TableFolder
from piecework.campaign.pricing import price
from piecework.campaign.warnings import campaign_warnings
from piecework.domain.campaign import Campaign
from piecework.domain.errors import ConfigError
from piecework.domain.pictures import PictureLocation
from piecework.results.augmented_manifest import augmented_manifest
from piecework.results.export import export
from piecework.results.releases import deliver
from piecework.simulation.rehearsals.campaign import prepare
from piecework.simulation.rehearsals.rehearsal import rehearsal_of, work_through
from tests.campaign.exchange.conftest import S3
from tests.campaign.exchange.test_sources import ids, read
from tests.trusted import own

PAGE = """<crowd-form><img src="${image_url}" alt="A shape">
<input type="radio" name="shape" value="circle" required>
<input type="radio" name="shape" value="big_square"></crowd-form>"""
CAMPAIGN = """
name = "shapes"
description = "Which shape."
task = "hit.html"
answers = 3
reward = "0.10"
budget = "50.00"
hourly_wage = "1.00"
pictures = "s3://intake"
sink = "s3://labelled/labels manifest"
[items]
file = "s3://intake/jobs/"
[grows]
batch = 2
[decisions]
by = "policy"
[[decisions.rule]]
on = "answer"
any_of = ["rule_violation"]
then = "drop"
because = "Set aside: {evidence}."
"""
OLD_JOB = {"is-cat": 1, "is-cat-metadata": {"class-name": "cat", "confidence": 0.9}}


def manifest(*lines: dict[str, Any]) -> bytes:
    """The bytes of a manifest; Ground Truth's last line may have no line break."""
    return "\n".join(json.dumps(line) for line in lines).encode()


def source(tmp_path: Path, content: bytes, *columns: str) -> TableFolder:
    """The source of a manifest beside the campaign file."""
    (tmp_path / "in.manifest").write_bytes(content)
    return TableFolder(
        address="in.manifest",
        beside=tmp_path,
        columns=columns or ("item_id", "url"),
        addresses=() if columns else ("url",),
        renamed={"text": "source"} if columns else {},
    )


def test_each_object_of_a_manifest_counts_once(tmp_path: Path) -> None:
    """By its address; the metadata of an earlier job may be there."""
    content = manifest(
        {"source-ref": "s3://intake/a.jpg", **OLD_JOB},
        {"source-ref": "s3://intake/b.jpg", "item_id": "b"},
        {"source-ref": "s3://intake/a.jpg", **OLD_JOB},
    )
    rows, delivery = read(source(tmp_path, content))
    assert ids(rows)[1] == "b"
    assert ids(rows)[0] == ids(rows)[2] != ""
    assert rows[0].cells["url"] == "s3://intake/a.jpg"
    assert json.loads(rows[0].cells["is-cat-metadata"])["class-name"] == "cat"
    assert rows[0].located == f"{tmp_path}/in.manifest: line 1"
    assert delivery.unfinished == ""


def test_texts_are_items_too(tmp_path: Path) -> None:
    """Under the column that the task shows."""
    content = manifest({"source": "Good."}, {"source": "Bad."}, {"source": "Good."})
    rows, _ = read(source(tmp_path, content, "item_id", "text"))
    assert [row.cells["text"] for row in rows] == ["Good.", "Bad.", "Good."]
    assert len(set(ids(rows))) == 2


def test_lines_that_cannot_be_used_are_set_aside(tmp_path: Path) -> None:
    """With their line; a half-written last line is left for the next reading."""
    bad = b'{"source-ref": "s3://intake/a.jpg"}\n[1]\nnothing\n{"a": 1}\n\xff\xfe\n'
    source_of_bad = source(tmp_path, bad)
    rows, _ = read(source_of_bad)
    faults = [row.fault or source_of_bad.faults(row)[0] for row in rows]
    assert "each line must be one object" in faults[1]
    assert "not valid JSON Lines" in faults[2]
    assert "item_id" in faults[3]
    assert "not valid JSON Lines" in faults[4]
    rows, delivery = read(source(tmp_path, bad + b'{"source-ref": "s3://intake'))
    assert "may be half-written" in delivery.unfinished


def test_labels_come_back_as_augmented_manifests(s3: S3, tmp_path: Path) -> None:
    """One for each release, complete and never written again."""
    s3.create_bucket(Bucket="intake")
    s3.create_bucket(Bucket="labelled")
    refs = [f"s3://intake/photos/{name}.jpg" for name in ("a", "b")]
    shape = io.BytesIO()
    Image.new("RGB", (40, 30)).save(shape, "JPEG")
    for ref in refs:
        s3.put_object(Bucket="intake", Key=ref.removeprefix("s3://intake/"), Body=shape.getvalue())
    lines = [{"source-ref": ref} for ref in refs]
    s3.put_object(Bucket="intake", Key="jobs/1.manifest", Body=manifest(*lines))
    (tmp_path / "hit.html").write_text(PAGE)
    path = tmp_path / "shapes.toml"
    path.write_text(CAMPAIGN)
    own(path)
    with rehearsal_of(prepare(path)) as (run, crowd):
        assert work_through(run, crowd).missing == 0
        export(run)
    deliver(load_campaign(path))  # a rehearsal itself delivers nothing
    written = s3.get_object(Bucket="labelled", Key="labels/000001.manifest")
    labelled = [json.loads(line) for line in written["Body"].read().splitlines()]
    assert labelled
    for line in labelled:
        assert line["source-ref"] in refs
        facts = line["shape-metadata"]
        assert facts["class-name"] == ("circle", "big_square")[line["shape"]]
        assert 0 < facts["confidence"] <= 1
        assert facts["human-annotated"] == "yes"
        assert facts["type"] == "groundtruth/image-classification"
    before = s3.head_object(Bucket="labelled", Key="labels/000001.manifest")
    deliver(load_campaign(path))
    after = s3.head_object(Bucket="labelled", Key="labels/000001.manifest")
    assert after["LastModified"] == before["LastModified"]
    s3.put_object(Bucket="labelled", Key="labels/000001.manifest", Body=b"{}")
    with pytest.raises(SinkFailed, match=r"000001\.manifest is another one"):
        deliver(load_campaign(path))


TAGS = """
name = "pets"
description = "Which pets."
task = "tag"
question = "Mark each pet."
options = ["Dog", "Cat"]
answers = 3
reward = "0.10"
budget = "50.00"
hourly_wage = "1.00"
sink = "labelled manifest"
items = "in.csv"
"""


def test_boxes_come_back_as_a_manifest_that_is_a_source_again(tmp_path: Path) -> None:
    """Whole pixels, and classes by their place among the page's labels."""
    refs = [f"https://pets.example/{n}.jpg" for n in range(6)]
    (tmp_path / "in.csv").write_text("photo\n" + "".join(f"{ref}\n" for ref in refs))
    path = tmp_path / "pets.toml"
    path.write_text(TAGS)
    own(path)
    with rehearsal_of(prepare(path)) as (run, crowd):
        assert work_through(run, crowd).missing == 0
        export(run)
    deliver(load_campaign(path))
    content = (tmp_path / "labelled" / "000001.manifest").read_bytes()
    lines = [json.loads(line) for line in content.splitlines()]
    assert [line["source-ref"] for line in lines] == refs
    seen = set()
    for line in lines:
        boxes, facts = line["answer"], line["answer-metadata"]
        assert boxes["image_size"] == [{"width": 800, "height": 600, "depth": 3}]
        assert len(facts["objects"]) == len(boxes["annotations"])
        assert all(0 <= each["confidence"] <= 1 for each in facts["objects"])
        assert facts["type"] == "groundtruth/object-detection"
        names = {"0": "Dog", "1": "Cat"}
        assert facts["class-map"].items() <= names.items()
        for box in boxes["annotations"]:
            seen.add(names[str(box["class_id"])])
            assert all(isinstance(number, int) for number in box.values())
            assert min(box["width"], box["height"]) > 0
    assert seen == {"Dog", "Cat"}
    rows, _ = read(source(tmp_path, content))
    assert [row.cells["url"] for row in rows] == refs
    assert [json.loads(row.cells["answer"]) for row in rows] == [line["answer"] for line in lines]


@pytest.mark.parametrize(
    ("more", "confidence"),
    [
        ({"answer_likeliest": "Dog"}, 0.9),
        ({"answer_likeliest": "Cat"}, 0.6),
        ({"answer_likeliest": ""}, 0.6),
        ({"answer_likeliest": "Cat", "answer_settled_by_person": True}, 1.0),
        ({"answer_likeliest": "Dog", "answer_settled_by_person": False}, 0.9),
    ],
)
def test_the_confidence_is_that_of_the_label(
    tmp_path: Path, more: dict[str, Any], confidence: float
) -> None:
    """Not of the label that a model of the workers finds likelier, nor of the one before."""
    (tmp_path / "in.csv").write_text("photo\nhttps://pets.example/1.jpg\n")
    path = tmp_path / "pets.toml"
    path.write_text(TAGS.replace('"tag"', '"choose"').replace("Mark each", "Choose the"))
    row = {"item_id": "1", "answer": "Dog", "answer_share": 0.6, "answer_probability": 0.9}
    content = augmented_manifest(load_campaign(own(path)), [row | more], "2026-01-05T12:00:00+00")
    facts = json.loads(content)["answer-metadata"]
    assert (facts["class-name"], facts["confidence"]) == ("Dog", confidence)


@pytest.mark.parametrize(
    ("pictures", "url", "ref"),
    [
        ("s3://zoo", "photos/a b.jpg", "s3://zoo/photos/a b.jpg"),
        ("s3://zoo", "s3://zoo/photos/a.jpg", "s3://zoo/photos/a.jpg"),
        ("s3://zoo/photos?region=eu-west-1", "/pictures/a.jpg", "s3://zoo/photos/a.jpg"),
        ("s3://${WHO}:${WORD}@${ZOO}/photos", "a.jpg", "s3://zoo/photos/a.jpg"),
        ("s3://zoo/photos", "s3://town/a.jpg", "s3://town/a.jpg"),
        ("s3://zoo", "https://pets.example/a.jpg", "https://pets.example/a.jpg"),
        (None, "https://pets.example/a.jpg", "https://pets.example/a.jpg"),
    ],
)
def test_pictures_are_named_by_their_addresses(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pictures: str | None, url: str, ref: str
) -> None:
    """Also where rows have paths in the bucket; what opens it stays out of the manifest."""
    for name, value in {"WHO": "ada", "WORD": "secret", "ZOO": "zoo"}.items():
        monkeypatch.setenv(name, value)
    (tmp_path / "in.csv").write_text("photo\nhttps://pets.example/1.jpg\n")
    path = tmp_path / "pets.toml"
    path.write_text(TAGS.replace('"tag"', '"choose"').replace("Mark each", "Choose the"))
    campaign = load_campaign(own(path))
    location = None if pictures is None else PictureLocation.named(pictures, beside=tmp_path)
    row = {"item_id": "1", "answer": "Dog", "url": url}
    content = augmented_manifest(
        replace(campaign, pictures=location), [row], "2026-01-05T12:00:00+00"
    )
    assert json.loads(content)["source-ref"] == ref


def test_the_text_of_an_item_is_the_first_that_its_page_shows(tmp_path: Path) -> None:
    """In each process: another text would make a release another one than was written."""
    names = [f"text_{n}" for n in (5, 2, 7, 1, 4)]
    shown = "".join(f"<p>${{{name}}}</p>" for name in names)
    (tmp_path / "hit.html").write_text(
        PAGE.replace('<img src="${image_url}" alt="A shape">', shown)
    )
    (tmp_path / "in.csv").write_text(f"item_id,{','.join(names)}\n1,{','.join(names)}\n")
    path = tmp_path / "texts.toml"
    path.write_text(
        TAGS.replace('"tag"', '"hit.html"').replace("options", "#").replace("question", "#")
    )
    campaign = load_campaign(own(path))
    assert campaign.task.shown_columns == ("item_id", *names)
    row = {"item_id": "1", "shape": "circle", **{f"input_{name}": name for name in names}}
    content = augmented_manifest(campaign, [row], "2026-01-05T12:00:00+00")
    assert json.loads(content)["source"] == names[0]


def test_pictures_of_a_folder_are_no_addresses_for_a_manifest(tmp_path: Path) -> None:
    """The check says so before anything is posted."""
    (tmp_path / "photos").mkdir()
    Image.new("RGB", (40, 30)).save(tmp_path / "photos" / "1.jpg", "JPEG")
    path = tmp_path / "pets.toml"
    path.write_text(TAGS.replace('items = "in.csv"', 'items = "photos"'))
    campaign = load_campaign(own(path))

    def warnings(campaign: Campaign) -> str:
        return "\n".join(campaign_warnings(campaign, price(campaign, on=date(2026, 1, 5))))

    assert "is no address that SageMaker can read" in warnings(campaign)
    assert "SageMaker" not in warnings(replace(campaign, pictures=PictureLocation("s3://zoo")))
    assert "SageMaker" not in warnings(replace(campaign, sinks=()))


@pytest.mark.full
def test_a_task_without_labels_has_no_manifest(tmp_path: Path) -> None:
    """Captions are texts, which Ground Truth has no class for."""
    text = CAMPAIGN.replace('task = "hit.html"', 'task = "caption"')
    path = tmp_path / "shapes.toml"
    path.write_text(text)
    with pytest.raises(ConfigError, match="caption asks for none"):
        load_campaign(own(path))
