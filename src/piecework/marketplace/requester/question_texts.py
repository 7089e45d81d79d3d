"""The texts of a long question that many HITs share, stored once.

On MTurk's own site, a page was stored as a layout, and a HIT had only the values for
its gaps. A requester sends the texts between the gaps, and then for each HIT the
values. Joined, they are the question, which may be longer than one that is sent whole.
"""

import hashlib
import json
import zlib
from base64 import b64decode
from typing import Any

from piecework.marketplace.exceptions import does_not_exist, invalid_parameters
from piecework.marketplace.state.transaction import Transaction

MEMBER = "PieceworkQuestionTexts"
LARGEST_BYTES = 1_000_000
"""Room for a page with its style, scripts and small pictures. A request has room for
its texts: packed, they are at most as long."""


def check_texts(member: str, value: object) -> list[str]:
    """Return the texts of a request: a JSON list, deflated, as base64.

    Raises:
        Refusal: it is not a text, or is longer than a question may be.
    """
    try:
        packer = zlib.decompressobj(-15)
        unpacked = packer.decompress(b64decode(str(value)), 2 * LARGEST_BYTES)
        texts = json.loads(unpacked)
    except (ValueError, zlib.error, RecursionError) as fault:
        raise invalid_parameters(f"{member} must be a packed list of texts.") from fault
    if not _is_texts(texts) or not texts:
        raise invalid_parameters(f"{member} must be a packed list of texts.")
    _check_size(sum(len(text.encode(errors="replace")) for text in texts))
    return [str(text) for text in texts]


def check_digest(member: str, value: object) -> str:
    """Return the digest of stored texts.

    Raises:
        Refusal: it is not a text.
    """
    if not isinstance(value, str):
        raise invalid_parameters(f"{member} must be a text.")
    return value


def keep(transaction: Transaction, texts: list[str]) -> str:
    """Store texts and return their digest; repeats change nothing."""
    document = json.dumps(texts, ensure_ascii=False)
    digest = hashlib.sha256(document.encode(errors="surrogatepass")).hexdigest()
    transaction.execute(
        "INSERT INTO question_texts (digest, texts, made_ms) VALUES (?, ?, ?) "
        "ON CONFLICT (digest) DO NOTHING",
        digest,
        document,
        transaction.now_ms,
    )
    return digest


def joined(transaction: Transaction, digest: str, values: str) -> tuple[int, str]:
    """Return the row of stored texts, and the question that the values make of them.

    Args:
        transaction: of the marketplace.
        digest: names the texts.
        values: a JSON list, one text shorter.

    Raises:
        Refusal: the texts are unknown, or the values do not fit.
    """
    row = transaction.first_row("SELECT id, texts FROM question_texts WHERE digest = ?", digest)
    if row is None:
        raise does_not_exist("HITLayout", digest)
    texts = json.loads(row["texts"])
    try:
        between: Any = json.loads(values)
    except (ValueError, RecursionError):
        between = None
    if not _is_texts(between) or len(between) != len(texts) - 1:
        raise invalid_parameters(
            f"Question must be a JSON list of {len(texts) - 1} texts, one for each gap."
        )
    parts = [texts[0]]
    for value, text in zip(between, texts[1:], strict=True):
        parts += [value, text]
    question = "".join(parts)
    _check_size(len(question.encode(errors="replace")))
    return row["id"], question


def _is_texts(document: object) -> bool:
    return isinstance(document, list) and all(isinstance(text, str) for text in document)


def _check_size(size: int) -> None:
    if size > LARGEST_BYTES:
        raise invalid_parameters(
            f"A question of stored texts has {size} bytes; it may have at most {LARGEST_BYTES}."
        )
