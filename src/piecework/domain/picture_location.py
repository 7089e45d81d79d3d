"""Where the pictures of a campaign are: a folder of this machine, or a bucket."""

import posixpath
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

_SERVED = "/pictures/"


@dataclass(frozen=True, slots=True)
class PictureLocation:
    """A folder, or an address such as `s3://bucket/photos`.

    Attributes:
        address: an absolute path, or a URL that may have `${VARIABLES}`.
    """

    address: str

    @classmethod
    def named(cls, written: str, *, beside: Path) -> "PictureLocation":
        """Return the location that a file names; its relative paths start beside it."""
        if "://" in written:
            return cls(written.rstrip("/"))
        return cls(str((beside / written).resolve()))

    @property
    def folder(self) -> Path | None:
        """The folder on this machine; `None` for a bucket."""
        return None if "://" in self.address else Path(self.address)

    def name_of(self, written: str) -> str:
        """Return a picture's path inside, as an item names it; "" if it is elsewhere.

        >>> bucket = PictureLocation("s3://zoo/photos")
        >>> bucket.name_of("s3://zoo/photos/a/b.jpg"), bucket.name_of("a/b.jpg")
        ('a/b.jpg', 'a/b.jpg')
        >>> bucket.name_of("s3://zoo/plans/b.jpg"), bucket.name_of("../plans/b.jpg")
        ('', '')
        """
        inside = written.removeprefix(f"{self.address}/")
        if inside == written:
            if _has_host(written):
                return ""
            inside = written.removeprefix(_SERVED)
        if self.folder is None:
            return inside if is_plain_name(inside) else ""
        return posixpath.normpath(inside) if inside else ""

    def __str__(self) -> str:
        """Return the address."""
        return self.address


def is_plain_name(name: str) -> bool:
    r"""Return whether a name leads to something inside, whatever it is joined to.

    >>> is_plain_name("a/b.jpg"), is_plain_name("a/../b.jpg"), is_plain_name("/b.jpg")
    (True, False, False)
    """
    steps = name.split("/")
    return not ({"", ".", ".."} & {*steps} or {"\0", "\\"} & {*name})


def _has_host(written: str) -> bool:
    try:
        return bool(urlsplit(written).netloc)
    except ValueError:
        return True
