"""What a release consists of, in environments of their own, far from the checkout.

`make release` names the folder of its files in PIECEWORK_DIST; else tests build them.
"""

import os
import re
import subprocess
import sys
import sysconfig
import tarfile
import zipfile
from email.parser import Parser
from importlib.metadata import version as installed_version
from pathlib import Path

import pytest

from tests.clients.environments import UnavailableError, python_with_wheel
from tests.conftest import ROOT
from tests.test_layout import LINKED

_SECONDS = 580
_RELEASE = os.environ.get("PIECEWORK_DIST")
_BIN = Path(sys.executable).parent
_APART = sorted(ROOT.glob("packages/*"))

_HOSTILE = "raise SystemExit('a module of the current folder was imported')\n"
_OWN = ["config", "report", "store"]
"""Packages of a user's project; piecework has rooms of these names."""


def _run(*words: str | Path, cwd: Path, environment: dict[str, str] | None = None) -> str:
    done = subprocess.run(
        words,
        cwd=cwd,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=_SECONDS,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def _build(source: Path, folder: Path, *targets: str) -> Path:
    """Build the wheel, or other targets, as `pip` and `uv` do."""
    words = [word for target in targets or ["wheel"] for word in ("-t", target)]
    _run(sys.executable, "-m", "hatchling", "build", *words, "-d", folder, cwd=source)
    return folder


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the files that are released."""
    if _RELEASE:
        return ROOT / _RELEASE
    folder = tmp_path_factory.mktemp("built")
    for source in (ROOT, *_APART):
        _build(source, folder, "sdist", "wheel")
    return folder


@pytest.fixture(scope="module")
def wheel(built: Path) -> Path:
    """The wheel of piecework among them."""
    (path,) = built.glob("piecework-*.whl")
    return path


@pytest.fixture(scope="module")
def offline_markets(built: Path) -> Path:
    """The wheel of the offline markets among them."""
    (path,) = built.glob("offline_markets-*.whl")
    return path


def _files(wheel: Path) -> dict[str, int]:
    """The checksum of each file of a wheel."""
    with zipfile.ZipFile(wheel) as packed:
        return {entry.filename: entry.CRC for entry in packed.infolist()}


def _packed(wheel: Path) -> set[str]:
    """The files of a wheel that are no metadata."""
    return {
        name for name in _files(wheel) if ".dist-info/" not in name and ".data/scripts/" not in name
    }


def _kept(source: Path, *folders: str) -> set[str]:
    """The files of folders that git knows, below `src/`."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", *folders],
        cwd=source,
        capture_output=True,
        text=True,
        check=True,
    )
    return {
        name.removeprefix("src/")
        for name in listed.stdout.splitlines()
        if (source / name).is_file()
    }


@pytest.mark.full
def test_the_wheel_has_every_file_of_the_rooms_and_nothing_else(
    wheel: Path, offline_markets: Path
) -> None:
    """Templates, tasks, fees, examples and SQL are in it; tests are not."""
    linked = {f"piecework/{name}" for name in _kept(ROOT, *LINKED)}
    inside = _packed(wheel)
    assert inside == _kept(ROOT, "src/piecework") | linked
    assert {"piecework/config/fees.toml", "piecework/py.typed"} <= inside
    inside = _packed(offline_markets)
    assert inside == _kept(ROOT / "packages/offline-markets", "src")
    assert "offline_markets/prolific/schema.sql" in inside


@pytest.mark.parametrize("name", ["piecework", "offline_markets"])
def test_the_archive_of_the_source_builds_the_same_wheel(
    built: Path, name: str, tmp_path: Path
) -> None:
    """The archive has folders where the checkout has links."""
    (archive,), (wheel,) = built.glob(f"{name}-*.tar.gz"), built.glob(f"{name}-*.whl")
    with tarfile.open(archive) as packed:
        assert not [member.name for member in packed if member.issym()]
        packed.extractall(tmp_path, filter="data")
    (source,) = tmp_path.iterdir()
    assert {"README.md", "LICENSE"} <= {path.name for path in source.iterdir()}
    (again,) = _build(source, tmp_path / "again").glob("*.whl")
    assert _files(again) == _files(wheel)


