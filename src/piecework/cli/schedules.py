"""`run --every`: has passes made on a schedule.

If Prefect's settings name a server, the campaign's deployment is registered there. Otherwise
the lines to copy for cron and for systemd are printed; they need no Prefect.
"""

import hashlib
import json
import os
import re
import shlex
import sys
from collections.abc import Mapping
from contextlib import suppress
from datetime import timedelta
from functools import partial
from http import HTTPStatus
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, cast
from uuid import UUID

import click

from piecework.cli.options import OF_EACH_PASS, SECOND_STORE, is_typed
from piecework.config.user_files import CONFIG, whole_path, without_variables
from piecework.domain.errors import ConfigError, RefusedForSafety
from piecework.domain.text import shell_word
from piecework.engine.watching.pass_watcher import METRICS_FOLDER

if TYPE_CHECKING:
    from piecework.config.trust import Deployment

_VARIABLE = "PREFECT_API_URL"

POOL = "piecework"
"""The work pool whose workers make the passes; of type `process`, as in prefect.yaml."""

_SLUG = "passes"
"""The name of the schedule, as in prefect.yaml, so that each takes over the other's."""

_FORBIDDEN = re.compile(r"[/%&<>]")
"""What Prefect allows in no name."""

_UNITS = {"m": timedelta(minutes=1), "h": timedelta(hours=1), "d": timedelta(days=1)}
_LONGEST = timedelta(days=7)


class Interval(click.ParamType[timedelta]):
    """A time between two passes: 5m, 2h or 1d; from a minute to a week."""

    name = "interval"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> timedelta:
        """Return the time.

        >>> Interval().convert("90m", None, None)
        datetime.timedelta(seconds=5400)
        """
        if isinstance(value, timedelta):
            return value
        parts = re.fullmatch(r"([1-9][0-9]{0,5})([mhd])", str(value).strip())
        every = _UNITS[parts[2]] * int(parts[1]) if parts else timedelta()
        if not timedelta() < every <= _LONGEST:
            self.fail(
                f"{value!r} is not a time such as 5m, 2h or 1d, of at most 7 days", param, ctx
            )
        return every


def known_amount(campaign: Path) -> str | None:
    """Return the amount that the deployment file of a campaign states; `None` without one.

    Only a Prefect server's passes read this file.
    """
    from piecework.config.trust import deployment_path, read_deployment

    if _prefect_server() is None or not deployment_path(campaign).exists():
        return None
    return read_deployment(campaign).spend_at_most or None


def schedule(
    campaign: Path,
    every: timedelta,
    stated: "Deployment",
    *,
    metrics_folder: Path | None,
    as_json: bool,
) -> None:
    """Register a campaign's deployment, or print what cron and systemd need.

    Args:
        campaign: the campaign's file.
        every: the time between two passes.
        stated: where passes go and what they may do.
        metrics_folder: where passes write their metrics.
        as_json: whether a program reads the output.

    Raises:
        ConfigError: an option cannot reach a worker of Prefect, its server cannot be
            reached, or a line would show the password of the store.
        RefusedForSafety: the deployment file states something else.
    """
    from piecework.config.campaign_file import parse

    path, variables = whole_path(campaign), _store_variables(campaign)
    if (server := _prefect_server()) is not None:
        from piecework.config.trust import refusal_of

        _refuse_out_of_reach()
        _refuse_another(campaign, stated)
        name = _register(path, every, server)
        file = _write_deployment(campaign, stated)
        refusal = refusal_of(parse(campaign))
        if as_json:
            facts = {"deployment": name, **server._asdict()}
            facts["every_seconds"] = every.total_seconds()
            more = {"file": str(file), "is_trusted": refusal is None, "variables": [*variables]}
            click.echo(json.dumps({**facts, **more}, indent=2))
            return
        click.echo(f"{name}: a pass every {_spoken(every)}, by the Prefect server {server}")
        click.echo(f"where passes go and what they may cost: {file}")
        if refusal is not None:
            # A worker of Prefect makes the passes, and cannot ask a person.
            click.echo(
                f"next: piecework check {shell_word(campaign)} --trust, or passes are refused"
            )
        if variables:
            named = " and ".join(variables)
            click.echo(f"next: set {named} for the workers, as this command has it")
        click.echo(f"next: prefect worker start --pool {POOL}, on the machine that has the store")
        return
    _refuse_password(variables)
    words = _words(path, stated, metrics_folder, variables)
    cron, units = _cron(words, every), _units(path, words, every)
    if as_json:
        facts = {"every_seconds": every.total_seconds(), "cron": cron, "systemd": units}
        click.echo(json.dumps(facts, indent=2))
        return
    click.echo("# a line for `crontab -e`:" if cron else f"# cron has no {_spoken(every)}")
    if cron:
        click.echo(cron)
    for unit, text in units.items():
        click.echo(f"\n# ~/.config/systemd/user/{unit}\n{text}", nl=False)
    timer = list(units)[-1]
    click.echo(f"\n# next: systemctl --user daemon-reload && systemctl --user enable --now {timer}")
    click.echo("# and: loginctl enable-linger; without it, the timer stops when you log out")
    click.echo(
        "# Neither sees the variables of this shell. Keys come from ~/.aws/credentials, and "
        "others,\n# such as those of ${NAME} in the file, from lines in the crontab or "
        "EnvironmentFile= in the unit."
    )
    click.echo(
        "# with a Prefect server (PREFECT_API_URL, or a profile), the same command adds "
        "the deployment"
    )


