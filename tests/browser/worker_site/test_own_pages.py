"""HTML of somebody's own, done in a browser on the marketplace, and typed."""

import json
import re
from collections.abc import Callable
from html import escape, unescape
from pathlib import Path
from urllib.parse import unquote

import pytest
from playwright.sync_api import FrameLocator, Page, Route, expect

from piecework.domain.assignment import fields_of
from piecework.domain.field import StatedField
from piecework.domain.hit import Item
from piecework.domain.ids import AssignmentId, HitTypeId, ItemId
from piecework.domain.task import Task
from piecework.hit_templates.answers import read_answers
from piecework.hit_templates.own_html.fields_of_controls import received
from piecework.hit_templates.own_html.page import parts_of_page
from piecework.hit_templates.own_html.task import with_shown_columns
from piecework.hit_templates.render import render_hit
from piecework.hit_templates.rules import CHARACTERS, plain
from piecework.platforms.mturk import MTurk
from piecework.platforms.wire import SharedQuestion, html_question, page_question
from tests.browser.pages import check
from tests.browser.worker_site.hands import HIGH, SVG, TEXT, WIDE, Hand
from tests.conftest import in_full
from tests.hit_templates.own_html import LIBRARIES, SHARED, needs_shared, task_of
from tests.marketplace.market import Market, post

pytestmark = pytest.mark.browser
Open = Callable[..., Page]
Do = Callable[[FrameLocator], object]


def posted(market: Market, open_site: Open, task: Task, item: Item) -> tuple[Page, str]:
    """The work page of a HIT that shows the item, and the HIT's id."""
    ann = market.worker()
    question = html_question(render_hit(task, [item]))
    made = post(market.requester("LAB"), Question=question)
    assignment = ann.accept(made["HITGroupId"]).json()["assignment_id"]
    page = open_site(ann.token, f"/worker/assignments/{assignment}")
    return page, made["HITId"]


def submitted(market: Market, page: Page, hit: str, task: Task, item: Item) -> object:
    """The values of the one answer, which has no problem and a time."""
    page.wait_for_url("**/thanks")
    client = market.requester("LAB")
    (work,) = client.list_assignments_for_hit(HITId=hit)["Assignments"]
    (answer,) = read_answers(task, AssignmentId("A"), [item.item_id], fields_of(work["Answer"]))
    assert answer.problems == ()
    assert answer.shown_ms is not None
    assert answer.shown_ms > 0
    return dict(answer.values)


def item_of(**columns: str) -> Item:
    """An item with these columns."""
    return Item(item_id=ItemId("row_1"), columns={"item_id": "row_1", **columns})


PLAIN = """<h1>${what}</h1>
<p><label>Word <input name="word" required></label></p>
<p><label><input type="radio" name="good" value="yes"> Yes</label>
<label><input type="radio" name="good" value="no"> No</label></p>
<p><label><input type="checkbox" name="tags" value="a"> A</label>
<label><input type="checkbox" name="tags" value="b"> B</label></p>
<p><label>Size <select name="size"><option value="">?</option><option>big</option>
</select></label></p>
<p><label>How many <input type="number" name="n" max="9"></label></p>
<input type="hidden" name="seen" value="${what}">"""


def test_a_plain_layout_is_typed(market: Market, open_site: Open, tmp_path: Path) -> None:
    """No form, no script: MTurk's site gave it both, and so does this."""
    task, item = task_of(tmp_path, PLAIN), item_of(what="<b>Birds</b> & more")
    page, hit = posted(market, open_site, task, item)
    frame = page.frame_locator("iframe")
    expect(frame.get_by_role("heading")).to_have_text("Birds & more")
    frame.get_by_role("button", name="Submit").click()
    expect(frame.get_by_label("Word")).to_be_focused()  # it is required
    frame.get_by_label("Word").type("blue")
    check(frame.get_by_label("No"))
    check(frame.get_by_label("A", exact=True))
    check(frame.get_by_label("B", exact=True))
    frame.get_by_label("Size").select_option("big")
    frame.get_by_label("How many").fill("7")
    frame.get_by_role("button", name="Submit").click()
    assert submitted(market, page, hit, task, item) == {
        "word": "blue", "good": "no", "tags": ("a", "b"), "size": "big", "n": 7.0,
    }  # fmt: skip


def test_what_the_campaign_wants_answered_is_asked_for(
    market: Market, open_site: Open, tmp_path: Path
) -> None:
    """Where the page lets it be left out, the worker reads so before he submits."""
    html = """<button type="button"
    onclick="document.getElementById('a').value = 'Yes'">
    Yes</button><input type="hidden" name="answer" id="a">"""
    statements = {"answer": StatedField(options=("Yes", "No"), label="Your choice", required=True)}
    task, item = task_of(tmp_path, html, fields=statements), item_of()
    page, hit = posted(market, open_site, task, item)
    frame = page.frame_locator("iframe")
    frame.get_by_role("button", name="Submit").click()
    expect(frame.get_by_role("alert")).to_contain_text("Your choice")
    frame.get_by_role("button", name="Yes").click()
    frame.get_by_role("button", name="Submit").click()
    assert submitted(market, page, hit, task, item) == {"answer": "Yes"}


