"""Measures `like_samples` on real texts of people and of programs.

`python -m tests.bench.truth.machine_texts` writes the tables of
docs/internals/measurements/machine-texts.md. Both write about the same images, which are cut into
`FOLDS` groups. For each group, the samples are the program's texts about all other
images. The batch is all of people's texts and the program's texts about the group: at
most one in six is the program's. Texts about the group are judged, so every text is
judged once, with samples that are not about its image.
"""

import csv
import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from piecework.qc.heuristics.like_samples import Params, score
from piecework.qc.sample_model import PRIOR
from tests.bench.truth.measure import auc, wilson
from tests.bench.truth.sets import DATA, LabelledSet, answer, as_table
from tests.typing_records import record

PAGE = Path(__file__).resolve().parents[3] / "docs/internals/measurements/machine-texts.md"
_BEGIN, _END = "<!-- texts -->", "<!-- end of texts -->"

FOLDS = 5
_HONEST = 0.02
_DRAWS = 500
_BINS = (0.0, 0.1, 0.5, 0.9, 1.0)

Texts = Sequence[tuple[str, str]]
"""Image and text of each."""

Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]
Interval = tuple[float, float, float]


class Case(NamedTuple):
    """Whose texts are compared.

    Attributes:
        name: in the table.
        people: whose texts are the people's.
        samples: the program of the samples.
        judged: the program of the texts that are to be recognised.
        most: of the samples.
        recorded: whether every second text of people has a record of typing.
    """

    name: str
    people: str
    samples: str
    judged: str
    most: int | None = None
    recorded: bool = False


_LONG, _COCO, _FLICKR = "IIW", "COCO", "Flickr30k"

SAME = (
    Case("long descriptions: PaLI, 5 B, fitted to them", _LONG, "PaLI", "PaLI"),
    Case("COCO: a captioner of 2022", _COCO, "captioner", "captioner"),
    Case("COCO: a language model without training", _COCO, "zero", "zero"),
    Case("Flickr30k: a captioner of 2016", _FLICKR, "attention", "attention"),
    Case("COCO: the captioner, 20 samples", _COCO, "captioner", "captioner", most=20),
    Case(
        "COCO: the captioner, half of the texts recorded",
        *(_COCO, "captioner", "captioner"),
        recorded=True,
    ),
)
"""The program of the samples wrote the texts."""

OTHER = (
    Case("COCO: captioner, the other model wrote", _COCO, "captioner", "zero"),
    Case("COCO: other model, the captioner wrote", _COCO, "zero", "captioner"),
    Case("COCO: captioner of 2016, that of 2022 wrote", _COCO, "attention", "captioner"),
    Case("Flickr30k: captioner, a person corrected it", _FLICKR, "attention", "fixed"),
)
"""Another program wrote the texts, or a person changed them."""


@dataclass(frozen=True, slots=True)
class Judged:
    """The suspicions of one case, by text."""

    images: npt.NDArray[np.str_]
    suspicion: Floats
    is_machine: Flags

    @property
    def weight(self) -> Floats:
        """The weight of each text, so that one in six is a machine's."""
        bad = self.is_machine
        return np.asarray(np.where(bad, PRIOR / bad.sum(), (1 - PRIOR) / (~bad).sum()))


def judged(case: Case) -> Judged:
    """Judge all texts of a case, group by group."""
    people, judged_texts = texts()[case.people], texts()[case.judged]
    images, suspicion, is_machine = list[str](), list[float](), list[bool]()
    for fold in range(FOLDS):
        samples = [own for own in texts()[case.samples] if _fold(own[0]) != fold]
        of_machine = [own for own in judged_texts if _fold(own[0]) == fold]
        rows = [*_rows("person", people, recorded=case.recorded), *_rows("machine", of_machine)]
        params = Params(samples=tuple((image, "", text) for image, text in samples[: case.most]))
        scores = score(as_table(rows), params)
        for row in rows:
            image, name = str(row["item_id"]), str(row["answer_id"])
            if _fold(image) == fold:
                images.append(image)
                suspicion.append(float(scores["suspicion"][name]))
                is_machine.append(name.startswith("machine"))
    return Judged(np.array(images), np.array(suspicion), np.array(is_machine))


def long_texts() -> LabelledSet:
    """A set for `make truth`: long descriptions."""
    return _labelled_set("long descriptions", _LONG, "PaLI")


def short_texts() -> LabelledSet:
    """A set for `make truth`: captions of one sentence."""
    return _labelled_set("captions of COCO", _COCO, "captioner")


def _labelled_set(name: str, of_people: str, program: str) -> LabelledSet:
    """The batch of the first group of images."""
    people, machine = texts()[of_people], texts()[program]
    of_machine = [own for own in machine if _fold(own[0]) == 0]
    rows = [*_rows("person", people), *_rows("machine", of_machine)]
    return LabelledSet(
        name=f"{name}: one in six is by the program of the samples",
        kind="real",
        table=as_table(rows),
        bad={
            "answer": frozenset(
                str(row["answer_id"]) for row in rows if str(row["answer_id"]).startswith("machine")
            )
        },
        heuristics=("like_samples",),
        settings={
            "like_samples": {
                "samples": tuple((image, "", text) for image, text in machine if _fold(image) != 0)
            }
        },
    )


