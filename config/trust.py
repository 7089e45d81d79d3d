"""Which campaign files this user trusts, and what a schedule may do with them.

A campaign file may come from anyone. A file that reads its own folder alone needs no trust.
A file that names an address, a database, an environment variable or a path outside of its
folder is trusted by content, as `direnv allow` does: any change of the file, or of what it
is made of, needs trust again. The keys that can name such things are those that the schema
marks (`piecework.config.named`).

Anyone who reaches Prefect's API can start a deployment with parameters of their own. So no
parameter says where passes go, whether people work and what they may cost. The file
`birds.deployment.toml` beside `birds.toml` does, which only its owner writes.
"""

import fcntl
import hashlib
import json
import os
import re
import stat
import tempfile
import tomllib
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import unquote, urlsplit

from pydantic import BaseModel, ConfigDict, ValidationError

from piecework.config.machine_file import StoreTable
from piecework.config.named import Names, texts_of
from piecework.config.schema_faults import as_written, schema_faults
from piecework.config.user_files import read_text, variables_in
from piecework.domain.crowds import MARKETS
from piecework.domain.errors import ConfigError, RefusedForSafety
from piecework.domain.text import one_line, shell_word, without_secrets
from piecework.domain.toml_text import key_name
from piecework.foundation.hosts import is_loopback

if TYPE_CHECKING:
    from piecework.config.campaign_file import CampaignFile

TRUST = "PIECEWORK_TRUST"
"""The environment variable with fingerprints of trusted files, for machines without a
person: `FINGERPRINT`, or `FINGERPRINT:NAME,NAME` with the variables it may have."""

_ADDRESS = re.compile(r"\s*[A-Za-z][A-Za-z0-9+.-]*:|\s*~|.*(\$\{|\\|[\x00-\x1f\x7f])", re.DOTALL)
"""Begins as an address or a drive of Windows does, or has what no plain path has."""

_CREDENTIAL = re.compile(
    f"(AWS|AZURE|GOOGLE|GITHUB|GITLAB|HF|PREFECT|PIECEWORK|{'|'.join(MARKETS).upper()})_"
)
"""Variables with credentials of other programs; a message does not propose them."""

_LONGEST = 2_000
"""Characters of a text that a message shows."""

_LARGEST_BYTES = 1_000_000
"""No file that is larger is a part of a page, or states a deployment."""

_ENDPOINT = "deployment.endpoint"
_PRIVATE_FILE, _PRIVATE_FOLDER = 0o600, 0o700


class Reach(NamedTuple):
    """Something outside of its folder that a campaign names.

    Attributes:
        key: the key, such as `sink.0`.
        name: the same for people, as the file writes it.
        text: what it names, as it is written.
        leads_to: where that is; "" if the text says it.
        is_link: a link in the folder of results leads there.
    """

    key: str
    text: str
    leads_to: str = ""
    is_link: bool = False
    name: str = ""

    def __str__(self) -> str:
        """Return it for a message, without secrets."""
        shown = one_line(without_secrets(self.text), at_most=_LONGEST)
        if self.leads_to:
            shown += f" ({one_line(self.leads_to, at_most=_LONGEST)})"
        return f"{self.name or self.key} {shown}"


def reach_of(file: "CampaignFile") -> tuple[Reach, ...]:
    """Return what a campaign names outside of its folder, in the file's order.

    Raises:
        ConfigError: its deployment file has faults.
    """
    home = os.path.realpath(file.path.parent)
    named = [
        Reach(".".join(key), text, where, name=key_name(as_written(file.text, key)))
        for key, text, names in texts_of(file.tables)
        if names and names.is_opened and (where := _outside(text, home, names)) is not None
    ]
    named += [*_reach_of_machine(file, home), *_links_of_results(file, home)]
    endpoint = endpoint_of(file.path)
    if endpoint and not _is_local(endpoint):
        named.append(Reach(_ENDPOINT, endpoint))
    return tuple(named)


def variables_of(reach: Collection[Reach]) -> list[str]:
    """Return the names of the environment variables in it, sorted."""
    return sorted({name for each in reach for name in variables_in(each.text)})


