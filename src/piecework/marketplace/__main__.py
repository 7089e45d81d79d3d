"""`python -m piecework.marketplace`: a marketplace as a separate process."""

import sys

from piecework.marketplace.http.hosts import UnsafeBindError
from piecework.marketplace.http.notification_sender import NotifyAddressError
from piecework.marketplace.http.server import (
    Marketplace,
    command_line_parser,
    serve_forever,
    serve_parent,
)
from piecework.marketplace.state.storage import WrongDatabaseError


def main() -> None:
    """Read the command line and serve until stopped."""
    options = vars(command_line_parser("marketplace").parse_args())
    is_attached = options.pop("attached")
    marketplace = Marketplace(**options)
    if is_attached:
        serve_parent(marketplace)
        return
    try:
        serve_forever(marketplace)
    except (UnsafeBindError, WrongDatabaseError, NotifyAddressError, OSError) as fault:
        sys.exit(f"The marketplace cannot start: {fault}")


if __name__ == "__main__":
    main()
