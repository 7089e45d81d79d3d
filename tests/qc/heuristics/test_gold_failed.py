"""Laws of items with a known answer."""

import io
import json
from base64 import b64encode
from dataclasses import replace

import pytest
from PIL import Image

from piecework.domain.field import MERGED, Field, Regions
from piecework.qc.gold import gold_scores, wrong_by_answer
from piecework.qc.heuristics import gold_failed
from piecework.qc.heuristics.gold_failed import score
from tests.for_each import for_each
from tests.qc.rated import box, boxes, choice, ratings, scale, task_of
from tests.qc.tables import cells, flagged, row, table

TASK = task_of(choice("fit", "yes", "no"))
HALF = gold_failed.Params(min_items=3, min_share=0.5)
ITEMS = {f"i{n}": {"gold.fit": "yes"} for n in range(4)} | {"i4": {"gold.fit": ""}}


def mask_of(wide: int, high: int) -> str:
    """An answer with a mask that covers its picture."""
    file = io.BytesIO()
    Image.new("RGB", (wide, high), "#008000").save(file, format="PNG")
    image = {"pngImageData": b64encode(file.getvalue()).decode()}
    return json.dumps({"labelMappings": {"a": {"color": "#008000"}}, "labeledImage": image})


MASK = mask_of(9, 9)


def test_half_of_the_known_answers_wrong_is_flagged() -> None:
    """Two of four is the limit, and at the limit is flagged; one of four is not."""
    rows = [("two", f"i{n}", "no" if n < 2 else "yes") for n in range(5)]
    rows += [("one", f"i{n}", "no" if n < 1 else "yes") for n in range(5)]
    scores = score(ratings(TASK, rows, items=ITEMS), HALF)
    assert flagged(scores) == {"two"}
    sentence = cells(scores, "two")[2]
    assert "fit on 2 of 4 items" in sentence


def test_two_gold_items_prove_nothing() -> None:
    """A worker who met fewer than three is no suspicion, however wrong."""
    rows = [("few", f"i{n}", "no") for n in (0, 1, 4)]
    assert flagged(score(ratings(TASK, rows, items=ITEMS), HALF)) == set()


def test_a_place_on_a_scale_is_right_nearby() -> None:
    """Within a quarter of the scale of 40 is right: 15 and 65, but not 66."""
    task = task_of(scale("s"))
    items = {f"i{n}": {"gold.s": "40"} for n in range(3)}

    def flags(place: float) -> set[str]:
        rows = [("w", f"i{n}", place) for n in range(3)]
        return flagged(score(ratings(task, rows, items=items), HALF))

    assert flags(15.0) == flags(65.0) == set()
    assert flags(66.0) == {"w"}
    # Of 76 places a quarter from the known one, floats put some beyond it.
    known = {f"{n}": {"gold.s": f"{n}"} for n in range(76)}
    rows = [("w", name, float(name) + 25) for name in known]
    assert not wrong_by_answer(ratings(task, rows, items=known), 0.25).any()


def test_transcripts_are_right_if_few_words_differ() -> None:
    """One wrong word of five is within the tolerance of a quarter, two are not."""
    task = task_of(Field(name="s", kind="text", label="Said?", is_transcript=True))
    heard = {"a": "One, two, three, four, FIVE!", "b": "one two three four nine", "x": "one two"}
    rows = [(worker, f"i{n}", text) for n in range(6) for worker, text in heard.items()]
    items = {f"i{n}": {"gold.s": "one two three four five"} for n in range(6)}
    assert flagged(score(ratings(task, rows, items=items), HALF)) == {"x"}


def test_boxes_are_right_if_most_match_the_known_ones() -> None:
    """Within three of ten pixels a box matches; without a label or elsewhere it does not."""
    task = task_of(boxes("s"))
    items = {f"i{n}": {"gold.s": box(40)} for n in range(3)}

    def flags(answer: str) -> set[str]:
        rows = [("w", f"i{n}", answer) for n in range(3)]
        return flagged(score(ratings(task, rows, items=items), HALF))

    assert flags(box(40)) == flags(box(43)) == set()
    assert flags(box(46)) == flags(box(40, "nest")) == {"w"}


