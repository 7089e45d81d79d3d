"""What a panel must pay: each visit and bonus on one list, also after a kill."""

import csv
import fcntl
import io
import json
import os
import signal
import sqlite3
import stat
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import click
import pytest
from botocore.exceptions import ClientError
from click.testing import CliRunner, Result

from piecework.cli.main import main
from piecework.cli.marketplace_file import transaction_in
from piecework.cli.payday import known_people
from piecework.domain.ids import WorkerId
from piecework.domain.money import Compensation
from piecework.marketplace.workers import invitations
from piecework.markets.panel.arrivals import Ids, Secrets, signature
from piecework.markets.panel.pay_list import Payment, PayRecord, RecordedList
from piecework.markets.panel.rehearsal.simulated_panel import panel_file
from piecework.platforms.mturk import MTurk
from tests.conftest import in_full
from tests.markets.panel.scene import SECRET, USUAL, Scene, a_scene, changed, panel_of

_KILLED = """
import os, signal, sys
import {module} as module
real = module.{name}
def deadly(*arguments, **more):
    if {after}:
        real(*arguments, **more)
    os.kill(os.getpid(), signal.SIGKILL)
module.{name} = deadly
from piecework.cli.main import main
main()
"""


def _command(scene: Scene, name: str, *words: str) -> list[str]:
    panel = scene.database.with_name("panel.toml")
    panel.write_text(panel_file(USUAL))
    file = str(scene.database.parent / name)
    words = (str(panel), file, "--database", str(scene.database), *words)
    return ["market", "panel", "pay-list", *words]


def _listed(scene: Scene, name: str, *words: str) -> Result:
    return CliRunner().invoke(main, _command(scene, name, *words))


def _rows(scene: Scene, name: str) -> list[dict[str, str]]:
    text = scene.database.with_name(name).read_text()
    return list(csv.DictReader(io.StringIO(text, newline="")))


def _finish(scene: Scene, *persons: str) -> None:
    for person in persons:
        visitor = scene.visitor()
        visitor.arrive(scene.panel.open(person, f"s-{person}"))
        visitor.finish()


def _decide(scene: Scene, hits: list[str], *, rejected: int = 0) -> list[str]:
    ids = [
        str(each["AssignmentId"])
        for each in scene.submitted(hits)
        if each["AssignmentStatus"] == "Submitted"
    ]
    for number, assignment_id in enumerate(ids):
        if number < rejected:
            scene.requester.reject_assignment(
                AssignmentId=assignment_id, RequesterFeedback="Not a description."
            )
        else:
            scene.requester.approve_assignment(AssignmentId=assignment_id)
    return ids


def test_a_visit_is_listed_when_all_of_it_is_decided(scene: Scene) -> None:
    """With the sum of what was approved, and once."""
    hits = scene.post(4, Reward="0.35")
    _finish(scene, "ann", "bob")
    assert "no payment is due" in _listed(scene, "none.csv").output
    assert not scene.database.with_name("none.csv").exists()
    half = scene.submitted(hits[:1])[0]["AssignmentId"]
    scene.requester.approve_assignment(AssignmentId=half)
    assert "no payment is due" in _listed(scene, "half.csv").output
    ids = _decide(scene, hits)
    done = _listed(scene, "first.csv")
    assert done.exit_code == 0, done.output
    assert "list 1: 2 lines, $1.40 in all" in done.output
    assert [
        (row["Person"], row["Session"], row["Amount"], row["Kind"])
        for row in _rows(scene, "first.csv")
    ] == [("ann", "s-ann", "0.70", "visit"), ("bob", "s-bob", "0.70", "visit")]
    file = scene.database.with_name("first.csv")
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert "no payment is due" in _listed(scene, "second.csv").output
    # Bonuses come on the next list, each once; a reason is no formula.
    worker = scene.requester.get_assignment(AssignmentId=ids[0])["Assignment"]
    for reason in ("=cmd|calc", "Thanks, again"):
        scene.requester.send_bonus(
            WorkerId=worker["WorkerId"], AssignmentId=ids[0], BonusAmount="1.05", Reason=reason
        )
    assert "2 lines, $2.10" in _listed(scene, "third.csv").output
    assert [(row["Kind"], row["Amount"], row["Reason"]) for row in _rows(scene, "third.csv")] == [
        ("bonus", "1.05", "'=cmd|calc"),
        ("bonus", "1.05", "Thanks, again"),
    ]
    # A lost file is written again as it was.
    assert _listed(scene, "copy.csv", "--again", "1").exit_code == 0
    assert _rows(scene, "copy.csv") == _rows(scene, "first.csv")
    assert _listed(scene, "copy5.csv", "--again", "5").exit_code == 2


