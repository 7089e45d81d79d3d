"""Who may enter: the participant of a submission under way, and nobody else.

A link's three ids are anybody's to write, and they are in browsers' histories.
"""

import logging
import re
import threading
from collections import Counter

import httpx
import pytest

from piecework.marketplace.state import clock
from piecework.markets.prolific.bridge.serving import CONSENT
from tests.marketplace.market import START
from tests.markets.prolific.bridge.long_campaign import LONG_AGO
from tests.markets.prolific.bridge.test_pay import LATER, answer_all, check, decide
from tests.markets.prolific.bridge.town import Town, Visitor

START_MS = clock.to_ms(START)
KEYS = ("PROLIFIC_PID", "STUDY_ID", "SESSION_ID")


def _arrive(visitor: Visitor, link: dict[str, str], **headers: str) -> httpx.Response:
    return visitor.http.post("/visit/arrive", data={**link, "agreed": "1"}, headers=headers)


def _nobody_came(town: Town) -> bool:
    return town.rows("SELECT 1 FROM visits") == []


def test_a_link_with_ids_of_others_lets_nobody_in(town: Town) -> None:
    """Each id must be known to Prolific, and all belong together."""
    town.post(hits=4)
    town.post(hits=4, Title="Another")
    town.settle()
    first, second = (study["id"] for study in town.studies())
    ann, eve = town.visitor(), town.visitor()
    link, own = ann.open(first), eve.open(first)
    forged = [
        (own | {"SESSION_ID": link["SESSION_ID"]}, 403),
        (link | {"PROLIFIC_PID": own["PROLIFIC_PID"]}, 403),
        (link | {"STUDY_ID": second}, 403),
        (link | {"STUDY_ID": "f" * 24}, 404),
        (link | {"SESSION_ID": "f" * 24}, 403),
        (link | {"PROLIFIC_PID": "f" * 24}, 403),
        (link | {"SESSION_ID": "f" * 400}, 400),
        (link | {"SESSION_ID": ""}, 400),
        (link | {"SESSION_ID": "../../users/me"}, 400),
        (link | {"PROLIFIC_PID": "{{%PROLIFIC_PID%}}"}, 400),
        ({key: link[key] for key in KEYS[:2]}, 400),
    ]
    for query, status in forged:
        reply = _arrive(eve, query)
        assert reply.status_code == status, (query, reply.text)
        assert "set-cookie" not in reply.headers
    wrong = _arrive(eve, own | {"SESSION_ID": link["SESSION_ID"]}, accept="text/html")
    assert "signed in there with another account?" in wrong.text
    assert "/worker/" not in wrong.text.partition("<body>")[2]  # no menu of the site
    nobody = eve.http.get("/visit", headers={"accept": "text/html"})
    assert nobody.status_code == 401
    assert "open the study from Prolific again" in nobody.text
    assert "invitation" not in nobody.text
    assert _nobody_came(town)
    assert _arrive(ann, link).status_code == 201


_CONSENTS = (
    "SELECT worker_id, text, agreed_ms FROM consents "
    "JOIN consent_texts ON consent_texts.id = consents.consent_text "
    "JOIN workers ON workers.id = consents.worker"
)


def test_consent_is_stored_with_its_text_and_time(town: Town) -> None:
    """The text of the page, when it was sent; an older page's text is not the present one."""
    town.post()
    town.settle()
    ann = town.visitor()
    link = ann.open(town.study())
    page = ann.http.get("/visit/arrive", params=link, headers={"accept": "text/html"}).text
    digest = page.partition('name="text" value="')[2].partition('"')[0]
    older = _arrive(ann, link | {"text": "0" * 64}, accept="text/html")
    assert (older.status_code, "This text has changed" in older.text) == (400, True)
    assert _nobody_came(town)
    town.wait(minutes=1)
    reply = _arrive(ann, link | {"text": digest})
    town.wait(minutes=1)
    assert _arrive(ann, link | {"text": digest}).status_code == 201
    [consent] = town.rows(_CONSENTS)
    assert consent["worker_id"] == reply.json()["worker_id"]
    assert consent["text"] == "\n\n".join(CONSENT)
    assert START_MS + 60_000 <= consent["agreed_ms"] < START_MS + 120_000