def fingerprint(file: "CampaignFile") -> str:
    """Return a hash of the campaign file and of the files that it is made of.

    Items, pictures and other data do not count; their paths and addresses stay inside.
    """
    digest = hashlib.sha256(file.text.encode())
    if not file.machine.is_named:
        digest.update(file.machine.text.encode())
    home = file.path.parent
    parts = [deployment_path(file.path)]
    parts += [
        home / text
        for _, text, names in texts_of(file.tables)
        if names is Names.DEFINITION and not _ADDRESS.match(text)
    ]
    for part in parts:
        # A file that cannot be read cannot be used either.
        with suppress(OSError):
            for path in [part, *(sorted(part.iterdir()) if part.is_dir() else [])]:
                if path.is_file():
                    digest.update(f"\0{path.name}\0{path.stat().st_size}\0".encode())
                    with path.open("rb") as opened:
                        digest.update(opened.read(_LARGEST_BYTES))
    links = [each.leads_to for each in reach_of(file) if each.is_link]
    digest.update(json.dumps(links).encode())
    return digest.hexdigest()


def refuse_untrusted(file: "CampaignFile") -> None:
    """Check that a campaign reads its own folder alone, or is trusted.

    Raises:
        RefusedForSafety: it is neither; the message lists what it names.
        ConfigError: the deployment file has faults, or another user could have written
            the list of trusted files.
    """
    if (refusal := refusal_of(file)) is not None:
        raise refusal


def refusal_of(file: "CampaignFile") -> RefusedForSafety | None:
    """Return why a campaign may not reach what it names; `None` if it may.

    Raises:
        ConfigError: the deployment file has faults, or another user could have written
            the list of trusted files.
    """
    reach = reach_of(file)
    if not reach:
        return None
    known = _trusted().get(os.path.realpath(file.path))
    environment, wanted = _of_environment(), variables_of(reach)
    # The files of a campaign that was never trusted are not even read for a hash.
    digest = fingerprint(file) if known is not None or environment else ""
    if digest in environment:
        known = _Trusted(digest, environment[digest])
    if known is not None and known.fingerprint == digest:
        if not (lacking := sorted({*wanted} - {*known.variables})):
            return None
        why = f"may not have the environment variable {', '.join(lacking)}"
    elif known is not None:
        why = "has changed since it was trusted"
    else:
        why = "is not trusted yet"
    listed = ", ".join(map(str, reach))
    if wanted:
        listed += f"; and the environment variables {', '.join(wanted)}"
    options = "".join(f" --variable {name}" for name in wanted if not _CREDENTIAL.match(name))
    return RefusedForSafety(
        f"{file.path}: {why}, and it names what is outside of its folder: {listed}",
        next_step=f"read the file; if you trust it: piecework check {shell_word(file.path)} "
        f"--trust{options}",
    )


def trust(file: "CampaignFile", variables: Collection[str] = ()) -> str:
    """Write down that this user trusts a campaign as it is; return its fingerprint.

    Args:
        file: the campaign file.
        variables: names of the environment variables that its addresses may have.

    Raises:
        ConfigError: the deployment file has faults, or another user could have written
            the list of trusted files.
    """
    digest = fingerprint(file)
    entry = _Trusted(digest, tuple(sorted(variables)))

    def add(known: dict[str, _Trusted]) -> None:
        known[os.path.realpath(file.path)] = entry

    _change(add)
    return digest


def confined(file: "CampaignFile") -> "CampaignFile":
    """Return a campaign without what it names outside of its folder, to be checked.

    Raises:
        RefusedForSafety: without that, nothing can be rendered or priced.
        ConfigError: the deployment file has faults, or another user could have written
            the list of trusted files.
    """
    refusal = refusal_of(file)
    if refusal is None:
        return file
    changed: dict[str, Any] = {}
    for reach in reach_of(file):
        key = ".".join(reach.key.split(".")[:2])
        if key in _OF_MACHINE:
            file = _without(file, key)
        elif key in _LEFT_OUT:
            name, values = _LEFT_OUT[key]
            before = changed.get(name, getattr(file.tables, name))
            changed[name] = before.model_copy(update=values)
        elif (name := key.partition(".")[0]) in _WHOLE_TABLES:
            changed[name] = _WHOLE_TABLES[name]
        elif key == _ENDPOINT or (key == "pictures" and _lists_a_bucket(file)):
            continue
        else:
            raise refusal
    return replace(file, tables=file.tables.model_copy(update=changed))


