"""Scripted workers for a crash test: who takes the next HIT, and what they submit."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta

import httpx

from piecework.simulation.crowd.browser import Page, read_page

GOOD = (
    "A {what} lies on a wooden table beside an open window",
    "Beside the open window a {what} rests on a table of wood",
    "Somebody holds a {what} up towards the light of a lamp",
    "On the floor of a kitchen stands a {what} near the stove",
    "In a cardboard box there is a {what} wrapped in paper",
)
SCRIPT = (
    ("ann", "good"),
    ("bob", "shout"),
    ("cat", "good"),
    ("dan", "paste"),
    ("ann", "good"),
    ("cat", "good"),
    ("eve", "good"),
    ("fay", "good"),
)
"""bob's capitals are dropped and bob is excluded; dan is rejected and excluded."""

WITH_A_HALF = (*SCRIPT[:4], ("ann", "half"), ("cat", "good"), ("eve", "good"))
"""ann shouts once in the second batch, too. That HIT is extended for dan's assignment,
which cat takes, and a separate HIT, kept apart from it, asks eve for ann's answer."""


@dataclass(slots=True)
class People:
    """The workers of one test; each `work` continues the script."""

    endpoint: str
    script: tuple[tuple[str, str], ...] = field(default_factory=lambda: tuple(SCRIPT))
    page: int = 0
    minutes: tuple[float, ...] = ()
    """How long each page of the script takes; no time beyond the last that is named."""
    meanwhile: Callable[[], object] = bool
    fill_in: Callable[[str, Page, str], dict[str, str]] = field(default_factory=lambda: _form)
    """What is sent, from the assignment's id, the page, and the manner."""

    def work(self, at_most: int = 1000) -> int:
        """Let the script's workers take HITs while any is offered; return how many."""
        done = 0
        while self.page < len(self.script) and done < at_most:
            handle, manner = self.script[self.page]
            if not self._take_one(handle, manner):
                break
            self.page += 1
            done += 1
        return done

    def sign_in(self, handle: str, client: httpx.Client) -> None:
        """Sign in as a worker whom the rehearsal creates at once."""
        person = client.post(
            "/rehearsal/workers",
            json={"handle": handle, "country": "US", "hits_approved": 900, "hits_submitted": 910},
        ).json()
        client.cookies.set("worker_session", person["token"])

    def next_assignment(self, client: httpx.Client) -> dict[str, str] | None:
        """Accept a HIT; None if none is offered."""
        groups = client.get("/worker/hits").json()["hit_groups"]
        open_to_me = [group for group in groups if group["may_accept"]]
        if not open_to_me:
            return None
        accepted = client.post(f"/worker/groups/{open_to_me[0]['hit_group_id']}/accept")
        accepted.raise_for_status()
        return dict(accepted.json())

    def _take_one(self, handle: str, manner: str) -> bool:
        with httpx.Client(base_url=self.endpoint, timeout=30) as client:
            self.sign_in(handle, client)
            client.headers["Accept"] = "application/json"
            assignment = self.next_assignment(client)
            if assignment is None:
                return False
            self._let_pass(client)
            page = read_page(client.get(assignment["frame_url"]).text)
            form = self.fill_in(assignment["assignment_id"], page, manner)
            # Something happens while the worker writes.
            self.meanwhile()
            sent = client.post("/mturk/externalSubmit", data=form)
            sent.raise_for_status()
        return True

    def _let_pass(self, client: httpx.Client) -> None:
        """Move the marketplace's clock while a worker works."""
        if self.page < len(self.minutes):
            now = datetime.fromisoformat(client.get("/rehearsal/clock").json()["now"])
            later = now + timedelta(minutes=self.minutes[self.page])
            moved = client.put("/rehearsal/clock", json={"now": later.isoformat()})
            moved.raise_for_status()


def _form(assignment_id: str, page: Page, manner: str) -> dict[str, str]:
    form = {**page.fixed, "assignmentId": assignment_id}
    for position in range(1, len(page.item_ids) + 1):
        caption = GOOD[position - 1].format(what=f"{assignment_id[:12].lower()} cup")
        if manner == "shout" or (manner == "half" and position == 1):
            caption = caption.upper()
        if manner == "paste":
            caption = "A picture that somebody took of a thing somewhere"
        form |= {
            f"caption.{position}": caption,
            f"has_text.{position}": "no",
            f"flaws.{position}": "none",
            f"flaw_other.{position}": "",
            f"shown_ms.{position}": "30000",
            f"pastes.{position}": "0",
            f"keystrokes.{position}": "60",
            f"focus_losses.{position}": "0",
        }
    return form
