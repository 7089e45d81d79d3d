"""boto3's client of the requester API; only this module creates it."""

import os
from typing import TYPE_CHECKING

import boto3
import botocore
from botocore.config import Config
from botocore.exceptions import BotoCoreError

from piecework.domain.errors import ConfigError
from piecework.platforms.calling import (
    Outage,
    Pace,
    hear_only_the_marketplace,
    keep_pace,
    wait_for_the_marketplace,
)
from piecework.platforms.clocks import watch_clock
from piecework.platforms.endpoint import known_key
from piecework.platforms.traced_calls import trace_calls

if TYPE_CHECKING:
    from mypy_boto3_mturk import MTurkClient

_CONNECTIONS = 32
_USER_AGENT = f"piecework boto3/{boto3.__version__} botocore/{botocore.__version__}"


OWN_KEYS = ("PIECEWORK_ACCESS_KEY_ID", "PIECEWORK_SECRET_ACCESS_KEY")
"""Environment variables with the marketplace's keys, if AWS's own are for buckets."""


def turk_client(
    endpoint: str,
    *,
    access_key: str | None,
    secret_key: str | None,
    patience_seconds: float | None = None,
) -> "MTurkClient":
    """Return a client that keeps a pace, waits out outages, and checks replies.

    Without keys, it takes those of `OWN_KEYS`, else that beside the campaign
    (`platforms.key_file`), else boto3's.

    Raises:
        ConfigError: boto3 cannot use the AWS settings of this machine, or only one of
            `OWN_KEYS` is set.
    """
    if access_key is None:
        access_key, secret_key = _own_keys(endpoint)
    try:
        # A separate session: boto3's default one is shared and not thread-safe.
        session = boto3.session.Session()
        chain = session.get_credentials() if access_key is None else None
        used_key = access_key or (chain.access_key if chain else "")
        client = session.client(
            "mturk",
            region_name="us-east-1",
            endpoint_url=endpoint,
            aws_access_key_id=access_key,
            aws_secret_access_key=secret_key,
            # Safe to repeat: every call that spends carries a token or is looked up
            # first. MTurk throttles without a published rate.
            config=Config(
                retries={"mode": "standard", "max_attempts": 6},
                connect_timeout=10,
                read_timeout=60,
                max_pool_connections=_CONNECTIONS,
                # botocore would build its own twice for each call, which is a fifth of
                # this process's work per call.
                user_agent=_USER_AGENT,
            ),
        )
    # botocore raises its own error, except for an address that it does not accept.
    except (BotoCoreError, ValueError) as fault:
        raise ConfigError(
            [f"boto3 cannot use this machine's AWS settings: {fault}"],
            next_step="env | grep AWS_ shows them, others are in ~/.aws; correct or "
            "unset the one that is named",
        ) from fault
    wait_for_the_marketplace(client.meta.events, Outage(endpoint, patience_seconds))
    keep_pace(client.meta.events, Pace())
    hear_only_the_marketplace(client.meta.events, endpoint, used_key)
    trace_calls(client.meta.events)
    watch_clock(client.meta.events, endpoint)
    return client


def _own_keys(endpoint: str) -> tuple[str | None, str | None]:
    access_key, secret_key = (os.environ.get(name) or None for name in OWN_KEYS)
    if (access_key is None) != (secret_key is None):
        missing = OWN_KEYS[0 if access_key is None else 1]
        raise ConfigError([f"the environment variable {missing} is not set"])
    beside = known_key(os.environ)
    if access_key is None and beside is not None and beside.endpoint == endpoint:
        return beside.access_key, beside.secret_key
    return access_key, secret_key
