"""What a terminal shows of a campaign: two sentences, a bar, the next command."""

from dataclasses import replace
from pathlib import Path

import pytest

from piecework.cli.output import next_command, progress_lines, progress_rows, say_progress
from piecework.domain.progress import BY_A_PERSON, SourceState, Waiting
from tests.for_each import for_each
from tests.progress import BEFORE_THE_FIRST_PASS

_MARKET = "http://127.0.0.1:8080"
_FINISHED = replace(
    BEFORE_THE_FIRST_PASS,
    items=8,
    batch=2,
    batches=2,
    hits_posted=4,
    submitted=10,
    answers=50,
    flagged=3,
    accepted=40,
    dropped=9,
    surplus=1,
    excluded=1,
    rewards_cents=1192,
    fees_cents=238,
    budget_cents=1900,
)


def test_a_finished_campaign_is_two_sentences_and_a_full_bar() -> None:
    """Only what is there is counted."""
    assert [*progress_lines(_FINISHED)] == [
        "birds: finished. 40 of 40 answers accepted, 10 set aside, 1 worker excluded.",
        "$14.30 of $19.00 spent.",
        "█" * 40 + " 100 %",
    ]


def test_a_table_shows_the_signs_of_a_fault_as_they_are(capsys: pytest.CaptureFixture[str]) -> None:
    """Brackets and colons are no styles of the terminal, and no sign steers it."""
    faulty = replace(_FINISHED, reason="row [/b] of [red]:cat:[/red] \x1b[31m")
    say_progress(faulty, as_json=False, all_rows=True)
    assert r"row [/b] of [red]:cat:[/red] \x1b[31m" in capsys.readouterr().out


def test_a_rehearsal_says_what_the_work_would_cost() -> None:
    """Nothing is spent on simulated workers."""
    rehearsed = replace(_FINISHED, is_rehearsal=True)
    assert "It would cost $14.30 of $19.00; a rehearsal pays nothing." in progress_lines(rehearsed)
    assert ("would cost, of the cap", "$14.30 of $19.00") in progress_rows(rehearsed)


def test_a_campaign_that_a_cap_ended_says_what_is_missing() -> None:
    """The bar is not full, and the key to raise is named."""
    ended = replace(_FINISHED, missing=10, cap_reached=True, stopped_by="budget")
    assert [*progress_lines(ended)] == [
        "birds: ended by budget. 40 of 50 answers accepted, 10 set aside, 1 worker\nexcluded.",
        "$14.30 of $19.00 spent.",
        "10 answers missing: a cap is reached.",
        "█" * 32 + "░" * 8 + " 80 %",
    ]


def test_rows_that_a_cap_leaves_out_are_missing_too() -> None:
    """Each item that was posted has its answers, and the campaign has not finished."""
    source = SourceState(
        waiting=9, fault="", unfinished="", quarantined=0, faults=(), changed=0, withdrawn=0
    )
    ended = replace(_FINISHED, cap_reached=True, stopped_by="budget", source=source)
    lines = [*progress_lines(ended)]
    assert lines[0].startswith("birds: ended by budget. 40 of 40 answers accepted")
    assert "answers to 9 rows missing: a cap is reached." in lines
    both = [*progress_lines(replace(ended, missing=1))]
    assert "1 answer and answers to 9 rows missing: a cap is reached." in both


@for_each(
    ("waiting_for", "words"),
    [
        ("workers", "batch 2 of 2 waits for workers, 3 HITs open"),
        ("people", "waits for a person, 7 decisions"),
        ("the next pass", "waits for the next pass (HITs are due)"),
        ("the next day", "waits for the next day by budget.day, continues at 2027-01-02 00:00 UTC"),
        ("new rows", "waits for new rows"),
    ],
)
def test_the_first_sentence_says_who_has_to_act(waiting_for: Waiting, words: str) -> None:
    """And no line is wider than the terminal."""
    is_day = waiting_for == "the next day"
    progress = replace(
        _FINISHED,
        waiting_for=waiting_for,
        hits_open=3,
        to_decide=7 if waiting_for == "people" else 0,
        reason="HITs are due",
        stopped_by="budget.day" if is_day else "",
        goes_on_at="2027-01-02T00:00:00+00:00" if is_day else "",
        missing=5,
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COLUMNS", "60")
        lines = "\n".join(progress_lines(progress)).splitlines()
    assert words in " ".join(lines)
    assert max(map(len, lines)) <= 60


def test_a_person_reads_how_long_it_takes_and_when_it_is_too_late() -> None:
    """Before the marketplace pays by itself."""
    waiting = replace(
        _FINISHED,
        waiting_for="people",
        to_decide=7,
        review_seconds=600,
        pays_itself_at="2027-01-02T09:00:00+00:00",
    )
    assert (
        "7 decisions: about 10 min of work, "
        "the marketplace pays automatically at 2027-01-02 09:00 UTC."
    ) in [*progress_lines(waiting)]


def test_rows_of_a_source_that_are_not_posted_as_they_are_now_are_counted() -> None:
    """With the first reasons, above the bar."""
    source = SourceState(
        waiting=0,
        fault="",
        unfinished="d.jsonl is not read to its end yet (half-written)",
        quarantined=2,
        faults=("a.csv: line 7: url is missing or empty",),
        changed=1,
        withdrawn=3,
    )
    assert [*progress_lines(replace(_FINISHED, source=source))][2:-1] == [
        "source: 2 rows cannot be used, 1 row changed, 3 rows disappeared.",
        "  a.csv: line 7: url is missing or empty",
        "source: d.jsonl is not read to its end yet (half-written)",
    ]
    usual = replace(source, unfinished="", quarantined=0, faults=(), changed=0, withdrawn=0)
    assert len([*progress_lines(replace(_FINISHED, source=usual))]) == 3


def test_the_next_command_is_the_one_that_helps() -> None:
    """Review, open the report, go on rehearsing; or none."""
    campaign, report = Path("birds.toml"), Path("out/birds/report.html")
    waiting = replace(_FINISHED, waiting_for="people", to_decide=7)
    half = replace(_FINISHED, waiting_for="workers", is_rehearsal=True)
    assert (
        next_command(waiting, campaign, report=report, endpoint=_MARKET)
        == "piecework review birds.toml"
    )
    assert (
        next_command(_FINISHED, campaign, report=report, endpoint=_MARKET)
        == "open out/birds/report.html"
    )
    assert next_command(half, campaign, report=None, endpoint="") == "piecework rehearse birds.toml"
    assert (
        next_command(half, campaign, report=None, endpoint=_MARKET)
        == f"piecework run birds.toml --once --rehearsal --endpoint {_MARKET}"
    )
    live = replace(half, is_rehearsal=False)
    assert (
        next_command(live, campaign, report=None, endpoint=_MARKET)
        == f"piecework run birds.toml --endpoint {_MARKET}"
    )
    agreed = next_command(live, campaign, report=None, endpoint=_MARKET, live=True)
    assert agreed == f"piecework run birds.toml --endpoint {_MARKET} --live"
    # Work that was submitted is still collected and paid.
    stopped = replace(live, stopped_by=BY_A_PERSON, hits_open=2)
    assert (
        next_command(stopped, campaign, report=None, endpoint=_MARKET)
        == f"piecework run birds.toml --endpoint {_MARKET}"
    )
    first = " ".join(next(progress_lines(stopped)).split())
    assert "stopped by piecework stop, batch" in first
    assert "2 HITs expired and to be collected" in first
    assert "2 HITs open" in next(progress_lines(replace(live, hits_open=2)))