def test_a_known_answer_may_have_more_marks_than_an_answer() -> None:
    """An answer of 500 of 600 known points is right; one of more than are read is not judged."""
    task = task_of(replace(boxes("s"), regions="keypoints"))

    def points(count: int) -> str:
        places = [{"label": "a", "x": 40 * (n % 25), "y": 40 * (n // 25)} for n in range(count)]
        size = {"width": 1_000, "height": 1_000}
        return json.dumps({"keypoints": places, "inputImageProperties": size})

    items = {f"i{n}": {"gold.s": points(600)} for n in range(3)}
    sent = {"most": points(500), "few": points(300), "many": points(501)}
    rows = [(worker, item, text) for item in items for worker, text in sent.items()]
    answers = ratings(task, rows, items=items)
    assert flagged(score(answers, HALF)) == {"few"}
    assert [*gold_scores(answers, 0.25).index] == ["few", "most"]


@pytest.mark.parametrize("part", MERGED.values())
def test_what_is_no_answer_with_marks_of_the_field_is_wrong(part: Regions) -> None:
    """Whoever sends no JSON, or another kind of it, to each known answer fails."""
    task = task_of(replace(boxes("s"), regions=part))
    known = {"boundingBoxes": box(40), "labeledImage": MASK}.get(part, f'{{"{part}": []}}')
    items = {f"i{n}": {"gold.s": known} for n in range(3)}
    kinds = ["[", "null", '{"lines": []}', f'{{"{part}": 5}}', '{"labeledImage": {}}']
    kinds += [MASK.replace("iVBOR", broken) for broken in ("", "%", "AAAAA")]
    rows = [(f"w{n}", item, text) for item in items for n, text in enumerate(kinds)]
    rows += [("right", item, known) for item in items]
    answers = ratings(task, rows, items=items)
    assert flagged(score(answers, HALF)) == {f"w{n}" for n in range(len(kinds))}


@for_each(
    ("part", "known", "sent"),
    [
        ("labeledImage", MASK, mask_of(8_001, 8_000)),
        ("boundingBoxes", box(40), json.dumps({"boundingBoxes": [{}] * 501})),
    ],
)
def test_more_marks_than_a_page_sends_are_wrong(part: Regions, known: str, sent: str) -> None:
    """Whoever sends them to each known answer fails, unless those are too large as well."""
    task = task_of(replace(boxes("s"), regions=part))

    def scored(known: str) -> tuple[set[str], bool]:
        items = {f"i{n}": {"gold.s": known} for n in range(3)}
        answers = ratings(task, [("w", item, sent) for item in items], items=items)
        return flagged(score(answers, HALF)), gold_scores(answers, 0.25).empty

    assert scored(known) == ({"w"}, False)
    assert scored(sent) == (set(), True)


def test_without_gold_it_says_nothing() -> None:
    """No column, no judgements, no answers."""
    rows = [("w", f"i{n}", "no") for n in range(9)]
    assert flagged(score(ratings(TASK, rows), HALF)) == set()
    assert score(table(row("a")), HALF)["suspicion"].tolist() == [0.0]
    assert score(table(), HALF).empty


def test_each_section_of_a_test_has_its_score_and_its_limit() -> None:
    """One answer to everything passes the sum, and fails a section."""
    expected = ["no"] * 7 + ["yes"] * 3  # three sentences of ten are correct
    items = {
        f"i{n}": {"gold.fit": right, "section": "spelling" if n < 5 else "grammar"}
        for n, right in enumerate(expected)
    }
    rows = [("always_no", f"i{n}", "no") for n in range(10)]
    rows += [("careful", f"i{n}", right) for n, right in enumerate(expected)]
    rated = ratings(TASK, rows, items=items)
    of_the_sum = gold_failed.Params(min_items=10, min_share=0.5)
    scores = score(rated, of_the_sum)
    assert flagged(scores) == set()
    sentence = cells(scores, "always_no")[2]
    assert "3 of 10 items" in sentence
    assert "spelling 5 of 5 right, grammar 2 of 5 right" in sentence
    by_section = replace(of_the_sum, min_share_of_section=0.6)
    assert flagged(score(rated, by_section)) == {"always_no"}
    beyond = replace(of_the_sum, min_share_of_section=0.7)
    assert flagged(score(rated, beyond)) == set()
