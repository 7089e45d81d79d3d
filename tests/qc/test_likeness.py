"""How like an item's own text a worker's text is."""

import numpy as np
import pytest

from piecework.domain.field import Aggregate, Field
from piecework.domain.hit import Item
from piecework.domain.ids import ItemId
from piecework.qc.features import own_features
from piecework.qc.ratings import LIKENESS, only_read, with_ratings
from tests.qc.rated import task_of
from tests.qc.tables import CANNED, row, table

TASK = task_of(
    Field(name="note", kind="text", label="note"),
    main_text="note",
    optional_columns=("sentence", "other", "url"),
)
SENTENCES = {
    "a": {"sentence": "Where is the station?", "other": "green"},
    "b": {"sentence": "", "other": "", "url": "https://example.org/where is it"},
    "c": {"sentence": "abcd ef", "other": "Where, pray, is the station", "spare": "x y"},
}
ITEMS = [Item(item_id=ItemId(name), columns=columns) for name, columns in SENTENCES.items()]


def likeness(*answers: tuple[str, str]) -> list[float]:
    """Of each text about an item."""
    rows = [row(f"{place}", item_id=item, text=text) for place, (item, text) in enumerate(answers)]
    cells: list[float] = with_ratings(table(*rows), TASK, ITEMS)[LIKENESS].tolist()
    return cells


def test_a_text_is_compared_with_the_likest_text_of_its_item() -> None:
    """By hand: "abcd ef" and "abxd ef" share 6 of 7 letters, so 2 * 6 / 14."""
    assert likeness(
        ("a", "where is the STATION"), ("c", "abxd ef"), ("c", "Where, pray, is the station?")
    ) == pytest.approx([1, 6 / 7, 1])


def test_without_two_texts_nothing_is_known() -> None:
    """A name or an address is no text; neither is the canned text, nor none."""
    unknown = likeness(("b", "where is it"), ("a", ""), ("a", CANNED), ("z", "where is it"))
    assert np.isnan(unknown).all()
    for url in ("data:image/svg+xml,<svg width='9' />", "where-is/it_now.jpg"):
        drawn = Item(item_id=ItemId("b"), columns={"url": url})
        answers = table(row("0", item_id="b", text="where is it now"))
        cells = with_ratings(answers, TASK, [drawn])[LIKENESS]
        assert cells.isna().all()


def test_edits_and_tasks_without_texts_are_not_compared() -> None:
    """An edit is like the item's text by design."""
    words = "where is the station"
    rows = table(row("0", item_id="a", text=words)).assign(**{"value.note": words})
    edit = Aggregate(kind="best_edit", field="note", column="sentence")
    for task in (
        task_of(*TASK.fields, main_text="note", columns=("id", "url")),
        task_of(*TASK.fields, main_text="note", optional_columns=("sentence",), aggregates=(edit,)),
    ):
        assert LIKENESS not in with_ratings(rows, task, ITEMS)


def test_only_cells_that_are_read_are_kept() -> None:
    """Items in parts carry their texts and nothing else."""
    kept = only_read(ITEMS, TASK)
    assert [dict(item.columns) for item in kept] == [
        {name: cell for name, cell in columns.items() if name != "spare"}
        for columns in SENTENCES.values()
    ]
    assert only_read(ITEMS[:1], task_of(*TASK.fields, columns=("id", "url"))) == []


def test_an_unusual_likeness_stands_out() -> None:
    """Of ten texts, one copies its item: both features say so; unknown says nothing."""
    texts = [("a", f"which way to the train {place}") for place in range(9)]
    texts += [("a", "Where is the station?"), ("b", "Where is the station?")]
    rows = [row(f"{n}", item_id=i, text=text) for n, (i, text) in enumerate(texts)]
    own = own_features(with_ratings(table(*rows), TASK, ITEMS))
    assert own["like_item"].to_dict()["9"] == pytest.approx(3.0)
    odd = own["odd_likeness"].to_dict()
    assert odd["9"] == pytest.approx(3 - np.sqrt(2 / np.pi))
    assert max(odd[str(n)] for n in range(9)) < 0
    assert odd["10"] == own["like_item"].to_dict()["10"] == 0
