"""Generate the items files of example campaigns from drawn scenes and planted errors.

They are stored in `config/campaigns/`, to be read like any items file; a test compares
them with this module. Regenerate them with `python -m tools.examples.items_files`.
"""

import csv
import io
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from random import Random

from piecework.domain.pictures import picture_name
from piecework.simulation.pictures.portraits import draw_portrait, portrait_name
from piecework.simulation.pictures.scenes import Scene, scenes
from piecework.simulation.seeded_rng import seeded_rng
from tools.examples import misspelt_words, one_error
from tools.examples.pairs import pairs_of, swapped
from tools.examples.planted_errors import corrections_of
from tools.examples.sentences import CATEGORIES, Sentence, true_sentence, with_error

FOLDER = Path(__file__).resolve().parents[2] / "config" / "campaigns"
SEED = 11
DRAWN = 120
"""The campaign files must have the same values: `seed = 11`, `scenes = 120`."""

Row = Mapping[str, str]

_GOLD_EVERY = 8
_NO_ERROR = 4


def clear_scenes() -> tuple[Scene, ...]:
    """Return the scenes with flawless pictures."""
    return tuple(scene for scene in scenes(SEED, DRAWN) if not scene.flaws)


def congruency_rows() -> Iterator[Row]:
    """Yield sixty pairs, half with one error; some are gold, three are asked twice."""
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
                **_of_later_tasks(sentence, true_sentence(scene)),
            }


def _of_later_tasks(sentence: Sentence, right: Sentence) -> Row:
    """Return truths of the two tasks that can follow, and what people wrote.

    A true sentence that is called incongruent all the same has another kind of error.
    """
    return {
        "error_categories.truth.categories": "|".join(sentence.errors) or "other",
        "correction.truth.outcome": "corrected" if sentence.errors else "no_such_error",
        "correction.truth.correction": right.text,
        "reference_1": right.text,
        "reference_2": right.text.replace(" next to ", " and "),
    }


def _two_sentences(scene: Scene) -> list[Sentence]:
    """Return a true and a wrong sentence in random order."""
    rng = seeded_rng(SEED, scene.item_id, "pair")
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
    """Yield forty flawless pictures to describe."""
    for scene in clear_scenes()[:40]:
        yield {"image_id": scene.item_id, "url": picture_name(scene.item_id)}


def error_category_rows() -> Iterator[Row]:
    """Yield forty wrong descriptions of scenes, then sixteen of people."""
    yield from _wrong_scenes()
    for category in one_error.PEOPLE_CATEGORIES:
        some = list(one_error.described(category))[:4]
        for number, wrong in enumerate(some, start=1):
            yield {
                "pair_id": f"{category}_{number}",
                "url": portrait_name(wrong.portrait),
                "description": wrong.text,
                "truth.categories": category,
                "gold.categories": category if number == len(some) else "",
            }


def _wrong_scenes() -> Iterator[Row]:
    """Yield descriptions of scenes with one error, two errors or unrelated."""
    scenes_ = clear_scenes()[:40]
    for number, scene in enumerate(scenes_, start=1):
        rng = seeded_rng(SEED, scene.item_id, "categories")
        sentence = true_sentence(scene)
        wanted = 2 if number % 4 == 0 else 1
        for category in rng.sample(list(CATEGORIES), len(CATEGORIES)):
            if len(sentence.errors) < wanted:
                sentence = with_error(sentence, category, scene, rng)
        other = scenes_[(number + 7) % len(scenes_)]
        is_unrelated = number % 5 == 0 and other.place != scene.place
        right = "unrelated" if is_unrelated else "|".join(sorted(sentence.errors))
        text = true_sentence(other).text if is_unrelated else sentence.text
        yield {
            "pair_id": f"pair_{number:02}",
            "url": picture_name(scene.item_id),
            "description": text,
            "truth.categories": right,
            "gold.categories": right if number % _GOLD_EVERY == 0 else "",
        }


def crowd_judgement_rows() -> Iterator[Row]:
    """Yield 42 photos with ten sentences; none to four describe the photo."""
    scenes_ = clear_scenes()[:42]
    for number, scene in enumerate(scenes_, start=1):
        rng = seeded_rng(SEED, scene.item_id, "ten sentences")
        fitting = _fitting_sentences(scene, rng)[: number % 5]
        sentences = [(text, True) for text in fitting]
        sentences += [(text, False) for text in _strange_sentences(scene, fitting, rng)]
        ten = sentences[:10]
        rng.shuffle(ten)
        right = [f"s{n}" for n, (_, fits) in enumerate(ten, start=1) if fits]
        truth = "|".join(right) or "none"
        yield {
            "image_id": f"photo_{number:02}",
            "url": picture_name(scene.item_id),
            **{f"sentence_{n}": text for n, (text, _) in enumerate(ten, start=1)},
            "truth.describing": truth,
            "gold.describing": truth if number % 6 == 0 else "",
        }