def test_a_submission_that_is_over_lets_nobody_in(town: Town) -> None:
    """Returned, timed out, in review or paid: its link is worth nothing any more."""
    town.post(hits=2, assignments=2)
    town.settle()
    study = town.study()
    ann, eve = town.visitor(), town.visitor()
    link = ann.open(study)
    ann.give_back(ann.submission_id)
    assert _arrive(ann, link).status_code == 409
    link = eve.open(study)
    eve.complete(eve.submission_id, "N0THING")
    assert _arrive(eve, link).status_code == 409
    town.researcher.judge(eve.submission_id, "APPROVE")
    assert _arrive(eve, link).status_code == 409
    assert _nobody_came(town)


def _in_new_browser(visitor: Visitor) -> None:
    visitor.http.cookies.clear()


def test_a_visit_stays_with_the_browser_that_began_it(town: Town) -> None:
    """Its link, which anyone may know, opens no session elsewhere, done or not."""
    town.post(hits=2)
    town.settle()
    ann, eve = town.visitor(), town.visitor()
    link = ann.open(town.study())
    assert _arrive(ann, link).status_code == 201
    for _ in range(3):
        begun = ann.visit()
        reply = _arrive(eve, link)
        assert reply.status_code == 409
        assert reply.json()["error"] == "OtherBrowser"
        assert "set-cookie" not in reply.headers
        for page in ("/visit", "/worker/history", "/worker/hits"):
            assert eve.http.get(page).status_code == 401
        assert ann.visit() == begun
        assert _arrive(ann, link).status_code == 201
        if begun["stage"] == "Open":
            ann.answer()
    assert ann.visit()["code"]


def test_a_message_at_prolific_moves_a_visit_to_another_browser(town: Town) -> None:
    """It reaches the participant alone; its link works once, and the old one ends."""
    town.post(hits=2)
    town.settle()
    ann, old = town.visitor(), httpx.Cookies()
    link = ann.open(town.study())
    assert _arrive(ann, link).status_code == 201
    ann.answer()
    begun = ann.visit()
    old.update(ann.http.cookies)
    _in_new_browser(ann)
    page = _arrive(ann, link, accept="text/html")
    assert "begun in another browser" in page.text
    assert "Send me a link on Prolific" in page.text
    for status in (202, 429):
        asked = ann.http.post("/visit/continue/ask", data=link)
        assert asked.status_code == status, asked.text
    town.settle()
    [message] = ann.ask("GET", "/messages")["results"]
    key = re.search(r"/visit/continue\?key=([\w-]+)", message["body"])
    assert key is not None
    shown = ann.http.get("/visit/continue", params={"key": key[1]})
    assert shown.status_code == 200
    assert "set-cookie" not in shown.headers
    moved = ann.http.post("/visit/continue", data={"key": key[1]})
    assert moved.status_code == 201, moved.text
    assert ann.visit()["answered"] == begun["answered"] == 1
    assert ann.answer()["stage"] == "Done"
    again = httpx.post(f"{town.market.endpoint}/visit/continue", data={"key": key[1]})
    assert again.status_code == 403
    assert httpx.get(
        f"{town.market.endpoint}/visit", cookies=old, headers={"accept": "application/json"}
    ).is_client_error
    for _ in range(5):
        town.wait(minutes=2)
        ann.http.post("/visit/continue/ask", data=link)
    town.settle()
    assert len(ann.ask("GET", "/messages")["results"]) == 3


def test_a_place_that_was_given_back_and_taken_again_begins_a_new_visit(town: Town) -> None:
    """Also from another browser, since Prolific shows that the first one ended."""
    town.post(hits=2, assignments=2)
    town.settle()
    study, ann = town.study(), town.visitor()
    assert ann.arrive(study).status_code == 201
    ann.give_back(ann.submission_id)
    _in_new_browser(ann)
    try:
        link = ann.open(study)
    except AssertionError:
        pytest.skip("the offline Prolific offers no second place")
    assert _arrive(ann, link).status_code == 201
    stages = [row["stage"] for row in town.rows("SELECT stage FROM visits ORDER BY id")]
    assert stages == ["Left", "Open"]


