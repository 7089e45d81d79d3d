"""HTML of one's own: its placeholders, its fields, what it sends, what it may load."""

import json
import re
from base64 import b64encode
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from piecework.domain.errors import ConfigError
from piecework.domain.field import Field, Option, StatedField
from piecework.domain.hit import Item
from piecework.domain.ids import AssignmentId, ItemId
from piecework.hit_templates.answers import read_answers
from piecework.hit_templates.messages import frame_texts
from piecework.hit_templates.own_html.control_kinds import UNAVAILABLE
from piecework.hit_templates.own_html.controls import controls_of
from piecework.hit_templates.own_html.escaping import script_place
from piecework.hit_templates.own_html.fields_of_controls import as_page_sends, received
from piecework.hit_templates.own_html.markup import steps
from piecework.hit_templates.own_html.page import faults_of_item, marked_text
from piecework.hit_templates.own_html.placeholders import cut
from piecework.hit_templates.own_html.task import Around, html_task
from piecework.hit_templates.render import render_hit
from piecework.hit_templates.rules import check
from piecework.marketplace import languages, workers
from piecework.results.item_labels import field_with_label
from tests.for_each import for_each
from tests.hit_templates.own_html import DIRECTIONS, LIBRARIES, SHARED, needs_shared, task_of

ASSIGNMENT = AssignmentId("3ASSIGNMENT1")


def filled(html: str, **columns: str) -> str:
    """The page with these columns."""
    template = cut(html)
    assert template.faults == ()
    return template.filled(columns)


HOSTILE = "</script><b onclick=\"x('y')\">`${1}\\&\n"


@pytest.mark.parametrize(
    ("html", "wanted"),
    [
        ("<p>{{ task.input.a }}</p>", "<p>{html}</p>"),
        ("<p>${a}</p>", "<p><b>`${{1}}\\&amp;\n</b></p>"),
        ("<title>${a}</title>", "<title>{html}</title>"),
        ('<img alt="${a}">', '<img alt="{html}">'),
        ("<textarea>${a}</textarea>", "<textarea>{html}</textarea>"),
        ("<!-- ${a} -->", "<!-- {html} -->"),
        ("<p>{{ task.input.a | skip_autoescape }}</p>", "<p>{raw}</p>"),
    ],
)
def test_a_value_is_escaped_where_it_stands(html: str, wanted: str) -> None:
    """It ends no element and begins no script; MTurk's placeholder keeps its emphasis."""
    escaped = (
        HOSTILE.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
        .replace('"', "&quot;").replace("'", "&#x27;")
    )  # fmt: skip
    assert filled(html, a=HOSTILE) == wanted.format(html=escaped, raw=HOSTILE)


@pytest.mark.parametrize("quote", ["'", '"', "`"])
def test_a_value_in_a_script_s_quotes_stays_in_them(quote: str) -> None:
    """JavaScript reads back what the item said, and nothing ends the script."""
    page = filled(f"<script>\nlet a = {quote}{{{{ task.input.a }}}}{quote};</script>",
                  a=HOSTILE)  # fmt: skip
    (inside,) = re.findall(rf"let a = {quote}(.*){quote};", page)
    assert json.loads(f'"{inside}"') == HOSTILE
    assert page.count("<") == 2


@pytest.mark.parametrize(
    ("value", "literal"),
    [
        ('[1, "</script>"]', '[1, "\\u003c/script\\u003e"]'),
        ("12", "12"),
        ("alert(1)", '"alert(1)"'),
        ('"quoted"', '"\\"quoted\\""'),
    ],
)
def test_a_value_in_a_script_without_quotes_is_a_literal(value: str, literal: str) -> None:
    """A list, an object or a number as it is; code is a text."""
    page = filled("<script>const a = ${a};</script>", a=value)
    assert page == f"<script>const a = {literal};</script>"


def test_template_literals_of_javascript_stay() -> None:
    """`${...}` between backticks is no placeholder; outside of scripts it is."""
    html = "<script>const f = (x) => `<p>${x}</p>`;</script><p>${y}</p>"
    assert filled(html, y="1") == html.replace("${y}", "1")
    assert filled("<p>{{ other }}</p>") == "<p>{{ other }}</p>"


def test_a_column_that_is_there_is_put_into_backticks_too() -> None:
    """Turkle's example of entities parses its column so; another name stays."""
    html = "<script>const a = JSON.parse(`${content}`) + `${x}`;</script>"
    page = filled(html, content='["`${y}"]')
    assert page == html.replace("${content}", "[\\u0022\\u0060\\u0024{y}\\u0022]")
    assert cut(html).columns == ()


@pytest.mark.parametrize(
    "script",
    [
        "f(`a ${x.map((y) => `<b>${ITEM}</b>`)}`)",
        "f(`a ${g({b: 1})} ${ITEM}`)",
        "x.replace(/`/g, ''); f(`${ITEM}`)",
        "// don't `\nf(`${ITEM}`)",
        "/* ` */ f(`${ITEM}`)",
        """f("`", 'it\\'s `'); f(`${ITEM}`)""",
    ],
)
def test_a_name_in_a_template_literal_may_be_javascript_s(script: str) -> None:
    """Nested ones too; quotes, comments and patterns do not begin one."""
    template = cut(f"<script>{script}</script>")
    assert template.columns == ()
    assert template.possible_columns == ("ITEM",)
    assert "${ITEM}" in template.filled({})
    assert "${ITEM}" not in template.filled({"ITEM": "a"})


@pytest.mark.parametrize(
    "script", ["let a = `${b(`c`)}` + '${ITEM}'", "let a = 8 / 2; f('`', ${ITEM}); 1/`x`"]
)
def test_a_name_outside_of_template_literals_is_a_column(script: str) -> None:
    """However many of them stand before it."""
    assert cut(f"<script>{script}</script>").columns == ("ITEM",)


@pytest.mark.parametrize("script", ["/* ${a} */ 1", "x = /${a}/.test(y)"])
def test_a_value_ends_no_comment_and_no_pattern(script: str) -> None:
    """What follows would run as code."""
    page = filled(f"<script>{script}</script>", a="*/alert(1)/*")
    assert page == f"<script>{script}</script>".replace("${a}", "*\\u002falert(1)\\u002f*")


@for_each(
    ("html", "wanted"),
    [
        ('<td class="a"">${a}</td>', "{text}"),
        ('<p>The 5" disk: ${a}', "{text}"),
        ("<p title='x\" ${a}'>", "{text}"),
        ("<script>//<p>'</script><p>${a}", "{text}"),
        ("<!-- <script> --><p>${a}", "{text}"),
        ("<a <b>${a}", "{text}"),
        ("<p title=${a}>", "{bare}"),
        ("<p title = ${a} >", "{bare}"),
        ('<p class="b" class="${a}">', "{bare}"),
        ("</p title='${a}'>", "{bare}"),
        ('<script type="text/template"><p>${a}</p></script>', "{text}"),
        ('<iframe srcdoc="<p>${a}</p>">', "{twice}"),
    ],
)
def test_a_parser_decides_where_a_placeholder_stands(html: str, wanted: str) -> None:
    """Stray quotes, missing ends and documents in attributes, as browsers read them."""
    text = "&lt;x onx=&quot;1&quot;&gt;"
    forms = {
        "text": text,
        "bare": "&#60;x&#32;onx&#61;&#34;1&#34;&#62;",
        "twice": text.replace("&", "&amp;"),
    }
    assert filled(html, a='<x onx="1">') == html.replace("${a}", wanted.format(**forms))


@pytest.mark.parametrize(
    ("html", "wanted"),
    [
        ("<b onclick=\"f('${a}')\">", "\\u0027);g(1)//"),
        ('<b onclick="f(${a})">', "&quot;&#x27;);g(1)//&quot;"),
        ("<b onclick=f(${a})>", "&#34;&#39;&#41;&#59;g&#40;1&#41;//&#34;"),
        ("<a href=\"javascript:f('${a}')\">", "\\u0027);g(1)//"),
        ("<iframe srcdoc=\"<script>f('${a}')</script>\">", "\\u0027);g(1)//"),
    ],
)
def test_a_value_stays_a_value_in_every_kind_of_script(html: str, wanted: str) -> None:
    """In an attribute, an address and a document in an attribute too."""
    assert filled(html, a="');g(1)//") == html.replace("${a}", wanted)
    assert "%2527" in filled("<a href=\"javascript:f('${a}')\">", a="%27")


