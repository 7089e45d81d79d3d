"""Nothing of the requester API is left untyped."""

import re
from pathlib import Path

from botocore import xform_name
from botocore.loaders import Loader

from tests.for_each import for_each

_TESTS = [
    Path(__file__).with_name(f"test_awscli_{part}.py")
    for part in ("hits", "work", "qualifications")
]
_PAGE = Path(__file__).resolve().parents[2] / "docs/reference/marketplace.md"
OPERATIONS = sorted(Loader().load_service_model("mturk", "service-2", "2017-01-17")["operations"])


def test_the_service_model_has_39_operations() -> None:
    """As the reference lists them; another number means another API."""
    assert len(OPERATIONS) == 39


@for_each("operation", OPERATIONS)
def test_each_operation_is_typed_and_described(operation: str) -> None:
    """Each has a command in these tests, and is in the manual's list once."""
    command = re.compile(rf'"{xform_name(operation, "-")}[ "]|f"{xform_name(operation, "-")} ')
    assert any(command.search(path.read_text()) for path in _TESTS)
    listed = _PAGE.read_text(encoding="utf-8").partition("<!-- operations: end -->")[0]
    assert len(re.findall(rf"\b{operation}\b", listed)) == 1
