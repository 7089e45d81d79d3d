"""The bridge under a fault: it meets one at a chosen call, and may die of it.

A call is named by its operation in Prolific's document (and what is asked of it, for
transitions), and by how often the bridge has made it. A death is an exception that
nothing catches; after it another bridge goes on, which remembers nothing.
"""

import time
from collections import Counter
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any, Literal

import httpx

from piecework.foundation.client.calls import Request
from piecework.foundation.client.transport import Answer, Patience, Transport
from piecework.markets.bridging.losses import undecided
from piecework.markets.prolific.bridge.adopting import adopt
from piecework.markets.prolific.bridge.bonuses import settle_unknown
from piecework.markets.prolific.bridge.bridge import NAME, Bridge
from piecework.markets.prolific.bridge.serving import step
from piecework.markets.prolific.calling import Token
from piecework.markets.prolific.client import Prolific
from tests.markets.prolific.bridge.calls import call_name
from tests.markets.prolific.bridge.town import Town

MOST_STEPS = 40
_PATIENCE_SECONDS = 0.15
_AT_THE_LATEST = 2.0
"""Seconds from a slow call until it is done, on a busy machine too."""


@dataclass(frozen=True, slots=True, order=True)
class Call:
    """The `nth` call (from 1) of this name."""

    name: str
    nth: int

    def __str__(self) -> str:
        """As the table names it."""
        return f"{self.name} {self.nth}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """What goes wrong at one call of the bridge.

    Attributes:
        name: what the table calls it.
        dies: before or after the call; "" does not.
        script: what the offline Prolific is told for this call and the next of its
            name, as many as `times`.
        lasts: whether the script holds until the end.
        restores: whether the marketplace's file is brought back from a copy that was
            made before the step of this call began, once all has settled.
    """

    name: str
    dies: Literal["", "before", "after"] = ""
    script: dict[str, Any] | None = None
    times: int = 1
    lasts: bool = False
    restores: bool = False


_LAG = {"kind": "lag", "seconds": 3600}
_SLOW = {"kind": "slow", "seconds": 3 * _PATIENCE_SECONDS}

FAULTS = (
    Fault(name="killed before the call", dies="before"),
    Fault(name="killed, reply unread", dies="after"),
    Fault(name="killed, and lists lag by 1 h", dies="after", script=_LAG, lasts=True),
    Fault(name="request lost", script={"kind": "lose_request"}),
    Fault(name="reply lost", script={"kind": "lose_reply"}),
    Fault(name="6 replies lost", script={"kind": "lose_reply"}, times=6),
    Fault(name="429 6 times", script={"kind": "throttle"}, times=6),
    Fault(name="500", script={"kind": "server_error"}),
    Fault(name="500 6 times", script={"kind": "server_error"}, times=6),
    Fault(name="done, and 502 with a page", script={"kind": "bad_gateway"}),
    Fault(name="done after patience ended", script=_SLOW),
    Fault(name="lists lag by 1 h", script=_LAG, lasts=True),
    Fault(name="restored from an older copy", restores=True),
)
BY_NAME = {fault.name: fault for fault in FAULTS}


class Died(BaseException):
    """The process of the bridge ended here."""


class Lives:
    """The bridge of a town, life after life.

    Attributes:
        calls: how often each call was made, in all lives.
        has_met: whether the fault was met.
        deaths: how often a life ended.
        failures: how many steps had a call that failed.
        restores: how often the marketplace's file was brought back from a copy.
    """

    def __init__(self, town: Town, fault: Fault | None = None, call: Call | None = None) -> None:
        self.town, self.fault, self.call = town, fault, call
        self.calls: Counter[str] = Counter()
        self.has_met = False
        self.deaths = self.failures = self.restores = self._struck = 0
        self._slow_until = 0.0
        self._open = ExitStack()
        self._live()

    def close(self) -> None:
        """Let go of its connections."""
        self._open.close()

    def settle(self) -> None:
        """Make steps until one changes nothing and nothing in it fails."""
        copy = None
        if self.fault is not None and self.fault.restores and not self.has_met:
            copy = self.town.copy()
        for _ in range(MOST_STEPS):
            try:
                has_changed = step(self.town.bridge)
            except Died:
                self.deaths += 1
                self._live()
                continue
            self.failures += bool(self.town.bridge.faults)
            if has_changed or self.town.bridge.faults:
                continue
            if copy is not None and self.has_met:
                self.town.restore(copy)
                self._live()
                copy, self.restores = None, self.restores + 1
            elif not (self.restores and self._decide()):
                return
        raise AssertionError(f"it does not settle: {self.town.bridge.faults}")

    def _decide(self) -> bool:
        """Do as a person who looks at Prolific after a restore; whether it was needed.

        Every unknown study and bonus is the marketplace's; of those without answers,
        nobody has lost any, since nobody worked between the copy and its return.
        """
        town = self.town
        with town.bridge.backend.transaction() as transaction:
            unknown = undecided(transaction, NAME)
        for study in unknown:
            adopt(town.bridge, study.study_id)
        batches = town.rows("SELECT * FROM bonus_batches WHERE trouble LIKE '%books do not have%'")
        for batch in batches:
            with town.bridge.backend.transaction() as transaction:
                settle_unknown(transaction, batch["batch_id"], is_paid=True)
        suspected = town.rows(
            "SELECT submission_id FROM visits WHERE loss = 'Suspected' AND outcome IS NULL"
        )
        for visit in suspected:
            town.researcher.judge(
                visit["submission_id"],
                "REJECT",
                message="No answers of yours reached us. " * 4,
                rejection_category="NO_DATA",
            )
        return bool(unknown or batches or suspected)

    def wait_for_slow(self) -> None:
        """Until what was asked of Prolific and given up is done there."""
        time.sleep(max(0.0, self._slow_until - time.monotonic()))

    def begin(self, name: str) -> bool:
        """Count a call that is about to leave, and do what is meant for it.

        Returns:
            Whether the fault is at this call.

        Raises:
            Died: before the call.
        """
        self.calls[name] += 1
        if self.fault is None or self.call is None or name != self.call.name:
            return False
        number = self.calls[name] - self.call.nth
        if not 0 <= number < self.fault.times:
            return False
        self.has_met = True
        if self.fault.dies == "before":
            raise Died
        if self.fault.script is not None:
            self._tell([self.fault.script])
            self._struck += 1
            if self.fault.script is _SLOW:
                self._slow_until = time.monotonic() + _AT_THE_LATEST
        return True

    def end(self, name: str) -> None:
        """The call has ended somehow.

        Raises:
            Died: after the call.
        """
        if self.fault is None or self.call is None or name != self.call.name:
            return
        if self._struck and not self.fault.lasts:
            self._tell([])
        if self.fault.dies == "after" and self.calls[name] == self.call.nth:
            raise Died

    def _tell(self, script: list[dict[str, Any]]) -> None:
        self.town.researcher.control("PUT", "/faults", script)

    def _live(self) -> None:
        transport = self._open.enter_context(_Mortal(self.town.researcher.url, self))
        here = self.town.bridge
        self.town.bridge = Bridge(here.backend, Prolific(transport), here.terms)


class _Mortal(Transport):
    """A transport whose calls are counted, and that may die."""

    def __init__(self, address: str, lives: Lives) -> None:
        super().__init__(
            address, Token("rehearsal-token"), patience=Patience(tries=3), sleep=lambda _: None
        )
        self._lives = lives

    def _once(self, request: Request) -> Answer:
        name = call_name(request)
        is_struck = self._lives.begin(name)
        # Only of the slow call: on a busy machine any other may take as long.
        is_slow = is_struck and _is_slow(self._lives)
        usual = self._http.timeout
        if is_slow:
            self._http.timeout = httpx.Timeout(_PATIENCE_SECONDS)
        try:
            return super()._once(request)
        finally:
            self._http.timeout = usual
            self._lives.end(name)


def _is_slow(lives: Lives) -> bool:
    return lives.fault is not None and lives.fault.script is _SLOW
