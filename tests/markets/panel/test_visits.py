"""People of a panel: they arrive, work, and leave by the exit that fits."""

import re
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from piecework.domain.crowds import crowd_type
from piecework.marketplace.state import qualification_types as system
from piecework.marketplace.watching.state_figures import StateFigures
from piecework.markets.panel.rehearsal.simulated_panel import Terms
from tests.marketplace.test_kept_apart import post_apart
from tests.marketplace.test_worker_limit import LIMIT, TYPE, post_hits
from tests.markets.panel.scene import Scene, Visitor, a_scene, changed

_COMPLETE = 'complete = "https://panel.example/back?status=complete&pid={person}&sid={session}"'
_VCODE = 'code = "mw-{sha256}"\nsha256_of = "{project}{person}{secret}"\nsecret_variable = "VCODE"'


def workers_in(log: str) -> set[str]:
    """The workers whom a log names."""
    return set(re.findall(r"worker=(\w+)", log))


def _finished(scene: Scene, person: str, session: str, project: str = "p1") -> str:
    """Make a whole visit; how the panel sees its end."""
    visitor = scene.visitor()
    assert visitor.arrive(scene.panel.open(person, session, project)).status_code == 201
    return scene.panel.take_back(visitor.finish()["way_back"])


def test_a_visit_leads_from_the_link_to_the_exit(
    scene: Scene, caplog: pytest.LogCaptureFixture
) -> None:
    """Two HITs in a visit; the first page shows what they pay."""
    caplog.set_level("INFO", "piecework.foundation.server.security_log")
    hits = scene.post(2, Reward="0.30")
    visitor, link = scene.visitor(), scene.panel.open("ann@x.example", "s1")
    page = visitor.look(link)
    assert page.status_code == 200
    assert "$0.60" in page.text
    assert "2 tasks" in page.text
    assert "submission" not in page.text
    assert visitor.arrive(link).status_code == 201
    assert visitor.answer()["answered"] == 1
    visit = visitor.answer()
    assert visit["stage"] == "Done"
    assert scene.panel.take_back(visit["way_back"]) == "complete"
    workers = {each["WorkerId"] for each in scene.submitted(hits)}
    assert len(workers) == 1
    assert all(re.fullmatch(r"A[A-Z0-9]{13}", worker) for worker in workers)
    # Whoever lost the last page opens the link again.
    again = scene.visitor().look(link)
    assert again.status_code == 409
    assert "status=complete" in again.text
    # The log names the worker, and never the person.
    assert workers_in(caplog.text) == workers
    assert "ann" not in caplog.text


def test_a_panel_s_people_hold_what_their_panel_checks_and_that_they_are_its(scene: Scene) -> None:
    """HITs for its experienced adults of a country: not for the lab's own workers."""
    requirements = [
        {"QualificationTypeId": system.ADULT, "Comparator": "EqualTo", "IntegerValues": [1]},
        *(
            {"QualificationTypeId": record, "Comparator": "GreaterThan", "IntegerValues": [50]}
            for record in (system.NUMBER_APPROVED, system.PERCENT_APPROVED)
        ),
        {
            "QualificationTypeId": system.LOCALE,
            "Comparator": "EqualTo",
            "LocaleValues": [{"Country": "DE"}],
        },
        {"QualificationTypeId": crowd_type("panel"), "Comparator": "Exists"},
    ]
    hits = scene.post(2, QualificationRequirements=requirements)
    own = scene.market.worker(is_adult=True, hits_approved=99, hits_submitted=99, country="DE")
    assert not [group for group in own.groups() if group["may_accept"]]
    assert _finished(scene, "ann", "s1") == "complete"
    assert len(scene.submitted(hits)) == 2


def test_hits_for_all_but_a_panel_s_people_are_not_for_them(scene: Scene) -> None:
    """They hold that they are its, so a requirement of its absence is not met."""
    absent = [{"QualificationTypeId": crowd_type("panel"), "Comparator": "DoesNotExist"}]
    scene.post(2, QualificationRequirements=absent)
    turned_back = scene.visitor().arrive(scene.panel.open("ann", "s1"))
    assert scene.panel.take_back(turned_back.json()["way_back"]) == "refused"


