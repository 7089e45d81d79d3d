"""The marketplace's clock: virtual in a rehearsal, compared with this machine's when live.

In a rehearsal, pipeline and marketplace share one time: deadlines, auto-approval and the
times in the dataset come from the marketplace's clock, which only simulated workers move.

Signatures contain a time, and a marketplace refuses those that are 15 minutes off. Its own
words for that are times in UTC without punctuation, and nothing is said of a clock that is
off by less. But deadlines and the times in a store come from both clocks.
"""

import json
import logging
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from http import HTTPStatus
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import SplitResult, urlsplit

from piecework.domain.clock import Clock, SystemClock
from piecework.domain.errors import ConfigError, PlatformRefused, TransientPlatformError

if TYPE_CHECKING:
    import ssl
    from http.client import HTTPConnection

START = datetime(2026, 1, 5, 9, tzinfo=UTC)
"""Virtual time begins on the same Monday morning in every rehearsal."""

_SECONDS_TO_WAIT = 60.0
_PATH = "/rehearsal/clock"


class VirtualClock:
    """Read and move the marketplace's time.

    The time is read once and then remembered; call `refresh` if another process moves
    it.
    """

    def __init__(self, endpoint_url: str) -> None:
        self._url = endpoint_url.rstrip("/")
        self._now: datetime | None = None
        self.simulates = False
        """Whether simulated workers do the HITs, as far as the last answer says."""

    def now(self) -> datetime:
        """Return the marketplace's current time, in UTC."""
        return self.refresh() if self._now is None else self._now

    def refresh(self) -> datetime:
        """Read the marketplace's time again.

        Raises:
            ConfigError: the certificates that AWS's settings name cannot be read.
            PlatformRefused: the marketplace is not a rehearsal's.
            TransientPlatformError: it does not answer, or is not a marketplace.
        """
        self._now = self._call("GET")
        return self._now

    def move_to(self, moment: datetime) -> None:
        """Let time pass until `moment`; a time in the past has no effect."""
        if moment > self.now():
            self._call("PUT", json.dumps({"now": moment.isoformat()}))
            self._now = moment

    def let_pass(self, span: timedelta) -> datetime:
        """Let time pass while no worker works; return the new time."""
        self.move_to(self.now() + span)
        return self.now()

    def _call(self, method: str, body: str | None = None) -> datetime:
        status, document = self._exchange(method, body)
        reply = _object(document)
        if status >= HTTPStatus.INTERNAL_SERVER_ERROR:
            raise failed_there(_PATH, status, str(reply.get("message", "")))
        if status >= HTTPStatus.BAD_REQUEST:
            code, message = reply.get("error", status), reply.get("message", "")
            raise PlatformRefused(f"{_PATH}: {message}", code=str(code))
        try:
            self.simulates = reply.get("simulates") is True
            return datetime.fromisoformat(reply["now"])
        except (KeyError, TypeError, ValueError) as fault:
            raise strange_answer(self._url) from fault

    def _exchange(self, method: str, body: str | None) -> tuple[int, bytes]:
        from http.client import HTTPException  # noqa: PLC0415 - most commands call no marketplace

        connection = _connection(urlsplit(self._url))
        try:
            connection.request(method, _PATH, body, {"Accept": "application/json"})
            response = connection.getresponse()
            return response.status, response.read()
        except (OSError, HTTPException) as fault:
            raise no_answer(self._url, fault) from fault
        finally:
            connection.close()


def _connection(url: SplitResult) -> "HTTPConnection":
    from http.client import HTTPConnection, HTTPSConnection  # noqa: PLC0415 - as above

    host, port = url.hostname or "", url.port
    if url.scheme != "https":
        return HTTPConnection(host, port, timeout=_SECONDS_TO_WAIT)
    return HTTPSConnection(host, port, timeout=_SECONDS_TO_WAIT, context=_trust())


