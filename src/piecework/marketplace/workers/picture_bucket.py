"""Serves pictures of a private bucket to workers whose page shows them.

Nothing in the bucket becomes public. A page gets signed addresses when it is served;
they are valid for the HIT's time limit and one to two hours more. The marketplace reads
the object with its own credentials, and sends a copy without metadata.
"""

import hashlib
import hmac
import html
import logging
import os
import re
from collections.abc import Callable
from html.parser import HTMLParser
from urllib.parse import parse_qs, unquote

from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

from piecework.campaign.exchange.picture_bucket import BucketUnreadableError, PictureBucket
from piecework.marketplace.state import clock
from piecework.marketplace.workers.picture_folder import in_sandbox, typed

_HOUR_SECONDS = 3600
_MAC_LENGTH = 32
_PARAMETER = "signed"
_LOADED = frozenset({"src", "srcset", "poster", "background", "data", "style"})
_LINKS = frozenset({"href", "xlink:href", "imagesrcset"})
_LOADS_ITS_LINK = frozenset({"link", "image", "use", "feimage"})
"""Elements that load what they link to; a person follows other links."""

_LOG = logging.getLogger(__name__)


class PictureSigner:
    """Signs the addresses of a bucket's pictures, and checks them.

    Args:
        key: the key of the marketplace's file, so that open pages survive a restart.
        origins: the origins that serve the pictures; a star in one is a label.
    """

    def __init__(self, key: bytes, origins: tuple[str, ...]) -> None:
        self._key = key
        named = "|".join(re.escape(origin).replace(r"\*\.", r"[a-z0-9]+\.") for origin in origins)
        # An address begins after a quotation mark, a bracket or a space.
        self._addresses = re.compile(
            rf"""(?<=["'`(>=,;\s])((?:{named})?/pictures/)"""
            r"""((?:[^"'`()<>\s,?#&\\]|&amp;)++)(?=["'`()<>\s,#&\\])"""
        )

    def signed(self, page: str, seconds: int) -> str:
        """Return a page with signed addresses of the pictures that its elements load.

        An address that only stands in text, in a script or in another attribute may
        have been typed by a worker, who could get any picture signed.

        Args:
            page: HTML of the requester's, in which text of workers is escaped.
            seconds: how long a worker may have the page.
        """
        if "/pictures/" not in page:
            return page
        loading = _Loading()
        loading.feed(page)
        loading.close()
        loaded = {
            unquote(html.unescape(match[2]))
            for address in loading.addresses
            for match in self._addresses.finditer(f'"{html.escape(address)}"')
        }
        return self._signed(page, seconds, loaded)

    def signed_address(self, address: str, seconds: int) -> str:
        """Return the address of a picture that the requester named, signed."""
        return self._signed(f'"{address}"', seconds, None)[1:-1]

    def _signed(self, page: str, seconds: int, loaded: set[str] | None) -> str:
        # The same address for an hour, so that browsers keep the pictures they have.
        hours = clock.machine_ms() // clock.SECOND // _HOUR_SECONDS
        until = (hours + 2) * _HOUR_SECONDS + seconds

        def with_signature(match: re.Match[str]) -> str:
            name = unquote(html.unescape(match[2]))
            if loaded is not None and name not in loaded:
                return match[0]
            return f"{match[0]}?{_PARAMETER}={until}.{self._mac(name, until)}"

        return self._addresses.sub(with_signature, page)

    def is_signed(self, name: str, query: bytes) -> bool:
        """Return whether an address was signed for this picture, and is still valid."""
        values = parse_qs(query.decode("latin-1")).get(_PARAMETER, [""])
        until, _, mac = values[0].partition(".")
        if not (until.isascii() and until.isdigit() and len(until) < _MAC_LENGTH):
            return False
        right = self._mac(name, int(until)).encode()
        is_right = hmac.compare_digest(mac.encode(), right)
        return is_right and clock.machine_ms() < int(until) * clock.SECOND

    def _mac(self, name: str, until: int) -> str:
        words = f"{until}|{name}".encode("utf-8", "surrogateescape")
        return hmac.digest(self._key, words, hashlib.sha256).hex()[:_MAC_LENGTH]


class _Loading(HTMLParser):
    """Collects what the elements of a page load.

    Attributes:
        addresses: texts with the addresses, such as the value of `srcset`.
    """

    def __init__(self) -> None:
        super().__init__()
        self.addresses: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Take the addresses of an element."""
        for name, value in attrs:
            is_link = name in _LINKS and tag in _LOADS_ITS_LINK
            if value and (name in _LOADED or is_link):
                self.addresses.append(value)

    def handle_data(self, data: str) -> None:
        """Take the addresses of a style sheet."""
        if self.cdata_elem == "style":
            self.addresses.append(data)


class BucketPictures(StaticFiles):
    """The pictures of a bucket, for requests with a signed address."""

    def __init__(self, address: str, is_signed: Callable[[str, bytes], bool]) -> None:
        self._bucket = PictureBucket(address)
        self._is_signed = is_signed
        super().__init__(directory=self._bucket.copies())

    def lookup_path(self, path: str) -> tuple[str, os.stat_result | None]:
        """Return the path of a copy of the picture."""
        copy = self._bucket.copy(path)
        return ("", None) if copy is None else (str(copy), copy.stat())

    async def get_response(self, path: str, scope: Scope) -> Response:
        """Return the picture, if the address was signed."""
        if not self._is_signed(path, scope["query_string"]):
            raise HTTPException(403, "This address of a picture is not valid any more.")
        try:
            return in_sandbox(typed(await super().get_response(path, scope), path))
        except BucketUnreadableError as fault:
            _LOG.warning("%s", fault)
            raise HTTPException(503, "The pictures cannot be read just now.") from fault
