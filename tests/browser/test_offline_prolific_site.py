"""A person plays a participant in a real browser, by links and buttons alone."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from playwright.sync_api import Browser

from offline_markets.prolific.options import Options
from offline_markets.prolific.server import serve
from offline_markets_tests.prolific.people import CODE, START, Researcher

pytestmark = pytest.mark.browser


@pytest.fixture
def researcher() -> Iterator[Researcher]:
    """A researcher on an emulator in memory."""
    with serve(Options(start=START)) as url, Researcher(url) as researcher:
        yield researcher


@contextmanager
def _work(page: str, seen: list[str]) -> Iterator[str]:
    """A server with the work of a study: one page, at another origin."""

    class Work(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            seen.append(self.path)
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(page.encode())

        def log_message(self, *_arguments: object) -> None:
            """Nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Work) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def test_a_person_goes_from_the_list_to_the_code(researcher: Researcher, browser: Browser) -> None:
    """The work's page gets the ids of its address, and leads back with the code."""
    someone, seen = researcher.participant(), list[str]()
    back = f"{researcher.url}/submissions/complete?cc={CODE}"
    with _work(f"<title>w</title><a href='{back}'>Done</a>", seen) as address:
        study_id = researcher.study(
            name="Describe <b>pictures</b>",
            external_study_url=address + "/work?who={{%PROLIFIC_PID%}}",
        )
        researcher.status(study_id)
        page = browser.new_page()
        try:
            page.goto(f"{researcher.url}/emulator/site")
            page.click(f"text={someone.participant_id}")
            assert page.inner_text("h2 >> nth=0") == "Describe <b>pictures</b>"
            assert "1.50 GBP" in page.inner_text("section")
            page.click("text=Take part")
            # Who closed the page finds the way back among the own submissions.
            page.goto(f"{researcher.url}/emulator/site/{someone.participant_id}")
            page.get_by_role("link", name="continue").click()
            page.click("text=Done")
            assert "AWAITING REVIEW" in page.inner_text("main")
            page.goto(f"{researcher.url}/emulator/site/{someone.participant_id}")
            assert "AWAITING REVIEW, paid 0.00" in page.inner_text("li")
        finally:
            page.close()
    assert f"/work?who={someone.participant_id}" in seen


def test_a_person_returns_what_is_not_finished(researcher: Researcher, browser: Browser) -> None:
    """As a requester's page asks whoever stops to do; nothing is left to go on with."""
    someone = researcher.participant()
    with _work("<title>w</title>", []) as address:
        study_id = researcher.study(external_study_url=f"{address}/work")
        researcher.status(study_id)
        page = browser.new_page()
        try:
            page.goto(f"{researcher.url}/emulator/site/{someone.participant_id}")
            page.click("text=Take part")
            page.goto(f"{researcher.url}/emulator/site/{someone.participant_id}")
            page.click("text=Return")
            assert page.inner_text("li").endswith("RETURNED, paid 0.00")
        finally:
            page.close()


def test_the_work_s_page_cannot_play_with_the_rehearsal(
    researcher: Researcher, browser: Browser
) -> None:
    """What it sends to the controls is refused, though the browser reaches them."""
    with _work("<title>w</title>", []) as address:
        page = browser.new_page()
        try:
            page.goto(address)
            with page.expect_response("**/emulator/participants") as answered:
                page.evaluate(
                    "url => { fetch(url, {method: 'POST', mode: 'no-cors'}).catch(() => 0) }",
                    f"{researcher.url}/emulator/participants",
                )
            assert answered.value.status == 403
        finally:
            page.close()
    assert researcher.control("GET", "/participants")["results"] == []
