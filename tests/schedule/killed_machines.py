"""One campaign that three machines drive, while a killer ends machines and runs.

The marketplace is live and has a process of its own; the store is in PostgreSQL. People
work between the kills, so the campaign ends only after the last kill.
"""

import contextlib
import os
import random
import signal
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import psycopg

from piecework.config.campaign_file import parse_untrusted
from piecework.config.trust import TRUST, fingerprint
from tests.live.marketplace import PEOPLE, InvitedPeople, LiveMarketplace
from tests.schedule.machines import Machine
from tests.schedule.prefect_apart import PrefectApart
from tests.small_campaign import CAMPAIGN, write_campaign
from tests.stores import stored_in

Kind = Literal["machine", "run"]
KINDS: tuple[Kind, ...] = ("machine", "run")
MACHINES = ("machine-a", "machine-b", "machine-c")
_PATIENCE = 900.0
_REFUSED = "AnotherPassIsAtWork"
_STALLED_SECONDS = 60.0
"""Less than the time after which a run without a heartbeat is ended."""

_SECONDS_OF_START = 6.0
"""A run's process needs about as long until it begins its pass."""
_SESSIONS = (
    "SELECT application_name FROM pg_stat_activity "
    "WHERE application_name LIKE 'process % on machine-%'"
)


@dataclass(slots=True)
class EndlessPeople(InvitedPeople):
    """Invited people who take what is offered, in turn; two of them work badly."""

    pages: int = 0

    def work_page(self) -> bool:
        """Let the next person with an offer do a HIT; whether there was any."""
        for number in range(len(PEOPLE)):
            handle = PEOPLE[(self.pages + number) % len(PEOPLE)]
            manner = {"bob": "shout", "dan": "half"}.get(handle, "good")
            if self._take_one(handle, manner):
                self.pages += 1
                return True
        return False


@dataclass(slots=True)
class Kills:
    """What was killed.

    Attributes:
        counts: of each kind.
        runs: how many flow runs died.
        in_pass: how many kills hit a pass that was connected to the store.
        moments: seconds from the beginning, in order.
        fault: what ended the killer before its time.
    """

    counts: Counter[Kind] = field(default_factory=Counter)
    runs: int = 0
    in_pass: int = 0
    moments: list[float] = field(default_factory=list)
    fault: BaseException | None = None

    @property
    def total(self) -> int:
        """All kills."""
        return sum(self.counts.values())


@dataclass(slots=True)
class Site:
    """A campaign, its marketplace, and the machines that drive it.

    Attributes:
        url: of the database with the store.
        copies: the campaign's files, as each machine has got them.
    """

    prefect: PrefectApart
    market: LiveMarketplace
    url: str
    copies: Path
    machines: list[Machine]
    people: EndlessPeople

    def at_work(self) -> list[str]:
        """Names of the machines whose passes are connected to the store."""
        with psycopg.connect(self.url) as session:
            rows = session.execute(_SESSIONS).fetchall()
        return [name.split(" ")[3] for (name,) in rows]

    def runs(self) -> list[dict[str, Any]]:
        """All flow runs that a worker has taken, as the server lists them."""
        taken = {"state": {"type": {"not_any_": ["SCHEDULED"]}}}
        runs: list[dict[str, Any]] = []
        while part := self.prefect.read(
            "flow_runs/filter", flow_runs=taken, offset=len(runs), sort="ID_DESC"
        ):
            runs += part
        return runs

    def kill_at_random(self, chance: random.Random, most: int, kills: Kills) -> None:
        """Kill machines and runs, at moments that the generator chooses."""
        try:
            self._kill_at_random(chance, most, kills)
            self._stall_until_another_is_refused()
        except BaseException as fault:
            # The test waits in another thread.
            kills.fault = fault
            raise

    def _kill_at_random(self, chance: random.Random, most: int, kills: Kills) -> None:
        began = time.monotonic()
        while kills.total < most:
            kind = chance.choice(KINDS)
            # Half of the moments lie in a pass, as the database sees it.
            if chance.random() < 0.5:
                machine = self._machine_in_pass()
                time.sleep(chance.uniform(0, 1.5))
            else:
                machine = self._machine_with_run(chance)
                time.sleep(chance.uniform(0, _SECONDS_OF_START))
            is_in_pass = machine.name in self.at_work()
            killed = machine.kill() if kind == "machine" else machine.kill_run()
            if not machine.is_up:
                machine.start()
            if not killed and kind == "run":
                continue  # it ended a moment before
            kills.counts[kind] += 1
            kills.runs += bool(killed)
            kills.in_pass += bool(killed) and is_in_pass
            kills.moments.append(time.monotonic() - began)

    def _stall_until_another_is_refused(self) -> None:
        """Let a pass stand still for as long as another machine begins one."""
        until = time.monotonic() + _PATIENCE
        while _REFUSED not in [run["state_name"] for run in self.runs()]:
            assert time.monotonic() < until, "no pass met another one"
            machine = self._machine_in_pass()
            stalled = machine.stall_run()
            if machine.name in self.at_work():
                self._wait_for_refusal()
            for pid in stalled:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGCONT)

    def _wait_for_refusal(self) -> None:
        until = time.monotonic() + _STALLED_SECONDS
        while time.monotonic() < until:
            if _REFUSED in [run["state_name"] for run in self.runs()]:
                return
            time.sleep(0.5)

    def _machine_in_pass(self) -> Machine:
        until = time.monotonic() + _PATIENCE
        while not (names := self.at_work()):
            assert time.monotonic() < until, "no machine made a pass"
            time.sleep(0.05)
        return next(machine for machine in self.machines if machine.name == names[0])

    def _machine_with_run(self, chance: random.Random) -> Machine:
        until = time.monotonic() + _PATIENCE
        while True:
            for machine in chance.sample(self.machines, len(self.machines)):
                if machine.runs():
                    return machine
            assert time.monotonic() < until, "no machine made a run"
            time.sleep(0.1)


