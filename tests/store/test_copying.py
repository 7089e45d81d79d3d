"""A copy of a store is equal, whole, and goes on where the store was."""

import os
import signal
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from piecework.domain.clock import FixedClock
from piecework.domain.errors import CampaignBusy, StoreError
from piecework.domain.hit import PlannedHit
from piecework.domain.ids import AssignmentId, HitId, HitKey, WorkerId
from piecework.domain.qualifications import ItemOutcome
from piecework.domain.store_address import StoreAddress, in_folder, store_address
from piecework.domain.verdicts import Decision, SubjectKind, Verdict, WordVerdict
from piecework.store import (
    bound,
    copying,
    decisions,
    generations,
    hits,
    intents,
    ledger,
    results,
    reviews,
)
from piecework.store.copying import copy, resolved
from piecework.store.database import Store, exists, open_store, writing
from piecework.store.earned_records import open_records, shared_records
from piecework.store.files import SCHEMA
from piecework.store.intents import Intent
from piecework.store.lock import only_pass
from piecework.store.postgres import sessions
from tests.conftest import in_full
from tests.crash.apart import apart
from tests.store.answered import answered_hits

START = datetime(2026, 1, 5, 9, tzinfo=UTC)


def _decision(kind: SubjectKind, subject: str, verdict: Verdict) -> Decision:
    return Decision(
        subject_kind=kind,
        subject_id=subject,
        verdict=verdict,
        decided_by="ada",
        decided_at=START,
        because="of “quotes”, é, and a tab:\t",
    )


@pytest.fixture
def file(tmp_path: Path) -> StoreAddress:
    """A store in a file, with rows in many tables, and gaps in their numbers."""
    address = in_folder(tmp_path / "birds")
    with closing(open_store(address, create=True)) as store:
        bound.bind(store, "name", "a test")
        bound.bind(store, "campaign", "birds")
        generations.begin_generation(store, at=START)
        answered_hits(
            store, {"H1": (1, "ab"), "H2": (1, "ba"), "H3": (2, "c")}, ("ann", "bob"),
            at=START,
        )  # fmt: skip
        results.keep_word(
            store, WordVerdict(word="teh", meant=None, reviewer="ada", reviewed_at=START)
        )
        with writing(store):
            act = reviews.add_reviews(store, [_decision("answer", "H1-ann.2", "drop")], along=[])
            reviews.take_back(store, act, at=START, by="ada")
            ada = reviews.Identity(name="ada", role="reviewer", issuer="i", subject="s")
            reviews.add_event(store, "signed in", ada, at=START)
            assert reviews.name_of(store, "i", "s", wanted="ada") == "ada (2)"
            intents.declare(
                store,
                Intent(key="bonus:x", operation="bonus", subject=("hit", "H1")),
                FixedClock(START),
            )
            ledger.book_payment(store, {"bonuses": 7}, intent_key="bonus:x", batch=1, at=START)
        _decide(store, "H1-ann")
    return address


def _decide(store: Store, assignment_id: str) -> None:
    decisions.keep_decisions(
        store,
        [
            _decision("assignment", assignment_id, "approve"),
            _decision("answer", f"{assignment_id}.1", "keep"),
        ],
    )


@pytest.fixture
def schema(postgres_url: str, tmp_path: Path) -> StoreAddress:
    """Where a test may have a copy in PostgreSQL."""
    folder = tmp_path / tmp_path.name
    return store_address(folder, campaign="birds", url=postgres_url)


def _rows(address: StoreAddress) -> dict[str, list[tuple[object, ...]]]:
    with closing(open_store(address)) as store:
        return {
            table.name: [row for rows in _chunks(store, table.in_order) for row in rows]
            for table in copying.tables_of(SCHEMA)
        }


def _chunks(store: Store, query: str) -> Iterator[list[tuple[object, ...]]]:
    with store.db.atomic():
        yield from store.db.chunks(query, size=3)


def test_a_copy_to_postgresql_and_back_is_equal(
    file: StoreAddress, schema: StoreAddress, tmp_path: Path
) -> None:
    """All rows of all tables, with their numbers, and the count of changes."""
    back = in_folder(tmp_path / "back")
    copied, again = copy(file, schema), copy(schema, back)
    assert copied == again
    assert _rows(file) == _rows(schema) == _rows(back)
    assert copied.rows["answers"] == 10
    assert copied.rows["bound"] == 1
    stores = [open_store(address) for address in (file, schema, back)]
    assert len({store.changes() for store in stores}) == 1
    for store in stores:
        store.close()


def test_work_goes_on_in_the_copy_as_in_the_store(
    file: StoreAddress, schema: StoreAddress, tmp_path: Path
) -> None:
    """Triggers work again, later rows have later numbers, and passes end."""
    back = in_folder(tmp_path / "back")
    copy(file, schema)
    copy(schema, back)
    for address in (file, schema, back):
        with closing(open_store(address)) as store:
            _decide(store, "H2-bob")
            hits.reopen(store, HitId("H3"))
            hits.plan(store, [_again(hits.load_hits(store)[0])])
            assert [hit.hit_key for hit in hits.load_hits(store)][-1] == "H1.again"
            assert decisions.latest_decisions(store, [("assignment", "H2-bob")])
            assert hits.of_assignment(store, AssignmentId("H2-bob")).hit_key == "H2"
    for table in ("balances", "item_counts", "verdict_counts", "hit_counts", "items"):
        assert _rows(file)[table] == _rows(schema)[table] == _rows(back)[table]


