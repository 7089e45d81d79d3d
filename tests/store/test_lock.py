import multiprocessing
import os
from pathlib import Path

import pytest

from piecework.domain.errors import StoreError
from piecework.domain.store_address import in_folder
from piecework.store.files import CROWD
from piecework.store.lock import only_pass


def _hold_and_die(folder: Path) -> None:
    with only_pass(in_folder(folder)):
        os.kill(os.getpid(), 9)


def test_a_second_pass_says_who_holds_the_campaign(tmp_path: Path) -> None:
    """The message has the id of the process and what it does; nothing waits."""
    for by, next_step in (("a pass", "wait until it ends"), (CROWD, "the next pass")):
        with (
            only_pass(in_folder(tmp_path), by=by),
            pytest.raises(StoreError) as busy,
            only_pass(in_folder(tmp_path)),
        ):
            pass
        assert f"process {os.getpid()} ({by}) is working" in str(busy.value)
        assert next_step in busy.value.next_step


def test_the_lock_dies_with_its_process(tmp_path: Path) -> None:
    """After SIGKILL the next pass gets the lock without any cleanup."""
    context = multiprocessing.get_context("forkserver")
    process = context.Process(target=_hold_and_die, args=(tmp_path,))
    process.start()
    process.join(timeout=240)
    assert process.exitcode == -9
    with only_pass(in_folder(tmp_path)):
        assert "is working" not in (tmp_path / ".piecework.lock").read_text()
