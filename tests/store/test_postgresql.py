"""A store in PostgreSQL: its schema, its transactions, and what it refuses."""

import re
import secrets
import sqlite3
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import quote, urlsplit

import psycopg
import pytest
from psycopg import sql

from piecework.domain.errors import CampaignBusy, ConfigError, RefusedForSafety, StoreError
from piecework.domain.inputs import Inputs
from piecework.domain.store_address import StoreAddress, store_address
from piecework.store import bound, campaign_facts, last_pass
from piecework.store.connection import Connection
from piecework.store.database import Store, exists, insert, open_store, writing
from piecework.store.earned_records import open_records, own_records
from piecework.store.lock import only_pass
from piecework.store.postgres import migrations
from piecework.store.postgres.database import translated
from tests.postgres_server import new_database

AT = datetime(2026, 1, 5, 9, tzinfo=UTC)


@pytest.fixture
def address(postgres_url: str, tmp_path: Path) -> StoreAddress:
    """Where a new store may be: a schema of PostgreSQL."""
    return store_address(tmp_path, campaign="test", url=postgres_url)


@pytest.fixture
def admin(postgres_url: str) -> Iterator["psycopg.Connection[tuple[object, ...]]"]:
    """The database's administrator."""
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        yield connection


def _columns_of_file(path: Path) -> dict[str, dict[str, tuple[str, bool]]]:
    """Type of each column, and whether it must be filled, by table."""
    with closing(sqlite3.connect(path)) as file:
        tables = [
            name
            for (name,) in file.execute(
                "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE '%sqlite%'"
            )
        ]
        return {
            table: {
                name: (kind, bool(must) or bool(key))
                for _, name, kind, must, _, key in file.execute(f"PRAGMA table_info({table})")
            }
            for table in tables
        }


def _columns_in_database(db: Connection) -> dict[str, dict[str, tuple[str, bool]]]:
    """The same for the schema of a session, without what PostgreSQL alone has.

    All text is compared byte by byte.
    """
    kinds = {"bigint": "INTEGER", "text": "TEXT", "double precision": "REAL"}
    kinds |= {"bytea": "BLOB"}
    tables: dict[str, dict[str, tuple[str, bool]]] = {}
    for table, column, kind, collation, is_optional in db.execute(
        "SELECT table_name::text, column_name::text, data_type::text, "
        "collation_name::text, is_nullable::text FROM information_schema.columns "
        "WHERE table_schema = current_schema()"
    ):
        tables.setdefault(table, {})[column] = (kinds[kind], is_optional == "NO")
        assert (collation == "C") == (kind == "text") or table == "schema_migrations"
    assert set(tables.pop("store_counts")) == {"only_row", "writes", "changes"}
    assert set(tables.pop("schema_migrations")) == {"name", "applied_at"}
    return tables


def test_both_schemas_have_the_same_tables_and_columns(store: Store, tmp_path: Path) -> None:
    """What PostgreSQL's has more has a reason."""
    open_store(tmp_path / "file.db", create=True).close()
    tables = _columns_in_database(store.db)
    assert set(tables.pop("archive_files")) == {"part", "kind", "content"}
    for table in ("dealt_items", "hits", "imported_items", "intents"):
        assert tables[table].pop("rowid") == ("INTEGER", True)
    assert tables == _columns_of_file(tmp_path / "file.db")


def test_both_schemas_of_records_have_the_same_tables_and_columns(
    address: StoreAddress, tmp_path: Path
) -> None:
    """Those of earned qualifications."""
    file = StoreAddress(path=tmp_path / "earned.db")
    with open_records(file, "m"), open_records(own_records(address), "m") as records:
        assert _columns_in_database(records.db) == _columns_of_file(file.path)


def test_both_schemas_have_the_same_indexes(store: Store, tmp_path: Path) -> None:
    """A query that is fast in a file is fast in PostgreSQL."""
    open_store(tmp_path / "file.db", create=True).close()
    with closing(sqlite3.connect(tmp_path / "file.db")) as file:
        names = {
            name
            for (name,) in file.execute(
                "SELECT name FROM sqlite_master WHERE type = 'index' AND sql <> '' "
                "AND name NOT LIKE '%sqlite%'"
            )
        }
    rows = store.db.execute(
        "SELECT indexname::text FROM pg_indexes WHERE schemaname = current_schema()"
    )
    assert names <= {name for (name,) in rows}


