"""Values and keys as text for TOML files that people read."""

import json
from collections.abc import Mapping


def toml_value(value: object) -> str:
    r"""Write a text, number, list or mapping on one line.

    >>> toml_value({"a b": ["\x7f", 1]})
    '{ "a b" = ["\\u007f", 1] }'
    """
    if isinstance(value, Mapping):
        inside = ", ".join(toml_line(name, inner) for name, inner in value.items())
        return f"{{ {inside} }}"
    if isinstance(value, list):
        return f"[{', '.join(map(toml_value, value))}]"
    # TOML's basic strings are written like JSON's, except for DEL.
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def toml_key(name: str) -> str:
    """Write a key, in quotes if it needs them."""
    is_bare = name.isascii() and name.replace("_", "").replace("-", "").isalnum()
    return name if is_bare else toml_value(name)


def toml_line(name: str, value: object) -> str:
    """Write a key and its value."""
    return f"{toml_key(name)} = {toml_value(value)}"
