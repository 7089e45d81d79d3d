"""Questions as old templates ask them, and as an attacker would."""

from html import escape

from tests.marketplace.market import SCHEMAS


def html_question(body: str, *, height: int = 0) -> str:
    """An HTMLQuestion around the body of a page."""
    page = (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>A HIT</title></head><body><main>{body}</main></body></html>"
    )
    return (
        f'<HTMLQuestion xmlns="{SCHEMAS}/2011-11-11/HTMLQuestion.xsd">'
        f"<HTMLContent><![CDATA[{page}]]></HTMLContent>"
        f"<FrameHeight>{height}</FrameHeight></HTMLQuestion>"
    )


def external_question(address: str) -> str:
    """An ExternalQuestion at an address."""
    return (
        f'<ExternalQuestion xmlns="{SCHEMAS}/2006-07-14/ExternalQuestion.xsd">'
        f"<ExternalURL>{escape(address)}</ExternalURL>"
        "<FrameHeight>500</FrameHeight></ExternalQuestion>"
    )


def form(*, method: str = "post", extra: str = "") -> str:
    """A form that fills in what the page's address says, without any library."""
    return f"""<h1>Caption</h1><form method="{method}"><input type="hidden"
name="assignmentId"><label>Caption <textarea name="caption"></textarea></label>{extra}
<button>Send</button></form><script>
const given = new URLSearchParams(location.search);
const form = document.forms[0];
form.elements.assignmentId.value = given.get("assignmentId");
form.action = given.get("turkSubmitTo") + "/mturk/externalSubmit";
</script>"""
