"""Open links: one for a class, so many places, and never somebody else's session."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import httpx
import pytest

from piecework.marketplace.http.server import Marketplace, serve
from piecework.marketplace.requester.api import perform_operation
from piecework.marketplace.state import accounts, clock
from piecework.marketplace.state.backend import Backend, Rules
from piecework.marketplace.state.transaction import Transaction
from piecework.marketplace.workers import invitations, open_links
from piecework.marketplace.workers.open_links import NewLink
from tests.marketplace.market import HIT_TYPE, QUESTION

CLASS = NewLink(name="Class 7b", places=3, country="DE", completion_hits=1)
HTML = {"accept": "text/html"}
OTHER_SITE = {"origin": "https://elsewhere.example", "sec-fetch-site": "cross-site"}


@pytest.fixture
def backend(tmp_path: Path) -> Iterator[Backend]:
    """A live marketplace."""
    with closing(Backend(tmp_path / "live.db", Rules())) as backend:
        yield backend


@pytest.fixture
def site(backend: Backend) -> Iterator[str]:
    """Its address, while it serves."""
    with serve(Marketplace(backend.database)) as running:
        yield running.endpoint_url


def make(backend: Backend, new: NewLink = CLASS) -> str:
    """An open link; its code."""
    with backend.transaction() as transaction:
        return open_links.code_of(transaction, open_links.make(transaction, new))


def workers(backend: Backend) -> list[str]:
    """The names of all workers."""
    with backend.transaction() as transaction:
        return [row["handle"] for row in invitations.list_invitations(transaction)]


def joined(site: str, code: str, name: str, **more: str) -> httpx.Response:
    """Somebody in a browser of his own fills in the page of a link."""
    form = {"link": code, "name": name, **more}
    return httpx.post(f"{site}/worker/join", data=form, headers=HTML)


def test_who_joins_becomes_a_new_worker_and_can_come_again(backend: Backend, site: str) -> None:
    """Opening the link does nothing; the form makes a worker and a link of his own."""
    code = make(backend)
    with httpx.Client(base_url=site, headers=HTML) as ann:
        asked = ann.get("/worker/join", params={"link": code})
        assert "Join Class 7b?" in asked.text
        assert not asked.cookies
        assert workers(backend) == []
        reply = ann.post("/worker/join", data={"link": code, "name": "  Ann  B. "})
        assert reply.status_code == 200
        assert "You are in, Ann B." in reply.text
        assert workers(backend) == ["Class 7b: Ann B."]
        assert ann.get("/worker/hits").status_code == 200
        # The same link again leads on, by GET and by POST, and takes no second place.
        assert ann.get("/worker/join", params={"link": code}).status_code == 303
        again = ann.post("/worker/join", data={"link": code, "name": "Bea"})
        assert again.headers["location"] == "/worker/hits"
    own = httpx.post(
        f"{site}/worker/join",
        data={"link": code, "name": "Cat"},
        headers={"accept": "application/json"},
    ).json()
    with httpx.Client(base_url=site, headers=HTML) as elsewhere:
        assert "Sign in as Class 7b: Cat" in elsewhere.get(own["link"]).text
    assert workers(backend) == ["Class 7b: Ann B.", "Class 7b: Cat"]


def test_all_at_once_take_no_more_places_than_there_are(backend: Backend, site: str) -> None:
    """Twelve forms arrive together: three come in, nine are told that it is full."""
    code = make(backend)
    with ThreadPoolExecutor(12) as pool:
        asked = [pool.submit(joined, site, code, f"N{n}") for n in range(12)]
        replies = [future.result() for future in asked]
    assert sorted(reply.status_code for reply in replies) == [200] * 3 + [409] * 9
    assert len(workers(backend)) == 3
    full = httpx.get(f"{site}/worker/join", params={"link": code}, headers=HTML)
    assert full.status_code == 409
    assert "All 3 places" in full.text


def test_two_processes_cannot_share_the_last_place(backend: Backend) -> None:
    """The limit is the database's: another connection beside the server's sees it."""
    make(backend, replace(CLASS, places=1))
    with closing(Backend(backend.database, Rules())) as beside:

        def take(backend: Backend, name: str) -> str:
            with backend.transaction() as transaction:
                (link,) = open_links.listed_links(transaction)
                try:
                    return open_links.join(transaction, link, name).worker_id
                except Exception as fault:  # noqa: BLE001 - its kind is looked at
                    return getattr(fault, "kind", repr(fault))

        with ThreadPoolExecutor(2) as pool:
            ended = list(pool.map(take, (backend, beside), ("Ann", "Bea")))
    assert ended.count("LinkFull") == 1
    assert len(workers(backend)) == 1


def test_a_link_never_opens_the_session_of_a_worker_who_is_there(
    backend: Backend, site: str
) -> None:
    """Neither by a name that is taken, nor over a session without saying whose."""
    code = make(backend)
    assert joined(site, code, "Ann").status_code == 200
    taken = joined(site, code, "aNN")
    assert taken.status_code == 409
    assert "aNN is taken" in taken.text
    assert not taken.cookies
    with backend.transaction() as transaction:
        new = accounts.NewWorker(handle="eve", country="DE")
        invitation = invitations.invite(transaction, new, lifetime_ms=clock.DAY)
    with httpx.Client(base_url=site, headers=HTML) as eve:
        eve.post("/worker/sign-in", data={"invitation": invitation.code})
        asked = eve.get("/worker/join", params={"link": code})
        assert "You are signed in as <strong>eve" in asked.text
        form = {"link": code, "name": "Dan"}
        assert eve.post("/worker/join", data=form).status_code == 409
        assert "Your worker id is <code>" + invitation.worker_id in (
            eve.get("/worker/history").text
        )
        form["instead_of"] = invitation.worker_id
        assert eve.post("/worker/join", data=form).status_code == 200
        assert invitation.worker_id not in eve.get("/worker/history").text
    assert workers(backend) == ["Class 7b: Ann", "eve", "Class 7b: Dan"]


def test_another_site_can_let_nobody_join(backend: Backend, site: str) -> None:
    """Not by its own form, nor by showing the page in a frame or loading it."""
    code = make(backend)
    form = {"link": code, "name": "Ann"}
    sent = httpx.post(f"{site}/worker/join", data=form, headers=HTML | OTHER_SITE)
    assert sent.status_code == 403
    framed = {"sec-fetch-dest": "iframe", "sec-fetch-mode": "navigate"}
    for asked in (
        httpx.get(f"{site}/worker/join?link={code}", headers=HTML | framed),
        httpx.post(f"{site}/worker/join", data=form, headers=HTML | framed),
    ):
        assert asked.status_code == 403
    page = httpx.get(f"{site}/worker/join?link={code}", headers=HTML)
    assert "frame-ancestors 'none'" in page.headers["content-security-policy"]
    assert workers(backend) == []


def close(transaction: Transaction) -> None:
    """The house closes the link."""
    open_links.close_link(transaction, CLASS.name)


def expire(transaction: Transaction) -> None:
    """Its time is over."""
    transaction.execute("UPDATE open_links SET expires_ms = ?", transaction.now_ms)


@pytest.mark.parametrize(("act", "sentence"), [(close, "was closed"), (expire, "has expired")])
def test_what_is_closed_or_over_lets_nobody_in_and_nobody_out(
    backend: Backend, site: str, act: Callable[[Transaction], None], sentence: str
) -> None:
    """Who has joined works on."""
    code = make(backend)
    with httpx.Client(base_url=site, headers=HTML) as ann:
        ann.post("/worker/join", data={"link": code, "name": "Ann"})
        with backend.transaction() as transaction:
            act(transaction)
        late = joined(site, code, "Bea")
        assert late.status_code == 403
        assert sentence in late.text
        assert ann.get("/worker/hits").status_code == 200
    assert workers(backend) == ["Class 7b: Ann"]


@pytest.mark.parametrize("spoilt", ["", "x", "é", "A" * 64, "A" * 5000])
def test_a_forged_link_is_refused(backend: Backend, site: str, spoilt: str) -> None:
    """And so is an invitation's code, which is signed for something else."""
    make(backend)
    with backend.transaction() as transaction:
        new = accounts.NewWorker(handle="eve", country="DE")
        code = invitations.invite(transaction, new, lifetime_ms=clock.DAY).code
    for forged in (spoilt, code):
        assert joined(site, forged, "Ann").status_code == 403
    assert workers(backend) == ["eve"]


