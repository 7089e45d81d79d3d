"""Every sentence that moves money or tells of people is true of whom it is told.

Each is reckoned again from what workers sent, by plain Python beside the heuristics
(`told/`), at the moment when it was said.
"""

from collections import Counter
from pathlib import Path

import pytest

from piecework.qc.ratings import with_ratings
from piecework.qc.silence import silences
from tests.end_to_end.evidence.rehearsed import (
    Listened,
    faults_of_decisions,
    faults_of_findings,
    feedback,
    listened,
)

CAMPAIGNS = Path(__file__).resolve().parents[2] / "config/campaigns"
SHIPPED = sorted(
    path.stem
    for path in CAMPAIGNS.glob("*.toml")
    if not path.stem.endswith(".deployment") and path.stem != "words"
)
"""`words` has texts beside a text of the item, whose likeness `tests/qc/test_likeness` holds."""

OFTEN = {"pairwise"}
"""Rehearsed every time: texts and choices; the others in the long form."""

LEAST_REASONS = {"correction": 30, "demo": 30, "error_categories": 50, "logos": 0, "which_word": 0}
"""How many decisions quote evidence, where a rehearsal has many, or has honest workers only."""


RARE_RULES = """
[[decisions.rule]]
on = "worker"
suspicion_above = 0.6
then = "exclude"
because = "Not invited again: {evidence}."

[[decisions.rule]]
on = "answer"
any_of = ["time_in_image", "canary", "answered_before"]
then = "drop"
because = "Set aside: {evidence}."

[heuristics.canary]
word = "beside"

[heuristics.time_in_image]
outlier_sds = 1.5

[heuristics.answered_before]

[rehearsal.crowd]
hurried = 8
paster = 1
"""
"""A word that honest simulated workers write, and few of them, who heed no request."""


def changed(folder: Path, *changes: tuple[str, str]) -> Path:
    """The demo's campaign file with other words, in a folder."""
    text = (CAMPAIGNS / "demo.toml").read_text(encoding="utf-8")
    for before, after in changes:
        assert before in text
        text = text.replace(before, after)
    path = folder / "changed.toml"
    path.write_text(text, encoding="utf-8")
    return path


def check(heard: Listened) -> Counter[str]:
    """Hold all that was said to what was sent; how many sentences of each kind."""
    faults = [fault for fault in faults_of_findings(heard) if fault]
    faults += [fault for fault in faults_of_decisions(heard) if fault]
    assert not faults, f"{len(faults)}: {faults[:5]}"
    rejected = {
        decision.subject_id: decision.because
        for known in heard.passes
        for decision in known.decisions
        if decision.verdict == "reject"
    }
    assert feedback(heard.run) == rejected
    sentences = Counter(finding.heuristic for known in heard.passes for finding in known.findings)
    campaign = heard.campaign
    rated = with_ratings(heard.run.answers(), campaign.task, campaign.items)
    assert not sentences.keys() & silences(rated, campaign.heuristics).keys()
    return sentences


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=() if name in OFTEN else pytest.mark.full) for name in SHIPPED],
)
def test_every_sentence_of_a_shipped_campaign_is_true(name: str, tmp_path: Path) -> None:
    """Its numbers, its item, HIT or worker, by what had come in by then."""
    with listened(CAMPAIGNS / f"{name}.toml", tmp_path / "out") as heard:
        sentences = check(heard)
        quoted = [
            decision
            for known in heard.passes
            for decision in known.decisions
            if decision.verdict not in {"keep", "approve"}
        ]
    assert sentences
    assert len(quoted) >= LEAST_REASONS.get(name, 3)
    if name == "demo":
        assert len(sentences) >= 12
        assert any(decision.verdict == "reject" for decision in quoted)


@pytest.mark.full
def test_every_sentence_that_no_shipped_campaign_hears_is_true(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of heuristics that are off, that have to be given a word, or have nothing to say.

    HITs of one item are not kept apart here, so workers come a second time.
    """
    monkeypatch.setattr("piecework.engine.launch.apart_from", lambda _run, _hit: [])
    path = changed(
        tmp_path,
        ("scenes = 60", "scenes = 20"),
        ("batches = 5", "batches = 2"),
        ("# The first rule that fits", RARE_RULES + "# The first rule that fits"),
    )
    with listened(path, tmp_path / "out") as heard:
        sentences = check(heard)
        reasons = [decision.because for known in heard.passes for decision in known.decisions]
    for words, name in (
        ("which the page asks only programs to write", "canary"),
        ("other answers about this item", "time_in_image"),
        ("second about this item", "answered_before"),
        ("is bad work with a probability of", "joined_suspicion"),
    ):
        assert sentences[name], name
        assert any(words in reason for reason in reasons), name


@pytest.mark.full(weeks=4)
def test_every_sentence_about_two_thousand_pictures_is_true(tmp_path: Path) -> None:
    """The demo's policy and crowd; replacements, and batches that know each other."""
    path = changed(
        tmp_path,
        ("scenes = 60", "scenes = 2000"),
        ("batches = 5", "batches = 10"),
        ('budget = "130.00"', 'budget = "5000.00"'),
    )
    with listened(path, tmp_path / "out") as heard:
        sentences = check(heard)
        made = Counter(decision.verdict for known in heard.passes for decision in known.decisions)
    assert sentences.total() > 1500
    assert made["drop"] > 150
    assert made["reject"] > 10