def test_the_wheel_declares_its_licence_and_may_be_uploaded(wheel: Path) -> None:
    """An index refuses what is classified as private."""
    with zipfile.ZipFile(wheel) as packed:
        (path,) = (name for name in packed.namelist() if name.endswith("/METADATA"))
        metadata = Parser().parsestr(packed.read(path).decode())
    assert metadata["License-Expression"] == "MIT"
    assert metadata["License-File"] == "LICENSE"
    assert metadata["Version"] == installed_version("piecework")
    assert metadata.get_all("Provides-Extra") == [
        "backup",
        "dask",
        "describe",
        "detections",
        "huggingface",
        "offline-markets",
        "oidc",
        "otel",
        "prolific",
        "sql",
    ]
    assert not [value for value in metadata.get_all("Classifier", []) if "Private" in value]


@pytest.fixture
def hostile_folder(tmp_path: Path) -> Path:
    """A folder whose modules have names of rooms, and end whoever imports them."""
    folder = tmp_path / "hostile"
    for name in _OWN[1:]:
        (folder / name).mkdir(parents=True)
        (folder / name / "__init__.py").write_text(_HOSTILE)
    for name in ("config", "flows"):
        (folder / f"{name}.py").write_text(_HOSTILE)
    return folder


def _environment(bin_folder: Path, hostile: Path) -> dict[str, str]:
    """Variables under which Python looks into the hostile folder first."""
    return {
        "HOME": str(hostile.parent),
        "PATH": f"{bin_folder}:{os.environ['PATH']}",
        "PYTHONPATH": str(hostile),
    }


def _bytes(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and path.suffix != ".pyc"
    }


def _check_demo(bin_folder: Path, hostile: Path) -> None:
    """Copy the examples into the hostile folder and check one there."""
    environment = _environment(bin_folder, hostile)
    before = _bytes(hostile)
    program = bin_folder / "piecework"
    version = _run(program, "--version", cwd=hostile, environment=environment)
    assert version.split()[-1] == installed_version("piecework")
    _run(program, "init", "--examples", cwd=hostile, environment=environment)
    _run(*(program, "check", "config/campaigns/demo.toml"), cwd=hostile, environment=environment)
    after = _bytes(hostile)
    assert {name: after[name] for name in before} == before


@pytest.mark.full
def test_the_editable_install_takes_nothing_from_the_current_folder(hostile_folder: Path) -> None:
    """Nor from PYTHONPATH: each import names the package."""
    _check_demo(_BIN, hostile_folder)


@pytest.mark.full
def test_a_project_with_packages_of_the_same_names_is_left_alone(
    wheel: Path, hostile_folder: Path, tmp_path: Path
) -> None:
    """Installed beside it, used and removed: its files stay as they were."""
    project, home = tmp_path / "project", tmp_path / "environment"
    for name in _OWN:
        (project / name).mkdir(parents=True)
        (project / name / "__init__.py").write_text(f"OWNER = 'the project: {name}'\n")
    (project / "flows.py").write_text("OWNER = 'the project: flows'\n")
    (project / "pyproject.toml").write_text(
        '[project]\nname = "theirs"\nversion = "1"\n'
        '[build-system]\nrequires = ["hatchling"]\nbuild-backend = "hatchling.build"\n'
        "[tool.hatch.build.targets.wheel]\n"
        f"only-include = {[*_OWN, 'flows.py']}\n"
    )
    (theirs,) = _build(project, tmp_path / "theirs").glob("*.whl")
    _run(sys.executable, "-m", "venv", "--without-pip", home, cwd=tmp_path)
    pip = (sys.executable, "-m", "pip", "--python", home / "bin/python")
    install = (*pip, "install", "--quiet", "--no-index", "--no-deps")
    _run(*install, theirs, cwd=tmp_path)
    (packages,) = home.glob("lib/python*/site-packages")
    before = _bytes(packages)
    _run(*install, wheel, cwd=tmp_path)
    # What piecework needs is not installed again: the tests' own environment has it.
    needed = packages / "needed.pth"
    needed.write_text(sysconfig.get_path("purelib"))

    _check_demo(home / "bin", hostile_folder)
    owners = "; ".join(f"import {name}; print({name}.OWNER)" for name in [*_OWN, "flows"])
    output = _run(home / "bin/python", "-c", owners, cwd=tmp_path)
    assert output.splitlines() == [f"the project: {name}" for name in [*_OWN, "flows"]]

    needed.unlink()
    _run(*pip, "uninstall", "--quiet", "--yes", "piecework", cwd=tmp_path)
    assert _bytes(packages) == before
    assert not (home / "bin/piecework").exists()