FILLS = """<form id="f"><input name="word"><input type="hidden" name="seen" id="s">
<button%s>Send</button></form><script>const form = document.getElementById("f");
const fill = () => { document.getElementById("s").value = "1"; };%s</script>"""
SENDERS = {
    "a listener": ("", 'form.addEventListener("submit", fill);'),
    "a late listener": ("", 'window.onload = () => window.addEventListener("submit", fill);'),
    **{
        f"listeners of {node} that stop the event and fill in, capturing: {is_capturing}": (
            "",
            f"""const stop = (event) => event.stopPropagation();
            {node}.addEventListener("submit", stop, {is_capturing});
            {node}.addEventListener("submit", fill, {is_capturing});""",
        )
        for node in ("window", "document", "form")
        for is_capturing in ("true", "false")
    },
    "a script that submits what a listener stops on its way": (
        ' type="button" onclick="form.requestSubmit()"',
        """window.addEventListener("submit", (event) => event.stopPropagation(), true);
        window.addEventListener("submit", fill, true);""",
    ),
    "a listener that stops the event on its way and clicks elsewhere": (
        "",
        """window.addEventListener("submit", (event) => {
        event.stopPropagation(); document.body.click(); fill(); }, true);""",
    ),
    "a listener that is renewed with each click": (
        """ onclick="form.elements.seen.value = ''; form.removeEventListener('submit', fill);
        form.addEventListener('submit', fill)" """,
        'form.addEventListener("submit", (event) => event.stopPropagation());',
    ),
    "a listener that stops the event and fills in when it returns, as in React": (
        "",
        """document.body.addEventListener("submit", (event) => {
        event.stopPropagation(); queueMicrotask(fill); });""",
    ),
    "a listener that stops all others": (
        "",
        """form.addEventListener("submit", (event) => {
        event.stopImmediatePropagation(); fill(); });""",
    ),
    "a listener that sends later itself": (
        "",
        "form.onsubmit = () => { fill(); setTimeout(() => form.submit(), 9); return false; };",
    ),
    "a listener that returns false in jQuery": (
        "",
        """form.addEventListener("submit", (event) => {
        event.preventDefault(); event.stopPropagation(); fill(); form.submit(); });""",
    ),
    "a listener that switches off what is empty": (
        "",
        """form.onsubmit = () => { fill(); [...form.elements].forEach((control) => {
        control.disabled = !control.value; }); };""",
    ),
    "a hidden form": (
        "",
        """form.hidden = true;
        document.body.insertAdjacentHTML("beforeend", "<input id='t'><button id='b'>Send");
        document.getElementById("b").onclick = () => { fill();
          form.elements.word.value = document.getElementById("t").value; form.submit(); };""",
    ),
    "a button that sends": (
        ' type="button" onclick="fill(); form.submit(); this.disabled = true"',
        "",
    ),
}


@pytest.mark.parametrize("kind", SENDERS)
def test_what_the_campaign_requires_is_looked_for_after_the_page_s_script(
    market: Market, open_site: Open, tmp_path: Path, kind: str
) -> None:
    """However it sends: what it fills in is there, and what lacks can be filled in."""
    required = {name: StatedField(label=name, required=True) for name in ("word", "seen")}
    task, item = task_of(tmp_path, FILLS % SENDERS[kind], fields=required), item_of()
    page, hit = posted(market, open_site, task, item)
    frame = page.frame_locator("iframe")
    frame.get_by_role("button", name="Send").click()
    alert = frame.get_by_role("alert")
    expect(alert).to_contain_text("word")
    expect(alert).not_to_contain_text("seen")
    frame.locator("input:visible").fill(" \u3000\u200b")
    frame.get_by_role("button", name="Send").click()
    expect(alert).to_contain_text("word")
    frame.locator("input:visible").fill("x")
    frame.get_by_role("button", name="Send").click()
    assert submitted(market, page, hit, task, item) == {"word": "x", "seen": "1"}


def test_the_return_key_sends_no_form_that_lacks_an_answer(
    market: Market, open_site: Open, tmp_path: Path
) -> None:
    """Also without a button to press, and with a listener that stops the event at once."""
    required = {name: StatedField(label=name, required=True) for name in ("word", "seen")}
    _, script = SENDERS["listeners of window that stop the event and fill in, capturing: true"]
    task = task_of(tmp_path, FILLS % (" type=button", script), fields=required)
    item = item_of()
    page, hit = posted(market, open_site, task, item)
    frame = page.frame_locator("iframe")
    frame.locator("input:visible").press("Enter")
    expect(frame.get_by_role("alert")).to_contain_text("word")
    expect(frame.get_by_role("alert")).not_to_contain_text("seen")
    frame.locator("input:visible").fill("x")
    frame.locator("input:visible").press("Enter")
    assert submitted(market, page, hit, task, item) == {"word": "x", "seen": "1"}


def test_page_and_python_agree_on_what_is_empty(
    market: Market, open_site: Open, tmp_path: Path
) -> None:
    """Each sign alone, from each end of each class of signs: of a form and of a crowd form."""
    required = {"word": StatedField(label="word", required=True)}
    task, item = task_of(tmp_path, "<input name=word>", fields=required), item_of()
    page, _ = posted(market, open_site, task, item)
    page.frame_locator("iframe").get_by_role("button", name="Submit").wait_for()
    signs = {sign for inside in CHARACTERS.values() for sign in inside if sign.isprintable()}
    blank = {sign for name in ("spaces", "invisible") for sign in CHARACTERS[name]} - {"-"}
    texts = ["", *sorted(signs | blank), *(f" {sign}\n" for sign in sorted(blank)), "\x12", "\x7f."]
    lacking = page.frames[1].evaluate(
        """(texts) => texts.map((word) =>
          window.pieceworkLacks(document.querySelector("form"), { word }))""",
        texts,
    )
    assert lacking == [plain(text) == "" for text in texts]
    assert lacking.count(True) > len(blank)


@pytest.mark.parametrize(
    ("html", "name", "values"),
    [
        (
            "<form><button name=side value=left>L</button><button name=side value=right>Send",
            "side",
            {"side": "right"},
        ),
        (
            "<input name=a value=1><input type=hidden name=version value=7>",
            "*",
            {"a": "1", "rest": '{"version": "7"}'},
        ),
        (
            "<form novalidate><input name=a required><input name=b value=1><button>Send</button>",
            "b",
            {"a": "", "b": "1"},
        ),
    ],
)
def test_what_no_input_holds_stops_no_form(
    market: Market, open_site: Open, tmp_path: Path, html: str, name: str, values: object
) -> None:
    """The button pressed is an answer; what remains of a form is not asked for by itself."""
    required = {name: StatedField(kind="text" if name == "*" else None, required=True)}
    task, item = task_of(tmp_path, html, fields=required), item_of()
    page, hit = posted(market, open_site, task, item)
    frame = page.frame_locator("iframe")
    frame.get_by_role("button", name=re.compile("Send|Submit")).click()
    assert submitted(market, page, hit, task, item) == values