@pytest.mark.parametrize(("asked", "approved_after"), [(30, 20), (20, 20), (19, 19)])
def test_a_visit_is_approved_before_the_market_would_approve_it(
    scene: Scene, asked: int, approved_after: int
) -> None:
    """After the HIT's own delay, in days, but not after more than twenty."""
    hits = scene.post(2, AutoApprovalDelayInSeconds=asked * 86_400)
    assert _finished(scene, "ann", "s1") == "complete"
    for days, status in ((approved_after - 1, "Submitted"), (1, "Approved")):
        scene.market.wait(days=days)
        assert {each["AssignmentStatus"] for each in scene.submitted(hits)} == {status}


def test_who_can_read_no_message_is_reported_as_not_reached(scene: Scene) -> None:
    """Nothing is stored for them, also not about a qualification."""
    hits = scene.post(2)
    visitor = scene.visitor()
    worker_id = visitor.arrive(scene.panel.open("ann", "s1")).json()["worker_id"]
    visitor.finish()
    for each in scene.submitted(hits):
        scene.requester.approve_assignment(AssignmentId=each["AssignmentId"])
    [failure] = scene.requester.notify_workers(
        Subject="Thanks", MessageText="Well done.", WorkerIds=[worker_id]
    )["NotifyWorkersFailureStatuses"]
    assert failure["NotifyWorkersFailureCode"] == "HardFailure"
    assert "their market delivers no messages" in failure["NotifyWorkersFailureMessage"]
    kind = scene.requester.create_qualification_type(
        Name="Careful", Description="Careful people.", QualificationTypeStatus="Active"
    )["QualificationType"]["QualificationTypeId"]
    scene.requester.associate_qualification_with_worker(
        QualificationTypeId=kind, WorkerId=worker_id
    )
    with closing(sqlite3.connect(scene.database)) as database:
        assert database.execute("SELECT count(*) FROM messages").fetchone() == (0,)


def test_nothing_for_a_panel_waits_for_a_bridge(scene: Scene) -> None:
    """Its bonuses wait for a list, and messages of earlier versions for nobody."""
    hits = scene.post(2)
    visitor = scene.visitor()
    worker_id = visitor.arrive(scene.panel.open("ann", "s1")).json()["worker_id"]
    visitor.finish()
    for each in scene.submitted(hits):
        scene.requester.approve_assignment(AssignmentId=each["AssignmentId"])
        scene.requester.send_bonus(
            WorkerId=worker_id,
            AssignmentId=each["AssignmentId"],
            BonusAmount="0.10",
            Reason="Thanks",
        )
    with closing(sqlite3.connect(scene.database)) as database, database:
        database.execute(
            "INSERT INTO messages (worker, requester, subject, text, sent_ms) "
            "SELECT worker, 1, 'a', 'b', 0 FROM participants"
        )
    with closing(StateFigures(scene.database, "USD", has_bridge=True)) as figures:
        waiting = {
            sample.name: sample.value
            for family in figures.collect()
            for sample in family.samples
            if "_waiting" in sample.name
        }
    assert set(waiting.values()) == {0.0}, waiting
    assert "piecework_bridge_bonuses_waiting" in waiting


def test_a_person_is_one_worker_in_all_projects(scene: Scene) -> None:
    """Their id at the panel decides, not the session or the project."""
    hits = scene.post(4, most=1)
    for session, project in (("s1", "p1"), ("s2", "p2")):
        assert _finished(scene, "ann", session, project) == "complete"
    assert len({each["WorkerId"] for each in scene.submitted(hits)}) == 1


