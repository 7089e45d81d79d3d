"""The rehearsals of a campaign: numbered folders, each with copies of what it was made from.

The folder of the campaign's results has live work; its folder `rehearsals` has a folder
for each rehearsal, and the link `latest` to the one that was looked at last:

    out/birds/piecework.db
    out/birds/rehearsals/1/campaign.toml    the exact copy of the file
    out/birds/rehearsals/1/inputs/          copies of the files that it names
    out/birds/rehearsals/1/made-from.json   the digest of each input, and the complete file
    out/birds/rehearsals/1/piecework.db, dataset/, report.html
    out/birds/rehearsals/latest -> 1

So one file is rehearsed, changed, rehearsed again and run. A rehearsal that was killed
continues, and a finished one is shown again, only if every input is as it was: the file,
each file that it names, the version of piecework, who works. Otherwise a new one begins.
Pictures, and items that grow, are not copied.
"""

import hashlib
import json
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

from piecework.campaign.provenance import code_version, files_of, inputs_of
from piecework.config.campaign_file import REHEARSALS, CampaignFile, parse_text
from piecework.config.changed_keys import changes
from piecework.config.trust import reach_of
from piecework.domain.errors import CampaignBusy, ConfigError, RefusedForSafety, StoreError
from piecework.domain.inputs import CAMPAIGN_FILE, CODE, Inputs
from piecework.domain.store_address import in_folder
from piecework.domain.text import shell_word
from piecework.platforms.endpoint import is_open
from piecework.store.database import exists
from piecework.store.files import make_private_folder, write_private
from piecework.store.lock import one_at_a_time, only_pass

COPY, INPUTS, MADE_FROM, LATEST = "campaign.toml", "inputs", "made-from.json", "latest"
"""The copies of a campaign file and of what it names, their digests, and the link."""

SERVED_AT = "served-at"
"""The file with the address of the marketplace, while `market serve --simulate` runs."""

KEPT = 10
"""The rehearsals that are kept of a campaign."""


class MadeFrom(NamedTuple):
    """What a rehearsal was made from.

    Attributes:
        inputs: the campaign file, the files that it names, the version of the code.
        crowds: the markets whose people work; none for simulated workers.
    """

    inputs: Inputs
    crowds: tuple[str, ...]

    def changes(self, now: "MadeFrom") -> tuple[str, ...]:
        """Name what is different now; () if a rehearsal would be the same."""
        crowd = () if {*self.crowds} == {*now.crowds} else ("--crowd",)
        return (*changes(self.inputs, now.inputs), *crowd)


@dataclass(frozen=True, slots=True, kw_only=True)
class Begun:
    """A rehearsal that begins, continues or is shown again.

    Attributes:
        file: the copy of the campaign file, with the copies of what it names.
        is_new: whether it begins.
        before: the number of the rehearsal that was latest before, of those with a report
            if there are any; of one that is the latest itself, a number below it.
        changes: what has changed since that.
    """

    file: CampaignFile
    is_new: bool
    before: int | None
    changes: tuple[str, ...]

    @property
    def number(self) -> int:
        """The number of the rehearsal."""
        assert self.file.rehearsal is not None  # noqa: S101 - `begin_rehearsal` sets it
        return self.file.rehearsal


def begin_rehearsal(
    file: CampaignFile, crowds: Sequence[str] = (), *, complete: str = "", again: bool = False
) -> Begun:
    """Return the rehearsal of these inputs; a new one unless there is one.

    The ten newest are kept, and any that is at work.

    Args:
        file: the campaign file as it is now, without a fault.
        crowds: the markets whose people work; none for simulated workers.
        complete: the file's text with what it leaves out; "" if that is not known.
        again: begin a new one although nothing has changed.

    Raises:
        ConfigError: this version of piecework cannot read the copy.
    """
    wanted = MadeFrom(_wanted(file, complete), tuple(crowds))
    folder = file.live_folder / REHEARSALS
    with one_at_a_time(folder, by="piecework rehearse"):
        before = latest_rehearsal(file)
        number = None if again else _same(file, wanted)
        is_new = number is None
        if number is None:
            number = max(numbers(file), default=0) + 1
            shutil.rmtree(folder / str(number), ignore_errors=True)
            _copy(file, number, wanted, before)
        if before == number or (before is not None and not _has_report(file, before)):
            before = below(file, number)
        known = None if before is None else made_from(file, before)
        _point(folder, number)
        _prune(file, keep=number)
    return Begun(
        file=at_number(file, number),
        is_new=is_new,
        before=before,
        changes=known.changes(wanted) if known else (),
    )