@pytest.mark.parametrize(
    ("status", "sentence"),
    [
        ("RETURNED", "You have returned this submission"),
        ("TIMED-OUT", "timed out"),
        ("AWAITING REVIEW", "Your submission is finished"),
        ("APPROVED", "This submission was approved"),
        ("REJECTED", "This submission was rejected"),
    ],
)
def test_a_visit_that_was_begun_and_is_over_opens_no_session(
    town: Town, status: str, sentence: str
) -> None:
    """A link lies in a browser's history; once it is used up, it shows what is so."""
    town.post(hits=2, assignments=2, **LATER)
    town.settle()
    study = town.study()
    ann = town.visitor()
    link = ann.open(study)
    assert _arrive(ann, link).status_code == 201
    if status == "RETURNED":
        ann.give_back(ann.submission_id)
    elif status == "TIMED-OUT":
        town.wait(hours=2)
    else:
        ann.answer()
        ann.complete(ann.submission_id, ann.answer()["code"])
    if status in ("APPROVED", "REJECTED"):
        more = {"message": "It is not what was asked for. " * 4}
        rejected = {**more, "rejection_category": "OTHER"}
        is_approved = status == "APPROVED"
        town.researcher.judge(
            ann.submission_id,
            "APPROVE" if is_approved else "REJECT",
            **({} if is_approved else rejected),
        )
    assert town.researcher.submission(ann.submission_id)["status"] == status
    _in_new_browser(ann)
    reply = _arrive(ann, link, accept="text/html")
    assert reply.status_code == 409
    assert "set-cookie" not in reply.headers
    assert sentence in reply.text
    assert "That did not work" not in reply.text
    for page in ("/visit", "/worker/history", "/worker/hits"):
        assert ann.http.get(page).status_code == 401


def test_looking_at_a_link_takes_nothing(town: Town) -> None:
    """Mail programs and chats open links; only the page's own form begins a visit."""
    town.post(hits=2)
    town.settle()
    ann = town.visitor()
    link = ann.open(town.study())
    reply = ann.http.get("/visit/arrive", params=link, headers={"accept": "text/html"})
    assert reply.status_code == 200
    assert "frame-ancestors 'none'" in reply.headers["content-security-policy"]
    assert "set-cookie" not in reply.headers
    framed = {"sec-fetch-dest": "iframe", "sec-fetch-mode": "navigate"}
    assert ann.http.get("/visit/arrive", params=link, headers=framed).is_client_error
    assert _arrive(ann, link, **framed).status_code == 403
    assert _arrive(ann, link, origin="https://evil.example").status_code == 403
    assert _arrive(ann, link, **{"sec-fetch-site": "cross-site"}).status_code == 403
    assert ann.http.post("/visit/arrive", data=link).status_code == 400  # not agreed
    assert _nobody_came(town)


def test_a_second_tab_and_a_reload_go_on_with_the_same_visit(town: Town) -> None:
    """One submission is one visit; an answer counts once."""
    town.post(hits=2)
    town.settle()
    ann = town.visitor()
    link = ann.open(town.study())
    assert _arrive(ann, link).status_code == 201
    first = ann.visit()
    assert _arrive(ann, link).status_code == 201
    assert ann.visit() == first
    form = {"assignmentId": first["assignment"]["assignment_id"], "caption": "A bird."}
    assert ann.http.post("/mturk/externalSubmit", data=form).status_code == 200
    again = ann.http.post("/mturk/externalSubmit", data=form | {"caption": "Other"})
    assert again.status_code == 409
    assert ann.visit()["answered"] == 1
    assert len(town.rows("SELECT 1 FROM visits")) == 1
    assert ann.answer()["stage"] == "Done"
    answers = town.rows("SELECT answer FROM assignments WHERE answer LIKE '%Other%'")
    assert answers == []


