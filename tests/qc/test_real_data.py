"""What the heuristics say about data that nobody here wrote; each number is stable.

Where a number was published or counted by hand, the docstring says so; the others are
counts by plain pandas or plain Python beside the heuristic, never the heuristic itself.
"""

import csv
import json
from collections import Counter
from datetime import UTC, datetime
from math import nan
from pathlib import Path
from typing import Literal

import pandas as pd
import pytest

from piecework.campaign.assembling import load_campaign
from piecework.domain.imported import Reading
from piecework.domain.tables import COLLECTED, faults, is_canned
from piecework.engine.opening import open_to_look
from piecework.hit_templates.tasks import load_task
from piecework.importing.importing import import_files, understand_files
from piecework.importing.readers.moments import moment
from piecework.qc.heuristics import (
    canned_share,
    capitals,
    minority_canned,
    quality_words,
    same_sentence,
    text_disagreement,
    time_in_batch,
    time_in_image,
    too_fast,
)
from piecework.qc.scores import TimeColumn
from tests.qc.tables import table

DATA = Path(__file__).resolve().parents[2] / "../shared/data"

pytestmark = [
    pytest.mark.shared,
    pytest.mark.skipif(not DATA.is_dir(), reason="../shared/data is not here"),
]

CANNED_TEXT = load_task("caption").canned_text
LONG_AGO = datetime(2019, 1, 1, tzinfo=UTC)


def answer(answer_id: str, **columns: object) -> dict[str, object]:
    """One answer of which little is known."""
    unknown: dict[str, object] = {
        "answer_id": answer_id,
        "assignment_id": answer_id,
        "hit_id": "hit",
        "batch": 1,
        "worker_id": "",
        "item_id": "item",
        "round": 0,
        "position": 1,
        "place": 1,
        "n_items": 1,
        "text": "",
        "is_canned": False,
        "accepted_at": LONG_AGO,
        "submitted_at": LONG_AGO,
        "typing": "",
        "problems": (),
        "also_sent": "",
    }
    numbers = ("shown_seconds", "page_seconds", "market_seconds")
    counts = ("pastes", "keystrokes", "focus_losses", "played_part")
    return unknown | dict.fromkeys(numbers + counts, nan) | columns


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> pd.DataFrame:
    """Fifty answers of April 2019, as the original pipeline stored them."""
    into = tmp_path_factory.mktemp("vizwiz") / "vizwiz.toml"
    results = DATA / "vizwiz_pipeline/hit.results"
    campaign, _ = import_files(understand_files([results], into=into, reading=Reading()))
    with open_to_look(load_campaign(campaign.path)) as opened:
        return opened.answers()


@pytest.fixture(scope="module")
def captions() -> pd.DataFrame:
    """19,215 captions of VizWiz-Captions val by unknown workers."""
    source = DATA / "vizwiz_val_captions_half.csv"
    with source.open(encoding="utf-8", newline="") as lines:
        rows = [
            answer(
                f"{place}",
                item_id=line["image_id"],
                text=line["caption"],
                is_canned=is_canned(line["caption"], CANNED_TEXT),
            )
            for place, line in enumerate(csv.DictReader(lines))
        ]
    return table(*rows, columns=COLLECTED)


@pytest.fixture(scope="module")
def batches() -> pd.DataFrame:
    """1,450 assignments of twelve MTurk batches, one row each."""
    rows = []
    for source in sorted((DATA / "mturk_batches").glob("*.csv")):
        with source.open(encoding="utf-8", newline="") as lines:
            for line in csv.DictReader(lines):
                items = 5 if "Input.claimHeadline5" in line else 1
                accepted, submitted = (moment(line[name]) for name in ("AcceptTime", "SubmitTime"))
                assert accepted is not None
                assert submitted is not None
                seconds = (submitted - accepted).total_seconds()
                rows.append(
                    answer(
                        line["AssignmentId"],
                        item_id=line["HITId"],
                        worker_id=line["WorkerId"],
                        batch=int(source.name.split("_")[1]),
                        n_items=items,
                        market_seconds=seconds / items,
                        accepted_at=accepted,
                        submitted_at=submitted,
                    )
                )
    return table(*rows, columns=COLLECTED)