def test_rejected_work_is_paid_if_the_rejection_is_reversed(scene: Scene) -> None:
    """A visit of two, half of it rejected; one wholly rejected; then both reversed."""
    hits = scene.post(4, Reward="0.35")
    _finish(scene, "ann", "bob")
    ids = _decide(scene, hits, rejected=3)
    assert "1 lines, $0.35" in _listed(scene, "first.csv").output
    for assignment_id in ids[:3]:
        scene.requester.approve_assignment(AssignmentId=assignment_id, OverrideRejection=True)
    assert _listed(scene, "second.csv").exit_code == 0
    rows = [*_rows(scene, "first.csv"), *_rows(scene, "second.csv")]
    assert sorted(row["Kind"] for row in rows) == ["correction", "visit", "visit"]
    assert sum(round(float(row["Amount"]) * 100) for row in rows) == 4 * 35


def test_a_bonus_is_no_part_of_the_pay_for_the_work(scene: Scene) -> None:
    """Half a visit and a bonus as large as the other half are listed, and then that half."""
    hits = scene.post(2, Reward="0.35")
    _finish(scene, "ann")
    rejected, approved = _decide(scene, hits, rejected=1)
    worker_id = scene.requester.get_assignment(AssignmentId=approved)["Assignment"]["WorkerId"]
    scene.requester.send_bonus(
        WorkerId=worker_id, AssignmentId=approved, BonusAmount="0.35", Reason="Thanks"
    )
    assert "2 lines, $0.70" in _listed(scene, "first.csv").output
    scene.requester.approve_assignment(AssignmentId=rejected, OverrideRejection=True)
    assert "1 lines, $0.35" in _listed(scene, "second.csv").output
    [row] = _rows(scene, "second.csv")
    assert (row["Kind"], row["Amount"]) == ("correction", "0.35")
    assert "no payment is due" in _listed(scene, "third.csv").output


def test_a_restored_copy_lists_nothing_that_was_sent(scene: Scene) -> None:
    """Named with --sent, row by row: of two equal bonuses one is still due.

    The reason has a line break of old, which ends no row.
    """
    hits = scene.post(4)
    _finish(scene, "ann")
    [first, *_] = _decide(scene, hits)
    worker_id = scene.requester.get_assignment(AssignmentId=first)["Assignment"]["WorkerId"]
    bonus = {
        "WorkerId": worker_id,
        "AssignmentId": first,
        "BonusAmount": "0.10",
        "Reason": "Thanks\rAnn",
    }
    scene.requester.send_bonus(**bonus)
    assert "2 lines" in _listed(scene, "sent.csv").output
    with closing(sqlite3.connect(scene.database)) as database, database:
        database.execute("DELETE FROM pay_list_lines")
        database.execute("DELETE FROM pay_lists")
    scene.requester.send_bonus(**bonus)
    _finish(scene, "bob")
    _decide(scene, hits[2:])
    sent = str(scene.database.with_name("sent.csv"))
    done = _listed(scene, "next.csv", "--sent", sent)
    assert "2 lines" in done.output
    assert [(row["Person"], row["Kind"]) for row in _rows(scene, "next.csv")] == [
        ("bob", "visit"),
        ("ann", "bonus"),
    ]
    assert "no payment is due" in _listed(scene, "last.csv").output
    with closing(sqlite3.connect(scene.database)) as database, database:
        database.execute("DELETE FROM pay_list_lines")
        database.execute("DELETE FROM pay_lists")
    both = ("--sent", sent, "--sent", str(scene.database.with_name("next.csv")))
    assert "no payment is due" in _listed(scene, "last.csv", *both).output