def _wanted(file: CampaignFile, complete: str) -> Inputs:
    return replace(inputs_of(file), complete=complete).by_code(code_version())


def go_on(
    file: CampaignFile, *, completed: Callable[[CampaignFile], str] = lambda _: ""
) -> CampaignFile:
    """Return the latest rehearsal with the files as they are now, as a schedule uses them.

    A schedule that is rehearsed takes changes as live work does: each pass reads the
    files again, and the store says which file decided. Without a rehearsal, one begins.

    Args:
        file: the campaign file as it is now.
        completed: returns its text with what it leaves out; asked if something has changed.
    """
    number = latest_rehearsal(file)
    if number is None:
        return begin_rehearsal(file, complete=completed(file)).file
    known = made_from(file, number)
    wanted = MadeFrom(inputs_of(file).by_code(code_version()), known.crowds if known else ())
    if known is None or known.changes(wanted):
        wanted = wanted._replace(inputs=_wanted(file, completed(file)))
        with one_at_a_time(file.live_folder / REHEARSALS, by="piecework run --once"):
            _copy(file, number, wanted, None)
    return at_number(file, number)


def numbers(file: CampaignFile) -> list[int]:
    """Return the numbers of the rehearsals that there are, in order."""
    folder = file.live_folder / REHEARSALS
    names = [path.name for path in folder.iterdir()] if folder.is_dir() else []
    # What they were made from is written last.
    return sorted(
        int(name)
        for name in names
        if name.isascii() and name.isdecimal() and (folder / name / MADE_FROM).exists()
    )


def latest_rehearsal(file: CampaignFile) -> int | None:
    """Return the number of the rehearsal that was begun or shown last; `None` without."""
    there = numbers(file)
    with suppress(OSError, ValueError):
        pointed = int((file.live_folder / REHEARSALS / LATEST).readlink().name)
        if pointed in there:
            return pointed
    return max(there, default=None)


def below(file: CampaignFile, number: int) -> int | None:
    """Return the newest rehearsal below a number: of those with a report, if there are any."""
    lower = [each for each in numbers(file) if each < number]
    return max(lower, key=lambda each: (_has_report(file, each), each), default=None)


def _has_report(file: CampaignFile, number: int) -> bool:
    """Whether a rehearsal got as far as its report; one that was interrupted did not."""
    return (file.live_folder / REHEARSALS / str(number) / "report.html").exists()


def made_from(file: CampaignFile, number: int) -> MadeFrom | None:
    """Return what a rehearsal was made from; `None` if that cannot be read."""
    folder = file.live_folder / REHEARSALS / str(number)
    try:
        kept = json.loads((folder / MADE_FROM).read_text("utf-8"))
        inputs = Inputs(
            text=(folder / COPY).read_bytes().decode("utf-8-sig"),
            complete=str(kept.get("complete", "")),
            digests=dict(kept["digests"]),
        )
        return MadeFrom(inputs, tuple(kept["crowds"]))
    except (OSError, ValueError, KeyError, TypeError):
        return None


@contextmanager
def served_at(folder: Path, url: str) -> Iterator[None]:
    """Let other commands know where a rehearsal's marketplace is, while it is served.

    Args:
        folder: of the rehearsal.
        url: of the marketplace.
    """
    file = folder / SERVED_AT
    write_private(file, url.encode())
    try:
        yield
    finally:
        file.unlink(missing_ok=True)


def endpoint_of(folder: Path) -> str:
    """Return where another process serves a rehearsal's marketplace now; "" if none does."""
    try:
        url = (folder / SERVED_AT).read_text("utf-8")
    except OSError:
        return ""
    # The process may have been killed.
    return url if is_open(url) else ""


def at_number(file: CampaignFile, number: int) -> CampaignFile:
    """Return a rehearsal's copy of a campaign file.

    Args:
        file: the campaign file as it is now, which its user trusts if that is needed.
        number: the rehearsal's number.

    Raises:
        ConfigError: there is no such rehearsal, or this version of piecework cannot read
            its file.
        StoreError: the copy was edited.
        RefusedForSafety: the copy names what the trusted file does not name.
    """
    again = f"piecework rehearse {shell_word(file.path)}"
    if number not in (there := numbers(file)):
        listed = f"there are {', '.join(map(str, there))}" if there else "it was never rehearsed"
        raise ConfigError(
            [f"{file.path}: there is no rehearsal {number}; {listed}"], next_step=again
        )
    kept, path = made_from(file, number), replace(file, rehearsal=number).out / COPY
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    if kept is None or kept.inputs.source_hash != digest:
        raise StoreError(
            f"{path}: it has changed since the rehearsal began",
            next_step=f"edit {file.path} instead, then: {again}",
        )
    try:
        copy = parse_text(file.path, kept.inputs.text, folder=path.parent / INPUTS)
    except ConfigError as fault:
        raise ConfigError(
            [f"rehearsal {number}: {each}" for each in fault.faults], next_step=again
        ) from fault
    _refuse_more_reach(file, copy, path)
    # Its results stay where they are, whatever name it had.
    return _copied(replace(copy, source_hash=digest, results=file.live_folder), number)


