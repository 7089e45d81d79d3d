"""Scripted faults, which make failures in a rehearsal repeatable.

A fault strikes the k-th call of an operation since the script was set (of any operation
if it names none), and as many calls after it as `times` says.
"""

import math
from collections import Counter
from collections.abc import Collection
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from offline_markets.core.errors import ApiError

Kind = Literal[
    "lose_request",
    "lose_reply",
    "server_error",
    "bad_gateway",
    "throttle",
    "refuse",
    "slow",
    "lag",
]

_LONGEST_SECONDS = 30 * 24 * 3600.0


class Fault(BaseModel):
    """One line of the script.

    Attributes:
        kind: `lose_request` cuts the connection and does nothing; `lose_reply` does the
            call first. `server_error`, `throttle` and `refuse` answer 500, 429 and 400
            and do nothing.
            `bad_gateway` does the call, then answers 502 with an HTML page. `slow`
            waits first. `lag` strikes no call: while it is set, lists leave out what
            is new, at Connect also new bonuses.
        operation: the name of the operation to count calls of; None counts all.
        call: the first call to strike, from 1.
        times: how many calls to strike.
        seconds: how long `slow` waits; for `throttle`, the wait that it asks for
            (`Retry-After`; 0 asks for none); for `lag`, the age in the emulator's time
            at which a thing is listed.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    kind: Kind
    operation: str | None = None
    call: int = Field(1, ge=1)
    times: int = Field(1, ge=1)
    seconds: float = Field(0.0, ge=0, le=_LONGEST_SECONDS)

    @property
    def answer(self) -> ApiError | None:
        """Return the answer if the call is not done."""
        if self.kind == "server_error":
            return ApiError(500, "The service failed.")
        if self.kind == "refuse":
            return ApiError(400, "The service refuses this call.")
        if self.kind == "throttle":
            return ApiError(
                429, "Too many requests; try again later.", wait_seconds=math.ceil(self.seconds)
            )
        return None


_SCRIPT = TypeAdapter(list[Fault])


class FaultScript:
    """The current faults, and how often each operation was called.

    Attributes:
        calls: by operation, since the emulator started.
    """

    def __init__(self) -> None:
        self.calls: Counter[str] = Counter()
        self._faults: list[Fault] = []
        self._counted: Counter[str | None] = Counter()

    def set(self, script: object, operations: Collection[str]) -> int:
        """Replace the script and restart counting; return the number of faults.

        Raises:
            ApiError: it is not a list of faults, or names an unknown operation.
        """
        try:
            faults = _SCRIPT.validate_python(script)
        except ValidationError as fault:
            first = fault.errors()[0]
            where = ".".join(map(str, first["loc"]))
            raise ApiError(400, f"{where}: {first['msg']}") from fault
        for line in faults:
            if line.operation is not None and line.operation not in operations:
                raise ApiError(400, f"Unknown operation {line.operation}.")
        self._faults, self._counted = faults, Counter()
        return len(faults)

    def strike(self, operation: str) -> Fault | None:
        """Return the first fault in the script that strikes this call, if any."""
        self.calls[operation] += 1
        self._counted[None] += 1
        self._counted[operation] += 1
        for fault in self._faults:
            if fault.kind == "lag" or fault.operation not in (None, operation):
                continue
            number = self._counted[fault.operation]
            if fault.call <= number < fault.call + fault.times:
                return fault
        return None

    @property
    def lag_ms(self) -> int:
        """Return how old a thing must be to be listed."""
        lags = (fault.seconds for fault in self._faults if fault.kind == "lag")
        return round(max(lags, default=0.0) * 1000)