def test_a_second_session_continues_the_open_visit(scene: Scene) -> None:
    """And ends it under the first: nobody holds two visits."""
    scene.post(2, most=2)
    visitor = scene.visitor()
    visitor.arrive(scene.panel.open("ann", "s1"))
    visitor.answer()
    phone = scene.visitor()
    assert phone.arrive(scene.panel.open("ann", "s2")).status_code == 201
    assert phone.visit()["answered"] == 1
    assert "sid=s1" in phone.finish()["way_back"]
    assert scene.sizes()["visits"] == 1


def test_a_second_visit_is_refused_in_a_sentence(scene: Scene) -> None:
    """With the exit for it; with more visits per person it is let in."""
    scene.post(4)
    assert _finished(scene, "ann", "s1") == "complete"
    refused = scene.visitor().arrive(scene.panel.open("ann", "s2"))
    assert refused.status_code == 409
    assert refused.json()["message"] == "You have already taken part in this study."
    assert scene.panel.take_back(refused.json()["way_back"]) == "refused"


def test_a_person_may_come_as_often_as_the_file_says(tmp_path: Path) -> None:
    """Twice, and a third session is refused."""
    with a_scene(tmp_path, terms=Terms(per_person=2)) as scene:
        scene.post(6)
        assert _finished(scene, "ann", "s1") == "complete"
        assert _finished(scene, "ann", "s2") == "complete"
        third = scene.visitor().arrive(scene.panel.open("ann", "s3"))
        assert third.json()["error"] == "ArrivalRefused"


def test_a_session_is_one_persons(scene: Scene) -> None:
    """Another person's verified link with it opens nothing."""
    scene.post(4)
    scene.visitor().arrive(scene.panel.open("ann", "s1"))
    link = scene.panel.open("bob", "s1")
    assert scene.visitor().look(link).status_code == 403
    assert scene.visitor().arrive(link).status_code == 403
    assert scene.sizes()["participants"] == 1


def test_one_session_opened_eight_times_at_once_is_one_visit(scene: Scene) -> None:
    """Each browser gets the same visit, and two HITs are taken, not sixteen."""
    scene.post(16)
    link = scene.panel.open("ann", "s1")
    visitors = [scene.visitor() for _ in range(8)]
    with ThreadPoolExecutor(8) as pool:
        replies = list(pool.map(lambda visitor: visitor.arrive(link), visitors))
    assert {reply.status_code for reply in replies} == {201}
    sizes = scene.sizes()
    assert sizes["visits"] == sizes["participants"] == sizes["consents"] == 1
    shown = {visitor.visit()["assignment"]["assignment_id"] for visitor in visitors}
    assert len(shown) == 1
    assert sum(hit["accepted"] for hit in _open_hits(scene)) == 2


def _open_hits(scene: Scene) -> list[dict[str, int]]:
    hits = scene.requester.list_hits(MaxResults=100)["HITs"]
    return [{"accepted": hit["NumberOfAssignmentsPending"]} for hit in hits]


def test_the_first_page_states_no_duration_that_nobody_stated(tmp_path: Path) -> None:
    """Neither the requester nor the panel's file says how long a HIT takes."""
    text = changed(("hit_seconds = 60\n", ""))
    with a_scene(tmp_path, file=text) as scene:
        scene.post(1)
        page = scene.visitor().look(scene.panel.open("ann@x.example", "s1")).text
    assert "Takes about" not in page
    assert "At most" in page


@pytest.mark.parametrize("by", ["page", "form"])
def test_no_work_leads_to_quota_full_and_spends_nothing(scene: Scene, by: str) -> None:
    """Before consent and after; when there is work again, the session is good."""
    link = scene.panel.open("ann", "s1")
    visitor = scene.visitor()
    if by == "page":
        page = visitor.look(link)
        assert page.status_code == 409
        assert "There is no work left for you" in page.text
        [address] = re.findall(r'id="way-back" href="([^"]+)"', page.text)
        address = address.replace("&amp;", "&")
    else:
        address = visitor.arrive(link).json()["way_back"]
    assert scene.panel.take_back(address) == "quota_full"
    assert not any(scene.sizes().values())
    scene.post(1)
    assert _finished(scene, "ann", "s1") == "complete"


