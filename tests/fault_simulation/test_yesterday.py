"""Files of yesterday beside files of today, at Prolific and with invited workers.

A campaign runs on a marketplace with the bridge and the offline Prolific. Its store and
the marketplace's file are copied. A day of work follows. Then the store, the
marketplace's file, or both are put back to the copies, and a person does what the
commands name. The laws of the simulation are read after every step: nothing is posted
or published twice, and each assignment and bonus is paid once. In the end the books of
campaign, marketplace and Prolific agree, but for what the copies have lost.
"""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.conftest import in_full
from tests.fault_simulation.simulation import Simulation

ROUNDS = 40
Files = tuple[str, ...]
FILES: tuple[Files, ...] = (("store",), ("marketplace",), ("store", "marketplace"))


@dataclass
class Yesterday(Simulation):
    """A run without other faults, in which files of yesterday come back.

    Attributes:
        restored: which.
    """

    restored: tuple[str, ...] = ()

    def _disturbed_part(self) -> None:
        self._is_disturbed = False
        self._work()
        self._copy()
        self._day()
        self._work()
        files = {"store": self.pipeline.store, "marketplace": self.served.database}
        for name in self.restored:
            self._put_back(files[name], self._copies[files[name]][0])
            self.books.check()
        self._work()

    def _work(self) -> None:
        """People and programs do what there is to do."""
        events = [
            (4, self._pass),
            (7 if self.has_participants else 0, self._bridge),
            (4 if self.has_participants else 0, self._operate),
            (20, self._a_person),
            (8, self._a_program),
            (3, self._minutes),
            (1, self._hours),
        ]
        weights = [weight for weight, _ in events]
        self._pass()
        for _ in range(ROUNDS):
            [(_, event)] = self.rng.choices(events, weights)
            event()
            self.books.check()


def _run(folder: Path, seed: int, restored: tuple[str, ...]) -> list[str]:
    """Run it in a thread of its own, as other simulations; return its trace."""
    simulation = Yesterday(folder, seed, restored=restored)

    def traced() -> list[str]:
        try:
            simulation.run()
        except Exception as fault:
            for line in simulation.trace:
                fault.add_note(line)
            raise
        return simulation.trace

    with ThreadPoolExecutor(1) as pool:
        return pool.submit(traced).result()


CASES: list[tuple[Files, int]] = [(("store",), 2), (("marketplace",), 2)]
MORE: list[tuple[Files, int]] = [(("store", "marketplace"), 2)]
MORE += [(files, seed) for files in FILES for seed in range(100, 140)]


@pytest.mark.parametrize(("restored", "seed"), [*CASES, *in_full(*MORE, weeks=3)])
def test_files_of_yesterday_repeat_nothing(
    tmp_path: Path, restored: tuple[str, ...], seed: int
) -> None:
    """Whichever of them come back, the campaign ends with books that agree."""
    trace = _run(tmp_path, seed, restored)
    put_back = [line for line in trace if "is put back to" in line]
    assert len(put_back) == len(restored)
