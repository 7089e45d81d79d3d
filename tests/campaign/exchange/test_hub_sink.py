"""The Hugging Face Hub as a sink: a commit and a tag for each release."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from piecework.campaign.exchange.sinks import SinkFailed, reach_repository, write_release
from piecework.domain.errors import ConfigError
from tests.campaign.exchange.hub import TOKEN, Hub, Repository, served
from tests.campaign.exchange.test_sinks import make

TO = "hf://datasets/acme/triage"


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    """An empty hub, which the environment names as for a private one."""
    with served() as (held, url):
        monkeypatch.setenv("HF_ENDPOINT", url)
        monkeypatch.setenv("HF_TOKEN", TOKEN)
        monkeypatch.setenv("HF_HUB_DISABLE_TELEMETRY", "1")
        yield held


def write(folder: Path, *gone: str) -> int:
    """Write the folder's dataset and releases to the repository."""
    return write_release(folder / "dataset", folder / "releases", TO, gone=gone)


def release_of(repository: Repository, revision: str) -> tuple[bytes, bytes]:
    """The answers and the manifest at a revision."""
    files = repository.at(revision)
    return files["answers.parquet"], files["manifest.json"]


def test_each_release_is_a_commit_and_a_tag(hub: Hub, tmp_path: Path) -> None:
    """A reader of release 1 reads the same bytes after release 2; each comes once."""
    assert write(tmp_path) == 0  # there is no release yet
    assert hub.repositories == {}
    make(tmp_path, {"a": "x"})
    (tmp_path / "dataset/pictures").mkdir()
    (tmp_path / "dataset/pictures/1.svg").write_text("<svg/>")
    assert write(tmp_path) == 1
    assert write(tmp_path) == 0
    repository = hub.repositories["acme/triage"]
    first = release_of(repository, "release-1")
    assert first[0] == (tmp_path / "dataset/answers.parquet").read_bytes()
    assert first[1] == (tmp_path / "releases/000001/manifest.json").read_bytes()
    assert repository.at("release-1")["pictures/1.svg"] == b"<svg/>"
    make(tmp_path, {"a": "x", "b": "y"})
    assert write(tmp_path) == 1
    assert release_of(repository, "release-1") == first
    assert release_of(repository, "release-2") != first
    assert [message for _, message, _ in repository.commits] == [
        *("initial commit", "Release 1", "Release 2")
    ]


def test_a_write_that_ends_before_its_tag_is_completed(hub: Hub, tmp_path: Path) -> None:
    """The commit is not made again."""
    make(tmp_path, {"a": "x"})
    hub.fails_at = "/tag/"
    with pytest.raises(SinkFailed, match=f"{TO}: .*500"):
        write(tmp_path)
    repository = hub.repositories["acme/triage"]
    assert (len(repository.commits), repository.tags) == (2, {})
    hub.fails_at = ""
    assert write(tmp_path) == 0
    assert repository.tags == {"release-1": repository.head}
    assert len(repository.commits) == 2


def test_a_write_that_ends_before_its_commit_leaves_nothing(hub: Hub, tmp_path: Path) -> None:
    """No reader sees half a release."""
    make(tmp_path, {"a": "x"})
    hub.fails_at = "/commit/"
    with pytest.raises(SinkFailed):
        write(tmp_path)
    repository = hub.repositories["acme/triage"]
    assert list(repository.at("main")) == [".gitattributes"]
    hub.fails_at = ""
    assert write(tmp_path) == 1


def test_files_that_a_person_added_stay(hub: Hub, tmp_path: Path) -> None:
    """And do not stop a release."""
    make(tmp_path, {"a": "x"})
    write(tmp_path)
    repository = hub.repositories["acme/triage"]
    repository.commit("Add a figure", {"figure.png": b"png"})
    make(tmp_path, {"a": "z"})
    assert write(tmp_path) == 1
    assert repository.at("release-2")["figure.png"] == b"png"


def test_files_that_an_export_writes_no_more_are_deleted(hub: Hub, tmp_path: Path) -> None:
    """Once, and only where they are; the release before still has them."""
    make(tmp_path, {"a": "x"})
    old = tmp_path / "dataset/answers.csv"
    old.write_text("of a worker who left")
    write(tmp_path)
    repository = hub.repositories["acme/triage"]
    repository.commit("Add a figure", {"figure.png": b"png"})
    old.unlink()
    for number, answer in ((2, "y"), (3, "z")):
        make(tmp_path, {"a": answer})
        assert write(tmp_path, "answers.csv", "images/1.svg", "answers.parquet") == 1
        files = repository.at(f"release-{number}")
        assert "answers.csv" not in files
        assert {"answers.parquet", "figure.png"} <= {*files}
    assert "answers.csv" in repository.at("release-1")


def test_another_campaign_s_repository_is_refused(hub: Hub, tmp_path: Path) -> None:
    """Two campaigns cannot mix."""
    make(tmp_path / "one", {"a": "x"}, campaign="one")
    write(tmp_path / "one")
    make(tmp_path / "two", {"a": "x"}, campaign="two")
    with pytest.raises(SinkFailed, match="no release of this campaign"):
        write(tmp_path / "two")
    assert len(hub.repositories["acme/triage"].commits) == 2


@pytest.mark.usefixtures("hub")
def test_bad_tokens_hubs_and_addresses_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a sentence with the address."""
    reach_repository(TO)
    make(tmp_path, {"a": "x"})
    monkeypatch.setenv("HF_TOKEN", "hf_wrong")
    for act in (lambda: reach_repository(TO), lambda: write(tmp_path)):
        with pytest.raises(SinkFailed, match=f"{TO}: .*(401|Invalid)") as refused:
            act()
        assert "hf_wrong" not in str(refused.value)
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    with pytest.raises(SinkFailed, match=TO):
        reach_repository(TO)
    for address in ("hf://acme/triage", "hf://datasets/triage", "hf://datasets/a/"):
        with pytest.raises(ConfigError, match="not a dataset") as faulty:
            reach_repository(address)
        assert faulty.value.next_step == "write hf://datasets/OWNER/NAME"
