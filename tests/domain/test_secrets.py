"""Secrets of addresses, in whatever people or logs see."""

import doctest

from hypothesis import given
from hypothesis import strategies as st

from piecework.domain import text
from piecework.domain.text import without_secrets

_SECRET = st.text("abcXYZ019._~-+!$*,;:%@=", min_size=1, max_size=12).map(lambda end: f"Qz{end}Qz")
_DATABASE_SECRET = st.builds("{}{}".format, _SECRET, st.from_regex(r"[/?#]?Qz", fullmatch=True))
_OPTIONS = (
    "token",
    "access_token",
    "Api-Key",
    "AccountKey",
    "pass",
    "code",
    "sig",
    "X-Amz-Signature",
)
_AROUND = ("{}", "cannot read {}: no", '["{}","mail@x.org"]', "'{}', then", "({})", "<{}>", "a,{}")


@given(
    scheme=st.sampled_from(["postgresql+psycopg", "s3", "sftp", "redis"]),
    password=st.one_of(_SECRET, _DATABASE_SECRET),
    name=st.sampled_from(_OPTIONS),
    value=_SECRET,
    around=st.sampled_from(_AROUND),
)
def test_no_secret_of_an_address_remains(
    scheme: str, password: str, name: str, value: str, around: str
) -> None:
    """Host, folder, other options and the words around stay; a second time changes nothing."""
    value = value.replace(";", "").replace("@", "")
    written = f"{scheme}://{{}}@b.org/c?max_tokens=3&{name}={{}}"
    address = written.format(f"ann:{password}", value)
    shown = without_secrets(around.format(address))
    assert shown == around.format(written.format("ann:***", "***"))
    assert without_secrets(shown) == shown


@given(user=_SECRET, around=st.sampled_from(_AROUND))
def test_a_token_in_place_of_a_name_is_hidden(user: str, around: str) -> None:
    """Of web addresses the name, too: services take tokens there."""
    shown = without_secrets(around.format(f"https://{user}@b.org/c"))
    assert shown == around.format("https://***@b.org/c")


@given(st.text("a:/?&;#@='\"token ${}", max_size=40).filter(lambda words: "://" not in words))
def test_text_without_an_address_stays(words: str) -> None:
    """Also where it looks like a part of one."""
    assert without_secrets(words) == words


_UNCHANGED = (
    '["http://127.0.0.1:8080","mail@x.org"]',
    "https://a.org/?max_tokens=3&tokenizer=b&monkey=c&keys=d",
    "http://a.org:80/b@c http://[::1]:80/b@c http://a.org:${PORT}/b@c",
    "abfs://photos@account.dfs.core.windows.net/c and postgresql://ann@b/c",
    "s3://${KEY}:${SECRET}@b/c?token=${A}${B}",
    "mail@x.org, see https://a.org",
)
_CHANGED = {
    "s3://k:${A}lit@b": "s3://k:***@b",
    "https://a/?token=${A}lit": "https://a/?token=***",
    "http://a/?n=1,http://ann:x@b": "http://a/?n=1,http://***@b",
    "https://a/?to=https://x:y@b/?sig=1": "https://a/?to=https://***@b/?sig=***",
    "abfs://c@a/x;AccountKey=abc==;B=1": "abfs://c@a/x;AccountKey=***;B=1",
    "https://a/#access_token=1": "https://a/#access_token=***",
    "redis://:x@b": "redis://:***@b",
}


def test_addresses_without_a_secret_stay_and_others_lose_it() -> None:
    """Ports, containers, names of databases and variables are no secrets."""
    expected = {address: address for address in _UNCHANGED} | _CHANGED
    assert {address: without_secrets(address) for address in expected} == expected


def test_a_long_text_is_read_in_linear_time() -> None:
    """200,000 signs of what looks like many beginnings; in square time this takes many minutes."""
    for part in ("token", "?token=", "://", "://a:b/", "a:", ":", ";key=", '"', "@"):
        for begin in ("x://?", "x://?key=", "@x://"):
            without_secrets(begin + part * (200_000 // len(part)))


def test_the_examples_of_the_docstring_hold() -> None:
    """What the page of the function shows is what it gives."""
    assert doctest.testmod(text).failed == 0
