"""Send webhooks: signed, at least once, in any order, with retries after failures.

Due webhooks are sent after the next call, in parallel to its answer. A failed webhook
is retried for a day of the emulator's time, with growing waits. A subscription that
fails for five days is disabled. The receiver's answer is not read.
"""

import asyncio
import base64
import hashlib
import hmac
import ssl

import httpx

from offline_markets.core.clock import DAY, MINUTE, SECOND
from offline_markets.prolific.state import State

_MOST_TRIES = 12
_MOST_AT_A_TIME = 100
_LONGEST_SECONDS = 10.0
_DAYS_OF_FAILURE = 5
# Only http is called; loading all root certificates would slow everything down.
_NO_TLS = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
_DUE = (
    "SELECT event.*, target_url, value AS secret FROM event "
    "JOIN subscription ON subscription.id = subscription_id "
    "JOIN webhook_secret USING (workspace_id) WHERE next_ms <= ? AND is_enabled "
    "ORDER BY next_ms, event.number LIMIT ?"
)


class Sender:
    """Calls subscribers, one round after another, never two at once."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._round: asyncio.Task[None] | None = None

    def send_soon(self) -> None:
        """Begin a round if something is due and no round is running."""
        is_at_work = self._round is not None and not self._round.done()
        if not is_at_work and self._due():
            self._round = asyncio.create_task(self._send())

    def _due(self) -> list[dict[str, object]]:
        now_ms = self._state.clock.now_ms()
        rows = self._state.rows(_DUE, (now_ms, _MOST_AT_A_TIME))
        if self._state.switches.webhooks_out_of_order:
            rows.reverse()
        return [dict(row) for row in rows]

    async def _send(self) -> None:
        times = 2 if self._state.switches.webhooks_repeat else 1
        # The final check comes last: an event that becomes due while the client closes
        # its connections would otherwise wait for another call.
        while due := self._due():
            async with httpx.AsyncClient(
                timeout=_LONGEST_SECONDS, trust_env=False, verify=_NO_TLS
            ) as client:
                for event in due:
                    # The clock may be moved before the answer arrives.
                    sent_ms = self._state.clock.now_ms()
                    taken = [await self._sent(client, event) for _ in range(times)]
                    self._note(event, sent_ms, is_taken=all(taken))

    async def _sent(self, client: httpx.AsyncClient, event: dict[str, object]) -> bool:
        now_ms = self._state.clock.now_ms()
        body = str(event["payload"]).encode()
        moment = str(now_ms // SECOND)
        digest = hmac.digest(str(event["secret"]).encode(), moment.encode() + body, hashlib.sha256)
        try:
            reply = await client.post(
                str(event["target_url"]),
                content=body,
                headers={
                    "Content-Type": "application/json",
                    "X-Prolific-Request-Timestamp": moment,
                    "X-Prolific-Request-Signature": base64.b64encode(digest).decode(),
                    "X-Event-ID": str(event["id"]),
                    "X-Timestamp": str(event["created_ms"]),
                },
            )
        except httpx.HTTPError:
            return False
        return reply.is_success

    def _note(self, event: dict[str, object], sent_ms: int, *, is_taken: bool) -> None:
        state, tries = self._state, int(str(event["tries"])) + 1
        with state.transaction():
            next_ms = None
            if not is_taken and tries < _MOST_TRIES:
                next_ms = sent_ms + min(2**tries * MINUTE, DAY // 4)
            status = "SUCCEEDED" if is_taken else "FAILED"
            state.conn.execute(
                "UPDATE event SET status = ?, tries = ?, next_ms = ?, updated_ms = ? WHERE id = ?",
                (
                    status if next_ms is None else "PENDING",
                    tries,
                    next_ms,
                    state.now_ms,
                    event["id"],
                ),
            )
            state.conn.execute(
                "UPDATE subscription SET failing_since_ms = "
                "iif(?1, NULL, coalesce(failing_since_ms, ?2)), is_enabled = "
                "is_enabled AND (?1 OR coalesce(failing_since_ms, ?2) > ?2 - ?3) "
                "WHERE id = ?4",
                (int(is_taken), sent_ms, _DAYS_OF_FAILURE * DAY, event["subscription_id"]),
            )