def _copied(file: CampaignFile, number: int) -> CampaignFile:
    numbered = replace(file, rehearsal=number)
    return replace(numbered, copies=numbered.out / INPUTS)


def file_with_results(file: CampaignFile) -> CampaignFile:
    """Return a campaign file where its results are: live, else in its latest rehearsal."""
    if exists(file.store) or (number := latest_rehearsal(file)) is None:
        return file
    return at_number(file, number)


def _refuse_more_reach(file: CampaignFile, copy: CampaignFile, path: Path) -> None:
    # A stranger's folder may come with a copy of its own; only the file is trusted.
    known = {(each.text, each.leads_to) for each in reach_of(file)}
    more = [each for each in reach_of(copy) if (each.text, each.leads_to) not in known]
    if more:
        raise RefusedForSafety(
            f"{path}: it names what {file.path} does not name now: {', '.join(map(str, more))}",
            next_step=f"piecework rehearse {shell_word(file.path)}",
        )


def _same(file: CampaignFile, wanted: MadeFrom) -> int | None:
    """Return the newest rehearsal with the same inputs."""
    for number in reversed(numbers(file)):
        known = made_from(file, number)
        if known is not None and not known.changes(wanted):
            return number
    return None


def _copy(file: CampaignFile, number: int, wanted: MadeFrom, before: int | None) -> None:
    """Make the folder of a rehearsal; killed half-way, the next one takes its number."""
    copied = _copied(file, number)
    make_private_folder(copied.out)
    known = None if before is None else made_from(file, before)
    like = {} if known is None else known.inputs.digests
    for key, digest in wanted.inputs.digests.items():
        _, is_named, name = key.partition(": ")
        if not is_named or key.startswith("pictures: "):
            continue
        has_copy = digest != "" and like.get(key) == digest
        source = (_copied(file, before) if has_copy and before else file).named(name)
        shutil.rmtree(copied.named(name), ignore_errors=True)
        for path in files_of(source, besides=file.live_folder):
            target = copied.named(name) / path.relative_to(source)
            target.parent.mkdir(parents=True, exist_ok=True)
            # An earlier rehearsal may have the same file under a name of its own.
            target.unlink(missing_ok=True)
            if not (has_copy and _linked(path, target)):
                shutil.copyfile(path, target)
    (copied.out / COPY).write_bytes(file.path.read_bytes())
    # A file may have changed while it was copied: what counts is the copy.
    digests = {
        **inputs_of(copied).digests,
        CAMPAIGN_FILE: hashlib.sha256((copied.out / COPY).read_bytes()).hexdigest(),
        CODE: wanted.inputs.digests[CODE],
    }
    document = {
        "digests": digests,
        "crowds": [*wanted.crowds],
        "complete": wanted.inputs.complete,
    }
    # If the process is killed, the whole file is there or none.
    partial = copied.out / f".{MADE_FROM}"
    partial.write_text(json.dumps(document, indent=1), encoding="utf-8")
    partial.replace(copied.out / MADE_FROM)


def _linked(path: Path, target: Path) -> bool:
    """Use an earlier rehearsal's copy again, where the disk can."""
    try:
        target.hardlink_to(path)
    except OSError:
        return False
    return True


def _point(folder: Path, number: int) -> None:
    made = folder / f".{LATEST}"
    made.unlink(missing_ok=True)
    made.symlink_to(str(number))
    made.replace(folder / LATEST)


def _prune(file: CampaignFile, *, keep: int) -> None:
    """Remove all but the newest rehearsals."""
    for number in numbers(file)[:-KEPT]:
        folder = file.live_folder / REHEARSALS / str(number)
        with suppress(CampaignBusy):
            if number != keep:
                with only_pass(in_folder(folder), by="piecework rehearse"):
                    (folder / MADE_FROM).unlink()
                    shutil.rmtree(folder, ignore_errors=True)
