"""Items files of the example campaigns, made from drawn scenes and planted errors.

They are kept in `config/campaigns/`, so that they can be read like anybody's items
file; a test holds them against this module. Write them anew with
`python -m rehearsal.examples`.
"""

import csv
import io
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path

from rehearsal import one_error
from rehearsal.chance import dice
from rehearsal.composing import CATEGORIES, Sentence, true_sentence, with_error
from rehearsal.portraits import draw_portrait
from rehearsal.scenes import picture_name, scenes
from rehearsal.truth import Scene

FOLDER = Path(__file__).resolve().parents[1] / "config" / "campaigns"
SEED = 11
DRAWN = 120
"""The campaign files must say the same: `seed = 11`, `scenes = 120`."""

Row = Mapping[str, str]

_GOLD_EVERY = 8


def clear_scenes() -> tuple[Scene, ...]:
    """The scenes whose pictures have no flaw."""
    return tuple(scene for scene in scenes(SEED, DRAWN) if not scene.flaws)


def congruency_rows() -> Iterator[Row]:
    """Sixty pairs, half of them wrong in one thing; some gold, three asked twice."""
    yield from _congruency_pairs()
    for row in list(_congruency_pairs())[5:50:20]:
        again = f"{row['pair_id']}_again"
        yield {**row, "pair_id": again, "gold.congruent": "", "twin": row["pair_id"]}


def _congruency_pairs() -> Iterator[Row]:
    for number, scene in enumerate(clear_scenes()[:30], start=1):
        for part, sentence in enumerate(_two_sentences(scene), start=1):
            right = "incongruent" if sentence.errors else "congruent"
            is_gold = (2 * number + part) % _GOLD_EVERY == 0
            yield {
                "pair_id": f"pair_{number:02}_{part}",
                "url": picture_name(scene.item_id),
                "description": sentence.text,
                "truth.congruent": right,
                "gold.congruent": right if is_gold else "",
                "twin": "",
            }


def _two_sentences(scene: Scene) -> list[Sentence]:
    """A true one and a wrong one, in an order that tells nothing."""
    rng = dice(SEED, scene.item_id, "pair")
    right = true_sentence(scene)
    wrong = right
    for category in rng.sample(list(CATEGORIES), len(CATEGORIES)):
        wrong = with_error(right, category, scene, rng)
        if wrong.errors:
            break
    both = [right, wrong]
    rng.shuffle(both)
    return both


def caption_rows() -> Iterator[Row]:
    """Forty pictures without a flaw, to be described."""
    for scene in clear_scenes()[:40]:
        yield {"image_id": scene.item_id, "url": picture_name(scene.item_id)}


EXAMPLES: Mapping[str, Callable[[], Iterator[Row]]] = {
    "congruency.csv": congruency_rows,
    "severity.csv": partial(one_error.rows, "zh-Hant"),
    "severity_en.csv": partial(one_error.rows, "en"),
    "hodosh_caption.csv": caption_rows,
}
"""Rows by file name."""


def pictures() -> Mapping[str, str]:
    """SVG documents by path, for items that no drawn scene fits."""
    return {
        f"severity_pictures/{name}": draw_portrait(portrait)
        for name, portrait in one_error.portraits()
    }


def as_csv(rows: Sequence[Row]) -> str:
    """The rows as the text of a CSV file."""
    out = io.StringIO(newline="")
    writer = csv.DictWriter(out, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue()


if __name__ == "__main__":
    for name, make in EXAMPLES.items():
        (FOLDER / name).write_text(as_csv(list(make())), encoding="utf-8")
    for name, drawn in pictures().items():
        (FOLDER / name).parent.mkdir(exist_ok=True)
        (FOLDER / name).write_text(drawn, encoding="utf-8")
