"""Every reason that the demo gives is true of whom it is given to."""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from domain.verdicts import Decision
from flows.rehearsing.campaign import prepare
from flows.rehearsing.rehearsal import rehearsal_of, work_through
from qc.policy import NOTHING_AGAINST
from store import decisions

DEMO = Path(__file__).resolve().parents[2] / "config/campaigns/demo.toml"
BEFORE = re.compile(
    r"(its assignment was rejected: )?"
    r"(Not approved|Set aside|Not invited again)"
    r"(: (?P<flagged>\d+) of (?P<answers>\d+) answers, such as)?: (?P<evidence>.*)\.$"
)


@pytest.fixture(scope="module")
def judged(
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[tuple[pd.DataFrame, list[Decision]]]:
    """The demo's answers, and what was decided about them."""
    out = tmp_path_factory.mktemp("demo") / "out"
    with rehearsal_of(replace(prepare(DEMO), out=out)) as (run, crowd):
        work_through(run, crowd)
        yield run.answers(), decisions.load(run.store)


def words(text: str) -> list[str]:
    """As a reader compares two sentences."""
    return re.findall(r"\w+", text.lower())


def _is_one_sentence(own: pd.DataFrame, _: pd.DataFrame, said: re.Match[str]) -> bool:
    alike = {" ".join(words(text)) for text in own["text"]}
    return alike == {" ".join(words(said["text"]))} and len(own) == int(said["items"])


def _is_repeated(own: pd.DataFrame, every: pd.DataFrame, said: re.Match[str]) -> bool:
    of_worker = every[every["worker_id"].isin(own["worker_id"])]
    times = sum(words(text) == words(said["text"]) for text in of_worker["text"])
    return times == int(said["images"]) and len(set(own["worker_id"])) == 1


def _is_shouted(own: pd.DataFrame, _: pd.DataFrame, said: re.Match[str]) -> bool:
    start = said["text"].rstrip("…")
    (text,) = {text for text in own["text"] if text.startswith(start)}
    return f"{sum(map(str.isupper, text)) / len(text):.0%}" == said["share"]


def _is_about_quality(own: pd.DataFrame, _: pd.DataFrame, said: re.Match[str]) -> bool:
    start = said["text"].rstrip("…")
    (text,) = {text for text in own["text"] if text.startswith(start)}
    return all(word in words(text) for word in said["words"].split(", "))


def _uses_canned(own: pd.DataFrame, every: pd.DataFrame, said: re.Match[str]) -> bool:
    of_worker = every[every["worker_id"].isin(own["worker_id"])]
    used = int(of_worker["is_canned"].sum())
    # What came after the decision is more, and makes it no less true.
    return used >= int(said["used"]) and len(of_worker) >= int(said["seen"])


def _is_alone(own: pd.DataFrame, every: pd.DataFrame, said: re.Match[str]) -> bool:
    item = every[every["item_id"].isin(own["item_id"])]
    # Of those that were there at the decision: a replacement may say so, too.
    known = item.sort_values("submitted_at").head(int(said["of"]))
    return set(own.index) <= set(known.index) and int(known["is_canned"].sum()) == 1


Check = Callable[[pd.DataFrame, pd.DataFrame, re.Match[str]], bool]

CHECKS: Mapping[str, Check] = {
    r"one sentence under all (?P<items>\d+) items of the HIT: “(?P<text>.*)”": (
        _is_one_sentence
    ),
    r"the same sentence on (?P<images>\d+) images of this worker, \d+% of whose texts "
    r"repeat: “(?P<text>.*)”": _is_repeated,
    r"(?P<share>\d+%) of the characters are capitals: “(?P<text>.*)”": _is_shouted,
    r"speaks of the photo's quality \((?P<words>.*)\): “(?P<text>.*)”": (
        _is_about_quality
    ),
    r"used the canned text on (?P<used>\d+) of (?P<seen>\d+) images": _uses_canned,
    r"the only one of (?P<of>\d+) to use the canned text on this item": _is_alone,
}
"""Each kind of evidence, reckoned by plain Python beside the heuristic."""


def test_every_reason_of_the_demo_is_true(
    judged: tuple[pd.DataFrame, list[Decision]],
) -> None:
    """The HIT has one sentence, the worker so many; the text is the worker's own."""
    answers, made = judged
    columns = {"assignment": "assignment_id", "worker": "worker_id"}
    seen = set()
    for decision in made:
        if decision.because == NOTHING_AGAINST:
            continue
        said = BEFORE.match(decision.because)
        assert said, decision.because
        if decision.subject_kind == "answer":
            own = answers.loc[[decision.subject_id]]
            if said[1]:  # what is told is told of its assignment
                same = answers["assignment_id"] == own["assignment_id"].iloc[0]
                own = answers[same]
        else:
            of_subject = answers[columns[decision.subject_kind]] == decision.subject_id
            own = answers[of_subject]
        if said["answers"]:
            assert int(said["flagged"]) <= int(said["answers"]) <= len(own)
        for piece in re.split(r"; (?=[a-z\d])", said["evidence"]):
            seen.add(_checked(piece, own, answers))
    assert len(seen) >= 5
    assert any(decision.verdict == "reject" for decision in made)


def _checked(piece: str, own: pd.DataFrame, answers: pd.DataFrame) -> str:
    for pattern, is_true in CHECKS.items():
        if said := re.fullmatch(pattern, piece):
            assert is_true(own, answers, said), piece
            return pattern
    pytest.fail(f"evidence of a kind that this test does not know: {piece}")