def _compensate(scene: Scene, name: str, cents: int = 50) -> None:
    """Pay ann, who has no assignment that a bonus could be attached to."""
    with transaction_in(scene.database) as transaction:
        [worker_id] = [
            row["worker_id"]
            for row in invitations.list_names(transaction)
            if (row["participant_id"] or "").endswith("/ann")
        ]
    platform = MTurk(scene.market.endpoint, access_key="LAB", secret_key="any")  # noqa: S106
    with closing(platform._client):
        platform.compensate(
            Compensation(
                name=name, worker_id=WorkerId(worker_id), cents=cents, reason="The page broke."
            )
        )


def test_a_compensation_is_listed_once_also_for_a_visit_without_answers(scene: Scene) -> None:
    """A person who stopped their visit is paid, and not forgotten before."""
    scene.post(2)
    visitor = scene.visitor()
    visitor.arrive(scene.panel.open("ann", "s-1"))
    visitor.http.post("/visit/leave").raise_for_status()
    _compensate(scene, "birds:1")
    words = ["workers", "forget", "ann", "--yes", "--database", str(scene.database)]
    assert "no list for their panel has: 1" in CliRunner().invoke(main, words).output
    assert "1 lines, $0.50" in _listed(scene, "first.csv").output
    [row] = _rows(scene, "first.csv")
    assert (row["Person"], row["Session"], row["Kind"], row["Amount"], row["Reason"]) == (
        *("ann", "s-1", "bonus"),
        *("0.50", "The page broke."),
    )
    assert "no payment is due" in _listed(scene, "second.csv").output
    assert CliRunner().invoke(main, words).exit_code == 0


def test_a_restored_copy_lists_no_compensation_again_through_another_visit(scene: Scene) -> None:
    """The copy lacks the later visit, so the same name is paid through an earlier visit."""
    scene.post(4)
    first, second = scene.visitor(), scene.visitor()
    first.arrive(scene.panel.open("ann", "s-1"))
    first.http.post("/visit/leave").raise_for_status()
    copy = _copy(scene)
    second.arrive(scene.panel.open("ann", "s-2"))
    second.http.post("/visit/leave").raise_for_status()
    _compensate(scene, "birds:1")
    assert "1 lines, $0.50" in _listed(scene, "monday.csv").output
    _restored(scene, copy)
    for name in ("birds:1", "birds:2"):
        _compensate(scene, name)
    assert _listed(scene, "tuesday.csv").exit_code == 3
    # The other name is another payment, though amount and reason are the same.
    assert "1 lines, $0.50" in _listed(scene, "tuesday.csv", "--compared").output
    assert "no payment is due" in _listed(scene, "last.csv").output


def _copy(scene: Scene) -> Path:
    copy = scene.database.with_name("copy.db")
    with (
        closing(sqlite3.connect(scene.database)) as source,
        closing(sqlite3.connect(copy)) as target,
    ):
        source.backup(target)
    return copy


def _restored(scene: Scene, copy: Path) -> None:
    """The file's content is the copy's again; the marketplace goes on with it."""
    with (
        closing(sqlite3.connect(copy)) as source,
        closing(sqlite3.connect(scene.database)) as target,
    ):
        source.backup(target)


def _paid(scene: Scene, *names: str) -> dict[str, int]:
    """The cents that lists pay each person."""
    paid: dict[str, int] = {}
    for name in names:
        for row in _rows(scene, name):
            cents = round(float(row["Amount"]) * 100)
            paid[row["Person"]] = paid.get(row["Person"], 0) + cents
    return paid


