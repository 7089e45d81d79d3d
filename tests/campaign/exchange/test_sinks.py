"""Sinks: each release arrives once and whole, in folders, buckets and databases."""

import json
from collections.abc import Mapping
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import sqlalchemy as sa

from piecework.campaign.exchange.databases import Query
from piecework.campaign.exchange.sinks import SinkFailed, copy_releases, reach_folder
from piecework.campaign.exchange.table_sink import reach_database, write_releases
from piecework.config.user_files import with_secrets
from piecework.domain.errors import ConfigError
from piecework.results import releases
from tests.campaign.exchange.conftest import S3

AT = datetime(2026, 3, 4, tzinfo=UTC)


def make(
    folder: Path,
    rows: Mapping[str, str],
    campaign: str = "c",
    fields: Mapping[str, str] = MappingProxyType({}),
) -> Path:
    """Release a dataset with these labels by answer; return the folder of releases.

    Further fields have one value for all answers.
    """
    dataset = folder / "dataset"
    dataset.mkdir(exist_ok=True, parents=True)
    cells: dict[str, pa.Array] = {
        "answer_id": pa.array(list(rows), pa.string()),
        "label": pa.array(rows.values(), pa.string()),
        "flaws": pa.array([["a", cell] for cell in rows.values()]),
        "seconds": pa.array([1.5] * len(rows)),
        "is_surplus": pa.array([False] * len(rows)),
        "submitted_at": pa.array([AT] * len(rows), pa.timestamp("us", tz="UTC")),
        **{name: pa.array([value] * len(rows)) for name, value in fields.items()},
    }
    pq.write_table(pa.table(cells), dataset / "answers.parquet")
    releases.release(dataset, folder / "releases", campaign=campaign, at=AT)
    return folder / "releases"


def labels(url: str, table: str = "triage") -> dict[str, tuple[str, int]]:
    """What a table has: label and release by answer."""
    engine = sa.create_engine(url)
    with engine.connect() as connection:
        wanted = f"SELECT answer_id, label, piecework_release FROM {table}"
        rows = connection.execute(sa.text(wanted)).all()
    engine.dispose()
    return {row[0]: (row[1], row[2]) for row in rows}


def url_of(kind: str, tmp_path: Path, request: pytest.FixtureRequest) -> str:
    """An empty database of a kind."""
    if kind == "postgres":
        url: str = request.getfixturevalue("empty_postgres")
        return url
    return f"{kind}:///{tmp_path}/warehouse.db"


