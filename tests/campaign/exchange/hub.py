"""A server with the part of the Hugging Face Hub's interface that a sink needs.

Like the Hub, it keeps commits of files, refuses a commit whose parent is not the head,
and wants a token.
"""

import base64
import hashlib
import json
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

TOKEN = "hf_right"  # noqa: S105 - of this server alone


@dataclass(slots=True)
class Repository:
    """Commits in their order, each with all its files; and tags."""

    commits: list[tuple[str, str, dict[str, bytes]]] = field(default_factory=list)
    tags: dict[str, str] = field(default_factory=dict)

    @property
    def head(self) -> str:
        """The id of the last commit."""
        return self.commits[-1][0]

    def commit(self, message: str, files: dict[str, bytes], deleted: Collection[str] = ()) -> str:
        """Add and delete files."""
        merged = {**(self.commits[-1][2] if self.commits else {}), **files}
        for path in deleted:
            del merged[path]
        oid = hashlib.sha256(f"{len(self.commits)}{message}".encode()).hexdigest()[:40]
        self.commits.append((oid, message, merged))
        return oid

    def at(self, revision: str) -> dict[str, bytes]:
        """The files of a commit, tag or branch."""
        oid = self.tags.get(revision, revision)
        for name, _, files in self.commits:
            if name == oid:
                return files
        return self.commits[-1][2]


class Hub:
    """What the server holds.

    Attributes:
        repositories: by name.
        fails_at: paths that contain this are answered with 500.
    """

    def __init__(self) -> None:
        self.repositories: dict[str, Repository] = {}
        self.fails_at = ""


@contextmanager
def served() -> Iterator[tuple[Hub, str]]:
    """Serve an empty hub on a free port of this machine."""
    hub = Hub()

    class Handler(_Handler):
        held = hub

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield hub, f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join(30)


class _Handler(BaseHTTPRequestHandler):
    held: Hub
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: object) -> None:
        """Say nothing."""

    def do_HEAD(self) -> None:
        """As for GET, without the content."""
        self.do_GET()

    def do_GET(self) -> None:
        """Answer for an account, a repository or a file of it."""
        if self._refuses():
            return
        parts = self.path.partition("?")[0].strip("/").split("/")
        if parts[:2] == ["api", "whoami-v2"]:
            self._say({"name": "acme", "type": "user", "orgs": []})
        elif parts[:2] == ["api", "datasets"]:
            name = "/".join(parts[2:4])
            repository = self.held.repositories[name]
            listed = [{"rfilename": path} for path in repository.at("main")]
            facts = {"id": name, "sha": repository.head, "private": True, "siblings": listed}
            self._say(facts)
        else:
            name, revision, path = "/".join(parts[1:3]), parts[4], "/".join(parts[5:])
            files = self.held.repositories[name].at(revision)
            if path not in files:
                self._say({"error": "Entry not found"}, 404, "EntryNotFound")
                return
            content = files[path]
            self.send_response(200)
            self.send_header("Content-Length", str(len(content)))
            self.send_header("ETag", f'"{hashlib.sha256(content).hexdigest()}"')
            self.send_header("X-Repo-Commit", self.held.repositories[name].head)
            self.end_headers()
            if self.command == "GET":
                self.wfile.write(content)

    def do_POST(self) -> None:
        """Create a repository, say how to upload, commit, or tag."""
        length = int(self.headers.get("Content-Length") or 0)
        body = self.rfile.read(length)
        if self._refuses():
            return
        parts = self.path.partition("?")[0].strip("/").split("/")
        if parts[:3] == ["api", "repos", "create"]:
            asked = json.loads(body)
            owner = asked.get("organization") or "acme"
            name = f"{owner}/{asked['name']}"
            assert asked["visibility"] == "private"
            assert asked["type"] == "dataset"
            if name in self.held.repositories:
                self._say({"error": "exists", "url": self._url(name)}, 409)
                return
            made = self.held.repositories[name] = Repository()
            made.commit("initial commit", {".gitattributes": b""})
            self._say({"url": self._url(name)})
        elif parts[:2] == ["api", "validate-yaml"]:
            self._say({"errors": [], "warnings": []})
        elif parts[4] == "preupload":
            files = [
                {"path": each["path"], "uploadMode": "regular", "shouldIgnore": False}
                for each in json.loads(body)["files"]
            ]
            self._say({"files": files})
        elif parts[4] == "commit":
            self._commit("/".join(parts[2:4]), body)
        else:
            repository = self.held.repositories["/".join(parts[2:4])]
            tag = json.loads(body)["tag"]
            if tag in repository.tags:
                self._say({"error": "Tag exists"}, 409)
                return
            repository.tags[tag] = parts[5]
            self._say({})

    def _commit(self, name: str, body: bytes) -> None:
        repository = self.held.repositories[name]
        lines = [json.loads(line) for line in body.splitlines() if line]
        header = lines[0]["value"]
        if header.get("parentCommit") != repository.head:
            self._say({"error": "the branch has moved"}, 412)
            return
        files = {
            line["value"]["path"]: base64.b64decode(line["value"]["content"])
            for line in lines
            if line["key"] == "file"
        }
        deleted = [line["value"]["path"] for line in lines if line["key"] == "deletedFile"]
        oid = repository.commit(header["summary"], files, deleted)
        url = f"{self._url(name)}/commit/{oid}"
        self._say({"success": True, "commitOid": oid, "commitUrl": url})

    def _refuses(self) -> bool:
        """Refuse a wrong token, and answer nothing where a test wants a fault."""
        if self.held.fails_at and self.held.fails_at in self.path:
            self._say({"error": "not today"}, 500)
        elif self.headers.get("Authorization") != f"Bearer {TOKEN}":
            self._say({"error": "Invalid credentials"}, 401)
        else:
            return False
        return True

    def _url(self, name: str) -> str:
        return f"http://{self.headers['Host']}/datasets/{name}"

    def _say(self, facts: object, status: int = 200, error: str = "") -> None:
        content = json.dumps(facts).encode()
        self.send_response(status)
        if error:
            self.send_header("X-Error-Code", error)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)
