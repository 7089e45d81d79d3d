"""Campaigns of tests that name what is outside of their folders."""

from contextlib import suppress
from pathlib import Path

from piecework.config.campaign_file import parse_untrusted
from piecework.config.trust import reach_of, trust, variables_of
from piecework.domain.errors import ConfigError


def trusted(path: Path, *variables: str) -> Path:
    """Trust a campaign as it is now, as `check --trust` does; return its path."""
    trust(parse_untrusted(path), variables)
    return path


def own(path: Path) -> Path:
    """Trust what a test has written itself, if it needs that; return its path."""
    with suppress(ConfigError):
        file = parse_untrusted(path)
        if reach := reach_of(file):
            trust(file, variables_of(reach))
    return path