def _without(file: "CampaignFile", key: str) -> "CampaignFile":
    """Return a campaign without a key of the machine's file beside it."""
    if key == "output.folder":
        # No folder of this name is ever made.
        return replace(file, results=file.path.parent / f".not-trusted-{os.urandom(8).hex()}")
    tables = file.machine.tables.model_copy(update={"store": StoreTable()})
    return replace(file, machine=replace(file.machine, tables=tables))


def _lists_a_bucket(file: "CampaignFile") -> bool:
    """Whether a file lists the pictures of a bucket; then a check does not open it."""
    return file.tables.items.file is not None and "://" in (file.tables.pictures or "")


_LEFT_OUT: Mapping[str, tuple[str, Mapping[str, object]]] = {
    "rehearsal.replay": ("rehearsal", {"replay": None}),
    "requirements.only_workers_of": ("requirements", {"only_workers_of": ()}),
    "requirements.no_workers_of": ("requirements", {"no_workers_of": ()}),
}
"""What a check can do without: the key, its table, and the values instead."""

_OF_MACHINE = {"output.folder", "store.url"}
"""The same of the machine's file beside the campaign file."""

_WHOLE_TABLES: Mapping[str, object] = {"machine": None, "earned": (), "sink": (), "prolific": {}}
"""The same for whole tables."""


class _Trusted(NamedTuple):
    fingerprint: str
    variables: tuple[str, ...]


def _outside(text: str, home: str, names: Names | None) -> str | None:
    """Return where a text leads outside of a folder; `None` if it stays inside."""
    if names is Names.DATABASE:  # "" stands for the file of a store
        return "" if text else None
    # A program that decodes a path once more than another sees other folders in it.
    for written in (text, unquote(text), unquote(unquote(text))):
        if _ADDRESS.match(written):
            return ""
        real = os.path.realpath(Path(home, written))
        if not Path(real).is_relative_to(home):
            return real
    return None


def _reach_of_machine(file: "CampaignFile", home: str) -> Iterator[Reach]:
    """Yield what a machine's file names that may have come with the campaign file."""
    if file.machine.is_named:
        return
    for key, text, names in texts_of(file.machine.tables):
        if names and names.is_opened and (where := _outside(text, home, names)) is not None:
            yield Reach(".".join(key), text, where)


def _links_of_results(file: "CampaignFile", home: str) -> Iterator[Reach]:
    """Yield the first link on the way to the results, or among them, that leads out."""
    named = file.machine.folder or Path(home, "out")
    written = os.path.normpath(Path(home, file.results or named / file.tables.name))
    out = os.path.realpath(written)
    if not (file.machine.is_named or out == written or Path(out).is_relative_to(home)):
        yield Reach("output.folder", written, out, is_link=True)
    for folder, folders, names in os.walk(out):
        for path in (Path(folder, name) for name in (*folders, *names)):
            if not path.is_symlink():
                continue
            real = Path(os.path.realpath(path))
            if not (real.is_relative_to(home) or real.is_relative_to(out)):
                yield Reach("output.folder", str(path), str(real), is_link=True)
                return


def _is_local(endpoint: str) -> bool:
    try:
        return is_loopback(urlsplit(endpoint).hostname or "")
    except ValueError:
        return False


def _of_environment() -> dict[str, tuple[str, ...]]:
    """Return the variables of each fingerprint that the environment trusts."""
    entries = (entry.partition(":") for entry in os.environ.get(TRUST, "").split())
    return {digest: tuple(filter(None, names.split(","))) for digest, _, names in entries}


def _state_file() -> Path:
    base = os.environ.get("XDG_STATE_HOME", "")
    # As its specification has it, a relative path does not count.
    folder = Path(base)
    if not folder.is_absolute():
        folder = Path.home() / ".local" / "state"
    return folder / "piecework" / "trusted.json"


