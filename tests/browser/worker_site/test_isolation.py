"""A question is a stranger's page: what the most hostile one cannot do to a worker."""

import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from piecework.marketplace.http.server import Marketplace, serve
from tests.browser.pages import sign_in
from tests.browser.worker_site.questions import external_question, form, html_question
from tests.conftest import in_full
from tests.marketplace.market import START, Market, Worker, free_port, post

pytestmark = pytest.mark.browser

Opened = Callable[..., Page]


def answer_of(market: Market, hit_id: str) -> str:
    """The one answer that a HIT got."""
    client = market.requester("LAB")
    (work,) = client.list_assignments_for_hit(HITId=hit_id)["Assignments"]
    return str(work["Answer"])


def statuses(market: Market) -> dict[str, str]:
    """State of each assignment, by HIT."""
    return {
        assignment["hit_id"]: assignment["status"] for assignment in market.books()["assignments"]
    }


def in_frame(page: Page, script: str, argument: object = None) -> Any:  # noqa: ANN401 - whatever it says
    """What a script gives that runs in the question's frame, as the question's own."""
    page.frame_locator("iframe").locator("body").wait_for()
    return page.frames[1].evaluate(script, argument)


def accepted(market: Market, worker: Worker, question: str) -> tuple[str, str]:
    """A HIT with this question in the worker's hands: ids of HIT and assignment."""
    client = market.requester("LAB")
    made = post(client, Question=question, Title=f"HIT {len(statuses(market))}")
    return made["HITId"], worker.accept(made["HITGroupId"]).json()["assignment_id"]


def test_a_hostile_question_reads_no_session_and_no_page(market: Market, open_site: Opened) -> None:
    """Neither its cookies nor the site's pages, by fetch, frame or parent."""
    ann = market.worker()
    _, assignment = accepted(market, ann, html_question("<h1>Hostile</h1>"))
    page = open_site(ann.token, f"/worker/assignments/{assignment}")
    assert in_frame(page, "document.cookie") == ""
    assert in_frame(page, "navigator.cookieEnabled") is True  # it could have some
    read = in_frame(
        page,
        """async () => {
          const site = new URLSearchParams(location.search).get("turkSubmitTo");
          const tried = {};
          const attempt = async (name, act) => {
            try { tried[name] = String(await act()); }
            catch (fault) { tried[name] = fault.name; }
          };
          await attempt("parent", () => parent.document.title);
          await attempt("top", () => top.location.href);
          await attempt("fetch", async () => (
            await fetch(site + "/worker/history", {credentials: "include"})).text());
          await attempt("blind", async () => (
            await fetch(site + "/worker/history",
              {credentials: "include", mode: "no-cors"})).status);
          await attempt("script", () => new Promise((good, bad) => {
            const tag = document.createElement("script");
            tag.src = site + "/worker/static/host.js";
            tag.onload = () => good("loaded");
            tag.onerror = () => bad(new Error());
            document.body.append(tag);
          }));
          return tried;
        }""",
    )
    assert read == {
        "parent": "SecurityError",
        "top": "SecurityError",
        "fetch": "TypeError",
        "blind": "TypeError",
        "script": "Error",
    }


def test_a_hostile_question_cannot_lead_the_page_away(market: Market, open_site: Opened) -> None:
    """Not by address, not by form, not by link: the worker stays on the site."""
    ann = market.worker()
    _, assignment = accepted(market, ann, html_question("<h1>Hostile</h1>"))
    page = open_site(ann.token, f"/worker/assignments/{assignment}")
    before = page.url
    in_frame(
        page,
        """async () => {
          for (const act of [
            () => { top.location = "https://evil.example/"; },
            () => { parent.location.href = "about:blank"; },
            () => { top.location.replace("about:blank"); },
            () => { open("about:blank", "_top"); },
            () => { const a = document.createElement("a"); a.href = "about:blank";
                    a.target = "_top"; document.body.append(a); a.click(); },
            () => { const f = document.createElement("form"); f.target = "_parent";
                    f.action = location.href; document.body.append(f); f.submit(); },
          ]) { try { act(); } catch {} }
          await new Promise((done) => setTimeout(done, 200));
        }""",
    )
    assert page.url == before
    expect(page.get_by_role("heading", name="HIT 0")).to_be_visible()


