"""The worker site speaks several languages, and no sentence of it bypasses them."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from piecework.marketplace import languages
from piecework.marketplace.languages import plural, say, speaking
from piecework.marketplace.workers import pages
from tests.for_each import for_each
from tests.marketplace.market import Market, post

MARKETPLACE = Path(languages.__file__).parents[1]
TEMPLATES = sorted((MARKETPLACE / "workers/templates").glob("*.j2"))
SCRIPTS = sorted((MARKETPLACE / "workers/static").glob("*.js"))
STAND_INS = sorted((MARKETPLACE / "workers/stand_ins").glob("*.js"))
CODE = [
    *sorted((MARKETPLACE / "workers").glob("*.py")),
    *sorted((MARKETPLACE / "forms").glob("*.py")),
    MARKETPLACE / "languages/__init__.py",
    MARKETPLACE / "state/messages.py",
    MARKETPLACE / "state/visits.py",
]
OTHERS = languages.languages()[1:]
_BLOCK = re.compile(r"(?s)\{%-?\s*trans\b.*?\{%-?\s*endtrans\s*-?%\}")
_CODE = re.compile(r"(?s)\{#.*?#\}|\{%.*?%\}|\{\{.*?\}\}")
_TAG = re.compile(r"""(?s)<(?:[^>"]|"[^"]*")*>""")
_TEXTS = re.compile(r"""\b(?:aria-label|title|alt|placeholder)="([^"]*)\"""")
_QUOTED = re.compile(r'(?<!_\()(?<!== )(?<!!= )"([A-Z][a-z][^"]*)"')
_IN_STAND_IN = re.compile(
    r'\btranslate\(\s*"([^"]*)"|\bword: "(\w+)"|\bsuper\(element, kit, "(\w+)"'
)
_KEYS = {"Enter", "Escape", "Backspace", "Delete"}
_SLOT = re.compile(r"%\((\w+)\)s")


def sentences_of(path: Path) -> Iterator[str | tuple[str, str]]:
    """The sentences of a module; a pair has forms for one and many."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
            continue
        texts = [
            argument.value
            for argument in node.args
            if isinstance(argument, ast.Constant) and isinstance(argument.value, str)
        ]
        if node.func.id in {"say", "sentence"} and texts:
            yield texts[0]
        elif node.func.id == "Refusal" and len(texts) > 1:
            yield texts[1]
        elif node.func.id in {"_refuse", "_refused"} and texts:
            yield texts[-1]


def units_in_pages() -> Iterator[str]:
    """The sentences that a number changes."""
    for _, single, _many in pages._UNITS:
        yield single


def keys() -> tuple[set[str], set[str]]:
    """All sentences of the site: plain, and those that a number changes."""
    plain: set[str] = set()
    numbered = set(units_in_pages())
    for path in TEMPLATES:
        extracted = pages._ENVIRONMENT.extract_translations(path.read_text("utf-8"))  # type: ignore[attr-defined]
        for _line, function, text in extracted:
            first = text[0] if isinstance(text, tuple) else text
            (numbered if function == "ngettext" else plain).add(first)
    for path in CODE:
        plain |= {text for text in sentences_of(path) if isinstance(text, str)}
    units = {text for unit in pages._UNITS for text in unit[1:]}
    return plain - units, numbered


def test_there_are_two_more_languages_with_one_from_right_to_left() -> None:
    """And many sentences: a change of idiom must not leave a room out."""
    plain, numbered = keys()
    assert {"he", "zh-Hant"} <= set(OTHERS)
    assert len(plain) > 200
    assert len(numbered) > 8
    with speaking("he"):
        assert languages.direction() == "rtl"


@pytest.mark.parametrize("language", OTHERS)
def test_a_language_has_every_sentence_and_no_other(language: str) -> None:
    """With the same values in each, and one form for each plural."""
    plain, numbered = keys()
    sentences = languages._sentences(language)
    assert sorted((plain | numbered) - sentences.keys()) == []
    assert sorted(sentences.keys() - plain - numbered) == []
    for text, translated in sentences.items():
        forms = translated if isinstance(translated, list) else [translated]
        assert isinstance(translated, list) == (text in numbered), text
        for form in forms:
            allowed = set(_SLOT.findall(text)) | ({"count"} if text in numbered else set())
            assert set(_SLOT.findall(form)) <= allowed, text
            assert set(_SLOT.findall(text)) - set(_SLOT.findall(form)) <= {"count"}, text


