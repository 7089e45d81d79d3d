"""The page as programs reach it: who gets in, what is refused, what is shown."""

import re
from dataclasses import replace
from pathlib import Path

import httpx
import pytest

from piecework.domain.ids import AnswerId, WorkerId
from piecework.domain.verdicts import Finding, SubjectKind
from piecework.postprocess.pseudonyms import answer_pseudonym
from piecework.review.desk import Manner
from piecework.review.model.deciding import waiting_for_people
from piecework.store import assignments, decisions, findings
from tests.domain.test_picture_metadata import is_clean, saved
from tests.foundation.server.security_lines import caught
from tests.review import stores
from tests.review.conftest import Served, served

CARD = {"view": "answer", "key": "A0000-k1.1"}


def form_of(client: httpx.Client, card: dict[str, str]) -> dict[str, str]:
    """The hidden fields of a card's form."""
    text = client.get("/card", params=card).text
    named = re.findall(r'name="(\w+)" value="([^"]*)"', text)
    return {name: value for name, value in named if name in {"form_token", "seen"}}


def _waiting(page: Served) -> int:
    return len(waiting_for_people(page.run))


def test_nothing_is_shown_without_the_link(page: Served) -> None:
    """Neither a page, nor a picture, nor a form, nor with a token of one's own."""
    with httpx.Client(base_url=page.url, headers={"Origin": page.url}) as stranger:
        for path in ("/", "/card?view=answer&key=A0000-k1.1", "/picture?item=p1"):
            assert stranger.get(path).status_code == 401
        assert stranger.post("/decide", data=CARD).status_code == 401
        assert stranger.post("/enter", data={"token": "x" * 43}).status_code == 401
        assert not stranger.cookies


def test_the_token_goes_by_no_address_and_the_cookie_stays_with_the_page(page: Served) -> None:
    """The link's token is behind the #; scripts and other sites get no cookie."""
    link = httpx.URL(page.links["ada"])
    assert (link.query, link.path) == (b"", "/enter")
    reply = httpx.post(
        f"{page.url}/enter", data={"token": link.fragment}, headers={"Origin": page.url}
    )
    cookie = reply.headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=strict" in cookie
    assert link.fragment.lower() not in cookie
    with page.client() as ada:
        headers = ada.get("/").headers
    assert headers["referrer-policy"] == "same-origin"
    assert "frame-ancestors 'none'" in headers["content-security-policy"]
    assert "script-src 'self'" in headers["content-security-policy"]


def test_who_came_in_and_what_was_refused_is_in_the_security_log(page: Served) -> None:
    """Without a token; a browser that was never let in is no event."""
    token = page.links["ada"].partition("#")[2]
    with caught() as lines:
        assert httpx.get(page.url).status_code == 401
        headers = {"Origin": page.url}
        for sent in ("x" * 43, token):
            httpx.post(f"{page.url}/enter", data={"token": sent}, headers=headers)
        httpx.post(f"{page.url}/decide", data=CARD, headers={"Origin": "http://evil"})
    assert lines == [
        "event=sign_in_refused peer=127.0.0.1",
        "event=signed_in reviewer=ada peer=127.0.0.1",
        "event=form_refused peer=127.0.0.1",
    ]


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "http://127.0.0.1:8081"},
        {"Origin": "null"},
        {"Sec-Fetch-Site": "same-site"},
        {"Host": "review.evil.example"},
    ],
    ids=lambda headers: " ".join(headers.values()),
)
def test_a_form_of_another_page_decides_nothing(page: Served, headers: dict[str, str]) -> None:
    """Not even with the cookie and the form's own token."""
    before = _waiting(page)
    with page.client() as ada:
        form = {**CARD, **form_of(ada, CARD), "act": "keep"}
        reply = ada.post("/decide", data=form, headers=headers)
        assert reply.status_code in {403, 421}
        form |= {"form_token": "x"}
        assert ada.post("/decide", data=form).status_code == 403
        no_origin = httpx.post(f"{page.url}/decide", data=form, cookies=dict(ada.cookies))
        assert no_origin.status_code == 403
        framed = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Dest": "iframe"}
        assert ada.get("/", headers=framed).status_code == 403
    assert _waiting(page) == before


@pytest.mark.parametrize("charset", ["utf-7", "undefined"])
def test_a_form_in_another_encoding_is_refused(page: Served, charset: str) -> None:
    """In UTF-7, half a letter can be sent, which no store takes."""
    kind = f"multipart/form-data; boundary=x; charset={charset}"
    field = '--x\r\nContent-Disposition: form-data; name="{}"\r\n\r\n{}\r\n'
    with page.client() as ada:
        form = {**CARD, **form_of(ada, CARD), "act": "reject", "because": "+2AA-"}
        body = "".join(field.format(name, value) for name, value in form.items()) + "--x--\r\n"
        sent = ada.post("/decide", content=body, headers={"Content-Type": kind})
        assert sent.status_code == 400
        assert "must be UTF-8" in sent.text