@for_each(
    ("html", "wanted"),
    [
        ("<a href=${a} target=_blank>", "https://a.org/&#32;onx&#61;f&#40;&#41;"),
        ("<img src=${a}>", "https://a.org/&#32;onx&#61;f&#40;&#41;"),
        ('<a href="${a}">', "https://a.org/ onx=f()"),
        ("<svg><a xlink:href=${a}></a></svg>", "https://a.org/&#32;onx&#61;f&#40;&#41;"),
    ],
)
def test_an_address_without_quotes_stays_one(html: str, wanted: str) -> None:
    """Old pages have few quotes, and a reference in a cell may stand for a space."""
    for value in ("https://a.org/ onx=f()", "https://a.org/&#32;onx=f()"):
        assert filled(html, a=value) == html.replace("${a}", wanted)


@for_each(
    "html",
    [
        '<a href="${a}">',
        "<form action=${a}>",
        '<svg><a xlink:href="${a}"></a></svg>',
        '<script type="text/x-template"><a href="${a}">b</a></script>',
        '<script type="text/template"><img src=${a}></script>',
    ],
)
def test_no_cell_is_a_link_that_runs_a_script(html: str) -> None:
    """In a picture's links too, and in markup that a script of the page shows."""
    (fault,) = faults_of_item(
        cut(html), Item(item_id=ItemId("1"), columns={"a": "javascript:alert(1)"})
    )
    assert "javascript" in fault
    assert not [*faults_of_item(cut(html), Item(item_id=ItemId("1"), columns={"a": "b.org/c"}))]


OVERLAYING = b64encode(b"q.setAttribute('overlay', '{}')").decode()
PLACED = '{ boundingBox: { value: [{ label: "a", left: 1, top: "2", width: 3, height: 0 }, ] } }'
MASKED = '{"semanticSegmentation": {"src": "/m.png", "labelMappings": {"a": {"color": "#aaBB00"}}}}'


@for_each(
    ("overlay", "fault"),
    [
        *(
            (text, "")
            for text in (
                "",
                " null ",
                "{}",
                PLACED,
                PLACED.replace("boundingBox", "'bounding-box'"),
                MASKED,
            )
        ),
        ('{"instanceSegmentation": {"src": "/m.png", "instances": []}}', ""),
        ('{"polyline": {"value": [{"vertices": [{"x": 1, "y": 2}]}]}}', ""),
        ('{"boundingBox": {"value": []}}', ""),
        ('{"videoObjectTracking": {}}', "'videoObjectTracking' is no task"),
        ("[1]", "no JSON object"),
        ("{marks}", "no JSON object"),
        ('{"keypoint": {"marks": []}}', "no list of marks"),
        ('{"boundingBox": {"value": [{"label": "a"}]}}', "mark 1 of boundingBox"),
        ('{"keypoint": {"value": [{"x": 1, "y": 2}, {"x": 1, "y": null}]}}', "mark 2"),
        ('{"polygon": {"value": [{"vertices": []}]}}', "mark 1"),
        (MASKED.replace("/m.png", ""), "no src"),
        (MASKED.replace("#aaBB00", "red"), "a colour"),
        (MASKED.replace('{"a": {"color": "#aaBB00"}}', "{}"), "no labelMappings"),
    ],
)
def test_marks_that_a_page_cannot_draw_are_refused_before_anything_is_posted(
    overlay: str, fault: str
) -> None:
    """Such a page does not send, so each worker would return its HIT; `check` names the row."""
    html = """<crowd-form>
    <crowd-image-classifier name="q" src="/a.png" overlay="${marks}" categories="['a', 'b']">"""
    item = Item(item_id=ItemId("1"), columns={"marks": overlay, "more": "b"})
    faults = [
        clause
        for page in (html, html.replace("${marks}", "{{ task.input.marks }}"))
        for clause in faults_of_item(cut(f"${{more}}{page}"), item)
    ]
    assert len(faults) == 2 * bool(fault)
    assert all(fault in each and each.startswith("line 2: ") for each in faults)


@for_each(
    ("script", "faults"),
    [
        ("<script>q.setAttribute('overlay', '{}')</script>", 0),
        ("<body onload=\"$('#q').attr('overlay', marks)\">", 0),
        (f'<script src="data:text/javascript;base64,{OVERLAYING}"></script>', 0),
        ("<script>document.title = 'x'</script>", 1),
        ("<script>show('my-overlay')</script>", 1),
        ("<!-- overlay --><p>overlay</p><style>.overlay { top: 0 }</style>", 1),
        ('<script type="application/json">{"overlay": 1}</script>', 1),
    ],
)
def test_marks_that_a_script_of_the_page_may_rewrite_are_not_judged(
    script: str, faults: int
) -> None:
    """Elements read their marks after the page's scripts ran; what a script makes is unknown."""
    html = f"""{script}<crowd-form><crowd-image-classifier name="q" src="/a.png"
    overlay="${{marks}}" categories="['a', 'b']"></crowd-form>"""
    item = Item(item_id=ItemId("1"), columns={"marks": "3,4,5,6"})
    assert len([*faults_of_item(cut(html), item)]) == faults


@for_each(
    ("script", "place"),
    [
        ("if (ok) /'/.test(s); var a = ", "code"),
        ("while (f(x)) /[/'\"]/.exec(s); a = ", "code"),
        ("x = (b + c) / 2; d = '", "quotes"),
        ("x.if (b) / 2; d = '", "quotes"),
        ("if (a) b = (c) / 2; d = '1'; e = ", "code"),
        ("x = a++ / 2; y = ", "code"),
        ("x = a-- / b / c; y = '", "quotes"),
        ("x = a + /'/; y = ", "code"),
    ],
)
def test_a_slash_divides_or_begins_a_pattern(script: str, place: str) -> None:
    """After the condition of a statement it begins a pattern, after other parentheses not."""
    assert script_place(script) == place


@given(
    st.text(alphabet="<>\"'/= abp!-{}`${a}", max_size=60),
    st.sampled_from(
        [
            *("<p>", "<script>", "<style>", "<p title=", '<p title="', "<!--", "<a href="),
            *("<img src=", '<a href="', "<b onclick=", '<script type="text/template"><a href='),
        ]
    ),
)
def test_no_value_leaves_its_place(before: str, begin: str) -> None:
    """Whatever stands before it: the page has the same elements, and emphasis of the value."""
    template = cut(f"{begin}{before}${{b}}")
    if template.faults:
        return
    names = dict.fromkeys((*template.columns, *template.possible_columns), "")
    plain, hostile = (
        Counter((step.name, *step.attributes) for step in steps(page) if step.kind == "start")
        for page in (
            template.filled(dict.fromkeys(names, "x")),
            template.filled(dict.fromkeys(names, HOSTILE)),
        )
    )  # fmt: skip
    assert not plain - hostile
    assert {*(hostile - plain)} <= {("b",)}


MEANT = [
    ('<p title="${a}">', "R&amp;D &lt;", '<p title="R&amp;D &lt;">'),
    ('<a href="${a}">', "http://a.b/?c=1&amp;d", '<a href="http://a.b/?c=1&amp;d">'),
    ("<p>${a}</p>", "caf&eacute; &copy=", "<p>café ©=</p>"),
    ("<table>${a}</table>", "<tr><td>1", "<table><tr><td>1</td></tr></table>"),
    ("<p>${a}</p>", "<img src=//a.b/c name=x onerror=f()>", '<p><img src="//a.b/c"></p>'),
    ("<p>${a}</p>", "<a href=' java\nscript:f()'>x</a>", "<p><a>x</a></p>"),
    ("<p>${a}</p>", "<form><svg><text>1</text></svg><b>2<style>b", "<p><b>2</b></p>"),
    ("<p>${a}</p>", "<b>1</b></p></div><!-- --><x>2", "<p><b>1</b><p></p>2</p>"),
    ("<script>f([${a}])</script>", "1,2", "<script>f([1, 2])</script>"),
    ("<script>f([${a}])</script>", "'a','</b>'", '<script>f(["a", "\\u003c/b\\u003e"])</script>'),
    ("<script>f([${a}])</script>", "a,b", '<script>f(["a,b"])</script>'),
    ("<script>f(${a})</script>", "{'a': [1, 'b']}", '<script>f({"a": [1, "b"]})</script>'),
    ("<script>f(${a})</script>", "[f()]", '<script>f("[f()]")</script>'),
    ("<input ${a}>", "checked onclick=f()", '<input  checked="">'),
    ("<option value=1${a}>", "><b>", "<option value=1&#62;&#60;b&#62;>"),
    ("<!-- ${b} --><script>/* ${b} */ x = /[${b}]/</script>${a}", "1", None),
    ("<p>{{ task.b }} {{ task.c | fancy }}</p>${a}", "1", None),
    ("<script>'{% if b %}'</script>${a}", "1", None),
]


