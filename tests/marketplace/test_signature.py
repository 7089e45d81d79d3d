"""Signature version 4, against what AWS published and against botocore's own signer."""

import string
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from piecework.marketplace.exceptions import Refusal
from piecework.marketplace.requester import signature
from piecework.marketplace.requester.signature import Received
from tests.marketplace.signing import (
    ACCESS_KEY,
    SECRET,
    check,
    refusal_of,
    signed_at,
    signed_request,
    with_header,
)

# From AWS's documentation and its published test suite for signature version 4.
PUBLISHED_SECRET = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"  # noqa: S105 - published
HOST = (b"host", b"example.amazonaws.com")
DATE = (b"x-amz-date", b"20150830T123600Z")
FORM = b"application/x-www-form-urlencoded"


@pytest.mark.parametrize(
    ("request_", "covered", "service", "published"),
    [
        pytest.param(
            ("GET", b"", (HOST, DATE), b""),
            "host;x-amz-date",
            "service",
            "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31",
            id="get-vanilla",
        ),
        pytest.param(
            ("POST", b"", (HOST, DATE), b""),
            "host;x-amz-date",
            "service",
            "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b",
            id="post-vanilla",
        ),
        pytest.param(
            ("POST", b"", ((b"content-type", FORM), HOST, DATE), b"Param1=value1"),
            "content-type;host;x-amz-date",
            "service",
            "ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a",
            id="post-x-www-form-urlencoded",
        ),
        pytest.param(
            (
                "GET",
                b"",
                (
                    HOST,
                    (b"my-header1", b"value2"),
                    (b"my-header1", b"value2"),
                    (b"my-header1", b"value1"),
                    DATE,
                ),
                b"",
            ),
            "host;my-header1;x-amz-date",
            "service",
            "c9d5ea9f3f72853aea855b47ea873832890dbdd183b4468f858259531a5138ea",
            id="get-header-key-duplicate",
        ),
        pytest.param(
            (
                "GET",
                b"",
                (HOST, (b"my-header1", b" value1"), (b"my-header2", b' "a   b   c"'), DATE),
                b"",
            ),
            "host;my-header1;my-header2;x-amz-date",
            "service",
            "acc3ed3afb60bb290fc8d2dd0098b9911fcaa05412b367055dee359757a9c736",
            id="get-header-value-trim",
        ),
        pytest.param(
            ("GET", b"Param2=value2&Param1=value1", (HOST, DATE), b""),
            "host;x-amz-date",
            "service",
            "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500",
            id="get-vanilla-query-order-key-case",
        ),
        pytest.param(
            (
                "GET",
                b"Action=ListUsers&Version=2010-05-08",
                (
                    (b"content-type", FORM + b"; charset=utf-8"),
                    (b"host", b"iam.amazonaws.com"),
                    DATE,
                ),
                b"",
            ),
            "content-type;host;x-amz-date",
            "iam",
            "5d672d79c15b13162d9279b0855cfba6789a8edb4c82c400e06b5924a6f2b5d7",
            id="the documentation's ListUsers",
        ),
    ],
)
def test_published_examples_come_out_as_published(
    request_: tuple[str, bytes, tuple[tuple[bytes, bytes], ...], bytes],
    covered: str,
    service: str,
    published: str,
) -> None:
    """The algorithm is the documented one, to the last digit."""
    method, query, headers, body = request_
    authorization = (
        f"AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/{service}/"
        f"aws4_request, SignedHeaders={covered}, Signature={published}"
    )
    received = Received(
        method=method,
        path=b"/",
        query=query,
        headers=(*headers, (b"authorization", authorization.encode())),
        body=body,
    )
    signed = signature.read_signature(received)
    right = signature.expected_signature(signed, received, secret=PUBLISHED_SECRET)
    assert right == published
    signature.check_signature(signed, received, secret=PUBLISHED_SECRET)


NAMES = st.text(string.ascii_lowercase + string.digits, min_size=1, max_size=8)
VALUES = st.text(string.printable[:-5], max_size=30)
# Without spaces: botocore signs one as %20 and sends it as +. The API has no queries.
WORDS = st.text(st.characters(codec="utf-8", exclude_characters=" "), max_size=9)