@for_each("path", TEMPLATES)
def test_no_text_of_a_template_bypasses_the_messages(path: Path) -> None:
    """Neither between tags, nor in an attribute, nor chosen in an expression."""
    source = _BLOCK.sub("", path.read_text("utf-8"))
    attributes = [
        _CODE.sub("", text) for tag in _TAG.findall(source) for text in _TEXTS.findall(tag)
    ]
    between = _TAG.sub(" ", _CODE.sub(" ", source))
    # What a block gives to a tag: an attribute or an address.
    between = re.sub(r"""[\w-]+="[^"]*"|/\w+""", " ", between)
    words = re.findall(r"[A-Za-z]{2,}", " ".join([*attributes, between]))
    assert [word for word in words if word != "required"] == []
    assert [
        text
        for code in _CODE.findall(source)
        if not code.startswith("{%") or " if " in code
        for text in _QUOTED.findall(code)
    ] == []


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.name)
def test_no_script_has_a_sentence_of_its_own(path: Path) -> None:
    """It takes them from its page."""
    code = re.sub(r"(?m)^\s*//.*$", "", path.read_text("utf-8"))
    texts = re.findall(r'"([^"\n]*)"', code)
    assert [text for text in texts if re.search(r"[A-Z][a-z]+\W+[a-z]", text)] == []


@pytest.mark.parametrize("language", OTHERS)
def test_a_language_has_every_sentence_of_the_stand_ins_and_no_other(language: str) -> None:
    """With the same values in each."""
    used = {
        text
        for path in STAND_INS
        for texts in _IN_STAND_IN.findall(path.read_text("utf-8"))
        for text in texts
        if text
    }
    assert len(used) > 80
    sentences = languages.stand_in_sentences(language)
    assert sorted(used - sentences.keys()) == []
    assert sorted(sentences.keys() - used) == []
    for text, translated in sentences.items():
        assert sorted(_SLOT.findall(str(translated))) == sorted(_SLOT.findall(text)), text


@pytest.mark.parametrize("path", STAND_INS, ids=lambda path: path.name)
def test_no_sentence_of_a_stand_in_bypasses_the_messages(path: Path) -> None:
    """Nothing that begins with a capital, and no row of words."""
    code = re.sub(r"(?m)^\s*//.*$|\s//\s.*$", "", path.read_text("utf-8"))
    code = re.sub(r'\btranslate\(\s*"[^"]*"', "", code)
    texts = {text for both in re.findall(r'"([^"\n]*)"|`([^`\n]*)`', code) for text in both}
    sentence = re.compile(r"[A-Z][a-z]+\b|(?:\b[a-z]+ ){2}[a-z]+\b")
    assert [text for text in texts - _KEYS if sentence.match(text)] == []


def test_an_english_page_gets_the_stand_ins_as_they_are(standing: Market) -> None:
    """And loads no sentences of another language."""
    http, at = standing.worker().http, f"{standing.frames}/stand-ins"
    whole = http.get(f"{at}/crowd-html-elements.js").text
    assert whole == (STAND_INS[0].parent / "crowd-html-elements.js").read_text("utf-8")
    hebrew = http.get(f"{at}/he/crowd-html-elements.js").text
    assert hebrew.endswith(whole)
    assert str(languages.stand_in_sentences("he")["Submit"]) in hebrew
    assert http.get(f"{at}/he/crowd-tools.js").status_code == 200
    assert http.get(f"{at}/xx/crowd-tools.js").status_code == 404


def test_what_a_stranger_typed_is_no_markup_in_any_language() -> None:
    """A value in a sentence is escaped by the page that shows it."""
    for language in languages.languages():
        with speaking(language):
            page = pages.render_page("refused.html.j2", message="<b>100 %</b>", has_menu=False)
            assert b"&lt;b&gt;100 %" in page.body
            title = {"title": "<i>%(x)s</i>", "assignment_id": "A"}
            reported = pages.render_page("reported.html.j2", assignment=title)
            assert b"&lt;i&gt;%(x)s" in reported.body


def test_numbers_take_their_language_s_form() -> None:
    """English two, Hebrew two, Chinese one."""
    units = pages._UNITS[2][1:]
    shown = {}
    for language in languages.languages():
        with speaking(language):
            shown[language] = [plural(*units, count) for count in (1, 2)]
            assert pages.duration(90)
            assert pages.moment(1736154000000)
    assert len(set(shown["he"])) == 2
    assert len(set(shown["zh-Hant"])) == 1