@pytest.mark.parametrize(("html", "cell", "wanted"), MEANT)
def test_a_cell_means_what_it_meant_on_mturk(html: str, cell: str, wanted: str | None) -> None:
    """MTurk inserted it as it was: markup, references, members of a list; no script runs."""
    assert filled(html, a=cell) == (wanted or html.replace("${a}", cell))


@pytest.mark.parametrize(
    ("cell", "text"),
    [
        ('[\\"a\\", \\"\\u0022\\"]', '["a", """]'),
        ('{\\"a\\": 1}', '{"a": 1}'),
        ('{"a": "\\""}', '{"a": "\\""}'),
        ("\\frac", "\\frac"),
    ],
)
def test_json_with_backslashes_for_a_script_s_quotes_is_json(cell: str, text: str) -> None:
    """JavaScript took them away; other texts with backslashes stay as they are."""
    (inside,) = re.findall("'(.*)'", filled("<script>f('${a}')</script>", a=cell))
    assert json.loads(f'"{inside}"') == (cell if text.endswith('""]') else text)


IDS = """<form><input type="hidden" name="assignmentId"><input type="hidden"
name="workerId" id="w"><input type="hidden" name="hitId"><input name="worker_ID">
<input type="hidden" name="turkSubmitTo"><input name="word"></form>
<script>document.getElementById("w").value = gup("workerId")</script>"""


def test_no_id_is_a_field(tmp_path: Path) -> None:
    """A marketplace keeps them from datasets, so a field of that name stays empty."""
    task = task_of(tmp_path, IDS)
    assert [field.sent_as for field in task.fields] == ["word"]
    ids = {"workerId": "W", "hitId": "H", "turkSubmitTo": "https://a", "worker_ID": ""}
    rest = task_of(tmp_path, IDS.replace('name="word"', ""))
    for page, sent, values in (
        (task, {"word": "a", **ids}, {"word": "a"}),
        (rest, ids, {"rest": ""}),
    ):
        (answer,) = read_answers(
            page, ASSIGNMENT, [ItemId("a")], sent, platform={"w": "W", "h": "H"}
        )
        assert (answer.values, answer.also_sent) == (values, {})
    with pytest.raises(ConfigError, match=r"fields\.workerId: holds an id"):
        task_of(tmp_path, IDS, fields={"workerId": StatedField(kind="text")})


@pytest.mark.parametrize(
    ("sent", "value"),
    [("t1", ()), ("yes|t1", ("yes",)), ("t1|yes|no", ("yes", "no")), ("t1|t1", ("t1",))],
)
def test_a_page_s_own_item_1_is_read_without_the_id_of_the_item(
    tmp_path: Path, sent: str, value: tuple[str, ...]
) -> None:
    """The site sends the item's id under the same name, and values of one name are joined."""
    options = ("yes", "no", "t1")
    html = "".join(f'<input type="checkbox" name="item.1" value="{v}">' for v in options)
    task = task_of(tmp_path, html)
    (field,) = task.fields
    (answer,) = read_answers(task, ASSIGNMENT, [ItemId("t1")], {"item.1": sent})
    sent_of_field = answer.values.get(field.name, ())
    assert (sent_of_field, answer.problems, answer.also_sent) == (value, (), {})


def test_a_disabled_input_is_optional_where_a_script_may_enable_it(tmp_path: Path) -> None:
    """Without a script it is never sent; a fieldset disables what is in it."""
    html = (
        '<input name="a"><input name="b" disabled required>'
        '<fieldset disabled><input name="c" required></fieldset>'
    )
    assert [field.name for field in task_of(tmp_path, html).fields] == ["a"]
    task = task_of(tmp_path, f"{html}<script>f()</script>")
    assert [field.name for field in task.fields] == ["a", "b", "c"]
    assert task.rules == ()


@pytest.mark.parametrize(
    "html",
    [
        '<input name="a" disabled><input name="b"><script>f()</script>',
        """<crowd-form answer-format="flatten-objects"><crowd-input name="a"></crowd-input>
        <crowd-input name="b"></crowd-input></crowd-form>""",
    ],
)
def test_a_text_that_a_page_does_not_send_is_empty(tmp_path: Path, html: str) -> None:
    """Its worker left it empty, or could not fill it in; only a rule asks for more."""
    for required, problems in ((None, ()), (True, ("a_required",))):
        task = task_of(tmp_path, html, fields={"a": StatedField(required=required)})
        (answer,) = read_answers(task, ASSIGNMENT, [ItemId("a")], {"b": "x"})
        assert (answer.values, answer.problems) == ({"a": "", "b": "x"}, problems)


@pytest.mark.parametrize(
    ("form", "script", "is_required"),
    [
        ("<form novalidate>", "f()", False),
        ("<form>", "document.forms[0].submit()", False),
        ("<form>", "$('form').attr('noValidate', true)", False),
        ("<form>", "$('form').submit(check)", True),
    ],
)
def test_a_form_that_may_be_sent_unchecked_requires_nothing(
    tmp_path: Path,
    form: str,
    script: str,
    is_required: bool,  # noqa: FBT001 - a case
) -> None:
    """Browsers do not look for what its markup requires; the campaign may require it."""
    html = f"{form}<input name='a' required></form><script>{script}</script>"
    assert bool(task_of(tmp_path, html).rules) is is_required
    (rule,) = task_of(tmp_path, html, fields={"a": StatedField(required=True)}).rules
    assert rule.kind == "required"


def test_what_remains_of_a_form_is_not_asked_for_by_the_page(tmp_path: Path) -> None:
    """No input has its name."""
    required = {name: StatedField(kind="text", required=True) for name in ("a", "*")}
    task = task_of(tmp_path, "<p>${t}</p><input name='a'>", fields=required)
    page = render_hit(task, [Item(item_id=ItemId("i"), columns={"t": "x"})])
    (ours,) = re.findall(r'id="piecework-item">(.*?)</script>', page)
    assert json.loads(ours)["required"] == {"a": "a"}


ODD = {
    "a title of the item's": ("<title>${a}</title><input name=x>", "text"),
    "limits without room": ("<input type=number name=x min=1 max=1>", "number"),
    "a separator in a value": (
        "<input type=checkbox name=x value='a|b'><input type=checkbox name=x value=c>",
        "text",
    ),
    "JSON in an attribute": ("<div data='${a}'></div><input name=x>", "text"),
    "a script's own template": (
        "<script type='text/x-jquery-tmpl'>${unknown}</script><input name=x>",
        "text",
    ),
}


@pytest.mark.parametrize("name", ODD)
def test_what_a_browser_shows_is_no_fault(tmp_path: Path, name: str) -> None:
    """Real pages have all of these, and they worked on MTurk."""
    html, kind = ODD[name]
    page = page_of(tmp_path, html, a='{"b": "<i>"}')
    assert "unknown}" in page or "unknown" not in html
    task = task_of(tmp_path, html, title="")
    assert [field.kind for field in task.fields] == [kind]
    assert task.title.isprintable()
    assert task.title.isascii()


HARD = {
    "names that look alike": "".join(f'<input name="{n}">' for n in ("色", "ñ", "a\n")),
    "a long name": f'<input name="{"n" * 10_000}">',
    "deep": f'{"<div>" * 10_000}<input name="a">',
    "no page": 'PK<<<>>> &#0; <input name="a">',
}


@pytest.mark.parametrize("name", HARD)
def test_any_text_is_a_page(tmp_path: Path, name: str) -> None:
    """A parser of HTML reads everything, as browsers do."""
    task = task_of(tmp_path, HARD[name])
    assert task.fields
    item = Item(item_id=ItemId("a"), columns={"item_id": "a"})
    assert render_hit(task, [item])


def test_a_form_may_have_ten_thousand_controls() -> None:
    """Each with its own name."""
    html = "".join(f"<input name=n{n}>" for n in range(10_000))
    assert len(controls_of(html).by_name) == 10_000


