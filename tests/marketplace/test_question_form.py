"""The schema of QuestionForm: what is taken, what is refused, and where it says so."""

import time

import pytest

from piecework.marketplace.exceptions import Refusal
from piecework.marketplace.forms.form import (
    Bullets,
    Choice,
    Formatted,
    FreeText,
    Medium,
    Overview,
    Text,
    Title,
)
from piecework.marketplace.forms.schema import read_form
from tests.for_each import for_each
from tests.marketplace.documents import FORM_2005, choice, form, formatted, free_text, question

IMAGE = (
    "<Binary><MimeType><Type>image</Type><SubType>png</SubType></MimeType>"
    "<DataURL>https://example.org/a.png?x=1&amp;y=2</DataURL>"
    "<AltText>A bird</AltText></Binary>"
)
FILM = (
    "<EmbeddedBinary><EmbeddedMimeType><Type>video</Type><SubType>mp4</SubType>"
    "</EmbeddedMimeType><DataURL>https://example.org/a.mp4</DataURL>"
    "<AltText>A film</AltText><Width>400px</Width><Height>50%</Height>"
    "<ApplicationParameter><Name>loop</Name><Value>no</Value></ApplicationParameter>"
    "</EmbeddedBinary>"
)
LAUGHS = '<!ENTITY l0 "lol">' + "".join(
    '<!ENTITY l{} "{}">'.format(n, f"&l{n - 1};" * 10) for n in range(1, 10)
)
ATTRIBUTES = " ".join(f'b{n}="1"' for n in range(5_000))


def complaint(document: str) -> str:
    """What is said about a document that is refused."""
    with pytest.raises(Refusal) as caught:
        read_form(document)
    assert caught.value.kind == "ParameterValidationError"
    return caught.value.message


def test_every_kind_of_content_is_read() -> None:
    """Titles, texts, lists, media of both kinds and XHTML, in their order."""
    overview = (
        "<Overview><Title>Look</Title><Text>a &lt; b</Text><List><ListItem>one"
        f"</ListItem><ListItem>two</ListItem></List>{IMAGE}{FILM}"
        f"{formatted('<b>bold</b>')}</Overview>"
    )
    parts = read_form(form(overview, question("q"), overview)).parts
    assert isinstance(parts[0], Overview)
    assert parts[0] == parts[2]
    assert parts[0].content == (
        Title("Look"),
        Text("a < b"),
        Bullets(("one", "two")),
        Medium(kind="image", url="https://example.org/a.png?x=1&y=2", alt="A bird"),
        # A width in per cent is no number of pixels, so the browser decides.
        Medium(kind="video", url="https://example.org/a.mp4", alt="A film", width="400"),
        Formatted("<b>bold</b>"),
    )


def test_every_rule_of_an_answer_is_read() -> None:
    """Constraints, default, lines; counts, style, other; both namespaces."""
    held = free_text(
        '<IsNumeric minValue="1" maxValue="9"/><Length minLength="1" maxLength="4"/>'
        '<AnswerFormatRegex regex="^\\d" errorText="Begin with a digit." flags="i"/>',
        "<DefaultText>1</DefaultText><NumberOfLinesSuggestion>3</NumberOfLinesSuggestion>",
    )
    other = "<OtherSelection><Constraints/></OtherSelection>"
    picked = choice("a", "b", least=0, most=3, style="multichooser", other=other)
    document = form(question("t", held), question("c", picked), namespace=FORM_2005)
    text, chosen = read_form(document).questions
    assert isinstance(text.answer, FreeText)
    assert (text.answer.least, text.answer.most, text.answer.lines) == (1, 9, 3)
    assert (text.answer.shortest, text.answer.longest) == (1, 4)
    assert text.answer.formats[0].complaint == "Begin with a digit."
    assert text.is_required  # as the service says of minLength
    assert isinstance(chosen.answer, Choice)
    assert (chosen.answer.least, chosen.answer.most) == (0, 3)
    assert chosen.answer.style == "multichooser"
    assert chosen.answer.other == FreeText()