def test_a_preview_cannot_be_submitted(market: Market, open_site: Open, tmp_path: Path) -> None:
    """Its button is switched off until the HIT is accepted."""
    task, item = task_of(tmp_path, PLAIN), item_of(what="Birds")
    question = html_question(render_hit(task, [item]))
    made = post(market.requester("LAB"), Question=question)
    ann = market.worker()
    page = open_site(ann.token, f"/worker/groups/{made['HITGroupId']}/preview")
    button = page.frame_locator("iframe").get_by_role("button", name="Submit")
    expect(button).to_be_disabled()


def test_a_page_loads_from_no_host_that_was_not_allowed(
    market: Market, open_site: Open, tmp_path: Path
) -> None:
    """Not even by a script of its own; what the campaign allows is loaded."""
    html = """<input name="word"><script src="https://good.example/a.js"></script>
    <script>const bad = document.createElement("script");
    bad.src = "https://bad.example/b.js"; document.body.append(bad);</script>"""
    task, item = task_of(tmp_path, html, hosts=("good.example",)), item_of()
    asked = []

    def answered(route: Route) -> None:
        asked.append(route.request.url)
        route.fulfill(body="window.isLoaded = true;", content_type="text/javascript")

    page, hit = posted(market, open_site, task, item)
    page.route("https://*.example/**", answered)
    page.reload()
    frame = page.frame_locator("iframe")
    frame.locator("input[name=word]").fill("x")
    frame.get_by_role("button", name="Submit").click()
    assert submitted(market, page, hit, task, item) == {"word": "x"}
    assert asked == ["https://good.example/a.js"]


def test_a_library_that_does_not_come_is_told(
    market: Market, open_site: Open, tmp_path: Path
) -> None:
    """Nothing else shows that a click will not be sent; what works is sent."""
    html = """<p>Click a word</p><input name="word"> <script
    src="http://gone.example/jquery.js"></script><script async
    src="https://counts.example/visits.js"></script>
    <script>$(document).ready(() => $("#buttons").append("<b>"))</script>"""
    hosts = ("gone.example", "counts.example")
    task, item = task_of(tmp_path, html, hosts=hosts), item_of()
    page, hit = posted(market, open_site, task, item)
    page.route("https://*.example/**", lambda route: route.abort())
    page.reload()
    frame = page.frame_locator("iframe")
    expect(frame.get_by_role("alert")).to_contain_text(
        "Part of this page did not load (from gone.example), so it may not work"
    )
    frame.locator("input[name=word]").fill("x")
    frame.get_by_role("button", name="Submit").click()
    assert submitted(market, page, hit, task, item) == {"word": "x"}


LED_BY_ITSELF = """<html><head><script>
function gup(name) {
  var results = new RegExp("[?&]" + name + "=([^&#]*)").exec(window.location.href);
  return results == null ? "" : results[1];
}
function send() {
  var form = document.getElementById("mturk_form");
  document.getElementById("assignmentId").value = gup("assignmentId");
  document.getElementById("clicks").value = '["a"]';
  form.action = %s + "/mturk/externalSubmit";
  form.submit();
}
</script></head><body><form id="mturk_form" method="POST" action="">
<input type="hidden" id="assignmentId" name="assignmentId" value="">
<input type="hidden" id="clicks" name="clicks" value="">
<input type="button" id="submitButton" value="Send" onclick="send()"></form>
<script>if (gup("assignmentId") == "ASSIGNMENT_ID_NOT_AVAILABLE")
  document.getElementById("submitButton").disabled = true;</script></body></html>"""


@pytest.mark.parametrize("host", ['gup("turkSubmitTo")', '"https://www" + ".mturk.com"'])
def test_a_form_that_a_script_leads_last_comes_here(
    market: Market, open_site: Open, tmp_path: Path, host: str
) -> None:
    """Many pages took the address from their own, still encoded, as they sent it."""
    task, item = task_of(tmp_path, LED_BY_ITSELF % host), item_of()
    page, hit = posted(market, open_site, task, item)
    page.frame_locator("iframe").get_by_role("button", name="Send").click()
    assert submitted(market, page, hit, task, item) == {"clicks": '["a"]'}