def test_a_name_is_sent_with_its_spaces(tmp_path: Path) -> None:
    """As browsers send it; the field goes without them."""
    html = (
        "<input name='caption '><select name=' size'><option>S</select>"
        "<input type=hidden name='\tid ' id=i><script>fill('id')</script>"
    )
    task = task_of(tmp_path, html, fields={"caption": StatedField(required=True)})
    assert [(field.name, field.sent_as) for field in task.fields] == [
        ("caption", "caption "),
        ("size", " size"),
        ("id", "\tid "),
    ]
    assert [rule.field for rule in task.rules] == ["caption"]
    sent = {"caption ": "a", " size": "S", "\tid ": "7"}
    (answer,) = read_answers(task, ASSIGNMENT, [ItemId("a")], sent)
    assert (answer.values, answer.also_sent) == ({"caption": "a", "size": "S", "id": "7"}, {})


def test_an_option_without_a_value_sends_its_whole_text(tmp_path: Path) -> None:
    """Spaces joined as browsers join them, which keep a no-break space; its label is cut."""
    long = "word " * 80 + "end"
    html = f"<select name=q><option>\n {long}\n<option>a\t b&nbsp;\n</select>"
    task = task_of(tmp_path, html)
    (field,) = task.fields
    assert [option.value for option in field.options] == [long, "a b\u00a0"]
    assert len(field.options[0].label) == 200
    (answer,) = read_answers(task, ASSIGNMENT, [ItemId("a")], {"q": long})
    assert (answer.values, answer.problems) == ({"q": long}, ())


RADIOS = "<input type=radio name=q value=a><input type=radio name=q value=b>"
BOXES = "<input type=checkbox name=q value=a><input type=checkbox name=q value=b>"
OTHER = "<input name=q>"
UNTICKED = "<input type=hidden name=q value=0>"
TICK = "<input type=checkbox name=q value=1>"
LIST = "<select name=q><option>a<option>b<option value=''>None</select>"
SHARED_NAMES = [
    (RADIOS + OTHER, "choice", {"a|": "a", "c": "c", "|": "", "b|why": "b", "a|b": "a|b"}),
    (OTHER + RADIOS, "choice", {"|a": "a", "c": "c", "why|b": "b"}),
    (LIST + OTHER, "choice", {"a|": "a", "|c": "c", "b|why": "b"}),
    (BOXES + OTHER, "choices", {"a|b|": ("a", "b"), "a|c": ("a", "c"), "": ()}),
    (LIST + LIST, "choices", {"a|b": ("a", "b"), "|b": ("b",), "|": ()}),
    (LIST + RADIOS, "choices", {"a|b": ("a", "b"), "|b": ("b",)}),
    (RADIOS + BOXES, "choices", {"a|b": ("a", "b")}),
    (UNTICKED + TICK, "choice", {"0": "0", "0|1": "1"}),
    (TICK + UNTICKED, "choice", {"0": "0", "1|0": "1"}),
    (UNTICKED + RADIOS, "choice", {"0": "0", "0|b": "b"}),
    (UNTICKED + BOXES, "choices", {"0": ("0",), "0|a|b": ("a", "b")}),
    (UNTICKED.replace("0", "''") + BOXES, "choices", {"": (), "|a|b": ("a", "b")}),
    (UNTICKED.replace("0", "${i}") + TICK, "choices", {"x|1": ("x", "1"), "x": ("x",)}),
    ("<input type=number name=q>" * 2, "text", {"3|4": "3|4"}),
    (UNTICKED.replace("0", "''") + "<input type=number name=q>", "number", {"|4": 4.0}),
    ("<input name=q maxlength=3>" * 2, "text", {"abc|def": "abc|def"}),
    ("<textarea name=q maxlength=3></textarea>" + OTHER, "text", {"abc|defg": "abc|defg"}),
    ("<input name=q maxlength=3>" + UNTICKED, "text", {"abc|0": "abc|0"}),
    ("<input type=date name=q maxlength=3>", "text", {"2024-01-01": "2024-01-01"}),
]


@pytest.mark.parametrize(("html", "kind", "answers"), SHARED_NAMES)
def test_controls_of_a_name_are_read_as_browsers_send_them(
    tmp_path: Path, html: str, kind: str, answers: dict[str, object]
) -> None:
    """Each sends what it holds, empty or not; no honest answer has a problem."""
    task = task_of(tmp_path, html)
    (field,) = task.fields
    assert field.kind == kind
    for sent, value in answers.items():
        (answer,) = read_answers(task, ASSIGNMENT, [ItemId("a")], {"q": sent})
        assert (answer.values, answer.problems) == ({"q": value}, ())
        assert check(task, answer.values) == ()
        # What is typed beside an option is no vote, and is not lost.
        assert answer.also_sent == ({"q": sent} if "why" in sent else {})


def test_inputs_of_a_name_may_be_as_long_as_all_of_them(tmp_path: Path) -> None:
    """Their texts are joined; a longer one did not come from the page."""
    task = task_of(tmp_path, "<input name=q maxlength=3>" * 2)
    assert check(task, {"q": "abc|def"}) == ()
    assert [rule.name for rule in check(task, {"q": "abc|defg"})] == ["q_max_length"]


def test_a_simulated_page_sends_what_its_hidden_input_does(tmp_path: Path) -> None:
    """With the tick, and alone without one."""
    fields = task_of(tmp_path, UNTICKED + TICK).fields
    assert [option.value for option in fields[0].options] == ["1", "0"]
    for ours, sent in ((["1"], ["0", "1"]), (["0"], ["0"]), ([], ["0"])):
        assert as_page_sends(fields, {"q.1": ours}, is_crowd=False) == {"q": sent}


BUTTONS = [
    ({"option1": "First", "option2": "Second"}, "option", ["First", "Second"]),
    ({"yes": "", "no": ""}, "yes", ["yes", "no"]),
    ({"tech": "true", "law": "true", "art": "true"}, "tech", ["tech", "law", "art"]),
]
"""Values of radio buttons by name; the field's name and options."""


@pytest.mark.parametrize(("values", "called", "options"), BUTTONS)
@pytest.mark.parametrize("is_flat", [False, True])
def test_radio_buttons_of_several_names_are_one_choice(
    tmp_path: Path,
    values: dict[str, str],
    called: str,
    options: list[str],
    is_flat: bool,  # noqa: FBT001 - a case
) -> None:
    """Their group lets one be chosen; each sends an object of its own, `on` without a value."""
    buttons = "".join(
        f"<crowd-radio-button name='{name}'{f' value={value}' if value else ''}>{name} it"
        "</crowd-radio-button>"
        for name, value in values.items()
    )
    html = f"<crowd-form><crowd-radio-group>{buttons}</crowd-radio-group></crowd-form>"
    (field,) = task_of(tmp_path, html).fields
    assert (field.name, field.kind) == (called, "choice")
    assert [option.value for option in field.options] == options
    assert [option.label for option in field.options] == [f"{name} it" for name in values]
    (control,) = controls_of(html).by_name.values()
    for chosen, ours in zip([*values, None], [*options, ""], strict=True):
        document = {name: {word or "on": name == chosen} for name, word in values.items()}
        wire = {"taskAnswers": json.dumps([document])}
        if is_flat:
            wire = {f"{n}.{w or 'on'}": json.dumps(n == chosen) for n, w in values.items()}
        assert received([field], wire) == ({f"{called}.1": ours}, {})
        answers = {f"{called}.1": [ours]}
        sent = as_page_sends([field], answers, is_crowd=True, is_flat=is_flat, parts=control.parts)
        assert {name: text for name, (text,) in sent.items()} == wire


def test_the_page_says_so_of_each_element_that_is_not_there() -> None:
    """HITs of other programs were never checked, so their workers have to read it."""
    script = (Path(workers.__file__).parent / "stand_ins/crowd-html-elements.js").read_text("utf-8")
    (names,) = re.findall(r"const ABSENT = \[(.*?)\];", script, re.DOTALL)
    assert {f"crowd-{name}" for name in re.findall(r'"(.+?)"', names)} == UNAVAILABLE


