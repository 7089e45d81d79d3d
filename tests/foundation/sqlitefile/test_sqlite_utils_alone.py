"""A process that keeps plain values in a database loads no pandas for it."""

import json
import re
import subprocess
import sys
import threading

import pytest

from piecework.foundation.sqlitefile.database import hidden


def _modules_after(statement: str) -> set[str]:
    program = f"import json, sys; {statement}; print(json.dumps(list(sys.modules)))"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    return set(json.loads(done.stdout))


def test_a_marketplace_loads_neither_pandas_nor_numpy() -> None:
    """It takes 80 MB less memory, and half the time to start."""
    for command in ("marketplace.__main__", "simulation.rehearsals.marketplace_process"):
        modules = _modules_after(f"import piecework.{command}")
        assert "sqlite_utils.db" in modules
        assert not {"pandas", "numpy", "pyarrow", "scipy"} & modules


def test_a_process_that_is_started_as_a_module_loads_neither() -> None:
    """`python -m` runs it under the name `__main__`."""
    listed = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "piecework.marketplace", "--help"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert "sqlite_utils.db" in listed.stderr
    assert not re.search(r"\|\s+(pandas|numpy)$", listed.stderr, re.MULTILINE)


def test_pandas_can_be_imported_afterwards() -> None:
    """Nothing is left behind."""
    modules = _modules_after("import piecework.marketplace.__main__, pandas; pandas.DataFrame()")
    assert {"sqlite_utils.db", "pandas", "numpy"} <= modules


def test_another_program_keeps_all_of_sqlite_utils() -> None:
    """It may store numbers of numpy, also in a process that uses piecework."""
    modules = _modules_after(
        "import piecework.marketplace.http.server, piecework.store.database, sqlite_utils, numpy; "
        "table = sqlite_utils.Database(memory=True)['t']; "
        "table.insert({'n': numpy.int64(1)}); "
        "assert table.columns_dict == {'n': int}"
    )
    assert "piecework.foundation.sqlitefile.database" in modules


def test_other_threads_import_what_is_hidden_from_one() -> None:
    """A program may import piecework in one thread, and pandas in another."""
    specs: list[object] = []

    def find() -> None:
        specs.extend(finder.find_spec("numpy", None) for finder in sys.meta_path)

    with hidden():
        with pytest.raises(ModuleNotFoundError, match="numpy"):
            find()
        specs.clear()
        other = threading.Thread(target=find)
        other.start()
        other.join()
    assert any(specs)
