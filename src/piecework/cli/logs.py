"""Log lines of commands: on stderr, and in a file if the user wants one.

A command that takes long shows lines from INFO on, the others from WARNING on. Prefect
and other libraries keep their own settings.
"""

import json
import logging
import sys
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

import click

from piecework.domain.text import without_secrets

LOGGER = logging.getLogger("piecework")
_TERMINAL, _FILE = "piecework terminal", "piecework file"


class _Plain(logging.Formatter):
    """The message and the trace, without the secrets of addresses."""

    def format(self, record: logging.LogRecord) -> str:
        return without_secrets(super().format(record))


class _Lines(_Plain):
    """A line for people: local time, the message, and the level from WARNING on."""

    def format(self, record: logging.LogRecord) -> str:
        moment = datetime.fromtimestamp(record.created).astimezone()
        mark = "" if record.levelno < logging.WARNING else f"{record.levelname}: "
        return f"{moment:%H:%M:%S}  {mark}{super().format(record)}"


class _FileLines(_Lines):
    def format(self, record: logging.LogRecord) -> str:
        moment = datetime.fromtimestamp(record.created, UTC)
        line = _Plain.format(self, record)
        return f"{moment:%Y-%m-%dT%H:%M:%SZ} {record.levelname} {line}"


class _JsonLines(_Plain):
    """A JSON document on each line, for programs."""

    def format(self, record: logging.LogRecord) -> str:
        moment = datetime.fromtimestamp(record.created, UTC)
        facts = {
            "at": moment.isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "message": record.getMessage(),
            **getattr(record, "facts", {}),
            **({"trace": super().format(record)} if record.exc_info else {}),
        }
        return json.dumps(_plain(facts))


class _LogFile(logging.FileHandler):
    """The user's file. If it cannot be written, the terminal says so once."""

    _has_failed = False

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802 - logging's name
        fault = sys.exception()
        if not isinstance(fault, OSError):
            super().handleError(record)
        elif not self._has_failed:
            self._has_failed = True
            words = f"log lines cannot be written to {self.baseFilename}: {fault.strerror}"
            warning = LOGGER.makeRecord(LOGGER.name, logging.WARNING, __file__, 0, words, (), None)
            for terminal in _handlers(_TERMINAL):
                terminal.handle(warning)

    def close(self) -> None:
        with suppress(OSError):
            super().close()


def _plain(value: object) -> object:
    """Return a value for JSON, without the secrets of addresses in its texts."""
    if isinstance(value, Mapping):
        return {str(name): _plain(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [*map(_plain, value)]
    return value if isinstance(value, int | float | None) else without_secrets(str(value))


def begin_logging() -> None:
    """Log to this command's stderr, and remove an earlier command's handlers."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_Lines())
    handler.setLevel(logging.WARNING)
    handler.name = _TERMINAL
    for old in [*LOGGER.handlers]:
        if old.name in {_TERMINAL, _FILE}:
            LOGGER.removeHandler(old)
            old.close()
    LOGGER.addHandler(handler)
    LOGGER.setLevel(logging.INFO)
    # A library with a root handler of its own would print each line again.
    LOGGER.propagate = False


def say_from(level: int) -> None:
    """Show lines on the terminal from this level on; never fewer than before."""
    for handler in _handlers(_TERMINAL):
        handler.setLevel(min(level, handler.level))


def say_as_json() -> None:
    """Print the lines on the terminal as JSON documents."""
    for handler in _handlers(_TERMINAL):
        handler.setFormatter(_JsonLines())


def with_log_options(command: click.Command) -> click.Command:
    """Add `-v` and `--log-file` to a command, or to all commands of a group."""
    if isinstance(command, click.Group):
        for inner in command.commands.values():
            with_log_options(inner)
        return command
    if not any(option.name == "log_file" for option in command.params):
        command.params += [
            click.Option(
                ["-v", "--verbose"],
                is_flag=True,
                expose_value=False,
                callback=_verbose,
                help="Print log lines on stderr.",
            ),
            click.Option(
                ["--log-file"],
                type=click.Path(path_type=Path, dir_okay=False),
                expose_value=False,
                callback=_log_file,
                help="Append log lines to this file.",
            ),
        ]
    return command


def _handlers(name: str) -> list[logging.Handler]:
    return [handler for handler in LOGGER.handlers if handler.name == name]


def _verbose(_ctx: click.Context, _param: click.Parameter, value: object) -> None:
    if value:
        say_from(logging.INFO)


def _log_file(_ctx: click.Context, _param: click.Parameter, value: Path | None) -> None:
    if value is None:
        return
    handler = _LogFile(value, encoding="utf-8")
    handler.setFormatter(_FileLines())
    handler.name = _FILE
    LOGGER.addHandler(handler)
