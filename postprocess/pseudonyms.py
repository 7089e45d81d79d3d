"""Replace worker ids by keyed hashes before they leave the store.

A plain hash would not be enough: MTurk's worker ids are few and known, so anyone could
hash them all and compare. Only the requester has the key.
"""

import hashlib
import hmac
import re
from typing import TYPE_CHECKING

from piecework.domain.ids import WorkerId
from piecework.domain.imported import UNNAMED

if TYPE_CHECKING:
    import pandas as pd

_HEX_CHARACTERS = 16
"""64 bits: the probability that two of 100,000 workers collide is below 1e-9."""

_PSEUDONYM = re.compile(f"(?:{UNNAMED})?[0-9a-f]{{16,64}}")


def is_pseudonym(name: str) -> bool:
    """Return whether a text can be a keyed hash in hex, as `pseudonym` writes it.

    >>> is_pseudonym("A1B2C3D4E5F6G7"), is_pseudonym("0123456789abcdef")
    (False, True)
    >>> is_pseudonym("unnamed:0123456789abcdef")
    True
    """
    return _PSEUDONYM.fullmatch(name) is not None


def pseudonym(worker_id: WorkerId, key: bytes) -> str:
    """Return 16 hex characters for a worker, the same for the same key.

    The prefix `unnamed:` means that an imported file did not name the worker.

    Raises:
        ValueError: the key is empty, so the hash would protect no worker.
    """
    if not key:
        raise ValueError("the key of the pseudonyms is empty")
    digest = hmac.new(key, worker_id.encode(), hashlib.sha256).hexdigest()
    unnamed = UNNAMED if worker_id.startswith(UNNAMED) else ""
    return unnamed + digest[:_HEX_CHARACTERS]


def pseudonyms(worker_ids: "pd.Series[str]", key: bytes) -> "pd.Series[str]":
    """Return the pseudonyms of a column of worker ids, computing each once."""
    different = worker_ids.unique().tolist()
    return worker_ids.map(
        {worker: pseudonym(WorkerId(worker), key) for worker in different}
    ).astype("str")
