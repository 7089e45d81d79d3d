"""Long questions: texts that are stored once, and values for each HIT."""

import json
import time
import zlib
from base64 import b64encode

import httpx
import pytest
from botocore.exceptions import ClientError

from piecework.marketplace.requester import questions
from piecework.marketplace.requester.questions import HTML_NAMESPACE
from tests.marketplace.market import HIT_TYPE, Market, post, refusal
from tests.marketplace.signing import signed_request

BEFORE = f'<HTMLQuestion xmlns="{HTML_NAMESPACE}"><HTMLContent><![CDATA['
HIT = {**HIT_TYPE, "LifetimeInSeconds": 86_400}
AFTER = "]]></HTMLContent><FrameHeight>0</FrameHeight></HTMLQuestion>"


def call(market: Market, operation: str, **members: object) -> tuple[int, str]:
    """Status and body of a call with members that botocore does not know."""
    request = signed_request(operation, body=json.dumps(members).encode(), endpoint=market.endpoint)
    headers = {name.decode(): value.decode() for name, value in request.headers}
    reply = httpx.post(market.endpoint, content=request.body, headers=headers)
    return reply.status_code, reply.text


def packed(texts: object) -> str:
    """As a request carries them."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    document = packer.compress(json.dumps(texts).encode()) + packer.flush()
    return b64encode(document).decode()


@pytest.mark.parametrize(
    "value",
    [
        packed([]),
        packed({"a": "b"}),
        packed(["x", 1]),
        packed(["x", "\ud800"]),
        packed([""] * 10_001),
        packed(["x" * 1_000_001]),
        packed(["x" * 50_000_000]),
        "no base64",
        b64encode(b"not deflated").decode(),
        7,
    ],
    ids=range(10),
)
def test_texts_that_are_none_are_refused(market: Market, value: object) -> None:
    """Neither a bomb of zeros nor another shape is stored."""
    status, error = call(market, "GetAccountBalance", PieceworkQuestionTexts=value)
    assert status == 400
    assert "PieceworkQuestionTexts" in error or "at most 1000000" in error


def test_values_must_fit_their_texts(market: Market) -> None:
    """And make a question; a digest that is unknown names nothing."""
    texts = [f"{BEFORE}<p>", f"</p>{'x' * 70_000}{AFTER}"]
    _, reply = call(market, "GetAccountBalance", PieceworkQuestionTexts=packed(texts))
    digest = json.loads(reply)["PieceworkQuestionTexts"]["Digest"]
    for question, name in (
        ("[]", digest), ('["a", "b"]', digest), ("a", digest), ("[1]", digest),
        ('["\\ud800"]', digest),
        ('["]]>"]', digest), ('["a"]', "unknown"), ('["a"]', ""), ('["a"]', 7),
    ):  # fmt: skip
        status, _ = call(market, "CreateHIT", Question=question, PieceworkQuestionTexts=name, **HIT)
        assert status == 400, (question, name)
    status, reply = call(
        market, "CreateHIT", Question='["a"]', PieceworkQuestionTexts=digest, **HIT
    )
    assert status == 200
    assert "Question" not in json.loads(reply)["HIT"]


def test_a_page_with_most_gaps_is_shown_soon(market: Market) -> None:
    """Its texts and values are put together while other calls wait."""
    texts = [BEFORE, *("" for _ in range(questions.MOST_TEXTS - 2)), AFTER]
    _, reply = call(market, "GetAccountBalance", PieceworkQuestionTexts=packed(texts))
    digest = json.loads(reply)["PieceworkQuestionTexts"]["Digest"]
    values = json.dumps([str(number % 10) for number in range(len(texts) - 1)])
    _, reply = call(market, "CreateHIT", Question=values, PieceworkQuestionTexts=digest, **HIT)
    began = time.monotonic()
    made = json.loads(reply)["HIT"]
    page = market.worker().http.get(f"/worker/groups/{made['HITGroupId']}/preview")
    frame = httpx.get(page.json()["frame_url"])
    assert "0123456789012" in frame.text
    assert time.monotonic() - began < 3


def test_a_question_that_is_sent_whole_keeps_the_api_s_limit(market: Market) -> None:
    """Whatever a stored one may have."""
    with pytest.raises(ClientError) as caught:
        post(market.requester(), Question=f"{BEFORE}{'x' * 70_000}{AFTER}")
    assert "at most 65535" in str(refusal(caught.value))
