"""Votes with known labels: real ones from `../shared/data`, and a simulated set."""

import csv
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from io import StringIO

import pandas as pd

from tests.analyses.ballots import seldom_seen
from tests.bench.truth.sets import DATA


@dataclass(frozen=True, slots=True, kw_only=True)
class GoldVotes:
    """Votes on items whose labels are known.

    Attributes:
        votes: with `item_id`, `worker` and `value`, all str.
        gold: index `item_id`: the known label.
        labels: by possible value, the label that it stands for: "Probably For" stands
            for "For". The values are in their order, if they have one.
    """

    name: str
    votes: pd.DataFrame
    gold: "pd.Series[str]"
    labels: Mapping[str, str]


def gold_votes() -> Iterator[GoldVotes]:
    """All sets."""
    votes, gold = entailments()
    yes_no = _themselves("0", "1")
    yield GoldVotes(name="RTE, ten votes", votes=votes, gold=gold, labels=yes_no)
    yield GoldVotes(
        name="RTE, three of the votes, drawn by chance",
        votes=_fewer(votes, 3, seed=0),
        gold=gold,
        labels=yes_no,
    )
    stances, known = headlines(("2750278", "2793517", "2793845"))
    yield GoldVotes(
        name="headlines, three stances",
        votes=stances,
        gold=known,
        labels=_themselves("Against", "Observing", "For"),
    )
    grades, known = headlines(("2793340",))
    yield GoldVotes(
        name="headlines, five grades",
        votes=grades,
        gold=known,
        labels={
            "Against": "Against",
            "Probably Against": "Against",
            "Neutral": "Observing",
            "Probably For": "For",
            "For": "For",
        },
    )
    for name, (file, values) in _PUBLISHED.items():
        votes, known = published_votes(file)
        yield GoldVotes(name=name, votes=votes, gold=known, labels=_themselves(*values))
    simulated, known = seldom_seen(0)
    yield GoldVotes(
        name="simulated: most overlook one of three values",
        votes=simulated,
        gold=known,
        labels=_themselves("a", "b", "r"),
    )


_PUBLISHED = {
    "pairs of products, few the same": ("product_pairs", "01"),
    "dogs, four breeds": ("dogs", "0123"),
    "weather in tweets, five values": ("weather_mturk", "01234"),
    "adult content, four grades": ("adult_content", "GPRX"),
}
"""By name: the file in `votes`, and its values."""


def published_votes(file: str) -> tuple[pd.DataFrame, "pd.Series[str]"]:
    """Votes and gold of a set in `votes`; only some items may have gold."""
    rows = pd.read_csv(DATA / "votes" / f"{file}.csv.gz", dtype="str")
    rows = rows.rename(columns={"task": "item_id", "label": "value"})
    known = rows.dropna(subset=["gold"]).groupby("item_id")["gold"].first()
    return rows[["item_id", "worker", "value"]], known


def entailments() -> tuple[pd.DataFrame, "pd.Series[str]"]:
    """Votes on textual entailment, and gold (R. Snow and others, 2008)."""
    rows = pd.read_csv(DATA / "snow_rte.csv", dtype="str").rename(
        columns={"orig_id": "item_id", "!amt_worker_ids": "worker", "response": "value"}
    )
    return rows[["item_id", "worker", "value"]], rows.groupby("item_id")["gold"].first()


def headlines(batches: Sequence[str]) -> tuple[pd.DataFrame, "pd.Series[str]"]:
    """Votes on whether a headline is for or against a claim, and a journalist's label.

    The labels are in some batches only; a batch with grades asks about the same
    headlines as another one with labels. Two stances at once are no vote.
    """
    known: dict[str, str] = {}
    rows = []
    for path in sorted((DATA / "mturk_batches").glob("Batch_*_batch_results.csv")):
        batch = path.name.split("_")[1]
        for line in csv.DictReader(StringIO(path.read_text(encoding="utf-8"))):
            for place in ("", *"12345"):
                headline = line.get(f"Input.articleHeadline{place}")
                if headline is None:
                    continue
                item_id = f"{line[f'Input.claimHeadline{place}']} | {headline}"
                value = line[f"Answer.stance{place}" if place else "Answer.Q1Answer"]
                if batch in batches and "|" not in value:
                    rows.append((item_id, line["WorkerId"], value))
                if label := line.get(f"Input.articleHeadlineStance{place}"):
                    known[item_id] = label.capitalize()
    votes = pd.DataFrame(rows, columns=["item_id", "worker", "value"])
    items = sorted({*votes["item_id"]} & {*known})
    return votes, pd.Series({item_id: known[item_id] for item_id in items})


def _themselves(*values: str) -> dict[str, str]:
    return dict(zip(values, values, strict=True))


def _fewer(votes: pd.DataFrame, most: int, seed: int) -> pd.DataFrame:
    """Draw at most this many votes of each item at random."""
    drawn = votes.sample(frac=1, random_state=seed).groupby("item_id").head(most)
    return drawn.reset_index(drop=True)
