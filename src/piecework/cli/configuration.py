"""Options of long-running commands from a file and from environment variables.

An option on the command line has priority over its environment variable, the variable
over the file, and the file over the default. A file has a table for each command, so
the programs of one machine can share it.
"""

import json
import os
import re
import tomllib
from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from functools import wraps
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from piecework.config.user_files import COMMANDS, CONFIG, OF_CAMPAIGNS, read_text
from piecework.domain.errors import ConfigError
from piecework.domain.text import control_in, printable, shell_word, without_secrets

_TYPED = frozenset(
    {
        "although",
        "as_json",
        "clock_is_right",
        "config",
        "help",
        "print_config",
        "yes",
    }
)
"""Parameters that state something about one call, so a file cannot state them."""

_PREFIX = "PIECEWORK_"
_SLIP, _ALMOST = 0.88, 0.75
"""How alike a name and a known name are, if it is a slip of the pen; if it may be."""

_OF_A_CLUSTER = re.compile(r"SERVICE_(HOST|PORT(_\w+)?)|PORT_\d+_(TCP|UDP)\w*")
"""Kubernetes sets such variables for a service of any name."""
READ = frozenset(
    {
        *("ACCESS_KEY_ID", "SECRET_ACCESS_KEY", "KEY_FILE", "ENDPOINT", "STORE_URL"),
        *("ALTHOUGH_CLOSED", "ALTHOUGH_UNSEEN", "TRUST", "CONFIG", "METRICS_FOLDER", "COMMAND"),
    }
)
"""The environment variables that are not of a command's option, after `PIECEWORK_`."""

_OF_OPTIONS = {name: f"{name.upper()}_" for name in COMMANDS}
"""How the variables of each command's options begin, after `PIECEWORK_`."""

_OF_CAMPAIGNS_IN = "piecework.machine_file"
"""In the context of a call: the file of `--config`, if it has tables for campaigns."""

_SOURCES = {
    ParameterSource.COMMANDLINE: "command line",
    ParameterSource.DEFAULT: "default",
    ParameterSource.DEFAULT_MAP: "file",
    ParameterSource.ENVIRONMENT: "environment",
}


def with_configuration(command: click.Command, path: str) -> click.Command:
    """Add `--config` and `--print-config` to a command, if supervisors start it.

    Args:
        command: the command.
        path: its name.
    """
    name = str(command.name)
    if COMMANDS.get(name) != path or any(each.name == "config" for each in command.params):
        return command
    for option in _options(command):
        own = f"{_PREFIX}{_OF_OPTIONS[name]}{str(option.name).upper()}"
        known = option.envvar or ()
        option.envvar = [*([known] if isinstance(known, str) else known), own]
    command.params += [
        click.Option(
            ["--config"],
            type=click.Path(path_type=Path, exists=True, dir_okay=False),
            envvar=CONFIG,
            is_eager=True,
            expose_value=False,
            callback=_read,
            help="TOML file with options: a table for each command (or PIECEWORK_CONFIG).",
        ),
        click.Option(
            ["--print-config"],
            is_flag=True,
            help="Print the value of each option and where it comes from, and end.",
        ),
    ]
    command.callback = _printing(command)
    return command


def _options(command: click.Command) -> Iterator[click.Option]:
    """Yield the options that a file may state."""
    for option in command.params:
        if isinstance(option, click.Option) and option.name not in _TYPED:
            yield option


def _key(option: click.Option) -> str:
    """Return an option's name in a file.

    >>> _key(click.Option(["--spend-at-most"]))
    'spend-at-most'
    """
    return max(option.opts, key=len).removeprefix("--")


def warn_of_variables() -> None:
    """Name each environment variable whose name is almost one that piecework reads.

    Others may be a person's own: addresses in a campaign file name any variable.
    """
    for name in _variables():
        close = get_close_matches(name, READ, n=1, cutoff=_SLIP)
        if close and name not in READ and not any(map(name.startswith, _OF_OPTIONS.values())):
            _warn_of_variable(name, f"did you mean {_PREFIX}{close[0]}?")