def test_a_restored_copy_lists_nothing_until_a_person_has_compared(scene: Scene) -> None:
    """What was listed stands outside the database, and is not listed again."""
    hits = scene.post(8, Reward="0.35")
    _finish(scene, "ann", "bob")
    copy = _copy(scene)
    ids = _decide(scene, hits)
    assert "2 lines, $1.40" in _listed(scene, "monday.csv").output
    record = scene.database.with_name(scene.database.name + ".pay-lists")
    assert stat.S_IMODE(record.stat().st_mode) == 0o600
    _restored(scene, copy)
    _finish(scene, "cid")
    # Ann's and Cid's work is approved again, and of Bob's only the half so far.
    _decide(scene, hits[:2])
    _decide(scene, hits[4:])
    half = [
        each["AssignmentId"]
        for each in scene.submitted(hits[2:4])
        if each["AssignmentStatus"] == "Submitted"
    ]
    for assignment_id in half[:1]:
        scene.requester.approve_assignment(AssignmentId=assignment_id)
    before = record.read_bytes()
    for words in ((), ("--json",)):
        refused = _listed(scene, "tuesday.csv", *words)
        assert refused.exit_code == 3, refused.output
        assert "the database does not know list 1" in refused.output
        assert "monday.csv" in refused.output
        assert not scene.database.with_name("tuesday.csv").exists()
    assert record.read_bytes() == before
    assert _listed(scene, "tuesday.csv", "--compared").exit_code == 0
    assert _paid(scene, "tuesday.csv") == {"cid": 70}
    # Later, the rest of Bob's visit is decided: it was paid on Monday.
    for assignment_id in half[1:]:
        scene.requester.approve_assignment(AssignmentId=assignment_id)
    assert "no payment is due" in _listed(scene, "last.csv").output
    assert len(ids) == 4


def test_a_database_without_its_record_lists_nothing(scene: Scene) -> None:
    """The copy came to another machine: the lists since then are named, or none is."""
    hits = scene.post(6)
    _finish(scene, "ann")
    _decide(scene, hits)
    assert "1 lines" in _listed(scene, "monday.csv").output
    copy = _copy(scene)
    _finish(scene, "bob")
    _decide(scene, hits)
    assert "1 lines" in _listed(scene, "tuesday.csv").output
    _restored(scene, copy)
    record = scene.database.with_name(scene.database.name + ".pay-lists")
    record.unlink()
    _finish(scene, "bob")
    _decide(scene, hits)
    refused = _listed(scene, "next.csv")
    assert refused.exit_code == 3
    assert "the record does not know list 1" in refused.output
    both = [
        word
        for name in ("monday.csv", "tuesday.csv")
        for word in ("--sent", str(scene.database.with_name(name)))
    ]
    done = _listed(scene, "next.csv", *both)
    assert done.exit_code == 0, done.output
    assert "no payment is due" in done.output
    _finish(scene, "cid")
    _decide(scene, hits)
    assert _listed(scene, "last.csv").exit_code == 0
    assert _paid(scene, "last.csv") == {"cid": 110}


def test_a_broken_record_is_a_sentence(scene: Scene) -> None:
    """Nothing is listed, since it is not known who was."""
    hits = scene.post(2)
    _finish(scene, "ann")
    _decide(scene, hits)
    record = scene.database.with_name(scene.database.name + ".pay-lists")
    for text in ("{", "[]\n", '{"list": {}}\n', "\x00"):
        record.write_text(text)
        refused = _listed(scene, "list.csv")
        assert refused.exit_code == 1, refused.output
        assert "line 1: this is not a line of a record" in refused.output
        assert not scene.database.with_name("list.csv").exists()


def test_a_copy_of_an_interrupted_list_does_not_write_it_again(scene: Scene) -> None:
    """The copy was made between the list and the note that its file is complete."""
    hits = scene.post(2)
    _finish(scene, "ann")
    _decide(scene, hits)
    assert _listed(scene, "monday.csv").exit_code == 0
    scene.database.with_name("monday.csv").rename(scene.database.with_name("sent.csv"))
    with closing(sqlite3.connect(scene.database)) as database, database:
        database.execute("UPDATE pay_lists SET written_ms = NULL")
    done = _listed(scene, "tuesday.csv")
    assert done.exit_code == 0, done.output
    assert not scene.database.with_name("tuesday.csv").exists()


