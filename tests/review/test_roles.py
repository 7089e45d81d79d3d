"""What readers, reviewers and requesters may do, and how long they may do it."""

import re
import sqlite3
from pathlib import Path

import httpx
import pytest

from piecework.domain.errors import ConfigError
from piecework.review import sessions
from piecework.review.desk import Manner
from piecework.review.model.deciding import waiting_for_people
from piecework.review.server import Address, bound_to, server_of
from piecework.store import decisions, reviews
from tests.foundation.signin.stand_in import at_work
from tests.review import stores
from tests.review.conftest import Served, served_at
from tests.review.signing_in import browser_of, door_at, page_of, page_with, signed_in
from tests.review.test_wire import CARD, form_of

FORMS = ("/preview", "/decide", "/undo", "/undo-act", "/words", "/words/find", "/label")


def _token(client: httpx.Client) -> str:
    match = re.search(r'name="form_token" value="([^"]+)"', client.get("/").text)
    assert match is not None
    return match[1]


def _events(page: Served) -> list[tuple[str, str, str]]:
    return [
        (entry.event, entry.identity.name, entry.identity.role)
        for entry in reviews.trail(page.run.store)
    ]


def test_a_reader_sees_everything_and_decides_nothing(tmp_path: Path) -> None:
    """The buttons are missing, and forms that are sent all the same are refused."""
    with (
        at_work() as provider,
        page_with(tmp_path, door_at(provider.issuer), "ada") as page,
        page.client("ada") as ada,
        signed_in(page, provider, "rita") as rita,
    ):
        before = len(waiting_for_people(page.run))
        card = rita.get("/card", params=CARD)
        assert "70% of the characters are capitals" in card.text
        assert "You are a reader" in card.text
        assert "data-key" not in card.text.replace('data-key="s"', "").replace(
            'data-key="z"', ""
        ).replace('data-key="?"', "")
        for path in ("/", "/words", "/quality", "/?view=worker"):
            shown = rita.get(path)
            assert shown.status_code == 200
            forms = re.findall(r'<form method="post" action="([^"]+)"', shown.text)
            assert forms == ["/sign-out"], path
        form = {**CARD, "act": "keep", "form_token": _token(rita), "seen": ""}
        for path in FORMS:
            refused = rita.post(path, data=form)
            assert refused.status_code == 403, path
            assert "Your role is reader; this takes a re" in refused.text
        assert len(waiting_for_people(page.run)) == before
        # A reader reserves no card.
        start = ada.get("/next?view=answer").headers["location"]
        rita.get(start)
        assert ada.get("/next?view=answer").headers["location"] == start


def test_a_reviewer_undoes_their_own_decisions_and_a_requester_all(tmp_path: Path) -> None:
    """The trail says who decided, who undid, and with which role."""
    with (
        at_work() as provider,
        page_with(tmp_path, door_at(provider.issuer)) as page,
        signed_in(page, provider, "grace") as grace,
        signed_in(page, provider, "rita") as rita,
        signed_in(page, provider, "ada") as ada,
    ):
        form = {**CARD, **form_of(grace, CARD), "act": "keep"}
        assert grace.post("/decide", data=form).status_code == 303
        assert "Undo what" not in grace.get("/card", params=CARD).text
        assert grace.post("/undo-act", data=form).status_code == 403
        shown = ada.get("/card", params=CARD).text
        assert "Undo what <bdi>Grace</bdi> decided" in shown
        act = re.search(r'name="act" value="(\d+)"', shown)
        assert act is not None
        undo = {**CARD, "form_token": _token(ada), "act": act[1]}
        for wrong in ("7", "x", "", "²", "9" * 19, "9" * 5000):
            reply = ada.post("/undo-act", data={**undo, "act": wrong})
            assert "meanwhile" in ada.get(reply.headers["location"]).text
        assert ada.post("/undo-act", data=undo).status_code == 303
        assert decisions.load_decisions(page.run.store) == []
        assert rita.post("/sign-out", data={"form_token": _token(rita)}).is_success
        assert _events(page)[-3:] == [
            ("decided", "Grace", "reviewer"),
            ("undone", "Ada", "requester"),
            ("signed out", "Rita", "reader"),
        ]


