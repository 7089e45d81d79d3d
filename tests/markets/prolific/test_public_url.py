"""What is certainly wrong with an address is told from here; what may be, is warned."""

from piecework.foundation.client.checks import check_public_url
from tests.for_each import for_each

_ADDRESSES = {
    "hits.example.org": ["93.184.215.14"],
    "within.example.org": ["10.0.0.7"],
    "both.example.org": ["93.184.215.14", "fd00::1"],
}


def _resolve(host: str) -> list[str]:
    if host not in _ADDRESSES:
        raise OSError(host)
    return _ADDRESSES[host]


@for_each(
    ("url", "level"),
    [
        ("https://hits.example.org", "ok"),
        ("https://hits.example.org:8443/site/", "ok"),
        ("https://HITS.example.org.", "ok"),
        ("https://within.example.org", "warn"),
        ("https://both.example.org", "warn"),
        ("https://unknown.example.org", "warn"),
        ("https://93.184.215.14", "warn"),
        ("http://hits.example.org", "fail"),
        ("https://127.0.0.1", "fail"),
        ("https://[::1]:8443", "fail"),
        ("https://10.0.0.7", "fail"),
        ("https://192.168.1.4:8080", "fail"),
        ("https://169.254.169.254", "fail"),
        ("https://[fe80::1]", "fail"),
        ("https://localhost:8443", "fail"),
        ("https://server", "fail"),
        ("https://server.local", "fail"),
        ("https://user@hits.example.org", "fail"),
        ("https://hits.example.org/?a=b", "fail"),
        ("https://hits.example.org:99999", "fail"),
        ("https://hits example.org", "fail"),
        ("hits.example.org", "fail"),
        ("https://[", "fail"),
        ("", "fail"),
    ],
)
def test_an_address_is_judged_as_far_as_it_can_be_known(url: str, level: str) -> None:
    """And whatever is not in order comes with what helps."""
    check = check_public_url(url, _resolve)
    assert check.level == level
    assert (check.next_step == "") == (level == "ok")
