"""Libraries for tables, texts and pages, each imported when a name of it is first used.

They take longer to import than most commands take to run. A module that also has what is
known without a table, such as a heuristic's parameters, has them from here. Its own
annotations are texts (`from __future__ import annotations`), or they would use the names.
"""

from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING

__all__ = ["fs", "jinja2", "np", "npt", "pa", "pc", "pd", "pq", "rapidfuzz", "scipy"]

if TYPE_CHECKING:
    import jinja2
    import numpy as np
    import numpy.typing as npt
    import pandas as pd
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.parquet as pq
    import rapidfuzz
    import scipy
    from pyarrow import fs
else:

    class _LateModule(ModuleType):
        def __getattr__(self, name: str) -> object:
            value = getattr(import_module(self.__name__), name)
            setattr(self, name, value)  # the next use is a plain look-up
            return value

    np, npt = _LateModule("numpy"), _LateModule("numpy.typing")
    pa, pc = _LateModule("pyarrow"), _LateModule("pyarrow.compute")
    fs, pq = _LateModule("pyarrow.fs"), _LateModule("pyarrow.parquet")
    pd, scipy = _LateModule("pandas"), _LateModule("scipy")
    jinja2, rapidfuzz = _LateModule("jinja2"), _LateModule("rapidfuzz")