@pytest.mark.parametrize("name", ["", " ", "x" * 51, "a\x1b[2J", "a\u202eb"])
def test_a_name_is_a_line_of_letters(backend: Backend, site: str, name: str) -> None:
    """It is shown in the requester's terminal."""
    reply = joined(site, make(backend), name)
    assert reply.status_code == 409
    assert "name of 1 to 50 letters" in reply.text
    assert workers(backend) == []


def test_the_completion_code_is_shown_when_enough_was_sent(backend: Backend, site: str) -> None:
    """Two HITs: after one it is not; after two it stands on both pages."""
    code = make(backend, replace(CLASS, completion_hits=2, completion_code="DONE-42"))
    with backend.transaction() as transaction:
        accounts.add_requester(transaction, "LAB", balance_cents=1000)
    parameters = {**HIT_TYPE, "Question": QUESTION, "LifetimeInSeconds": 3600}
    made, _ = (perform_operation(backend, "LAB", "CreateHIT", parameters)["HIT"] for _ in range(2))
    with httpx.Client(base_url=site, follow_redirects=True) as ann:
        ann.post("/worker/join", data={"link": code, "name": "Ann"}, headers=HTML)
        for sent in (1, 2):
            program = {"accept": "application/json"}
            taken = ann.post(f"/worker/groups/{made['HITGroupId']}/accept", headers=program).json()[
                "assignment_id"
            ]
            form = {"assignmentId": taken, "caption": "A red bird."}
            thanks = ann.post("/mturk/externalSubmit", data=form, headers=HTML).text
            work = ann.get("/worker/history", headers=HTML).text
            for page in (thanks, work):
                assert ("DONE-42" in page) == (sent == 2)
                assert ("1 of 2 HITs submitted" in page) == (sent == 1)
    with backend.transaction() as transaction:
        (link,) = open_links.listed_links(transaction)
    assert (link["taken"], link["completed"]) == (1, 1)
