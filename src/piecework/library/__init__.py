"""The library that `import piecework` offers: functions on DataFrames.

`piecework/__init__.py` lists the names; `docs/reference/library.md` shows each.
"""