class _Server(NamedTuple):
    """A server of Prefect.

    Attributes:
        server: its URL.
        source: the setting that names it.
    """

    server: str
    source: str

    def __str__(self) -> str:
        """Return it for a message."""
        return f"{self.server} (from {self.source})"


def _prefect_server() -> _Server | None:
    """Return the server that Prefect's settings name, as Prefect reads them; or `None`.

    An empty variable says that none is wanted, whatever a profile has.
    """
    if (stated := os.environ.get(_VARIABLE)) is not None:
        return _Server(stated, _VARIABLE) if stated else None
    from prefect.context import get_settings_context
    from prefect.settings import PREFECT_API_URL

    if not (url := PREFECT_API_URL.value()):
        return None
    profile = get_settings_context().profile
    if PREFECT_API_URL in profile.settings:
        return _Server(str(url), f"Prefect's profile {profile.name}")
    return _Server(str(url), "Prefect's settings of this folder")


def _spoken(every: timedelta) -> str:
    minutes = every // timedelta(minutes=1)
    for unit, name in ((1440, "day"), (60, "hour"), (1, "minute")):
        if minutes % unit == 0:
            number = minutes // unit
            return name if number == 1 else f"{number} {name}s"
    raise ValueError(every)


def _store_variables(campaign: Path) -> dict[str, str]:
    """Return the variables of this process that choose the store of a campaign."""
    from piecework.config.machine_file import STORE_URL, machine_file

    variables = {}
    if named := os.environ.get(CONFIG):
        variables[CONFIG] = str(whole_path(Path(named)))
    url = os.environ.get(STORE_URL)
    if url and machine_file(campaign).tables.store.url is None:
        variables[STORE_URL] = url
    return variables


def _refuse_password(variables: Mapping[str, str]) -> None:
    """Refuse to print a URL with a password, which others could read.

    The query may have one under several names: only options known to hold none are printed.

    Raises:
        ConfigError: it says how to write the URL.
    """
    from piecework.config.machine_file import STORE_URL
    from piecework.domain.store_address import first_refused

    url = variables.get(STORE_URL, "")
    if without_variables(_password(url)) or first_refused(url):
        raise ConfigError(
            [f"{STORE_URL} has a password, or may have one, which lines for cron would show"],
            next_step="write user:${NAME}@ before the host, and set NAME in the crontab or the "
            f"unit's EnvironmentFile=; or write `[store] url` in the file of {CONFIG}",
        )


def _password(url: str) -> str:
    """Return what may be the password before the host of a URL; "" without one.

    It may have characters that no URL has there.

    >>> _password("postgresql://ann:a/b@host/db"), _password("postgresql://ann@[::1]:5432/db")
    ('a/b', '')
    """
    return url.partition("://")[2].rpartition("@")[0].partition(":")[2]


def _words(
    campaign: Path,
    stated: "Deployment",
    metrics_folder: Path | None,
    variables: Mapping[str, str],
) -> list[str]:
    """Return the command of a pass, with paths that hold in any folder."""
    program = Path(sys.argv[0]).absolute()
    installed = Path(sys.executable).with_name("piecework")
    words = [str(program if program.name == "piecework" else installed), "run", str(campaign)]
    words += ["--once", "--endpoint", stated.endpoint]
    words += ["--live"] * stated.live + ["--rehearsal"] * stated.rehearsal
    reasons = [name for name, variable in OF_EACH_PASS.items() if os.environ.get(variable) == "1"]
    reasons += [SECOND_STORE] * stated.allow_second_store
    words += [word for reason in reasons for word in ("--although", reason)]
    if metrics_folder is not None:
        words += ["--metrics-folder", str(metrics_folder.absolute())]
    if stated.spend_at_most:
        # As an option it would be a person's agreement, at each pass.
        variables = {**variables, "PIECEWORK_RUN_SPEND_AT_MOST": stated.spend_at_most}
    settings = [f"{name}={value}" for name, value in variables.items()]
    return ["/usr/bin/env", *settings, *words] if settings else words


