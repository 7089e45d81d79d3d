"""Pages on which a person plays a participant in a browser.

They do what the addresses under `/emulator/participants` do, so that a researcher can
look at their own study as a participant meets it: from the list through the work to the
code, by links alone. A cookie says which participant the browser is.
"""

import html
from typing import Any

from piecework.rehearsal.prolific import taking
from piecework.rehearsal.prolific.call import Call
from piecework.rehearsal.prolific.participants import row_of

COOKIE = "prolific_participant"
_MOST_SHOWN = 50
_HUNDRED = 100


def people(call: Call) -> str:
    """The first participants, to choose one."""
    rows = call.state.rows(
        "SELECT id, age FROM participant ORDER BY number LIMIT ?", (_MOST_SHOWN,)
    )
    lines = [
        f"<li><a href='/emulator/site/{row['id']}'>{row['id']}</a>, aged {row['age']}"
        for row in rows
    ]
    return _page("Who are you?", f"<ul>{''.join(lines)}</ul>")


def studies(call: Call) -> str:
    """What is open to a participant, and what they have done."""
    participant_id = row_of(call.state, call.path["participant_id"])["id"]
    offered = [
        _offer(participant_id, study) for study in taking.list_open(call)["results"]
    ]
    mine = [
        f"<li>{submission['id']}: {submission['status']}, "
        f"paid {_money(submission['reward_paid'])}"
        f"{_ways_on(participant_id, submission)}"
        for submission in taking.list_mine(call)["results"]
    ]
    return _page(
        "Studies",
        f"{''.join(offered) or '<p>No study is open to you now.</p>'}"
        f"<h2>Your submissions</h2><ul>{''.join(mine)}</ul>",
    )


def take(call: Call) -> str:
    """Take a place; the address of the work, to which the browser is sent."""
    return str(taking.take(call)["url"])


def give_back(call: Call) -> str:
    """Return a submission; the address of the participant's page."""
    taking.give_back(call)
    return f"/emulator/site/{call.path['participant_id']}"


def ended(status: str) -> str:
    """After the code."""
    return _page("Submission sent", f"<p>Its status is {html.escape(status)}.</p>")


def _offer(participant_id: str, study: dict[str, Any]) -> str:
    # The description is a researcher's HTML; here it is shown as text.
    return (
        f"<section><h2>{html.escape(study['name'])}</h2>"
        f"<p>{html.escape(study['description'])}</p>"
        f"<p>{_money(study['reward'])} {study['currency']} for about "
        f"{study['estimated_completion_time']} minutes</p>"
        f"<form method=post action='/emulator/site/{participant_id}/{study['id']}'>"
        "<button>Take part</button></form></section>"
    )


def _ways_on(participant_id: str, own: dict[str, Any]) -> str:
    """Of what is at work: back to it, or give it up."""
    if own["url"] is None:
        return ""
    giving_back = f"/emulator/site/{participant_id}/return/{own['id']}"
    return (
        f"; <a href='{html.escape(own['url'])}' rel=noreferrer>go on</a>"
        f"<form method=post action='{giving_back}'><button>Return</button></form>"
    )


def _money(minor: int) -> str:
    return f"{minor / _HUNDRED:.2f}"


def _page(title: str, body: str) -> str:
    return (
        "<!doctype html><html lang=en><meta charset=utf-8>"
        "<meta name=viewport content='width=device-width'>"
        f"<title>{title}</title><main><h1>{title}</h1>{body}</main></html>"
    )