def test_signing_out_ends_the_session_on_the_server(tmp_path: Path) -> None:
    """The old cookie is worth nothing; another site's form signs nobody out."""
    with (
        at_work() as provider,
        page_with(tmp_path, door_at(provider.issuer)) as page,
        signed_in(page, provider, "ada") as ada,
    ):
        cookies = dict(ada.cookies)
        form = {"form_token": _token(ada)}
        evil = {"Origin": "https://evil.example"}
        assert ada.post("/sign-out", data=form, headers=evil).status_code == 403
        assert ada.post("/sign-out", data={"form_token": "x"}).status_code == 403
        gone = ada.post("/sign-out", data=form)
        assert "You have signed out" in gone.text
        assert not ada.cookies
        with browser_of(page) as thief:
            thief.cookies.update(cookies)
            assert thief.get("/").status_code == 401


def test_a_session_ends_after_an_idle_hour_and_after_eight_hours(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of people who signed in; a link's session lasts as long as the page."""
    with at_work() as provider, page_with(tmp_path, door_at(provider.issuer), "grace") as page:
        present = [0.0]
        monkeypatch.setattr(page.sessions, "_now", lambda: present[0])
        with signed_in(page, provider, "ada") as ada, page.client("grace") as grace:
            for _ in range(8):
                present[0] += 3_599
                assert ada.get("/").status_code == 200
            present[0] = sessions.LONGEST_SECONDS + 1
            ended = ada.get("/card", params=CARD)
            assert ended.status_code == 401
            assert "Your session has ended; sign in again." in ended.text
            assert "next=%2Fcard" in ended.text
            assert grace.get("/").status_code == 200
        with signed_in(page, provider, "ada") as ada:
            form = {**CARD, **form_of(ada, CARD), "act": "keep"}
            present[0] += sessions.IDLE_SECONDS + 1
            assert ada.post("/decide", data=form).status_code == 401
        assert decisions.load_decisions(page.run.store) == []


def test_a_link_may_have_a_role_too(tmp_path: Path) -> None:
    """Without a provider."""
    address = Address(reviewers=("ada", "rita"), roles={"rita": "reader"})
    with (
        stores.opened(tmp_path, workers=1, items=2) as run,
        bound_to(address) as listening,
        served_at(run, address, Manner(), listening) as page,
        page.client("rita") as rita,
        page.client("ada") as ada,
    ):
        assert "You are a reader" in rita.get("/card", params=CARD).text
        assert rita.post("/decide", data=CARD).status_code == 403
        assert 'value="keep"' in ada.get("/card", params=CARD).text
        assert httpx.get(f"{page.url}/sign-in").status_code == 404


def test_the_trail_cannot_be_changed_or_deleted(page: Served) -> None:
    """Nor can a review, but for one undo."""
    with page.client("ada") as ada:
        form = {**CARD, **form_of(ada, CARD), "act": "keep"}
        ada.post("/decide", data=form)
        ada.post("/undo", data=form)
    db = page.run.store.db
    for statement in (
        "UPDATE review_events SET name = 'eve'",
        "DELETE FROM review_events",
        "UPDATE reviews SET undone_by = 'eve'",
        "UPDATE reviews SET undone_at = NULL",
        "UPDATE reviews SET reviewer = 'eve'",
        "DELETE FROM reviews",
    ):
        with pytest.raises(sqlite3.IntegrityError, match=r"not|only"):
            db.execute(statement)
    assert [entry.event for entry in reviews.trail(page.run.store)] == [
        "signed in",
        "decided",
        "undone",
    ]


def test_a_link_gets_no_name_of_a_person_who_signed_in(tmp_path: Path) -> None:
    """Its holder could undo that person's decisions."""
    with at_work() as provider, stores.opened(tmp_path, workers=1, items=2) as run:
        with page_of(run, door_at(provider.issuer)) as page, signed_in(page, provider, "ada"):
            pass
        address = Address(reviewers=("Ada",))
        with bound_to(address) as listening, pytest.raises(ConfigError, match="Ada"):
            server_of(run, address, Manner(), listening)
