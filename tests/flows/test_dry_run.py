"""A dry run of `advance` reads everything and changes nothing."""

import hashlib
from pathlib import Path
from typing import Any

import httpx

from piecework.flows.advance import advance
from tests.growing_campaign import Growing, growing, names
from tests.trusted import own

EXPECTED = [
    "would take in 5 rows, then post HITs (batch 1 is due to be posted)",
    "would look for answers (open HITs: 3)",
    "would look for answers (open HITs: 3)",
    "would do nothing (0 rows of the 4 that make a batch)",
]


def dry_run(campaign: Path, endpoint: str) -> Any:  # noqa: ANN401 - Prefect's state
    """The state of a dry run at an endpoint."""
    (campaign.parent / "crash.deployment.toml").write_text(
        f'endpoint = "{endpoint}"\nrehearsal = true\n'
    )
    own(campaign)
    # Without a run of Prefect, no server has to start.
    return advance.fn(str(campaign), dry_run=True)


def contents(work: Growing) -> dict[str, str]:
    """A hash of every file of the campaign's folder."""
    out = work.run.campaign.out
    return {
        path.name: hashlib.sha256(path.read_bytes()).hexdigest()
        for path in out.rglob("*")
        if path.is_file() and not path.name.endswith("-shm")
    }


def books(endpoint: str) -> Any:  # noqa: ANN401 - a JSON document
    """The whole state of the marketplace."""
    return httpx.get(f"{endpoint}/rehearsal/books").json()


def test_it_says_what_a_pass_would_do(tmp_path: Path) -> None:
    """At each stage of a campaign; store, marketplace and books stay as they are."""
    with growing(tmp_path, names(1, 5)) as work:
        endpoint = work.run.platform.endpoint
        messages = []
        for stage in (lambda: None, work.advance, work.people.work, work.finish):
            stage()
            before = contents(work), books(endpoint)
            state = dry_run(work.path, endpoint)
            assert state.name == "DryRun"
            assert (contents(work), books(endpoint)) == before
            messages.append(state.message.partition(";")[0])
        assert messages == EXPECTED


def test_a_campaign_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    """And not the deployment file, which nobody misses then."""
    state: Any = advance.fn(str(tmp_path / "birds.toml"), dry_run=True)
    assert state.is_failed()
    assert "birds.toml: no such campaign file" in state.message


def test_a_marketplace_that_does_not_answer_fails_it(tmp_path: Path) -> None:
    """Before the schedule finds out."""
    with growing(tmp_path, names(1, 5)) as work:
        path = work.path
    state = dry_run(path, "https://hits.example.org")
    assert state.is_failed()
    assert "a marketplace on this machine; next: piecework market serve --simulate" in state.message
    state = dry_run(path, "http://127.0.0.1:9")
    assert state.is_failed()
    assert "http://127.0.0.1:9" in state.message
    assert "; next: " in state.message