@pytest.mark.parametrize(
    ("html", "loss"),
    [
        ("<input type='File' name='photo'>", "a HIT's form cannot send a file"),
        ("<crowd-input type='file' name='photo'></crowd-input>", "a HIT's form cannot send a file"),
        ("<worker-comment>Why?</worker-comment>", "<worker-comment> has no box here; ask in a"),
    ],
)
def test_what_no_form_sends_is_told(html: str, loss: str) -> None:
    """Not even the name that browsers invent for a file."""
    controls = controls_of(f"<crowd-form>{html}</crowd-form>")
    assert controls.by_name == {}
    (warning,) = controls.losses
    assert warning.startswith(f"line 1: {loss}")


def test_a_group_s_name_is_that_of_its_buttons(tmp_path: Path) -> None:
    """Two groups of one name are two groups; a button without any name is not sent."""
    group = "<crowd-radio-group{}><crowd-radio-button{}>A</crowd-radio-button></crowd-radio-group>"
    named = group.format(" name=g", " value=a") + group.format(" name=g", " name=b")
    task = task_of(tmp_path, f"<crowd-form>{named}{group.format('', '')}</crowd-form>")
    assert [field.sent_as for field in task.fields] == ["g", "b"]
    (loss,) = controls_of(f"<crowd-form>{group.format('', '')}</crowd-form>").losses
    assert "<crowd-radio-button> has no name" in loss


def test_what_only_a_script_makes_is_kept_as_json(tmp_path: Path) -> None:
    """Names that nobody could know before are in the dataset all the same."""
    html = "<div></div><script>document.write(`<input name='${id}'>`)</script>"
    task = task_of(tmp_path, html)
    assert [field.name for field in task.fields] == ["rest"]
    sent = {"topic-4": "2", "assignmentId": "A", "item.1": "a", "shown_ms.1": "5"}
    (answer,) = read_answers(task, ASSIGNMENT, [ItemId("a")], sent)
    assert answer.values == {"rest": '{"topic-4": "2"}'}
    assert answer.shown_ms == 5


def test_liquid_s_filters_and_nested_names() -> None:
    """As SageMaker's templates use them; a cell of JSON has parts."""
    columns = {"o": '{"text": "two  <b>"}', "l": '["a", "it\'s"]', "e": ""}
    html = (
        "<p>{{ task.input.o.text }}|{{ task.input.o['text'] | upcase }}|"
        "{{ task.input.e | default: \"none\" }}</p><x l='{{ task.input.l | to_json }}'>"
    )
    page = filled(html, **columns)
    assert page.startswith("<p>two  &lt;b&gt;|TWO  &lt;B&gt;|none</p>")
    assert "l='[&quot;a&quot;, &quot;it&#x27;s&quot;]'" in page
    raised = "<p>{{ task.input.l.² }}|{{ task.input.o.text | truncate: '²' }}</p>"
    assert filled(raised, **columns) == "<p>|two  &lt;b&gt;</p>"
    word = controls_of('<input type="text" name="word" maxlength="²">').by_name["word"]
    assert word.longest is None


@pytest.mark.parametrize(
    ("html", "fault"),
    [
        ("\n<p>{{ task.input.a | fancy }}", "line 2: there is no filter 'fancy'"),
        ("\n\n{% if task.input.a %}", "line 3: Liquid's '{% if task.input.a %}' is not"),
        ('<h${a}> <input name="b">', "line 1: 'a' is inside a tag"),
        ("<p>No input</p>", "give its inputs names"),
        (
            "<crowd-3d-point-cloud name='a'></crowd-3d-point-cloud>",
            "<crowd-3d-point-cloud> is not available",
        ),
        (
            "<crowd-form><crowd-imput name='a'></crowd-imput></crowd-form>",
            "line 1: there is no <crowd-imput> (did you mean 'crowd-input'?), so its",
        ),
        ('<p>\n\x00</p><input name="a">', "line 2: holds the character '\\x00'"),
        (
            '\n<script src="https://cdn.example.org/a.js"></script><input name="a">',
            "line 2: the page loads from cdn.example.org, which is not allowed",
        ),
    ],
)
def test_what_a_page_cannot_be_is_told_with_its_line(tmp_path: Path, html: str, fault: str) -> None:
    """Before anything is posted, with what to write instead."""
    with pytest.raises(ConfigError) as raised:
        task_of(tmp_path, html)
    assert fault in raised.value.faults[0]
    assert len(raised.value.faults) == 1


def test_a_page_in_another_encoding_is_told_with_its_line(tmp_path: Path) -> None:
    """What a site's old download was saved as; the sentence shows the text."""
    path = tmp_path / "hit.html"
    path.write_bytes("<p>${a}</p>\n<p>Café</p><input name='b'>".encode("latin-1"))
    around = Around(title="", description="", fields={})
    with pytest.raises(ConfigError, match="line 2: is not UTF-8; as Latin-1 it reads"):
        html_task(path, around)
    for name, written in (("ISO-8859-1", "cp1252"), ("'shift_jis'", "shift_jis")):
        html = f"<meta content=text/html;charset={name}><p>“日”</p><input name=b>"
        path.write_bytes(html.encode(written, errors="ignore"))
        page = html_task(path, around).html_page
        assert page is not None
        assert ("“" if written == "cp1252" else "日") in page.html


def test_a_page_may_have_the_line_ends_of_any_system(tmp_path: Path) -> None:
    """XML carries no bare carriage return, and many pages were saved on Windows."""
    path = tmp_path / "hit.html"
    path.write_bytes(b"<p>${url}</p>\r\n<pre>a\rb</pre>\r\n<input name='c'>\r\n")
    task = html_task(path, Around(title="", description="", fields={}))
    item = Item(item_id=ItemId("a"), columns={"item_id": "a", "url": "x"})
    page = render_hit(task, [item])
    assert "\r" not in page
    assert "<p>x</p>\n<pre>a\nb</pre>" in page


@pytest.mark.parametrize(
    "html",
    [
        # Led to where the marketplace takes answers in.
        '<form action="https://www.mturk.com/mturk/externalSubmit"><input name="a">',
        # MTurk put a page into its own form.
        '<form action="https://example.org/save"><input name="a"></form>',
        '<form action="${url}"><input name="a"></form>',
        '<form action="/find"><input name="q"></form><form><input name="a"></form>',
        "<input type=radio name=r value=1><input type=radio name=r value=2>",
        # One box is a yes.
        '<input type="checkbox" name="agree">',
        "<input type=radio name=r> yes <br>\n<input type=radio name=r> no",
        # A cell may hold the inputs.
        "<p>${a}</p>",
        "<button name='which' value='left'>Left</button><button name='which' value='right'>",
    ],
)
def test_what_answers_on_mturk_answers_here(tmp_path: Path, html: str) -> None:
    """No fault where an answer comes."""
    assert task_of(tmp_path, html).fields


def test_hosts_to_allow_are_named_together(tmp_path: Path) -> None:
    """As a line to paste; scripts that the marketplace has itself need none."""
    html = """<link rel="stylesheet" href="//b.org/x.css"><input name="a">
    <style>@import url(https://c.org/y.css);</style><iframe src="http://d.org"></iframe>
    <script src="https://assets.crowd.aws/crowd-html-elements.js"></script>
    <script src="https://s3.amazonaws.com/mturk-public/externalHIT_v1.js"></script>
    <script src="https://s3.amazonaws.com/mine/z.js"></script>
    <img src="https://e.org/f.jpg"> <a href="https://g.org">g</a>"""
    with pytest.raises(ConfigError) as raised:
        task_of(tmp_path, html, hosts=("a.org",))
    assert len(raised.value.faults) == 4
    wanted = '["a.org", "b.org", "c.org", "d.org", "s3.amazonaws.com"]'
    assert raised.value.next_step.endswith(f"set hosts = {wanted}")


CONTROLS = """
<title> A title </title>
<label for="w">Your word</label><input id="w" name="Answer.word" maxlength="9">
<p>How many?</p><input type="number" name="how-many" min="1" max="9" required>
<input type="number" name="free" step="any">
<fieldset><legend>How good?</legend>
<label><input type="radio" name="grade" value="1"> Bad</label>
<label><input type="radio" name="grade" value="2" required> Good</label></fieldset>
<input type="checkbox" name="tags" value="red"> Red
<input type="checkbox" name="tags" value="blue"> Blue
<select name="size"><option value="">Choose</option><option>small</option>
<option value="l">large</option></select>
<select name="many" multiple><option>a</option><option>b</option></select>
<textarea name="comment"></textarea> <input type="range" name="slide">
<input type="date" name="day"> <input type="hidden" name="id" value="${id}">
<input type="hidden" name="version" value="7"> <input type="hidden" id="s" name="spans"
 value="[]"> <input type="file" name="file"> <input name="off" disabled>
<button class="b">Yes</button><button class="b">No</button>
<input type="hidden" name="pressed">
<template><input name="unseen"></template> <!-- <input name="commented"> -->
<script>document.querySelector("#s").value = "[1]"; f("pressed", ".b")</script>
"""