SUBMIT = '<input type="submit" value="Send">'
NAMES = [
    *("Answer.x", "action", "closest", "elements", "getAttribute", "querySelector", "id", "submit"),
    *("a[0][b]", "my field", " word ", "色", "it's", 'say "x"', "x|y", "item.1", "100"),
]
SENT: dict[str, tuple[str, dict[str, str]]] = {
    "a form with an address": (
        """<form action="edit" method="get" target="_blank" name="mturk_form">
        <input name="a"><input type="submit" value="Send" formaction="/x"></form>""",
        {"a": "1"},
    ),
    "no button": ('<form action="/x"><input name="a" id="key"></form>', {"a": "1"}),
    "several forms": (
        """<form action="/find"><input name="a"></form>
        <form action="/x"><input name="b"><button>Send</button></form>
        <input name="c">""",
        {"a": "1", "b": "1", "c": "1"},
    ),
    "names that two forms have": (
        """<form><textarea name="a"></textarea><input name="b" value="typed" readonly>
        <input type="checkbox" name="c" value="x" checked><select name="d" multiple>
        <option selected>x</select><input type="radio" name="e" value="x" checked>
        <select name="f"><option>x</select><input type="hidden" name="g" value="x"></form>
        <form><textarea name="a"></textarea><input name="b" readonly>
        <input type="checkbox" name="c" value="y" checked><select name="d" multiple>
        <option selected>y</select><input type="radio" name="e" value="y" checked>
        <select name="f"><option value="">?</select><input type="hidden" name="g" value="y">
        <button>Send</button></form>""",
        {"a": "1", "b": "typed", "c": "y|x", "d": "y|x", "e": "y", "f": "x", "g": "y"},
    ),
    "names that two forms have beside the one that is sent": (
        f"""<form><input name="a" value="" readonly><input type="radio" name="b" value="x" checked>
        <input type="hidden" name="c" value="x"><select name="d"><option>x</select>
        <input name="e" value="x" readonly><input name="f" value="" readonly>
        <input name="h[]" value="" readonly><input name="h[]" value="x" readonly>
        <input name="h[]" value="x" readonly></form>
        <form><input name="a" value="x" readonly><input type="radio" name="b" value="y" checked>
        <input type="hidden" name="c" value="y"><select name="d"><option>y</select>
        <input name="e" value="y" readonly><input name="f" value="" readonly></form>
        <form>{SUBMIT}</form>""",
        {"a": "x", "b": "x", "c": "x", "d": "x", "e": "x|y", "f": "", "h[]": "|x|x"},
    ),
    "a text, a number and a box that a script copies into the form that it sends": (
        """<form><textarea name="a"></textarea><input type="number" name="n">
        <input type="checkbox" name="c" value="x" checked></form>
        <form id="f" hidden><textarea name="a"></textarea><input name="n">
        <input type="checkbox" name="c" value="x"></form>
        <input type="button" class="go" value="Send" onclick="const [from, to] = document.forms;
        to.elements.a.value = from.elements.a.value; to.elements.n.value = from.elements.n.value;
        to.elements.c.checked = from.elements.c.checked; to.submit()">""",
        {"a": "1", "n": "1", "c": "x"},
    ),
    "a form in a form": (
        """<form><input name="a"><form action="/x"><input name="b"></form>
        <input name="c"><input type="submit" value="Send">""",
        {"a": "1", "b": "1", "c": "1"},
    ),
    "a script submits": (
        """<form action="/x" id="f"><input name="a"><input name="action"></form>
        <input type="button" value="Send" class="go"
        onclick="document.getElementById('f').submit()">""",
        {"a": "1", "action": "1"},
    ),
    "a script asks for it": (
        """<form action="/x" id="f"><input name="a"></form><a href="#" class="go"
        role="button" onclick="document.getElementById('f').requestSubmit()">Go</a>""",
        {"a": "1"},
    ),
    "a document without a form": (
        """<!doctype html><html><head><title>t</title></head><body class="b">
        <input name="a"></body></html>""",
        {"a": "1"},
    ),
    "a form without an end": (
        """<html><body><form action="https://www.mturk.com/mturk/externalSubmit">
        <input name="a"><input type="submit" value="Send"></body></html>""",
        {"a": "1"},
    ),
    "text in a script that looks like markup": (
        """<html><head><script>var s = "</body><head>";</script></head><body>
        <form><input name="a"><input type="submit"></form></body></html>""",
        {"a": "1"},
    ),
    "several fields for MTurk's id": (
        f"""<form id="f"><input type="hidden" name="assignmentId"><input name="a">{SUBMIT}
        <input type="hidden" name="assignmentId" value="old"></form>
        <input type="hidden" name="assignmentId" form="f">""",
        {"a": "1"},
    ),
    "a field for MTurk's id in a form around rows": (
        f"""<input type="hidden" name="assignmentId"><table><form><tr><td><input name="a">
        <input type="hidden" name="assignmentId">{SUBMIT}</td></tr></form></table>""",
        {"a": "1"},
    ),
    "a field for MTurk's id that is switched off": (
        f"""<form><input name="assignmentId" disabled><input name="a">{SUBMIT}</form>""",
        {"a": "1"},
    ),
    "names that forms and scripts have": (
        "<form>" + "".join(f"<input name='{escape(name)}'>" for name in NAMES) + SUBMIT,
        dict.fromkeys(NAMES, "1") | {"item.1": "1|row_1"},
    ),
    "an old encoding and an old library": (
        f"""<script>Array.from = (list) => list; Object.prototype.each = 1;</script>
        <form accept-charset="ISO-8859-1"><input name="é"><select name="s" multiple>
        <option selected>1</select>{SUBMIT}</form><select name="t"><option>1</select>""",
        {"é": "1", "s": "1", "t": "1"},
    ),
    "a layout that asks MTurk's script": (
        """<input name="a"><input name="b" type="hidden" id="b"><script>
        document.getElementById("b").value = turkGetParam("none", "1");
        document.getElementById("mturk_form").onsubmit = () => true;</script>""",
        {"a": "1", "b": "1"},
    ),
    "what a script no longer requires": (
        f"""<form><input name="a" required onchange="document.getElementById('b').required =
        document.getElementById('c').required = false"><input id="b" name="later" required>
        <input id="c" name="last" required style="display: none">{SUBMIT}</form>""",
        {"a": "1"},
    ),
    "inputs in the markup of a cell": (
        "<table>${rows}</table>",
        {"a": "1", "b[]": "1|1"},
    ),
    "inputs that a script makes of a cell": (
        """<input type="hidden" id="q" value="${quoted}"><form id="f"></form><script>
        const names = [...JSON.parse(document.getElementById("q").value), ...[${list}],
          ...JSON.parse('${escaped}'), ...${single}];
        document.getElementById("f").innerHTML =
          names.map((name) => `<textarea name="${name}"></textarea>`).join("") + "<button>";
        </script>""",
        dict.fromkeys("abcdefg", "1"),
    ),
    "options without values": (
        f"""<form><select name="a"><option>{"long " * 60}
        text&nbsp;</select>{SUBMIT}</form>""",
        {"a": f"{'long ' * 60}text\u00a0"},
    ),
    "controls that share a name": (
        f"""<form><input type="radio" name="a" value="x" checked><input name="a" disabled>
        <input type="radio" name="b" value="x" checked><input type="text" name="b">
        <input type="hidden" name="c" value="0"><input type="checkbox" name="c" value="1">
        <input type="checkbox" name="d" value="true" checked><input type="hidden" name="d"
        value="false"><select name="e"><option>x</select><input name="e">{SUBMIT}</form>""",
        {"a": "x", "b": "x|1", "c": "0", "d": "true|false", "e": "x|1"},
    ),
    "a table that a script writes": (
        """<script>for (var n = 1; n < 3; n++) document.write("<input name='q_" + n + "'>");
        </script><!-- ${gone} --><form ng-app="x"><i>{{ task.name | lowercase }}</i>
        <input type="checkbox" name="c" checked><input type="radio" name="r" ${first}>
        <button name="which" value="left">Left</button></form>""",
        {"q_1": "1", "q_2": "1", "c": "on", "r": "on", "which": "left"},
    ),
    "text that is edited in place": (
        """<div id="t" contenteditable>old</div><input type="hidden" name="edited" id="e">
        <script>document.getElementById("t").innerHTML = "new";
        document.getElementById("mturk_form").addEventListener("submit", () => {
          document.getElementById("e").value = document.getElementById("t").innerHTML;
        });</script>""",
        {"edited": "new"},
    ),
}
CELLS = {
    "rows": "<tr><td onclick='x'><input name='a'><script>document.body.remove()</script><tr><td>"
    + "<textarea name='b[]'></textarea>" * 2,
    "quoted": "[&quot;a&quot;]",
    "list": "'b','c'",
    "escaped": '[\\"d\\", \\"e\\"]',
    "single": "['f', 'g']",
    "first": "checked",
}


