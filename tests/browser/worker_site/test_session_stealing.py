"""A question cannot put a worker into another's session, whatever it tries.

What is at stake is pay: a worker whose session was exchanged works for somebody else.
"""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import httpx
import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, BrowserContext, Page, expect

from piecework.marketplace.http.server import Marketplace, serve
from piecework.marketplace.requester.api import perform_operation
from piecework.marketplace.state import accounts, clock
from piecework.marketplace.state.backend import Backend, Rules
from piecework.marketplace.workers import invitations
from tests.browser.pages import sign_in
from tests.browser.worker_site.questions import html_question
from tests.marketplace.certificates import self_signed
from tests.marketplace.market import HIT_TYPE, free_port

pytestmark = pytest.mark.browser

PAUSE_MS = 150

TRICKS = {
    "image": "new Image().src = link",
    "script": "add('script', {src: link})",
    "stylesheet": "add('link', {rel: 'stylesheet', href: link})",
    "video": "add('video', {src: link, autoplay: true})",
    "embedded": "add('embed', {src: link}); add('object', {data: link})",
    "prefetch": "for (const rel of ['prefetch', 'prerender', 'preload'])"
    " add('link', {rel, href: link, as: 'fetch'})",
    "speculation": "add('script', {type: 'speculationrules', textContent:"
    " JSON.stringify({prerender: [{urls: [link], eagerness: 'immediate'}]})})",
    "fetch": "for (const mode of ['no-cors', 'cors']) for (const method of ['GET',"
    " 'POST']) fetch(link, {method, mode, credentials: 'include',"
    " body: method === 'POST' ? body : undefined}).catch(() => {})",
    "beacon": "navigator.sendBeacon(address, body)",
    "ping": "const a = add('a', {href: '#', ping: link}); a.click()",
    "frame goes there": "setTimeout(() => { location = link })",
    "refreshed": "add('meta', {httpEquiv: 'refresh', content: '0;url=' + link})",
    "nested frame": "add('iframe', {src: link})",
    "form by GET": "send({action: address, method: 'get'})",
    "form by POST": "send({action: address, method: 'post'})",
    "form into a frame": "add('iframe', {name: 'in'});"
    " send({action: address, method: 'post', target: 'in'})",
    "form of a blank frame": "const doc = add('iframe', {}).contentDocument;"
    " doc.body.append(made({action: address, method: 'post'})); doc.forms[0].submit()",
    "form of nowhere": "const form = made({action: address, method: 'post'});"
    " add('iframe', {sandbox: 'allow-scripts allow-forms', src: 'data:text/html,' +"
    " encodeURIComponent(form.outerHTML +"
    " '<script>document.forms[0].submit()</' + 'script>')})",
    "popup": "open(link)",
    "form into a popup": "send({action: address, method: 'post', target: '_blank'})",
    "window above": "try { top.location = link } catch {};"
    " const a = add('a', {href: link, target: '_top'}); a.click()",
}
"""What a question does with the link (`link`), or the form (`address`, `body`), of an
invitation that was given to somebody else."""

COOKIES = {
    "cookie": "for (const name of names) document.cookie = `${name}=${session}; path=/${tail}`",
    "cookie for a path": "for (const name of names) for (const path of ['/worker',"
    " '/worker/history', '/mturk']) document.cookie ="
    " `${name}=${session}; path=${path}${tail}`",
    "cookie for the domain": "for (const name of names) for (const domain of domains)"
    " document.cookie = `${name}=${session}; domain=${domain}; path=/${tail}`",
    "cookies without end": "for (let n = 0; n < 400; n++) for (const domain of"
    " ['', ...domains.map((domain) => '; domain=' + domain)])"
    " document.cookie = `x${n}=${n}; path=/${domain}${tail}`;"
    " for (const name of names) for (const domain of ['', ...domains.map((domain) =>"
    " '; domain=' + domain)]) document.cookie = `${name}=${session}; path=/${domain}`;"
    " for (const name of names) document.cookie ="
    " `${name}=${session}; path=/; Secure`",
}
"""The same with a session that somebody else has opened. Cookies of this kind can sign
a worker out, which he sees; what counts is that they sign nobody else in."""

AROUND = """([trick, given]) => {
  const {link, address, code, session, domains, names, tail} = given;
  const body = new URLSearchParams({invitation: code});
  const made = (values) => {
    const form = Object.assign(document.createElement("form"), values);
    const field = document.createElement("input");
    field.setAttribute("name", "invitation");
    field.setAttribute("value", code);
    form.append(field);
    return form;
  };
  const add = (tag, values) => {
    const made = Object.assign(document.createElement(tag), values);
    document.body.append(made);
    return made;
  };
  const send = (values) => {
    const form = made(values);
    document.body.append(form);
    setTimeout(() => HTMLFormElement.prototype.submit.call(form));
  };
  setTimeout(() => new Function("link", "address", "body", "session", "domains",
    "names", "tail", "made", "add", "send", trick)(
    link, address, body, session, domains, names, tail, made, add, send));
}"""


@dataclass
class Scene:
    """Ann in a browser, in front of a question of Mallory's friend.

    Attributes:
        site: its origin.
        links: each worker's own link.
        ids: each worker's id.
        session: one that Mallory has opened.
        domains: of the frames' host, from its own name up.
        preview: the address of the hostile HIT's preview.
    """

    site: str
    links: dict[str, str]
    ids: dict[str, str]
    session: str
    domains: list[str]
    preview: str
    context: BrowserContext
    page: Page

    def who(self) -> str:
        """Who is signed in in this browser; "" if nobody is."""
        self.page.goto(f"{self.site}/worker/history")
        text = self.page.content()
        return next((name for name, worker_id in self.ids.items() if worker_id in text), "")

    def known(self) -> dict[str, object]:
        """What Mallory knows."""
        link = self.links["mallory"]
        return {
            "link": link,
            "address": f"{self.site}/worker/sign-in",
            "code": link.partition("invitation=")[2],
            "session": self.session,
            "domains": self.domains,
            "names": ["worker_session", "__Host-worker_session"],
            "tail": "; Secure" if self.site.startswith("https") else "",
        }


