"""How the command starts: commands come from a table; the one called is imported."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import click
import pytest

import piecework.cli
from piecework.campaign.assembling import load_campaign
from piecework.cli.lazy_group import LazyCommand
from piecework.cli.main import main
from piecework.domain.crowds import MARKETS
from piecework.engine.opening import open_to_look
from tests.cli.finished_campaign import finished_campaign
from tests.for_each import for_each
from tests.test_layout import LINKED, PACKAGE

FOLDER = Path(piecework.cli.__file__).parent


def _entries(group: click.Group) -> Iterator[LazyCommand]:
    for command in group.commands.values():
        if isinstance(command, LazyCommand):
            yield command
            loaded = command.load()
            if isinstance(loaded, click.Group):
                yield from _entries(loaded)


ENTRIES = list(_entries(main))


@for_each("entry", ENTRIES)
def test_the_table_says_what_the_module_says(entry: LazyCommand) -> None:
    """A name or sentence that changed in the module alone would be told wrongly."""
    command = entry.load()
    assert command.name == entry.name
    assert command.get_short_help_str(500) == entry.get_short_help_str(500)


def _commands(group: click.Group) -> Iterator[click.Command]:
    for command in group.commands.values():
        loaded = command.load() if isinstance(command, LazyCommand) else command
        yield loaded
        if isinstance(loaded, click.Group):
            yield from _commands(loaded)


@pytest.mark.full
def test_every_module_with_a_command_is_in_the_table() -> None:
    """A command that neither the table nor a group has could not be called."""
    folders = [FOLDER, *(FOLDER.parent / "markets" / name / "commands" for name in MARKETS)]
    files = [file.relative_to(FOLDER.parent) for each in folders for file in each.glob("[!_]*.py")]
    modules = [
        import_module(".".join(("piecework", *file.with_suffix("").parts)))
        for file in files
        if file.stem not in {"main", "start"}
    ]
    commands = {
        f"{module.__name__}.{variable}": command
        for module in modules
        for variable, command in vars(module).items()
        if isinstance(command, click.Command)
    }
    callable_ones = list(_commands(main))
    assert len(commands) > 50
    assert [name for name in commands if commands[name] not in callable_ones] == []


def _modules_after(statement: str) -> set[str]:
    """What a fresh Python has imported after a statement."""
    script = f"import sys\n{statement}\nprint(*sys.modules, file=sys.stderr)"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=240
    )
    return set(done.stderr.split())


def test_the_list_of_commands_imports_no_command() -> None:
    """`piecework --help` is asked for often, and has to come at once."""
    modules = _modules_after(
        "from piecework.cli.main import main\nmain(['--help'], standalone_mode=False)"
    )
    assert not {f"piecework.cli.{entry.place.partition(':')[0]}" for entry in ENTRIES} & modules
    of_markets = {name for name in modules if re.match(r"piecework\.markets\.\w+\.", name)}
    assert of_markets == {f"piecework.markets.{name}.market" for name in MARKETS}
    assert "rich" not in modules
    # Measured: 19, two for each market, and 166 with Python 3.11; versions differ by some.
    assert sum(name.startswith("piecework") for name in modules) <= 19 + 2 * len(MARKETS)
    assert len(modules) <= 170


@pytest.mark.parametrize("group", MARKETS)
def test_the_help_of_a_market_imports_none_of_its_commands(group: str) -> None:
    """Its description stands apart from them, since they load a client of the market's API."""
    modules = _modules_after(
        "from piecework.cli.main import main\n"
        f"main(['market', '{group}', '--help'], standalone_mode=False)"
    )
    assert f"piecework.markets.{group}.market" in modules
    assert not {"httpx", "pydantic", f"piecework.markets.{group}.commands"} & modules


def test_a_command_that_calls_nobody_loads_no_client() -> None:
    """`piecework status --help` and the like come at once."""
    modules = _modules_after("import piecework.cli.status, piecework.cli.check")
    assert not {"httpx", "pydantic", "numpy"} & modules


def test_the_help_of_no_command_imports_what_takes_long() -> None:
    """All commands are imported; pandas, Prefect and matplotlib are for their work."""
    modules = _modules_after(
        "from piecework.cli.main import main\n"
        "def load_all(group):\n"
        "    for command in group.commands.values():\n"
        "        loaded = command.load() if hasattr(command, 'load') else command\n"
        "        if hasattr(loaded, 'commands'):\n"
        "            load_all(loaded)\n"
        "load_all(main)"
    )
    assert f"piecework.markets.{MARKETS[0]}.commands" in modules
    slow = {"pandas", "prefect", "matplotlib", "opentelemetry", "selectolax"}
    assert not slow & modules


_OF_A_CALL = {"boto3", "botocore", "httpx", "prefect", "http.client", "ssl", "urllib.request"}
_OF_A_PAGE = {"jinja2", "matplotlib", "rich"}
_OF_A_TABLE = {"numpy", "pandas", "pyarrow", "rapidfuzz", "scipy"}


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, str]]:
    """A finished campaign, and the address at which its marketplace is served."""
    with finished_campaign(tmp_path_factory.mktemp("finished")) as (path, _):
        with open_to_look(load_campaign(path)) as opened:
            endpoint = opened.endpoint
        yield path, endpoint