FILL = """(html, names) => {
  const all = (selector) => [...html.querySelectorAll(selector)];
  for (const control of all("input, textarea")) {
    const isTyped = !/hidden|submit|radio|checkbox/.test(control.type)
      && !control.disabled && !control.readOnly;
    if (isTyped && names.includes(control.name)) {
      control.value = "1";
      control.dispatchEvent(new Event("change", { bubbles: true }));
    }
  }
  all(".go, [type=submit], form button").pop().click();
}"""
"""Types 1 into each text and presses the last button, on a form that hides its methods too."""


@pytest.mark.parametrize("kind", SENT)
def test_whatever_page_was_made_for_mturk_its_answers_are_stored(
    market: Market, open_site: Open, tmp_path: Path, kind: str
) -> None:
    """Filled in and sent, each value is in the assignment under the page's own name."""
    html, values = SENT[kind]
    item = item_of(**CELLS)
    task = with_shown_columns(task_of(tmp_path, html), [item])
    page, hit = posted(market, open_site, task, item)
    page.frame_locator("iframe").locator("html").evaluate(FILL, list(values))
    page.wait_for_url("**/thanks")
    client = market.requester("LAB")
    (work,) = client.list_assignments_for_hit(HITId=hit)["Assignments"]
    sent = fields_of(work["Answer"])
    assert {name: sent.get(name) for name in values} == values
    (answer,) = read_answers(task, AssignmentId("A"), [item.item_id], sent)
    assert answer.problems == ()


def test_the_return_key_sends_a_form(market: Market, open_site: Open, tmp_path: Path) -> None:
    """Whatever its address is."""
    task, item = task_of(tmp_path, '<form action="/x"><input name="a"></form>'), item_of()
    page, hit = posted(market, open_site, task, item)
    box = page.frame_locator("iframe").locator("[name=a]")
    box.fill("1")
    box.press("Enter")
    assert submitted(market, page, hit, task, item) == {"a": "1"}


def test_a_long_page_is_shown_whole(market: Market, open_site: Open, tmp_path: Path) -> None:
    """Its texts are stored once; each HIT shows them with its own values."""
    html = f"<p>${{text}}</p><!-- {'long ' * 20_000} --><input name='a'>]]"
    task = task_of(tmp_path, html)
    client, ann = market.requester("LAB"), market.worker()
    platform = MTurk(market.endpoint, access_key="LAB", secret_key="any")  # noqa: S106
    reply = client.create_hit_type(
        AssignmentDurationInSeconds=600, Reward="0.01", Title="t", Description="d"
    )
    hits = {}
    for text in ("]]>", "<3"):
        item = item_of(text=text)
        question = page_question(*parts_of_page(task, [item], title="t"))
        assert isinstance(question, SharedQuestion)
        hits[text] = platform.publish(
            HitTypeId(reply["HITTypeId"]),
            question,
            max_assignments=1,
            lifetime_seconds=600,
            annotation=text,
            token=text,
        )
    for text, hit in hits.items():
        group = client.get_hit(HITId=hit)["HIT"]["HITGroupId"]
        assignment = ann.accept(group, hit_id=hit).json()["assignment_id"]
        page = open_site(ann.token, f"/worker/assignments/{assignment}")
        frame = page.frame_locator("iframe")
        expect(frame.locator("p").first).to_have_text(text)
        frame.locator("input[name=a]").fill("1")
        frame.get_by_role("button", name="Submit").click()
        assert submitted(market, page, hit, task, item_of()) == {"a": "1"}


MADE = """<form action="/x"><p id="t"></p><input id="w" name="why" disabled>
<label><input type="radio" name="ok" value="yes"
onclick="document.getElementById('w').disabled = false"> Yes</label>
<input name="first" id="n"><input type="hidden" name="workerId" id="i">
<input type="submit" value="Send"></form>
<script>document.getElementById("t").innerHTML = '<textarea name="edit1"></textarea>';
document.getElementById("n").name = "renamed";
const query = new URLSearchParams(location.search);
document.getElementById("i").value = query.get("workerId");
</script>"""