def test_another_participant_in_the_same_browser_is_asked_first(town: Town) -> None:
    """Somebody else's session is not taken over, nor ended, without a word."""
    town.post(hits=2, assignments=2)
    town.settle()
    study = town.study()
    ann, bob = town.visitor(), town.visitor()
    assert ann.arrive(study).status_code == 201
    link = bob.open(study)
    assert _arrive(ann, link).status_code == 409
    assert len(town.rows("SELECT 1 FROM visits")) == 1
    assert ann.visit()["stage"] == "Open"
    reply = _arrive(ann, {**link, "instead_of": ann.worker_id})
    assert reply.status_code == 201
    assert reply.json()["worker_id"] != ann.worker_id


def test_a_page_asks_about_another_worker_and_only_about_another(town: Town) -> None:
    """Also after a box was not ticked; a participant who comes again is not another."""
    town.post(hits=2, assignments=2)
    town.settle()
    study = town.study()
    ann, bob = town.visitor(), town.visitor()
    assert ann.arrive(study).status_code == 201
    link = bob.open(study)
    while ann.visit()["stage"] == "Open":
        ann.answer()
    ann.http.headers["accept"] = "text/html"
    question = f"signed in as another worker ({ann.worker_id})"
    for form, status in (({"agreed": "1"}, 409), ({}, 400)):
        asked = ann.http.post("/visit/arrive", data={**link, **form})
        assert asked.status_code == status, asked.text
        assert question in asked.text
    assert question in ann.http.get("/visit/arrive", params=link).text
    assert len(town.rows("SELECT 1 FROM participants")) == 1
    town.post(hits=2, Title="Another")
    town.settle()
    [other] = [each["id"] for each in town.studies() if each["id"] != study]
    came_again = ann.http.get("/visit/arrive", params=ann.open(other))
    assert came_again.status_code == 200
    assert "another worker" not in came_again.text


def test_a_visit_that_is_given_up_or_late_leaves_nothing(town: Town) -> None:
    """Its HITs are free for others, and what was typed is nobody's to read."""
    hits = town.post(hits=2, assignments=2, **LATER)
    town.settle()
    study = town.study()
    ann, bob = town.visitor(), town.visitor()
    for someone in (ann, bob):
        assert someone.arrive(study).status_code == 201
        someone.answer(caption="Half of it.")
    assert ann.http.post("/visit/leave").status_code == 200
    ann.give_back(ann.submission_id)
    shown = bob.visit()["assignment"]["assignment_id"]
    town.wait(hours=1)
    assert bob.visit()["stage"] == "Late"
    late = bob.http.post("/mturk/externalSubmit", data={"assignmentId": shown, "caption": "Late."})
    assert late.is_client_error
    assert town.submitted(*hits) == []
    assert town.rows("SELECT 1 FROM assignments WHERE answer IS NOT NULL") == []
    town.settle()
    for _ in range(2):
        town.visitor().work(study)
    assert len(town.submitted(*hits)) == 4


def test_time_runs_from_the_place_that_was_taken(town: Town) -> None:
    """Who comes late has less of it: what is sent in by the deadline can be paid."""
    town.post(hits=2, assignments=2)
    town.settle()
    study = town.study()
    ann, bob = town.visitor(), town.visitor()
    assert ann.arrive(study).status_code == 201
    link = bob.open(study)
    town.wait(minutes=10)
    assert _arrive(bob, link).status_code == 201
    deadlines = {someone.visit()["assignment"]["deadline"] for someone in (ann, bob)}
    assert len(deadlines) == 1