def test_a_choice_is_one_of_its_selections_unless_it_says_otherwise() -> None:
    """Both counts default to one."""
    plain = choice("a").replace("<MinSelectionCount>1</MinSelectionCount>", "")
    plain = plain.replace("<MaxSelectionCount>1</MaxSelectionCount>", "")
    (parsed,) = read_form(form(question("q", plain))).questions
    assert isinstance(parsed.answer, Choice)
    assert (parsed.answer.least, parsed.answer.most) == (1, 1)


def test_a_fault_is_told_with_its_line_and_column() -> None:
    """Of the element that is wrong, not of the document."""
    document = form("\n" + question("q") + "\n  <Answer/>")
    assert "line 3, column 2: Answer is not expected in QuestionForm" in complaint(document)


@for_each(
    ("document", "words"),
    [
        ("", "line 1, column 0"),
        ("<QuestionForm/>", "in the namespace of 2005-10-01 or 2017-11-06"),
        (form(), "must hold a Question"),
        (form("<Overview/>", question("q")), "Overview must hold Title"),
        (form("text", question("q")), "QuestionForm holds elements, not text"),
        (form(question("q"), question("q")), "'q' is taken or reserved"),
        (form(question("assignmentId")), "taken or reserved"),
        (form(question("q.OtherSelectionText")), "taken or reserved"),
        (form(question(" ")), "QuestionIdentifier must have 1 to 256"),
        (form(question("q", content="")), "QuestionContent must hold Title"),
        (form(question("q", content="<Text><b>x</b></Text>")), "Text may hold only text"),
        (form(question("q", content="<Texts/>")), "Title or Text or List"),
        (form(question("q", content="<List/>")), "List must hold ListItem"),
        (form(question("q", content='<Text id="x"/>')), "no attribute 'id'"),
        (form(question("q", "")), "FreeTextAnswer or SelectionAnswer"),
        (form(question("q", "<FileUploadAnswer/>")), "was retired on 2017-12-12"),
        (
            form(question("q", content="<Application><Flash/></Application>")),
            "Application was retired",
        ),
        (form(question("q").replace(">false<", ">no<")), "IsRequired must be true or false"),
        (form(question("q", choice())), "Selections must hold Selection"),
        (form(question("q", choice("a", "a"))), "the same SelectionIdentifier"),
        (form(question("q", choice("a", least=2, most=2))), "more than can be selected"),
        (form(question("q", choice("a", "b", least=2))), "more than can be selected"),
        (form(question("q", choice("a", most=0))), "must be at least 1"),
        (form(question("q", choice("a", style="slider"))), "must be one of radiobutton"),
        (form(question("q", free_text('<IsNumeric minValue="x"/>'))), "whole number"),
        (
            form(question("q", free_text('<IsNumeric minValue="2" maxValue="1"/>'))),
            "minValue is above maxValue",
        ),
        (form(question("q", free_text('<Length maxLength="0"/>'))), "at least 1"),
        (form(question("q", free_text("<Length>3</Length>"))), "Length must be empty"),
        (
            form(question("q", free_text('<Length/><IsNumeric minValue="1"/>'))),
            "IsNumeric is not expected in Constraints",
        ),
        (
            form(question("q", free_text('<AnswerFormatRegex regex="("/>'))),
            "not a regular expression",
        ),
        (form(question("q", free_text("<AnswerFormatRegex/>"))), "regex must have"),
        (
            form(question("q", free_text('<AnswerFormatRegex regex="a" flags="g"/>'))),
            "flags must be i",
        ),
        (
            form(question("q", content=IMAGE.replace("https:", "javascript:"))),
            "DataURL must be an http or https address",
        ),
        (
            form(question("q", content=IMAGE.replace(">image<", ">text<"))),
            "Type must be one of image, audio, video",
        ),
        (form(question("q", content=IMAGE.replace("AltText", "Alt"))), "AltText was"),
        (form('<Overview xmlns="x"><Text/></Overview>', question("q")), "namespace"),
    ],
)
def test_what_the_schema_does_not_know_is_refused(document: str, words: str) -> None:
    """Each fault in words, with its position."""
    message = complaint(document)
    assert words in message
    assert "line " in message