@pytest.mark.clients
@pytest.mark.parametrize("version", ["3.11", "3.12", "3.13"])
def test_the_demo_is_rehearsed_far_from_the_checkout(
    wheel: Path, version: str, hostile_folder: Path
) -> None:
    """Examples are copied out of the package, and the demo runs to its report."""
    try:
        bin_folder = python_with_wheel(wheel, version=version)
    except UnavailableError as why:
        if _RELEASE and version == sysconfig.get_python_version():
            raise
        pytest.skip(str(why))
    environment = _environment(bin_folder, hostile_folder)

    def piecework(*words: str) -> str:
        return _run(bin_folder / "piecework", *words, cwd=hostile_folder, environment=environment)

    output = piecework("init", "--examples")
    assert output.endswith("next: piecework rehearse config/campaigns/demo.toml\n")
    campaigns = re.findall(r"^config/campaigns/\w+\.toml", output, re.MULTILINE)
    assert len(campaigns) == len([*(ROOT / "config/campaigns").glob("[!.]*.toml")]) - 1
    piecework("rehearse", "config/campaigns/demo.toml")
    report = (hostile_folder / "config/campaigns/out/demo/rehearsals/1/report.html").read_text()
    assert f"piecework {installed_version('piecework')}" in report
    # Nothing is written to the user's Prefect.
    assert not (hostile_folder.parent / ".prefect").exists()

    if version != sysconfig.get_python_version():
        return
    # Without the extra a rehearsal at a market is refused, with it the same line works.
    # The environment may be of an earlier run, which installed it.
    pip = bin_folder / "pip"
    _run(pip, "uninstall", "--quiet", "--yes", "offline-markets", cwd=hostile_folder)
    words = (bin_folder / "piecework", "rehearse", "config/campaigns/demo.toml")
    refused = subprocess.run(
        [*words, "--crowd", "connect"],
        cwd=hostile_folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=_SECONDS,
    )
    assert refused.returncode == 2
    assert refused.stderr.endswith("next: pip install 'piecework[offline-markets]'\n")
    install = ("install", "--quiet", "--no-index", "--find-links", wheel.parent)
    _run(pip, *install, "piecework[offline-markets]", cwd=hostile_folder)
    assert "paid" in piecework("rehearse", "config/campaigns/demo.toml", "--crowd", "connect")


@pytest.mark.clients
def test_the_offline_markets_are_of_use_alone(offline_markets: Path, hostile_folder: Path) -> None:
    """Installed without piecework: the commands, and the life of a study on the first page."""
    try:
        bin_folder = python_with_wheel(offline_markets, version=sysconfig.get_python_version())
    except UnavailableError as why:
        if _RELEASE:
            raise
        pytest.skip(str(why))
    environment = _environment(bin_folder, hostile_folder)

    def run(*words: str) -> str:
        program = bin_folder / words[0]
        return _run(program, *words[1:], cwd=hostile_folder, environment=environment)

    listed = {line.partition("==")[0].lower() for line in run("pip", "freeze").splitlines()}
    assert not listed & {"piecework", "pandas", "prefect", "boto3"}
    for command in ("offline-prolific", "offline-connect"):
        assert f"Usage: {command} " in run(command, "--help")
    readme = (ROOT / "packages/offline-markets/README.md").read_text(encoding="utf-8")
    [block] = re.findall(r"```python\n(import httpx.*?)```", readme, re.DOTALL)
    run("python", "-c", block)