@pytest.fixture(scope="module")
def paraphrases() -> pd.DataFrame:
    """3,387 paraphrases, three an assignment, with an expert's label `cheating`."""
    source = DATA / "para_quality_half.csv"
    with source.open(encoding="utf-8", newline="") as lines:
        labelled = list(csv.DictReader(lines))
    texts = table(
        *[
            answer(
                f"{line['task']}.{line['worker_id']}.{line['k']}",
                assignment_id=f"{line['task']}.{line['worker_id']}",
                worker_id=line["worker_id"],
                n_items=3,
                text=line["paraphrase"],
                market_seconds=float(line["duration"]) / 3,
            )
            for line in labelled
        ],
        columns=COLLECTED,
    )
    labels = [line["category"].split("|") for line in labelled]
    texts["cheating"] = ["Cheating" in several for several in labels]
    return texts


@pytest.mark.parametrize("time", ["shown_seconds", "page_seconds", "market_seconds"])
def test_the_original_answers_have_no_outlier_in_time(
    original: pd.DataFrame, time: TimeColumn
) -> None:
    """Counted by hand: 0 of 50 under each definition; the largest |z| is 1.92."""
    params = time_in_image.Params(time=time)
    assert time_in_image.score(original, params)["flag"].sum() == 0
    by_image = original.groupby("item_id")[time]
    z = (original[time] - by_image.transform("mean")) / by_image.transform(
        lambda seconds: seconds.std(ddof=0)
    )
    assert z.abs().max() < 1.925
    if time == "shown_seconds":
        assert round(z.abs().max(), 2) == 1.92


def test_the_original_answers_have_the_flags_counted_by_hand(original: pd.DataFrame) -> None:
    """Text flags 2; canned 5, 3, 2, 2 an image; two workers at 3 of 5, 6 rows."""
    assert faults(original, COLLECTED) == []
    assert len(original) == 50
    text = text_disagreement.score(original, text_disagreement.Params())
    assert text["flag"].sum() == 2
    canned = original[original["is_canned"]]
    assert sorted(canned.groupby("item_id").size(), reverse=True) == [5, 3, 2, 2]
    workers = canned_share.score(original, canned_share.Params())
    flagged = workers.index[workers["flag"]]
    assert set(workers.loc[flagged, "evidence"]) == {"uses the canned text on 3 of 5 items"}
    assert len(flagged) == 2
    assert canned["worker_id"].isin(flagged).sum() == 6
    lone = minority_canned.score(original, minority_canned.Params())
    assert lone["flag"].sum() == 0


def test_canned_captions_are_the_dataset_s_own(captions: pd.DataFrame) -> None:
    """The dataset's `is_precanned` marks 2,581 captions of 3,843 images."""
    assert captions["is_canned"].sum() == 2581


def test_minority_canned_speaks_of_every_fifth_image(captions: pd.DataFrame) -> None:
    """By counting canned captions an image: those with one or with four of five."""
    scores = minority_canned.score(captions, minority_canned.Params())
    canned = captions.groupby("item_id")["is_canned"].sum()
    assert scores["flag"].sum() == canned.isin([1, 4]).sum() == 788
    votes = json.loads((DATA / "vizwiz_quality_train.json").read_text())
    unrecognizable = Counter(image["unrecognizable"] for image in votes)
    assert (unrecognizable[1], unrecognizable[4]) == (4122, 725)


