"""The documentation page that each command's help names in its last line."""

_PAGES = {
    "piecework": "docs/README.md",
    "init": "docs/campaign-file.md",
    "examples": "docs/tutorial.md",
    "tasks": "docs/gallery.md",
    "new-task": "docs/tasks.md",
    "check": "docs/campaign-file.md",
    "preview": "docs/tutorial.md",
    "rehearse": "docs/tutorial.md",
    "forecast": "docs/forecast.md",
    "run": "docs/operations.md",
    "advance": "docs/operations.md",
    "status": "docs/operations.md",
    "review": "docs/review.md",
    "decisions": "docs/review.md",
    "workers": "docs/operations.md",
    "workers invite": "docs/worker-site.md",
    "workers revoke": "docs/worker-site.md",
    "workers links": "docs/worker-site.md",
    "workers close": "docs/worker-site.md",
    "pay": "docs/operations.md",
    "unreject": "docs/operations.md",
    "stop": "docs/operations.md",
    "reconcile": "docs/operations.md",
    "export": "docs/dataset.md",
    "report": "docs/operations.md",
    "assess": "docs/heuristics.md",
    "analyse": "docs/analyses.md",
    "clean": "docs/partitions.md",
    "describe": "docs/describe.md",
    "import": "docs/importing.md",
    "serve": "docs/marketplace.md",
    "requester": "docs/marketplace.md",
    "layout": "docs/marketplace.md",
    "crowd": "docs/operations.md",
    "prolific": "docs/prolific.md",
    "prolific-emulator": "docs/prolific-emulator.md",
}
"""A command, or a subcommand with a page of its own ("workers invite"), to its page."""


def page_of(command: str) -> str:
    """Return the page of a command; a subcommand without one has its group's.

    >>> page_of("prolific doctor")
    'docs/prolific.md'
    """
    while command not in _PAGES:
        command, space, _ = command.rpartition(" ")
        if not space:
            raise KeyError(command)
    return _PAGES[command]


def docs_line(command: str) -> str:
    """Return the last line of a command's help."""
    return f"Documentation: {page_of(command)}"
