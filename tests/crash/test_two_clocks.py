"""Two machines with clocks an hour apart make passes in turn over one store."""

import itertools
from contextlib import closing
from pathlib import Path

import httpx
import pytest

from piecework.config.campaign_file import parse
from piecework.domain.store_address import StoreAddress
from piecework.store.database import open_store
from tests.conftest import in_full
from tests.crash.campaign import MOST_PASSES, check_store
from tests.crash.disturbed import pass_apart
from tests.crash.people import WITH_A_HALF, People
from tests.crash.world import World
from tests.small_campaign import CAMPAIGN, write_campaign
from tests.stores import KINDS, stored_in

HOUR = 3600


@pytest.mark.parametrize(
    ("store_url", "clocks"),
    [
        ("postgresql", (HOUR, 0)),
        *in_full(
            *(
                (kind, clocks)
                for kind in KINDS
                for clocks in ((HOUR, 0), (0, HOUR), (-HOUR, 0), (HOUR, -HOUR))
                if (kind, clocks) != ("postgresql", (HOUR, 0))
            )
        ),
    ],
    indirect=["store_url"],
)
def test_passes_by_clocks_an_hour_apart_end_with_the_same_books(
    tmp_path: Path, store_url: str, clocks: tuple[float, ...]
) -> None:
    """Nothing is paid early, waited for, or done twice; times never run backwards."""
    text = stored_in(CAMPAIGN, tmp_path, store_url)
    address = parse(write_campaign(tmp_path, text)).store
    store = address if store_url else tmp_path / "out/crash/piecework.db"
    world = World(tmp_path, address=address)
    made: dict[str, str] = {}
    with world.marketplace(apart=False):
        people = People(world.endpoint, script=WITH_A_HALF)
        for world.jumped in itertools.islice(itertools.cycle(clocks), MOST_PASSES):
            end = pass_apart(world)
            assert end.code == 0, end
            intents = _intents(store)
            new = [at for key, at in intents.items() if key not in made]
            assert min(new, default="z") > max(made.values(), default="")
            made = intents
            if end.output.strip() == "nobody":
                break
            people.work()
        else:
            raise AssertionError(f"{MOST_PASSES} passes were not enough")
        books = httpx.get(f"{world.endpoint}/rehearsal/books").json()
        check_store(books, store)


def _intents(address: StoreAddress | Path) -> dict[str, str]:
    """Return when each intent was made."""
    with closing(open_store(address)) as store:
        return dict(store.db.execute("SELECT intent_key, made_at FROM intents"))
