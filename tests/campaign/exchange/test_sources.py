"""Sources outside: files as they arrive in a bucket or folder, and queries."""

import io
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import replace
from datetime import date
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import sqlalchemy as sa

from piecework.campaign.exchange.databases import Query
from piecework.campaign.exchange.table_source import Directory, TableFolder, _Part
from piecework.domain.errors import ConfigError
from piecework.domain.growing import Delivery, Source, SourceRow
from piecework.store import source as stored_source
from tests.campaign.exchange.conftest import S3
from tests.growing_campaign import TEXT, growing, row

COLUMNS = ("image_id", "url")


def parquet(cells: Mapping[str, object]) -> bytes:
    """A Parquet file with these columns."""
    sink = io.BytesIO()
    pq.write_table(pa.table(dict(cells)), sink)
    return sink.getvalue()


def pictures(*ids: object) -> bytes:
    """A Parquet file of pictures."""
    urls = [f"https://example.org/{name}.jpg" for name in ids]
    return parquet({"image_id": list(ids), "url": urls})


def put(folder: Path, name: str, content: bytes) -> None:
    """Deliver a file."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)


def folder_of(tmp_path: Path, address: str = "arrivals/") -> TableFolder:
    """The source of a folder beside the campaign file."""
    return TableFolder(address=address, beside=tmp_path, columns=COLUMNS)


def read(source: Source, mark: str = "") -> tuple[list[SourceRow], Delivery]:
    """All rows of a reading, and the reading."""
    delivery = source.read(mark)
    with closing(delivery):
        rows = [row for chunk in delivery.chunks for row in chunk]
    return rows, delivery


def ids(rows: Iterable[SourceRow]) -> list[str]:
    """The ids of rows."""
    return [row.row_id for row in rows]


def test_only_new_files_are_read_until_a_known_one_changes(tmp_path: Path) -> None:
    """A late partition is a new file; a changed or lost one means reading all."""
    folder = tmp_path / "arrivals"
    put(folder, "day=2026-03-02/a.parquet", pictures("p1", "p2"))
    put(folder, "day=2026-03-02/_SUCCESS.csv", b"")
    put(folder, "_temporary/0/c.parquet", pictures("p9"))
    rows, first = read(folder_of(tmp_path))
    assert ids(rows) == ["p1", "p2"]
    assert rows[0].cells["day"] == "2026-03-02"
    assert rows[1].located.endswith("day=2026-03-02/a.parquet: row 2")
    assert first.is_whole

    put(folder, "day=2026-03-03/b.csv", b"image_id,url\np3,https://example.org/3.jpg\n")
    put(folder, "day=2026-03-01/late.jsonl", b'{"image_id": "p4", "url": "u"}\n')
    rows, second = read(folder_of(tmp_path), first.watermark)
    assert ids(rows) == ["p4", "p3"]
    assert not second.is_whole
    rows, third = read(folder_of(tmp_path), second.watermark)
    assert (rows, third.is_whole) == ([], False)

    put(folder, "day=2026-03-02/a.parquet", pictures("p1", "p2", "p5"))
    rows, fourth = read(folder_of(tmp_path), third.watermark)
    assert sorted(ids(rows)) == ["p1", "p2", "p3", "p4", "p5"]
    assert fourth.is_whole


def test_names_of_folders_are_read_as_other_tools_write_them(tmp_path: Path) -> None:
    """Hive and Spark escape what a path cannot hold, and have a word for no value."""
    rows = b"image_id,url\np1,https://example.org/1.jpg\n"
    put(tmp_path / "arrivals", "is%20old=a%2Fb%3D1/city=__HIVE_DEFAULT_PARTITION__/a.csv", rows)
    (row,), _ = read(folder_of(tmp_path))
    assert (row.cells["is old"], row.cells["city"]) == ("a/b=1", "")


def test_a_half_written_file_is_left_for_the_next_reading(tmp_path: Path) -> None:
    """The others are read; the reason is kept; then the whole file is read."""
    folder = tmp_path / "arrivals"
    whole = pictures("p2")
    put(folder, "a.parquet", pictures("p1"))
    put(folder, "b.parquet", whole[: len(whole) // 2])
    put(folder, "c.csv", b"image_id,url\np3,https://example.org")
    rows, first = read(folder_of(tmp_path))
    assert ids(rows) == ["p1"]
    assert "b.parquet is not read to its end yet" in first.unfinished
    assert "c.csv is not read to its end yet" in first.unfinished
    put(folder, "b.parquet", whole)
    put(folder, "c.csv", b"image_id,url\np3,https://example.org/3.jpg\n")
    rows, second = read(folder_of(tmp_path), first.watermark)
    assert ids(rows) == ["p2", "p3"]
    assert (second.is_whole, second.unfinished) == (False, "")


def test_types_of_parquet_become_the_text_of_cells(tmp_path: Path) -> None:
    """As a CSV file would have them; an id that is a float is a fault."""
    cells = {
        "image_id": [7.0],
        "url": ["https://example.org/7.jpg"],
        "n": [3],
        "is_new": [True],
        "day": [date(2026, 3, 4)],
        "tags": [["a", "b"]],
        "empty": pa.array([None], pa.string()),
    }
    put(tmp_path, "arrivals/a.parquet", parquet(cells))
    source = folder_of(tmp_path)
    (row,), _ = read(source)
    assert dict(row.cells) == {
        "image_id": "7.0",
        "url": "https://example.org/7.jpg",
        "n": "3",
        "is_new": "true",
        "day": "2026-03-04",
        "tags": '["a", "b"]',
        "empty": "",
    }
    assert "decimal number" in source.faults(row)[0]


def test_a_bucket_is_read_as_a_folder_is(s3: S3, tmp_path: Path) -> None:
    """With the credentials of the environment; without them it is one sentence."""
    key = "arrivals/day=1/a.parquet"
    s3.put_object(Bucket="results", Key=key, Body=pictures("p1"))
    s3.put_object(
        Bucket="results",
        Key="arrivals/day=2/b.csv",
        Body=b"image_id,url\np2,https://example.org/2.jpg\n",
    )
    source = folder_of(tmp_path, "s3://results/arrivals")
    before = source.fingerprint()
    rows, first = read(source)
    assert ids(rows) == ["p1", "p2"]
    assert source.fingerprint() == before
    s3.put_object(Bucket="results", Key="arrivals/c.parquet", Body=pictures("p3"))
    assert source.fingerprint() != before
    rows, _ = read(source, first.watermark)
    assert ids(rows) == ["p3"]
    with pytest.raises(ConfigError, match="s3://absent/x"):
        folder_of(tmp_path, "s3://absent/x").fingerprint()


@pytest.mark.parametrize("name", ["b.csv", "day=1"])
def test_no_file_behind_a_link_is_read(tmp_path: Path, name: str) -> None:
    """A folder from elsewhere may be full of links to files of this machine."""
    secret = tmp_path / "secret"
    put(secret, "b.csv", b"image_id,url\nhidden,https://example.org/3.jpg\n")
    put(tmp_path, "arrivals/a.parquet", pictures("p1"))
    target = secret / name if name.endswith(".csv") else secret
    (tmp_path / "arrivals" / name).symlink_to(target)
    with pytest.raises(ConfigError, match="is a link that leads out of") as refused:
        read(folder_of(tmp_path))
    assert "hidden" not in str(refused.value)


def warehouse(url: str, *names: str) -> None:
    """Make the table that is asked."""
    engine = sa.create_engine(url)
    with engine.begin() as connection:
        connection.execute(sa.text("DROP TABLE IF EXISTS pictures"))
        connection.execute(sa.text("CREATE TABLE pictures (id TEXT, address TEXT)"))
        for name in names:
            connection.execute(
                sa.text("INSERT INTO pictures VALUES (:id, :address)"),
                {"id": name, "address": f"https://example.org/{name}.jpg"},
            )
    engine.dispose()


def query(url: str, statement: str, beside: Path = Path("/")) -> Query:
    """A source whose columns have the names of a table."""
    return Query(
        database=url,
        statement=statement,
        beside=beside,
        columns=COLUMNS,
        renamed={"image_id": "id", "url": "address"},
    )


@pytest.mark.parametrize("kind", ["sqlite", "duckdb", "postgres"])
def test_a_query_gives_rows_and_changes_nothing(
    kind: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """Also one that would change something."""
    url = f"{kind}:///{tmp_path}/warehouse.db"
    if kind == "postgres":
        url = request.getfixturevalue("empty_postgres")
    warehouse(url, "p1", "p2")
    source = query(url, "SELECT id, address FROM pictures ORDER BY id")
    rows, delivery = read(source)
    assert [dict(row.cells) for row in rows] == [
        {"image_id": name, "url": f"https://example.org/{name}.jpg"} for name in ("p1", "p2")
    ]
    assert delivery.is_whole
    with pytest.raises(ConfigError, match="cannot be run") as refused:
        read(query(url, "DELETE FROM pictures"))
    assert "must be a single SELECT" in refused.value.next_step
    with pytest.raises(ConfigError, match="cannot be run"):
        read(query(url, "SELECT absent FROM pictures"))
    if kind == "postgres":
        deleting = "WITH gone AS (DELETE FROM pictures RETURNING *) SELECT * FROM gone"
        with pytest.raises(ConfigError, match="cannot be run"):
            read(query(url, deleting))
    assert len(read(source)[0]) == 2


def test_where_a_row_is_has_no_secret_of_its_source(tmp_path: Path) -> None:
    """The places of rows are stored, and shown with what is wrong with them."""
    address = f"sqlite:///{tmp_path}/warehouse.db"
    warehouse(address, "p1")
    source = query(address, "SELECT id, address FROM pictures")
    with_secret = replace(source, database=f"{address}?password=pea")
    assert with_secret.name == f"{address}?password=***"
    ((row,), _) = read(source)
    assert row.located.startswith(source.name)
    folder = folder_of(tmp_path, "s3://KEY:pea@photos/")
    assert "pea" not in folder.name


STRINGS = "SELECT ':x' || '%s' || ' -- ; ' AS id, 'a?b' AS address"


@pytest.mark.parametrize("kind", ["sqlite", "duckdb", "postgres"])
def test_a_text_in_a_query_is_only_text(
    kind: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """Neither `:x` nor `%` nor `?` in quotes is a parameter, and `;` ends nothing."""
    url = f"{kind}:///{tmp_path}/warehouse.db"
    if kind == "postgres":
        url = request.getfixturevalue("empty_postgres")
    warehouse(url, "p1")
    ((row,), _) = read(query(url, STRINGS))
    assert dict(row.cells) == {"image_id": ":x%s -- ; ", "url": "a?b"}
    ((row,), _) = read(query(url, f"{STRINGS} ;\n-- the end\n"))
    assert row.row_id == ":x%s -- ; "


HOSTILE = {
    "sqlite": [
        "ATTACH '{out}' AS other",
        "VACUUM INTO '{out}'",
        "PRAGMA journal_mode = WAL",
        "PRAGMA writable_schema = ON",
        "SELECT load_extension('{secret}')",
        "SELECT * FROM pragma_database_list",
        "BEGIN",
        "SELECT 1; DELETE FROM pictures",
        "REINDEX",
    ],
    "duckdb": [
        "COPY pictures TO '{out}'",
        "COPY (SELECT 1) TO '{out}'",
        "SELECT content AS id, '' AS address FROM read_text('{secret}')",
        "SELECT * FROM '{secret}'",
        "SELECT * FROM read_csv_auto('{secret}')",
        "FROM glob('/etc/*')",
        "SELECT * FROM query('FROM read_text(''{secret}'')')",
        "ATTACH '{out}' AS other",
        "INSTALL httpfs",
        "LOAD '{secret}'",
        "SET enable_external_access = true",
        "PRAGMA database_list",
        "EXPORT DATABASE '{out}'",
        "SELECT 1; DROP TABLE pictures; COMMIT",
        "SELECT * FROM pictures; COPY pictures TO '{out}'",
        "EXPLAIN ANALYZE COPY pictures TO '{out}'",
        "CREATE TABLE x AS SELECT 1",
        "CALL pragma_database_size(); DELETE FROM pictures",
        "SELECT * FROM sqlite_scan('{out}', 'a')",
        "SELECT * FROM hostile_frame",
        "PREPARE a AS COPY pictures TO '{out}'; EXECUTE a",
        "",
        "SELECT",
    ],
    "postgres": [
        "COPY pictures TO '{out}'",
        "COPY (SELECT 1) TO PROGRAM 'touch {out}'",
        "SELECT 1; DELETE FROM pictures; COMMIT",
        "SELECT * FROM pictures; COMMIT; DELETE FROM pictures",
        "COMMIT",
        "DO $$ BEGIN DELETE FROM pictures; END $$",
        "SELECT set_config('transaction_read_only', 'off', false); SELECT 1",
        "SELECT set_config('transaction_read_only', 'off', false) AS id",
        "SELECT nextval('counted')::text AS id, '' AS address",
        "SELECT id, address FROM pictures FOR UPDATE",
        "SELECT * INTO copied FROM pictures",
        "EXPLAIN ANALYZE DELETE FROM pictures",
        "CREATE TABLE x AS SELECT 1",
        "NOTIFY someone",
        "SET ROLE writer",
    ],
}


@pytest.mark.parametrize(
    ("kind", "statement"),
    [(kind, statement) for kind, those in HOSTILE.items() for statement in those],
)
def test_a_query_can_do_nothing_but_read_its_database(
    kind: str, statement: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """A campaign file from elsewhere has the text of the query."""
    url = f"{kind}:///{tmp_path}/warehouse.db"
    if kind == "postgres":
        url = request.getfixturevalue("empty_postgres")
    warehouse(url, "p1")
    if kind == "postgres":
        engine = sa.create_engine(url)
        with engine.begin() as made:
            made.execute(sa.text("CREATE SEQUENCE counted"))
        engine.dispose()
    secret, out = tmp_path / "secret.csv", tmp_path / "out.db"
    secret.write_text("id,address\nhidden,hidden\n")
    hostile_frame = pa.table({"id": ["hidden"], "address": ["hidden"]})
    assert hostile_frame.num_rows
    before = sorted(path.name for path in tmp_path.iterdir())
    with pytest.raises(ConfigError, match="cannot be run") as refused:
        read(query(url, statement.format(secret=secret, out=out)))
    assert "hidden" not in str(refused.value)
    assert sorted(path.name for path in tmp_path.iterdir()) == before
    assert ids(read(query(url, "SELECT id, address FROM pictures"))[0]) == ["p1"]


@pytest.mark.parametrize(
    "url",
    [
        "mysql+pymysql://a@127.0.0.1/b?init_command=x",
        "oracle://a@127.0.0.1",
        "mssql+pyodbc:///?odbc_connect=x",
        "shillelagh://",
        "sqlite+pysqlcipher://:a@/{db}",
        "sqlite+aiosqlite:///{db}",
        "sqlite:///{db}?mode=rwc",
        "sqlite:///file:{db}?uri=true",
        "sqlite:///:memory:",
        "sqlite://",
        "sqlite:///{new}",
        "sqlite:////dev/stdin",
        "sqlite:///{folder}",
        "duckdb:///:memory:",
        "duckdb:///md:shared",
        "duckdb:///{db}?access_mode=READ_WRITE",
        "duckdb:///{db}?allow_unsigned_extensions=true",
        "duckdb:///https://127.0.0.1/a.db",
        "duckdb:///{new}",
        "postgresql+psycopg2://a@127.0.0.1/b",
        "postgresql+asyncpg://a@127.0.0.1/b",
        "postgresql+psycopg://a@127.0.0.1/b?service=x",
        "postgresql+psycopg://a@127.0.0.1/b?options=-csearch_path%3Dx",
        "postgresql+psycopg://a@127.0.0.1/b?passfile=/etc/passwd",
        "postgresql+psycopg://a@127.0.0.1/b?sslkey=/etc/passwd",
        "postgresql+psycopg://a@127.0.0.1/b?host=127.0.0.2",
        "postgresql+psycopg://a@/b?host=/run,127.0.0.2",
        "postgresql+psycopg://a@/b?host=/run&host=127.0.0.2",
        "postgresql+psycopg://a@127.0.0.1/b?sslmode=require&%73ervice=x",
    ],
)
def test_only_known_databases_and_options_are_opened(url: str, tmp_path: Path) -> None:
    """Others load code, run statements, or reach what the URL does not show."""
    database = tmp_path / "there.db"
    warehouse(f"sqlite:///{database}", "p1")
    address = url.format(db=database, new=tmp_path / "new.db", folder=tmp_path)
    with pytest.raises(ConfigError) as refused:
        read(query(address, "SELECT id, address FROM pictures"))
    assert "cannot be reached" not in str(refused.value)
    assert [path.name for path in tmp_path.iterdir()] == ["there.db"]


def test_what_a_network_kept_back_is_read_by_the_next_pass(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Although the folder looks the same: a file, then the whole source."""
    text = TEXT.replace('file = "items.csv"', 'file = "arrivals/"')
    put(tmp_path, "arrivals/a.parquet", pictures("p1", "p2"))
    put(tmp_path, "arrivals/b.parquet", pictures("p3", "p4"))
    read_part, read_all = TableFolder._rows_of, TableFolder.read

    def fail_at_b(source: TableFolder, directory: Directory, part: _Part) -> Iterator[SourceRow]:
        if part.path.endswith("b.parquet"):
            raise OSError("the connection was lost")
        return read_part(source, directory, part)

    def fail(*_words: object, **_more: object) -> Delivery:
        raise ConfigError(["the credentials have expired"])

    with growing(tmp_path, (), text) as campaign:
        monkeypatch.setattr(TableFolder, "_rows_of", fail_at_b)
        waits = campaign.finish()
        assert waits.source is not None
        assert waits.source.waiting == 2
        assert "the connection was lost" in waits.source.unfinished
        monkeypatch.setattr(TableFolder, "_rows_of", read_part)
        assert campaign.finish().accepted == 4

        put(tmp_path, "arrivals/c.parquet", pictures("p5", "p6", "p7", "p8"))
        monkeypatch.setattr(TableFolder, "read", fail)
        refused = campaign.finish()
        assert refused.source is not None
        assert refused.source.fault == "the credentials have expired"
        monkeypatch.setattr(TableFolder, "read", read_all)
        assert campaign.finish().accepted == 8


def test_a_campaign_takes_in_what_arrives_in_a_folder(tmp_path: Path) -> None:
    """Each row is dealt and answered once, whichever file it came in."""
    text = TEXT.replace('file = "items.csv"', 'file = "arrivals/"')
    put(tmp_path, "arrivals/a.parquet", pictures(*(f"p{n}" for n in range(1, 5))))
    with growing(tmp_path, (), text) as campaign:
        assert campaign.finish().accepted == 4
        put(tmp_path, "arrivals/b.parquet", pictures(*(f"p{n}" for n in range(3, 9))))
        put(tmp_path, "arrivals/c.parquet", b"PAR1 half")
        idle = campaign.finish()
        assert (idle.accepted, idle.batch) == (8, 2)
        assert campaign.shown() == [f"p{n}" for n in range(1, 9)]
        reading = stored_source.reading(campaign.run.store)
        assert "c.parquet is not read to its end yet" in reading.unfinished
        # Earlier lines of a file count although its last one is half-written.
        put(tmp_path, "arrivals/d.csv", f"image_id,url\n{row('p9')}p10,htt".encode())
        later = campaign.finish()
        assert later.source is not None
        assert later.source.waiting == 1
        assert "d.csv is not read to its end yet (its last line" in later.source.unfinished