def test_quality_words_leave_out_seven_honest_captions(captions: pd.DataFrame) -> None:
    """A search for substrings finds 147, seven of which speak of sweets and tins."""
    upper = captions["text"].str.upper()
    naive = (upper.str.contains("QUALITY") | upper.str.contains("BLUR")) & ~captions["is_canned"]
    flags = quality_words.score(captions, quality_words.Params())["flag"]
    assert (naive.sum(), flags.sum()) == (147, 140)
    assert not (flags & ~naive).any()
    spared = captions.loc[naive & ~flags, "text"].str.casefold()
    things = "street|celestial|tomatoes|carrots|leafy"
    assert spared.str.contains(things).all()


def test_counting_letters_only_adds_product_names(captions: pd.DataFrame) -> None:
    """161 captions by characters; the three that letters add name products."""
    by_characters = capitals.score(captions, capitals.Params())["flag"]
    by_letters = capitals.score(captions, capitals.Params(letters_only=True))["flag"]
    assert (by_characters.sum(), by_letters.sum()) == (161, 164)
    added = captions.loc[by_letters & ~by_characters, "text"]
    assert added.str.contains("RABBIT CREEK|ROBERTSON'S|GREEN MOUNTAIN").all()


def test_copied_instructions_are_found_without_knowing_workers(captions: pd.DataFrame) -> None:
    """One sentence of the page stands on 30 images; nothing else can be said."""
    scores = same_sentence.score(captions, same_sentence.Params())
    assert scores["flag"].sum() == 30
    assert scores.loc[scores["flag"], "evidence"].str.startswith("copies the").all()


def test_raw_times_of_real_batches_never_find_a_fast_assignment(batches: pd.DataFrame) -> None:
    """In all twelve the raw lower bound is negative; logs find one in two of them."""
    seconds = batches["market_seconds"]
    median = seconds.groupby(batches["batch"]).transform("median")
    is_fast = seconds < median
    counted = {}
    scales: tuple[Literal["raw", "log"], ...] = ("raw", "log")
    for scale in scales:
        params = time_in_batch.Params(scale=scale)
        flag = time_in_batch.score(batches, params)["flag"].reindex(batches.index)
        counted[scale] = (int((flag & is_fast).sum()), int((flag & ~is_fast).sum()))
    assert counted == {"raw": (0, 106), "log": (2, 70)}
    by_batch = seconds.groupby(batches["batch"])
    assert (by_batch.mean() < 1.95 * by_batch.std(ddof=0)).all()


def test_within_a_hit_of_five_only_the_slow_one_is_found(batches: pd.DataFrame) -> None:
    """290 HITs of five: 99 times one is beyond 1.95 sd, and always the slowest."""
    params = time_in_image.Params(time="market_seconds")
    flag = time_in_image.score(batches, params)["flag"]
    slowest = batches.groupby("item_id")["market_seconds"].transform("max")
    assert flag.sum() == 99
    assert (batches["market_seconds"] == slowest)[flag].all()


def test_too_fast_is_sure_and_finds_little(paraphrases: pd.DataFrame) -> None:
    """Three flagged, all cheating, of 583; by worker one of 46 who ever cheated."""
    cheating = paraphrases["cheating"]
    flag = too_fast.score(paraphrases, too_fast.Params())["flag"]
    assert cheating.sum() == 583
    assert (flag.sum(), (flag & cheating).sum()) == (3, 3)
    by_worker = pd.DataFrame({"flag": flag, "cheating": cheating}).groupby(paraphrases["worker_id"])
    ever = by_worker.any()
    assert (ever["flag"] & ever["cheating"]).sum() == ever["flag"].sum() == 1
    assert ever["cheating"].sum() == 46


def test_a_stricter_line_is_soon_no_better_than_chance(paraphrases: pd.DataFrame) -> None:
    """At 15 seconds a text, 19 of 87 flagged cheat: 22 % where 17 % cheat anyway."""
    params = too_fast.Params(min_seconds=15.0, max_words_per_second=1e9)
    flag = too_fast.score(paraphrases, params)["flag"]
    assert flag.sum() == (paraphrases["market_seconds"] < 15).sum() == 87
    assert (flag & paraphrases["cheating"]).sum() == 19