def _warn_of_options(command: click.Command) -> None:
    """Name each environment variable of a command that is not one of its options."""
    path = str(command.name)
    options = {
        name.removeprefix(_PREFIX)
        for option in command.params
        for name in ([option.envvar] if isinstance(option.envvar, str) else option.envvar or ())
    }
    beginning = _OF_OPTIONS[path]
    own = {name.removeprefix(beginning): name for name in options if name.startswith(beginning)}
    for name in _variables():
        is_own = name.startswith(beginning) and name not in options
        if is_own and not _OF_A_CLUSTER.fullmatch(name, len(beginning)):
            close = get_close_matches(name.removeprefix(beginning), own, n=1, cutoff=_ALMOST)
            others = f"`piecework {COMMANDS[path]} --help` lists its options"
            hint = f"did you mean {_PREFIX}{own[close[0]]}?" if close else others
            _warn_of_variable(name, hint)


def _variables() -> list[str]:
    """Return the names of this program's environment variables, without their beginning."""
    return sorted(name.removeprefix(_PREFIX) for name in os.environ if name.startswith(_PREFIX))


def _warn_of_variable(name: str, hint: str) -> None:
    sentence = f"piecework reads no environment variable {_PREFIX}{name}; {hint}"
    click.secho(f"WARNING: {printable(sentence)}", fg="yellow", err=True)


def _read(ctx: click.Context, _param: click.Parameter, file: Path | None) -> None:
    """Let the file's table for this command give the defaults.

    Raises:
        ConfigError: the file is not TOML, or has a key or value that does not fit.
    """
    if not ctx.resilient_parsing:  # as when a shell completes a word
        _warn_of_options(ctx.command)
    if file is None:
        return
    from piecework.config.machine_file import tables_of  # --help does not need its models

    text = read_text(file, name="configuration")
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as fault:
        raise ConfigError([f"{file}: not valid TOML: {fault}"]) from fault
    faults = [
        f"{file}: [{name}]: no command has this name; tables: {', '.join(COMMANDS)}, "
        f"and {', '.join(OF_CAMPAIGNS)}"
        if isinstance(table, dict)
        else f"{file}: {name}: put this key into a table, such as [serve]"
        for name, table in document.items()
        if name not in OF_CAMPAIGNS and (name not in COMMANDS or not isinstance(table, dict))
    ]
    command = str(ctx.command.name)
    table = document.get(command, {})
    if isinstance(table, dict):
        ctx.default_map, wrong = _checked(ctx.command, table)
        faults += [f"{file}: [{command}] {fault}" for fault in wrong]
    if faults:
        raise ConfigError(faults, next_step=f"piecework {COMMANDS[command]} --help")
    tables_of(file, text)
    if not document.keys().isdisjoint(OF_CAMPAIGNS):
        ctx.meta[_OF_CAMPAIGNS_IN] = file


def _refuse_second_place(ctx: click.Context, campaign: Path) -> None:
    """Refuse a file whose tables for campaigns only this command would see.

    Raises:
        ConfigError: the other commands read another file, or none.
    """
    from piecework.config.machine_file import machine_path

    file = ctx.meta.get(_OF_CAMPAIGNS_IN)
    others = machine_path(campaign)
    if file is None or (others is not None and others.resolve() == file.resolve()):
        return
    why = f"the others read {others or 'no such file'}, and would look for another store"
    raise ConfigError(
        [f"{file}: [output], [store] and [[fees]] hold for all commands, but {why}"],
        next_step=f"export {CONFIG}={shell_word(file.absolute())}",
    )