def _refuse_out_of_reach() -> None:
    """Refuse options that passes of a Prefect server do not see.

    Raises:
        ConfigError: it says which, and what they see instead.
    """
    reasons = click.get_current_context().params["although"] if is_typed("although") else ()
    typed = {f"--although {each}": OF_EACH_PASS[each] for each in reasons if each in OF_EACH_PASS}
    typed |= {"--metrics-folder": METRICS_FOLDER} if is_typed("metrics_folder") else {}
    if typed:
        variables = " and ".join(typed.values())
        raise ConfigError(
            [f"{', '.join(typed)}: workers of a Prefect server do not see this option"],
            next_step=f"set {variables} in the environment of this command and of the workers",
        )


def _cron(words: list[str], every: timedelta) -> str:
    r"""Return the line of a crontab; "" if cron cannot repeat after this time.

    >>> print(_cron(["piecework", "run", "50% birds.toml"], timedelta(hours=6)))
    0 */6 * * * piecework run '50\% birds.toml'
    >>> _cron(["piecework"], timedelta(minutes=7))
    ''
    """
    minutes = every // timedelta(minutes=1)
    hours, days = minutes // 60, minutes // 1440
    if 60 % minutes == 0 and minutes < 60:  # noqa: PLR2004 - of an hour
        when = f"*/{minutes} * * * *" if minutes > 1 else "* * * * *"
    elif minutes % 60 == 0 and 24 % hours == 0 and days == 0:
        when = f"0 */{hours} * * *" if hours > 1 else "0 * * * *"
    elif minutes == _UNITS["d"] // timedelta(minutes=1):
        when = "0 0 * * *"
    elif every == _LONGEST:
        when = "0 0 * * 0"
    else:
        return ""
    # A percent sign ends the command of a crontab's line.
    return f"{when} {shlex.join(words)}".replace("%", r"\%")


def _units(campaign: Path, words: list[str], every: timedelta) -> dict[str, str]:
    """Return a service and its timer, by the names of their files."""
    from piecework.config.user_files import plain_name

    name = f"{plain_name(campaign.stem, 'campaign')}-{_digest(campaign)}"
    command = " ".join(map(_quoted, words))
    service = (
        f"[Unit]\nDescription=a pass of {campaign.stem.replace('%', '%%')}\n\n[Service]\n"
        f"Type=oneshot\nExecStart={command}\nSuccessExitStatus=5 130\n"
    )
    seconds = int(every.total_seconds())
    timer = (
        f"[Timer]\nOnActiveSec=1s\nOnUnitInactiveSec={seconds}s\n\n[Install]\n"
        "WantedBy=timers.target\n"
    )
    return {f"piecework-{name}.service": service, f"piecework-{name}.timer": timer}


def _quoted(word: str) -> str:
    """Quote a word as systemd reads it: % begins a specifier, $ a variable.

    >>> _quoted("a b%"), _quoted("birds.toml")
    ('"a b%%"', 'birds.toml')
    """
    text = word.replace("%", "%%").replace("$", "$$")
    if re.fullmatch(r"[\w@%+=:,./$-]+", text):
        return text
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _digest(campaign: Path) -> str:
    """Return what tells campaigns of one name in several folders apart."""
    return hashlib.sha256(os.fsencode(campaign)).hexdigest()[:8]


def _refuse_another(campaign: Path, stated: "Deployment") -> None:
    """Check that a deployment file, if there is one, says the same.

    Raises:
        RefusedForSafety: the file states something else.
    """
    from piecework.config.campaign_file import parse
    from piecework.config.trust import deployment_path, read_deployment
    from piecework.engine.pass_request import amount_cents

    path = deployment_path(campaign)
    if not path.exists():
        return
    known = read_deployment(campaign)
    wanted = stated.model_copy(update={"credentials_block": known.credentials_block})
    cents = partial(amount_cents, currency=parse(campaign).tables.currency)
    amounts = [text for text in (known.spend_at_most, wanted.spend_at_most) if text]
    if not wanted.spend_at_most or len({*map(cents, amounts)}) < len(amounts):
        wanted = wanted.model_copy(update={"spend_at_most": known.spend_at_most})
    changed = {
        name: (before, now)
        for name, before in known.model_dump().items()
        if (now := getattr(wanted, name)) != before
    }
    if changed:
        listed = "; ".join(
            f"{name} is {old!r} there, not {new!r}" for name, (old, new) in changed.items()
        )
        raise RefusedForSafety(
            f"{path} states what scheduled passes may do: {listed}",
            next_step=f"change {path}, or give the same options",
        )


