"""People as a function: a key is asked about once, and paid once."""

import json
import os
import signal
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from botocore.httpsession import URLLib3Session

import piecework
from piecework.campaign.assembling import load_campaign
from piecework.engine.opening import open_to_look
from piecework.engine.progress import read_progress
from piecework.flows.advance import _deployed
from piecework.library import asking
from piecework.marketplace.http.server import Marketplace, serve
from piecework.results import item_labels
from piecework.results.whole_pass import write_results
from piecework.store import campaign_facts, hits, ledger, source, waiting_runs
from piecework.store.database import writing
from tests.crash.people import People
from tests.growing_campaign import START, TEXT
from tests.small_campaign import CAMPAIGN

TRIAGE = """
name = "triage"
description = "Is a description true of its image?"
task = "congruency"
answers = 3
reward = "0.45"
budget = "900.00"
hourly_wage = "5.00"
formats = ["csv"]
[items]
file = "asked.jsonl"
[grows]
batch = 1
[posting]
items_per_hit = 2
[decisions]
by = "policy"
[[decisions.rule]]
on = "answer"
any_of = ["rule_violation"]
then = "drop"
because = "Not an option."
"""


def _row(number: int) -> dict[str, Any]:
    return {
        "pair_id": f"p{number}",
        "url": f"https://example.org/{number}.jpg",
        "description": "A dog on a lawn.",
        "truth.congruent": "incongruent" if number % 3 else "congruent",
    }


@pytest.fixture
def triage(tmp_path: Path) -> Path:
    """The file of a campaign that programs ask."""
    path = tmp_path / "triage.toml"
    path.write_text(TRIAGE)
    return path


@pytest.mark.full
def test_a_table_is_rehearsed_once_and_grows(triage: Path) -> None:
    """Simulated workers answer it; what was asked before costs nothing more."""
    table = pd.DataFrame([_row(number) for number in range(6)], index=[*"abcdef"])
    labels = piecework.ask_table(table, campaign=triage, rehearse=True)
    assert labels["task"].to_dict() == dict(zip("abcdef", table["pair_id"], strict=True))
    assert {*labels["label"]} <= {"congruent", "incongruent"}
    assert labels["is_final"].all()
    assert labels["answers"].eq(3).all()
    assert labels["probability"].between(0.5, 1).all()
    # Three assignments of each of three HITs, with MTurk's 20 % fee.
    assert labels["cost"].sum() == pytest.approx(3 * 3 * (0.45 + 0.09))
    again = piecework.ask_table(table[::-1], campaign=triage, rehearse=True)
    assert again.equals(labels[::-1])
    cells = {name: cell for name, cell in _row(7).items() if name != "pair_id"}
    answer = piecework.ask(cells, key="one more", campaign=triage, rehearse=True)
    assert (answer.task, answer.answers, answer.is_final) == ("one more", 3, True)
    assert not (triage.parent / "asked.jsonl").exists()
    with pytest.raises(piecework.ConfigError, match="asked before, with other cells"):
        piecework.ask(
            cells | {"description": "A cat."}, key="one more", campaign=triage, rehearse=True
        )


@dataclass
class Asked:
    """A live campaign that a program asks, and the people on its marketplace."""

    path: Path
    people: People

    def ask(self, key: str) -> piecework.Answer:
        """Make a pass, and return the answer as far as it is known."""
        return piecework.ask(
            {"url": f"https://example.org/{key}.jpg"},
            key=key,
            campaign=self.path,
            field="caption",
            timeout=0,
            on_timeout=None,
        )

    def answer(self, key: str) -> piecework.Answer:
        """Ask until it is answered, with people at work meanwhile."""
        for _ in range(6):
            answer = self.ask(key)
            if answer.is_final:
                return answer
            self.people.work()
        raise AssertionError("nobody answered")


@pytest.fixture
def asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Asked]:
    """One answer for each item; a batch for each row that waits."""
    text = TEXT.replace("items.csv", "asked.jsonl").replace("batch = 4", "batch = 1")
    path = tmp_path / "crash.toml"
    path.write_text(text)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "A-REQUESTER")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "no secret")
    script = tuple((f"worker {number}", "good") for number in range(500))
    with serve(Marketplace(tmp_path / "m.db", rehearsal=True, seed=1, start=START)) as running:
        (tmp_path / "crash.deployment.toml").write_text(f'endpoint = "{running.endpoint_url}"\n')
        yield Asked(path, People(running.endpoint_url, script))


