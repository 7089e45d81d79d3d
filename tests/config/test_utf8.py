"""Files that people write."""

import errno
from pathlib import Path

import pytest

from piecework.config.user_files import write_new
from tests.crash.world import World, can_mount, small_disk


@pytest.mark.skipif(not can_mount(), reason="only root can make a small disk to fill")
def test_a_full_disk_leaves_no_half_file(tmp_path: Path) -> None:
    """So the same command finds nothing in its way once there is room."""
    world = World(tmp_path)
    with small_disk(world.out):
        path = world.out / "birds.toml"
        world.leave_room(4)
        with pytest.raises(OSError, match="No space left") as full:
            write_new(path, "# birds\n" * 2_000)
        assert full.value.errno == errno.ENOSPC
        assert not path.exists()
        world.mend()
        write_new(path, "# birds\n" * 2_000)
        with pytest.raises(FileExistsError):
            write_new(path, "# other birds\n")
        assert path.read_text() == "# birds\n" * 2_000