def test_what_a_script_makes_enables_and_renames_is_sent(
    market: Market, open_site: Open, tmp_path: Path
) -> None:
    """Declared or not, the assignment has it; an id that the page sends is no field."""
    task, item = task_of(tmp_path, MADE), item_of()
    assert [field.name for field in task.fields] == ["why", "ok", "first"]
    page, hit = posted(market, open_site, task, item)
    frame = page.frame_locator("iframe")
    frame.locator("textarea").fill("new text")
    check(frame.get_by_label("Yes"))
    frame.locator("#w").fill("because")
    frame.locator("#n").fill("x")
    frame.get_by_role("button", name="Send").click()
    page.wait_for_url("**/thanks")
    client = market.requester("LAB")
    (work,) = client.list_assignments_for_hit(HITId=hit)["Assignments"]
    sent = fields_of(work["Answer"])
    assert {name: sent[name] for name in ("edit1", "why", "ok", "renamed")} == {
        "edit1": "new text", "why": "because", "ok": "yes", "renamed": "x",
    }  # fmt: skip
    assert sent["workerId"] == work["WorkerId"]


def test_a_form_of_a_preview_leads_nowhere(market: Market, open_site: Open, tmp_path: Path) -> None:
    """Neither by the return key nor by a script."""
    html, _ = SENT["no button"]
    task, item = task_of(tmp_path, html), item_of()
    question = html_question(render_hit(task, [item]))
    made = post(market.requester("LAB"), Question=question)
    ann = market.worker()
    page = open_site(ann.token, f"/worker/groups/{made['HITGroupId']}/preview")
    key = page.frame_locator("iframe").locator("#key")
    key.press("Enter")
    key.evaluate("(input) => input.form.submit()")
    key.fill("still here")
    expect(key).to_have_value("still here")


PARSLEY = "window.jQuery = window.$ = (x) => ({ ready: (f) => f(), parsley() {} });"

JQUERY = """window.$ = (x) => { const all = typeof x === "string"
  ? [...document.querySelectorAll(x)] : [x]; return {
  ready: (f) => document.addEventListener("DOMContentLoaded", f),
  on: (name, f) => all.forEach((e) => e.addEventListener(name, f)),
  val: (v) => all.forEach((e) => { e.value = v; }), html: () => all[0].innerHTML,
  addClass: (c) => all.forEach((e) => e.classList.add(c)),
  removeClass: (c) => all.forEach((e) => e.classList.remove(c)) }; };"""
"""As much of jQuery as the shared pages use: a test has no network."""


def libraries(route: Route) -> None:
    """Answer for the public hosts."""
    url = route.request.url
    body = PARSLEY if "3.3.1.min" in url else JQUERY if "jquery" in url else ""
    kind = "text/css" if url.endswith(".css") else "text/javascript"
    headers = {"Access-Control-Allow-Origin": "*"}
    route.fulfill(body=body, content_type=kind, headers=headers)


def ranked(frame: FrameLocator) -> None:
    """Both dimensions of two texts."""
    for n, rank in enumerate(("2", "1", "1", "2")):
        frame.locator("select").nth(n).select_option(rank)


def ticked(frame: FrameLocator) -> None:
    """Two of the boxes."""
    for name in ("Cat", "None of the above"):
        check(frame.get_by_label(name))


PICTURE = {"taskObject": "https://example.org/a.jpg"}
TWO_CITIES = {
    **{f"sentence_{n}": f"It was {n}." for n in range(1, 6)},
    **{f"sentence_id_{n}": str(n) for n in range(1, 6)},
}
SPANISH = {f"sentence_{n}": f"Era {n}." for n in range(1, 6)}


def translated(frame: FrameLocator) -> None:
    """Five sentences, by their labels."""
    for n in range(1, 6):
        frame.get_by_label(f"It was {n}.").fill(f"Era {n}.")


PAGES: dict[str, tuple[dict[str, str], Do, dict[str, object]]] = {
    "crowd_elements/collect-utterance.liquid.html": (
        {"context": "You are lost", "intent": "Ask"},
        lambda frame: frame.locator("input:visible").fill("Where am I?"),
        {"utterance": "Where am I?"},
    ),
    "crowd_elements/image-classification-multiselect.liquid.html": (
        {},
        ticked,
        {"animals": ("Cat", "None of the above")},
    ),
    "crowd_elements/image-contains.liquid.html": (
        PICTURE,
        lambda frame: check(frame.get_by_label("Cannot Determine")),
        {"image_contains": "Cannot Determine"},
    ),
    "crowd_elements/image-summarization.liquid.html": (
        PICTURE,
        lambda frame: frame.get_by_label("Summarize the image").fill("A road."),
        {"summary": "A road."},
    ),
    "crowd_elements/text-ranking.liquid.html": (
        {"source": "Why?", "responses": '["It is.", "It\'s <b>not</b>."]'},
        ranked,
        {"text_ranking": '{"Clarity": [2, 1], "Inclusivity": [1, 2]}'},
    ),
    "turkle/emotion_detection.html": (
        {"text": "The best book!"},
        lambda frame: frame.get_by_role("button", name="Happiness").click(),
        {"emotion": "Happiness"},
    ),
    "turkle/image_contains.html": (
        {"object": "birds", "image_url": "https://example.org/a.jpg"},
        lambda frame: frame.get_by_role("button", name="No", exact=True).click(),
        {"answer": "No"},
    ),
    "turkle/translate_minimal.html": (TWO_CITIES, translated, {**SPANISH}),
    "turkle/translate_validate.html": (TWO_CITIES, translated, {**SPANISH}),
}


OFTEN = ["crowd_elements/image-contains.liquid.html", "turkle/translate_minimal.html"]


