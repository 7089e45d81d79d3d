"""The command line of a marketplace that runs as a separate process."""

import argparse
import json
import sys
from pathlib import Path

from piecework.marketplace.http.child_process import START_FAULTS, report_of
from piecework.marketplace.http.server import Marketplace, serve_attached
from piecework.marketplace.state import accounts, clock
from piecework.marketplace.state.money import MTURK, PriceList


def parser(program: str) -> argparse.ArgumentParser:
    """Return the parser of a marketplace's options, named as `Marketplace`'s fields."""
    parser = argparse.ArgumentParser(prog=f"python -m {program}")
    parser.add_argument("--database", type=Path, required=True, help="SQLite file")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=0, help="site and requester API")
    parser.add_argument("--frames-port", type=int, default=0, help="question pages")
    parser.add_argument("--pictures", help="folder or bucket served as /pictures/")
    parser.add_argument("--rehearsal", action="store_true", help="virtual time, simulated workers")
    parser.add_argument(
        "--simulates", action="store_true", help="say that all workers are simulated"
    )
    parser.add_argument(
        "--trust-local", action="store_true", help="check no signatures; loopback only"
    )
    parser.add_argument("--notify-url", default="", help="local queue or topic server for events")
    parser.add_argument(
        "--clock-is-right", action="store_true", help="confirm that this machine's clock is right"
    )
    parser.add_argument("--seed", type=int, default=0, help="seed of a rehearsal's ids")
    parser.add_argument("--start", type=clock.moment_of, help="virtual time at the start")
    parser.add_argument(
        "--balance-cents",
        type=int,
        default=accounts.REHEARSAL_BALANCE_CENTS,
        help="initial balance of a rehearsal's requester",
    )
    parser.add_argument(
        "--prices",
        type=_prices,
        default=MTURK,
        help="currency and fees as JSON (see docs/reference/marketplace.md)",
    )
    parser.add_argument(
        "--attached",
        action="store_true",
        help="end with the process that holds standard input, and report the start to it as JSON",
    )
    return parser


def serve_parent(marketplace: Marketplace) -> None:
    """Serve the process that started this one; tell it why if that fails."""
    try:
        serve_attached(marketplace)
    except START_FAULTS as fault:
        print(report_of(fault), flush=True)  # noqa: T201 - for the parent
        sys.exit(1)


def _prices(text: str) -> PriceList:
    try:
        return PriceList.of_members(json.loads(text))
    except (KeyError, TypeError, ArithmeticError) as fault:
        raise ValueError(text) from fault
