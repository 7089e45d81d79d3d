"""What is known without a table is read without the libraries that compute with tables."""

import subprocess
import sys

import numpy as np
import pytest

from piecework.domain import late_modules
from tests.test_layout import PACKAGE


def test_no_module_uses_a_late_library_when_it_is_imported() -> None:
    """One annotation that is no text would load pandas for each `piecework status`."""
    modules = [
        ".".join(("piecework", *file.relative_to(PACKAGE).with_suffix("").parts))
        for room in PACKAGE.iterdir()
        for file in room.rglob("*.py")
        if "domain.late_modules import" in file.read_text(encoding="utf-8")
    ]
    assert len(modules) > 50
    program = (  # as a command does: sqlite-utils alone would import pandas
        f"import sys, piecework.cli.main, {', '.join(modules)}; "
        "print(sorted({'pandas', 'numpy', 'pyarrow', 'scipy'} & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"


def test_names_are_those_of_the_libraries() -> None:
    """A name is looked up once; one that a library lacks is an error as ever."""
    assert late_modules.np.float64 is np.float64
    assert vars(late_modules.np)["float64"] is np.float64
    with pytest.raises(AttributeError, match="no attribute 'float65'"):
        getattr(late_modules.np, "float65")  # noqa: B009 - the type checker knows that it is absent