@needs_shared
@pytest.mark.parametrize("name", [*OFTEN, *in_full(*sorted({*PAGES} - {*OFTEN}))])
def test_a_shared_page_is_done_and_typed(
    market: Market, open_site: Open, tmp_path: Path, name: str
) -> None:
    """As it is, but for the checksum of a library that is not there in a test."""
    columns, do, values = PAGES[name]
    html = (SHARED / name).read_text("utf-8")
    parts = html.split(' integrity="')
    html = parts[0] + "".join(part.partition('"')[2] for part in parts[1:])
    task, item = task_of(tmp_path, html, hosts=LIBRARIES), item_of(**columns)
    page, hit = posted(market, open_site, task, item)
    for host in LIBRARIES:
        page.route(f"https://{host}/**", libraries)
    page.reload()
    frame = page.frame_locator("iframe")
    do(frame)
    frame.get_by_role("button", name="Submit").click()
    assert submitted(market, page, hit, task, item) == values


def test_all_shared_pages_are_tried() -> None:
    """Each page that is there has its way of being done."""
    there = {str(path.relative_to(SHARED)) for path in SHARED.rglob("*.html")}
    assert there <= set(PAGES)


EVERYWHERE = """<h1>${heading}</h1><p title="${title}">Look.</p>
<template><i>${one}</i><template><i>${two}</i></template></template>
<!-- ${comment} --><textarea readonly>${area}</textarea>
<input name="word" required><p id="out"></p>
<script>
const parsed = JSON.parse(`${parsed}`);
const list = `${parsed.map((part) => `<b>${part}</b>-${nested}`)}`; /* ${aside} */
const own = `${list} ${"`"} {{ task.input.liquid }} ${'${quoted}'}`;
document.getElementById("out").textContent = own;
</script>"""


def test_a_page_has_as_columns_what_a_browser_shows(
    market: Market, open_site: Open, tmp_path: Path
) -> None:
    """No more and no less, wherever on the page a column stands."""
    names = (
        *("heading", "title", "one", "two", "comment", "area", "nested", "aside"),
        *("liquid", "quoted", "parsed", "unused", "out"),
    )
    item = item_of(**{name: f"<{name}>`" for name in names} | {"parsed": '["<x>`"]'})
    task = with_shown_columns(task_of(tmp_path, EVERYWHERE), [item])
    page, _hit = posted(market, open_site, task, item)
    frame = page.frame_locator("iframe")
    out = frame.locator("#out")
    expect(out).to_have_text("<b><x>`</b>-<nested>` ` <liquid>` <quoted>`")
    html = unescape(out.evaluate("(p) => p.ownerDocument.documentElement.outerHTML"))
    html = re.sub(r"\\u([0-9a-f]{4})", lambda code: chr(int(code[1], 16)), html)
    seen = {name for name in item.columns if item.columns[name] in html}
    assert seen - {"item_id"} == {*task.shown_columns} - {"item_id"}
    assert seen.isdisjoint({"unused", "out"})


CROWD = """<script src="https://assets.crowd.aws/crowd-html-elements.js"></script>
<crowd-form{traits}>{elements}</crowd-form>"""
FLAT = ' answer-format="flatten-objects"'


@pytest.mark.parametrize("traits", ["", FLAT])
def test_radio_buttons_of_several_names_are_typed(
    market: Market, open_site: Open, tmp_path: Path, traits: str
) -> None:
    """With values or without, and with the name of their group."""
    button = "<crowd-radio-button{}>{}</crowd-radio-button>"
    group = f"<crowd-radio-group{{}}>{button}{button}</crowd-radio-group>"
    elements = (
        group.format("", " name=yes", "Yes", " name=no", "No")
        + group.format("", " name=tech value=tech", "Tech", " name=law value=law", "Law")
        + group.format(" name=size", " value=s", "Small", " value=l", "Large")
    )
    task, item = task_of(tmp_path, CROWD.format(traits=traits, elements=elements)), item_of()
    page, hit = posted(market, open_site, task, item)
    frame = page.frame_locator("iframe")
    for label in ("No", "Law", "Large"):
        check(frame.get_by_label(label, exact=True))
    frame.get_by_role("button", name="Submit").click()
    assert submitted(market, page, hit, task, item) == {"yes": "no", "tech": "law", "size": "l"}


@pytest.mark.parametrize("traits", ["", FLAT])
def test_a_crowd_form_is_asked_for_what_the_campaign_requires(
    market: Market, open_site: Open, tmp_path: Path, traits: str
) -> None:
    """As any form: what is empty, not ticked or not chosen lacks, by its label."""
    elements = """<crowd-input name="word" label="Word"></crowd-input>
    <crowd-checkbox name="tags" value="red">Red</crowd-checkbox>
    <crowd-checkbox name="tags" value="blue">Blue</crowd-checkbox>
    <crowd-radio-group><crowd-radio-button name="yes">Yes</crowd-radio-button>
    <crowd-radio-button name="no">No</crowd-radio-button></crowd-radio-group>
    <crowd-input name="free"></crowd-input>"""
    names = ("word", "tags", "yes")
    task = task_of(
        tmp_path,
        CROWD.format(traits=traits, elements=elements),
        fields={name: StatedField(label=f"The {name}", required=True) for name in names},
    )
    item = item_of()
    page, hit = posted(market, open_site, task, item)
    frame = page.frame_locator("iframe")
    send = frame.get_by_role("button", name="Submit")
    steps: list[Callable[[], object]] = [
        lambda: frame.get_by_label("Word").fill("x"),
        lambda: check(frame.get_by_label("Blue")),
        lambda: check(frame.get_by_label("No", exact=True)),
    ]
    for at, do in enumerate(steps):
        send.click()
        wanted = "; ".join(f"The {name}" for name in names[at:])
        expect(frame.get_by_role("alert")).to_contain_text(wanted)
        do()
    send.click()
    values = {"word": "x", "tags": ("blue",), "yes": "no", "free": ""}
    assert submitted(market, page, hit, task, item) == values


MARKS = """<script src="https://assets.crowd.aws/crowd-html-elements.js"></script>
{before}<crowd-bounding-box name="Boxes" src="${{image}}" labels="['Cat', 'Dog']">
</crowd-bounding-box><crowd-classifier name="kind" categories="['a', 'b']">
</crowd-classifier>{after}"""
TO_MARK = """<script src="https://assets.crowd.aws/crowd-html-elements.js"></script>
<crowd-entity-annotation name="names" text="${text}" labels="[{'label': 'person'}]">
</crowd-entity-annotation>"""


