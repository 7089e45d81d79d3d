"""Puts the files beside a page into it: styles, scripts, small pictures and sounds.

Workers get the page alone, wherever it is posted. So an address such as `style.css`
becomes a `data:` address with the file's content. The page's size limits what fits.
"""

import re
from base64 import b64encode
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from urllib.parse import unquote

from piecework.foundation.media_types import SCRIPT, STYLE, TYPES
from piecework.hit_templates.own_html.page import CANDIDATE, FILES, IN_SCRIPT, NOT_BESIDE

LARGEST_BYTES = 900_000
"""The marketplace serves the page, and stores it once for all HITs."""

IS_MISSING = "does not exist"
"""The end of the reason why a file that is not there is left out."""

_CODE = {STYLE, SCRIPT}
_URL = (
    r"""url\(\s*+["']?(?P<url>[^"'()\s]+)["']?\s*+\)"""
    r"""|@import\s+["'](?P<import>[^"'\n]+)["']"""
)
_IN_CSS = re.compile(_URL, re.IGNORECASE)
_ATTRIBUTE = (
    r"""(?<=[\s"'/])(?P<name>xlink:href|srcset|src|href|poster|data|background)"""
    r"""\s*+=\s*+(?:"(?P<double>[^"]*)"|'(?P<single>[^']*)'|(?P<bare>[^\s>"']+))"""
)
_IN_TAG = re.compile(_ATTRIBUTE, re.IGNORECASE)
_IN_PAGE = re.compile(
    r"<!--.*?(?:-->|\Z)"
    r"|(?P<script><script\b[^<>]*>).*?(?=</script|\Z)"
    rf"|<(?P<tag>[a-z][\w:-]*)|{_ATTRIBUTE}|{_URL}",
    re.IGNORECASE | re.DOTALL,
)
_BASE = re.compile(r"<base\b[^<>]*\bhref\b", re.IGNORECASE)
_IS_PLACEHOLDER = re.compile(r"\$\{|\{\{")

