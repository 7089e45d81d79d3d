"""What the ways to serve another market's participants have in common."""

from typing import TYPE_CHECKING

from piecework.domain.errors import ConfigError
from piecework.domain.money import cents_from_text

if TYPE_CHECKING:
    from piecework.marketplace.bridging.running import StepObserver
    from piecework.marketplace.http.options import Marketplace


def refuse_closed_addresses(
    marketplace: "Marketplace", address: str, *, crowd: str
) -> None:
    """Refuse URLs that a participant's browser cannot open, before any call.

    Args:
        marketplace: the options.
        address: the other market's API.
        crowd: the value of --crowd.

    Raises:
        ConfigError: an option is missing.
        Unusable: participants cannot open an address.
    """
    from piecework.webclient.public_url import (
        is_emulator,
        refuse_closed_frames,
        refuse_closed_site,
    )

    if not marketplace.site_url:
        raise ConfigError(
            [f"--crowd {crowd} needs --public-url, where participants are sent"]
        )
    if is_emulator(address):
        return
    refuse_closed_site(marketplace.site_url)
    if not marketplace.frames_url:
        raise ConfigError(
            [f"--crowd {crowd} needs --frames-url, the URL of the question pages"],
            next_step="give a second https name that leads to --frames-port",
        )
    refuse_closed_frames(marketplace.frames_url)


def amount_of(option: str, text: str) -> int:
    """Return the cents of an option's amount; 0 if it is empty.

    Raises:
        ConfigError: it is not an amount.
    """
    try:
        return cents_from_text(text or "0")
    except ValueError as fault:
        raise ConfigError([f"{option}: {fault}"]) from fault


def step_observer(served: "Marketplace") -> "StepObserver | None":
    """Return what counts a bridge's steps for metrics, if metrics are served."""
    return None if served.metrics is None else served.metrics.metrics.observe_step
