"""What a schedule may do with a campaign: a file beside it, on the worker's machine.

Anyone who reaches Prefect's API can start a deployment with parameters of their own. So
no parameter says where passes go, whether people work and what they may cost. The file
`birds.deployment.toml` beside `birds.toml` does, which only its owner writes.
"""

import tomllib
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from piecework.config.schema_faults import schema_faults
from piecework.config.utf8 import read_text
from piecework.domain.errors import ConfigError


class Deployment(BaseModel):
    """A deployment file.

    Attributes:
        endpoint: URL of the marketplace.
        rehearsal: the marketplace is a rehearsal's (`piecework crowd`).
        live: real people work; required for a marketplace on another machine.
        spend_at_most: the most that the whole campaign may cost, as text in its
            currency; empty: as agreed before.
        credentials_block: name of a Prefect `Secret` block with keys; empty: boto3's
            own chain.
        allow_second_store: start even if the marketplace has HITs of a campaign with
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
    """Return the path of the file beside a campaign file.

    >>> deployment_path(Path("a/birds.toml")).as_posix()
    'a/birds.deployment.toml'
    """
    return campaign.with_suffix(".deployment.toml")


def read_deployment(campaign: Path) -> Deployment:
    """Read what a schedule may do with a campaign.

    Raises:
        ConfigError: there is no deployment file beside it, or the file has faults.
    """
    path = deployment_path(campaign)
    text = read_text(
        path,
        name="deployment file",
        next_step='write it: endpoint = "http://127.0.0.1:8080"; a schedule takes '
        "endpoint, live and amounts only from this file (docs/how-to/schedule.md)",
    )
    try:
        return Deployment.model_validate(tomllib.loads(text))
    except ValidationError as fault:
        raise ConfigError(schema_faults(path, text, fault)) from fault
    except (ValueError, RecursionError) as fault:  # as for a campaign file
        raise ConfigError([f"{path}: not valid TOML: {fault}"]) from fault


def endpoint_of(campaign: Path) -> str:
    """Return the endpoint that a deployment file names; "" without such a file."""
    path = deployment_path(campaign)
    if not path.is_file():
        return ""
    try:
        endpoint = tomllib.loads(path.read_text("utf-8")).get("endpoint", "")
    except (OSError, ValueError, RecursionError):
        return ""  # Reading it for a pass says what is wrong.
    return endpoint if isinstance(endpoint, str) else ""