def _killed(path: Path, key: str, at_call: int, *, is_after: bool) -> None:
    """Ask, and die by a signal at a call to the marketplace."""
    send, calls = URLLib3Session.send, Counter[str]()

    def sent(session: URLLib3Session, request: Any) -> Any:  # noqa: ANN401 - botocore's
        calls["all"] += 1
        if calls["all"] == at_call and not is_after:
            os.kill(os.getpid(), signal.SIGKILL)
        answer = send(session, request)
        if calls["all"] == at_call:
            os.kill(os.getpid(), signal.SIGKILL)
        return answer

    URLLib3Session.send = sent  # type: ignore[method-assign, assignment]
    Asked(path, People("")).ask(key)


def _kill(asked: Asked, key: str, at_call: int, *, is_after: bool) -> bool:
    """Kill a program that asks; whether it came to that call."""
    process = get_context("fork").Process(
        target=partial(_killed, asked.path, key, at_call, is_after=is_after)
    )
    process.start()
    process.join(60)
    assert process.exitcode in {0, -signal.SIGKILL}
    return bool(process.exitcode)


def _check_books(asked: Asked, keys: list[str]) -> None:
    """Each key was asked in one HIT, and paid for once."""
    with open_to_look(load_campaign(asked.path)) as opened:
        posted = [hit for hit in hits.load_hits(opened.store) if hit.hit_id]
        assert sorted(name for hit in posted for name in hit.item_ids) == sorted(keys)
        balances = ledger.balances(opened.store)
    assert balances["rewards"] == 50 * len(posted)
    assert balances["held"] == 0


def test_a_program_that_is_killed_asks_again_and_pays_once(asked: Asked) -> None:
    """Right after the calls that make its first pass, and those of the next one."""
    assert _kill(asked, "a", 1, is_after=True)
    assert _kill(asked, "a", 3, is_after=True)
    assert not asked.ask("a").is_final
    asked.people.work()
    assert _kill(asked, "a", 2, is_after=True)
    answer = asked.answer("a")
    assert (answer.answers, round(answer.cost, 2)) == (1, 0.60)
    assert asked.ask("a") == answer
    _check_books(asked, ["a"])


@pytest.mark.full
@pytest.mark.parametrize("is_after", [False, True])
def test_a_program_is_killed_at_every_call(asked: Asked, *, is_after: bool) -> None:
    """First until the question is posted, then until its answer is paid."""
    keys: list[str] = []
    for is_answered in (False, True):
        for at_call in range(1, 60):
            key = f"k{len(keys)}"
            keys.append(key)
            if is_answered:
                assert not asked.ask(key).is_final
                asked.people.work()
            is_killed = _kill(asked, key, at_call, is_after=is_after)
            answer = asked.answer(key)
            assert (answer.answers, round(answer.cost, 2)) == (1, 0.60)
            if not is_killed:
                break
        else:
            raise AssertionError("a pass makes fewer calls")
    assert len(keys) > 8
    _check_books(asked, keys)


def test_an_answer_that_a_person_has_to_decide_about_is_not_final(asked: Asked) -> None:
    """A dropped one is asked for again, so there is no label yet."""
    text = asked.path.read_text()
    asked.path.write_text(text.replace('by = "policy"', 'by = "person"'))
    asked.people.script = (("ann", "shout"),)  # capitals are flagged
    assert not asked.ask("a").is_final
    assert asked.people.work() == 1
    answer = asked.ask("a")
    assert (answer.label, answer.answers, answer.is_final) == (None, 0, False)
    with open_to_look(load_campaign(asked.path)) as opened:
        assert read_progress(opened).waiting_for == "people"


