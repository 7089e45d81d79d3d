"""What a result was made from: the files of its campaign, and the code.

Which files a campaign file names is read from its schema (`piecework.config.named`), so
a new key that names a file counts from the start.
"""

import hashlib
import os
import subprocess
from collections.abc import Iterable, Iterator
from functools import cache
from importlib.metadata import version
from pathlib import Path

from piecework.config.campaign_file import CampaignFile
from piecework.config.named import Names, texts_of
from piecework.domain.inputs import CAMPAIGN_FILE, Inputs
from piecework.domain.task import is_page
from piecework.hit_templates.own_html.embedding import embedded
from piecework.hit_templates.tasks import is_own

_READ = {Names.DEFINITION, Names.INPUT}
_ROOT = Path(__file__).resolve().parents[3]


@cache
def code_version() -> str:
    """Return the commit of the checkout, marked if files have changed since.

    >>> len(code_version()) > 0
    True
    """
    # If installed, the code may be in an environment inside another repository.
    commit = _git("rev-parse", "HEAD") if (_ROOT / ".git").exists() else ""
    if not commit:
        return f"piecework {version('piecework')}"
    return f"{commit} with local changes" if _git("status", "--porcelain") else commit


def inputs_of(file: CampaignFile) -> Inputs:
    """Return the digests of a campaign file, of the machine's fees, and of each named file.

    A task's folder counts with all files, and a page with the files beside it. Of a
    folder of pictures only names and sizes count. Items that grow do not count: the
    store has each row that was dealt. An address is not read; a file that cannot be
    read has the digest "".
    """
    digests = {CAMPAIGN_FILE: file.source_hash}
    if fees := file.machine.tables.fees:
        digests["fees"] = _digest(map(repr, fees))
    for key, name in named_files(file):
        if key == "pictures":
            digest = _listing(file.path.parent / name, besides=file.live_folder)
        else:
            digest = _contents(file.named(name), besides=file.live_folder)
        digests[f"{key}: {name}"] = digest
        if key == "task" and is_page(name):
            digests |= _beside_page(file.named(name), file.folder)
    return Inputs(text=file.text, digests=digests)


def named_files(file: CampaignFile) -> Iterator[tuple[str, str]]:
    """Yield key and name of the files and folders that a campaign is read from."""
    for named in texts_of(file.tables):
        key = ".".join(named.key)
        if named.names not in _READ or "://" in named.text:
            continue
        if named.key[-1] == "task" and not is_own(named.text):
            continue
        if not (key == "items.file" and file.tables.grows is not None):
            yield key, named.text


def _beside_page(page: Path, folder: Path) -> dict[str, str]:
    """Return the digests of the files that a page has inside."""
    try:
        html = page.read_text("utf-8-sig", errors="replace")
    except OSError:
        return {}
    return {
        f"task: {os.path.relpath(path, folder)}": digest
        for path, digest in embedded(html, page, folder).digests.items()
    }


def _contents(path: Path, *, besides: Path) -> str:
    if not path.is_dir():
        return _sha256(path)
    return _digest(f"{each.relative_to(path)} {_sha256(each)}" for each in files_of(path, besides))


def _listing(folder: Path, *, besides: Path) -> str:
    return _digest(
        f"{each.relative_to(folder)} {each.lstat().st_size}" for each in files_of(folder, besides)
    )


def files_of(path: Path, besides: Path) -> Iterator[Path]:
    """Yield a file, or the files of a folder without results that are written inside it."""
    if path.is_file():
        yield path
    for inside, folders, names in os.walk(path):
        folders[:] = sorted(
            each
            for each in folders
            if each != "__pycache__" and Path(inside, each).resolve() != besides
        )
        yield from (Path(inside, name) for name in sorted(names))


def _sha256(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return ""  # reading the campaign reports it


def _digest(lines: Iterable[str]) -> str:
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


def _git(*words: str) -> str:
    try:
        done = subprocess.run(  # noqa: S603 - fixed words, no shell
            ["git", "-C", str(_ROOT), *words],  # noqa: S607 - git of the path
            capture_output=True,
            text=True,
            timeout=10,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""
