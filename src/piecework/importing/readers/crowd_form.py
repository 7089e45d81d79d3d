"""Parse the one JSON field that a page of `crowd-html-elements` sends."""

import json
from collections.abc import Mapping

CROWD = "taskAnswers"


def flattened(text: str) -> dict[str, str]:
    """Return the answers of a form by name.

    Checkboxes (`{"blur": true, "dark": false}`) become the ticked names, joined by `|`.
    A label becomes its text. Deeper values stay JSON.

    Raises:
        ValueError: it is not a JSON object, alone or in a list.

    >>> flattened('[{"caption": "A dog", "flaws": {"blur": true, "dark": false}}]')
    {'caption': 'A dog', 'flaws': 'blur'}
    """
    if not text.strip():
        return {}
    try:
        document = json.loads(text)
    except RecursionError as fault:
        raise ValueError("is JSON with too many levels") from fault
    if isinstance(document, list) and len(document) == 1:
        document = document[0]
    if not isinstance(document, dict):
        raise ValueError("is not a JSON object, alone or in a list")  # noqa: TRY004 - of a cell
    return {str(name): as_text(value) for name, value in document.items()}


def as_text(value: object) -> str:
    """Return a value of a JSON answer as a form would have sent it."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, Mapping):
        return _of_object(value)
    if isinstance(value, list) and all(isinstance(entry, str) for entry in value):
        return "|".join(value)
    return json.dumps(value, ensure_ascii=False)


def _of_object(value: Mapping[str, object]) -> str:
    if value and all(isinstance(tick, bool) for tick in value.values()):
        return "|".join(name for name, is_ticked in value.items() if is_ticked)
    if len(value) == 1 and isinstance(label := next(iter(value.values())), str):
        return label
    return json.dumps(value, ensure_ascii=False)