@pytest.mark.full
def test_two_programs_that_rehearse_at_once_soon_follow_each_other(
    triage: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither waits for a whole poll until the other is done."""
    sleep, slept = time.sleep, list[float]()

    def short(seconds: float) -> None:
        slept.append(seconds)
        sleep(min(seconds, 1))

    monkeypatch.setattr(time, "sleep", short)

    def ask(key: str) -> piecework.Answer:
        cells = {name: cell for name, cell in _row(1).items() if name != "pair_id"}
        return piecework.ask(cells, key=key, campaign=triage, poll_seconds=60, rehearse=True)

    with ThreadPoolExecutor() as programs:
        answers = list(programs.map(ask, "xy"))
    assert all(answer.is_final for answer in answers)
    assert 60 not in slept


def test_the_key_of_a_gold_item_is_refused(triage: Path) -> None:
    """It would stay in the file and make the campaign faulty."""
    triage.write_text(TRIAGE + '[gold]\nfile = "gold.csv"\nshare = 0.2\n')
    (triage.parent / "gold.csv").write_text(
        "pair_id,url,description,gold.congruent\ng1,https://example.org/g1.jpg,A cat.,congruent\n"
    )
    cells = {name: cell for name, cell in _row(1).items() if name != "pair_id"}
    with pytest.raises(piecework.ConfigError, match="gold item"):
        piecework.ask(cells, key="g1", campaign=triage, rehearse=True)
    assert not (triage.parent / "out").exists()


@pytest.mark.full
def test_probabilities_are_those_of_the_dataset(triage: Path) -> None:
    """Votes on items that were mixed in count in neither."""
    triage.write_text(TRIAGE + '[gold]\nfile = "gold.csv"\nshare = 0.2\n')
    gold = [f"g{n},https://e.org/{n}.jpg,A cat.,congruent" for n in range(4)]
    (triage.parent / "gold.csv").write_text(
        "\n".join(["pair_id,url,description,gold.congruent", *gold, ""])
    )
    table = pd.DataFrame([_row(number) for number in range(8)])
    labels = piecework.ask_table(table, campaign=triage, rehearse=True)
    campaign = load_campaign(triage)
    out = campaign.out.with_name(f"{campaign.out.name}-rehearsed")
    with open_to_look(replace(campaign, out=out)) as opened:
        write_results(opened)
    items = piecework.read_dataset(out / "dataset").items
    expected = items["congruent_probability"].loc[labels["task"]].tolist()
    assert labels["probability"].tolist() == pytest.approx(expected)


def test_two_columns_of_a_name_are_refused(triage: Path) -> None:
    """One of them would get lost."""
    table = pd.DataFrame([_row(1)])
    table.insert(0, "url", "https://example.org/x.jpg", allow_duplicates=True)
    with pytest.raises(piecework.ConfigError, match="two columns"):
        piecework.ask_table(table, campaign=triage, rehearse=True)


def test_who_is_not_answered_in_time_is_told(asked: Asked) -> None:
    """By an error, or by the value that was asked for; asking again continues."""
    with pytest.raises(piecework.NotAnswered, match="not all are answered"):
        piecework.ask(
            {"url": "https://example.org/a.jpg"},
            key="a",
            campaign=asked.path,
            field="caption",
            timeout=0,
        )
    waiting = asked.ask("a")
    assert (waiting.label, waiting.answers, waiting.is_final) == (None, 0, False)
    assert "cup" in str(asked.answer("a").label)
    _check_books(asked, ["a"])


def _may_continue(asked: Asked, run_id: str) -> bool:
    with open_to_look(load_campaign(asked.path)) as opened:
        return item_labels.may_continue(opened, run_id, now=opened.clock.now())


def test_a_flow_run_waits_no_longer_than_answers_may_come(asked: Asked) -> None:
    """When the campaign is stopped, it goes on, and no run begins to wait."""
    begin = partial(asking.begin_to_wait, asked.path, deadline=None)
    asked.ask("a")
    asked.ask("b")  # it waits for the batch of the other
    assert begin("first", ["b"])
    assert not _may_continue(asked, "first")
    with open_to_look(load_campaign(asked.path)) as opened:
        campaign_facts.record_stop(opened.store, at=opened.clock.now())
    asked.people.work()
    while asked.ask("a").label is None:
        asked.people.work()
    assert not asked.ask("b").is_final
    assert _may_continue(asked, "first")
    assert not begin("second", ["b"])
    assert waiting_runs.ids(load_campaign(asked.path).out) == ["first"]


def test_a_flow_run_does_not_wait_for_a_row_that_is_set_aside(asked: Asked) -> None:
    """Asking again then says what is wrong with it."""
    begin = partial(asking.begin_to_wait, asked.path, deadline=None)
    asked.ask("a")
    asked.ask("b")
    assert begin("first", ["b"])
    with open_to_look(load_campaign(asked.path)) as opened, writing(opened.store):
        row = item_labels.latest_items(opened, ["b"])["b"]
        source.set_unusable(opened.store, {row.item_id: "no page can show it"})
    assert _may_continue(asked, "first")
    assert not begin("second", ["b"])
    with pytest.raises(piecework.ConfigError, match="no page can show it"):
        asked.ask("b")


def test_a_rehearsed_pass_finds_the_runs_that_wait(asked: Asked) -> None:
    """They are kept where it looks: beside the rehearsal's store."""
    deployment = asked.path.with_name("crash.deployment.toml")
    deployment.write_text(f"{deployment.read_text()}rehearsal = true\n")
    assert asking.begin_to_wait(asked.path, "first", ["a"], deadline=None)
    request, _ = _deployed(asked.path)
    assert waiting_runs.ids(request.file.out) == ["first"]


def test_a_row_that_is_too_long_is_refused_and_others_are_asked(asked: Asked) -> None:
    """Also if another program has written it into the file."""
    for address, key, words in (
        ("x" * 200_000, "long", "has .* bytes; at most"),
        ("x", "k" * 100_000, "has 100,000 bytes; an id has at most"),
    ):
        with pytest.raises(piecework.ConfigError, match=words) as caught:
            piecework.ask(
                {"url": f"https://example.org/{address}"},
                key=key,
                campaign=asked.path,
                field="caption",
                timeout=0,
            )
        assert len(str(caught.value)) < 1000
    file = asked.path.with_name("asked.jsonl")
    assert not file.exists()
    rows = [{"image_id": "long", "url": "https://example.org/" + "x" * 200_000}]
    rows.append({"image_id": "k" * 100_000, "url": "https://example.org/k"})
    file.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    assert asked.answer("a").answers == 1
    _check_books(asked, ["a"])
    with open_to_look(load_campaign(asked.path)) as opened:
        source = read_progress(opened).source
    assert source is not None
    assert source.quarantined == 2


def test_missing_values_of_numpy_are_empty_cells(triage: Path) -> None:
    """NaN of every width, and a missing time."""
    for missing in (np.float16("nan"), np.float32("nan"), np.datetime64("NaT")):
        with pytest.raises(piecework.ConfigError, match="description is missing"):
            piecework.ask(
                {"url": "https://example.org/1.jpg", "description": missing},
                key="a",
                campaign=triage,
                rehearse=True,
            )


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"pair_id": ["a", "a"]}, "'a' is also table: row 0"),
        ({"pair_id": [1.0, 2.0]}, "is a decimal number"),
        ({"pair_id": [None, "b"]}, "pair_id"),
        ({"description": [None, "A dog."]}, "description"),
        ({"url": [["a"], "b"]}, "a cell is a list"),
        ({"truth.congruent": ["yes", "congruent"]}, "'yes'"),
        ({"mixed_in_gold": ["yes", ""]}, "reserved"),
    ],
)
def test_rows_that_cannot_be_asked_are_named_and_nothing_is_asked(
    triage: Path, change: dict[str, Any], words: str
) -> None:
    """Before the file is written."""
    table = pd.DataFrame([_row(1), _row(2)]).assign(**change)
    with pytest.raises(piecework.ConfigError, match=words):
        piecework.ask_table(table, campaign=triage, rehearse=True)
    assert [*triage.parent.iterdir()] == [triage]


def test_an_empty_table_has_an_empty_answer(triage: Path) -> None:
    """With the same columns."""
    empty = pd.DataFrame([_row(1)])[:0]
    labels = piecework.ask_table(empty, campaign=triage, rehearse=True)
    assert labels.empty
    assert "probability" in labels


def test_a_campaign_that_does_not_grow_cannot_be_asked(tmp_path: Path) -> None:
    """The message has the lines that it needs."""
    path = tmp_path / "crash.toml"
    text = CAMPAIGN.replace("items.csv", "asked.jsonl").replace("batches = 2\n", "")
    path.write_text(text)
    (tmp_path / "asked.jsonl").write_text('{"image_id": "a", "url": "https://e.org/a"}\n')
    with pytest.raises(piecework.ConfigError, match="grows from a file") as refused:
        piecework.ask({}, key="a", campaign=path, rehearse=True)
    assert "[grows]" in refused.value.next_step
