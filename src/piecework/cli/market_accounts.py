"""What the commands about an account have in common, whatever the market."""

import json
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

import click

from piecework.cli.output import say_checks
from piecework.domain.errors import ConfigError
from piecework.domain.text import plural
from piecework.foundation.client.token import AccountToken, Service

if TYPE_CHECKING:
    from piecework.domain.campaign import Rewards
    from piecework.foundation.client.checks import Check
    from piecework.markets.bridging.places import VisitPlan

_Command = TypeVar("_Command", bound=Callable[..., Any])
T = TypeVar("T", bound=AccountToken)


def url_option(service: Service) -> Callable[[_Command], _Command]:
    """Return the option with the URL of a market's API."""
    return click.option(
        "--url",
        envvar=service.url_variable,
        default=service.address,
        show_default=True,
        help=f"URL of the API (or {service.url_variable}); plain http only on this machine.",
    )


TOKEN_FILE = click.option(
    "--token-file",
    type=click.Path(path_type=Path, dir_okay=False, exists=True),
    help="A file with the token or key that only you can read (mode 600), instead of "
    "PROLIFIC_TOKEN or CONNECT_API_KEY.",
)
ADOPT = click.option(
    "--adopt",
    metavar="ID",
    help="Take a study or project into a file that lacks it, and continue it.",
)
LEAVE = click.option(
    "--leave",
    metavar="ID",
    help="Stop a study or project that the file lacks; the market pays its participants.",
)
PAY_LOST = click.option(
    "--pay-lost",
    metavar="ID",
    help="Pay participants who submitted its code and have no answers here.",
)


def needed_token(kind: type[T], file: Path | None, word: str) -> T:
    """Return the token of a file, or of the environment.

    Raises:
        ConfigError: there is no token.
        Exposed: others can read the file.
    """
    token = kind.read(os.environ, file)
    if token is None:
        fault = (
            f"the {word} of a {kind.service.name} account is missing: "
            f"{kind.service.token_variable} is not set, and no file was named"
        )
        raise ConfigError(
            [fault],
            next_step=f"export {kind.service.token_variable}=..., or give --token-file FILE",
        )
    return token


def end_with(
    ctx: click.Context,
    checks: "Sequence[Check]",
    *,
    as_json: bool,
    calls: Sequence[str] | None = None,
    are_shown: bool = False,
) -> NoReturn:
    """End with exit code 1 if a check failed; print the checks before.

    Args:
        ctx: the command's context.
        checks: the checks.
        as_json: whether to print them as a document.
        calls: the calls that were made, to print too.
        are_shown: whether a person has seen them already.
    """
    is_well = all(check.level != "fail" for check in checks)
    if as_json:
        document: dict[str, object] = {
            "ok": is_well,
            "checks": [check.as_dict() for check in checks],
        }
        if calls is not None:
            document["requests"] = calls
        click.echo(json.dumps(document, indent=2))
    else:
        say_checks(() if are_shown else checks)
        if calls is not None:
            click.echo("\n".join(["", "the calls that were made:", *calls]))
    ctx.exit(0 if is_well else 1)


def sentence_of_visits(market: str, plan: "VisitPlan", rewards: "Rewards") -> str:
    """Return how a market divides a campaign's largest batch into visits, for people."""
    visits = plan.visits(plan.largest)
    number, hits = visits[0]
    of_batch = " for the largest batch" if len(plan.batches) > 1 else ""
    return (
        f"at {market}{of_batch}: {plural(number, 'participant')}, each does "
        f"{plural(hits, 'HIT')} ({plural(hits * plan.items_in_hit, 'item')}), "
        f"gets {rewards.shown(hits * rewards.reward_cents)}, "
        f"about {plural(plan.minutes(hits), 'minute')}"
        + "".join(f"; then {more} with {plural(length, 'HIT')}" for more, length in visits[1:])
    )