def test_a_hostile_question_cannot_act_as_the_worker(market: Market, open_site: Opened) -> None:
    """Accept, return, sign out: the browser sends no fetch, the site takes no form."""
    ann = market.worker()
    client = market.requester("LAB")
    other = post(client, Title="Another group")
    hit, assignment = accepted(market, ann, html_question("<h1>Hostile</h1>"))
    page = open_site(ann.token, f"/worker/assignments/{assignment}")
    for path in (
        f"/worker/groups/{other['HITGroupId']}/accept",
        f"/worker/assignments/{assignment}/return",
        "/worker/sign-out",
    ):
        page.goto(f"{market.endpoint}/worker/assignments/{assignment}")
        fetched = in_frame(
            page,
            f"""fetch("{market.endpoint}{path}",
              {{method: "POST", credentials: "include", mode: "no-cors"}}
            ).catch((fault) => fault.name)""",
        )
        assert fetched == "TypeError"
        with page.expect_response(f"**{path}") as refusal:
            in_frame(
                page,
                f"""setTimeout(() => {{
                  const f = document.createElement("form");
                  f.method = "post"; f.action = "{market.endpoint}{path}";
                  document.body.append(f); f.submit();
                }})""",
            )
        assert refusal.value.status == 403
    assert statuses(market) == {hit: "Accepted"}
    page.goto(market.endpoint + "/worker/hits")
    expect(page.get_by_role("heading", name="Another group")).to_be_visible()


@pytest.mark.parametrize("way", ["own frame", "fetch", *in_full("nested frame", "picture")])
def test_a_hostile_question_cannot_submit_for_another_assignment(
    market: Market, open_site: Opened, way: str
) -> None:
    """Even if it knows the id of another HIT that the same worker has open."""
    ann = market.worker()
    victim, victims = accepted(market, ann, html_question(form()))
    hostile, assignment = accepted(market, ann, html_question("<h1>Hostile</h1>"))
    page = open_site(ann.token, f"/worker/assignments/{assignment}")
    in_frame(
        page,
        """([way, victims]) => {
          const site = new URLSearchParams(location.search).get("turkSubmitTo");
          const address = site + "/mturk/externalSubmit";
          const query = new URLSearchParams(
            {assignmentId: victims, caption: "rubbish"});
          if (way === "fetch") {
            fetch(address, {method: "POST", body: query, mode: "no-cors",
              credentials: "include"}).catch(() => {});
            fetch(address + "?" + query, {mode: "no-cors",
              credentials: "include"}).catch(() => {});
          } else if (way === "picture") {
            const picture = new Image();
            picture.src = address + "?" + query;
          } else {
            const f = document.createElement("form");
            f.method = "post"; f.action = address;
            if (way === "nested frame") {
              const nested = document.createElement("iframe");
              nested.name = f.target = "nested";
              document.body.append(nested);
            }
            for (const [name, value] of query) {
              const i = document.createElement("input");
              i.name = name; i.value = value; f.append(i);
            }
            document.body.append(f);
            setTimeout(() => f.submit());
          }
        }""",
        [way, victims],
    )
    if way == "own frame":
        # It is the worker who would have to press the button, and reads whose it is.
        asked = page.frame_locator("iframe").get_by_role("button", name="Submit")
        expect(asked).to_be_visible()
        expect(page.frame_locator("iframe").locator("body")).to_contain_text("HIT 0")
    page.wait_for_timeout(400)  # nothing shows that no submission is on its way
    assert statuses(market) == {victim: "Accepted", hostile: "Accepted"}


