"""HITs whose question is a QuestionForm: posted, shown, answered, sent again."""

import re
from typing import Any

import httpx
import pytest
from botocore.exceptions import ClientError

from piecework.marketplace.languages import say, speaking
from tests.marketplace.documents import FORM_2005, choice, form, formatted, free_text, question
from tests.marketplace.market import Market, post, refusal

ASKED = form(
    "<Overview><Title>Look</Title></Overview>",
    question("text", free_text(rest="<DefaultText>dunno</DefaultText>")),
    question("number", free_text('<IsNumeric minValue="1" maxValue="9"/>')),
    question("one", choice("a", "b"), required=True),
    question("some", choice("x", "y", least=1, most=3, other="<OtherSelection/>")),
    namespace=FORM_2005,
)


def frame(market: Market, url: str) -> httpx.Response:
    """The page of a question."""
    return market.http.get(url)


@pytest.fixture
def hit(standing: Market) -> dict[str, Any]:
    """A HIT with a form."""
    return post(standing.requester(), Question=ASKED)


def test_the_answers_are_a_document_of_what_was_answered(standing: Market) -> None:
    """Texts as text, choices by identifier, in the form's order; the rest left out."""
    client, ann = standing.requester(), standing.worker()
    made = post(client, Question=ASKED)
    fields: dict[str, Any] = {
        "some": ["y", "x"],
        "some.OtherSelectionText": "z & <z>",
        "one": "b",
        "text": "a\r\nb",
        "number": "",
    }
    assignment = ann.accept(made["HITGroupId"]).json()["assignment_id"]
    assert ann.submit(assignment, **fields).status_code == 200
    answer = client.get_assignment(AssignmentId=assignment)["Assignment"]["Answer"]
    assert answer.partition("QuestionFormAnswers.xsd")[2] == (
        '"><Answer><QuestionIdentifier>text</QuestionIdentifier>'
        "<FreeText>a\nb</FreeText></Answer>"
        "<Answer><QuestionIdentifier>one</QuestionIdentifier>"
        "<SelectionIdentifier>b</SelectionIdentifier></Answer>"
        "<Answer><QuestionIdentifier>some</QuestionIdentifier>"
        "<SelectionIdentifier>x</SelectionIdentifier>"
        "<SelectionIdentifier>y</SelectionIdentifier>"
        "<OtherSelectionText>z &amp; &lt;z&gt;</OtherSelectionText></Answer>"
        "</QuestionFormAnswers>"
    )


def test_identifiers_may_go_over_the_end_of_a_line(standing: Market) -> None:
    """Browsers send each line break in a name or a value of a page as two characters."""
    client, ann = standing.requester(), standing.worker()
    asked = form(
        question("which\n  bird", choice("a\n  robin", "crow"), required=True),
        question("its&#13;place", free_text(), required=True),
    )
    accepted = ann.accept(post(client, Question=asked)["HITGroupId"]).json()
    page = frame(standing, accepted["frame_url"]).text
    assert all(f'name="{name}"' in page for name in ("which\n  bird", "its\nplace"))
    assignment = accepted["assignment_id"]
    fields = {"which\r\n  bird": "a\r\n  robin", "its\r\nplace": "a\r\ntree"}
    assert ann.submit(assignment, **fields).status_code == 200
    answer = client.get_assignment(AssignmentId=assignment)["Assignment"]["Answer"]
    assert "<QuestionIdentifier>which\n  bird</QuestionIdentifier>" in answer
    assert "<SelectionIdentifier>a\n  robin</SelectionIdentifier>" in answer
    assert "<FreeText>a\ntree</FreeText>" in answer


def test_a_pattern_without_words_of_its_own_is_told_in_the_worker_s_language(
    standing: Market,
) -> None:
    """On the page and in the complaint; the requester's own words stay."""
    rules = ('regex="^1$"', 'regex="^1$" errorText="Invalid."')
    texts = (free_text(f"<AnswerFormatRegex {rule}/>") for rule in rules)
    asked = form(*(question(f"q{n}", text) for n, text in enumerate(texts)))
    ann = standing.worker()
    ann.http.headers["Accept-Language"] = "he"
    accepted = ann.accept(post(standing.requester(), Question=asked)["HITGroupId"]).json()
    page = ann.http.get(accepted["frame_url"]).text
    reply = ann.submit(accepted["assignment_id"], q0="2", q1="2").json()
    with speaking("he"):
        words = [say("Invalid input supplied."), "Invalid."]
    assert [*reply["complaints"].values()] == words == re.findall(r' title="([^"]+)"', page)
    assert not words[0].isascii()