@contextmanager
def machines_at(
    folder: Path, prefect: PrefectApart, market: LiveMarketplace, url: str, items: int
) -> Iterator[Site]:
    """Three machines with the files of a campaign; no worker has started yet.

    Args:
        folder: for everything.
        prefect: the server.
        market: where the campaign posts.
        url: of the database.
        items: how many items the campaign has, in batches of four.
    """
    copies, site = folder / "copies", folder / "site"
    copies.mkdir()
    site.mkdir()
    text = CAMPAIGN.replace("batches = 2", f"batches = {items // 4}")
    text = text.replace('"20.00"', '"500.00"')
    campaign = write_campaign(copies, stored_in(text, folder, url), pictures=items)
    deployment = campaign.with_suffix(".deployment.toml")
    deployment.write_text(
        f'endpoint = "{market.line.address}"\nlive = true\nspend_at_most = "500.00"\n'
    )
    keys = {
        "AWS_ACCESS_KEY_ID": market.key.access_key,
        "AWS_SECRET_ACCESS_KEY": market.key.secret,
        # The machines share no list of trusted campaigns.
        TRUST: fingerprint(parse_untrusted(campaign)),
    }
    machines = []
    for name in MACHINES:
        machine = Machine(name, folder / name, site, prefect, keys)
        machine.receive(campaign, deployment, copies / "piecework.toml", copies / "items.csv")
        machines.append(machine)
    people = EndlessPeople(market.line.address, codes=market.codes)
    try:
        yield Site(prefect, market, url, copies, machines, people)
    finally:
        for machine in machines:
            if machine.is_up:
                machine.kill()


def drive_to_its_end(site: Site, *, kills: int, seed: int) -> Kills:
    """Start all machines, kill, let people work, until the campaign is finished."""
    made = Kills()
    for machine in site.machines:
        machine.start()
    chance = random.Random(seed)  # noqa: S311 - no secret
    killer = threading.Thread(target=site.kill_at_random, args=(chance, kills, made), daemon=True)
    killer.start()
    # Two answers to each item, two items on a page.
    pages = len((site.copies / "items.csv").read_text().splitlines()) - 1
    until = time.monotonic() + _PATIENCE + 60 * kills
    while "Finished" not in (states := [run["state_name"] for run in site.runs()]):
        if made.fault is not None:
            raise made.fault
        assert time.monotonic() < until, states
        # The last page waits for the last kill, and for two passes at once.
        is_calm = made.total >= kills and _REFUSED in states
        allowed = min(pages - 1, pages * made.total // kills + 2)
        if is_calm or site.people.pages < allowed:
            site.people.work_page()
        time.sleep(1)
    killer.join(60)
    assert made.total == kills
    return made


def outcome_of(run: dict[str, Any]) -> str:
    """Sort a flow run for the table."""
    name = str(run["state_name"])
    if name in ("Completed", "Finished", "WaitsForPeople"):
        return "done"
    if name == _REFUSED:
        return "refused"
    return {"Crashed": "lost", "Running": "lost", "Pending": "lost"}.get(name, name)
