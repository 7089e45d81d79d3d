"""Turns a campaign file into a crowdsourced dataset that people can trust.

The names in `__all__` are the library and stay stable (docs/reference/library.md). Each
name loads its module when it is first used, so `import piecework` itself loads nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from piecework.analyses.agreement import Alpha
    from piecework.campaign.pricing import Price
    from piecework.domain.campaign import Campaign
    from piecework.domain.edit import Edit
    from piecework.domain.errors import (
        BudgetExceeded,
        CampaignBusy,
        ConfigError,
        NotAnswered,
        PieceworkError,
        RefusedForSafety,
        StoreError,
    )
    from piecework.domain.progress import Progress
    from piecework.library.answers import read_results
    from piecework.library.asking import Answer, ask, ask_table
    from piecework.library.campaigns import Rehearsal, compare_rules, load_campaign, price, rehearse
    from piecework.library.cleaning import CleanedTexts, clean_text, clean_texts
    from piecework.library.datasets import Dataset, read_dataset, read_release
    from piecework.library.heuristics import assess, heuristics
    from piecework.library.hits import render_hit
    from piecework.library.labels import (
        AbilityLabels,
        DawidSkeneLabels,
        Labels,
        ability,
        cohen_kappa,
        dawid_skene,
        fleiss_kappa,
        krippendorff_alpha,
        majority,
    )
    from piecework.postprocess.apply import Cleaned

__all__ = [
    "AbilityLabels",
    "Alpha",
    "Answer",
    "BudgetExceeded",
    "Campaign",
    "CampaignBusy",
    "Cleaned",
    "CleanedTexts",
    "ConfigError",
    "Dataset",
    "DawidSkeneLabels",
    "Edit",
    "Labels",
    "NotAnswered",
    "PieceworkError",
    "Price",
    "Progress",
    "RefusedForSafety",
    "Rehearsal",
    "StoreError",
    "ability",
    "ask",
    "ask_table",
    "assess",
    "clean_text",
    "clean_texts",
    "cohen_kappa",
    "compare_rules",
    "dawid_skene",
    "fleiss_kappa",
    "heuristics",
    "krippendorff_alpha",
    "load_campaign",
    "majority",
    "price",
    "read_dataset",
    "read_release",
    "read_results",
    "rehearse",
    "render_hit",
]

_MODULES = {
    "analyses.agreement": "Alpha",
    "campaign.pricing": "Price",
    "domain.campaign": "Campaign",
    "domain.edit": "Edit",
    "domain.errors": "BudgetExceeded CampaignBusy ConfigError NotAnswered "
    "PieceworkError RefusedForSafety StoreError",
    "domain.progress": "Progress",
    "library.asking": "Answer ask ask_table",
    "library.campaigns": "Rehearsal compare_rules load_campaign price rehearse",
    "library.cleaning": "CleanedTexts clean_text clean_texts",
    "library.datasets": "Dataset read_dataset read_release",
    "library.heuristics": "assess heuristics",
    "library.hits": "render_hit",
    "library.labels": "AbilityLabels DawidSkeneLabels Labels ability cohen_kappa dawid_skene "
    "fleiss_kappa krippendorff_alpha majority",
    "library.answers": "read_results",
    "postprocess.apply": "Cleaned",
}
_MODULE_OF = {name: module for module, names in _MODULES.items() for name in names.split()}


def __getattr__(name: str) -> object:
    """Load a name of the library when it is first used (PEP 562)."""
    if name not in _MODULE_OF:
        raise AttributeError(f"module 'piecework' has no attribute {name!r}")
    value: object = getattr(import_module(f"piecework.{_MODULE_OF[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