def table_of(cases: Sequence[Case]) -> Iterator[str]:
    """The lines of a table of these cases."""
    yield (
        "| samples and texts | of people / programs | AUC | recall at 2 % of people's "
        "| flagged: programs' | flagged: people's | ECE |"
    )
    yield "|---|---:|---:|---:|---:|---:|---:|"
    limit = Params().flag_from
    for case in cases:
        own = judged(case)
        bad, flag = own.is_machine, own.suspicion >= limit
        recall = wilson(int((flag & bad).sum()), int(bad.sum()))
        honest = wilson(int((flag & ~bad).sum()), int((~bad).sum()))
        yield (
            f"| {case.name} | {int((~bad).sum())} / {int(bad.sum())} "
            f"| {_two(auc(own.suspicion, bad))} | {_percent(_drawn(own, _recall))} "
            f"| {_percent(recall)} | {_percent(honest)} "
            f"| {_two(_drawn(own, _calibration_error))} |"
        )


def measured() -> str:
    """The tables of the page."""
    return "\n".join(
        [
            "## The program of the samples wrote the texts",
            "",
            *table_of(SAME),
            "",
            "## Another program wrote the texts, or a person changed them",
            "",
            *table_of(OTHER),
        ]
    )


@cache
def texts() -> Mapping[str, Texts]:
    """By name, the texts of people and of programs."""
    with (DATA / "iiw_side_by_side_gpt4v.jsonl").open(encoding="utf-8") as file:
        long = [json.loads(line) for line in file]
    with (DATA / "multimodal_caption_eval.csv").open(encoding="utf-8-sig") as file:
        short = {row["image_id"]: row for row in csv.DictReader(file)}
    folder = DATA / "error_analysis_2017"
    names = _lines(folder / "val_images.txt")
    generated = _lines(folder / "satyrid/19-sept-2016-error-analysis.dev.txt")
    references = [_lines(folder / f"flickr30k_dev/reference{number}") for number in range(5)]
    fixed = [_lines(path) for path in sorted((folder / "fixed").iterdir())]
    changed = [
        next((line for line in lines if line != generated[place]), "")
        for place, lines in enumerate(zip(*fixed, strict=True))
    ]
    people = [references[place % 5][place] for place in range(len(names))]
    return {
        _LONG: [(row["image/key"], row["IIW"]) for row in long],
        "PaLI": [(row["image/key"], row["IIW-P5B"]) for row in long],
        _COCO: [(image, row["gt"]) for image, row in short.items()],
        "captioner": [(image, row["ours"]) for image, row in short.items()],
        "zero": [(image, row["zerocap"]) for image, row in short.items()],
        _FLICKR: list(zip(names, people, strict=True)),
        "attention": list(zip(names, generated, strict=True)),
        "fixed": [(name, text) for name, text in zip(names, changed, strict=True) if text],
    }


def main() -> None:
    """Measure and write."""
    page = PAGE.read_text("utf-8")
    before, _, rest = page.partition(_BEGIN)
    _, _, after = rest.partition(_END)
    PAGE.write_text(f"{before}{_BEGIN}\n\n{measured()}\n\n{_END}{after}", "utf-8")


def _fold(image: str) -> int:
    # A hash unlike the model's, which cuts the items into groups too.
    return hashlib.sha256(image.encode()).digest()[0] % FOLDS


def _rows(who: str, own: Texts, *, recorded: bool = False) -> Iterator[dict[str, object]]:
    """Yield an answer for each text, of a hundred workers."""
    for number, (image, text) in enumerate(own):
        is_recorded = recorded and number % 2 == 0
        size = len(text)
        keyed = record({"insertText": (size, size)}, length=size)
        yield answer(
            f"{who} {number}",
            item_id=image,
            worker_id=f"{number % 100}",
            text=text,
            typing=keyed.as_json() if is_recorded else "",
        )


def _lines(path: Path) -> list[str]:
    return [line.strip() for line in path.read_text("utf-8").splitlines()]


def _recall(own: Judged, chosen: npt.NDArray[np.int64]) -> float:
    """The share of the machine's texts above the limit that 2 % of people's reach."""
    suspicion, bad = own.suspicion[chosen], own.is_machine[chosen]
    of_people = np.sort(suspicion[~bad])[::-1]
    limit = of_people[int(_HONEST * len(of_people))]
    return float((suspicion[bad] > limit).mean())


def _calibration_error(own: Judged, chosen: npt.NDArray[np.int64]) -> float:
    part = Judged(own.images[chosen], own.suspicion[chosen], own.is_machine[chosen])
    error, weight = 0.0, part.weight
    for low, high in pairwise(_BINS):
        of_bin = (part.suspicion >= low) & (part.suspicion < (high if high < 1 else 2))
        gap = weight * (part.suspicion - part.is_machine)
        error += abs(float(gap[of_bin].sum()))
    return error


def _drawn(own: Judged, measure: object) -> Interval:
    """A measure, and its 95 % interval over draws of images."""
    assert callable(measure)
    rng = np.random.default_rng(1)
    images = np.unique(own.images)
    places = {image: np.flatnonzero(own.images == image) for image in images}
    draws = []
    for _ in range(_DRAWS):
        drawn = rng.choice(images, len(images))
        draws.append(measure(own, np.concatenate([places[image] for image in drawn])))
    low, high = np.quantile(draws, [0.025, 0.975])
    return measure(own, np.arange(len(own.images))), float(low), float(high)


def _two(interval: Interval) -> str:
    middle, low, high = interval
    return f"{middle:.2f} ({low:.2f} to {high:.2f})"


def _percent(interval: Interval) -> str:
    middle, low, high = (f"{100 * part:.0f}" for part in interval)
    return f"{middle} % ({low} to {high})"


if __name__ == "__main__":
    main()