@pytest.mark.parametrize("method", ["post", *in_full("get")])
def test_a_question_submits_by_post_and_by_get(
    market: Market, open_site: Opened, method: str
) -> None:
    """What was typed arrives as typed, and the worker is thanked."""
    ann = market.worker()
    typed = "A “red” <bird> & co\n\n  on a wire"
    hit, assignment = accepted(market, ann, html_question(form(method=method)))
    page = open_site(ann.token, f"/worker/assignments/{assignment}")
    frame = page.frame_locator("iframe")
    frame.get_by_label("Caption").fill(typed)
    frame.get_by_role("button", name="Send").click()
    page.wait_for_url("**/thanks")
    answer = answer_of(market, hit)
    # Browsers send line ends as CR LF; XML carries CR as a reference.
    shown = typed.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    assert f"<FreeText>{shown.replace(chr(10), '&#13;' + chr(10))}</FreeText>" in answer


@pytest.fixture
def market_of_two_domains(tmp_path: Path) -> Iterator[Market]:
    """Frames on another domain than the site's, not just on another port."""
    frames = free_port()
    with (
        serve(
            Marketplace(
                tmp_path / "two.db",
                rehearsal=True,
                start=START,
                frames_port=frames,
                frames_url=f"http://localhost:{frames}",
            )
        ) as running,
        closing(Market(running.endpoint_url, running.frames_url)) as market,
    ):
        yield market


@pytest.mark.parametrize("method", ["post", *in_full("get")])
def test_frames_on_another_domain_submit_by_post_and_by_get(
    market_of_two_domains: Market, browser: Browser, method: str
) -> None:
    """A GET names no origin there; a stranger's page that leads there is refused."""
    market = market_of_two_domains
    ann = market.worker()
    hit, assignment = accepted(market, ann, html_question(form(method=method)))
    with closing(browser.new_context()) as context:
        page = context.new_page()
        page.set_default_timeout(5_000)
        sign_in(page, f"{market.endpoint}/worker/sign-in?token={ann.token}")
        evil = f"{market.endpoint}/mturk/externalSubmit?assignmentId={assignment}&a=b"
        with another_host(f"<a href='{evil}'>Win</a>") as address:
            page.goto(address)
            page.get_by_role("link").click()
            expect(page.get_by_role("alert")).to_contain_text("another site")
        page.goto(f"{market.endpoint}/worker/assignments/{assignment}")
        frame = page.frame_locator("iframe")
        frame.get_by_label("Caption").fill("from the other domain")
        frame.get_by_role("button", name="Send").click()
        page.wait_for_url("**/thanks")
    assert "from the other domain" in answer_of(market, hit)


def test_a_refusal_in_a_frame_has_no_second_menu(market: Market, open_site: Opened) -> None:
    """The worker's page around it has one already."""
    ann = market.worker()
    _, mine = accepted(market, ann, html_question("<h1>Nothing to send</h1>"))
    page = open_site(ann.token, f"/worker/assignments/{mine}")
    site = f"{market.endpoint}/worker/assignments/NONE"
    in_frame(page, "(address) => { location.href = address; }", site)
    shown = page.frame_locator("iframe").get_by_role("alert")
    expect(shown).to_be_visible()
    expect(page.frame_locator("iframe").locator("nav")).to_have_count(0)


def test_fields_may_have_any_name(market: Market, open_site: Opened) -> None:
    """Names that shadow what a form can do, and those of the site's own scripts."""
    names = ["submit", "dataset", "hidden", "setAttribute", "action", "parent", "carry"]
    fields = "".join(f'<input type="hidden" name="{name}" value="v">' for name in names)
    ann = market.worker()
    body = form(extra=fields).replace("form.action =", "const address =")
    body = body.replace(
        "</script>", "Element.prototype.setAttribute.call(form, 'action', address);</script>"
    )
    hit, assignment = accepted(market, ann, html_question(body))
    page = open_site(ann.token, f"/worker/assignments/{assignment}")
    page.frame_locator("iframe").get_by_role("button", name="Send").click()
    page.wait_for_url("**/thanks")
    answer = answer_of(market, hit)
    for name in names:
        assert f"<QuestionIdentifier>{name}</QuestionIdentifier>" in answer