def test_fields_are_found_and_typed(tmp_path: Path) -> None:
    """Every control that a browser would send, once; what is only carried is none."""
    task = task_of(tmp_path, CONTROLS, title="")
    described = {
        field.sent_as: (field.name, field.kind, [option.value for option in field.options])
        for field in task.fields
    }
    assert described == {
        "Answer.word": ("answer_word", "text", []),
        "how-many": ("how_many", "number", []),
        "free": ("free", "number", []),
        "grade": ("grade", "choice", ["1", "2"]),
        "tags": ("tags", "choices", ["red", "blue"]),
        "size": ("size", "choice", ["small", "l"]),
        "many": ("many", "choices", ["a", "b"]),
        "comment": ("comment_answer", "text", []),
        "slide": ("slide", "number", []),
        "day": ("day", "text", []),
        "off": ("off", "text", []),
        "spans": ("spans", "text", []),
        "pressed": ("pressed", "text", []),
    }
    by_name = {field.name: field for field in task.fields}
    assert by_name["answer_word"].label == "Your word"
    assert by_name["grade"].label == "How good?"
    assert [option.label for option in by_name["grade"].options] == ["Bad", "Good"]
    assert [option.label for option in by_name["tags"].options] == ["Red", "Blue"]
    assert (by_name["how_many"].minimum, by_name["how_many"].maximum) == (1, 9)
    assert {rule.name for rule in task.rules} == {
        "answer_word_max_length", "how_many_required", "grade_required",
    }  # fmt: skip
    assert task.title == "A title"
    assert task.items_per_hit == 1


def test_the_question_is_what_stands_before_the_labels(tmp_path: Path) -> None:
    """Of the first group; the second has no question, so it keeps its name."""
    html = """<p>Which shape?</p> <img src="a.jpg">
    <p><label><input type="radio" name="shape" value="c"> a circle</label>
    <label><input type="radio" name="shape" value="s"> a square</label></p>
    <label><input type="checkbox" name="sure" value="y"> I am sure</label>"""
    shape, sure = task_of(tmp_path, html).fields
    assert (shape.label, sure.label) == ("Which shape?", "sure")
    assert [option.label for option in shape.options] == ["a circle", "a square"]
    assert [option.label for option in sure.options] == ["I am sure"]


def test_the_campaign_may_say_more_about_fields(tmp_path: Path) -> None:
    """Options of what a script fills in; a field that a script makes."""
    statements = {
        "pressed": StatedField(options=("Yes", "No"), label="Is it?", required=True),
        "boxes": StatedField(kind="text"),
    }
    task = task_of(tmp_path, CONTROLS, fields=statements)
    by_name = {field.name: field for field in task.fields}
    assert by_name["pressed"].kind == "choice"
    assert not by_name["pressed"].is_open
    assert by_name["boxes"].sent_as == "boxes"
    assert "pressed_required" in {rule.name for rule in task.rules}
    with pytest.raises(ConfigError, match="the page has no such field"):
        task_of(tmp_path, CONTROLS, fields={"prest": StatedField(label="?")})


def test_the_campaign_may_name_the_page_s_own_sentence(tmp_path: Path) -> None:
    """Of a page that asks for a text; another page, another sentence: another task."""
    html = '<textarea name="whatYouSee"></textarea>'
    sentence = "Nothing can be seen."
    plain = task_of(tmp_path, html)
    assert plain.canned_text == ""
    tasks = [
        task_of(tmp_path, html, canned={name: sentence}) for name in ("whatYouSee", "what_you_see")
    ]
    assert [task.canned_text for task in tasks] == [sentence, sentence]
    assert len({task.own.digest for task in (plain, *tasks) if task.own}) == 3
    with pytest.raises(ConfigError, match=r"fields\.other\.canned: only"):
        task_of(tmp_path, html, canned={"other": sentence})


@pytest.mark.parametrize(
    ("stated", "begins", "item"), [(30.0, 9.0, 21.0), (6.0, 3.0, 3.0), (None, 9, 16)]
)
def test_a_stated_time_is_that_of_the_whole_hit(
    tmp_path: Path, stated: float | None, begins: float, item: float
) -> None:
    """To load and to read are part of it; unstated, one choice takes 9 + 10 + 6 s."""
    html = '<input type="radio" name="a" value="1"> 1'
    task = task_of(tmp_path, html, seconds=stated)
    assert (task.seconds_to_begin, task.seconds_per_item) == (begins, item)
    assert task.seconds_of_hit(1) == (stated or 25.0)


@pytest.mark.parametrize(
    ("script", "addresses"),
    [
        ("img.src = '${a}';", ("a",)),
        ('show(["${a}", {{ task.input.b }}])', ("a", "b")),
        ("here.innerHTML = '<img src=\"${a}\">'", ("a",)),
        ("var one = {url:`${a}`}", ("a",)),
        ("img.src = 'https://a.org/${a}'", ()),
        ("img.src = base + '${a}'", ()),
        ("var name = '${a}'; img.src = '/pictures/' + name", ()),
        ("// ${a} is shown", ()),
    ],
)
def test_where_a_script_may_have_an_address(script: str, addresses: tuple[str, ...]) -> None:
    """Not in the middle of one, nor where the script itself says where pictures are."""
    assert cut(f"<script>{script}</script>").possible_addresses == addresses
    shown = f"<img src='${{a}}'><script>{script}</script>"
    assert "a" not in cut(shown).possible_addresses


CHOICE = '<input type="radio" name="a" value="1">1 <input type="radio" name="a">2'
HIDDEN = '<input type="hidden" name="h%d">'


@pytest.mark.parametrize(
    ("html", "seconds"),
    [
        (CHOICE, 16),
        (CHOICE + HIDDEN % 1 + HIDDEN % 2, 16),
        (CHOICE + '<textarea name="why"></textarea>' + HIDDEN % 1, 41),
        (HIDDEN % 1 + HIDDEN % 2, 35),
        ('<button class="o">Y</button><button class="o">N</button>' + HIDDEN % 1, 16),
    ],
)
def test_a_hidden_input_takes_no_time(tmp_path: Path, html: str, seconds: float) -> None:
    """Nobody types into it; where a page has nothing else, a script asks something."""
    task = task_of(tmp_path, html + '<script>$(".o").on("click", go)</script>')
    assert task.seconds_per_item == seconds


def test_the_one_button_that_submits_asks_nothing(tmp_path: Path) -> None:
    """Many old pages gave it a name; two of one name are a choice."""
    one_button = '<input name="a"><input type="submit" name="Submit" value="Submit">'
    assert [field.name for field in task_of(tmp_path, one_button).fields] == ["a"]
    two = '<button type="submit" name="b" value="y">Y</button>' + one_button.replace(
        'name="Submit"', 'name="b"'
    )
    fields = {field.name: field for field in task_of(tmp_path, two).fields}
    assert [option.value for option in fields["b"].options] == ["y", "Submit"]


def test_a_script_s_buttons_are_options_that_bind_nobody(tmp_path: Path) -> None:
    """They are a guess: a worker who sent something else has done no wrong."""
    html = (
        '<button class="o">Yes</button><button class="o">No</button>'
        '<input type="hidden" name="answer"><script>$(".o").on("click", go)</script>'
    )
    task = task_of(tmp_path, html)
    (field,) = task.fields
    assert (field.kind, field.is_open) == ("choice", True)
    (answer,) = read_answers(task, ASSIGNMENT, [ItemId("a")], {"answer": "Perhaps"})
    assert answer.values == {"answer": "Perhaps"}
    assert answer.problems == ()


CROWD = [
    ("tag", "text", {"tag": "blue"}, "blue"),
    ("label", "choice", {"label": {"label": "Good"}}, "Good"),
    ("labels", "choices", {"labels": {"labels": ["a", "b"]}}, "a|b"),
    ("btn", "choice", {"btn": {"Good": True, "Bad": False}}, "Good"),
    ("col", "choices", {"col": {"a": True, "b": True, "c": False}}, "a|b"),
    ("much", "number", {"much": 4}, "4"),
    ("boxes", "text", {"boxes": {"boundingBoxes": []}}, '{"boundingBoxes": []}'),
    ("tag", "text", {}, ""),
]


