"""The controls of a rehearsal: clock, switches, faults and call counts."""

from collections.abc import Awaitable, Callable

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from piecework.rehearsal.prolific.call import read_json, read_object
from piecework.rehearsal.prolific.clock import iso, read_iso
from piecework.rehearsal.prolific.due import catch_up
from piecework.rehearsal.prolific.errors import wrong
from piecework.rehearsal.prolific.faults import FaultScript
from piecework.rehearsal.prolific.routes import NAMES
from piecework.rehearsal.prolific.state import State
from piecework.rehearsal.prolific.webhooks import Sender

Endpoint = Callable[[Request], Awaitable[Response]]


class Control:
    """The controls of one emulator."""

    def __init__(self, state: State, faults: FaultScript, sender: Sender) -> None:
        self._state, self._faults, self._sender = state, faults, sender

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
            catch_up(self._state)
        self._sender.send_soon()
        return await self.clock(request)

    async def switches(self, _request: Request) -> Response:
        """Return the switches, for behaviour that Prolific does not document."""
        return JSONResponse(self._state.switches.document())

    async def set_switches(self, request: Request) -> Response:
        """Change some of the switches."""
        body = read_object(await request.body())
        with self._state.transaction():
            self._state.set_switches(self._state.switches.changed(body))
        return await self.switches(request)

    async def set_faults(self, request: Request) -> Response:
        """Replace the script of faults."""
        count = self._faults.set(read_json(await request.body()), NAMES)
        self._state.lag_ms = self._faults.lag_ms
        return JSONResponse({"faults": count})

    async def calls(self, _request: Request) -> Response:
        """Return how often each operation was called since the emulator started."""
        return JSONResponse(dict(sorted(self._faults.calls.items())))
