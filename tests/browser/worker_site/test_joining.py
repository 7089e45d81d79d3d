"""Joining by an open link in a real browser, and the pages before the first HIT."""

from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from piecework.marketplace.http.server import Marketplace, serve
from piecework.marketplace.requester.api import perform_operation
from piecework.marketplace.state import accounts, clock
from piecework.marketplace.state.backend import Backend, Rules
from piecework.marketplace.workers import invitations, open_links
from piecework.marketplace.workers.open_links import NewLink
from tests.browser.pages import sign_in, violations
from tests.browser.worker_site.questions import form, html_question
from tests.conftest import in_full
from tests.marketplace.market import HIT_TYPE

pytestmark = pytest.mark.browser

CONSENT = (
    "You describe pictures for a study. It is published without your name.",
    "You may stop at any time; what you sent until then is kept.",
)
NewPage = Callable[..., Page]


@pytest.fixture
def backend(tmp_path: Path) -> Iterator[Backend]:
    """A live marketplace with a HIT for everybody."""
    with closing(Backend(tmp_path / "live.db", Rules())) as backend:
        with backend.transaction() as transaction:
            accounts.add_requester(transaction, "LAB", balance_cents=1000, name="Vision lab")
        question = html_question(form(method="post"))
        hit = {**HIT_TYPE, "Question": question, "LifetimeInSeconds": 3600}
        perform_operation(backend, "LAB", "CreateHIT", {**hit, "MaxAssignments": 3})
        yield backend


@pytest.fixture
def site(backend: Backend) -> Iterator[str]:
    """Where it is."""
    with serve(Marketplace(backend.database, consent=CONSENT)) as running:
        yield running.endpoint_url


@pytest.fixture
def window(browser: Browser) -> Iterator[NewPage]:
    """Opens a browser profile that nobody used before."""
    contexts = []

    def opened(width: int = 390) -> Page:
        context = browser.new_context(viewport={"width": width, "height": 844})
        context.set_default_timeout(15_000)
        contexts.append(context)
        return context.new_page()

    yield opened
    for context in contexts:
        context.close()


def link_of(backend: Backend, site: str) -> str:
    """An open link's address."""
    new = NewLink(name="Class 7b", places=3, country="DE")
    with backend.transaction() as transaction:
        code = open_links.code_of(transaction, open_links.make(transaction, new))
    return f"{site}/worker/join?link={code}"


@pytest.mark.parametrize("width", [390, *in_full(1280)])
def test_a_pupil_joins_agrees_works_and_gets_the_code(
    backend: Backend, site: str, window: NewPage, width: int
) -> None:
    """From the link to the completion code, with a problem reported on the way."""
    page = window(width)
    page.goto(link_of(backend, site))
    # Who asks, for what and at what pay, before the page asks for a name.
    offered, name = page.locator("main li").first, page.get_by_label("Your name")
    expect(offered).to_contain_text("Vision lab")
    expect(offered).to_contain_text("$0.55")
    assert offered.bounding_box()["y"] < name.bounding_box()["y"]  # type: ignore[index]
    assert violations(page) == []
    page.get_by_label("Your name").fill("Ann")
    page.get_by_role("button", name="Join").click()
    expect(page.get_by_role("heading", name="You are in, Ann")).to_be_visible()
    assert violations(page) == []
    own = page.locator(".own-link").inner_text()
    page.get_by_role("link", name="See the HITs").click()
    page.get_by_role("button", name="Accept a HIT").click()
    expect(page.get_by_text(CONSENT[1])).to_be_visible()
    assert violations(page) == []
    # A tick outlives a reload and a fault, and is no consent before it is sent.
    page.get_by_label("I have read this").check()
    page.reload()
    expect(page.get_by_label("I have read this")).to_be_checked()
    page.get_by_label("I have read this").uncheck()
    page.locator("form[data-kept]").evaluate("form => { form.noValidate = true; }")
    page.get_by_role("button", name="Continue").click()
    expect(page.get_by_role("alert")).to_contain_text("tick the box if you agree")
    assert violations(page) == []
    page.get_by_label("I have read this").check()
    page.get_by_role("button", name="Continue").click()
    page.get_by_role("button", name="Accept this kind of HIT").click()
    hit = page.frame_locator("iframe")
    hit.get_by_label("Caption").fill("A red bird")
    page.get_by_text("Report a problem", exact=True).click()
    page.get_by_label("What is wrong").fill("The picture is black.")
    assert violations(page) == []
    page.get_by_role("button", name="Send to the requester").click()
    expect(page.get_by_text("saved it for the requester")).to_be_visible()
    # Nothing that was typed is lost by that.
    expect(hit.get_by_label("Caption")).to_have_value("A red bird")
    hit.get_by_role("button", name="Send").click()
    expect(page.get_by_text("Your completion code:")).to_be_visible()
    assert violations(page) == []
    elsewhere = window(width)
    sign_in(elsewhere, own)
    elsewhere.goto(f"{site}/worker/history")
    expect(elsewhere.get_by_text("Your completion code:")).to_be_visible()
    assert violations(elsewhere) == []