def test_the_page_around_a_hit_speaks_its_language_and_so_does_the_site_then(
    market: Market,
) -> None:
    """A Chinese question: its page, and the list after it; a browser's own before."""
    question = (
        '<HTMLQuestion xmlns="http://mechanicalturk.amazonaws.com/'
        'AWSMechanicalTurkDataSchemas/2011-11-11/HTMLQuestion.xsd"><HTMLContent>'
        '<![CDATA[<!DOCTYPE html><html lang="zh-Hant"><title>x</title></html>]]>'
        "</HTMLContent><FrameHeight>0</FrameHeight></HTMLQuestion>"
    )
    group = post(market.requester("LAB"), Question=question)["HITGroupId"]
    ann = market.worker()
    ann.http.headers["accept"] = "text/html"
    ann.http.headers["accept-language"] = "he-IL, en;q=0.5"
    listed = ann.http.get("/worker/hits").text
    assert '<html lang="he" dir="rtl">' in listed
    preview = ann.http.get(f"/worker/groups/{group}/preview").text
    assert '<html lang="zh-Hant" dir="ltr">' in preview
    assert "HITs you can do" not in listed
    listed = ann.http.get("/worker/hits").text
    assert '<html lang="zh-Hant"' in listed
    with speaking("zh-Hant"):
        assert say("HITs you can do") in listed


def test_a_worker_chooses_a_language_in_a_menu_and_keeps_it(market: Market) -> None:
    """Also beside a HIT in another language; the menu leads back to its page, nowhere else."""
    question = (
        '<HTMLQuestion xmlns="http://mechanicalturk.amazonaws.com/'
        'AWSMechanicalTurkDataSchemas/2011-11-11/HTMLQuestion.xsd"><HTMLContent>'
        '<![CDATA[<!DOCTYPE html><html lang="zh-Hant"><title>x</title></html>]]>'
        "</HTMLContent><FrameHeight>0</FrameHeight></HTMLQuestion>"
    )
    group = post(market.requester("LAB"), Question=question)["HITGroupId"]
    ann = market.worker()
    ann.http.headers["accept"] = "text/html"
    listed = ann.http.get("/worker/hits?sort=time&q=%3Cb%3E").text
    for tag, name in languages.own_names().items():
        assert f'value="{tag}" lang="{tag}"' in listed
        assert f">{name}</button>" in listed
    assert 'name="to" value="/worker/hits?sort=time&amp;q=%3Cb%3E"' in listed
    chosen = ann.http.post("/worker/language", data={"language": "he", "to": "/worker/history"})
    assert chosen.headers["location"] == "/worker/history"
    assert '<html lang="he" dir="rtl">' in ann.http.get("/worker/history").text
    assert '<html lang="he"' in ann.http.get(f"/worker/groups/{group}/preview").text
    assert '<html lang="he"' in ann.http.get("/worker/hits").text
    for elsewhere in ("//evil.example", "https://evil.example", "/\\evil.example", "/\t/evil"):
        led = ann.http.post("/worker/language", data={"language": "xx", "to": elsewhere})
        assert led.headers["location"] == "/worker/hits"
    assert '<html lang="he"' in ann.http.get("/worker/hits").text


_FREE_TEXT = re.compile(
    r"\{\{ (?:(?:[\w.]+\.)?(?:requester_name|feedback|reason|objection|text)"
    r"|[\w.]+\.(?:title|subject|name|description|keywords))(?: \| trim)? \}\}"
)
_OF_ONE_DIRECTION = re.compile(
    r"<title>.*?</title>|<option.*?</option>|\{% block title %\}.*?\{% endblock %\}"
    r'|<span class="hidden">.*?</span>'
)
_PLAINTEXT = re.compile(r"^:is\(([\w, ]+)\) \{ unicode-bidi: plaintext; \}$", re.MULTILINE)


def test_what_people_wrote_keeps_its_own_direction() -> None:
    """Inside a text of the other direction, signs at its ends would change places.

    A browser finds the direction by the first letter in `bdi`, and in an element that the
    style sheets name and that holds nothing else.
    """
    sheets = [MARKETPLACE / "workers/static" / name for name in ("site.css", "frame.css")]
    rules = [_PLAINTEXT.search(sheet.read_text("utf-8")) for sheet in sheets]
    site, frame = ({"bdi", *rule[1].split(", ")} if rule else set() for rule in rules)
    seen = 0
    for template in TEMPLATES:
        page = _OF_ONE_DIRECTION.sub("", template.read_text("utf-8"))
        for text in _FREE_TEXT.finditer(page):
            before, after = page[: text.start()], page[text.end() :]
            if before.rfind("<") > before.rfind(">"):
                continue  # a value of an attribute
            seen += 1
            around = re.search(r"<(\w+|h\{\{ level \}\})(?: [^<>]*)?>(?:\{%[^%]*%\})?$", before)
            assert around, (template.name, text[0])
            assert around[1].replace("{{ level }}", "3") in site & frame, (template.name, text[0])
            assert re.match(r"</|\{% el", after), (template.name, text[0])
    assert seen > 30
