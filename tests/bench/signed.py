"""A live requester whose calls are signed by botocore before they are measured."""

import json
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path

from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

from piecework.marketplace.requester.api import perform_operation
from piecework.marketplace.requester.wire import TARGET_PREFIX
from piecework.marketplace.state import accounts
from piecework.marketplace.state.accounts import Key
from piecework.marketplace.state.backend import Backend, Rules
from tests.bench.line import request_of


class LiveRequester:
    """A requester with a key and enough money, in a new live marketplace.

    Args:
        database: of the marketplace, which is made.
        hit: members of CreateHIT.

    Attributes:
        site: where the marketplace is, which signatures cover; set before a call.
    """

    def __init__(self, database: Path, hit: Mapping[str, object]) -> None:
        with closing(Backend(database, Rules())) as backend:
            with backend.transaction() as transaction:
                self._key = accounts.give_key(transaction, "Bench", deposit_cents=10**9)
            made = perform_operation(backend, self._key.access_key, "CreateHIT", dict(hit))["HIT"]
        self._new = {
            "HITTypeId": made["HITTypeId"],
            "LifetimeInSeconds": hit["LifetimeInSeconds"],
            "Question": hit["Question"],
        }
        self._hit_id = made["HITId"]
        self._made = 0
        self.site = ""

    def new_hit(self) -> bytes:
        """One more HIT; each is another request, so each signature is new."""
        self._made += 1
        return self._signed("CreateHITWithHITType", UniqueRequestToken=f"{self._made}", **self._new)

    def look(self) -> bytes:
        """What may be repeated freely."""
        return self._signed("GetHIT", HITId=self._hit_id)

    def _signed(self, operation: str, **members: object) -> bytes:
        return signed_call(self._key, self.site, operation, members)


def signed_call(key: Key, site: str, operation: str, members: Mapping[str, object]) -> bytes:
    """A requester's call as bytes, signed as boto3 signs it, now."""
    body = json.dumps(members).encode()
    request = AWSRequest(
        method="POST",
        url=f"{site}/",
        data=body,
        headers={
            "Content-Type": "application/x-amz-json-1.1",
            "X-Amz-Target": f"{TARGET_PREFIX}{operation}",
        },
    )
    credentials = Credentials(key.access_key, key.secret)
    SigV4Auth(credentials, "mturk-requester", "us-east-1").add_auth(request)
    headers = (f"{name}: {value}" for name, value in request.headers.items())
    return request_of("POST /", body, *headers)
