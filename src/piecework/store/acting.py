"""Carry out acts, many at a time; every call that changes a platform goes through here.

A pool of threads makes the calls. Only the calling thread reads and writes the store.
It writes outcomes in one transaction with the intents of the next calls, so that
durability costs one wait for the disk per round instead of two per call.
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait

from piecework.domain.clock import Clock
from piecework.domain.errors import PlatformRefused
from piecework.store.database import Store, writing
from piecework.store.intents import Act, close_intent, declare, read_outcome

Refusal = tuple[Act, PlatformRefused]


def carry_out(
    store: Store,
    acts: Iterable[Act],
    *,
    clock: Clock,
    most_calls: int = 1,
    stop_at_refusal: bool = False,
) -> list[Refusal]:
    """Do every act that was not done before; return what was refused, and why.

    The acts may run in any order. After an error other than a refusal no further act
    begins; those under way are awaited and recorded first.

    Args:
        store: where intents and outcomes are kept.
        acts: drawn one by one, when there is room; drawing may raise to stop.
        clock: tells when.
        most_calls: the most calls under way at a time.
        stop_at_refusal: begin no further act after a refusal, and raise it; otherwise a
            refused act stays open and does not delay others.

    Raises:
        StoreError: another pass closed an intent meanwhile; no outcome is recorded
            twice.
        PlatformRefused: a call was refused, and `stop_at_refusal` is set.
        TransientPlatformError: the outcome of a call is unknown; its intent stays open.
    """
    with ThreadPoolExecutor(most_calls, thread_name_prefix="act") as pool:
        work = _Work(store, iter(acts), clock, pool, stop_at_refusal=stop_at_refusal)
        # Declare twice as many in advance, so that no thread waits for the disk.
        room = 2 * most_calls if most_calls > 1 else 1
        while work.go_on(room):
            pass
    if work.fault is not None:
        raise work.fault
    return work.refused


class _Work:
    """Acts under way: `go_on` waits for some, records them and begins others."""

    def __init__(
        self,
        store: Store,
        acts: Iterator[Act],
        clock: Clock,
        pool: ThreadPoolExecutor,
        *,
        stop_at_refusal: bool,
    ) -> None:
        self._store, self._acts, self._clock, self._pool = store, acts, clock, pool
        self._stops_at_refusal = stop_at_refusal
        self._running: dict[Future[str | None], Act] = {}
        self._to_do: deque[Act] = deque()
        self.refused: list[Refusal] = []
        self.fault: BaseException | None = None

    def go_on(self, room: int) -> bool:
        """Do one round in one transaction; return whether calls are still under way."""
        done = wait(self._running, return_when=FIRST_COMPLETED).done
        with writing(self._store):
            for future in done:
                self._write_down(self._running.pop(future), future)
            begun = list(self._begin(room - len(self._running)))
        # A call starts only once its intent is durable.
        for act, call in begun:
            self._running[self._pool.submit(call)] = act
        return bool(self._running)

    def _write_down(self, act: Act, future: "Future[str | None]") -> None:
        fault = future.exception()
        if isinstance(fault, PlatformRefused) and not self._stops_at_refusal:
            self.refused.append((act, fault))
        elif fault is not None:
            self.fault = self.fault or fault
        elif (outcome := future.result()) is None:
            self._to_do.append(act)  # looked for, and not found
        else:
            close_intent(self._store, act, outcome, self._clock)

    def _begin(self, room: int) -> Iterator[tuple[Act, Callable[[], str | None]]]:
        while room > 0 and self.fault is None:
            is_missing = bool(self._to_do)
            act = self._to_do.popleft() if is_missing else self._draw()
            if act is None:
                return
            row = None if is_missing else read_outcome(self._store, act.intent)
            if row is None:
                if not act.is_due():
                    continue
                declare(self._store, act.intent, self._clock)
                yield act, act.do
            elif row[0] is None:
                yield act, act.look
            else:
                continue
            room -= 1

    def _draw(self) -> Act | None:
        try:
            return next(self._acts, None)
        except Exception as fault:  # noqa: BLE001 - raised again once all is recorded
            self.fault = fault
            return None
