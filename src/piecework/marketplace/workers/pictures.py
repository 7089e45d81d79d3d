"""What a marketplace serves as `/pictures/`: a folder, a private bucket, or nothing."""

from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, cast
from urllib.parse import quote

from starlette.routing import BaseRoute, Mount

from piecework.marketplace.forms.form import Form, Formatted, Medium
from piecework.marketplace.state.backend import Backend
from piecework.marketplace.state.transaction import own_key
from piecework.marketplace.workers.pages import Origins
from piecework.marketplace.workers.picture_folder import PictureFolder, Thumbnails

if TYPE_CHECKING:
    from piecework.marketplace.workers.picture_bucket import PictureSigner

_MOUNTED_AT = "/pictures"


class Pictures:
    """The pictures of one marketplace.

    A folder's pictures are served to everyone who knows their names, as from any web
    server. A bucket's are only served at the signed addresses in workers' pages.
    """

    def __init__(self, location: Path | str | None, backend: Backend, origins: Origins) -> None:
        """Take a folder, or an address such as `s3://bucket/photos`."""
        self._origins = origins
        self._signer: PictureSigner | None = None
        self._mounts: list[BaseRoute] = []
        self._thumbnails: Thumbnails | None = None
        if location is None:
            return
        if "://" not in str(location):
            folder = PictureFolder(Path(location))
            self._thumbnails = Thumbnails(folder)
            self._mounts = [Mount(_MOUNTED_AT, folder), self._thumbnails.route()]
            return
        # Opening a bucket needs pyarrow, which takes a second to import.
        from piecework.marketplace.workers import picture_bucket  # noqa: PLC0415

        with backend.transaction() as transaction:
            key = own_key(transaction, "pictures_key")
        self._signer = picture_bucket.PictureSigner(key, (origins.site, origins.frames))
        served = picture_bucket.BucketPictures(str(location), self._signer.is_signed)
        self._mounts = [Mount(_MOUNTED_AT, served)]

    def routes(self) -> list[BaseRoute]:
        """Return where the pictures are, if anywhere."""
        return self._mounts

    def address(self, requester: int, name: str) -> str:
        """Return where browsers load a picture of a requester's page; "" without pictures.

        Args:
            requester: the requester, by row id.
            name: the picture's path in the folder or bucket.
        """
        if not self._mounts:
            return ""
        address = f"{self._origins.frames_of(requester)}{_MOUNTED_AT}/{quote(name)}"
        return address if self._signer is None else self._signer.signed_address(address, 0)

    def thumbnail(self, question: str) -> str:
        """Return the address of a small copy of a question's first picture; "" without one.

        A bucket has none: each would be read as a whole.
        """
        return "" if self._thumbnails is None else self._thumbnails.address(question)

    def signed(self, page: str, seconds: int) -> str:
        """Return a requester's page with signed addresses of a bucket's pictures.

        Args:
            page: HTML, as the requester wrote it.
            seconds: how long a worker may have the page.
        """
        return page if self._signer is None else self._signer.signed(page, seconds)

    def signed_form(self, form: Form, seconds: int) -> Form:
        """Return the same for a form; what workers typed is not part of it."""
        if self._signer is None:
            return form
        return cast("Form", _signed_part(form, self._signer, seconds))


def _signed_part(part: object, signer: "PictureSigner", seconds: int) -> object:
    """Return a part of a form, whatever it is, with signed addresses in it."""
    if isinstance(part, Medium):
        return replace(part, url=signer.signed_address(part.url, seconds))
    if isinstance(part, Formatted):
        return replace(part, markup=signer.signed(part.markup, seconds))
    if isinstance(part, tuple):
        return tuple(_signed_part(inner, signer, seconds) for inner in part)
    if is_dataclass(part) and not isinstance(part, type):
        inner = {each.name: getattr(part, each.name) for each in fields(part)}
        return replace(
            part, **{name: _signed_part(value, signer, seconds) for name, value in inner.items()}
        )
    return part