@given(
    body=st.binary(max_size=300),
    secret=st.text(min_size=1, max_size=50).filter(str.strip),
    region=st.sampled_from(signature.REGIONS),
    extra=st.dictionaries(NAMES.map("x_amz_meta_{}".format), VALUES, max_size=4),
    query=st.dictionaries(WORDS, WORDS, max_size=3),
)
@example(body=b"", secret=SECRET, region="sandbox", extra={}, query={"a/b": "~/c"})
def test_whatever_botocore_signs_is_accepted(
    body: bytes, secret: str, region: str, extra: dict[str, str], query: dict[str, str]
) -> None:
    """Any body, secret, headers and query, signed by the client that everybody uses."""
    received = signed_request(body=body, secret=secret, region=region, query=query, **extra)
    assert check(received, secret=secret).access_key == ACCESS_KEY


@given(
    body=st.binary(max_size=50),
    other=st.binary(max_size=50),
    place=st.sampled_from(["body", "method", "path", "query", "secret"]),
)
def test_nothing_that_was_signed_can_be_changed(body: bytes, other: bytes, place: str) -> None:
    """Body, method, path, query and key are all under the signature."""
    received = signed_request(body=body)
    bent = {
        "body": replace(received, body=body + other + b"!"),
        "method": replace(received, method="PUT"),
        "path": replace(received, path=b"/" + other + b"x"),
        "query": replace(received, query=b"x" + other.replace(b"&", b"")),
        "secret": signed_request(body=body, secret="another"),  # noqa: S106 - a test's
    }[place]
    assert refusal_of(received) == ""
    assert refusal_of(bent) == "InvalidSignatureException"


@pytest.mark.parametrize("name", ["host", "x-amz-target", "content-type"])
def test_no_signed_header_can_be_changed_doubled_or_left_out(name: str) -> None:
    """Nobody turns one operation into another, nor carries a call to another host."""
    received = signed_request()
    for bent in (
        with_header(received, name, b"other"),
        with_header(received, name, None),
        replace(received, headers=(*received.headers, (name.encode(), b"other"))),
    ):
        assert refusal_of(bent) == "InvalidSignatureException"


def test_headers_that_matter_must_be_signed() -> None:
    """Host and every x-amz- header; one that is only sent along is refused."""
    received = signed_request()
    added = with_header(received, "x-amz-expected-owner", b"somebody")
    assert refusal_of(added) == "InvalidSignatureException"
    authorization = dict(received.headers)[b"authorization"]
    for name in (b"host;", b";x-amz-target"):
        bent = with_header(received, "authorization", authorization.replace(name, b"", 1))
        assert refusal_of(bent) == "InvalidSignatureException"


def test_the_body_is_hashed_here_whatever_a_header_says_of_it() -> None:
    """UNSIGNED-PAYLOAD, or the hash of another body, signs nothing."""
    received = signed_request(body=b"{}", X_Amz_Content_SHA256="UNSIGNED-PAYLOAD")
    assert refusal_of(received) == "InvalidSignatureException"
    digest = "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"
    # The SHA-256 of the two bytes {}, which sha256sum(1) prints.
    received = signed_request(body=b"{}", X_Amz_Content_SHA256=digest)
    assert refusal_of(received) == ""
    assert refusal_of(replace(received, body=b"[]")) == "InvalidSignatureException"


@given(seconds=st.integers(-3600, 3600))
@example(seconds=900)
@example(seconds=901)
@example(seconds=-900)
@example(seconds=-901)
def test_a_signature_holds_for_a_quarter_of_an_hour_each_way(seconds: int) -> None:
    """Fifteen minutes sharp, before and after."""
    received = signed_request()
    now = signed_at(received) + timedelta(seconds=seconds)
    expected = "" if abs(seconds) <= 900 else "InvalidSignatureException"
    assert refusal_of(received, now=now) == expected


