"""The machine of a simulation: its time, its chance, its threads and its sockets.

What the product asks of the machine that it runs on is answered from the seed and from
the simulation's time, so the same seed is the same run. Nothing else is replaced.
"""

import sqlite3
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import cache, partial
from random import Random
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

import boto3.session
import botocore.endpoint

from piecework.engine import collect, opening
from piecework.engine.recover import adopting, comparing
from piecework.marketplace.http import server
from piecework.marketplace.state import backend, clock
from piecework.marketplace.state.clock import to_ms
from piecework.marketplace.state.transaction import IdGenerator
from piecework.platforms import client
from piecework.platforms.calling import Outage, Pace
from piecework.store import intents
from tests.fault_simulation.network import AtOnce, Network
from tests.fault_simulation.parts import ClockOf, Time
from tests.fault_simulation.process import Database


@dataclass(frozen=True, slots=True)
class _Address:
    """An address that is taken without a socket."""

    host: str
    port: int
    connections: object

    def getsockname(self) -> tuple[str, int]:
        """As a socket's."""
        return self.host, self.port

    def close(self) -> None:
        """There is nothing to let go of."""


class _DrawnIds(IdGenerator):
    """Ids that never come again, as a live marketplace draws them.

    A rehearsal's follow from what they name, so a marketplace that was put back to a
    copy would give the ids once more that it has lost.
    """

    def __init__(self, rng: Random, seed: int | None) -> None:
        super().__init__(seed)
        self._rng = rng

    def _letters(self, length: int, *_: object) -> str:
        return "".join(self._rng.choices("ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789", k=length))


@contextmanager
def simulated(network: Network, time: Time, rng: Random) -> Iterator[None]:
    """Let all programs of this process run on the machine of a simulation."""
    chance = SimpleNamespace(
        token_hex=lambda count: rng.randbytes(count).hex(), token_bytes=rng.randbytes
    )
    outage = partial(Outage, now=time.monotonic)
    pace = partial(Pace, now=time.monotonic, sleep=time.sleep)
    replaced: list[tuple[Any, str, Any]] = [
        (sqlite3, "connect", partial(sqlite3.connect, factory=Database)),
        (server, "listen", _Address),
        (clock, "machine_ms", lambda: to_ms(time.of("marketplace"))),
        # A rehearsal that watches the machine's clock as a live marketplace does.
        (clock, "virtual_ms", lambda _: None),
        (backend, "steady_ms", lambda: to_ms(time.now())),
        (backend, "IdGenerator", partial(_DrawnIds, rng)),
        (opening, "SystemClock", lambda: ClockOf(time, "pipeline")),
        (opening, "secrets", chance),
        (client, "Outage", outage),
        (client, "Pace", pace),
        # What a session has read of its files is no memory of a program's.
        (boto3.session, "Session", cache(boto3.session.Session)),
        (botocore.endpoint, "time", SimpleNamespace(sleep=time.sleep)),
        *(
            (module, "ThreadPoolExecutor", AtOnce)
            for module in (adopting, comparing, collect, intents)
        ),
    ]
    with ExitStack() as stack:
        for owner, name, value in replaced:
            stack.enter_context(patch.object(owner, name, value))
        stack.enter_context(network.installed())
        yield