def test_no_page_makes_a_browser_join_or_exchanges_a_session(
    backend: Backend, site: str, window: NewPage, tmp_path: Path
) -> None:
    """A stranger's page loads the link, frames it and sends its form; eve stays eve."""
    link = link_of(backend, site)
    code = link.partition("link=")[2]
    with backend.transaction() as transaction:
        new = accounts.NewWorker(handle="eve", country="DE")
        invitation = invitations.invite(transaction, new, lifetime_ms=clock.DAY)
    page = window()
    sign_in(page, f"{site}/worker/sign-in?invitation={invitation.code}")
    trap = tmp_path / "trap.html"
    trap.write_text(
        f'<img src="{link}"><iframe src="{link}"></iframe><iframe name="hole"></iframe>'
        f'<form target="hole" method="post" action="{site}/worker/join">'
        f'<input name="link" value="{code}"><input name="name" value="Mallory">'
        f'<input name="instead_of" value="{invitation.worker_id}"></form>'
        "<script>document.forms[0].submit();</script>"
    )
    page.goto(trap.as_uri())
    page.wait_for_load_state("networkidle")
    other = page.context.new_page()
    other.goto(trap.as_uri())
    other.evaluate("document.forms[0].target = '_top'; document.forms[0].submit()")
    expect(other.get_by_text("This form came from another site.")).to_be_visible()
    page.goto(f"{site}/worker/history")
    expect(page.get_by_text(invitation.worker_id)).to_be_visible()
    with backend.transaction() as transaction:
        handles = [row["handle"] for row in invitations.list_invitations(transaction)]
        (made,) = open_links.listed_links(transaction)
    assert (handles, made["taken"]) == (["eve"], 0)
    page.goto(link)
    expect(page.get_by_text("You are signed in as")).to_be_visible()
    assert violations(page) == []


def test_a_link_names_no_work_that_is_hidden_from_strangers(
    backend: Backend, site: str, window: NewPage
) -> None:
    """A HIT that only holders of a qualification may discover is in no stranger's page."""
    made = perform_operation(
        backend,
        "LAB",
        "CreateQualificationType",
        {"Name": "known", "Description": "known people", "QualificationTypeStatus": "Active"},
    )
    need = {
        "QualificationTypeId": made["QualificationType"]["QualificationTypeId"],
        "Comparator": "Exists",
        "ActionsGuarded": "DiscoverPreviewAndAccept",
    }
    hit = {**HIT_TYPE, "Title": "Secret work", "QualificationRequirements": [need]}
    question = html_question(form(method="post"))
    perform_operation(
        backend, "LAB", "CreateHIT", {**hit, "Question": question, "LifetimeInSeconds": 3600}
    )
    page = window()
    page.goto(link_of(backend, site))
    expect(page.get_by_text("Describe a picture")).to_be_visible()
    expect(page.get_by_text("Secret work")).to_have_count(0)
