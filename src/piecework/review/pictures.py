"""Pictures of items, from the campaign's folder or from the hosts that items name."""

from collections.abc import Awaitable
from functools import lru_cache
from mimetypes import guess_type
from pathlib import Path
from urllib.parse import urlencode

from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from piecework.domain.hit import Item
from piecework.results.pictures import clean_picture, has_picture, picture_path, small_copy
from piecework.review.desk import Desk
from piecework.review.pages import PICTURE_HEADERS
from piecework.review.parts import Parts
from piecework.review.sessions import Session


class Pictures:
    """The pictures of one campaign, by the ids of its items."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts

    def routes(self) -> list[Route]:
        """Return the route of the pictures."""
        return [self._parts.get("/picture", self.picture)]

    def picture(self, request: Request, _session: Session) -> Awaitable[Response]:
        """Send an item's picture, or a small copy of it."""
        item = self._parts.desk.work.items.get(request.query_params.get("item", ""))
        if item is None:
            raise HTTPException(404)
        return self._sent(item, is_small="small" in request.query_params)

    async def _sent(self, item: Item, *, is_small: bool) -> Response:
        """Read a picture; a bucket may take long, so no page waits for it."""
        campaign = self._parts.desk.opened.campaign
        try:
            path = await run_in_threadpool(picture_path, campaign, item)
        except OSError as fault:
            raise HTTPException(503, str(fault)) from fault
        if path is None:
            raise HTTPException(404)
        if is_small:
            copy = await run_in_threadpool(_small, path, path.stat().st_mtime_ns)
            if copy is not None:
                kind, content = copy
                return Response(content, media_type=kind, headers=PICTURE_HEADERS)
        kind = guess_type(path.name)[0] or ""
        if not kind.startswith("image/"):
            kind = "application/octet-stream"
        content = await run_in_threadpool(clean_picture, path)
        return Response(content, media_type=kind, headers=PICTURE_HEADERS)


def address_of_picture(desk: Desk, item_id: str, *, small: bool = False) -> str:
    """Return the URL of an item's picture; "" if it has none."""
    item = desk.work.items.get(item_id)
    if item is None:
        return ""
    if has_picture(desk.opened.campaign, item):
        query = {"item": item_id} | ({"small": "1"} if small else {})
        return f"/picture?{urlencode(query)}"
    elsewhere = item.picture
    return elsewhere if elsewhere.startswith(desk.picture_hosts) else ""


def columns_shown(desk: Desk, item_id: str) -> list[tuple[str, str]]:
    """Return the columns of an item that workers saw besides its picture."""
    item = desk.work.items.get(item_id)
    if item is None:
        return []
    shown, picture = desk.opened.campaign.task.shown_columns, item.picture
    return [
        (name, cell)
        for name, cell in item.columns.items()
        if name in shown and cell and cell not in {picture, item_id}
    ]


@lru_cache(maxsize=2000)
def _small(path: Path, _changed_ns: int) -> tuple[str, bytes] | None:
    return small_copy(path)
