"""What correcting one kind of error gains."""

import math
from pathlib import Path

import pandas as pd
import pytest

from piecework.domain.hit import Item
from piecework.domain.ids import ItemId
from piecework.hit_templates.task_schema import published_gains
from piecework.hit_templates.tasks import load_task
from piecework.report.sections.condition_texts import ALL_KINDS, corrections
from tests.analyses.published import versions

DATA = Path(__file__).resolve().parents[3] / "shared" / "data"
TASK = load_task("correction")


def item(name: str, error: str, text: str, reference: str = "") -> Item:
    """A description with one kind of error."""
    columns = {"url": f"/{text}.svg", "description": text, "error": error}
    if reference:
        columns["reference_1"] = reference
    return Item(item_id=ItemId(name), columns=columns)


def frame(texts: dict[str, str]) -> pd.DataFrame:
    """One counted edit of each item."""
    return pd.DataFrame(
        {
            "item_id": list(texts),
            "worker": "w",
            "value.correction": list(texts.values()),
            "value.outcome": "corrected",
            "is_rejected": False,
            "is_surplus": False,
        }
    )


def test_each_kind_is_scored_over_all_descriptions_with_only_its_errors_mended() -> None:
    """BLEU-1 is counted by hand; what is mended wholly scores 1."""
    items = [
        item("c", "color", "a red cat on a mat", "a blue cat on a mat"),
        item("n", "number", "two big dogs in a park", "three big dogs in a park"),
    ]
    gains = corrections(
        frame({"c": "a blue cat on a mat", "n": "two big dogs in a park"}), items, TASK
    ).set_index("kind")
    # 5 of 6 words match in either text: 10 of 12; the color mends one: 11 of 12.
    assert gains["bleu_1_before"].tolist() == pytest.approx([10 / 12] * 3)
    assert gains["bleu_1"].tolist() == pytest.approx([11 / 12, 10 / 12, 11 / 12])
    assert gains["changed"].tolist() == [1, 0, 1]
    assert gains["descriptions"].tolist() == [2, 2, 2]
    assert gains["meteor"]["color"] > gains["meteor_before"]["color"]
    assert gains["meteor"]["number"] == gains["meteor_before"]["number"]


def test_a_description_gets_the_corrections_of_all_its_kinds_together() -> None:
    """One item for each kind; an edit of the same words for another kind is left."""
    text, right = "two red cats on a mat", "three blue cats on a mat"
    items = [
        item("c", "color", text, right),
        item("n", "number", text, right),
        item("o", "similar_object", text, right),
    ]
    edits = {
        "c": "two blue cats on a mat",
        "n": "three red cats on a mat",
        "o": "two green cats on a mat",
    }
    gains = corrections(frame(edits), items, TASK).set_index("kind")
    together = gains.loc[ALL_KINDS]
    assert (together["items"], together["changed"]) == (1, 1)
    assert together["conflicts"] == 1
    assert together["bleu_1"] == pytest.approx(1)
    assert gains["bleu_1"]["color"] == pytest.approx(5 / 6)


def test_without_references_edits_are_counted_and_nothing_is_scored() -> None:
    """The items file need not have any."""
    gains = corrections(frame({"c": "a blue cat"}), [item("c", "color", "a cat")], TASK)
    assert gains[["items", "changed", "descriptions"]].to_numpy().tolist() == [[1, 1, 0]]
    assert math.isnan(gains["bleu_1"][0])


def test_other_tasks_have_no_corrections() -> None:
    """Nor has a campaign without answers."""
    assert corrections(pd.DataFrame(), [], TASK).empty
    answers = frame({"c": "a cat"})
    assert corrections(answers, [item("c", "color", "a")], load_task("congruency")).empty


@pytest.mark.shared
@pytest.mark.full
@pytest.mark.skipif(not DATA.is_dir(), reason="../shared/data is not here")
def test_the_corrections_of_2017_gain_what_was_published() -> None:
    """Within 0.04 points, though our tokens have no capitals and no full stops."""
    original, by_kind, references = versions()
    names = {"scene/event/location": "scene"}
    people = references.to_dict("records")
    items: list[Item] = []
    edits: dict[str, str] = {}
    for name, texts in by_kind.items():
        kind = names.get(name, name.replace(" ", "_"))
        for n, (text, edit) in enumerate(zip(original, texts, strict=True)):
            columns = {"url": f"/{n}.jpg", "description": text, "error": kind}
            cells = {f"reference_{m}": str(people[n][f"r{m}"]) for m in range(5)}
            items.append(Item(item_id=ItemId(f"{kind}_{n}"), columns={**columns, **cells}))
            edits[f"{kind}_{n}"] = edit
    gains = corrections(frame(edits), items, TASK).set_index("kind")
    points = 100 * (gains["bleu_4"] - gains["bleu_4_before"])
    published = published_gains(TASK)
    assert published is not None
    for kind, gain in published.bleu_4_gains.items():
        assert points[kind] == pytest.approx(float(gain), abs=0.04)
    assert points[ALL_KINDS] == pytest.approx(3.48, abs=0.01)
    assert gains["changed"][ALL_KINDS] == 415
    assert (gains["meteor"] > gains["meteor_before"]).all()
