"""What a schedule may do with a campaign: a file beside it, on the worker's machine.

Whoever reaches Prefect's API can start a deployment with parameters of their own. So
where passes go, whether people work and what they may cost is in no parameter, but in
`birds.deployment.toml` beside `birds.toml`, which only its owner writes.
"""

import tomllib
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from piecework.config.campaign_file import schema_faults
from piecework.config.utf8 import read_text
from piecework.domain.errors import ConfigError


class Deployment(BaseModel):
    """One such file.

    Attributes:
        endpoint: URL of the marketplace.
        rehearsal: the marketplace is a rehearsal's (`piecework crowd`).
        live: real people work; needed for a marketplace on another machine.
        spend_at_most: what the whole campaign may take, as text in its currency;
            empty: as it was agreed before.
        credentials_block: name of a Prefect `Secret` block with keys; empty: boto3's
            own chain.
        allow_second_store: begin although the marketplace has HITs of a campaign of
            this name from another store.
    """

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    endpoint: str
    rehearsal: bool = False
    live: bool = False
    spend_at_most: str = ""
    credentials_block: str = ""
    allow_second_store: bool = False


def deployment_path(campaign: Path) -> Path:
    """The file beside a campaign's.

    >>> deployment_path(Path("a/birds.toml")).as_posix()
    'a/birds.deployment.toml'
    """
    return campaign.with_suffix(".deployment.toml")


def read_deployment(campaign: Path) -> Deployment:
    """What a schedule may do with the campaign of a file.

    Raises:
        ConfigError: there is no such file beside it, or it has faults.
    """
    path = deployment_path(campaign)
    text = read_text(
        path,
        name="deployment file",
        next_step='write it: endpoint = "http://127.0.0.1:8080"; a schedule takes '
        "endpoint, live and amounts from there alone (docs/how-to/schedule.md)",
    )
    try:
        return Deployment.model_validate(tomllib.loads(text))
    except ValidationError as fault:
        raise ConfigError(schema_faults(path, text, fault)) from fault
    except (ValueError, RecursionError) as fault:  # as of a campaign file
        raise ConfigError([f"{path}: no valid TOML: {fault}"]) from fault
