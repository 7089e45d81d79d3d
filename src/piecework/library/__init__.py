"""What `import piecework` offers: functions on frames, on top of the other rooms.

`piecework/__init__.py` lists the names; `docs/reference/library.md` shows each.
"""
