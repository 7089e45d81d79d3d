"""Labelled work by real people, as tables of answers; `../shared/data` says whose.

Every set says what its labels are and which heuristics it can say something about: a
set without times says nothing about rules on time.
"""

import csv
import random
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from math import nan
from pathlib import Path

import pandas as pd

from piecework.domain.field import Field, Option
from piecework.domain.hit import Item
from piecework.domain.ids import ItemId
from piecework.domain.tables import COLLECTED, build, is_canned
from piecework.domain.task import Task
from piecework.domain.verdicts import SubjectKind
from piecework.qc.plain_text import plain
from piecework.qc.ratings import with_ratings
from piecework.qc.truth import Kind
from tests.qc.tables import CANNED

DATA = Path(__file__).resolve().parents[3] / "../shared/data"

LONG_AGO = datetime(2019, 1, 1, tzinfo=UTC)
TEXTS = (
    *("text_off_item", "texts_off_items", "sentence_off_items", "same_sentence"),
    *("same_sentence_in_hit", "capitals", "quality_words"),
)
TIMES = ("rushed", "time_in_batch", "time_in_image", "too_fast")
VOTES = ("low_agreement", "straight_line")

Row = dict[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelledSet:
    """Answers of which it is known which are bad.

    Attributes:
        table: of `piecework.qc.ratings.with_ratings`.
        bad: by kind of subject, those labelled bad; what is absent has no labels.
        heuristics: names of those that the set can say something about; `None`: all.
        settings: parameters of these, by name.
    """

    name: str
    kind: Kind
    table: pd.DataFrame
    bad: Mapping[SubjectKind, frozenset[str]]
    heuristics: tuple[str, ...] | None = None
    settings: Mapping[str, dict[str, object]] = field(default_factory=dict)
    seed: int = field(default=1)


_PARAPHRASING = Task(
    name="paraphrases",
    version=1,
    title="",
    description="",
    keywords=(),
    columns=("item_id", "expression"),
    items_per_hit=3,
    reward_cents=1,
    assignment_duration_seconds=3600,
    fields=(Field(name="paraphrase", kind="text", label=""),),
    main_text="paraphrase",
)


def labelled_sets() -> Iterator[LabelledSet]:
    """All sets of real people's work."""
    yield paraphrases()
    yield from exchanged_sets()
    yield repeated_sentences()
    yield repeated_sentences(batches=10)
    yield entailment()
    yield submissions()
    yield explanations()


def paraphrases() -> LabelledSet:
    """Half of ParaQuality: an expert's label Cheating; workers who mostly cheat.

    The same slot of the same expression is an item: three paraphrases an assignment.
    """
    rows, cheating = [], Counter[str]()
    answers, of_worker = set(), defaultdict[str, list[bool]](list)
    expressions: dict[str, str] = {}
    for line in _lines("para_quality_half.csv"):
        name = f"{line['task']}.{line['worker_id']}"
        is_bad = "Cheating" in line["category"].split("|")
        cheating[name] += is_bad
        of_worker[line["worker_id"]].append(is_bad)
        answers |= {f"{name}.{line['k']}"} if is_bad else set()
        expressions[f"{line['expression']} {line['k']}"] = line["expression"]
        rows.append(
            answer(
                f"{name}.{line['k']}",
                assignment_id=name,
                worker_id=line["worker_id"],
                item_id=f"{line['expression']} {line['k']}",
                n_items=3,
                text=line["paraphrase"],
                market_seconds=float(line["duration"]) / 3,
                submitted_at=datetime.fromisoformat(line["timestamp"]).replace(tzinfo=UTC),
            )
        )
    items = [
        Item(item_id=ItemId(name), columns={"expression": expression})
        for name, expression in expressions.items()
    ]
    most_of_three, half = 2, 0.5
    return LabelledSet(
        name="ParaQuality, half: an expert says cheating",
        kind="real",
        table=with_ratings(as_table(rows), _PARAPHRASING, items),
        bad={
            "answer": frozenset(answers),
            "assignment": frozenset(
                name for name, many in cheating.items() if many >= most_of_three
            ),
            "worker": frozenset(
                name for name, labels in of_worker.items() if sum(labels) / len(labels) > half
            ),
        },
        heuristics=(*TEXTS, *TIMES, "answered_before"),
    )


def exchanged_sets() -> Iterator[LabelledSet]:
    """Captions of two datasets, some of which stand under other pictures."""
    yield exchanged("Flickr8k", flickr_captions())
    yield exchanged("half of VizWiz-Captions val", _vizwiz())


def exchanged(source: str, captions: Sequence[tuple[str, str]]) -> LabelledSet:
    """Captions dealt to workers of ten; one worker in twenty has others' captions.

    Args:
        source: where they are from.
        captions: item and text of each.
    """
    chance = random.Random(1)  # noqa: S311 - no secret
    of_item = defaultdict[str, list[str]](list)
    for item, text in captions:
        of_item[item].append(text)
    # The first caption of every item, then the second of each: no worker has two.
    most = max(len(texts) for texts in of_item.values())
    dealt = [
        (item, texts[place])
        for place in range(most)
        for item, texts in chance.sample(sorted(of_item.items()), len(of_item))
        if place < len(texts)
    ]
    size, share = 10, 0.05
    workers = [f"w{place // size}" for place in range(len(dealt))]
    bad = {name for name in sorted(set(workers)) if chance.random() < share}
    places = [place for place, name in enumerate(workers) if name in bad]
    moved = dict(zip(places, chance.sample(places, len(places)), strict=True))
    rows = [
        answer(
            f"{place}",
            worker_id=workers[place],
            item_id=item,
            text=dealt[moved.get(place, place)][1],
        )
        for place, (item, _) in enumerate(dealt)
    ]
    wrong = {f"{place}" for place in places if dealt[moved[place]][0] != dealt[place][0]}
    return LabelledSet(
        name=f"{source}, workers of ten, 5 % with captions of other pictures",
        kind="planted",
        table=as_table(rows),
        bad={"answer": frozenset(wrong), "worker": frozenset(bad)},
        heuristics=("text_off_item", "texts_off_items"),
    )


SPAM = (
    "a very wonderful view and worth seeing at all times my friend",
    "a wonderful view of the fog windows in the room is very thick",
    "beautiful view from behind the walls hidden under dark mist",
    "imagine how you would describe this image on the phone to a friend",
)
"""Sentences on 25 pictures and more that describe none of them, read one by one."""


def repeated_sentences(*, batches: int = 1) -> LabelledSet:
    """Half of VizWiz-Captions val without worker ids: spam by its sentence.

    All other captions are taken as honest, which a few are not.

    Args:
        batches: how many the pictures are dealt to.
    """
    chance = random.Random(1)  # noqa: S311 - no secret
    batch_of = defaultdict[str, int](lambda: chance.randint(1, batches))
    rows, bad = [], set()
    for place, (item, text) in enumerate(_vizwiz(with_canned=True)):
        rows.append(
            answer(
                f"{place}",
                batch=batch_of[item],
                item_id=item,
                text=text,
                is_canned=is_canned(text, CANNED),
            )
        )
        bad |= {f"{place}"} if plain(text) in SPAM else set()
    return LabelledSet(
        name="half of VizWiz-Captions val, no worker ids: four sentences of spam"
        + (f", in {batches} batches" if batches > 1 else ""),
        kind="real",
        table=as_table(rows),
        bad={"answer": frozenset(bad)},
        heuristics=("sentence_off_items",)
        if batches > 1
        else (
            *("sentence_off_items", "same_sentence", "text_off_item", "capitals"),
            "quality_words",
        ),
    )


def entailment() -> LabelledSet:
    """RTE (Snow et al. 2008): workers right on less than 60 % of their items."""
    task = _voting("rte", "follows", ("0", "1"))
    rows, right = [], defaultdict[str, list[bool]](list)
    for place, line in enumerate(_lines("snow_rte.csv")):
        worker = line["!amt_worker_ids"]
        right[worker].append(line["response"] == line["gold"])
        rows.append(
            answer(
                f"{place}",
                worker_id=worker,
                item_id=line["orig_id"],
                **{"value.follows": line["response"]},
            )
        )
    least = 0.6
    bad = {name for name, cases in right.items() if sum(cases) / len(cases) < least}
    columns = {**COLLECTED, "value.follows": COLLECTED["text"]}
    return LabelledSet(
        name="RTE votes: workers right on less than 60 %",
        kind="real",
        table=with_ratings(as_table(rows, columns), task, ()),
        bad={"worker": frozenset(bad)},
        heuristics=VOTES,
    )


def gold_votes() -> Iterator[tuple[LabelledSet, Mapping[str, bool]]]:
    """Votes of four sets with gold, and which of the workers with five gold tasks are bad.

    As in `entailment`, those are bad who are right on less than 60 % of them.
    """
    least_gold, least = 5, 0.6
    for name in ("product_pairs", "dogs", "weather_mturk", "adult_content"):
        rows = pd.read_csv(DATA / f"votes/{name}.csv.gz", dtype="str", keep_default_na=False)
        rows = rows.drop_duplicates(["task", "worker"])
        known = rows[rows["gold"] != ""]
        right = (known["label"] == known["gold"]).groupby(known["worker"]).agg(["mean", "size"])
        right = right[right["size"] >= least_gold]
        is_bad = {str(worker): bool(share < least) for worker, share in right["mean"].items()}
        votes = [
            answer(f"{place}", worker_id=worker, item_id=item, **{"value.vote": label})
            for place, (item, worker, label) in enumerate(
                zip(rows["task"], rows["worker"], rows["label"], strict=True)
            )
        ]
        columns = {**COLLECTED, "value.vote": COLLECTED["text"]}
        task = _voting(name, "vote", sorted(rows["label"].unique()))
        labelled = LabelledSet(
            name=name,
            kind="real",
            table=with_ratings(as_table(votes, columns), task, ()),
            bad={"worker": frozenset(worker for worker in is_bad if is_bad[worker])},
            heuristics=VOTES,
        )
        yield labelled, is_bad


def _voting(name: str, field: str, values: Iterable[str]) -> Task:
    """A task with one choice."""
    return Task(
        name=name,
        version=1,
        title="",
        description="",
        keywords=(),
        columns=("item_id",),
        items_per_hit=20,
        reward_cents=1,
        assignment_duration_seconds=3600,
        fields=(
            Field(
                name=field,
                kind="choice",
                label="",
                options=tuple(Option(value=value) for value in values),
                expects_variation=True,
            ),
        ),
        rules=(),
    )


def submissions() -> LabelledSet:
    """A study on Prolific with two rejections: it shows whom rules on time flag."""
    rows, bad = [], set()
    for line in _lines("prolific_export_551.csv"):
        if not line["Time taken"]:
            continue
        name = line["Submission id"]
        bad |= {name} if line["Status"] == "REJECTED" else set()
        rows.append(
            answer(name, worker_id=line["Participant id"], market_seconds=float(line["Time taken"]))
        )
    return LabelledSet(
        name="a study on Prolific: rejected by its requester",
        kind="real",
        table=as_table(rows),
        bad={"answer": frozenset(bad), "assignment": frozenset(bad)},
        heuristics=("rushed", "time_in_batch", "too_fast"),
    )


def explanations() -> LabelledSet:
    """Real explanations of three MTurk batches; workers of nearly half erase theirs.

    The workers are drawn until 45 % of the assignments have none left.
    """
    batches = ("2774612", "2793517", "2793845")
    share, chance = 0.45, random.Random(1)  # noqa: S311 - no secret
    rows, bad = [], set[str]()
    for batch in batches:
        lines = [*_lines(f"mturk_batches/Batch_{batch}_batch_results.csv")]
        for worker in chance.sample(sorted({line["WorkerId"] for line in lines}), 10):
            own = {line["AssignmentId"] for line in lines if line["WorkerId"] == worker}
            of_batch = bad & {line["AssignmentId"] for line in lines}
            bad |= own if len(of_batch | own) <= share * len(lines) else set()
        rows += [
            answer(
                f"{line['AssignmentId']}.{place}",
                assignment_id=line["AssignmentId"],
                worker_id=line["WorkerId"],
                batch=int(batch),
                item_id=f"{line['HITId']}.{place}",
                n_items=5,
                **{
                    "value.stance": line[f"Answer.stance{place}"],
                    "value.explain": ""
                    if line["AssignmentId"] in bad
                    else line[f"Answer.explain{place}"],
                },
            )
            for line in lines
            for place in range(1, 6)
        ]
    values = dict.fromkeys(("value.stance", "value.explain"), COLLECTED["text"])
    return LabelledSet(
        name="explanations of three MTurk batches, 45 % of assignments without theirs",
        kind="planted",
        table=as_table(rows, {**COLLECTED, **values}),
        bad={"assignment": frozenset(bad)},
        heuristics=("left_empty",),
    )


def answer(answer_id: str, **columns: object) -> Row:
    """One answer of which little is known."""
    counts = ("pastes", "keystrokes", "focus_losses", "played_part")
    times = ("shown_seconds", "page_seconds", "market_seconds")
    unknown: Row = {
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
        "submitted_at": LONG_AGO + timedelta(minutes=1),
        "typing": "",
        "problems": (),
        "also_sent": "",
    }
    return unknown | dict.fromkeys(times + counts, nan) | columns


def as_table(rows: Sequence[Row], columns: Mapping[str, object] = COLLECTED) -> pd.DataFrame:
    """The table of these rows."""
    cells = {name: [row[name] for row in rows] for name in columns}
    return build([str(row["answer_id"]) for row in rows], cells, columns)  # type: ignore[arg-type]


def flickr_captions() -> list[tuple[str, str]]:
    """Item and text of each caption of Flickr8k."""
    source = DATA / "flickr8k/Flickr8k.token.txt"
    lines = source.read_text(encoding="utf-8").splitlines()
    pairs = (line.split("\t") for line in lines)
    return [(name.split("#")[0], text) for name, text in pairs]


def _vizwiz(*, with_canned: bool = False) -> list[tuple[str, str]]:
    return [
        (line["image_id"], line["caption"])
        for line in _lines("vizwiz_val_captions_half.csv")
        if with_canned or line["is_precanned"] == "0"
    ]


def _lines(name: str) -> Iterable[dict[str, str]]:
    with (DATA / name).open(encoding="utf-8-sig", newline="") as file:
        yield from csv.DictReader(file)
