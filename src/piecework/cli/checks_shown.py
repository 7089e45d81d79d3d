"""How the checks of a doctor command are shown in a terminal."""

from collections.abc import Sequence

import click

from piecework.domain.printable import printable
from piecework.webclient.checks import Check

_COLORS = {"ok": "green", "warn": "yellow", "fail": "red"}


def say_checks(checks: Sequence[Check]) -> None:
    """Write a line for each check, and its next step if it has one."""
    for check in checks:
        level = click.style(f"{check.level:4}", fg=_COLORS[check.level])
        click.echo(f"{level}  {check.name:10}  {printable(check.sentence)}")
        if check.next_step:
            click.echo(f"      next: {printable(check.next_step)}")