PLACES = {
    "star": ("https://hits.pw.localhost", "https://*.frames.pw.localhost"),
    "star below": ("https://pw.localhost", "https://*.pw.localhost"),
    "https": ("https://hits.pw.localhost", "https://frames.pw.localhost"),
    "two names": ("http://127.0.0.1", "http://localhost"),
    "plain": ("http://127.0.0.1", "http://127.0.0.1"),
}


@contextmanager
def scene(folder: Path, browser: Browser, place: str) -> Iterator[Scene]:
    """A live marketplace, and Ann signed in at it."""
    ports = (free_port(), free_port())
    site, frames = (f"{origin}:{port}" for origin, port in zip(PLACES[place], ports, strict=True))
    now = datetime.now(UTC)  # noqa: TID251 - of certificates
    marketplace = Marketplace(
        folder / "live.db",
        port=ports[0],
        frames_port=ports[1],
        site_url=site,
        frames_url=frames,
        certificate=self_signed(folder, now=now) if "https" in site else None,
    )
    with (
        serve(marketplace),
        closing(Backend(folder / "live.db", Rules())) as backend,
        closing(browser.new_context(ignore_https_errors=True)) as context,
    ):
        links, ids = {}, {}
        with backend.transaction() as transaction:
            accounts.add_requester(transaction, "LAB", balance_cents=1000)
            for name in ("ann", "mallory"):
                new = accounts.NewWorker(handle=name, country="DE")
                made = invitations.invite(transaction, new, lifetime_ms=clock.DAY)
                links[name] = f"{site}/worker/sign-in?invitation={made.code}"
                ids[name] = made.worker_id
        question = html_question("<h1>A hostile question</h1>")
        request = {**HIT_TYPE, "Question": question, "LifetimeInSeconds": 3600}
        hit = perform_operation(backend, "LAB", "CreateHIT", request)["HIT"]
        own = httpx.post(
            f"{site.partition('//')[0]}//127.0.0.1:{ports[0]}/worker/sign-in",
            data={"invitation": links["mallory"].partition("=")[2]},
            verify=False,  # noqa: S501 - a certificate of this test's own
        )
        labels = frames.partition("//")[2].rpartition(":")[0].split(".")
        yield Scene(
            site=site,
            links=links,
            ids=ids,
            session=own.headers["set-cookie"].partition(";")[0].partition("=")[2],
            domains=[".".join(labels[n:]) for n in range(len(labels))],
            preview=f"{site}/worker/groups/{hit['HITGroupId']}/preview",
            context=context,
            page=context.new_page(),
        )


def tried(scene: Scene, trick: str) -> str:
    """Let the question do it; who is signed in then."""
    scene.page.goto(scene.preview)
    scene.page.frame_locator("iframe").get_by_role("heading").wait_for()
    scene.page.frames[1].evaluate(AROUND, [trick, scene.known()])
    # Nothing shows that a trick has failed.
    scene.page.wait_for_timeout(PAUSE_MS)
    for other in scene.context.pages:
        if other is not scene.page:
            other.close()
    return scene.who()


@pytest.mark.full
@pytest.mark.parametrize("place", PLACES)
def test_no_trick_of_a_question_exchanges_the_session(
    tmp_path: Path, browser: Browser, place: str
) -> None:
    """Where the hosts are such that serving does not warn of them, cookies included."""
    with scene(tmp_path, browser, place) as set_up:
        sign_in(set_up.page, set_up.links["ann"])
        assert set_up.who() == "ann"
        for name, trick in TRICKS.items():
            assert tried(set_up, trick) == "ann", name
        for name, trick in COOKIES.items():
            if place == "plain" and name == "cookies without end":
                continue  # of this, serving warns
            assert tried(set_up, trick) in ("ann", ""), name
            set_up.context.clear_cookies()
            sign_in(set_up.page, set_up.links["ann"])


def test_a_person_is_told_whose_session_ends(tmp_path: Path, browser: Browser) -> None:
    """Somebody else's link is a question, with both names, that can be declined."""
    with scene(tmp_path, browser, "star") as set_up:
        page = set_up.page
        page.goto(set_up.links["ann"])
        assert Axe().run(page).violations_count == 0
        page.get_by_role("button", name="Sign in as ann").click()
        page.wait_for_url("**/worker/hits")
        page.goto(set_up.links["ann"])
        page.wait_for_url("**/worker/hits")

        page.goto(set_up.links["mallory"])
        expect(page.get_by_text("You are signed in as ann")).to_be_visible()
        report = Axe().run(page)
        assert report.violations_count == 0, report.generate_report()
        change = page.get_by_role("button", name="Sign in as mallory")
        change.click()  # the box says what it does, and is not ticked
        assert "/worker/sign-in" in page.url
        page.get_by_role("link", name="Stay signed in as ann").click()
        page.wait_for_url("**/worker/hits")
        assert set_up.who() == "ann"

        page.goto(set_up.links["mallory"])
        page.get_by_role("checkbox", name="Sign out ann here").check()
        change.click()
        page.wait_for_url("**/worker/hits")
        assert set_up.who() == "mallory"