@pytest.mark.parametrize(
    ("expression", "values"),
    [
        ("iif(? > 1, 'more', 'less')", [2]),
        ("min(?, 2)", [3]),
        ("max(?, 2)", [3]),
        ("min(2, nullif(?, 2))", [2]),
        ("max(nullif(?, 2), 2)", [2]),
        ("json_array_length(?)", ['["a", "b"]']),
        ("json_extract(?, '$[1]')", ['["a", "b"]']),
        ("json_extract(?, '$.cents')", ['{"dollars": "1", "cents": "5"}']),
        ("(SELECT max(value) FROM json_each(?))", ['["a", "é", "Z"]']),
        ("(SELECT sum(key) FROM json_each(?))", ['["a", "é", "Z"]']),
        ("? = 'policy:%'", ["policy:%"]),
        ("5 / ?", [2]),
        ("1.0 * 5 / ?", [2]),
        ("substr(?, 1, 7)", ["policy:a"]),
        ("'a' < ?", ["B"]),
        ("coalesce(?, 'x')", [None]),
    ],
)
def test_what_queries_use_has_the_same_result(
    store: Store, tmp_path: Path, expression: str, values: list[object]
) -> None:
    """Functions that one of the two lacks, divisions, and the order of letters."""
    with closing(open_store(tmp_path / "file.db", create=True)) as file:
        expected = file.db.execute(f"SELECT {expression}", values).fetchone()
    assert store.db.execute(f"SELECT {expression}", values).fetchone() == expected


def test_placeholders_in_quotes_are_text() -> None:
    """Only marks outside of quotes stand for values."""
    sql = "SELECT 'what?', \"a:b\", x::text WHERE a = ? AND c LIKE '10%' AND d = :name"
    assert translated(sql).text == (
        "SELECT 'what?', \"a:b\", x::text WHERE a = %s AND c LIKE '10%%' AND d = %(name)s"
    )


def test_one_writer_at_a_time(store: Store) -> None:
    """A second one waits, and then reads what the first wrote."""
    campaign_facts.agree_to_spend(store, 5, at=AT)

    def add() -> None:
        with closing(open_store(store.address)) as other, writing(other):
            campaign_facts.agree_to_spend(
                other, (campaign_facts.agreed_cents(other) or 0) + 1, at=AT
            )

    with ThreadPoolExecutor(1) as pool:
        with writing(store):
            added = pool.submit(add)
            assert not wait([added], timeout=0.2).done
            campaign_facts.agree_to_spend(store, 7, at=AT)
        added.result(timeout=60)
    assert campaign_facts.agreed_cents(store) == 8
    assert store.others_have_written()


def test_a_transaction_that_read_before_another_wrote_writes_nothing(store: Store) -> None:
    """It would decide by what is no longer so; SQLite refuses it, too."""
    with closing(open_store(store.address)) as other:

        def agree_late() -> None:
            with store.db.atomic():
                assert campaign_facts.agreed_cents(store) is None
                campaign_facts.agree_to_spend(other, 5, at=AT)
                campaign_facts.agree_to_spend(store, 3, at=AT)

        with pytest.raises(StoreError, match="has written at the same moment"):
            agree_late()
        campaign_facts.agree_to_spend(store, 4, at=AT)
        assert campaign_facts.agreed_cents(other) == 4


def test_a_block_inside_a_block_is_undone_alone(store: Store) -> None:
    """And an error of the outer one undoes both."""

    def agree_and_fail() -> None:
        with store.db.atomic():
            with store.db.atomic():
                campaign_facts.agree_to_spend(store, 5, at=AT)
            raise ZeroDivisionError

    with store.db.atomic():
        campaign_facts.record_stop(store, at=AT)
        with pytest.raises(ZeroDivisionError):
            agree_and_fail()
    assert campaign_facts.stopped_at(store) == AT
    assert campaign_facts.agreed_cents(store) is None
    with pytest.raises(ZeroDivisionError):
        agree_and_fail()
    assert campaign_facts.agreed_cents(store) is None