def test_one_reviewers_form_is_no_others(page: Served) -> None:
    """Grace cannot send what was made for ada, nor undo what ada did."""
    with page.client("ada") as ada, page.client("grace") as grace:
        form = {**CARD, **form_of(ada, CARD), "act": "keep"}
        assert grace.post("/decide", data=form).status_code == 403
        assert ada.post("/decide", data=form).status_code == 303
        undone = grace.post("/undo", data=form_of(grace, CARD), follow_redirects=True)
        assert "nothing to undo" in undone.text
    assert [decision.decided_by for decision in decisions.load_decisions(page.run.store)] == ["ada"]


def test_what_is_no_field_is_on_the_card_escaped_and_without_ids(tmp_path: Path) -> None:
    """Who decides reads all that came; names and values are a stranger's text."""
    sent = {"<i>n</i>": "<script>x</script>", "workerId": "worker0001 wrote this"}
    sent |= {f"more_{n}": "y" * 20_000 for n in range(60)}
    with stores.opened(tmp_path, also_sent=sent) as run, served(run) as page:
        name = page.run.pseudonym(WorkerId("WORKER0001"))
        with page.client() as ada:
            for card in (CARD, CARD | {"view": "assignment", "key": "A0000-k1"}):
                text = ada.get("/card", params=card).text
                assert "&lt;i&gt;n&lt;/i&gt;" in text
                assert "&lt;script&gt;x" in text
                assert "<script>x" not in text
                assert f"{name} wrote this" in text
                assert "worker0001" not in text.casefold()
                assert "and 42 more" in text
                assert len(text) < 5_000_000


def test_a_name_is_beside_the_pseudonym_only_where_it_may_be(tmp_path: Path) -> None:
    """Escaped; on no blind card, on no overview, and for no person without a name."""
    with stores.opened(tmp_path, workers=2, items=2) as run:
        known = {WorkerId(row) for row in assignments.all_workers(run.store)}
        names: dict[str, str] = dict.fromkeys(sorted(known)[:1], "Ada <b>L</b>")
        shown = []
        for manner in (Manner(names=names), Manner(names=names, is_blind=True), Manner()):
            with served(run, manner=manner) as page, page.client() as ada:
                cards = [
                    ada.get("/card", params={"view": "worker", "key": run.pseudonym(worker)}).text
                    for worker in known
                ]
                shown.append(sum("Ada &lt;b&gt;L&lt;/b&gt;" in card for card in cards))
                assert "Ada" not in ada.get("/").text
    assert shown == [1, 0, 0]


def test_an_answer_of_the_dataset_has_its_card(page: Served) -> None:
    """By the pseudonym that stands there; an unknown one is no card."""
    key, private = page.run.pseudonym_key, AnswerId(CARD["key"])
    published = str(answer_pseudonym(private, key))
    with page.client() as ada:
        named, own = (
            ada.get("/card", params=CARD | {"key": each}).text for each in (published, CARD["key"])
        )
        assert re.findall(r"<h1.*?</h1>", named) == re.findall(r"<h1.*?</h1>", own)
        unknown = CARD | {"key": f"{'0' * 16}.1"}
        assert ada.get("/card", params=unknown).status_code == 404


@pytest.mark.parametrize(
    "item", ["../review.toml", "/etc/passwd", "..%2fpiecework.db", "p1/../../review.toml", ""]
)
def test_only_pictures_of_items_are_given(page: Served, item: str) -> None:
    """A name of a file is no item's id."""
    with page.client() as ada:
        assert ada.get("/picture", params={"item": item}).status_code == 404
        for path in ("/static/../app.py", "/static/%2e%2e/app.py", "/review.toml"):
            assert ada.get(path).status_code == 404


def test_a_picture_that_is_opened_by_itself_runs_no_scripts(page: Served) -> None:
    """An SVG is a page to a browser; its policy lets it do nothing."""
    with page.client() as ada:
        reply = ada.get("/picture", params={"item": "p1"})
    assert reply.headers["content-type"].startswith("image/svg+xml")
    assert "sandbox" in reply.headers["content-security-policy"]
    assert reply.headers["x-content-type-options"] == "nosniff"


def test_a_picture_says_nothing_of_who_took_it(page: Served) -> None:
    """Large or small: reviewers see what workers saw."""
    pictures = page.run.campaign.pictures
    assert pictures is not None
    folder = pictures.folder
    assert folder is not None
    (folder / "1.svg").rename(folder / "1.jpg")
    (folder / "1.svg").symlink_to("1.jpg")
    (folder / "1.jpg").write_bytes(saved("JPEG", 6))
    with page.client() as ada:
        for query in ({"item": "p1"}, {"item": "p1", "small": "1"}):
            assert is_clean(ada.get("/picture", params=query).content)


