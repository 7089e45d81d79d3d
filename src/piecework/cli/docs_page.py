"""The documentation page that each command's help names in its last line."""

_PAGES = {
    "piecework": "docs/README.md",
    "init": "docs/reference/campaign-file.md",
    "examples": "docs/tutorial.md",
    "tasks": "docs/reference/gallery.md",
    "new-task": "docs/how-to/tasks.md",
    "check": "docs/reference/campaign-file.md",
    "preview": "docs/tutorial.md",
    "rehearse": "docs/tutorial.md",
    "forecast": "docs/how-to/forecast.md",
    "run": "docs/how-to/live.md",
    "advance": "docs/how-to/schedule.md",
    "status": "docs/how-to/watch.md",
    "review": "docs/how-to/review.md",
    "decisions": "docs/how-to/review.md",
    "workers": "docs/how-to/exclude-workers.md",
    "workers earned": "docs/how-to/earned.md",
    "workers restore": "docs/how-to/earned.md",
    "workers invite": "docs/how-to/worker-site.md",
    "workers revoke": "docs/how-to/worker-site.md",
    "workers links": "docs/how-to/worker-site.md",
    "workers close": "docs/how-to/worker-site.md",
    "workers continue": "docs/how-to/worker-site.md",
    "pay": "docs/how-to/pay.md",
    "unreject": "docs/how-to/pay.md",
    "stop": "docs/how-to/stop-and-resume.md",
    "archive": "docs/how-to/growing.md",
    "store": "docs/how-to/postgresql.md",
    "reconcile": "docs/how-to/restore.md",
    "backup": "docs/how-to/back-up-and-restore.md",
    "restore": "docs/how-to/back-up-and-restore.md",
    "rebind": "docs/how-to/restore.md",
    "export": "docs/reference/dataset.md",
    "report": "docs/how-to/partial-results.md",
    "assess": "docs/reference/heuristics.md",
    "analyse": "docs/explanation/analyses.md",
    "clean": "docs/how-to/partitions.md",
    "words": "docs/how-to/words.md",
    "describe": "docs/how-to/describe.md",
    "score": "docs/how-to/score.md",
    "import": "docs/how-to/importing.md",
    "serve": "docs/how-to/run-a-marketplace.md",
    "requester": "docs/how-to/run-a-marketplace.md",
    "layout": "docs/how-to/run-a-marketplace.md",
    "crowd": "docs/how-to/schedule.md",
    "panel": "docs/how-to/panel.md",
    "connect": "docs/how-to/connect.md",
    "prolific": "docs/how-to/prolific.md",
    "prolific-emulator": "docs/how-to/offline-markets.md",
    "connect-emulator": "docs/how-to/offline-markets.md",
}
"""A command, or a subcommand with a page of its own ("workers invite"), to its page."""


def page_of(command: str) -> str:
    """Return the page of a command; a subcommand without one has its group's.

    >>> page_of("prolific doctor")
    'docs/how-to/prolific.md'
    """
    while command not in _PAGES:
        command, space, _ = command.rpartition(" ")
        if not space:
            raise KeyError(command)
    return _PAGES[command]


def docs_line(command: str) -> str:
    """Return the last line of a command's help."""
    return f"Documentation: {page_of(command)}"