@pytest.mark.parametrize(
    ("header", "stamp"),
    [
        ("x-amz-date", b"20260105T091500Z"),
        ("x-amz-date", b"Mon, 05 Jan 2026 10:15:00 +0100"),
        ("date", b"Mon, 05 Jan 2026 09:15:00 GMT"),
    ],
)
def test_the_time_of_signing_is_in_utc(header: str, stamp: bytes) -> None:
    """However it is written, it can be compared with the marketplace's clock."""
    received = with_header(signed_request(), "x-amz-date", None)
    signed = signature.read_signature(with_header(received, header, stamp))
    assert signed.signed_at == datetime(2026, 1, 5, 9, 15, tzinfo=UTC)


def test_a_refusal_of_the_clock_says_both_times() -> None:
    """In the words by which SDKs and people know it."""
    received = signed_request()
    moment = signed_at(received)
    late, early = moment + timedelta(minutes=16), moment - timedelta(minutes=16)
    stamps = {
        minutes: (moment + timedelta(minutes=minutes)).strftime("%Y%m%dT%H%M%SZ")
        for minutes in (-16, -1, 0, 1, 16)
    }
    expired = (
        f"Signature expired: {stamps[0]} is now earlier than {stamps[1]} ({stamps[16]} - 15 min.)"
    )
    not_yet = (
        f"Signature not yet current: {stamps[0]} is still later than {stamps[-1]} "
        f"({stamps[-16]} + 15 min.)"
    )
    for now, message in ((late, expired), (early, not_yet)):
        with pytest.raises(Refusal) as caught:
            check(received, now=now)
        assert caught.value.message == message
        assert caught.value.status == 400


def test_the_date_header_serves_where_x_amz_date_is_missing() -> None:
    """As the algorithm allows, and as botocore signs when a Date is there."""
    received = signed_request(Date="x")
    assert b"x-amz-date" not in dict(received.headers)
    assert refusal_of(received) == ""
    late = signed_at(received) + timedelta(minutes=16)
    assert refusal_of(received, now=late) == "InvalidSignatureException"


@pytest.mark.parametrize(
    ("scope", "words"),
    [
        ({"region": "eu-west-1"}, "valid region"),
        ({"service": "dynamodb"}, "correct service: 'mturk-requester'"),
    ],
)
def test_a_signature_for_elsewhere_is_refused(scope: dict[str, str], words: str) -> None:
    """Another region's or service's signature opens nothing here."""
    options: dict[str, object] = dict(scope)
    with pytest.raises(Refusal, match=words) as caught:
        check(signed_request(**options))  # type: ignore[arg-type] # names are right
    assert caught.value.kind == "InvalidSignatureException"


def _signed_for(scope: str, *, days: int = 0) -> Received:
    """A request whose signature is right in all but the scope that it names.

    Args:
        scope: what the credential says; `{day}` is the day of signing.
        days: added to that day.
    """
    received = signed_request()
    day = (signed_at(received) + timedelta(days=days)).strftime("%Y%m%d")
    scope = scope.format(day=day)
    authorization = dict(received.headers)[b"authorization"].decode()
    own_scope = authorization.partition("Credential=")[2].partition(",")[0]
    other = with_header(received, "authorization", authorization.replace(own_scope, scope).encode())
    signed = signature.read_signature(other)
    right = signature.expected_signature(signed, other, secret=SECRET)
    text = dict(other.headers)[b"authorization"].decode()
    return with_header(other, "authorization", text.replace(signed.signature, right).encode())


def test_the_scope_names_the_day_on_which_it_was_signed() -> None:
    """A key that was derived for another day signs nothing today."""
    scope = f"{ACCESS_KEY}/{{}}/us-east-1/mturk-requester/aws4_request"
    assert refusal_of(_signed_for(scope.format("{day}"))) == ""
    others = [("{day}", -1), ("{day}", 1), ("{day}0", 0), ("", 0)]
    for day, days in others:
        with pytest.raises(Refusal, match="Date in Credential scope") as caught:
            check(_signed_for(scope.format(day), days=days))
        assert caught.value.kind == "InvalidSignatureException"


