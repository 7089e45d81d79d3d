"""Prolific's webhooks, which only make the bridge check sooner.

Their content is neither trusted nor stored: the state is always read from the API. So a
lost, late, repeated or out-of-order webhook does no harm, and a forged one is refused
without effect.
"""

import base64
import hashlib
import hmac
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from threading import Event

from piecework.foundation.client.errors import Unusable
from piecework.marketplace.exceptions import Refusal
from piecework.marketplace.state import clock
from piecework.marketplace.state.backend import Backend
from piecework.markets.prolific.client import Prolific

EVENT_TYPES = ("study.status.change", "submission.status.change")

_SIGNATURE = "x-prolific-request-signature"
_SIGNED_AT = "x-prolific-request-timestamp"
_EVENT = "x-event-id"
_MOST_SKEW_MS = 300 * clock.SECOND
_MOST_REMEMBERED = 10_000
_LONGEST_MOMENT = 12
"""The most digits of a timestamp in seconds."""


@dataclass(slots=True)
class Receiver:
    """Receives webhooks in the site's thread and wakes the bridge's thread.

    Attributes:
        secret: the secret that signs them.
        news: set when something has happened at Prolific.
        now_ms: returns the current time in milliseconds.
    """

    secret: str = field(repr=False)
    news: Event = field(default_factory=Event)
    now_ms: Callable[[], int] = clock.machine_ms
    _heard: OrderedDict[str, None] = field(default_factory=OrderedDict, repr=False)

    def take(self, headers: Mapping[str, str], body: bytes) -> None:
        """Check a webhook, and set `news` if it is new.

        Raises:
            Refusal: it is not from Prolific, or not recent (403).
        """
        signature = headers.get(_SIGNATURE, "")
        if not self._is_genuine(signature, headers.get(_SIGNED_AT, ""), body):
            raise Refusal(
                "WebhookRefused", "This webhook has no valid, recent signature.", status=403
            )
        # The signature does not cover the id, so a replay could change it.
        known_by = {f"signature {signature}"}
        if event_id := headers.get(_EVENT):
            known_by.add(f"event {event_id}")
        if self._heard.keys() & known_by:
            return
        self._heard.update(dict.fromkeys(known_by))
        while len(self._heard) > _MOST_REMEMBERED:
            self._heard.popitem(last=False)
        self.news.set()

    def _is_genuine(self, signature: str, signed_at: str, body: bytes) -> bool:
        if not (signed_at.isascii() and signed_at.isdigit()):
            return False
        if len(signed_at) > _LONGEST_MOMENT:
            return False
        skew_ms = abs(self.now_ms() - int(signed_at) * clock.SECOND)
        right = signature_of(self.secret, signed_at, body)
        is_signed = hmac.compare_digest(right.encode(), signature.encode())
        return is_signed and skew_ms <= _MOST_SKEW_MS


def signature_of(secret: str, signed_at: str, body: bytes) -> str:
    """Return Prolific's signature of a body; the time is in seconds since 1970."""
    message = signed_at.encode() + body
    digest = hmac.digest(secret.encode(), message, hashlib.sha256)
    return base64.b64encode(digest).decode()


def register(backend: Backend, prolific: Prolific, workspace_id: str, url: str) -> Receiver:
    """Subscribe an address to webhooks if needed; return the receiver.

    Args:
        backend: the marketplace's database, which stores a newly created secret.
        prolific: the client.
        workspace_id: the workspace of the studies.
        url: the address for webhooks.

    Raises:
        ApiError: webhooks are unavailable; the bridge works without them.
    """
    receiver = Receiver(_secret(backend, prolific, workspace_id))
    offered = prolific.webhooks.event_types()
    wanted = [each for each in EVENT_TYPES if each in offered]
    if not wanted:
        raise Unusable(f"Prolific does not offer webhooks for {' or '.join(EVENT_TYPES)}")
    for each in prolific.webhooks.subscriptions(workspace_id):
        if each.target_url != url:
            continue
        if each.is_enabled and each.event_type in wanted:
            wanted.remove(each.event_type)
        else:
            # It was never confirmed, failed for days, or is a duplicate.
            prolific.webhooks.unsubscribe(each.id)
    for event_type in wanted:
        prolific.webhooks.subscribe(workspace_id, event_type, url)
    return receiver


def _secret(backend: Backend, prolific: Prolific, workspace_id: str) -> str:
    """Return the workspace's secret, creating one only if there is none.

    A new secret would break the webhooks of all other programs of the workspace.
    """
    key = f"webhook_secret {workspace_id}"
    with backend.reading() as transaction:
        row = transaction.first_row("SELECT value FROM settings WHERE key = ?", key)
    listed = prolific.webhooks.secrets(workspace_id)
    shown = [each.value for each in listed if each.value]
    if shown:
        return shown[0]
    if listed and row is not None:
        return str(row["value"])
    if listed:
        raise Unusable(
            "the workspace already has a webhook secret, and Prolific does not show it",
            next_step="leave out --webhooks; the bridge polls instead",
        )
    made = prolific.webhooks.create_secret(workspace_id).value
    with backend.transaction() as transaction:
        transaction.execute(
            "INSERT INTO settings (key, value) VALUES (?, ?) "
            "ON CONFLICT (key) DO UPDATE SET value = excluded.value",
            key,
            made,
        )
    return made