def test_the_lock_of_a_pass_holds_in_all_folders(
    address: StoreAddress, postgres_url: str, tmp_path: Path
) -> None:
    """The message names the process and its machine; the lock ends with the block."""
    other = StoreAddress(
        path=tmp_path / "other/piecework.db", url=postgres_url, schema=address.schema
    )
    with only_pass(address):
        with (
            pytest.raises(CampaignBusy, match=r"process \d+ on .+ \(a pass\) is working"),
            only_pass(other),
        ):
            pass
        # The pass itself opens its store with the session that holds the lock.
        with closing(open_store(address, create=True)) as store:
            bound.bind(store, "name", "a test")
        assert exists(other)
    with only_pass(other), closing(open_store(other)) as store:
        assert bound.read_bound(store).name == "a test"


def test_a_pass_that_lost_its_lock_cannot_write(
    address: StoreAddress, admin: "psycopg.Connection[tuple[object, ...]]"
) -> None:
    """The connection drops inside a transaction; nothing of it is stored."""
    with only_pass(address), closing(open_store(address, create=True)) as store:
        campaign_facts.agree_to_spend(store, 5, at=AT)

        def agree_without_server() -> None:
            with writing(store):
                campaign_facts.agree_to_spend(store, 6, at=AT)
                (pid,) = store.db.execute("SELECT pg_backend_pid()").fetchone()
                admin.execute("SELECT pg_terminate_backend(%s, 10000)", [pid])
                campaign_facts.agree_to_spend(store, 7, at=AT)

        with pytest.raises(StoreError, match="the connection to the database was lost"):
            agree_without_server()
        with pytest.raises(StoreError, match="lost") as lost:
            campaign_facts.agree_to_spend(store, 8, at=AT)
    assert "run the same command again" in lost.value.next_step
    with only_pass(address), closing(open_store(address)) as store:
        assert campaign_facts.agreed_cents(store) == 5


def test_a_page_that_stays_open_connects_again(
    store: Store, admin: "psycopg.Connection[tuple[object, ...]]"
) -> None:
    """The database was restarted between two of its requests."""
    campaign_facts.agree_to_spend(store, 5, at=AT)
    version = store.version()
    (pid,) = store.db.execute("SELECT pg_backend_pid()").fetchone()
    admin.execute("SELECT pg_terminate_backend(%s, 10000)", [pid])
    with pytest.raises(StoreError, match="the connection to the database was lost"):
        campaign_facts.agreed_cents(store)
    assert campaign_facts.agreed_cents(store) == 5
    assert store.version() == version
    campaign_facts.agree_to_spend(store, 6, at=AT)
    assert not store.others_have_written()
    store.close()
    with pytest.raises(StoreError, match="lost"):
        campaign_facts.agreed_cents(store)


def test_a_lock_of_records_that_is_lost_is_not_taken_for_held(
    address: StoreAddress, admin: "psycopg.Connection[tuple[object, ...]]"
) -> None:
    """Another campaign may decide meanwhile; the next pass decides again."""
    with open_records(own_records(address), "market") as records:

        def decide() -> None:
            with records.locked():
                (pid,) = records.db.execute("SELECT pg_backend_pid()").fetchone()
                admin.execute("SELECT pg_terminate_backend(%s, 10000)", [pid])
                with pytest.raises(StoreError, match="lost"):
                    records.outcomes("captions")
                records.outcomes("captions")

        with pytest.raises(StoreError, match="lost"):
            decide()
        assert records.outcomes("captions") == {}


def test_a_user_without_the_right_to_create_tables_gets_a_sentence(
    address: StoreAddress, postgres_url: str, admin: "psycopg.Connection[tuple[object, ...]]"
) -> None:
    """It says who may not, and the statement that lets them."""
    admin.execute("DROP ROLE IF EXISTS reader")
    admin.execute("CREATE ROLE reader LOGIN")
    theirs = StoreAddress(
        path=address.path, url=postgres_url.replace("writer@", "reader@"), schema=address.schema
    )
    with pytest.raises(StoreError, match="'reader' may not create tables") as refused:
        open_store(theirs, create=True)
    assert 'GRANT CREATE ON DATABASE "postgres" TO "reader"' in refused.value.next_step
    assert not exists(address)
    # An administrator may also create the schema for them.
    admin.execute(f"CREATE SCHEMA {address.schema} AUTHORIZATION reader")
    open_store(theirs, create=True).close()


