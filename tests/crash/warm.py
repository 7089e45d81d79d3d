"""What every pass does alike, done once where passes are forked from.

Otherwise each of several hundred processes reads the same descriptions of services for
its client of the marketplace, and copies memory that its garbage collector touches.
"""

import gc

import sqlite_utils

from platforms.client import turk_client
from tests.read_once import read_once

read_once()
turk_client("http://127.0.0.1:1", access_key="any", secret_key="any").can_paginate(  # noqa: S106
    "list_hits"
)
sqlite_utils.Database(memory=True).close()
gc.collect()
gc.freeze()
