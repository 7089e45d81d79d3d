"""The controls of a rehearsal, which also sends the webhooks of what became due."""

from starlette.requests import Request
from starlette.responses import Response

from offline_markets.core.controls import Controls
from offline_markets.core.faults import FaultScript
from offline_markets.prolific.due import catch_up
from offline_markets.prolific.routes import NAMES
from offline_markets.prolific.state import State
from offline_markets.prolific.webhooks import Sender


class Control(Controls):
    """The controls of one emulator."""

    def __init__(self, state: State, faults: FaultScript, sender: Sender) -> None:
        super().__init__(state, faults, NAMES, lambda: catch_up(state))
        self._sender = sender

    async def move_clock(self, request: Request) -> Response:
        """Move the clock forward, and send the webhooks of what became due."""
        answer = await super().move_clock(request)
        self._sender.send_soon()
        return answer
