"""Cleaned texts on frames, and pages of HITs."""

from pathlib import Path

import pandas as pd
import pytest

import piecework
from piecework.hit_templates.starters import starter_files
from piecework.postprocess.edits import replay

WRITTEN = pd.DataFrame(
    {"text": ["a  wooden tabel", None, "a Gevalia cofee"]}, index=["x", "y", "z"]
)


def test_edits_lead_from_each_text_to_the_clean_one() -> None:
    """As rows of a frame, which name the row of the text that they point into."""
    cleaned = piecework.clean_texts(WRITTEN)
    assert cleaned.texts["clean_text"].iloc[[0, 2]].tolist() == [
        "a wooden table",
        "a Gevalia coffee",
    ]
    assert cleaned.texts["clean_text"].isna().tolist() == [False, True, False]
    made = cleaned.edits[cleaned.edits["is_made"]]
    for label, rows in made.groupby("row"):
        cells = rows.drop(columns=["row", "is_made"]).to_dict("records")
        edits = [piecework.Edit(**{str(k): v for k, v in row.items()}) for row in cells]
        clean = cleaned.texts.loc[str(label), "clean_text"]
        assert replay(str(WRITTEN.loc[str(label), "text"]), edits) == clean
    assert {*made["row"]} == {"x", "z"}


def test_protected_words_stay() -> None:
    """In any case, of one text and of a frame."""
    assert piecework.clean_text("a Tabel", protected=["TABEL"]).edits == ()
    cleaned = piecework.clean_texts(WRITTEN, protected=["Tabel", "cofee"])
    assert cleaned.edits["rule"].tolist() == ["whitespace"]


def test_nothing_to_clean_is_an_empty_frame_with_its_columns() -> None:
    """So that what follows needs no special case."""
    cleaned = piecework.clean_texts(WRITTEN.iloc[:0])
    assert cleaned.texts.columns.tolist() == ["text", "clean_text"]
    assert cleaned.edits["start"].dtype == "int64"
    assert len(cleaned.edits) == 0


def test_texts_that_are_none_are_refused() -> None:
    """A number among texts, a missing column, a repeated label."""
    with pytest.raises(piecework.ConfigError, match="text: is a int, but must be"):
        piecework.clean_text(7)  # type: ignore[arg-type]
    with pytest.raises(piecework.ConfigError, match="row 'y', column 'text': 3 is no"):
        piecework.clean_texts(WRITTEN.assign(text=["a", 3, "b"]))
    with pytest.raises(piecework.ConfigError, match="has no column 'caption'"):
        piecework.clean_texts(WRITTEN, column="caption")
    with pytest.raises(piecework.ConfigError, match="two columns have the name 'text'"):
        piecework.clean_texts(WRITTEN[["text", "text"]])
    with pytest.raises(piecework.ConfigError, match="two rows have the index 'x'"):
        piecework.clean_texts(pd.concat([WRITTEN, WRITTEN]))


def test_a_hit_is_rendered_from_a_mapping_or_a_frame() -> None:
    """The same page, whichever way the items come."""
    item = {"image_id": "p1", "url": "https://example.org/1.jpg"}
    page = piecework.render_hit("caption", item, title="Describe it")
    assert "<title>Describe it" in page
    frame = pd.DataFrame([item]).rename(columns={"image_id": "task"})
    assert piecework.render_hit("caption", frame, title="Describe it") == page
    with pytest.raises(piecework.ConfigError, match="items: two columns have the name 'url'"):
        piecework.render_hit("caption", frame[["task", "url", "url"]], title="Describe it")
    assert piecework.render_hit("caption", [item], title="Describe it") == page


def test_a_task_of_ones_own_is_rendered_from_its_folder(tmp_path: Path) -> None:
    """As `piecework init --new-task` writes it."""
    for name, text in starter_files("choice", "color").items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    items = pd.read_csv(tmp_path / "color.csv").head(1)
    page = piecework.render_hit(tmp_path / "color", items)
    assert page == piecework.render_hit(str(tmp_path / "color"), items)
    assert str(items.iloc[0, 0]) in page


def test_items_that_cannot_be_shown_are_refused_all_at_once() -> None:
    """A column that is missing; an address of another kind; a task that is none."""
    with pytest.raises(piecework.ConfigError) as fault:
        piecework.render_hit("caption", [{"image_id": "p1"}, {"url": "https://a.b/c"}])
    assert len(fault.value.faults) == 2
    assert "item 1 has no 'url'" in fault.value.faults[0]
    with pytest.raises(piecework.ConfigError, match="ftp"):
        piecework.render_hit("caption", {"task": "p1", "url": "ftp://example.org/1"})
    with pytest.raises(piecework.ConfigError, match="no task 'captoin'"):
        piecework.render_hit("captoin", {"task": "p1"})
