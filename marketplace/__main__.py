"""`python -m marketplace`: a marketplace as a process of its own."""

import argparse
from datetime import UTC, datetime
from pathlib import Path

from marketplace.server import Marketplace, serve_forever


def main() -> None:
    """Read the command line and serve until told to stop."""
    given = _parser().parse_args()
    serve_forever(
        Marketplace(
            database=given.database,
            rehearsal=given.rehearsal,
            seed=given.seed,
            start=given.start,
            pictures=given.pictures,
            host=given.host,
            port=given.port,
            frames_port=given.frames_port,
        )
    )


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m marketplace", description=__doc__)
    parser.add_argument("--database", type=Path, required=True, help="SQLite file")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=0, help="site and requester API")
    parser.add_argument("--frames-port", type=int, default=0, help="question pages")
    parser.add_argument("--pictures", type=Path, help="folder served as /pictures/")
    parser.add_argument(
        "--rehearsal", action="store_true", help="virtual time, simulated workers"
    )
    parser.add_argument("--seed", type=int, default=0, help="of a rehearsal's ids")
    parser.add_argument("--start", type=_moment, help="virtual time at the beginning")
    return parser


def _moment(text: str) -> datetime:
    moment = datetime.fromisoformat(text)
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


if __name__ == "__main__":
    main()
