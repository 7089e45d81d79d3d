"""Pages on which a person acts as a participant in a browser.

They do the same as the addresses under `/emulator/participants`. A researcher can
follow links through their own study as a participant sees it: from the list to the work
and the code. A cookie identifies the browser's participant.
"""

import html
from typing import Any

from offline_markets.core.site_page import page
from offline_markets.prolific import taking
from offline_markets.prolific.call import Call
from offline_markets.prolific.participants import row_of

COOKIE = "prolific_participant"
_MOST_SHOWN = 50
_HUNDRED = 100


def people(call: Call) -> str:
    """List the first participants, to choose one."""
    rows = call.state.rows(
        "SELECT id, age FROM participant ORDER BY number LIMIT ?", (_MOST_SHOWN,)
    )
    lines = [
        f"<li><a href='/emulator/site/{row['id']}'>{row['id']}</a>, aged {row['age']}"
        for row in rows
    ]
    return page("Who are you?", f"<ul>{''.join(lines)}</ul>")


def studies(call: Call) -> str:
    """Show the studies open to a participant, and their submissions."""
    participant_id = row_of(call.state, call.path["participant_id"])["id"]
    offered = [_offer(participant_id, study) for study in taking.list_open(call)["results"]]
    mine = [
        f"<li>{submission['id']}: {submission['status']}, "
        f"paid {_money(submission['reward_paid'])}"
        f"{_ways_on(participant_id, submission)}"
        for submission in taking.list_mine(call)["results"]
    ]
    return page(
        "Studies",
        f"{''.join(offered) or '<p>No study is open to you now.</p>'}"
        f"<h2>Your submissions</h2><ul>{''.join(mine)}</ul>",
    )


def take(call: Call) -> str:
    """Take a place; return the address of the work, to redirect the browser to."""
    return str(taking.take(call)["url"])


def give_back(call: Call) -> str:
    """Return a submission; redirect to the participant's page."""
    taking.give_back(call)
    return f"/emulator/site/{call.path['participant_id']}"


def ended(status: str) -> str:
    """Render the page shown after the code was entered."""
    return page("Submission sent", f"<p>Its status is {html.escape(status)}.</p>")


def page_without_participant() -> str:
    """Render the page for a browser that has taken no place here."""
    return page(
        "Who are you?",
        "<p>This browser has taken no place of a study here, so the offline Prolific does not know "
        "whose submission to end. <a href='/emulator/site'>Choose a participant</a>, and take the "
        "place there.</p>",
    )


def _offer(participant_id: str, study: dict[str, Any]) -> str:
    # The description is a researcher's HTML, shown here as text.
    return (
        f"<section><h2>{html.escape(study['name'])}</h2>"
        f"<p>{html.escape(study['description'])}</p>"
        f"<p>{_money(study['reward'])} {study['currency']} for about "
        f"{study['estimated_completion_time']} minutes</p>"
        f"<form method=post action='/emulator/site/{participant_id}/{study['id']}'>"
        "<button>Take part</button></form></section>"
    )


def _ways_on(participant_id: str, own: dict[str, Any]) -> str:
    """Return links to continue or return an active submission."""
    if own["url"] is None:
        return ""
    giving_back = f"/emulator/site/{participant_id}/return/{own['id']}"
    return (
        f"; <a href='{html.escape(own['url'])}' rel=noreferrer>continue</a><form "
        f"method=post action='{giving_back}'><button>Return</button></form>"
    )


def _money(minor: int) -> str:
    return f"{minor / _HUNDRED:.2f}"
