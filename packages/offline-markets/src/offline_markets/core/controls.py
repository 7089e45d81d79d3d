"""The controls that every offline market has: clock, switches, faults, call counts."""

from collections.abc import Callable, Collection
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from offline_markets.core.clock import iso, read_iso
from offline_markets.core.database import OfflineState
from offline_markets.core.errors import wrong
from offline_markets.core.faults import FaultScript
from offline_markets.core.requests import Endpoint, read_json, read_object


class Controls:
    """The controls of one offline market.

    Args:
        state: its state.
        faults: its script of faults.
        operations: the names that a fault may have.
        catch_up: carries out what is planned until now, inside a transaction.
    """

    def __init__(
        self,
        state: OfflineState[Any],
        faults: FaultScript,
        operations: Collection[str],
        catch_up: Callable[[], None],
    ) -> None:
        self._state, self._faults = state, faults
        self._operations, self._catch_up = operations, catch_up

    def endpoints(self) -> list[tuple[str, str, Endpoint]]:
        """Return the method, address and function of each."""
        return [
            ("GET", "/emulator/clock", self.clock),
            ("PUT", "/emulator/clock", self.move_clock),
            ("GET", "/emulator/switches", self.switches),
            ("PUT", "/emulator/switches", self.set_switches),
            ("PUT", "/emulator/faults", self.set_faults),
            ("GET", "/emulator/calls", self.calls),
        ]

    async def clock(self, _request: Request) -> Response:
        """Return the emulator's time."""
        return JSONResponse({"now": iso(self._state.clock.now_ms())})

    async def move_clock(self, request: Request) -> Response:
        """Move the clock forward, and carry out everything due until then."""
        body = read_object(await request.body())
        try:
            moment_ms = read_iso(body.get("now"))
        except ValueError as fault:
            raise wrong("now", f"{fault}.") from fault
        with self._state.transaction():
            self._state.move_clock(moment_ms)
            self._catch_up()
        return await self.clock(request)

    async def switches(self, _request: Request) -> Response:
        """Return the switches, for behaviour that the market does not document."""
        return JSONResponse(self._state.switches.document())

    async def set_switches(self, request: Request) -> Response:
        """Change some of the switches."""
        body = read_object(await request.body())
        with self._state.transaction():
            self._state.set_switches(self._state.switches.changed(body))
        return await self.switches(request)

    async def set_faults(self, request: Request) -> Response:
        """Replace the script of faults."""
        script = read_json(await request.body())
        count = self._faults.set(script, self._operations)
        self._state.lag_ms = self._faults.lag_ms
        return JSONResponse({"faults": count})

    async def calls(self, _request: Request) -> Response:
        """Return how often each operation was called since the emulator started."""
        return JSONResponse(dict(sorted(self._faults.calls.items())))