@pytest.mark.parametrize(
    ("scope", "words"),
    [
        ("us-east-1/mturk/aws4_request", "correct service"),
        ("us-east-1/mturk-requester-sandbox/aws4_request", "correct service"),
        ("us-east-1/mturk-requester/aws3_request", "valid terminator"),
        ("us-east-1/mturk-requester/aws5_request", "valid terminator"),
        ("us-east-2/mturk-requester/aws4_request", "valid region"),
    ],
)
def test_a_scope_is_this_service_s_to_the_letter(scope: str, words: str) -> None:
    """What comes before it in the alphabet is refused as what comes after it."""
    with pytest.raises(Refusal, match=words):
        check(_signed_for(f"{ACCESS_KEY}/{{day}}/{scope}"))


def test_all_that_is_wrong_with_a_scope_is_said_at_once() -> None:
    """Region, service, terminator and day, each with what it must be."""
    with pytest.raises(Refusal) as caught:
        check(_signed_for(f"{ACCESS_KEY}/20150830/eu-west-1/dynamodb/aws5_request"))
    assert caught.value.message == (
        "Credential should be scoped to a valid region, e.g. 'us-east-1'. "
        "Credential should be scoped to correct service: 'mturk-requester'. "
        "Credential should be scoped with a valid terminator: 'aws4_request'. "
        "Date in Credential scope does not match YYYYMMDD from ISO-8601 version "
        "of date from HTTP."
    )


@pytest.mark.parametrize("digits", [0, 8, 63, 65])
def test_a_signature_is_compared_whole(digits: int) -> None:
    """The first digits of the right one, or all of it and one more, sign nothing."""
    received = signed_request()
    assert refusal_of(received) == ""
    right = signature.read_signature(received).signature
    authorization = dict(received.headers)[b"authorization"].decode()
    bent = authorization.replace(right, f"{right}0"[:digits])
    expected = "InvalidSignatureException" if digits else "IncompleteSignatureException"
    assert refusal_of(with_header(received, "authorization", bent.encode())) == expected


def test_a_session_token_is_refused() -> None:
    """There are no sessions here, so the token can only be somebody else's."""
    received = signed_request(token="FwoGZXIvYXdzE")  # noqa: S106 - a made-up one
    assert refusal_of(received) == "UnrecognizedClientException"


SCOPE = "K/20260105/us-east-1/mturk-requester/aws4_request"


@pytest.mark.parametrize(
    ("authorization", "kind"),
    [
        (None, "MissingAuthenticationTokenException"),
        ("Bearer x", "MissingAuthenticationTokenException"),
        ("AWS4-HMAC-SHA512 Credential=x", "IncompleteSignatureException"),
        (f"AWS4-HMAC-SHA256 Credential={SCOPE}", "IncompleteSignatureException"),
        ("AWS4-HMAC-SHA256 Credential", "IncompleteSignatureException"),
        (
            f"AWS4-HMAC-SHA256 Credential={SCOPE}, SignedHeaders=host, Signature=",
            "IncompleteSignatureException",
        ),
        (
            "AWS4-HMAC-SHA256 Credential=a/b, SignedHeaders=host, Signature=f",
            "IncompleteSignatureException",
        ),
        (f"AWS4-HMAC-SHA256 Credential={SCOPE}, Credential=x", "IncompleteSignatureException"),
    ],
)
def test_what_is_no_whole_signature_is_told_so(authorization: str | None, kind: str) -> None:
    """Missing is told from incomplete."""
    value = None if authorization is None else authorization.encode()
    assert refusal_of(with_header(signed_request(), "authorization", value)) == kind


def test_a_right_signature_with_more_beside_it_is_none() -> None:
    """A parameter that stands there twice, another one, or a word without a value."""
    received = signed_request()
    authorization = dict(received.headers)[b"authorization"]
    right = authorization.rpartition(b", ")[2]
    for more in (right, b"Signature=", b"x", b"XCredential=K/20260105"):
        bent = with_header(received, "authorization", authorization + b", " + more)
        with pytest.raises(Refusal, match="each key=value pair once"):
            signature.read_signature(bent)


@pytest.mark.parametrize("hash_", ["SHA1", "SHA256-PAYLOAD", "SHA512"])
def test_only_one_algorithm_is_taken(hash_: str) -> None:
    """Whatever else the request says, the sentence names the algorithm."""
    authorization = dict(signed_request().headers)[b"authorization"]
    other = authorization.replace(b"HMAC-SHA256", f"HMAC-{hash_}".encode())
    with pytest.raises(Refusal, match="only AWS4-HMAC-SHA256 for now"):
        signature.read_signature(with_header(signed_request(), "authorization", other))