def test_abandoned_visits_are_not_paid(scene: Scene) -> None:
    """And count as settled for the requester."""
    scene.post(2)
    visitor = scene.visitor()
    visitor.arrive(scene.panel.open("ann", "s1"))
    visitor.http.post("/visit/leave")
    assert "no payment is due" in _listed(scene, "list.csv").output
    with closing(sqlite3.connect(scene.database)) as database:
        [(outcome,)] = database.execute("SELECT outcome FROM visits")
    assert outcome == "Gone"


def test_a_file_is_never_replaced(scene: Scene) -> None:
    """And nothing is listed if the file cannot be written."""
    hits = scene.post(2)
    _finish(scene, "ann")
    _decide(scene, hits)
    scene.database.with_name("list.csv").write_text("mine")
    refused = _listed(scene, "list.csv")
    assert refused.exit_code == 2
    assert "exists already" in refused.output
    assert scene.database.with_name("list.csv").read_text() == "mine"
    missing = _listed(scene, "no-folder/list.csv")
    assert missing.exit_code == 2
    # It was stored, so the next call completes it.
    done = _listed(scene, "second.csv")
    assert "was interrupted; it is not complete, so it is written" in done.output
    assert "list 1: 1 lines" in done.output


_MOMENTS = [
    ("os", "link", "False"),
    ("os", "link", "True"),
    *in_full(
        ("piecework.markets.panel.pay_list", "mark_written", "False"),
        ("piecework.markets.panel.pay_list", "mark_written", "True"),
        ("piecework.markets.panel.pay_list", "replace_file", "False"),
        ("piecework.markets.panel.pay_list", "replace_file", "True"),
        ("os", "fsync", "False"),
        ("os", "open", "False"),
    ),
]


@pytest.mark.parametrize(("module", "name", "after"), _MOMENTS)
@pytest.mark.parametrize("again", ["first.csv", *in_full("second.csv")])
def test_a_kill_while_a_list_is_written_pays_nobody_twice(
    scene: Scene, module: str, name: str, after: str, again: str
) -> None:
    """The next call completes it, under the same name or another."""
    hits = scene.post(4)
    _finish(scene, "ann", "bob")
    _decide(scene, hits)
    script = _KILLED.format(module=module, name=name, after=after)
    killed = subprocess.run(
        [sys.executable, "-c", script, *_command(scene, "first.csv")],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        check=False,
        timeout=120,
    )
    assert killed.returncode == -signal.SIGKILL, killed.stderr.decode()
    completed = _listed(scene, again)
    assert completed.exit_code == 0, completed.output
    tables = [
        file.read_text()
        for file in (scene.database.with_name("first.csv"), scene.database.with_name("second.csv"))
        if file.exists()
    ]
    for table in tables:
        scene.panel.pay(table)
    assert scene.panel.paid_sessions == {"s-ann", "s-bob"}
    assert scene.panel.broken_laws == []
    assert len(tables) == 1


def test_two_lists_are_not_written_at_once(scene: Scene) -> None:
    """The second would complete the list of the first, into a file of its own."""
    with Path(f"{scene.database}.pay-list.lock").open("a") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        refused = _listed(scene, "list.csv")
    assert refused.exit_code == 3
    assert "another process is writing a pay list" in refused.output


def test_the_answer_for_programs(scene: Scene) -> None:
    """With --json: the list's number, lines and sum."""
    hits = scene.post(2)
    _finish(scene, "ann")
    _decide(scene, hits)
    document = json.loads(_listed(scene, "list.csv", "--json").stdout)
    assert (document["list"], document["lines"], document["cents"]) == (1, 1, 110)


def _market_people(scene: Scene) -> list[tuple[object, ...]]:
    """Whom a market pays, with their id there."""
    with transaction_in(scene.database) as transaction:
        rows = invitations.list_names(transaction)
    names = ("worker_id", "market", "participant_id")
    return [tuple(row[name] for name in names) for row in rows if row["market"]]