_Change = Callable[[str], str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Embedded:
    """A page with the files beside it.

    Attributes:
        html: the page; its lines are those of the file.
        digests: by path, of each file that the page or its styles name: sha256, the
            size of one that is too large, or "" if it cannot be read.
        styles: the text of each style sheet inside, by path.
        left_out: why a file is not inside, by its address in the page: a clause.
        lost: what files inside load in vain: clauses with file and line.
    """

    html: str
    digests: Mapping[Path, str]
    styles: Mapping[Path, str]
    left_out: Mapping[str, str]
    lost: tuple[str, ...]


def embedded(html: str, path: Path, folder: Path) -> Embedded:
    """Return the page at a path with the files that it names inside a folder."""
    files = _Files(folder)
    if _BASE.search(html):  # then relative addresses lead to another host
        return files.embedded(html)
    named: Counter[str] = Counter()

    def note(address: str) -> str:
        named[address] += 1
        return address

    _changed(html, note)
    by_address = {address: files.find(address, path.parent) for address in named}
    room = LARGEST_BYTES - len(html.encode())
    inside: dict[str, str] = {}
    for address in sorted(named, key=lambda each: _order(by_address[each])):
        file = by_address[address]
        if isinstance(file, str):
            files.left_out[address] = file
            continue
        made = files.data_address(file, room // named[address])
        if made is None:
            files.left_out[address] = files.reasons[file]
            continue
        inside[address] = made + "".join(re.findall(r"#.*", address))
        room -= len(inside[address]) * named[address]
    return files.embedded(_changed(html, lambda each: inside.get(each, each)))


def _order(file: Path | str) -> tuple[bool, int]:
    """Sort styles and scripts first, then the smallest."""
    if isinstance(file, str):
        return True, 0
    return TYPES[file.suffix.lower()] not in _CODE, file.stat().st_size


def _changed(html: str, change: _Change) -> str:
    """Return the page with each address that loads a file beside it changed."""
    tag = ""

    def replaced(match: re.Match[str]) -> str:
        nonlocal tag
        if begin := match["script"]:
            tag = "script"
            return (
                _IN_TAG.sub(lambda each: _attribute(each, tag, change), begin)
                + match[0][len(begin) :]
            )
        if match["tag"]:
            tag = match["tag"].lower()
        elif match["name"]:
            return _attribute(match, tag, change)
        elif address := match["url"] or match["import"]:
            return match[0].replace(address, _beside(address, change))
        return match[0]

    return _IN_PAGE.sub(replaced, html)


def _attribute(match: re.Match[str], tag: str, change: _Change) -> str:
    name = match["name"].lower()
    value = match["double"] or match["single"] or match["bare"] or ""
    if not value or name not in FILES.get(tag, ()):
        return match[0]
    if name == "srcset":
        made = CANDIDATE.sub(
            lambda each: each[0].replace(
                address := each[1].rstrip(","), _beside(address, change), 1
            ),
            value,
        )
    else:
        made = _beside(value.strip(), change)
    return match[0] if made == value else match[0].replace(value, made)


def _beside(address: str, change: _Change) -> str:
    if NOT_BESIDE.match(address) or _IS_PLACEHOLDER.search(address):
        return address
    return change(address)


@dataclass(slots=True)
class _Files:
    """The files of a folder that a page may have inside."""

    folder: Path
    reasons: dict[Path, str] = field(default_factory=dict)
    left_out: dict[str, str] = field(default_factory=dict)
    digests: dict[Path, str] = field(default_factory=dict)
    styles: dict[Path, str] = field(default_factory=dict)
    lost: dict[str, None] = field(default_factory=dict)
    within: list[Path] = field(default_factory=list)
    made: dict[Path, str] = field(default_factory=dict)

    def embedded(self, html: str) -> Embedded:
        return Embedded(
            html=html,
            digests=self.digests,
            styles=self.styles,
            left_out=self.left_out,
            lost=tuple(self.lost),
        )

    def find(self, address: str, beside: Path) -> Path | str:
        """Return the file that an address names, or why it cannot be used."""
        name = unquote(re.split(r"[?#]", address, maxsplit=1)[0])
        path = beside / name
        if path.suffix.lower() not in TYPES:
            return f"a page cannot hold a file of the kind {path.suffix!r}"
        try:
            real = path.resolve()
            if not real.is_relative_to(self.folder.resolve()):
                return f"{path} leads out of the campaign's folder"
            self.digests.setdefault(path, "")
            return path if real.is_file() else f"{path} {IS_MISSING}"
        except (OSError, ValueError):
            return "it is not the name of a file"

    def data_address(self, file: Path, room: int) -> str | None:
        """Return a file's content as an address; `None` if it takes too much room."""
        if file not in self.made and file not in self.reasons:
            try:
                self._read(file, room)
            except OSError as error:
                self.reasons[file] = f"{file} cannot be read: {error.strerror}"
        made = self.made.get(file)
        return made if made is not None and len(made) <= room else None

    def _read(self, file: Path, room: int) -> None:
        size = file.stat().st_size
        self.reasons[file] = (
            f"it has {size:,} bytes, and a page may have {LARGEST_BYTES:,} with the files in it"
        )
        self.digests[file] = str(size)
        if size > room:
            return
        content = file.read_bytes()
        self.digests[file] = sha256(content).hexdigest()
        kind = TYPES[file.suffix.lower()]
        charset = ""
        if kind in _CODE:
            charset = ";charset=utf-8"
            try:
                text = content.decode("utf-8-sig")
            except UnicodeDecodeError:
                self.reasons[file] = f"{file} is not UTF-8"
                return
            content = self._code(file, text, kind, room).encode()
        else:
            # A quick check reads which files a page has, and no picture.
            from piecework.domain.picture_metadata.cleaning import without_metadata  # noqa: PLC0415

            content = without_metadata(content)
        self.made[file] = f"data:{kind}{charset};base64,{b64encode(content).decode()}"

    def _code(self, file: Path, text: str, kind: str, room: int) -> str:
        if kind == STYLE:
            self.styles[file] = text
            return self._style(file, text, room)
        for match in IN_SCRIPT.finditer(text):
            # Libraries hold such texts too: only a file that is there was meant.
            is_there = isinstance(self.find(match[1], file.parent), Path)
            if is_there and not NOT_BESIDE.match(match[1]):
                self._lose(file, text, match.start(), match[1])
        return text

    def _style(self, file: Path, text: str, room: int) -> str:
        left = room - len(text.encode()) * 4 // 3

        def replaced(match: re.Match[str]) -> str:
            nonlocal left
            address = match["url"] or match["import"]
            if address.startswith("//"):
                return match[0].replace(address, f"https:{address}")
            if address.startswith("#") or re.match(r"[A-Za-z][\w+.-]*:", address):
                return match[0]
            file_named = self.find(address, file.parent)
            made = None
            if isinstance(file_named, Path) and file_named not in self.within:
                made = self.data_address(file_named, left * 3 // 4)
            if made is None:
                self._lose(file, text, match.start(), address)
                return match[0]
            left -= len(made) * 4 // 3
            return match[0].replace(address, made)

        self.within.append(file)
        made = _IN_CSS.sub(replaced, text)
        self.within.pop()
        return made

    def _lose(self, file: Path, text: str, at: int, address: str) -> None:
        line = text.count("\n", 0, at) + 1
        self.lost[f"{file}: line {line}: {address!r}"] = None