def _checked(
    command: click.Command, table: Mapping[str, object]
) -> tuple[dict[str, Any], list[str]]:
    """Return the values by parameter, and what is wrong with the table."""
    options = {_key(option): option for option in _options(command)}
    typed = {
        _key(option): option
        for option in command.params
        if isinstance(option, click.Option) and option.name in _TYPED
    }
    values, faults = dict[str, Any](), list[str]()
    for name, value in table.items():
        option = options.get(name)
        if option is None and name in typed:
            faults.append(f"{name}: give it on the command line, for one call")
        elif option is None:
            close = get_close_matches(name, options, n=1)
            hint = f"; did you mean {close[0]}?" if close else ""
            faults.append(f"{name}: there is no such option{hint}")
        elif wanted := _wanted(option, value):
            faults.append(f"{name}: {json.dumps(value, default=str)} is not {wanted}")
        else:
            is_single = option.multiple and not isinstance(value, list)
            values[str(option.name)] = [value] if is_single else value
    return values, faults


def _wanted(option: click.Option, value: object) -> str:
    """Return what a value should be; "" if it is that."""
    if option.is_flag:
        return "" if isinstance(value, bool) else "true or false"
    if option.nargs > 1:
        is_right = (
            isinstance(value, list)
            and len(value) == option.nargs
            and all(_is_scalar(option, each) for each in value)
        )
        return "" if is_right else f"a list of {option.nargs} texts"
    if isinstance(value, list):
        is_right = option.multiple and all(_is_scalar(option, each) for each in value)
        return "" if is_right else _scalar(option)
    return "" if _is_scalar(option, value) else _scalar(option)


def _is_scalar(option: click.Option, value: object) -> bool:
    if isinstance(value, bool):
        return False
    if isinstance(option.type, click.types.IntParamType):
        return isinstance(value, int)
    if isinstance(option.type, click.types.FloatParamType):
        return isinstance(value, int | float)
    return isinstance(value, str) and not control_in(value)


def _scalar(option: click.Option) -> str:
    if isinstance(option.type, click.types.IntParamType):
        return "a whole number"
    if isinstance(option.type, click.types.FloatParamType):
        return "a number"
    return "a text in quotes, without control characters"


def _printing(command: click.Command) -> Any:  # noqa: ANN401 - click's callback
    """Return the command's function, which prints its options if that is asked."""
    call = command.callback
    assert call is not None  # noqa: S101 - only groups have no function

    @wraps(call)
    def configured(*args: object, print_config: bool, **values: object) -> object:
        files = values.get("files", ())
        for path in (values.get("campaign"), *(files if isinstance(files, tuple) else ())):
            if isinstance(path, Path) and path.suffix == ".toml":
                _refuse_second_place(click.get_current_context(), path)
        if not print_config:
            return call(*args, **values)
        for line in _lines(click.get_current_context()):
            click.echo(line)
        return None

    return configured


def _lines(ctx: click.Context) -> Iterator[str]:
    """Yield a file's table with the present values, and the source of each."""
    yield f"[{ctx.command.name}]"
    for option in sorted(_options(ctx.command), key=_key):
        if not option.expose_value:
            continue  # It has taken effect already: where the log goes.
        name = str(option.name)
        source = ctx.get_parameter_source(name) or ParameterSource.DEFAULT
        value = ctx.params[name]
        label = _SOURCES.get(source, source.name.lower())
        if value in (None, (), ""):
            yield f"# {_key(option)} is not set"
        else:
            yield f"{_key(option)} = {_toml(value)}  # {label}"


def _toml(value: object) -> str:
    r"""Write a value as TOML; secrets in addresses are left out.

    >>> _toml(("a", "b")), _toml(True)
    ('["a", "b"]', 'true')
    >>> _toml("postgresql://ann:secret@db/lab")
    '"postgresql://ann:***@db/lab"'
    """
    if isinstance(value, bool | int | float):
        return json.dumps(value)
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_toml, value))}]"
    return json.dumps(without_secrets(str(value)), ensure_ascii=False)