def test_a_schema_of_a_later_version_is_refused(
    store: Store, admin: "psycopg.Connection[tuple[object, ...]]"
) -> None:
    """Nothing is changed in it, and a quick look finds no progress."""
    last_pass.remember(store, {"accepted": 3}, request_digest="request")
    admin.execute(
        f"INSERT INTO {store.address.schema}.schema_migrations "
        "VALUES ('m002_later-12345678', '2027')"
    )
    with pytest.raises(StoreError, match="m002_later-1234"):
        open_store(store.address)
    assert last_pass.recall(store.address, request_digest="request") is None


def _begin(
    folder: Path, url: str, campaign: str, environment: str = "https://a.org"
) -> StoreAddress:
    """Make the store of a campaign that was begun; its address."""
    at = store_address(folder / campaign, campaign=campaign, url=url)
    with closing(open_store(at, create=True)) as store:
        bound.bind(store, "campaign", campaign)
        bound.bind(store, "environment", environment)
        bound.bind(store, "work_digest", "d")
        inputs = Inputs(text=f'name = "{campaign}"', complete="x = 1")
        campaign_facts.record_inputs(store, inputs, completed=lambda: "x = 1", at=AT)
    return at


def test_stores_beside_are_those_of_the_same_user_and_of_real_work(
    two_users: tuple[str, str], tmp_path: Path
) -> None:
    """Not rehearsals, nor what another user made, nor the store itself."""
    ours, theirs = two_users
    _begin(tmp_path, theirs, "robins")
    _begin(tmp_path, ours, "rehearsed", "rehearsal, seed 1")
    old, own = (_begin(tmp_path, ours, name) for name in ("birds", "finches"))
    assert [each.campaign for each in bound.stores_beside(own)] == ["birds"]
    new = store_address(tmp_path / "owls", campaign="owls", url=ours)
    beside = {each.campaign: each for each in bound.stores_beside(new)}
    assert beside.keys() == {"birds", "finches"}
    assert beside["birds"].address.schema == old.schema
    assert (beside["birds"].work_digest, beside["birds"].inputs.complete) == ("d", "x = 1")


@pytest.mark.parametrize("name", ["Ann.B", "ann@lab.org", "first.last", "10", 'a "b"'])
def test_stores_beside_are_found_whatever_the_name_of_their_user(
    name: str, postgres_url: str, tmp_path: Path
) -> None:
    """It is no SQL identifier, whose case and dots count, and no number of a role."""
    parts, role = urlsplit(new_database(postgres_url)), sql.Identifier(name)
    with psycopg.connect(parts.geturl(), autocommit=True) as admin:
        admin.execute(sql.SQL("DROP ROLE IF EXISTS {}").format(role))
        admin.execute(sql.SQL("CREATE ROLE {} LOGIN").format(role))
        database = sql.Identifier(parts.path[1:])
        admin.execute(sql.SQL("GRANT CREATE ON DATABASE {} TO {}").format(database, role))
    server = parts.netloc.rpartition("@")[2]
    url = parts._replace(netloc=f"{quote(name, safe='')}@{server}").geturl()
    new = store_address(tmp_path / "owls", campaign="owls", url=url)
    assert [*bound.stores_beside(new)] == []
    _begin(tmp_path, url, "birds")
    assert [each.campaign for each in bound.stores_beside(new)] == ["birds"]


