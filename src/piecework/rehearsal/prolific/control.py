"""The controls of a rehearsal: those of every offline market, and switches."""

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from piecework.rehearsal.offline.controls import Controls
from piecework.rehearsal.offline.faults import FaultScript
from piecework.rehearsal.offline.requests import Endpoint, read_object
from piecework.rehearsal.prolific.due import catch_up
from piecework.rehearsal.prolific.routes import NAMES
from piecework.rehearsal.prolific.state import State
from piecework.rehearsal.prolific.webhooks import Sender


class Control(Controls):
    """The controls of one emulator."""

    def __init__(self, state: State, faults: FaultScript, sender: Sender) -> None:
        super().__init__(state, faults, NAMES, lambda: catch_up(state))
        self._switchable, self._sender = state, sender

    def endpoints(self) -> list[tuple[str, str, Endpoint]]:
        """Return the method, address and function of each."""
        return [
            *super().endpoints(),
            ("GET", "/emulator/switches", self.switches),
            ("PUT", "/emulator/switches", self.set_switches),
        ]

    async def move_clock(self, request: Request) -> Response:
        """Move the clock forward, and send the webhooks of what became due."""
        answer = await super().move_clock(request)
        self._sender.send_soon()
        return answer

    async def switches(self, _request: Request) -> Response:
        """Return the switches, for behaviour that Prolific does not document."""
        return JSONResponse(self._switchable.switches.document())

    async def set_switches(self, request: Request) -> Response:
        """Change some of the switches."""
        body = read_object(await request.body())
        with self._switchable.transaction():
            self._switchable.set_switches(self._switchable.switches.changed(body))
        return await self.switches(request)