def test_a_form_not_in_order_is_refused_and_the_hit_stays_the_workers(
    standing: Market, hit: dict[str, Any]
) -> None:
    """422 with all complaints; then it may be sent again."""
    ann = standing.worker()
    assignment = ann.accept(hit["HITGroupId"]).json()["assignment_id"]
    reply = ann.submit(assignment, number="77", some=["x", "y"])
    assert reply.status_code == 422
    assert reply.json()["error"] == "FormNotInOrder"
    assert reply.json()["complaints"] == {
        "number": "Please write a number that is 9 or less.",
        "one": "Please choose an answer.",
    }
    assert ann.submit(assignment, one="a", colour="red").status_code == 400
    assert ann.submit(assignment, one="a").status_code == 200


def test_the_form_comes_back_with_everything_that_was_typed(
    standing: Market, hit: dict[str, Any]
) -> None:
    """To a browser, in the frame: values kept, complaints beside their questions."""
    ann = standing.worker()
    assignment = ann.accept(hit["HITGroupId"]).json()["assignment_id"]
    typed: dict[str, Any] = {
        "text": 'so "so" <b>',
        "number": "many",
        "some": ["y"],
        "some.OtherSelectionText": "mine",
    }
    sent = {"assignmentId": assignment, **typed}
    for came_from in ("same-site", "same-origin"):  # the frame's form; the site's own
        reply = ann.http.post(
            "/mturk/externalSubmit",
            data=sent,
            headers={"Accept": "text/html", "Sec-Fetch-Site": came_from},
        )
        assert reply.status_code == 422
        page = reply.text
        assert 'value="so &#34;so&#34; &lt;b&gt;"' in page
        assert re.search(r'<input type="text"[^>]* name="number"[^>]* value="many"', page)
        assert re.search(r'name="some" value="y" checked', page)
        assert 'value="mine"' in page
        assert page.count(' aria-invalid="true"') == 1  # radios have their fieldset
        assert re.search(
            r'<a [^>]*href="#q2-part"><bdi>Question 2</bdi></a>: Please write a number.', page
        )
        assert 'action="/mturk/externalSubmit"' in page
        assert f'name="assignmentId" value="{assignment}"' in page
    assert ann.submit(assignment, one="a").status_code == 200


def test_a_form_in_order_is_carried_on_by_the_site(standing: Market, hit: dict[str, Any]) -> None:
    """As every frame's form is: shown back once, then sent from the site's own page."""
    ann = standing.worker()
    assignment = ann.accept(hit["HITGroupId"]).json()["assignment_id"]
    reply = ann.http.post(
        "/mturk/externalSubmit",
        data={"assignmentId": assignment, "one": "a"},
        headers={"Accept": "text/html", "Sec-Fetch-Site": "same-site"},
    )
    assert reply.status_code == 200
    assert 'id="carry"' in reply.text


def test_a_form_is_plain_html_that_holds_its_own_rules(
    standing: Market, hit: dict[str, Any]
) -> None:
    """Labels, legends, required, min, max; the default; no script, nothing foreign."""
    ann = standing.worker()
    accepted = ann.accept(hit["HITGroupId"]).json()
    reply = frame(standing, accepted["frame_url"])
    page = reply.text
    assert '<legend><bdi>Question 3</bdi> <span class="needed">(required)</span></legend>' in page
    assert '<input type="radio" id="q3-1" name="one" value="a" required>' in page
    assert '<label for="q3-1">A</label>' in page
    assert re.search(r'<input type="number"[^>]* min="1" max="9"', page)
    assert re.search(r'name="text"[^>]* value="dunno"', page)
    assert f'action="{standing.endpoint}/mturk/externalSubmit"' in page
    assert accepted["assignment_id"] in page
    assert "<script" not in page
    policy = reply.headers["content-security-policy"]
    assert policy.startswith("default-src 'none'; style-src 'sha256-")
    assert f"form-action {standing.endpoint}" in policy
    assert f"frame-ancestors {standing.endpoint}" in policy
    assert "script" not in policy