@pytest.mark.parametrize(("name", "kind", "sent", "ours"), CROWD)
def test_the_shapes_of_crowd_elements_are_read(
    name: str, kind: str, sent: dict[str, object], ours: str
) -> None:
    """As their documentation has them, in one field of JSON."""
    field = Field(name="f", kind=kind, label="f", sent_as=name)  # type: ignore[arg-type]
    document = {"taskAnswers": json.dumps([sent])}
    assert received([field], document) == ({"f.1": ours}, {})


@pytest.mark.parametrize(
    ("sent", "ours"),
    [
        ({"c.label": "Good"}, "Good"),
        ({"c.labels": '["a","b"]'}, "a|b"),
        ({"c.a": "true", "c.b": "false", "c.d": "true"}, "a|d"),
        ({"c": "plain"}, "plain"),
    ],
)
def test_flattened_objects_are_read_as_well(sent: dict[str, str], ours: str) -> None:
    """`answer-format="flatten-objects"` joins names by dots."""
    field = Field(name="f", kind="choices", label="f", sent_as="c")
    assert received([field], sent) == ({"f.1": ours}, {})


SHAPES = {
    "boundingBoxes": [{"height": 4, "label": "Cat", "left": 1, "top": 2, "width": 3}],
    "inputImageProperties": {"height": 400, "width": 600},
    "labelMappings": {"St. Bernard": {"color": "#1f77b4"}},
    "labeledImage": {"pngImageData": "1234"},
    "initialValueModified": False,
}


@pytest.mark.parametrize("is_flat", [True, False])
def test_marks_are_one_json_text_however_they_are_sent(is_flat: bool) -> None:  # noqa: FBT001 - a case
    """Whole, with the picture's size, also from a flattened form."""
    field = Field(name="f", kind="text", label="f", sent_as="a", regions="boundingBoxes")
    flat = {
        "a.boundingBoxes": json.dumps(SHAPES["boundingBoxes"]),
        "a.inputImageProperties.height": "400",
        "a.inputImageProperties.width": "600",
        "a.labelMappings.St. Bernard.color": "#1f77b4",
        "a.labeledImage.pngImageData": "1234",
        "a.initialValueModified": "false",
    }
    ours, more = received(
        [field], flat if is_flat else {"taskAnswers": json.dumps([{"a": SHAPES}])}
    )
    assert json.loads(ours["f.1"]) == SHAPES
    assert more == {}


def test_one_list_of_marks_keeps_its_name() -> None:
    """A text's spans come alone, and stay what the element sent."""
    field = Field(name="f", kind="text", label="f", sent_as="a", regions="boundingBoxes")
    spans = {"entities": [{"endOffset": 3, "label": "x", "startOffset": 0}]}
    sent = as_page_sends([field], {"f.1": [json.dumps(spans)]}, is_crowd=True)
    assert json.loads(sent["taskAnswers"][0]) == [{"a": spans}]
    assert received([field], {"taskAnswers": sent["taskAnswers"][0]}) == (
        {"f.1": json.dumps(spans)},
        {},
    )


def test_an_element_of_marks_is_a_required_field(tmp_path: Path) -> None:
    """Known by its name, and no text that people wrote."""
    task = task_of(
        tmp_path,
        "<crowd-entity-annotation name='Spans' header='Names' text='${t}'"
        " labels=\"[{'label': 'person'}]\"></crowd-entity-annotation>",
    )
    (field,) = task.fields
    assert (field.name, field.kind, field.label, field.regions) == (
        "spans",
        "text",
        "Names",
        "entities",
    )
    assert [rule.kind for rule in task.rules] == ["required"]
    assert task.main_text == ""
    assert OWN_FORM not in render_hit(task, [Item(item_id=ItemId("a"), columns={"t": "x"})])


def test_boxes_and_spans_are_merged_and_a_choice_stays_the_label(tmp_path: Path) -> None:
    """Lines are not merged, and `boxes_merged` of the page gets another name."""
    element = "<crowd-{} name='{}' src='${{p}}' labels=\"['a']\"></crowd-{}>"
    html = "<crowd-form>" + "".join(
        element.format(tag, name, tag)
        for tag, name in (
            *(("bounding-box", "boxes"), ("polyline", "lines"), ("entity-annotation", "spans")),
        )
    )
    task = task_of(
        tmp_path,
        f"{html}<input type=radio name=boxes_merged value=y><input type=radio"
        " name=boxes_merged value=n></crowd-form>",
    )
    assert [(part.field, part.kind) for part in task.aggregates] == [
        ("boxes", "boxes"),
        ("spans", "spans"),
        ("boxes_merged_2", "majority"),
    ]
    assert field_with_label(task, None).name == "boxes_merged_2"


@pytest.mark.parametrize("text", ["no json", "[]", "[[]]", "[1]", "null", "[" * 10**5])
def test_what_is_no_answer_of_a_crowd_form_is_empty(text: str) -> None:
    """A worker's program may send anything, and it is kept."""
    field = Field(name="f", kind="text", label="f", sent_as="f")
    assert received([field], {"taskAnswers": text}) == (
        {"f.1": ""},
        {1: {"taskAnswers": text}},
    )


_texts = st.text(st.characters(exclude_characters="|", codec="utf-8"), min_size=1)


@given(st.booleans(), st.booleans(), _texts, st.sets(st.sampled_from("abc")), st.integers(0, 9))
def test_what_the_crowd_sends_is_read_as_it_was_meant(
    is_crowd: bool,  # noqa: FBT001 - drawn by name
    is_flat: bool,  # noqa: FBT001 - drawn by name
    text: str,
    ticked: set[str],
    number: int,
) -> None:
    """The way out and the way in are each other's reverse, in all shapes."""
    options = tuple(Option(value=name, label=name) for name in "abc")
    fields = [
        Field(name="t", kind="text", label="t", sent_as="T.x"),
        Field(name="c", kind="choice", label="c", sent_as="C-y", options=options),
        Field(name="s", kind="choices", label="s", sent_as="s", options=options),
        Field(name="n", kind="number", label="n", sent_as="n", maximum=9),
    ]
    ours = {"t.1": [text], "c.1": ["b"], "s.1": sorted(ticked), "n.1": [str(number)]}
    sent = as_page_sends(fields, ours, is_crowd=is_crowd, is_flat=is_flat)
    wire = {name: "|".join(values) for name, values in sent.items()}
    back, more = received(fields, wire)
    assert more == {}
    assert back["t.1"] == text
    assert back["c.1"] == "b"
    assert back.get("s.1", "") == "|".join(sorted(ticked))
    assert float(back["n.1"]) == number


def page_of(folder: Path, html: str, **columns: str) -> str:
    """The whole page of an item."""
    item = Item(item_id=ItemId("a"), columns={"item_id": "a", **columns})
    return render_hit(task_of(folder, html), [item])


OWN_FORM = '<form name="mturk_form"'


def test_spans_are_of_the_text_that_browsers_show(tmp_path: Path) -> None:
    """A cell of MTurk's has references for quotes, and offsets count what they stand for."""
    element = '<crowd-entity-annotation name=e labels=\'["City"]\' text="In ${text}">'
    task = task_of(tmp_path, f"<crowd-form>{element}</crowd-entity-annotation></crowd-form>")
    item = Item(item_id=ItemId("1"), columns={"text": "&quot;R&amp;D&quot; in <b>Oslo</b>"})
    assert marked_text(task, task.fields[0], item) == 'In "R&D" in <b>Oslo</b>'


def test_a_layout_is_put_into_a_form_with_a_button(tmp_path: Path) -> None:
    """As MTurk's site did; a page that has either keeps its own."""
    page = page_of(tmp_path, "<p>${b}</p><input name='x'>", b="1")
    assert page.startswith("<!DOCTYPE html>")
    assert page.count(OWN_FORM) == 1
    assert 'id="submitButton"' in page
    assert "submitButton" not in page_of(
        tmp_path, "<input name='x'><button type='submit'>Go</button>"
    )
    assert OWN_FORM not in page_of(tmp_path, "<form><input name='x'></form>")
    crowd = "<crowd-form><crowd-input name='x'></crowd-input></crowd-form>"
    assert OWN_FORM not in page_of(tmp_path, crowd)


