"""A dataset of answers in files: every field a column, nothing lost."""

import io
from dataclasses import replace

import pandas as pd
import pyarrow.parquet as pq

from piecework.postprocess.datasets.facts import DatasetFacts
from tests.postprocess.answers_by_hand import ITEMS, TASK, rows
from tests.postprocess.made_tables import contents
from tests.postprocess.test_aggregates import JUDGEMENTS

FACTS = DatasetFacts(
    campaign="small",
    purpose="To be counted.",
    task=TASK,
    source_hash="0" * 64,
    code_commit="",
    is_rehearsal=True,
    wanted_per_item="3",
)


def made() -> dict[str, bytes]:
    """The files of the small dataset, its last answer rejected."""
    frame = rows(JUDGEMENTS)
    frame.loc["b.i2", "is_rejected"] = True
    frame.loc["b.i2", "rejected_because"] = "=1+1"
    return contents(frame, ITEMS, FACTS, ("csv", "parquet"))


def test_every_field_is_a_column_in_both_formats() -> None:
    """Kept and set aside together are all answers; types are those of the fields."""
    files = made()
    kept = pd.read_csv(io.BytesIO(files["answers.csv"]), keep_default_na=False)
    aside = pd.read_csv(io.BytesIO(files["set_aside.csv"]), keep_default_na=False)
    assert len(kept) + len(aside) == len(JUDGEMENTS)
    for field in TASK.fields:
        assert field.name in kept
    assert kept["ticks"].tolist() == ["a|b", "", "b", "b|c"]  # by answer id
    assert aside["place"].tolist() == [""] or aside["place"].isna().all()
    table = pq.read_table(io.BytesIO(files["answers.parquet"]))
    assert table.schema.field("age").type == "double"
    assert str(table.schema.field("ticks").type) == "list<element: string>"
    assert table["order_ticks"].to_pylist()[0] == ["a", "b", "c"]


def test_what_no_decision_dropped_is_not_called_rejected() -> None:
    """A proposal to drop it is no decision."""
    frame = rows(JUDGEMENTS)
    for column in ("is_rejected", "is_provisional"):
        frame.loc["b.i2", column] = True
    files = contents(frame, ITEMS, FACTS, ("csv",))
    aside = pd.read_csv(io.BytesIO(files["set_aside.csv"]))
    assert not aside["is_rejected"].any()


def test_a_label_that_a_person_settled_replaces_the_majority_alone() -> None:
    """Other items keep theirs, and the table says which is which."""
    facts = replace(FACTS, settled={("i1", "fit"): "no"})
    frame = rows(JUDGEMENTS)
    frame.loc["b.i2", "is_rejected"] = True  # so that `yes` has a majority
    files = contents(frame, ITEMS, facts, ("parquet",))
    items = pq.read_table(io.BytesIO(files["items.parquet"])).to_pandas()
    assert items["fit"].tolist() == ["no", "yes", ""]
    assert items["fit_settled_by_person"].tolist() == [True, False, False]


def test_items_say_what_their_answers_say_together() -> None:
    """One row an item, answered or not."""
    items = pq.read_table(io.BytesIO(made()["items.parquet"])).to_pandas()
    assert items["item_id"].tolist() == ["i1", "i2", "i3"]
    assert items["answers"].tolist() == [3, 1, 0]
    assert items["fit"].tolist() == ["yes", "yes", ""]


def test_a_formula_in_a_reason_is_defused_and_the_card_names_every_column() -> None:
    """CSV runs nothing; the card of a rehearsal says so and explains the fields."""
    files = made()
    assert b"'=1+1" in files["set_aside.csv"]
    card = files["README.md"].decode()
    assert "simulated workers" in card.casefold()
    for field in TASK.fields:
        assert f"| {field.name} |" in card


def test_without_answers_there_are_files_with_headers() -> None:
    """A campaign that nobody answered exports empty tables, not an error."""
    files = contents(rows([]), ITEMS, FACTS, ("csv", "parquet"))
    assert b"answer_id" in files["answers.csv"]
    assert len(pq.read_table(io.BytesIO(files["items.parquet"]))) == 3


def test_no_html_of_a_description_reaches_the_page_that_shows_the_card() -> None:
    """Markdown passes HTML on, so it is written as the text that it is."""
    facts = replace(FACTS, purpose="Birds <script>alert(1)</script> & more")
    files = contents(rows(JUDGEMENTS), ITEMS, facts, ("csv",))
    card = files["README.md"].decode()
    assert "<script>" not in card
    assert "Birds &lt;script&gt;alert(1)&lt;/script&gt; &amp; more" in card