@contextmanager
def a_starred_market(database: Path) -> Iterator[tuple[Market, str]]:
    """A marketplace with an origin for each requester; and the site, for browsers."""
    site, frames = (free_port(), free_port())
    named = f"http://piecework.localhost:{site}"
    with (
        serve(
            Marketplace(
                database,
                rehearsal=True,
                start=START,
                port=site,
                frames_port=frames,
                site_url=named,
                frames_url=f"http://*.piecework.localhost:{frames}",
            )
        ),
        closing(Market(f"http://127.0.0.1:{site}", f"http://127.0.0.1:{frames}")) as market,
    ):
        yield market, named


STORING = html_question(
    form(
        extra="""<script>
const draft = document.querySelector("textarea");
draft.value = localStorage.getItem("draft") || "";
draft.addEventListener("input", () => localStorage.setItem("draft", draft.value));
</script>"""
    )
)


def test_a_question_reads_no_draft_of_another_requesters(tmp_path: Path, browser: Browser) -> None:
    """With a star in the frames' address; its own are there again, and can be sent."""
    with a_starred_market(tmp_path / "two.db") as (market, site):
        ann = market.worker()
        first = post(market.requester("LAB"), Question=STORING)
        second = post(market.requester("OTHER"), Question=STORING)
        ours, theirs = (
            ann.accept(made["HITGroupId"]).json()["assignment_id"] for made in (first, second)
        )
        with closing(browser.new_context()) as context:
            page = context.new_page()
            page.set_default_timeout(5_000)
            sign_in(page, f"{site}/worker/sign-in?token={ann.token}")
            typed = page.frame_locator("iframe").get_by_label("Caption")
            page.goto(f"{site}/worker/assignments/{ours}")
            typed.fill("between LAB and me")
            page.goto(f"{site}/worker/assignments/{theirs}")
            expect(typed).to_have_value("")
            assert in_frame(page, "Object.keys(localStorage)") == []
            # At LAB's address OTHER's question is not shown, framed or by itself.
            lent = page.frames[1].url.replace("//r2.", "//r1.")
            answer = context.new_page().goto(lent)
            assert answer is not None
            assert answer.status == 404
            assert "This HIT has no page here" in answer.text()
            page.goto(f"{site}/worker/assignments/{ours}")
            expect(typed).to_have_value("between LAB and me")
            page.frame_locator("iframe").get_by_role("button", name="Send").click()
            page.wait_for_url("**/thanks")
        assert "between LAB and me" in answer_of(market, first["HITId"])


@contextmanager
def another_host(page: str) -> Iterator[str]:
    """A requester's own server, on another site than the marketplace."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.end_headers()
            self.wfile.write(page.encode())

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    try:
        # For browsers `localhost` is another site than 127.0.0.1.
        yield f"http://localhost:{server.server_address[1]}/study?condition=2"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@pytest.mark.parametrize("method", ["post", *in_full("get")])
def test_an_external_page_of_another_site_submits_too(
    market: Market, open_site: Opened, method: str
) -> None:
    """It gets the four parameters; its form reaches the worker's session unharmed."""
    ann = market.worker()
    with another_host(f"<!doctype html>{form(method=method)}") as address:
        hit, assignment = accepted(market, ann, external_question(address))
        page = open_site(ann.token, f"/worker/assignments/{assignment}")
        frame = page.frame_locator("iframe")
        frame.get_by_label("Caption").fill("from elsewhere")
        asked = page.frames[1].url
        frame.get_by_role("button", name="Send").click()
        page.wait_for_url("**/thanks")
    assert asked.startswith("http://localhost:")
    assert f"condition=2&assignmentId={assignment}&hitId={hit}" in asked
    assert f"&workerId={ann.worker_id}&turkSubmitTo=http" in asked
    assert "from elsewhere" in answer_of(market, hit)
