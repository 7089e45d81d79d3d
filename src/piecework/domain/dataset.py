"""Settings of a dataset: how it is split, its licence, and facts that only its makers know.

Licences have their SPDX identifiers.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal


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


Split = Literal["train", "val", "test"]
SPLITS: tuple[Split, ...] = ("train", "val", "test")

Pictures = Literal["addresses", "files"]
"""Whether a dataset has only the addresses of its pictures, or also the files."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shares:
    """How the items are divided into splits, in per cent; the rest is the test split.

    Attributes:
        group_by: a column of the items; items with the same value share a split. The
            default is the picture (`url`).
        fixed_by: a column of the items with their split; items without a value are
            divided by the shares. "" for none.
        are_stable: items may be added later, and the splits of the others must stay.
    """

    train_percent: int = 70
    val_percent: int = 10
    group_by: str = ""
    fixed_by: str = ""
    are_stable: bool = False

    @property
    def test_percent(self) -> int:
        """What the other two splits leave."""
        return 100 - self.train_percent - self.val_percent


@dataclass(frozen=True, slots=True, kw_only=True)
class Sink:
    """Where else the releases of a dataset are written.

    Attributes:
        to: a folder or bucket, or the URL of a database; may have `${VARIABLES}`.
        table: the table in that database; "" for a folder.
        has_history: whether the database keeps each change, and not the latest state.
        is_manifest: whether the folder gets augmented manifests of SageMaker's.
    """

    to: str
    table: str = ""
    has_history: bool = False
    is_manifest: bool = False


STATEMENTS = (*("licence", "items_licence", "contact"), *("citation", "consent", "ethics"))
"""Facts without which a dataset should not be published."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Publication:
    """What a campaign file tells users of the dataset; "" means not stated.

    Attributes:
        title: the title of the dataset.
        version: the version of the dataset, as three numbers.
        licence: the licence of the answers.
        items_licence: the licence of the items (the pictures), usually chosen by
            someone else.
        contact: whom to ask, and who corrects errors.
        citation: how to cite it, as text or BibTeX.
        consent: what workers were told and agreed to.
        ethics: ethics review, risks, and who might be harmed.
        homepage: an address.
        tags: search terms.
    """

    title: str = ""
    version: str = "1.0.0"
    licence: Licence | None = None
    items_licence: Licence | None = None
    contact: str = ""
    citation: str = ""
    consent: str = ""
    ethics: str = ""
    homepage: str = ""
    tags: tuple[str, ...] = ()
    pictures: Pictures = "addresses"
    shares: Shares = field(default_factory=Shares)

    @property
    def missing(self) -> tuple[str, ...]:
        """The keys of a file of `card` without which it should not be published.

        >>> Publication(contact="ada@example.org", citation="x").missing
        ('licence', 'items_licence', 'consent', 'ethics')
        """
        return tuple(name for name in STATEMENTS if not getattr(self, name))