@for_each(
    "document",
    [
        '<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>',
        '<!DOCTYPE a SYSTEM "file:///etc/passwd"><a/>',
        '<!DOCTYPE a [<!ENTITY % p SYSTEM "http://127.0.0.1/x"> %p;]><a/>',
        f"<!DOCTYPE lolz [{LAUGHS}]><a>&l9;</a>",
        "<a>" * 20_000,
        "<a>" * 8_000 + "</a>" * 8_000,
        form(question("q", content=formatted("<b>" * 8_000 + "</b>" * 8_000))),
        f"<a {ATTRIBUTES}/>",
        "<a>" + "x" * 70_000 + "</a>",
        "<a>&undefined;</a>",
        "<?xml version='1.0' encoding='utf-7'?><a/>",
        "\ufeff\ufeff<a/>",
        "<a>\x00</a>",
    ],
)
def test_bombs_do_not_go_off(document: str) -> None:
    """Entities, depth, breadth and size: a sentence, and at once."""
    begun = time.process_time()
    complaint(document)
    # Milliseconds; what goes off takes minutes, or all memory.
    assert time.process_time() - begun < 20


@pytest.mark.parametrize(
    ("markup", "safe"),
    [
        ("plain &amp; simple", "plain &amp; simple"),
        ("a&nbsp;b &eacute;", "a\u00a0b \u00e9"),
        ("<p align='center'>x</p>", '<p align="center">x</p>'),
        ("<br/>", "<br>"),
        ("<h1>x</h1>", "<h3>x</h3>"),  # below the page's own headings
        (
            '<a href="https://x.org/?a=1&amp;b=2" target="_top">x</a>',
            (
                '<a href="https://x.org/?a=1&amp;b=2" target="_blank" '
                'rel="noopener noreferrer">x</a>'
            ),
        ),
        (
            '<img src="https://x.org/i.png" alt="&quot;&gt;&lt;script&gt;"/>',
            '<img src="https://x.org/i.png" alt="&quot;&gt;&lt;script&gt;">',
        ),
        (
            '<table border="1"><tr><td colspan="2">1</td></tr></table>',
            '<table border="1"><tr><td colspan="2">1</td></tr></table>',
        ),
        ("&lt;script&gt;alert(1)&lt;/script&gt;", "&lt;script&gt;alert(1)&lt;/script&gt;"),
    ],
)
def test_allowed_markup_is_written_anew(markup: str, safe: str) -> None:
    """Tags of the service's table, with their attributes, escaped again."""
    (parsed,) = read_form(form(question("q", content=formatted(markup)))).questions
    assert parsed.content == (Formatted(safe),)


@for_each(
    "markup",
    [
        "<script>alert(1)</script>",
        "<style>*{}</style>",
        "<div>x</div>",
        "<iframe src='https://x.org'></iframe>",
        "<object/>",
        "<svg onload='alert(1)'/>",
        "<form/>",
        "<input/>",
        "<b onclick='alert(1)'>x</b>",
        "<b style='color:red'>x</b>",
        "<b class='x'>x</b>",
        "<b id='main'>x</b>",
        "<a href='javascript:alert(1)'>x</a>",
        "<a href='JaVaScRiPt:alert(1)'>x</a>",
        "<a href=' javascript:alert(1)'>x</a>",
        "<a href='https://x.org/&#10;'>x</a>",
        "<a href='/worker/sign-out'>x</a>",
        "<a href='data:text/html,x'>x</a>",
        "<img src='data:image/png,x' alt=''/>",
        "<img src='ftp://x.org/a.png' alt=''/>",
        "<img src='https://x.org/a.png'/>",
        "<img alt='x'/>",
        "<q cite='javascript:alert(1)'>x</q>",
        "<img src='https://x.org/a' alt='' usemap='javascript:x'/>",
        "<!-- comment -->",
        "<?php x ?>",
        "<b><i>x</b></i>",
        "<B>x</B>",
        "<p>x",
        "</FormattedContent><script/><FormattedContent>",
        "<b xmlns='http://www.w3.org/2000/svg'>x</b>",
        "<br>x</br>",
        "&undefined;",
    ],
)
def test_other_markup_is_refused(markup: str) -> None:
    """Whatever could run, restyle, reach out or break out."""
    message = complaint(form("\n" + question("q", content=formatted(markup))))
    assert "line 2, column " in message
    assert "in FormattedContent, line 1" in message
