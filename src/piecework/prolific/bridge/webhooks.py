"""Webhooks of Prolific, which only make the bridge look sooner.

Nothing that one says is believed or kept: what has happened is read from the API, as
always. So a webhook that is lost, late, doubled or out of order changes nothing, and a
forged one is refused and makes nobody look.
"""

import base64
import hashlib
import hmac
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from threading import Event

from piecework.marketplace.exceptions import Refusal
from piecework.marketplace.state import clock
from piecework.marketplace.state.backend import Backend
from piecework.prolific.client import Prolific
from piecework.prolific.http.errors import Unusable

EVENT_TYPES = ("study.status.change", "submission.status.change")

_SIGNATURE = "x-prolific-request-signature"
_SIGNED_AT = "x-prolific-request-timestamp"
_EVENT = "x-event-id"
_MOST_SKEW_MS = 300 * clock.SECOND
_MOST_REMEMBERED = 10_000
_LONGEST_MOMENT = 12
"""Digits of a moment in seconds, with room for some thousand years."""


@dataclass(slots=True)
class Receiver:
    """Takes in webhooks; the site's one thread calls it, the bridge's waits for news.

    Attributes:
        secret: what they are signed with.
        news: set when something has happened at Prolific.
        now_ms: the present.
    """

    secret: str = field(repr=False)
    news: Event = field(default_factory=Event)
    now_ms: Callable[[], int] = clock.machine_ms
    _heard: OrderedDict[str, None] = field(default_factory=OrderedDict, repr=False)

    def take(self, headers: Mapping[str, str], body: bytes) -> None:
        """Look at a webhook; one that is new is news.

        Raises:
            Refusal: it is not Prolific's, or not of now (403).
        """
        signature = headers.get(_SIGNATURE, "")
        if not self._is_genuine(signature, headers.get(_SIGNED_AT, ""), body):
            raise Refusal("WebhookRefused", "This is not signed.", status=403)
        # The id is not signed: whoever sends a webhook again may write another.
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
    """What Prolific writes below a body; the moment is in seconds since 1970."""
    message = signed_at.encode() + body
    digest = hmac.digest(secret.encode(), message, hashlib.sha256)
    return base64.b64encode(digest).decode()


def register(
    backend: Backend, prolific: Prolific, workspace_id: str, url: str
) -> Receiver:
    """Have Prolific call an address, unless it does so already; what takes the calls.

    Args:
        backend: of the marketplace, whose file keeps a secret that was made.
        prolific: the client.
        workspace_id: whose studies it is about.
        url: where webhooks arrive.

    Raises:
        ProlificError: they cannot be had; the bridge does without.
    """
    receiver = Receiver(_secret(backend, prolific, workspace_id))
    offered = prolific.webhooks.event_types()
    wanted = [each for each in EVENT_TYPES if each in offered]
    if not wanted:
        raise Unusable(f"Prolific offers no webhook for {' or '.join(EVENT_TYPES)}")
    for each in prolific.webhooks.subscriptions(workspace_id):
        if each.target_url != url:
            continue
        if each.is_enabled and each.event_type in wanted:
            wanted.remove(each.event_type)
        else:
            # It was never confirmed, or failed for days, or is one too many.
            prolific.webhooks.unsubscribe(each.id)
    for event_type in wanted:
        prolific.webhooks.subscribe(workspace_id, event_type, url)
    return receiver


def _secret(backend: Backend, prolific: Prolific, workspace_id: str) -> str:
    """The workspace's secret; one is made only where there is none.

    Another would end the webhooks of all other programs of the workspace.
    """
    key = f"webhook_secret {workspace_id}"
    with backend.transaction() as transaction:
        row = transaction.one("SELECT value FROM settings WHERE key = ?", key)
    listed = prolific.webhooks.secrets(workspace_id)
    shown = [each.value for each in listed if each.value]
    if shown:
        return shown[0]
    if listed and row is not None:
        return str(row["value"])
    if listed:
        raise Unusable(
            "the workspace has a secret for webhooks already, and Prolific does not "
            "show it",
            next_step="leave --webhooks out; the bridge polls",
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