def test_a_search_for_stores_beside_that_is_cut_off_is_no_search(
    postgres_url: str, tmp_path: Path
) -> None:
    """A store that was not read could be the campaign's own; one of another version is not."""
    url = new_database(postgres_url)
    for name in ("birds", "finches", "robins"):
        _begin(tmp_path, url, name)
    new = store_address(tmp_path / "owls", campaign="owls", url=url)
    with psycopg.connect(url, autocommit=True) as admin:
        admin.execute("ALTER TABLE piecework_finches.bound DROP COLUMN work_digest CASCADE")
        assert [each.campaign for each in bound.stores_beside(new)] == ["birds", "robins"]
        beside = bound.stores_beside(new)
        assert next(beside).campaign == "birds"
        admin.execute(
            "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity "
            "WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )
        with pytest.raises(StoreError, match="the connection to the database was lost"):
            next(beside)


def test_the_tables_of_another_program_are_left_alone(
    address: StoreAddress, admin: "psycopg.Connection[tuple[object, ...]]"
) -> None:
    """A schema with tables of others is no store."""
    admin.execute(f"CREATE SCHEMA {address.schema}")
    admin.execute(f"CREATE TABLE {address.schema}.theirs (x INTEGER)")
    with pytest.raises(StoreError, match="another program's tables"):
        open_store(address, create=True)


def test_a_store_that_is_not_there_is_not_made_to_look_at_it(address: StoreAddress) -> None:
    """Commands that only look create nothing."""
    with pytest.raises(StoreError, match="there is no store yet"):
        open_store(address)
    assert not exists(address)


@pytest.mark.parametrize(
    ("url", "sentence"),
    [
        ("postgresql://writer:secret@127.0.0.1:1/x", "the database cannot be reached"),
        ("postgresql://writer:secret@/x?host=/nowhere", "cannot be reached"),
        ("postgresql://writer:secret@127.0.0.1:no/x", "cannot be reached"),
    ],
)
def test_a_url_that_no_server_answers_gets_a_sentence(
    tmp_path: Path, url: str, sentence: str
) -> None:
    """Without the password that is in the URL."""
    address = store_address(tmp_path, campaign="test", url=url)
    with pytest.raises(StoreError, match=sentence) as unreachable:
        open_store(address, create=True)
    assert "secret" not in str(unreachable.value) + repr(address)
    assert "PIECEWORK_STORE_URL" in unreachable.value.next_step


def test_a_url_of_another_database_is_refused(tmp_path: Path) -> None:
    """SQLite's URLs among them: a store in a file needs none."""
    address = store_address(tmp_path, campaign="test", url="sqlite:///x.db")
    with pytest.raises(ConfigError, match="no URL of a PostgreSQL database"):
        open_store(address, create=True)


def test_without_the_driver_the_extra_is_named(
    address: StoreAddress, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The base package does without it."""
    for module in [name for name in sys.modules if name.startswith("piecework.store.postgres")]:
        monkeypatch.delitem(sys.modules, module)
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(ConfigError, match="psycopg, which is not installed") as missing:
        open_store(address, create=True)
    assert missing.value.next_step == "pip install 'piecework[sql]'"
    with pytest.raises(ConfigError, match="a store in PostgreSQL needs"), only_pass(address):
        pass


def test_a_text_that_postgresql_cannot_store_is_refused(store: Store) -> None:
    """The character NUL; the transaction stores nothing."""
    row = {"item_id": "a", "digest": "1"}
    with pytest.raises(StoreError, match="the character NUL"), store.db.atomic():
        insert(store, "dealt_items", [row, {"item_id": "b", "digest": "\0"}])
    assert store.db.execute("SELECT count(*) FROM dealt_items").fetchone() == (0,)


def test_a_statement_that_is_wrong_stays_a_bug(store: Store) -> None:
    """What no user can mend is shown as it is."""
    with pytest.raises(psycopg.errors.UndefinedTable, match=re.escape("nowhere")):
        store.db.execute("SELECT 1 FROM nowhere")


def test_a_later_version_copies_the_rows_first_and_this_one_then_refuses(
    address: StoreAddress,
    admin: "psycopg.Connection[tuple[object, ...]]",
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The copy is in a schema of its own, from which `store copy` can continue."""
    with closing(open_store(address, create=True)) as store:
        store_name_before = bound.read_bound(store).name
        bound.bind(store, "campaign", "birds")
    now = migrations.scripts
    more = {"m002_weather-0a1b2c3d": "CREATE TABLE weather (day TEXT);"}
    with monkeypatch.context() as later:
        later.setattr(migrations, "scripts", lambda folder: {**now(folder), **more})
        for _ in range(2):
            with closing(open_store(address)) as store:
                assert bound.read_bound(store).campaign == "birds"
                assert bound.read_bound(store).name == store_name_before
                store.db.execute("SELECT day FROM weather").fetchall()
    copy = migrations.copy_name(address.schema, *more)
    assert admin.execute(f'SELECT campaign FROM "{copy}".bound').fetchall() == [("birds",)]
    with pytest.raises(StoreError, match="by a later version") as refused:
        open_store(address)
    assert copy in refused.value.next_step


def test_a_database_with_another_encoding_is_refused(
    admin: "psycopg.Connection[tuple[object, ...]]", postgres_url: str, tmp_path: Path
) -> None:
    """Texts of workers in other languages would not fit into it."""
    admin.execute(
        "CREATE DATABASE narrow ENCODING 'SQL_ASCII' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0"
    )
    try:
        url = urlsplit(postgres_url)._replace(path="/narrow").geturl()
        narrow = store_address(tmp_path, campaign="test", url=url)
        with pytest.raises(StoreError, match="has the encoding SQL_ASCII") as refused:
            open_store(narrow, create=True)
        assert "UTF8" in refused.value.next_step
    finally:
        admin.execute("DROP DATABASE narrow")


@pytest.fixture
def two_users(postgres_url: str) -> Iterator[tuple[str, str]]:
    """URLs of an honest and another user of one database, who may create schemas."""
    database = new_database(postgres_url)
    urls = []
    names = [f"{name}_{secrets.token_hex(4)}" for name in ("ours", "theirs")]
    with psycopg.connect(database, autocommit=True) as admin:
        for name in names:
            admin.execute(f"CREATE ROLE {name} LOGIN".encode())
            allow = f"GRANT CREATE ON DATABASE {urlsplit(database).path[1:]} TO {name}"
            admin.execute(allow.encode())
            parts = urlsplit(database)
            urls.append(parts._replace(netloc=f"{name}@{parts.netloc.rpartition('@')[2]}").geturl())
        yield urls[0], urls[1]


FOREIGN = {
    "schema": "CREATE SCHEMA {schema}",
    "table": "CREATE SCHEMA {schema}; CREATE TABLE {schema}.intents (id int); "
    "GRANT ALL ON SCHEMA {schema} TO PUBLIC",
}
INSIDE = {
    "table": "CREATE TABLE {schema}.more (id int)",
    "function": "CREATE FUNCTION {schema}.lower(text) RETURNS text LANGUAGE sql AS 'SELECT $1'",
    "type": "CREATE DOMAIN {schema}.word AS text",
    "trigger": "CREATE FUNCTION pg_temp.x() RETURNS trigger LANGUAGE plpgsql AS "
    "'BEGIN RETURN NEW; END'; CREATE TRIGGER t AFTER INSERT ON {schema}.bound "
    "FOR EACH ROW EXECUTE FUNCTION pg_temp.x()",
}


@pytest.mark.parametrize("kind", sorted(FOREIGN))
def test_a_schema_that_another_user_made_first_is_refused(
    kind: str, two_users: tuple[str, str], tmp_path: Path
) -> None:
    """Its triggers would run with our rights; nothing is written into it."""
    ours, theirs = two_users
    address = store_address(tmp_path, campaign="birds", url=ours)
    with psycopg.connect(theirs, autocommit=True) as their:
        their.execute(FOREIGN[kind].format(schema=address.schema).encode())
    for use in (lambda: open_store(address, create=True), lambda: exists(address)):
        with pytest.raises(RefusedForSafety, match="belongs to the database user"):
            use()


@pytest.mark.parametrize("kind", sorted(INSIDE))
def test_what_another_user_put_into_our_schema_is_refused(
    kind: str, two_users: tuple[str, str], tmp_path: Path
) -> None:
    """Until then the store is used, with its own tables and triggers."""
    ours, theirs = two_users
    address = store_address(tmp_path, campaign="birds", url=ours)
    with closing(open_store(address, create=True)):
        pass
    with closing(open_store(address)):
        pass
    with psycopg.connect(ours, autocommit=True) as our:
        our.execute(f"GRANT ALL ON SCHEMA {address.schema} TO PUBLIC".encode())
        grant = f"GRANT ALL ON ALL TABLES IN SCHEMA {address.schema} TO PUBLIC"
        our.execute(grant.encode())
        table = our.execute(
            b"SELECT relname FROM pg_class WHERE relkind = 'r' AND "
            b"relnamespace = %s::regnamespace LIMIT 1",
            [address.schema],
        ).fetchone()
    assert table is not None
    statement = INSIDE[kind].format(schema=address.schema)
    statement = statement.replace(".bound ", f".{table[0]} ")
    with psycopg.connect(theirs, autocommit=True) as their:
        their.execute(statement.encode())
        with pytest.raises(RefusedForSafety, match=f"the {kind} "):
            open_store(address)