def test_more_come_at_once_than_there_is_work_for(town: Town) -> None:
    """Each visit is filled whole or not begun, and nobody is given half a one."""
    hits = town.post(hits=24, **LATER)
    town.settle()
    study = town.study()
    people = [town.visitor() for _ in range(12)]
    links = [person.open(study) for person in people]
    for hit_id in hits[:12]:
        town.requester.update_expiration_for_hit(HITId=hit_id, ExpireAt=LONG_AGO)
    together = threading.Barrier(len(people))
    replies: list[int] = []

    def come(person: Visitor, link: dict[str, str]) -> None:
        together.wait()
        replies.append(_arrive(person, link).status_code)

    threads = [threading.Thread(target=come, args=pair) for pair in zip(people, links, strict=True)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert replies == [201] * 12
    stages = Counter(row["stage"] for row in town.rows("SELECT stage FROM visits"))
    assert stages == {"Open": 6, "TurnedAway": 6}
    held = town.rows("SELECT count(*) AS hits FROM assignments GROUP BY visit")
    assert {row["hits"] for row in held if row["hits"]} == {2}


def test_a_full_study_without_work_is_stopped_while_who_was_turned_away_holds_it(
    town: Town,
) -> None:
    """Else the place that they return would invite the next, for nothing."""
    hits = town.post(hits=2)
    town.settle()
    study = town.study()
    for hit_id in hits:
        town.requester.update_expiration_for_hit(HITId=hit_id, ExpireAt=LONG_AGO)
    ann, bob = town.visitor(), town.visitor()
    assert ann.arrive(study).status_code == 201
    assert ann.visit()["stage"] == "TurnedAway"
    town.settle()
    assert town.researcher.status(study) == "COMPLETED"
    ann.give_back(ann.submission_id)
    assert study not in bob.studies()
    town.settle()
    assert town.rows("SELECT outcome FROM visits") == [{"outcome": "Gone"}]
    check(town)


def test_a_full_study_goes_on_while_people_are_at_work(town: Town) -> None:
    """What one of them returns is for the next to come."""
    town.post(hits=2)
    town.settle()
    study = town.study()
    ann, bob = town.visitor(), town.visitor()
    assert ann.arrive(study).status_code == 201
    town.settle()
    assert town.researcher.status(study) == "ACTIVE"
    ann.give_back(ann.submission_id)
    town.settle()
    assert bob.studies() == [study]


def test_a_participants_id_stays_in_the_marketplace(
    town: Town, caplog: pytest.LogCaptureFixture
) -> None:
    """No requester, no page after the first and no log sees it."""
    caplog.set_level(logging.DEBUG)
    hits = town.post(hits=2, **LATER)
    town.settle()
    ann = town.visitor()
    answer_all(ann, town.study())
    seen = ann.http.get("/visit", headers={"accept": "text/html"}).text
    decide(town, ann, "approve", 0, 1)
    ask = town.requester
    ask.notify_workers(Subject="Hello", MessageText="Hi", WorkerIds=[ann.worker_id])
    ask.create_worker_block(WorkerId=ann.worker_id, Reason="Spam")
    town.researcher.control(
        "PUT", "/faults", [{"kind": "server_error", "operation": "send-message"}]
    )
    town.settle()
    seen += str([town.submitted(*hits), ask.list_worker_blocks(), ask.get_hit(HITId=hits[0])])
    seen += town.market.http.get("/rehearsal/books").text
    assert ann.participant_id not in seen
    # The tests' own clients log their addresses; nothing of ours does.
    messages = [
        record.getMessage()
        for record in caplog.records
        if not record.name.startswith(("httpx", "httpcore", "botocore", "urllib3"))
        and "/emulator/" not in record.getMessage()
    ]
    assert ann.participant_id not in "\n".join(messages)
    town.settle()
    assert ann.participant_id in str(town.rows("SELECT participant_id FROM participants"))


def test_all_books_agree_after_people_came_and_went(town: Town) -> None:
    """Left, late, unwanted and finished visits together."""
    town.post(hits=2, assignments=3)
    town.settle()
    study = town.study()
    leaver, worker, sleeper = (town.visitor() for _ in range(3))
    assert leaver.arrive(study).status_code == 201
    leaver.http.post("/visit/leave")
    leaver.give_back(leaver.submission_id)
    assert sleeper.arrive(study).status_code == 201
    worker.work(study)
    town.wait(hours=2)
    town.settle()
    check(town)
