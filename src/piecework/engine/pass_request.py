"""What a command or a schedule asks a pass to do: one value for both."""

import hashlib
import json
from copy import copy
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, WithJsonSchema

from piecework.campaign.provenance import inputs_of
from piecework.config.campaign_file import CampaignFile, parse
from piecework.config.input_tables import is_read_as_it_arrives
from piecework.domain.campaign import Campaign
from piecework.domain.clock import SystemClock
from piecework.domain.errors import ConfigError
from piecework.domain.money import Currency, cents_from_text
from piecework.store.files import SCHEMA


def _absolute(campaign: str) -> str:
    if not Path(campaign).is_absolute():
        raise ValueError(
            f"the campaign's path {campaign!r} is relative, but a worker runs in its "
            "own folder; deploy it with an absolute path, in prefect.yaml as "
            '"{{ $PWD }}/…" (docs/how-to/schedule.md)'
        )
    return campaign


CampaignPath = Annotated[
    str,
    AfterValidator(_absolute),
    WithJsonSchema(
        {
            "type": "string",
            "pattern": "^/",
            "description": "absolute path of the campaign file, where its store is",
        }
    ),
]
"""A flow's parameter that names a campaign file.

A relative path would mean a different file, with a different store, in each checkout.
So Prefect's server refuses one by the schema at deployment and when a run is started,
and the flow refuses one that an earlier deployment holds.
"""


@dataclass(frozen=True, kw_only=True)
class PassRequest:
    """One pass over one campaign in one environment.

    Attributes:
        campaign: path of the campaign file.
        endpoint: URL of the marketplace.
        live: real people work; needed for a marketplace on another machine.
        spend_at_most_cents: what the whole campaign may spend; `None`: as agreed
            before.
        by_schedule: a schedule states this amount, which counts when it changes.
        rehearsal: the marketplace is a rehearsal's, with simulated workers.
        allow_second_store: begin although the marketplace has HITs of a campaign of
            this name from another store.
    """

    campaign: Path
    endpoint: str
    live: bool = False
    spend_at_most_cents: int | None = None
    by_schedule: bool = False
    rehearsal: bool = False
    allow_second_store: bool = False

    @cached_property
    def file(self) -> CampaignFile:
        """The campaign file, read once for the whole pass.

        Of a rehearsal: its copy (`piecework.campaign.rehearsal_folders.go_on`).

        Raises:
            ConfigError: the campaign file cannot be read.
        """
        file = parse(self.campaign)
        if not self.rehearsal:
            return file
        from piecework.campaign.rehearsal_folders import go_on  # noqa: PLC0415 - live work does without

        return go_on(file, completed=self._completed)

    @cached_property
    def assembled(self) -> Campaign:
        """The campaign with its task and items, read once for the whole pass.

        Raises:
            ConfigError: every error in the file, its items, heuristics and policy.
        """
        from piecework.campaign.assembling import assemble  # noqa: PLC0415 - a look at the store alone does without

        return assemble(self.file)

    @staticmethod
    def _completed(file: CampaignFile) -> str:
        from piecework.campaign.assembling import assemble  # noqa: PLC0415 - as above
        from piecework.campaign.deriving import complete_text  # noqa: PLC0415 - as above

        return complete_text(assemble(file))

    def to_look(self) -> "PassRequest":
        """Return the same request on the campaign as it is; of a rehearsal, nothing begins."""
        from piecework.campaign.rehearsal_folders import at_number, latest_rehearsal  # noqa: PLC0415 - as above

        changed, file = copy(self), parse(self.campaign)
        number = latest_rehearsal(file) if self.rehearsal else None
        changed.__dict__["file"] = file if number is None else at_number(file, number)
        return changed

    def spending(self, cents: int | None) -> "PassRequest":
        """Return the same request with this amount; files already read are kept."""
        changed = copy(self)
        object.__setattr__(changed, "spend_at_most_cents", cents)
        return changed

    def digest(self) -> str:
        """Return a hash of the request and of everything that the campaign names.

        The names of the store's migrations count too, so that a version of piecework
        does not rely on the last pass of a later one.

        For an items file that grows, size and time count: it may be large. A source
        outside is always different, because only reading it tells.

        Raises:
            ConfigError: the campaign file cannot be read.
        """
        items = self.file.tables.items
        facts = [_facts(self.campaign.parent / items.file)] if items.file else []
        if (
            items.query
            or is_read_as_it_arrives(items.file)
            or "://" in (self.file.tables.pictures or "")
        ):
            facts = [SystemClock().now().isoformat()]
        digests = dict(inputs_of(self.file).digests)
        schema = sorted(file.name for file in SCHEMA.iterdir())
        request = json.dumps(
            [digests, facts if self.file.tables.grows is not None else [], schema, asdict(self)],
            sort_keys=True,
            default=str,
        )
        return hashlib.sha256(request.encode()).hexdigest()


def _facts(file: Path) -> str:
    """Return what shows that a file was changed, without reading it."""
    try:
        stat = file.stat()
    except OSError as fault:
        return str(fault.strerror)
    return f"{stat.st_size} {stat.st_mtime_ns} {stat.st_ino}"


def amount_cents(text: str, currency: Currency, *, option: str = "--spend-at-most") -> int:
    """Convert an amount that a person wrote to cents of a campaign's currency.

    Raises:
        ConfigError: the text is not an amount of that currency.
    """
    try:
        return cents_from_text(text, currency)
    except ValueError as fault:
        raise ConfigError([f"{option} {fault}"]) from fault
