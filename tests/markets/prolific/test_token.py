"""The token is sent to Prolific and shown to nobody."""

import logging
import socket
import traceback
from collections.abc import Callable
from pathlib import Path

import pytest

from piecework.foundation.client.calls import Request
from piecework.foundation.client.errors import ApiError, Unusable
from piecework.foundation.client.token import Exposed, api_address
from piecework.foundation.client.transport import Patience, Transport
from piecework.markets.prolific.calling import SERVICE, Token
from piecework.markets.prolific.client import Prolific
from tests.answering import LOST, Answer
from tests.for_each import for_each
from tests.markets.prolific.calls import ALL, ID
from tests.markets.prolific.stub import SECRET, Stub

_ECHO = f"you sent Authorization: Token {SECRET}"
_FAULTS: dict[str, Callable[[Stub], None]] = {
    "refused": lambda stub: stub.answer(Answer(400, {"detail": {_ECHO: [_ECHO]}})),
    "no access": lambda stub: stub.answer(Answer(401, {"error": {"title": _ECHO}})),
    "throttled": lambda stub: stub.answer(Answer(429, {"message": _ECHO})),
    "failed": lambda stub: stub.answer(Answer(500, {"detail": _ECHO})),
    "a page": lambda stub: stub.answer(Answer(200, text=f"<p>{_ECHO}")),
    "elsewhere": lambda stub: stub.answer(Answer(302, text=_ECHO)),
    "not as promised": lambda stub: stub.answer(Answer(200, {_ECHO: _ECHO})),
    "lost": lambda stub: stub.answer(LOST),
}


def _everything_of(fault: BaseException) -> str:
    """What any reporter of errors could show: text, attributes, and all locals."""
    shown = traceback.TracebackException.from_exception(fault, capture_locals=True)
    return "".join([*shown.format(), repr(fault), repr(vars(fault))])


@pytest.mark.parametrize("name", _FAULTS)
def test_no_error_and_no_log_shows_the_token(
    stub: Stub, caplog: pytest.LogCaptureFixture, name: str
) -> None:
    """Also not where the answer repeats it, and where locals are shown."""
    caplog.set_level(logging.DEBUG)
    _FAULTS[name](stub)
    for call in (ALL["me"], ALL["approve"], ALL["create_study"]):
        with pytest.raises(ApiError) as raised:
            call(stub.client())
        assert SECRET not in _everything_of(raised.value)
    assert SECRET in stub.asked[0].headers["Authorization"]
    assert caplog.text
    assert SECRET not in caplog.text


def test_no_connection_shows_no_token(caplog: pytest.LogCaptureFixture) -> None:
    """The frames of the HTTP library hold the header as it would be sent."""
    caplog.set_level(logging.DEBUG)
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{bound.getsockname()[1]}"
        with (
            Transport(address, Token(SECRET), patience=Patience(tries=1)) as transport,
            pytest.raises(ApiError) as raised,
        ):
            Prolific(transport).account.me()
    assert SECRET not in _everything_of(raised.value)
    assert raised.value.__context__ is None
    assert SECRET not in caplog.text


def test_its_text_form_shows_nothing() -> None:
    """In a debugger or a log by mistake."""
    token = Token(SECRET)
    assert SECRET not in f"{token} {token!r}"


def test_a_call_as_curl_has_a_variable_in_its_place() -> None:
    """A line to paste; what a shell would read otherwise is quoted."""
    request = Request(
        method="POST",
        path=f"studies/{ID}/transition/",
        query={"a": "b c"},
        body={"action": "it's $HOME"},
    )
    assert request.as_curl("https://api.prolific.com", SERVICE) == (
        'curl --request POST --header "Authorization: Token $PROLIFIC_TOKEN" '
        "--header 'Content-Type: application/json' "
        """--data '{"action": "it'"'"'s $HOME"}' """
        f"'https://api.prolific.com/api/v1/studies/{ID}/transition/?a=b+c'"
    )


def test_it_is_read_from_the_environment_or_from_a_file(tmp_path: Path) -> None:
    """The file goes before; whitespace around it is not the token's."""
    file = tmp_path / "token"
    file.write_text("another-token-987\n")
    file.chmod(0o600)
    environment = {"PROLIFIC_TOKEN": f" {SECRET}\n"}
    assert Token.read(environment) == Token(SECRET)
    assert Token.read(environment, file) == Token("another-token-987")
    assert Token.read({}) is None
    assert Token.read({"PROLIFIC_TOKEN": " "}) is None


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o666])
def test_a_file_that_others_can_read_is_refused(tmp_path: Path, mode: int) -> None:
    """And not closed in silence: the token may be known by now."""
    file = tmp_path / "token"
    file.write_text(SECRET)
    file.chmod(mode)
    with pytest.raises(Exposed, match="mode 6") as raised:
        Token.read({}, file)
    assert "chmod 600" in raised.value.next_step


@pytest.mark.parametrize(
    "text", [f"Token {SECRET}", f"{SECRET}\r\nX-Evil: 1", "short", f"{SECRET}é"]
)
def test_what_cannot_be_a_token_is_not_repeated(text: str) -> None:
    """It may be one all the same, wrongly pasted."""
    with pytest.raises(Unusable) as raised:
        Token.read({"PROLIFIC_TOKEN": text})
    assert text not in _everything_of(raised.value).replace(repr(text), "")


@pytest.mark.parametrize(
    ("address", "normal"),
    [
        ("https://api.prolific.com", "https://api.prolific.com"),
        ("https://API.Prolific.com/", "https://api.prolific.com"),
        ("http://localhost:8090", "http://localhost:8090"),
        ("http://127.0.0.1:8090/", "http://127.0.0.1:8090"),
        ("http://[::1]:8090", "http://[::1]:8090"),
    ],
)
def test_an_address_has_one_spelling(address: str, normal: str) -> None:
    """The one that is called and shown."""
    assert api_address(address, SERVICE) == normal


@for_each(
    "address",
    [
        "http://api.prolific.com",
        "http://10.0.0.1:8090",
        "http://localhost.example.org",
        "http://127.0.0.1.example.org",
        "ftp://127.0.0.1",
        "https://user:word@api.prolific.com",
        "https://api.prolific.com/api/v1",
        "https://api.prolific.com?x=1",
        "https://api.prolific.com:0",
        "https://api.prolific.com:port",
        "http://127.0.0.1\\@example.org",
        "https://",
        "https://" + "a" * 200,
        "api.prolific.com",
        "",
    ],
)
def test_the_token_goes_over_tls_or_stays_here(address: str) -> None:
    """Anything else is said before it is sent; a secret in the address is not shown."""
    with pytest.raises(Unusable) as raised:
        Transport(address, Token(SECRET))
    assert "word" not in str(raised.value)
