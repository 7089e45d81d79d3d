"""Runs `piecework` commands, each forked from this process, which has imported all.

python -m tests.end_to_end.forking

Reads a command a line, as JSON: words, and files for what it prints and complains.
Answers each with its exit code. What a command imports takes longer than most commands.
"""

import gc
import json
import os
import sys
import threading

# Imported for the forks: the flows, what the report of a rehearsal needs, and what passes do.
import matplotlib.backends.backend_svg  # noqa: F401
import prefect.flow_engine  # noqa: F401

import piecework.flows.advance
import piecework.flows.rehearse
import piecework.report.model
import piecework.results.cleaning
import piecework.results.report_facts  # noqa: F401
import tests.crash.warm  # noqa: F401
from piecework.cli.main import main
from piecework.postprocess.language import candidates, lexicon


def _become(words: list[str], printed: str, complained: str) -> None:
    """What a shell does between fork and exec; then the command, to its end."""
    for file, name in ((0, os.devnull), (1, printed), (2, complained)):
        opened = os.open(name, os.O_RDWR | os.O_CREAT | os.O_TRUNC)
        os.dup2(opened, file)
    sys.argv[0] = "piecework"
    main(words)


if __name__ == "__main__":
    # The dictionary, with which each rehearsal cleans.
    candidates.targets()
    lexicon.begins_compounds("any")
    gc.collect()
    gc.freeze()  # or each fork would look through all, and so copy it
    # A thread would be missing in the forks, with whatever lock it holds.
    assert threading.active_count() == 1
    for line in sys.stdin:
        if (pid := os.fork()) == 0:
            _become(*json.loads(line))
        _, status = os.waitpid(pid, 0)
        print(os.waitstatus_to_exitcode(status), flush=True)  # noqa: T201
