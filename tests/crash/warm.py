"""Do once, in the process that forks passes, what every pass does.

Otherwise each of several hundred processes would read the same service descriptions for
its client of the marketplace, compile the same page, and copy memory that its garbage
collector touches.
"""

import gc

import sqlite_utils

from piecework.domain.hit import Item
from piecework.domain.ids import ItemId
from piecework.hit_templates.render import render_hit
from piecework.hit_templates.tasks import load_task
from piecework.platforms.client import turk_client
from tests.read_once import read_once

read_once()
turk_client("http://127.0.0.1:1", access_key="any", secret_key="any").can_paginate(  # noqa: S106
    "list_hits"
)
sqlite_utils.Database(memory=True).close()
render_hit(
    load_task("caption"),
    [Item(item_id=ItemId("p"), columns={"image_id": "p", "url": "https://x.test/p"})],
)
gc.collect()
gc.freeze()