def test_a_whole_document_stays_one(tmp_path: Path) -> None:
    """What is ours goes into its head and behind its end."""
    html = (
        "<!doctype html><html><head><title>x</title></head>"
        "<body><form><input name=a></form></body></html>"
    )
    page = page_of(tmp_path, html)
    assert page.count("<html>") == page.count("</html>") == 1
    assert page.index("Content-Security-Policy") < page.index("<title>")
    assert page.index('id="piecework-item"') < page.index("</body>")


@pytest.mark.parametrize(
    ("html", "language", "spoken", "direction"),
    [
        ('<!-- a --><!DOCTYPE html><html class="b" lang="he" dir="rtl">', "en", "he", "rtl"),
        ('<html lang="en">', "he", "en", None),
        ("", "zh-Hant", "zh-Hant", None),
        ("", "he", "he", "rtl"),
        # The page's own direction counts; if it states none, that of its language.
        ('<html dir="ltr">', "he", "he", "ltr"),
        ('<html dir="ltr" lang="he">', "en", "he", "ltr"),
        ('<html lang="he">', "en", "he", "rtl"),
        *((f'<html lang="{tag}">', "en", None, direction) for tag, direction in DIRECTIONS.items()),
        # Nobody stated a language; the item states it.
        ("", "en", None, None),
        ('<html lang="${tongue}">', "he", None, None),
    ],
)
def test_the_site_speaks_the_language_of_a_page(
    tmp_path: Path, html: str, language: str, spoken: str | None, direction: str | None
) -> None:
    """As the page states it, else the campaign; and so does the button that the page gets.

    A language brings its direction.
    """
    task = task_of(tmp_path, f"{html}<p>x</p><input name='a'>", language=language)
    page = render_hit(task, [Item(item_id=ItemId("1"), columns={"tongue": "en"})])
    assert languages.of_page(page) == spoken
    assert f"<noscript>{frame_texts(language)['no_script']}</noscript>" in page
    # Browsers take the first that an <html> states.
    (leads, *_) = [*re.findall(r'<html[^>]* dir="(\w+)"', page), None]
    assert leads == direction
    assert f'value="{frame_texts(language)["submit"]}"' in page


@pytest.mark.parametrize(
    "html",
    [
        "<style>.p { background: url(${b}) }</style>",
        "<p style=\"background-image: url('${b}')\"></p>",
    ],
)
def test_an_address_in_a_style_is_one(tmp_path: Path, html: str) -> None:
    """So a folder of pictures is served for it, and nothing else gets there."""
    html += '<input name="x">'
    page = task_of(tmp_path, html).html_page
    assert page is not None
    assert page.addresses == ("b",)
    # A browser reads 2f and a blank, escaped, as the sign with that number.
    assert r"\2f pictures\2f 1.svg" in page_of(tmp_path, html, b="/pictures/1.svg")
    with pytest.raises(ConfigError, match="needs an address that begins"):
        page_of(tmp_path, html, b="1);x:url(javascript:alert(1)")


def test_what_was_loaded_by_http_is_loaded_by_https(tmp_path: Path) -> None:
    """Only from hosts that may be loaded from; a link to read stays as it was."""
    html = """<script src="http://a.org/j.js"></script><link href='//a.org/b.css'>
    <style>@import url(//a.org/c.css);</style><a href="http://b.org/x">b</a>
    <script src="//assets.crowd.aws/crowd-html-elements.js"></script><input name="a">"""
    item = Item(item_id=ItemId("a"), columns={"item_id": "a"})
    page = render_hit(task_of(tmp_path, html, hosts=("a.org",)), [item])
    assert 'src="https://a.org/j.js"' in page
    assert "href='https://a.org/b.css'" in page
    assert "url(https://a.org/c.css)" in page
    assert 'href="http://b.org/x"' in page
    assert 'src="//assets.crowd.aws/' in page  # the marketplace leads it to its own


def test_an_address_that_is_none_is_told_with_its_item(tmp_path: Path) -> None:
    """A script in the place of an address would run when it is pressed."""
    html = '<img src="${b}"><p>${c}</p><input name="x">'
    for address in ("https://a.org/b?c=1&d", ""):
        written = address.replace("&", "&amp;")
        assert f'src="{written}"' in page_of(tmp_path, html, b=address, c="1")
    for address in ("javascript:alert(1)", "s3://bucket/a.jpg"):
        with pytest.raises(ConfigError, match="item 'a': b is"):
            page_of(tmp_path, html, b=address, c="1")


def test_a_link_may_lead_anywhere_and_runs_nothing(tmp_path: Path) -> None:
    """MTurk's tables have links without a scheme, with spaces, or none."""
    html = '<a href="${b}">x</a><p>${c}</p><input name="x">'
    for address in ("www.a.org/b c", "https://a.org/?q=1: 2", "", "#top"):
        assert f'<a href="{address}">' in page_of(tmp_path, html, b=address, c="1")
    for address in (" java\nscript:f()", "data:text/html,<script>", "vbscript:f"):
        with pytest.raises(ConfigError, match=r"b is .*, and a link may not run a script"):
            page_of(tmp_path, html, b=address, c="1")
    assert cut(html).possible_addresses == ("b",)


def test_a_page_that_shows_nothing_of_an_item_is_refused(tmp_path: Path) -> None:
    """Some of its cells may be empty, but not all."""
    html = '<p>${a} ${b}</p><input name="x">'
    assert "<p>1 </p>" in page_of(tmp_path, html, a="1", b="")
    refused = "every cell that the page shows of it is empty: a, b; leave the row out, or write"
    with pytest.raises(ConfigError, match=refused):
        page_of(tmp_path, html, a=" ", b="")


def test_neither_truth_nor_gold_can_be_shown(tmp_path: Path) -> None:
    """A page that names such a column asks for one that is not there."""
    html = '<p>${gold.x}</p><input name="x">'
    with pytest.raises(ConfigError, match=r"the page asks for 'gold\.x'"):
        page_of(tmp_path, html, **{"gold.x": "SECRET"})


@needs_shared
@pytest.mark.parametrize("path", sorted(SHARED.rglob("*.html")), ids=lambda path: path.name)
def test_the_shared_pages_are_tasks(path: Path, tmp_path: Path) -> None:
    """Unchanged, but for the hosts that the campaign has to allow."""
    task = task_of(tmp_path, path.read_text("utf-8"), hosts=LIBRARIES)
    assert task.fields


@pytest.mark.parametrize(
    ("values", "scale"),
    [(("1", "2", "3", "4", "5"), (1, 5, 1)), (("2", "0", "-2"), (-2, 2, 1))],
)
def test_radio_buttons_that_are_numbers_have_their_scale(
    tmp_path: Path, values: tuple[str, ...], scale: tuple[float, float, float]
) -> None:
    """`kind = "number"` is enough for means, and no answer between two buttons is possible."""
    buttons = "".join(f'<input type="radio" name="grade" value="{value}">' for value in values)
    fields = {"grade": StatedField(kind="number")}
    (grade,) = task_of(tmp_path, f"<form>{buttons}</form>", fields=fields).fields
    assert (grade.minimum, grade.maximum, grade.step) == scale
    stated = {"grade": StatedField(kind="number", minimum=0, step=0.5)}
    (grade,) = task_of(tmp_path, f"<form>{buttons}</form>", fields=stated).fields
    assert (grade.minimum, grade.maximum, grade.step) == (0, scale[1], 0.5)


def test_marks_that_a_file_states_are_merged_and_make_another_task(tmp_path: Path) -> None:
    """A store is bound to the digest: answers of another kind are not comparable."""
    texts = {"drawn": StatedField(kind="text")}
    boxes = {"drawn": StatedField(kind="text", marks="boxes")}
    plain, marked = (task_of(tmp_path, IDS, fields=fields) for fields in (texts, boxes))
    assert plain.own is not None
    assert marked.own is not None
    assert plain.own.digest != marked.own.digest
    (field,) = [field for field in marked.fields if field.name == "drawn"]
    assert field.regions == "boundingBoxes"
    assert [(each.field, each.kind) for each in marked.aggregates] == [("drawn", "boxes")]
    with pytest.raises(ConfigError, match="marks are in a text"):
        task_of(tmp_path, IDS, fields={"n": StatedField(kind="number", marks="boxes")})