def test_who_lacks_a_qualification_is_screened_out(scene: Scene) -> None:
    """Before anything is stored; once it is granted, they are let in."""
    scene.post(2)
    worker = scene.visitor()
    worker_id = worker.arrive(scene.panel.open("ann", "s0")).json()["worker_id"]
    worker.finish()
    kind = scene.requester.create_qualification_type(
        Name="Careful", Description="Was careful before.", QualificationTypeStatus="Active"
    )["QualificationType"]["QualificationTypeId"]
    wanted = [{"QualificationTypeId": kind, "Comparator": "Exists"}]
    scene.post(2, Title="For the careful", QualificationRequirements=wanted)
    before = scene.sizes()
    turned_back = scene.visitor().arrive(scene.panel.open("bob", "s1"))
    assert scene.panel.take_back(turned_back.json()["way_back"]) == "screened_out"
    assert scene.sizes() == before
    scene.requester.associate_qualification_with_worker(
        QualificationTypeId=kind, WorkerId=worker_id, SendNotification=False
    )
    assert _finished(scene, "ann", "s2", "p2") == "complete"


@pytest.mark.parametrize("how", ["block", "qualification"])
def test_who_is_excluded_is_refused(scene: Scene, how: str) -> None:
    """By a block, or by a qualification that one must not have."""
    scene.post(2)
    visitor = scene.visitor()
    worker_id = visitor.arrive(scene.panel.open("ann", "s1")).json()["worker_id"]
    visitor.finish()
    requirements = []
    if how == "block":
        scene.requester.create_worker_block(WorkerId=worker_id, Reason="Not careful.")
    else:
        kind = scene.requester.create_qualification_type(
            Name="Out", Description="No more.", QualificationTypeStatus="Active"
        )["QualificationType"]["QualificationTypeId"]
        scene.requester.associate_qualification_with_worker(
            QualificationTypeId=kind, WorkerId=worker_id, SendNotification=False
        )
        requirements = [{"QualificationTypeId": kind, "Comparator": "DoesNotExist"}]
    scene.post(2, Title="More pictures", QualificationRequirements=requirements)
    refused = scene.visitor().arrive(scene.panel.open("ann", "s2", "p2"))
    assert scene.panel.take_back(refused.json()["way_back"]) == "refused"
    assert _finished(scene, "bob", "s3") == "complete"


def test_the_last_visits_are_shorter(scene: Scene) -> None:
    """Three HITs make visits of two and one, so no HIT is left over."""
    hits = scene.post(3)
    assert _finished(scene, "ann", "s1") == "complete"
    link = scene.panel.open("bob", "s2")
    assert "1 task" in scene.visitor().look(link).text
    assert _finished(scene, "bob", "s2") == "complete"
    assert len(scene.submitted(hits)) == 3


def test_a_visit_has_only_hits_that_one_worker_may_do(scene: Scene) -> None:
    """Two HITs that are kept apart make visits of one, for everybody who comes."""
    first = scene.post(1, most=2)
    later = post_apart(scene.requester, first, MaxAssignments=2)["HITId"]
    for person in ("ann", "bob", "cat", "dan"):
        visitor = scene.visitor()
        visitor.arrive(scene.panel.open(person, f"s-{person}"))
        assert visitor.finish()["hits"] == 1
    assert [len(scene.submitted([hit])) for hit in (*first, later)] == [2, 2]


def test_a_requesters_limit_holds_in_all_projects(scene: Scene) -> None:
    """Three HITs per worker: a visit of two, one of one, and then the reason."""
    post_hits(scene.market, replace(TYPE, limits=(replace(LIMIT, most=3),)), 4)
    for project, hits in (("p1", 2), ("p2", 1)):
        visitor, link = scene.visitor(), scene.panel.open("ann", project, project)
        visitor.arrive(link)
        assert visitor.finish()["hits"] == hits
    turned_back = scene.visitor().arrive(scene.panel.open("ann", "s3", "p3")).json()
    assert turned_back["error"] == "QuotaFull"
    assert "3" in turned_back["message"]
    assert _finished(scene, "bob", "s4") == "complete"