def _again(hit: PlannedHit) -> PlannedHit:
    return replace(
        hit, hit_key=HitKey(f"{hit.hit_key}.again"), hit_id=None, posted_at=None, collected_at=None
    )


def test_a_copy_replaces_no_store(file: StoreAddress, schema: StoreAddress, tmp_path: Path) -> None:
    """Neither one in a database nor one in a file; both stay as they are."""
    copy(file, schema)
    before = _rows(schema)
    with pytest.raises(StoreError, match="there is a store already"):
        copy(file, schema)
    assert _rows(schema) == before
    other = in_folder(tmp_path / "other")
    open_store(other, create=True).close()
    with pytest.raises(StoreError, match="there is a store already"):
        copy(schema, other)
    assert _rows(other)["hits"] == []


def test_what_a_pass_works_on_is_not_copied(file: StoreAddress, schema: StoreAddress) -> None:
    """Nor is it copied to."""
    with only_pass(file), pytest.raises(CampaignBusy, match="is working on"):
        copy(file, schema)
    with only_pass(schema), pytest.raises(CampaignBusy, match="is working on"):
        copy(file, schema)
    assert not exists(schema)


def _copy_and_die(source: StoreAddress, target: StoreAddress) -> None:
    copy_table = copying._copy_table

    def dying(table: "copying._Table", *rest: object) -> int:
        if table.name == "ledger":
            os.kill(os.getpid(), signal.SIGKILL)
        return copy_table(table, *rest)  # type: ignore[arg-type]

    copying._copy_table = dying  # type: ignore[assignment]
    copy(source, target)


@pytest.mark.parametrize("to_database", [True, *in_full((False,))])
def test_a_copy_that_is_killed_half_way_leaves_nothing(
    file: StoreAddress, schema: StoreAddress, tmp_path: Path, *, to_database: bool
) -> None:
    """The next attempt finds no store there, and succeeds."""
    target = schema if to_database else in_folder(tmp_path / "copy")
    process = apart().Process(target=_copy_and_die, args=(file, target))
    process.start()
    process.join(240)
    assert process.exitcode == -signal.SIGKILL
    assert not exists(target)
    copy(file, target)
    assert _rows(target) == _rows(file)


@pytest.mark.parametrize("to_database", [True, False])
def test_a_copy_that_differs_is_not_kept(
    file: StoreAddress,
    schema: StoreAddress,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    *,
    to_database: bool,
) -> None:
    """A trigger, a disk or a bug may change a value on its way."""
    target = schema if to_database else in_folder(tmp_path / "copy")
    copy_table = copying._copy_table

    def changing(table: "copying._Table", old: Store, new: Store, note: object) -> int:
        number = copy_table(table, old, new, note)  # type: ignore[arg-type]
        if table.name == "answers":
            new.db.execute("UPDATE answers SET position = 9 WHERE number = 1")
        return number

    monkeypatch.setattr(copying, "_copy_table", changing)
    with pytest.raises(StoreError, match="the copy differs from"):
        copy(file, target)
    assert not exists(target)


def test_addresses_are_folders_files_or_urls(file: StoreAddress, tmp_path: Path) -> None:
    """A schema is named after the campaign, or written after the URL."""
    url = "postgresql://ann@host/db"
    old, new = resolved(str(file.folder), url)
    assert (old, new.url, new.schema) == (file, url, "piecework_birds")
    assert resolved(str(file.path), f"{url}#other")[1].schema == "other"
    old, new = resolved(f"{url}#piecework_birds", str(tmp_path / "back"))
    assert (old.schema, new) == ("piecework_birds", in_folder(tmp_path / "back"))
    old, new = resolved(f"{url}#piecework_birds", "postgresql://ann@other/db")
    assert new.schema == "piecework_birds"


def test_records_of_earned_qualifications_are_copied_too(tmp_path: Path, postgres_url: str) -> None:
    """To the schema where campaigns of that database look for them, and back."""
    # Stores of one database share records with the same file name.
    file = StoreAddress(path=tmp_path / f"{tmp_path.name}.db")
    outcome = ItemOutcome(at=START, campaign="birds/x", item_id="a", agrees=True)
    with open_records(file, "market") as records:
        records.contribute("captions", "birds/x", [(WorkerId("ann"), outcome)], decisions="1")
    old, new = resolved(str(file.path), postgres_url)
    birds = store_address(tmp_path / "birds", campaign="birds", url=postgres_url)
    assert new.schema == shared_records(file.path, birds).schema
    back = StoreAddress(path=tmp_path / "back/earned.db")
    assert copy(old, new) == copy(new, back)
    for address in (new, back):
        with open_records(address, "market") as records:
            assert records.outcomes("captions") == {"ann": [outcome]}
            assert records.contribution("captions", "birds/x") == "1"
    with pytest.raises(StoreError, match="there is a store already"):
        copy(file, new)


def test_the_only_store_of_a_database_needs_no_schema(
    file: StoreAddress, schema: StoreAddress, tmp_path: Path
) -> None:
    """With several, the message lists them."""
    copy(file, schema)
    stores = sessions.schemas(schema)
    assert schema.schema in stores
    if stores == [schema.schema]:
        assert resolved(schema.url, str(tmp_path))[0].schema == schema.schema
    else:
        with pytest.raises(StoreError, match=f"has {len(stores)} stores") as several:
            resolved(schema.url, str(tmp_path / "back"))
        assert f"#{schema.schema}" in several.value.next_step
