"""The controls of a rehearsal, which also sends the webhooks of what became due."""

from starlette.requests import Request
from starlette.responses import Response

from piecework.rehearsal.offline.controls import Controls
from piecework.rehearsal.offline.faults import FaultScript
from piecework.rehearsal.prolific.due import catch_up
from piecework.rehearsal.prolific.routes import NAMES
from piecework.rehearsal.prolific.state import State
from piecework.rehearsal.prolific.webhooks import Sender


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