def _trusted() -> dict[str, _Trusted]:
    """Return the trusted files by their real paths.

    Raises:
        ConfigError: another user owns the list or can write to it, or it is damaged.
    """
    try:
        path = _state_file()
    except RuntimeError:  # Without a home there is no list.
        return {}
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except OSError as fault:
        raise _not_private(path, fault.strerror or str(fault)) from fault
    with os.fdopen(handle, "rb") as opened:
        _check_private(path.parent, path.parent.lstat())
        _check_private(path, os.fstat(handle))
        try:
            entries = json.loads(opened.read())
            return {
                name: _Trusted(entry["fingerprint"], tuple(entry["variables"]))
                for name, entry in entries.items()
            }
        except (ValueError, KeyError, TypeError, AttributeError) as fault:
            raise _not_private(path, "it is damaged") from fault


def _check_private(path: Path, facts: os.stat_result) -> None:
    if facts.st_uid != os.geteuid():
        raise _not_private(path, "another user owns it")
    if facts.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise _not_private(path, "others can write to it")


def _not_private(path: Path, why: str) -> ConfigError:
    return ConfigError(
        [f"{path}: the list of trusted campaign files cannot be used: {why}"],
        next_step=f"look who wrote it, then remove it: rm -r {shell_word(path)}",
    )


def _change(add: Callable[[dict[str, _Trusted]], None]) -> None:
    """Change the list; several processes may do so at the same time."""
    try:
        path = _state_file()
    except RuntimeError as fault:
        raise ConfigError(
            ["there is no home folder for the list of trusted campaign files"],
            next_step=f"set HOME or XDG_STATE_HOME, or {TRUST}",
        ) from fault
    path.parent.parent.mkdir(parents=True, exist_ok=True)
    path.parent.mkdir(mode=_PRIVATE_FOLDER, exist_ok=True)
    _check_private(path.parent, path.parent.lstat())
    handle = os.open(path.parent, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        known = _trusted()
        add(known)
        _write(path, known)
    finally:
        os.close(handle)


def _write(path: Path, known: Mapping[str, _Trusted]) -> None:
    entries = {name: entry._asdict() for name, entry in known.items()}
    text = json.dumps(entries, indent=1)
    handle, partial = tempfile.mkstemp(dir=path.parent)
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            os.fchmod(file.fileno(), _PRIVATE_FILE)
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        Path(partial).replace(path)
    except BaseException:
        Path(partial).unlink(missing_ok=True)
        raise


class Deployment(BaseModel):
    """A deployment file.

    Attributes:
        endpoint: URL of the marketplace.
        rehearsal: the marketplace is a rehearsal's (`piecework market serve --simulate`).
        live: real people work; required for a marketplace on another machine.
        spend_at_most: the most that the whole campaign may cost, as text in its
            currency; empty: as agreed before.
        credentials_block: name of a Prefect `Secret` block with keys; empty: boto3's
            own chain.
        allow_second_store: start even if the marketplace has HITs of a campaign with
            this name from another store.
    """

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    endpoint: str
    rehearsal: bool = False
    live: bool = False
    spend_at_most: str = ""
    credentials_block: str = ""
    allow_second_store: bool = False


def deployment_path(campaign: Path) -> Path:
    """Return the path of the file beside a campaign file.

    >>> deployment_path(Path("a/birds.toml")).as_posix()
    'a/birds.deployment.toml'
    """
    return campaign.with_suffix(".deployment.toml")


def read_deployment(campaign: Path) -> Deployment:
    """Read what a schedule may do with a campaign.

    Raises:
        ConfigError: there is no deployment file beside it, or the file has faults.
    """
    path = deployment_path(campaign)
    text = read_text(
        path,
        name="deployment file",
        next_step='write it: endpoint = "http://127.0.0.1:8080"; a schedule takes '
        "endpoint, live and amounts only from this file (docs/how-to/schedule.md)",
        most=_LARGEST_BYTES,  # a fingerprint has no more of it
    )
    try:
        return Deployment.model_validate(tomllib.loads(text))
    except ValidationError as fault:
        raise ConfigError(schema_faults(path, text, fault, schema=Deployment)) from fault
    except (ValueError, RecursionError) as fault:  # as for a campaign file
        raise ConfigError([f"{path}: not valid TOML: {fault}"]) from fault


def endpoint_of(campaign: Path) -> str:
    """Return the endpoint that a deployment file names; "" without such a file.

    Raises:
        ConfigError: the file has faults. A more lenient reading could miss an endpoint
            that a pass uses.
    """
    is_there = os.path.lexists(deployment_path(campaign))
    return read_deployment(campaign).endpoint if is_there else ""