def _fitting_sentences(scene: Scene, rng: Random) -> list[str]:
    """Return true sentences, and one with a minor error that still fits."""
    right = true_sentence(scene)
    texts = [right.text, replace(right, object=None).text]
    texts += [
        with_error(right, "color", scene, rng).text,
        with_error(replace(right, object=None), "number", scene, rng).text,
    ]
    return list(dict.fromkeys(texts))


def _strange_sentences(scene: Scene, taken: Sequence[str], rng: Random) -> Iterator[str]:
    """Return sentences about other places that name nothing in this scene."""
    here = {thing.name for thing in scene.things}
    others = [
        other
        for other in clear_scenes()
        if other.place != scene.place and here.isdisjoint(t.name for t in other.things)
    ]
    rng.shuffle(others)
    seen = {*taken}
    for other in others:
        text = true_sentence(other).text
        if text not in seen:
            seen.add(text)
            yield text


def expert_rating_rows() -> Iterator[Row]:
    """Yield 150 pairs of all four scores, some gold, six asked twice."""
    rows = list(_rated_pairs())
    yield from rows
    for row in rows[3:147:24]:
        again = f"{row['pair_id']}_again"
        yield {**row, "pair_id": again, "gold.score": "", "twin": row["pair_id"]}


def _rated_pairs() -> Iterator[Row]:
    scenes_ = clear_scenes()
    for number in range(1, 145):
        scene = scenes_[number % len(scenes_)]
        rng = seeded_rng(SEED, scene.item_id, "rated", str(number))
        score = 1 + rng.randrange(4)
        yield {
            "pair_id": f"pair_{number:03}",
            "url": picture_name(scene.item_id),
            "sentence": _rated_sentence(scene, score, rng),
            "truth.score": str(score),
            "gold.score": str(score) if number % 12 == 0 else "",
            "twin": "",
        }


def _rated_sentence(scene: Scene, score: int, rng: Random) -> str:
    """Return a sentence with errors that match the score."""
    right = true_sentence(scene)
    if score == _NO_ERROR:
        return right.text
    if score == 1:
        return next(_strange_sentences(scene, [], rng))
    # 3: a detail of an actor, or one moderate error; 2: a major one and the place.
    wanted = ("number", "color") if score == 3 else ("inexistent_subject", "scene")  # noqa: PLR2004 - a score
    sentence = right
    for category in wanted:
        sentence = with_error(sentence, category, scene, rng)
    return sentence.text


def pairwise_rows() -> Iterator[Row]:
    """Yield two pairs for each of 24 images; some gold, four repeated swapped."""
    first = list(pairs_of(clear_scenes(), images=24, seed=SEED))
    for row in first:
        right = row["truth.overall_quality"]
        gold = right if right in {"1", "5"} else ""
        yield {**row, "gold.overall_quality": gold, "twin": "", "twin_reversed": ""}
    for row in first[5::12]:
        yield {
            **swapped(row),
            "gold.overall_quality": "",
            "twin": row["pair_id"],
            "twin_reversed": "yes",
        }


def correction_rows() -> Iterator[Row]:
    """Yield sixteen descriptions for each kind of error in scenes, eight in people."""
    yield from corrections_of(clear_scenes(), each=16, seed=SEED)
    for category in one_error.PEOPLE_CATEGORIES:
        some = list(one_error.described(category))[:8]
        for number, wrong in enumerate(some, start=1):
            yield {
                "correction_id": f"{category}_{number:02}",
                "url": portrait_name(wrong.portrait),
                "description": wrong.text,
                "error": category,
                "truth.outcome": "corrected",
                "truth.correction": wrong.correct,
                "reference_1": wrong.correct,
                "reference_2": wrong.correct.replace(" in a ", " wearing a "),
            }


def which_word_rows() -> Iterator[Row]:
    """Yield sixty sentences with one marked word each."""
    yield from misspelt_words.rows(clear_scenes()[:60], seed=SEED)


EXAMPLES: Mapping[str, Callable[[], Iterator[Row]]] = {
    "congruency.csv": congruency_rows,
    "severity.csv": partial(one_error.rows, "zh-Hant"),
    "severity_en.csv": partial(one_error.rows, "en"),
    "hodosh_caption.csv": caption_rows,
    "crowd_judgement.csv": crowd_judgement_rows,
    "error_categories.csv": error_category_rows,
    "expert_rating.csv": expert_rating_rows,
    "correction.csv": correction_rows,
    "pairwise.csv": pairwise_rows,
    "which_word.csv": which_word_rows,
}
"""Rows by file name."""


def pictures() -> Mapping[str, str]:
    """Return SVG documents by path, for items without a matching drawn scene."""
    return {
        f"severity_pictures/{name}": draw_portrait(portrait)
        for name, portrait in one_error.portraits()
    }


def as_csv(rows: Sequence[Row]) -> str:
    """Return the rows as CSV text."""
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