def test_all_that_a_signature_lacks_is_said_at_once() -> None:
    """Each parameter and the date, in one sentence each."""
    received = with_header(signed_request(), "authorization", b"AWS4-HMAC-SHA256 a=b")
    with pytest.raises(Refusal) as caught:
        signature.read_signature(with_header(received, "x-amz-date", None))
    assert caught.value.message == (
        "Authorization header requires 'Credential' parameter. "
        "Authorization header requires 'Signature' parameter. "
        "Authorization header requires 'SignedHeaders' parameter. "
        "Authorization header requires existence of either a 'X-Amz-Date' or a "
        "'Date' header."
    )


@pytest.mark.parametrize("scope", ["a/b/c/d", "a/b/c/d/e/f"])
def test_a_scope_has_five_parts(scope: str) -> None:
    """One part fewer or more is no scope."""
    authorization = (
        f"AWS4-HMAC-SHA256 Credential={scope}, SignedHeaders=host, Signature=f"
    ).encode()
    with pytest.raises(Refusal, match="exactly 5 slash-delimited"):
        signature.read_signature(with_header(signed_request(), "authorization", authorization))


def test_a_request_without_a_path_is_signed_as_one_for_the_root() -> None:
    """As clients sign it, and as it comes through a proxy."""
    received = signed_request()
    assert received.path == b"/"
    assert refusal_of(replace(received, path=b"")) == ""


def test_spaces_about_a_date_are_not_part_of_it() -> None:
    """A proxy may have put them there."""
    received = signed_request()
    stamp = dict(received.headers)[b"x-amz-date"]
    assert refusal_of(with_header(received, "x-amz-date", b"  " + stamp + b" ")) == ""


@pytest.mark.parametrize(
    "date",
    [
        b"20260105T090000",
        b"20260105T090000Z0",
        # After the year 9999, in UTC.
        b"Fri, 31 Dec 9999 23:30:00 -0100",
    ],
)
def test_what_is_no_date_is_told_so(date: bytes) -> None:
    """Neither the basic format of ISO 8601 nor a date as e-mail has it."""
    with pytest.raises(Refusal, match="'basic format'"):
        signature.read_signature(with_header(signed_request(), "x-amz-date", date))


@pytest.mark.parametrize("date", [None, b"", b"2026", b"yesterday", b"20261340T000000Z"])
def test_without_a_date_a_signature_is_incomplete(date: bytes | None) -> None:
    """The date is part of what is signed."""
    bent = with_header(signed_request(), "x-amz-date", date)
    assert refusal_of(bent) == "IncompleteSignatureException"


def test_two_authorizations_are_none() -> None:
    """Nobody can show one signature to the check and another to the reader."""
    received = signed_request()
    for name in (b"authorization", b"x-amz-date"):
        again = (name, dict(received.headers)[name])
        doubled = replace(received, headers=(*received.headers, again))
        assert refusal_of(doubled) == "IncompleteSignatureException"


@given(
    authorization=st.one_of(
        st.binary(max_size=200),
        st.binary(max_size=200).map(b"AWS4-HMAC-SHA256 ".__add__),
        st.binary(max_size=60).map(
            (
                b"AWS4-HMAC-SHA256 SignedHeaders=host,Signature=f,"
                b"Credential=a/b/us-east-1/mturk-requester/aws4_request"
            ).__add__
        ),
    ),
    date=st.binary(max_size=30),
)
def test_garbage_is_refused_and_nothing_worse(authorization: bytes, date: bytes) -> None:
    """Whatever bytes come, the answer is one of AWS's refusals."""
    bent = with_header(signed_request(), "authorization", authorization)
    kinds = {
        "MissingAuthenticationTokenException",
        "IncompleteSignatureException",
        "InvalidSignatureException",
    }
    assert refusal_of(bent) in kinds
    assert refusal_of(with_header(signed_request(), "x-amz-date", date)) in kinds