@pytest.mark.parametrize("kind", ["sqlite", "duckdb", "postgres"])
def test_a_table_is_what_the_latest_release_is(
    kind: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """New rows come, changed ones are replaced, withdrawn ones go; each once."""
    url = url_of(kind, tmp_path, request)
    folder = make(tmp_path, {"a": "x", "b": "y"})
    assert write_releases(folder, url, "triage", has_history=False, beside=tmp_path) == 1
    assert write_releases(folder, url, "triage", has_history=False, beside=tmp_path) == 0
    make(tmp_path, {"b": "z", "c": "x"})
    make(tmp_path, {"b": "z", "c": "x", "d": "x"})
    assert write_releases(folder, url, "triage", has_history=False, beside=tmp_path) == 2
    assert labels(url) == {"b": ("z", 2), "c": ("x", 2), "d": ("x", 3)}


@pytest.mark.parametrize("kind", ["sqlite", "duckdb", "postgres"])
def test_a_table_with_history_has_a_row_for_each_change(
    kind: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """Append-only: the state of each release can be computed."""
    url = url_of(kind, tmp_path, request)
    folder = make(tmp_path, {"a": "x", "b": "y"})
    make(tmp_path, {"b": "z"})
    assert write_releases(folder, url, "triage", has_history=True, beside=tmp_path) == 2
    engine = sa.create_engine(url)
    with engine.connect() as connection:
        rows = connection.execute(
            sa.text(
                "SELECT answer_id, label, piecework_release, piecework_is_withdrawn FROM triage "
                "ORDER BY piecework_release, answer_id"
            )
        ).all()
    engine.dispose()
    assert [tuple(row) for row in rows] == [
        ("a", "x", 1, False),
        ("b", "y", 1, False),
        ("a", None, 2, True),
        ("b", "z", 2, False),
    ]


@pytest.mark.parametrize("has_field", [False, True])
@pytest.mark.parametrize("has_history", [False, True])
@pytest.mark.parametrize("kind", ["sqlite", "duckdb", "postgres"])
def test_a_table_with_former_names_of_columns_goes_on(
    kind: str,
    has_history: bool,  # noqa: FBT001 - a parameter of the test
    has_field: bool,  # noqa: FBT001
    tmp_path: Path,
    request: pytest.FixtureRequest,
) -> None:
    """Its columns are renamed, also if the task now asks for a `release` of its own."""
    url = url_of(kind, tmp_path, request)
    folder = make(tmp_path, {"a": "x", "b": "y"})
    write_releases(folder, url, "triage", has_history=has_history, beside=tmp_path)
    engine = sa.create_engine(url)
    with engine.begin() as connection:
        for name in ("release", "is_withdrawn")[: 1 + has_history]:
            connection.exec_driver_sql(
                f"ALTER TABLE triage RENAME COLUMN piecework_{name} TO {name}"
            )
    engine.dispose()
    make(tmp_path, {"b": "z"}, fields={"release": "v9"} if has_field else {})
    assert write_releases(folder, url, "triage", has_history=has_history, beside=tmp_path) == 1
    assert labels(url) == ({"b": ("z", 2), "a": (None, 2)} if has_history else {"b": ("z", 2)})
    engine = sa.create_engine(url)
    with engine.connect() as connection:
        row = connection.exec_driver_sql("SELECT * FROM triage WHERE label = 'z'").mappings().one()
    engine.dispose()
    assert row.get("release") == ("v9" if has_field else None)
    assert ("piecework_is_withdrawn" in row, "is_withdrawn" in row) == (has_history, False)


@pytest.mark.parametrize("has_history", [False, True])
def test_a_column_called_release_of_a_table_that_no_sink_wrote_stays(
    has_history: bool,  # noqa: FBT001
    tmp_path: Path,
) -> None:
    """It is somebody else's."""
    url = f"sqlite:///{tmp_path}/warehouse.db"
    engine = sa.create_engine(url)
    with engine.begin() as connection:
        connection.exec_driver_sql("CREATE TABLE triage (answer_id TEXT, release TEXT)")
    engine.dispose()
    write_releases(
        make(tmp_path, {"a": "x"}), url, "triage", has_history=has_history, beside=tmp_path
    )
    engine = sa.create_engine(url)
    names = [column["name"] for column in sa.inspect(engine).get_columns("triage")]
    engine.dispose()
    assert {"release", "piecework_release"} <= {*names}


def test_a_write_that_fails_half_way_leaves_nothing(tmp_path: Path) -> None:
    """A release and its line are one transaction; the next attempt writes it."""
    url = f"sqlite:///{tmp_path}/warehouse.db"
    folder = make(tmp_path, {"a": "x"})
    write_releases(folder, url, "triage", has_history=False, beside=tmp_path)
    make(tmp_path, {"a": "y", "b": "x"})
    engine = sa.create_engine(url)
    refuse = (
        "CREATE TRIGGER no BEFORE INSERT ON triage WHEN new.answer_id = 'b' "
        "BEGIN SELECT raise(ABORT, 'not today'); END"
    )
    with engine.begin() as connection:
        connection.execute(sa.text(refuse))
    with pytest.raises(SinkFailed, match="not today"):
        write_releases(folder, url, "triage", has_history=False, beside=tmp_path)
    assert labels(url) == {"a": ("x", 1)}
    with engine.begin() as connection:
        connection.execute(sa.text("DROP TRIGGER no"))
    engine.dispose()
    assert write_releases(folder, url, "triage", has_history=False, beside=tmp_path) == 1
    assert labels(url) == {"a": ("y", 2), "b": ("x", 2)}


def test_a_column_that_a_later_release_has_is_added(tmp_path: Path) -> None:
    """As when the task asks one question more."""
    url = f"sqlite:///{tmp_path}/warehouse.db"
    folder = make(tmp_path, {"a": "x"})
    write_releases(folder, url, "triage", has_history=False, beside=tmp_path)
    path = tmp_path / "dataset/answers.parquet"
    table = pq.read_table(path)
    pq.write_table(table.append_column("reason", pa.array(["dark"])), path)
    releases.release(tmp_path / "dataset", folder, campaign="c", at=AT)
    assert write_releases(folder, url, "triage", has_history=False, beside=tmp_path) == 1
    engine = sa.create_engine(url)
    with engine.connect() as connection:
        reasons = connection.execute(sa.text("SELECT reason FROM triage")).all()
    engine.dispose()
    assert [tuple(row) for row in reasons] == [("dark",)]


def test_a_table_may_be_in_a_schema(tmp_path: Path, empty_postgres: str) -> None:
    """Made by the user; each of the campaign's tables is in it."""
    engine = sa.create_engine(empty_postgres)
    with pytest.raises(SinkFailed, match="no schema labels"):
        reach_database(empty_postgres, "labels.triage", beside=tmp_path)
    with engine.begin() as connection:
        connection.execute(sa.text("CREATE SCHEMA labels"))
    reach_database(empty_postgres, "labels.triage", beside=tmp_path)
    folder = make(tmp_path, {"a": "x"})
    write_releases(folder, empty_postgres, "labels.triage", has_history=False, beside=tmp_path)
    make(tmp_path, {"a": "y"})
    write_releases(folder, empty_postgres, "labels.triage", has_history=False, beside=tmp_path)
    assert labels(empty_postgres, "labels.triage") == {"a": ("y", 2)}
    names = sa.inspect(engine).get_table_names(schema="labels")
    assert sorted(names) == ["triage", "triage_releases"]
    with engine.begin() as connection:
        connection.execute(sa.text("DROP SCHEMA labels CASCADE"))
    engine.dispose()


def test_a_password_may_have_any_character(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is quoted as part of a URL; a path or a whole URL is taken as it is."""
    monkeypatch.setenv("PASSWORD", "p@ss/wo:rd%")
    url = sa.make_url(with_secrets("postgresql://w:${PASSWORD}@host/db"))
    assert (url.password, url.host) == ("p@ss/wo:rd%", "host")
    monkeypatch.setenv("FILE", "/data/a b.db")
    assert with_secrets("sqlite:///${FILE}") == "sqlite:////data/a b.db"
    monkeypatch.setenv("URL", "postgresql://w@host/db")
    assert with_secrets("${URL}") == "postgresql://w@host/db"


def test_tables_of_another_campaign_are_refused(tmp_path: Path) -> None:
    """And so is a change of what the table is."""
    url = f"sqlite:///{tmp_path}/warehouse.db"
    write_releases(make(tmp_path, {"a": "x"}), url, "triage", has_history=False, beside=tmp_path)
    other = make(tmp_path / "other", {"a": "x"}, campaign="d")
    with pytest.raises(SinkFailed, match="campaign 'c'"):
        write_releases(other, url, "triage", has_history=False, beside=tmp_path)
    with pytest.raises(SinkFailed, match="without history"):
        write_releases(tmp_path / "releases", url, "triage", has_history=True, beside=tmp_path)


def objects(s3: S3) -> dict[str, bytes]:
    """The bucket's objects."""
    listed: list[Any] = s3.list_objects_v2(Bucket="results").get("Contents", [])
    return {
        entry["Key"]: s3.get_object(Bucket="results", Key=entry["Key"])["Body"].read()
        for entry in listed
    }


def test_a_bucket_gets_each_release_with_its_manifest_last(tmp_path: Path, s3: S3) -> None:
    """And nothing is written again, so a copy that stopped goes on."""
    folder = make(tmp_path, {"a": "x"})
    make(tmp_path, {"a": "y"})
    second = folder / "000002/manifest.json"
    hidden = second.rename(tmp_path / "hidden")
    with pytest.raises(SinkFailed, match=r"manifest\.json"):
        copy_releases(folder, "s3://results/triage", beside=tmp_path)
    assert "triage/000001/manifest.json" in objects(s3)
    assert not [name for name in objects(s3) if "000002" in name]
    hidden.rename(second)
    assert copy_releases(folder, "s3://results/triage/", beside=tmp_path) == 1
    assert copy_releases(folder, "s3://results/triage", beside=tmp_path) == 0
    assert objects(s3) == {
        f"triage/{path.relative_to(folder)}": path.read_bytes()
        for path in folder.rglob("*.*")
        if path.is_file()
    }
    written = json.loads(objects(s3)["triage/000002/manifest.json"])
    assert written["release"] == 2


@pytest.mark.parametrize(
    "address",
    [
        "s3://results/x?endpoint_override=https://127.0.0.1:9",
        "s3://results/x?region=eu-west-1&endpoint_override=127.0.0.1:9",
        "s3://results/x?%65ndpoint_override=127.0.0.1:9",
        "s3://results/x?allow_bucket_creation=true",
        "gs://results/x?endpoint_override=127.0.0.1:9",
        "abfs://a@b/x?dfs_storage_authority=127.0.0.1:9",
        "file:///tmp?x=1",
        "filecache::file:///etc",
        "simplecache::http://127.0.0.1:9/a",
        "http://127.0.0.1:9/a::file:///etc",
        "zip://a.txt::file:///a.zip",
        "reference://x",
        "local:///etc",
        "git://.",
        "github://org:repo@/",
        "jupyter://127.0.0.1",
        "dask://x",
        "FILE:///etc",
    ],
)
def test_an_address_says_only_where_the_files_are(address: str, tmp_path: Path, s3: S3) -> None:
    """Options and chains would send credentials or answers elsewhere."""
    assert s3
    with pytest.raises(ConfigError, match=r"not allowed|cannot be opened"):
        copy_releases(make(tmp_path, {"a": "x"}), address, beside=tmp_path)


def test_folders_and_what_fsspec_knows_are_sinks_too(tmp_path: Path) -> None:
    """A relative path starts from the campaign file."""
    folder = make(tmp_path, {"a": "x"})
    assert copy_releases(folder, "copies/here", beside=tmp_path) == 1
    copy = tmp_path / "copies/here/000001"
    assert {path.name for path in copy.iterdir()} == {"answers.parquet", "manifest.json"}
    assert copy_releases(folder, "memory://copies", beside=tmp_path) == 1
    assert copy_releases(folder, "memory://copies", beside=tmp_path) == 0
    other = make(tmp_path / "other", {"a": "z"})
    with pytest.raises(SinkFailed, match="no other campaign"):
        copy_releases(other, "copies/here", beside=tmp_path)


def test_what_cannot_be_reached_is_one_sentence_without_secrets(
    tmp_path: Path, s3: S3, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A scheme, a driver, a bucket, a database that is not there; a lost variable."""
    folder = make(tmp_path, {"a": "x"})
    with pytest.raises(ConfigError, match="LOST is not set"):
        copy_releases(folder, "s3://results/${LOST}", beside=tmp_path)
    with pytest.raises(ConfigError, match="cannot be opened"):
        reach_folder("gopher://x/y", beside=tmp_path)
    with pytest.raises(SinkFailed, match="absent"):
        copy_releases(folder, "s3://absent/x", beside=tmp_path)
    with pytest.raises(SinkFailed, match="no bucket absent"):
        reach_folder("s3://absent/x", beside=tmp_path)
    reach_folder("s3://results/not/yet", beside=tmp_path)
    (tmp_path / "file").touch()
    with pytest.raises(SinkFailed, match="file is no folder to write to"):
        reach_folder("file/copies", beside=tmp_path)
    reach_folder("not/yet", beside=tmp_path)
    monkeypatch.setenv("SECRET_KEY", "a-hidden-word")
    with pytest.raises(ConfigError) as refused:
        reach_folder("s3://key:${SECRET_KEY}@results/x?no=1", beside=tmp_path)
    assert "a-hidden-word" not in str(refused.value)
    with pytest.raises(ConfigError, match="is no URL"):
        reach_database("warehouse", "triage", beside=tmp_path)
    monkeypatch.setenv("WAREHOUSE_PASSWORD", "a-hidden-word")
    url = "postgresql+psycopg://w:${WAREHOUSE_PASSWORD}@127.0.0.1:1/none"
    with pytest.raises(SinkFailed) as failed:
        reach_database(url, "triage", beside=tmp_path)
    assert "a-hidden-word" not in str(failed.value)
    assert "${WAREHOUSE_PASSWORD}" in str(failed.value)
    assert s3 is not None


@pytest.mark.parametrize("kind", ["sqlite", "duckdb"])
def test_a_database_is_beside_the_campaign_file_wherever_the_command_runs(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As cron runs it, in the home folder; as a sink, a check and a source."""
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.chdir(home)
    url = f"{kind}:///warehouse.db"
    folder = make(tmp_path, {"a": "x"})
    assert write_releases(folder, url, "triage", has_history=False, beside=tmp_path) == 1
    reach_database(url, "triage", beside=tmp_path)
    answers = Query(
        database=url, statement="SELECT * FROM triage", beside=tmp_path, columns=("answer_id",)
    )
    with closing(answers.read()) as delivery:
        assert [row.row_id for chunk in delivery.chunks for row in chunk] == ["a"]
    assert [*home.iterdir()] == []


@pytest.mark.parametrize("kind", ["sqlite", "duckdb"])
def test_a_check_creates_no_database(kind: str, tmp_path: Path) -> None:
    """A file appears with the first release; its folder must be there before."""
    reach_database(f"{kind}:///{tmp_path}/warehouse.db", "triage", beside=tmp_path)
    assert not (tmp_path / "warehouse.db").exists()
    with pytest.raises(SinkFailed, match="no folder to write to"):
        reach_database(f"{kind}:///{tmp_path}/nowhere/warehouse.db", "triage", beside=tmp_path)