@pytest.mark.parametrize("traits", ["", ' answer-format="flatten-objects"'])
def test_marks_on_a_picture_are_typed(
    market: Market, open_site: Open, tmp_path: Path, traits: str
) -> None:
    """As one JSON text, and nothing else is sent beside it."""
    html = MARKS.format(before=f"<crowd-form{traits}>", after="</crowd-form>")
    task, item = task_of(tmp_path, html), item_of(image="https://pictures.example/a.svg")
    page, hit = posted(market, open_site, task, item)
    svg = unquote(SVG.format(WIDE, HIGH)).partition(",")[2]
    page.route("https://*.example/**", lambda r: r.fulfill(body=svg, content_type="image/svg+xml"))
    page.reload()
    frame = page.frame_locator("iframe")
    stage = frame.locator(".crowd-stage")
    expect(stage.locator("svg")).to_have_attribute("viewBox", f"0 0 {WIDE} {HIGH}")
    Hand(page).drag(stage, (0, 0), (100, 50))
    check(frame.get_by_label("b", exact=True))
    frame.get_by_role("button", name="Submit").click()
    values = submitted(market, page, hit, task, item)
    assert isinstance(values, dict)
    assert values["kind"] == "b"
    boxes = json.loads(values["boxes"])
    assert boxes["inputImageProperties"] == {"height": HIGH, "width": WIDE}
    assert [box["label"] for box in boxes["boundingBoxes"]] == ["Cat"]
    client = market.requester("LAB")
    (work,) = client.list_assignments_for_hit(HITId=hit)["Assignments"]
    assert received(task.fields, fields_of(work["Answer"])).more == {}


def test_marks_in_a_text_are_typed(market: Market, open_site: Open, tmp_path: Path) -> None:
    """Its element brings the form, so the page gets none."""
    task, item = task_of(tmp_path, TO_MARK), item_of(text=TEXT)
    page, hit = posted(market, open_site, task, item)
    frame = page.frame_locator("iframe")
    Hand(page).select(frame.locator(".crowd-text"), "Lovelace")
    frame.get_by_role("button", name="Submit").click()
    values = submitted(market, page, hit, task, item)
    assert isinstance(values, dict)
    assert json.loads(values["names"]) == {
        "entities": [{"endOffset": 12, "label": "person", "startOffset": 4}]
    }


def test_files_beside_the_page_reach_workers(
    market: Market, open_site: Open, tmp_path: Path
) -> None:
    """A style hides, a script fills in a field, a picture of a style is shown."""
    (tmp_path / "css").mkdir()
    (tmp_path / "css/style.css").write_text(
        ".no { display: none }\n#box { background: url(../bird.svg); height: 9px }"
    )
    (tmp_path / "clip.js").write_text('const q = "é"; document.forms[0].q.value = q;')
    svg = '<svg xmlns="http://www.w3.org/2000/svg" width="31" height="9"></svg>'
    (tmp_path / "bird.svg").write_text(svg)
    html = """<link rel="stylesheet" href="css/style.css"><p class="no">Not shown</p>
    <p>${text}</p><img src="bird.svg"><div id="box"></div>
    <form><input type="hidden" name="q"><input name="word"><button>Send</button></form>
    <script defer src="clip.js"></script>"""
    task, item = task_of(tmp_path, html), item_of(text="Birds")
    page, hit = posted(market, open_site, task, item)
    frame = page.frame_locator("iframe")
    expect(frame.get_by_text("Birds")).to_be_visible()
    expect(frame.get_by_text("Not shown")).to_be_hidden()
    expect(frame.locator("img")).to_have_js_property("naturalWidth", 31)
    expect(frame.locator("#box")).to_have_css("background-image", re.compile("data:image/svg"))
    frame.locator("[name=word]").fill("a")
    frame.get_by_role("button", name="Send").click()
    assert submitted(market, page, hit, task, item) == {"q": "é", "word": "a"}


def test_each_item_of_a_page_gets_its_answer_and_its_keys(
    market: Market, open_site: Open, tmp_path: Path
) -> None:
    """All are in view at once: time is divided, keys and pastes are not."""
    html = "".join(
        f"<fieldset><legend>${{text{n}}}</legend>"
        f'<label>Word {n} <input name="word{n}"></label></fieldset>'
        for n in (1, 2, 3)
    )
    stated = {"word": StatedField(required=True)}
    task = task_of(tmp_path, html, header=("text",), fields=stated)
    items = [Item(item_id=ItemId(name), columns={"text": f"<i>{name}"}) for name in ("a", "b")]
    ann = market.worker()
    made = post(market.requester("LAB"), Question=html_question(render_hit(task, items)))
    assignment = ann.accept(made["HITGroupId"]).json()["assignment_id"]
    page = open_site(ann.token, f"/worker/assignments/{assignment}")
    frame = page.frame_locator("iframe")
    expect(frame.locator("legend")).to_have_text(["a", "b"])
    frame.get_by_label("Word 2").type("green")
    frame.get_by_role("button", name="Submit").click()
    expect(frame.get_by_role("alert")).to_contain_text("(1)")
    frame.get_by_label("Word 1").type("red")
    frame.get_by_role("button", name="Submit").click()
    page.wait_for_url("**/thanks")
    (work,) = market.requester("LAB").list_assignments_for_hit(HITId=made["HITId"])["Assignments"]
    ids = [item.item_id for item in items]
    read = read_answers(task, AssignmentId("A"), ids, fields_of(work["Answer"]))
    assert [dict(answer.values) for answer in read] == [{"word": "red"}, {"word": "green"}]
    assert [answer.keystrokes for answer in read] == [3, 5]
    assert not any(answer.problems or answer.also_sent for answer in read)
    first, second = (answer.shown_ms for answer in read)
    assert first == second
    assert first
