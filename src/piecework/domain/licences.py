"""Licences that datasets are published under, by their SPDX identifiers."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Licence:
    """A licence by name, with the address of its text.

    Attributes:
        spdx: its SPDX identifier, or the requester's name for it.
        url: the address of its text.
        hub: its name on the Hugging Face hub.
    """

    spdx: str
    url: str
    hub: str = "other"


_CREATIVE_COMMONS = (
    *(f"by-{version}" for version in ("2.0", "3.0", "4.0")),
    *(f"by-sa-{version}" for version in ("3.0", "4.0")),
    *(f"by-nc-{version}" for version in ("2.0", "3.0", "4.0")),
    *(f"by-nc-sa-{version}" for version in ("2.0", "3.0", "4.0")),
    *(f"by-nc-nd-{version}" for version in ("3.0", "4.0")),
    "by-nd-4.0",
)


def _creative_commons(terms: str) -> Licence:
    """Return the licence of terms such as `by-sa-4.0`.

    >>> _creative_commons("by-sa-4.0").url
    'https://creativecommons.org/licenses/by-sa/4.0/'
    """
    kind, _, version = terms.rpartition("-")
    return Licence(
        spdx=f"CC-{terms.upper()}",
        url=f"https://creativecommons.org/licenses/{kind}/{version}/",
        hub=f"cc-{terms}",
    )


_OTHERS = (
    ("CC0-1.0", "https://creativecommons.org/publicdomain/zero/1.0/", "cc0-1.0"),
    ("ODbL-1.0", "https://opendatacommons.org/licenses/odbl/1-0/", "odbl"),
    ("ODC-By-1.0", "https://opendatacommons.org/licenses/by/1-0/", "odc-by"),
    ("PDDL-1.0", "https://opendatacommons.org/licenses/pddl/1-0/", "pddl"),
    ("CDLA-Permissive-2.0", "https://cdla.dev/permissive-2-0/", "cdla-permissive-2.0"),
    ("CDLA-Sharing-1.0", "https://cdla.dev/sharing-1-0/", "cdla-sharing-1.0"),
    ("MIT", "https://opensource.org/license/mit", "mit"),
    ("Apache-2.0", "https://www.apache.org/licenses/LICENSE-2.0", "apache-2.0"),
)

LICENCES: Mapping[str, Licence] = {
    licence.spdx: licence
    for licence in (
        *(Licence(spdx=spdx, url=url, hub=hub) for spdx, url, hub in _OTHERS),
        *map(_creative_commons, _CREATIVE_COMMONS),
    )
}
"""Licences that need no address in a campaign file, by SPDX identifier."""


def licence_named(name: str, url: str = "") -> Licence | None:
    """Return the licence of a name in any case; an unknown one needs a url.

    >>> licence_named("cc-by-4.0").spdx, licence_named("CC-BY")
    ('CC-BY-4.0', None)
    """
    known = {spdx.casefold(): licence for spdx, licence in LICENCES.items()}
    licence = known.get(name.casefold())
    if licence is None and url:
        return Licence(spdx=name, url=url)
    return licence