def _modules_of(*words: str) -> set[str]:
    """What a command imports."""
    return _modules_after(
        f"from piecework.cli.main import main\nmain({[*words]}, standalone_mode=False)"
    )


def test_a_status_imports_no_more_than_it_uses(finished: tuple[Path, str]) -> None:
    """It makes no call, and shows neither a page nor a table."""
    modules = _modules_of("status", str(finished[0]))
    assert not (_OF_A_CALL | _OF_A_PAGE | _OF_A_TABLE) & modules
    # Measured: 235 and 557; versions of Python and of libraries differ by some.
    assert sum(name.startswith("piecework") for name in modules) <= 240
    assert len(modules) <= 575


def test_a_status_is_over_before_anything_looks_for_garbage(finished: tuple[Path, str]) -> None:
    """What it imports stays: each look would take a twentieth of the time."""
    script = (
        "import gc\n"
        "from piecework.cli.main import main\n"
        "from piecework.cli.start import _COLLECTED_AT\n"
        "gc.set_threshold(*_COLLECTED_AT)\n"
        "before = gc.get_stats()[0]['collections']\n"
        f"main(['status', {str(finished[0])!r}], standalone_mode=False)\n"
        "print(gc.get_stats()[0]['collections'] - before)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        text=True,
        check=True,
        timeout=240,
    )
    assert done.stdout.split()[-1] == "0"


def test_a_pass_without_work_imports_no_more_than_it_uses(finished: tuple[Path, str]) -> None:
    """The first pass remembers that nothing is due; the next one reads that and ends."""
    path, endpoint = finished
    words = ("run", str(path), "--endpoint", endpoint, "--once")
    assert "piecework.engine.run_pass" in _modules_of(*words)
    modules = _modules_of(*words)
    slow = _OF_A_CALL | _OF_A_PAGE | _OF_A_TABLE | {"piecework.engine.run_pass"}
    assert not slow & modules
    # Measured with Python 3.11: 123 and 440; versions differ by some.
    assert sum(name.startswith("piecework") for name in modules) <= 130
    assert len(modules) <= 460


def _started(tmp_path: Path, pythonpath: Path) -> "subprocess.CompletedProcess[str]":
    """`piecework --version`, by its script in a folder of its own."""
    folder = tmp_path / "bin"
    folder.mkdir(exist_ok=True)
    script = shutil.copy(PACKAGE / "cli" / "start.py", folder / "piecework")
    return subprocess.run(
        [sys.executable, script, "--version"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(pythonpath)},
        capture_output=True,
        text=True,
        check=False,
        timeout=240,
    )


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """The folder `src` of another checkout, with links in it as they are here."""
    source = tmp_path / "checkout" / "src"
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(PACKAGE, source / "piecework", symlinks=True, ignore=ignored)
    for name in LINKED:
        shutil.copytree(PACKAGE / name, source.parent / name, ignore=ignored)
    return source


def test_another_version_on_the_path_is_refused(checkout: Path, tmp_path: Path) -> None:
    """Processes that a command starts would run that version, whatever this one is."""
    refused = _started(tmp_path, checkout)
    assert refused.returncode == 2
    fault, next_step = refused.stderr.splitlines()
    assert f"another piecework, {checkout / 'piecework'}; this command" in fault
    assert str(PACKAGE) in fault
    assert next_step == "next: env -u PYTHONPATH piecework --version"


@pytest.mark.parametrize("name", ["piecework/__init__.py", "piecework.py"])
def test_another_package_of_the_name_is_refused(name: str, tmp_path: Path) -> None:
    """It has no command, so there would be a traceback."""
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).write_text("")
    refused = _started(tmp_path, tmp_path)
    assert refused.returncode == 2
    assert f"another piecework, {tmp_path / 'piecework'}" in refused.stderr
    assert "Traceback" not in refused.stderr


def test_modules_of_other_names_on_the_path_disturb_nothing(tmp_path: Path) -> None:
    """Nor does the package's own folder, named once more."""
    for name in ("config.py", "main.py", "report/__init__.py", "store/__init__.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("raise RuntimeError")
    for folder in (tmp_path, PACKAGE.parent):
        begun = _started(tmp_path, folder)
        assert begun.returncode == 0, begun.stderr
        assert begun.stdout.startswith("piecework, version ")


@pytest.mark.parametrize("is_file", [True, False])
def test_a_checkout_whose_links_are_lost_is_refused(checkout: Path, *, is_file: bool) -> None:
    """As a ZIP of the repository leaves it: a file with the link's text, or nothing."""
    for name in ("config", "qc"):
        link = checkout / "piecework" / name
        text = str(link.readlink())
        link.unlink()
        if is_file:
            link.write_text(text)
    refused = subprocess.run(
        [sys.executable, "-c", "from piecework.cli.main import main; main()", "init", "--tasks"],
        env={**os.environ, "PYTHONPATH": str(checkout)},
        capture_output=True,
        text=True,
        check=False,
        timeout=240,
    )
    assert refused.returncode == 2
    fault, next_step = refused.stderr.splitlines()
    assert fault.startswith(f"{checkout / 'piecework'}: config, qc should be links")
    assert "git clone" in next_step
    assert "pip install" in next_step