def _write_deployment(campaign: Path, stated: "Deployment") -> Path:
    """Write the deployment file, which only its owner may write, unless it exists."""
    from piecework.config.trust import deployment_path
    from piecework.store.files import write_private

    path = deployment_path(campaign)
    if path.exists():
        return path
    lines = [
        f"{name} = {json.dumps(value)}"
        for name, value in stated.model_dump().items()
        if name == "endpoint" or value
    ]
    text = "\n".join(["# What scheduled passes may do.", *lines, ""])
    write_private(path, text.encode())
    return path


def _what_helps(fault: Exception) -> str:
    """Return what to do about an error of a server, if it is about reaching or calling it."""
    cause: BaseException | None = fault
    while cause is not None:
        status = getattr(getattr(cause, "response", None), "status_code", None)
        if status in {HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN}:
            return "correct PREFECT_API_AUTH_STRING (name:password; at the Cloud PREFECT_API_KEY); "
        cause = cause.__cause__
    # What is no answer of Prefect's is a `ValueError`.
    if isinstance(fault, RuntimeError | ValueError):
        return "prefect server start, or correct PREFECT_API_URL or the profile; "
    return ""


def _register(campaign: Path, every: timedelta, server: _Server) -> str:
    """Register the deployment of a campaign; return its name.

    A campaign has a deployment of its own: its limit lets one pass run at a time. If another
    campaign has the name, or Prefect forbids it, the digest of the path follows. A deployment
    of another origin is taken over, with this schedule alone.

    Raises:
        ConfigError: the server cannot be reached, or refuses.
    """
    import asyncio

    from prefect.client.orchestration import get_client
    from prefect.client.schemas.actions import WorkPoolCreate
    from prefect.client.schemas.filters import (
        DeploymentFilter,
        DeploymentFilterName,
        FlowFilter,
        FlowFilterName,
    )
    from prefect.client.schemas.objects import ConcurrencyLimitConfig, ConcurrencyLimitStrategy
    from prefect.deployments.runner import RunnerDeployment
    from prefect.exceptions import ObjectAlreadyExists, PrefectException, PrefectHTTPStatusError
    from prefect.schedules import Schedule
    from prefect.types.entrypoint import EntrypointType

    from piecework.flows.advance import advance

    plain = _FORBIDDEN.sub("-", campaign.stem)
    own = f"{plain}-{_digest(campaign)}"

    async def name_in_pool() -> str:
        """Create the pool if it is missing; return the campaign's own name, or a free one."""
        async with get_client() as client:
            if fault := await client.api_healthcheck():
                raise RuntimeError(str(fault) or type(fault).__name__) from fault
            with suppress(ObjectAlreadyExists):
                await client.create_work_pool(WorkPoolCreate(name=POOL, type="process"))
            known = await client.read_deployments(
                flow_filter=FlowFilter(name=FlowFilterName(any_=[advance.name])),
                deployment_filter=DeploymentFilter(
                    name=DeploymentFilterName(any_=[own, campaign.stem])
                ),
            )
        campaigns = {each.name: each.parameters.get("campaign") for each in known}
        is_free = campaigns.get(campaign.stem, str(campaign)) == str(campaign)
        is_free = is_free and plain == campaign.stem
        return campaign.stem if is_free and own not in campaigns else own

    async def remove_other_schedules(deployment_id: UUID) -> None:
        async with get_client() as client:
            for each in await client.read_deployment_schedules(deployment_id):
                if each.slug != _SLUG:
                    await client.delete_deployment_schedule(deployment_id, each.id)

    try:
        name = asyncio.run(name_in_pool())
        deployment = RunnerDeployment.from_flow(
            advance,
            name=name,
            schedule=Schedule(interval=every, slug=_SLUG),
            parameters={"campaign": str(campaign)},
            description="One pass: take in new rows, do what is due, and end.",
            tags=["piecework"],
            concurrency_limit=ConcurrencyLimitConfig(
                limit=1, collision_strategy=ConcurrencyLimitStrategy.CANCEL_NEW
            ),
            work_pool_name=POOL,
            entrypoint_type=EntrypointType.MODULE_PATH,
        )
        # Outside of a coroutine, it returns the id.
        asyncio.run(remove_other_schedules(cast("UUID", deployment.apply())))
    except (PrefectHTTPStatusError, PrefectException, RuntimeError, ValueError) as fault:
        raise ConfigError(
            [f"the Prefect server {server}: {fault}"],
            next_step=f"{_what_helps(fault)}with PREFECT_API_URL= before the command, it prints "
            "lines for cron and systemd",
        ) from fault
    return f"{advance.name}/{name}"
