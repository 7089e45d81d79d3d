"""A schedule: single passes, simulated people between them, and an edited file."""

import hashlib
import json
import re
import time

from tests.journeys.conftest import PAGE, User
from tests.marketplace.market import free_port


def test_passes_take_an_edited_file_and_say_which_file_decided(user: User) -> None:
    """The report names both files, and a finished campaign has nothing more to do."""
    user.write("hit.html", PAGE)
    user.write("items.csv", "id,text\n" + "".join(f"s{n},text {n}\n" for n in range(4)))
    user.types("init food.toml --task hit.html --items items.csv --answers 2 --json")
    user.completes("food.toml", by="policy")
    user.replace("food.toml", "batches = 1", "batches = 2")
    port = free_port()
    advance = f"run food.toml --once --rehearsal --endpoint http://127.0.0.1:{port} --json"
    files = [user.path("food.toml").read_bytes()]
    with user.starts(f"market serve --simulate food.toml --port {port}") as crowd:
        deadline = time.monotonic() + 300
        while True:
            assert time.monotonic() < deadline
            assert crowd.poll() in {None, 0}
            status = user.tries(advance)
            if status is None:
                time.sleep(0.2)  # the crowd is at work, or does not listen yet
            elif status["is_finished"]:
                break
            elif status["batch"] == 2 and len(files) == 1:
                user.replace("food.toml", "Set aside:", "Put aside:")
                files.append(user.path("food.toml").read_bytes())
                # While the marketplace is served, `rehearse` would find it in use.
                once = f"piecework {advance.removesuffix(' --json')}"
                assert user.types("status food.toml").endswith(f"next: {once}\n")
        assert crowd.wait(120) == 0
    report = (user.results("food") / "report.html").read_text()
    for file in files:
        assert hashlib.sha256(file).hexdigest()[:12] in report
    manifest = json.loads((user.results("food") / "dataset/croissant.json").read_text())
    assert re.search("REHEARSAL", str(manifest["description"]))
