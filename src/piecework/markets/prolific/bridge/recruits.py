"""Lists of participants and shares of visits, as filters of a study."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from piecework.foundation.client.errors import Unusable
from piecework.markets.prolific.bridge.requirements import type_id_of
from piecework.markets.prolific.resources.recruiting import Choice, Filter

ALLOWED, BLOCKED = "custom_allowlist", "custom_blocklist"


def with_recruiting(
    filters: Sequence[Filter], stated: str | None, *, divides: bool = True
) -> list[Filter]:
    """Return filters that also follow what a requester stated about recruiting.

    Args:
        filters: the filters of the requirements.
        stated: the statement of the HIT type (JSON); `None` if there is none.
        divides: whether the places are divided by the shares.

    Raises:
        Unusable: a share is of a choice that the filters do not ask for.
    """
    if stated is None:
        return list(filters)
    recruiting: Mapping[str, Any] = json.loads(stated)
    shares = dict(recruiting["Shares"]) if divides else {}
    divided: list[Filter] = []
    for each in filters:
        weightings = (
            shares.pop(type_id_of(each.filter_id), None) if isinstance(each, Choice) else None
        )
        if weightings is None or not isinstance(each, Choice):
            divided.append(each)
            continue
        if set(weightings) != set(each.values):
            raise Unusable(
                f"the shares of {each.filter_id} are of other choices than those that are required"
            )
        divided.append(replace(each, weightings=weightings))
    if shares:
        raise Unusable(f"there are shares of {min(shares)}, but no requirement on its choices")
    for filter_id, name in ((ALLOWED, "Only"), (BLOCKED, "Not")):
        if recruiting[name]:
            divided.append(Choice(filter_id=filter_id, values=recruiting[name]))
    return divided