def test_who_stops_or_is_late_frees_the_hits(scene: Scene) -> None:
    """Their link then says what happened; another person can do the work."""
    scene.post(2)
    ann, left = scene.visitor(), scene.panel.open("ann", "s1")
    ann.arrive(left)
    ann.answer()
    ann.http.post("/visit/leave")
    assert ann.visit()["way_back"] is None
    again = scene.visitor().arrive(left)
    assert "You have stopped this visit" in again.json()["message"]
    bob, late = scene.visitor(), scene.panel.open("bob", "s2")
    bob.arrive(late)
    scene.market.wait(minutes=22)
    assert "time for this visit is over" in bob.arrive(late).json()["message"]
    assert _finished(scene, "cat", "s3") == "complete"


def test_a_project_has_hits_of_its_title(tmp_path: Path) -> None:
    """And a project that the file does not name is refused."""
    file = changed(("[exits]", '[projects]\np1 = "Birds"\np2 = ""\n\n[exits]'))
    with a_scene(tmp_path, file=file) as scene:
        scene.post(2, Title="Cats")
        assert scene.visitor().look(scene.panel.open("a", "s1", "p1")).status_code == 409
        assert scene.visitor().look(scene.panel.open("a", "s2", "p2")).status_code == 200
        unknown = scene.visitor().look(scene.panel.open("a", "s3", "p3"))
        assert unknown.status_code == 404


def test_work_that_others_took_meanwhile_is_described_again(scene: Scene) -> None:
    """Nobody agrees to one task and gets another."""
    scene.post(2, Title="Cats")
    ann, link = scene.visitor(), scene.panel.open("ann", "s1")
    page = ann.look(link).text
    [offered] = re.findall(r'name="offered" value="([^"]+)"', page)
    assert _finished(scene, "bob", "s2") == "complete"
    scene.post(2, Title="Dogs")
    form = {**link, "agreed": "1", "offered": offered}
    headers = {"accept": "text/html"}
    asked = ann.http.post("/visit/arrive", data=form, headers=headers)
    assert asked.status_code == 409
    assert "Dogs" in asked.text
    assert scene.sizes()["participants"] == 1


def test_a_code_is_shown_where_a_panel_wants_one(tmp_path: Path) -> None:
    """A hash as Microworkers checks it: sha256 of campaign, worker and key."""
    file = changed((_COMPLETE, _VCODE))
    with a_scene(tmp_path, file=file, code_secret="abc") as scene:  # noqa: S106
        scene.post(1)
        visitor = scene.visitor()
        visitor.arrive(scene.panel.open("w1", "s1", "c1"))
        visit = visitor.finish()
        # printf c1w1abc | sha256sum
        wanted = "mw-9cdd87b648816c92fd93bf68fd1aef7df998a0b5174851bbe313019bd2e9a2d4"
        assert visit["way_back"] is None
        assert visit["code"] == wanted
        shown = visitor.http.get("/visit", headers={"accept": "text/html"}).text
        assert wanted in shown
        assert "way-back" not in shown


def test_a_code_of_a_visit_is_its_own(tmp_path: Path) -> None:
    """It stays the same when the page is opened again, and no other visit has it."""
    file = changed(("[exits]", '[exits]\ncode = "PW-{code}"'))
    codes = []
    with a_scene(tmp_path, file=file) as scene:
        scene.post(4)
        for person in ("ann", "bob"):
            visitor: Visitor = scene.visitor()
            visitor.arrive(scene.panel.open(person, f"s-{person}"))
            codes += [visitor.finish()["code"], visitor.visit()["code"]]
    assert codes[0] == codes[1] != codes[2]
    assert all(re.fullmatch("PW-[0-9A-F]{10}", code) for code in codes)
