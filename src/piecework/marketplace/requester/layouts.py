"""HIT layouts: pages with gaps for parameters, stored under an id.

On MTurk, layouts were made on its website. Here the marketplace's operator adds them
from files, and all requesters may use them. An id depends only on the content: the same
page has the same id everywhere.
"""

import base64
import hashlib
import re
import sqlite3
from collections.abc import Sequence
from typing import Any

from piecework.marketplace.exceptions import does_not_exist, invalid_parameters
from piecework.marketplace.requester import question
from piecework.marketplace.state.transaction import Transaction

_GAP = re.compile(r"\$\{([A-Za-z0-9_.-]{1,128})\}")
_ID_LETTERS = 30
_SHOWN = 5


def add(transaction: Transaction, *, name: str, html: str, frame_height: int = 0) -> str:
    """Store a page and return its id; repeats change nothing.

    Raises:
        Refusal: the page cannot become a question.
    """
    question.read(_wrapped(html, frame_height))
    digest = hashlib.sha256(f"{frame_height} {html}".encode()).digest()
    layout_id = base64.b32encode(digest).decode()[:_ID_LETTERS]
    transaction.execute(
        "INSERT INTO hit_layouts (layout_id, name, html, frame_height, made_ms) "
        "VALUES (?, ?, ?, ?, ?) ON CONFLICT (layout_id) DO NOTHING",
        layout_id,
        name,
        html,
        frame_height,
        transaction.now_ms,
    )
    return layout_id


def listed(transaction: Transaction) -> list[sqlite3.Row]:
    """All layouts, oldest first."""
    return transaction.all("SELECT * FROM hit_layouts ORDER BY id")


def gaps(html: str) -> list[str]:
    """Return the names of a page's gaps, in order.

    >>> gaps("<p>${a} and ${b}, ${a}</p>")
    ['a', 'b']
    """
    return list(dict.fromkeys(_GAP.findall(html)))


def filled(transaction: Transaction, layout_id: str, parameters: Sequence[dict[str, Any]]) -> str:
    """Return the question of a layout with these parameters, inserted unescaped.

    Raises:
        Refusal: the layout does not exist, or the parameters do not match its gaps.
    """
    row = transaction.first_row("SELECT * FROM hit_layouts WHERE layout_id = ?", layout_id)
    if row is None:
        raise does_not_exist("HITLayout", layout_id)
    values = {parameter.get("Name", ""): parameter.get("Value", "") for parameter in parameters}
    if len(values) < len(parameters):
        raise invalid_parameters("HITLayoutParameters names something twice.")
    wanted = gaps(row["html"])
    _check_none(sorted(set(wanted) - set(values)), "lacks a value for")
    _check_none(sorted(set(values) - set(wanted)), "names unknown parameters:")
    html = _GAP.sub(lambda match: str(values[match[1]]), row["html"])
    return _wrapped(html, row["frame_height"])


def _check_none(names: list[str], complaint: str) -> None:
    if names:
        shown = ", ".join(ascii(name[:60]) for name in names[:_SHOWN])
        raise invalid_parameters(f"HITLayoutParameters {complaint} {shown}.")


def _wrapped(html: str, frame_height: int) -> str:
    content = html.replace("]]>", "]]]]><![CDATA[>")
    return (
        f'<HTMLQuestion xmlns="{question.HTML_NAMESPACE}"><HTMLContent>'
        f"<![CDATA[{content}]]></HTMLContent>"
        f"<FrameHeight>{frame_height}</FrameHeight></HTMLQuestion>"
    )
