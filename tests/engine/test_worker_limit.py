"""Limits for each worker, from the campaign file to the marketplace."""

import sqlite3
from collections import Counter
from contextlib import closing
from datetime import date
from pathlib import Path

import pytest

from piecework.campaign.assembling import load_campaign
from piecework.campaign.pricing import price
from piecework.campaign.warnings import campaign_warnings
from piecework.engine.run_pass import run_pass
from piecework.marketplace.state.worker_limits import NO_LIMIT
from piecework.store import assignments, hits
from tests.engine.conftest import Open
from tests.small_campaign import CAMPAIGN, write_campaign

PER_BATCH = "per_worker_in_batch = 1\n" + CAMPAIGN
TEXT = "per_worker = 1\n" + CAMPAIGN


def most_done(at_work: Open, text: str) -> int:
    """Return how many HITs the busiest worker did."""
    with at_work(text) as (run, people):
        progress = run_pass(run)
        while progress.waiting_for == "workers" and people.work():
            progress = run_pass(run)
        done = Counter(each.worker_id for each in assignments.load_assignments(run.store))
        assert len(done) > 1
        return max(done.values())


def test_no_worker_does_more_hits_than_the_campaign_allows(at_work: Open) -> None:
    """Over all batches and replacements."""
    assert most_done(at_work, TEXT) == 1


@pytest.mark.parametrize(
    ("text", "limits"),
    [
        (CAMPAIGN, [("", NO_LIMIT, 0)]),
        (TEXT, [("", 1, 0)]),
        ("per_worker = 3\n" + PER_BATCH, [("", 3, 0), (", batch 1", 1, 1)]),
    ],
)
def test_hits_count_for_their_campaign_also_without_a_limit(
    at_work: Open, tmp_path: Path, text: str, limits: list[tuple[str, int, int]]
) -> None:
    """A limit that is added or restored later counts what was done before."""
    with at_work(text) as (run, _):
        run_pass(run)
        name = run.campaign.name
    with closing(sqlite3.connect(tmp_path / "marketplace.db")) as market:
        stated = market.execute(
            "SELECT DISTINCT name, most, is_of_batch FROM hit_types "
            "LEFT JOIN hit_type_limits ON hit_type = hit_types.id ORDER BY name"
        ).fetchall()
    assert stated == [(name + batch, *limit) for batch, *limit in limits]


@pytest.mark.full
def test_without_a_limit_they_do(at_work: Open) -> None:
    """The same people."""
    assert most_done(at_work, CAMPAIGN) > 1


def test_no_worker_does_more_hits_of_a_batch_than_it_allows(at_work: Open) -> None:
    """Two batches and their replacements: each batch has its own HIT types."""
    with at_work(PER_BATCH) as (run, people):
        progress = run_pass(run)
        while progress.waiting_for == "workers" and people.work():
            progress = run_pass(run)
        done = Counter(
            (each.worker_id, batch_of[each.hit_id])
            for batch_of in [{hit.hit_id: hit.batch for hit in hits.load_hits(run.store)}]
            for each in assignments.load_assignments(run.store)
        )
        batches = {hit.hit_type_id: hit.batch for hit in hits.load_hits(run.store)}
    assert max(done.values()) == 1
    assert set(batches.values()) == {1, 2}


@pytest.mark.parametrize(("crowd", "is_enough"), [(4, True), (3, False)])
def test_a_crowd_that_is_too_small_for_the_limit_is_named(
    tmp_path: Path, crowd: int, *, is_enough: bool
) -> None:
    """Two HITs with two assignments each need four workers."""
    campaign = load_campaign(write_campaign(tmp_path, f"{TEXT}[requirements]\nworkers = {crowd}\n"))
    words = (
        f"per_worker: {crowd} workers with at most 1 HIT each do "
        f"{crowd}, but the campaign needs 4; allow 2"
    )
    warnings = campaign_warnings(campaign, price(campaign, on=date(2026, 1, 5)))
    assert (words in warnings) != is_enough
    assert any("per_worker" in warning for warning in warnings) != is_enough


@pytest.mark.parametrize(("crowd", "is_enough"), [(2, True), (1, False)])
def test_a_crowd_that_cannot_finish_a_batch_is_named(
    tmp_path: Path, crowd: int, *, is_enough: bool
) -> None:
    """Each batch has one HIT with two assignments, which need two workers."""
    text = f"{PER_BATCH}[requirements]\nworkers = {crowd}\n"
    campaign = load_campaign(write_campaign(tmp_path, text))
    words = (
        "per_worker_in_batch: 1 worker with at most 1 HIT each "
        "do 1, but the largest batch needs 2; allow 2"
    )
    warnings = campaign_warnings(campaign, price(campaign, on=date(2026, 1, 5)))
    assert (words in warnings) != is_enough