def test_a_participant_is_forgotten_after_their_payment_is_listed(scene: Scene) -> None:
    """Not while they work, not before the decision, not before the list."""
    words = ["workers", "forget", "ann", "--yes", "--database", str(scene.database)]
    hits = scene.post(2, Reward="0.35")
    visitor = scene.visitor()
    visitor.arrive(scene.panel.open("ann", "s-ann"))
    reasons = []
    for step in (lambda: None, visitor.finish, lambda: _decide(scene, hits)):
        step()
        refused = CliRunner().invoke(main, words)
        assert refused.exit_code == 3, refused.output
        reasons.append(refused.output)
    assert "at work or not judged" in reasons[1]
    assert "visits that their market has not settled: 1" in reasons[2]
    assert "1 lines, $0.70" in _listed(scene, "first.csv").output
    before = _market_people(scene)
    done = CliRunner().invoke(main, words)
    assert done.exit_code == 0, done.output
    # A pay sheet must not tell the requester to pay them.
    ((worker_id, market, participant_id),) = before
    assert participant_id is not None
    assert _market_people(scene) == [(worker_id, market, None)]
    with closing(sqlite3.connect(scene.database)) as database:
        assert database.execute("SELECT count(*) FROM participants").fetchone() == (0,)
        paid = database.execute("SELECT sum(cents) FROM pay_list_lines").fetchone()
    assert paid == (70,)
    assert CliRunner().invoke(main, words).exit_code == 2


def test_a_forgotten_person_whose_id_is_their_session_comes_back_as_another(
    tmp_path: Path,
) -> None:
    """Found by the id that they know, with characters that keys have in another form."""
    person = "ann+1@x.example"
    file = changed(('session = "sid"\n', ""), ('Session = "{session}"\n', "")).replace(
        "&sid={session}", ""
    )
    link = {"pid": person, "project": "p1"}
    ids = Ids(person=person, session=person, project="p1")
    link["sig"] = signature(panel_of(file), Secrets(SECRET.encode()), ids)
    with a_scene(tmp_path, file=file) as scene:
        hits = scene.post(4, Reward="0.35")
        words = ["workers", "forget", person, "--yes", "--database", str(scene.database)]
        for number in (1, 2):
            visitor = scene.visitor()
            reply = visitor.arrive(link)
            assert reply.status_code == 201, reply.text
            worker_id = reply.json()["worker_id"]
            visitor.finish()
            assignments = _decide(scene, hits)
            assert "1 lines, $0.70" in _listed(scene, f"{number}.csv").output
            with click.Context(click.Command("any")):
                participants = known_people(scene.database).participants
            assert participants == {worker_id: f"panel example/{person}"}
            assert CliRunner().invoke(main, words).exit_code == 0
            assert b"ann%2B1" not in scene.database.read_bytes()
            # No list could name them, so no money is booked for them.
            with pytest.raises(ClientError, match="data were deleted"):
                scene.requester.send_bonus(
                    WorkerId=worker_id,
                    AssignmentId=assignments[0],
                    BonusAmount="0.10",
                    Reason="Thanks",
                )
            assert "no payment is due" in _listed(scene, "none.csv").output
            # A live marketplace draws ids; only a rehearsal gives the same person the same.
            with transaction_in(scene.database) as transaction:
                transaction.execute(
                    "UPDATE workers SET worker_id = 'A' || id, handle = id, token_hash = id"
                )


def test_what_lists_have_paid_for_one_participation_adds_up(tmp_path: Path) -> None:
    """A visit and its correction, of two lists that a restored copy does not know."""
    record = PayRecord(tmp_path / "m.db.pay-lists")
    payments = {
        "a": [Payment(visit="panel/s1", kind="visit", cents=50)],
        "b": [
            Payment(visit="panel/s1", kind="correction", cents=20),
            Payment(visit="panel/s1", kind="bonus", cents=20, reason="Thanks."),
            Payment(visit="panel/s1", kind="bonus", cents=20, reason="Thanks."),
        ],
    }
    for key, lines in payments.items():
        record.add(
            RecordedList(
                key=key, panel="panel", number=1, file="f", made="", digest="", payments=lines
            )
        )
    sent = PayRecord(record.file).sent("panel", known=())
    assert sent.visits == {"panel/s1": 70}
    assert sent.bonuses == {("panel/s1", 20, "Thanks."): 2}
    assert record.sent("panel", known={"a"}).visits == {"panel/s1": 20}
    assert record.sent("other", known=()).visits == {}