def test_a_preview_can_be_read_and_not_answered(standing: Market, hit: dict[str, Any]) -> None:
    """Everything is disabled, and there is nothing to send it with."""
    ann = standing.worker()
    shown = ann.http.get(f"/worker/groups/{hit['HITGroupId']}/preview").json()
    page = frame(standing, shown["frame_url"]).text
    assert "<fieldset" in page
    assert "disabled" in page
    assert "<button" not in page
    sent = ann.submit("ASSIGNMENT_ID_NOT_AVAILABLE", one="a")
    assert sent.status_code == 409


def test_hostile_texts_are_shown_and_not_run(standing: Market) -> None:
    """Every place of a form that a requester can write in, and the query."""
    evil = '&lt;script&gt;alert(1)&lt;/script&gt;" onload="x'
    asked = form(
        f"<Overview><Title>{evil}</Title><Text>{evil}</Text>"
        f"<List><ListItem>{evil}</ListItem></List>"
        "<Binary><MimeType><Type>image</Type></MimeType>"
        f"<DataURL>https://example.org/</DataURL><AltText>{evil}</AltText></Binary>"
        f"{formatted('&lt;script&gt;')}</Overview>",
        question("q", choice("a")).replace(
            "<SelectionIdentifier>a<", f"<SelectionIdentifier>{evil}<"
        ),
        question("t", free_text(rest=f"<DefaultText>{evil}</DefaultText>")).replace(
            "<IsRequired>", f"<DisplayName>{evil}</DisplayName><IsRequired>"
        ),
    )
    client, ann = standing.requester(), standing.worker()
    made = post(client, Question=asked, Title="<script>alert(2)</script>")
    url = ann.accept(made["HITGroupId"]).json()["frame_url"]
    page = frame(standing, url + '&assignmentId="><script>').text
    page += frame(standing, url.replace("assignmentId=", 'assignmentId="><script>')).text
    assert "<script" not in page
    assert '" onload="' not in page
    assert page.count("&lt;script&gt;alert(1)") >= 10


@pytest.mark.parametrize(
    "asked",
    [
        form(),
        form(question("q", "<FileUploadAnswer/>")),
        form(question("q", content=formatted("<script>x</script>"))),
        form(question("q")).replace("2017-11-06", "2017-11-07"),
        '<!DOCTYPE a [<!ENTITY b "c">]><QuestionForm>&b;</QuestionForm>',
        form("<a>" * 9000),
        "<QuestionForm>" + "x" * 70_000 + "</QuestionForm>",
    ],
)
def test_a_form_that_cannot_be_is_refused(standing: Market, asked: str) -> None:
    """ParameterValidationError, and nothing is posted or held for."""
    client = standing.requester()
    with pytest.raises(ClientError) as caught:
        post(client, Question=asked)
    assert refusal(caught.value)[0] == "ParameterValidationError"
    assert client.list_hits()["HITs"] == []
    assert client.get_account_balance()["OnHoldBalance"] == "0.00"


def test_an_unknown_layout_does_not_exist_and_a_known_one_stands_alone(standing: Market) -> None:
    """HITLayoutDoesNotExist for an id that nobody made; never beside a question."""
    client = standing.requester()
    parameters = [{"Name": "image", "Value": "x"}]
    with pytest.raises(ClientError) as caught:
        post(client, Question=None, HITLayoutId="3LAYOUT", HITLayoutParameters=parameters)
    assert refusal(caught.value)[1] == "HITLayoutDoesNotExist"
    assert "3LAYOUT does not exist" in refusal(caught.value)[2]
    for layout in ({"HITLayoutId": "3LAYOUT"}, {"HITLayoutParameters": parameters}):
        with pytest.raises(ClientError) as caught:
            post(client, **layout)
        assert refusal(caught.value)[0] == "ParameterValidationError"


def test_a_file_is_nowhere_to_be_had(standing: Market) -> None:
    """GetFileUploadURL: no question has one; an unknown assignment is told first."""
    client, ann = standing.requester(), standing.worker()
    made = post(client, Question=ASKED)
    assignment = ann.do(made["HITGroupId"], one="a")
    with pytest.raises(ClientError) as caught:
        client.get_file_upload_url(AssignmentId=assignment, QuestionIdentifier="text")
    kind, code, message = refusal(caught.value)
    assert (kind, code) == ("RequestError", "InvalidParameterValue")
    assert "'text'" in message
    assert "not a FileUploadAnswer question" in message
    with pytest.raises(ClientError) as caught:
        client.get_file_upload_url(AssignmentId="3NONE", QuestionIdentifier="text")
    assert refusal(caught.value)[1] == "AssignmentDoesNotExist"
