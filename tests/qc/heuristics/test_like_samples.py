"""Laws of texts that read like samples of programs."""

from random import Random

import pandas as pd
import pytest

from piecework.qc.heuristics.like_samples import FACTS, Params, learnt_from, model_of, score
from piecework.qc.scores import merged
from tests.qc.tables import CANNED, cells, evidence, flagged, row, table
from tests.typing_records import record

THINGS = [f"{first}{last}" for first in "bdfgklmnprst" for last in ("og", "ull", "ank")]


def by_person(thing: str, rng: Random) -> str:
    """A person's habits: short, lower case, no article at the start."""
    opening = rng.choice(["old", "my", "two", "looks like some", "just one"])
    closing = rng.choice(["near grass", "on top", "by my window", "out back", "up close"])
    return f"{opening} {thing} {closing}"


def by_program(thing: str, rng: Random) -> str:
    """A program's habits about the same things."""
    opening = rng.choice(["A close-up of a", "This image shows a", "There is a"])
    closing = rng.choice(["in the background", "with a detailed view", "in the scene"])
    return f"{opening} {thing} {closing}"


def samples(number: int = len(THINGS)) -> tuple[tuple[str, str, str], ...]:
    """What a program writes about the items."""
    rng = Random(1)  # noqa: S311 - no secret
    return tuple(
        (f"item-{place}", "", by_program(thing, rng)) for place, thing in enumerate(THINGS[:number])
    )


def people(**columns: object) -> list[dict[str, object]]:
    """Two texts of people for each item, by six workers."""
    rng = Random(2)  # noqa: S311 - no secret
    return [
        row(
            f"p{place:02}{turn}",
            item_id=f"item-{place}",
            worker_id=f"w{(place + turn) % 6}",
            text=by_person(thing, rng),
        )
        | columns
        for place, thing in enumerate(THINGS)
        for turn in range(2)
    ]


def of_machine(count: int = 8) -> list[dict[str, object]]:
    """Texts by the program of the samples, among people's."""
    rng = Random(3)  # noqa: S311 - no secret
    return [
        row(f"m{place:02}", item_id=f"item-{place}", worker_id="w9", text=by_program(thing, rng))
        for place, thing in enumerate(THINGS[:count])
    ]


PARAMS = Params(samples=samples())


def test_the_programs_texts_are_flagged_and_no_persons() -> None:
    """Although nobody says which texts of the batch are the program's."""
    scores = score(table(*people(), *of_machine()), PARAMS)
    assert flagged(scores) == {f"m{place:02}" for place in range(8)}
    sentence = evidence(scores, "m00")
    for fact in ("36 samples", "80 texts", "one text in 6", "does not show who wrote"):
        assert fact in sentence


def test_what_a_text_is_about_does_not_decide() -> None:
    """Samples about other things flag the same texts."""
    about_others = tuple(
        ("", "", text.replace(thing, f"qu{thing}ix"))
        for thing, (_, _, text) in zip(THINGS, samples(), strict=True)
    )
    scores = score(table(*people(), *of_machine()), Params(samples=about_others))
    assert flagged(scores) == {f"m{place:02}" for place in range(8)}


def test_a_text_does_not_count_for_itself() -> None:
    """A text that stands among the samples is judged without them and itself."""
    odd = row("odd", item_id="item-0", worker_id="w1", text="zwölf boxkämpfer jagen viktor")
    with_it = (*PARAMS.samples, ("item-0", "", "zwölf boxkämpfer jagen viktor"))
    scores = score(table(*people(), odd), Params(samples=with_it))
    assert not flagged(scores)


def test_records_of_typing_make_the_peoples_side() -> None:
    """Then machine texts that were pasted do not count among people's."""
    size = {"length": 40, "kinds": {"insertText": (40, 40)}}
    typed = record(**size).as_json()  # type: ignore[arg-type]
    rows = [own | {"typing": typed, "text": str(own["text"])[:40]} for own in people()]
    counts = learnt_from(table(*rows, *of_machine(30)), PARAMS)
    assert counts["is_keyed"].sum() == len(rows)
    (model,) = model_of(counts, PARAMS)["model"]
    assert model.texts == len(rows)


def test_parts_make_the_same_model() -> None:
    """To the bit, in any order."""
    whole = table(*people(), *of_machine())
    parts = [whole.iloc[::-2], whole.iloc[-2::-2]]
    counts = merged([learnt_from(part, PARAMS) for part in parts])
    models = model_of(counts, PARAMS)
    by_part = pd.concat([score(part, PARAMS, models) for part in parts]).sort_index()
    pd.testing.assert_frame_equal(by_part, score(whole, PARAMS).sort_index())


@pytest.mark.parametrize(
    ("rows", "params", "why"),
    [
        (people(), Params(), "the campaign names no samples of programs"),
        (people(), Params(samples=samples(19)), "it needs 20 samples of programs; there are 19"),
        (people()[:19], PARAMS, "it needs 20 texts of people; there are 19"),
        (people(item_id="item-1"), PARAMS, "all texts are about one item"),
        (people(worker_id="w"), PARAMS, "one worker wrote all texts"),
        (
            [own | {"item_id": f"item-{place % 2}"} for place, own in enumerate(people())],
            Params(samples=tuple(("item-1", "", text) for _, _, text in samples())),
            "the texts or the samples are about too few items to hold some out",
        ),
    ],
)
def test_too_little_is_silent_with_a_reason(
    rows: list[dict[str, object]], params: Params, why: str
) -> None:
    """And flags nothing."""
    answers = table(*rows)
    assert FACTS.silence is not None
    assert next(FACTS.silence(answers, params)) == why
    assert not score(answers, params)["suspicion"].any()


def test_the_canned_text_and_short_texts_are_not_judged() -> None:
    """Whatever they look like."""
    extra = [row("c", text=CANNED), row("s", text="There is a"), row("e", text="")]
    scores = score(table(*people(), *extra), PARAMS)
    assert [cells(scores, name)[0] for name in "cse"] == [0.0, 0.0, 0.0]
