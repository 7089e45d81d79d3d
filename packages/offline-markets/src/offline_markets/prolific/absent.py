"""Prolific's operations that the emulator knows and does not perform.

They answer 501 with a sentence, so that the author of a program sees that the address
is right and the emulator lacks the operation.
"""

ABSENT = (("GET", "/filters/{id}/distribution/", "get-filter-distribution"),)
"""Method, address after the prefix, and operationId in Prolific's OpenAPI document."""


def absent_sentence(name: str) -> str:
    """Return what an operation that is not performed answers."""
    return (
        f"Prolific has the operation {name}, but this emulator does not perform it; "
        "its how-to guide lists those that it performs."
    )
