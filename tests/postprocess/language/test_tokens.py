"""What the requester wrote about an item protects its words; examples in docs hold."""

import doctest
import importlib
import pkgutil

from piecework import postprocess
from piecework.domain.hit import Item
from piecework.domain.ids import ItemId
from piecework.postprocess.language.tokens import protected_words


def test_all_columns_protect_their_words() -> None:
    """Ids and addresses too: harmless, and a brand may stand in a file name."""
    item = Item(
        item_id=ItemId("7"),
        columns={"label": "Gevalia, K\u00f6lsch", "url": "/pictures/tassimo_2.jpg"},
    )
    protected = protected_words(item)
    assert {"gevalia", "k\u00f6lsch", "tassimo"} <= protected
    assert "2" not in protected


def test_examples_in_docstrings_hold() -> None:
    """Every `>>>` in this package does what it says."""
    names = [
        module.name
        for module in pkgutil.walk_packages(postprocess.__path__, "piecework.postprocess.")
        if ".report" not in module.name
    ]
    results = [doctest.testmod(importlib.import_module(name)) for name in names]
    assert sum(result.attempted for result in results) > 10
    assert sum(result.failed for result in results) == 0