def test_what_is_decided_and_undone_is_in_the_store(page: Served) -> None:
    """Drop with a reason of one's own; then undo; then it waits as before."""
    before = _waiting(page)
    with page.client() as ada:
        form = {**CARD, **form_of(ada, CARD)}
        sent = ada.post("/decide", data={**form, "act": "drop", "because": "All in capitals."})
        assert sent.headers["location"].startswith("/next?")
        (made,) = decisions.load_decisions(page.run.store)
        assert (made.verdict, made.because) == ("drop", "All in capitals.")
        late = ada.post("/decide", data={**form, "act": "keep"})
        assert late.status_code == 409
        assert "Another reviewer decided first" in late.text
        assert ada.post("/undo", data=form).status_code == 303
    assert decisions.load_decisions(page.run.store) == []
    assert _waiting(page) == before


def test_what_is_no_act_or_no_answer_is_refused(page: Served) -> None:
    """Unknown acts, keys, views, huge forms and empty reasons store nothing."""
    before = _waiting(page)
    with page.client() as ada:
        form = {**CARD, **form_of(ada, CARD), "act": "keep"}
        assert ada.post("/decide", data={**form, "act": "burn"}).status_code == 422
        assert ada.post("/decide", data={**form, "key": "none"}).status_code == 404
        assert ada.post("/decide", data={**form, "x": "y" * 70_000}).status_code == 413
        reject = {"view": "assignment", "key": "A0001-k3", "act": "reject"}
        form = reject | form_of(ada, reject)
        assert ada.post("/decide", data={**form, "because": " "}).status_code == 422
        late = ada.post("/decide", data={**form, "seen": "", "because": "So."})
        assert late.status_code == 409
    assert _waiting(page) == before


def test_a_reason_begins_with_the_rules_own_evidence(page: Served) -> None:
    """The policy speaks of capitals; what pasting says is stronger, and beside it."""
    stronger = replace(
        findings.about(page.run.store, [("answer", CARD["key"])])[0],
        heuristic="pasted",
        suspicion=0.99,
        evidence="1 paste",
    )
    kept = findings.load_findings(page.run.store)
    findings.replace(page.run.store, [*kept, stronger], subjects=_all_of(kept))
    with page.client() as ada:
        text = ada.get("/card", params=CARD).text
    begun = text.partition('<textarea id="because"')[2].partition("</textarea>")[0]
    assert begun.endswith(">Not what the page asks for. (70% of the characters are capitals)")
    assert "<option>1 paste</option>" in text


def test_an_exclusion_is_proposed_only_where_the_policy_says_so(page: Served) -> None:
    """Who may be excluded by hand is not marked for it."""
    page.run.store.db.execute("DELETE FROM proposals WHERE subject_kind = 'worker'")
    with page.client() as ada:
        text = ada.get("/card", params=CARD).text
    button = re.search(r'data-key="x".*?</li>', text, re.DOTALL)
    assert button is not None
    assert "1 worker offered no later HIT" in button[0]
    assert "proposed" not in button[0]


def test_another_campaigns_pictures_and_sessions_are_out_of_reach(
    page: Served, tmp_path: Path
) -> None:
    """Neither by an item's id, nor by a way to its folder, nor by a cookie."""
    folder = tmp_path / "another"
    folder.mkdir()
    with (
        stores.opened(folder, workers=1, items=6) as another,
        served(another) as beside,
        page.client() as ada,
        beside.client() as grace,
    ):
        assert grace.get("/picture", params={"item": "p6"}).status_code == 200
        for item in ("p6", "../another/pictures/p6.svg", str(folder / "p6.svg")):
            assert ada.get("/picture", params={"item": item}).status_code == 404
        # A cookie knows no ports: a browser sends it to both pages.
        cookies = dict(zip(grace.cookies.keys(), ada.cookies.values(), strict=True))
        stranger = httpx.get(f"{beside.url}/picture", params={"item": "p6"}, cookies=cookies)
        assert stranger.status_code == 401


def test_what_follows_of_very_many_is_told_before_it_is_done(
    page: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The card of a worker leaves it out; the page that asks once more has it."""
    monkeypatch.setattr("piecework.review.model.cards._MOST_FORESEEN", 1)
    with page.client() as ada:
        shown = ada.get("/next?view=worker", follow_redirects=True)
        worker = {"view": "worker", "key": shown.url.params["key"], "act": "drop"}
        form = worker | form_of(ada, worker) | {"because": "Not seen."}
        asked = ada.post("/preview", data=form).text
    assert "The next page shows what follows." in shown.text
    assert "answers set aside" not in shown.text
    assert "4 answers set aside" in asked
    assert "The next page shows" not in asked


def _all_of(kept: list[Finding]) -> dict[SubjectKind, list[str]]:
    return {"answer": [finding.subject_id for finding in kept]}