def _trust() -> "ssl.SSLContext":
    """Trust the certificates that boto3 trusts: those of AWS_CA_BUNDLE, if it is set.

    Otherwise Python's own, which SSL_CERT_FILE can replace.
    """
    import ssl  # noqa: PLC0415 - only calls by HTTPS need it

    from botocore.exceptions import BotoCoreError  # noqa: PLC0415 - only calls by HTTPS need it
    from botocore.session import Session  # noqa: PLC0415 - as above

    try:
        bundle = Session().get_config_variable("ca_bundle") or None
    except BotoCoreError:  # the client of the requester API says what is wrong
        bundle = None
    try:
        if bundle is not None and Path(bundle).is_dir():
            return ssl.create_default_context(capath=bundle)
        return ssl.create_default_context(cafile=bundle)
    except OSError as fault:
        raise ConfigError(
            [f"AWS_CA_BUNDLE names {bundle}, which has no certificates: {fault}"],
            next_step="write the path of a file of certificates (PEM) into it, or unset it",
        ) from fault


def no_answer(url: str, fault: Exception) -> TransientPlatformError:
    """Return the error for an unreachable marketplace of a rehearsal."""
    return TransientPlatformError(
        f"The marketplace at {url} does not answer: {fault}.",
        next_step="Start it again; a rehearsal continues where it stopped.",
    )


def failed_there(path: str, status: int, message: str) -> TransientPlatformError:
    """Return the error for a rehearsal's marketplace that reports a failure."""
    return TransientPlatformError(
        f"The marketplace failed at {path} (HTTP {status}): "
        f"{message.strip() or 'it does not say why'}",
        next_step="Check whether the disk is full (`df -h .`), then run the same "
        "command again; a rehearsal continues where it stopped.",
    )


def strange_answer(url: str) -> TransientPlatformError:
    """Return the error for an answer from another program."""
    return TransientPlatformError(
        f"{url}: the answer is not a marketplace's: it comes from another program or a proxy.",
        next_step="Check the address; `piecework market serve --simulate CAMPAIGN` prints its own.",
    )


def _object(document: bytes) -> dict[str, Any]:
    """Return the JSON object in a document; empty without one."""
    try:
        reply = json.loads(document)
    except ValueError:
        return {}
    return reply if isinstance(reply, dict) else {}


WARNED = timedelta(minutes=2)
"""Two clocks that are kept in time differ by much less, even with a slow reply."""
_BAD_SIGNATURE = "InvalidSignatureException"
_LOG = logging.getLogger(__name__)


def watch_clock(
    events: Any,  # noqa: ANN401 - botocore's emitter
    endpoint: str,
    clock: Clock | None = None,
) -> None:
    """Let a botocore client say once that the clocks differ by two minutes or more.

    A refused signature then raises a `PlatformRefused` that names both clocks.

    Args:
        events: of the client.
        endpoint: URL of the marketplace.
        clock: this machine's; `SystemClock` by default.
    """
    machine, warned = clock or SystemClock(), False

    def check(parsed: Mapping[str, Any], **_: object) -> None:
        nonlocal warned
        headers = parsed.get("ResponseMetadata", {}).get("HTTPHeaders", {})
        ahead = _ahead(machine, str(headers.get("date", "")))
        if abs(ahead) < WARNED:
            return
        words = f"this machine's clock is {_spoken(ahead)} {endpoint}'s"
        if parsed.get("Error", {}).get("Code") == _BAD_SIGNATURE:
            raise PlatformRefused(
                f"{words}, so it refuses this machine's calls",
                code=_BAD_SIGNATURE,
                next_step="set the clock that is wrong (`date -u` shows it), then run "
                "the same command again; nothing was changed",
            )
        if not warned:
            warned = True
            _LOG.warning(
                "%s; set the clock that is wrong (`date -u` shows it): from 15 minutes "
                "on, calls are refused",
                words,
            )

    events.register_first("after-call.mturk", check)


def _ahead(clock: Clock, date: str) -> timedelta:
    """Return by how much a clock is ahead of the header `Date`; zero without one."""
    from email.utils import parsedate_to_datetime  # noqa: PLC0415 - as above

    try:
        theirs = parsedate_to_datetime(date)
    except ValueError:
        return timedelta(0)
    return clock.now() - theirs.replace(tzinfo=theirs.tzinfo or UTC)


def _spoken(ahead: timedelta) -> str:
    """Return a difference in words.

    >>> _spoken(timedelta(minutes=-61))
    '61 minutes behind'
    """
    minutes = round(abs(ahead).total_seconds() / 60)
    return f"{minutes} minutes {'ahead of' if ahead > timedelta(0) else 'behind'}"
