"""The part of GitHub's REST API that functions use, on loopback, as GitHub documents it: what GitHub refuses is refused here."""

import http.server
import io
import json
import re
import tarfile
import threading
import urllib.parse

TOKEN = "ghp_canaryTokenOfTheHost00000000000000"
STATES = {"error", "failure", "pending", "success"}
LONGEST_DESCRIPTION = 140
LONGEST_COMMENT = 65_536
HASH = re.compile("[0-9a-f]{40}")


class GitHub:
    """One repository, `acme/infra`, with commits that tests add; and an address that is told of runs."""

    def __init__(self):
        self.commits = {}
        self.branches = {}
        self.statuses = []
        self.comments = {}
        self.told = []
        # What was asked that GitHub would have refused.
        self.mistakes = []
        self.lock = threading.Lock()
        handler = type("Handler", (Handler,), {"github": self})
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self.port = self.server.server_port
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def commit(self, files):
        """A new commit of these files on top of the main branch, whose files it keeps; its hash."""
        with self.lock:
            sha = f"{len(self.commits) + 1:040x}"
            before = self.commits.get(self.branches.get("main"), {})
            self.commits[sha] = {**before, **files}
            self.branches["main"] = sha
            return sha

    def statuses_of(self, sha):
        """The states that a commit went through, with their descriptions, by context."""
        found = {}
        for commit, body in list(self.statuses):
            if commit == sha:
                found.setdefault(body["context"], []).append((body["state"], body["description"]))
        return found

    def archive(self, files):
        """As GitHub packs it: one folder around everything."""
        packed = io.BytesIO()
        with tarfile.open(fileobj=packed, mode="w:gz") as tar:
            for name, text in files.items():
                entry = tarfile.TarInfo(f"acme-infra-1a2b3c4/{name}")
                entry.size = len(text.encode())
                tar.addfile(entry, io.BytesIO(text.encode()))
        return packed.getvalue()


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def answer(self, status, body=b"", headers=None):
        if not isinstance(body, bytes):
            body = json.dumps(body).encode()
        self.send_response(status)
        for name, value in (headers or {"content-type": "application/json; charset=utf-8"}).items():
            self.send_header(name, value)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def refuse(self, status, message):
        self.github.mistakes.append(f"{self.command} {self.path}: {status} {message}")
        self.answer(status, {"message": message})

    def authorized(self):
        if "user-agent" not in self.headers:
            return self.refuse(403, "Request forbidden by administrative rules.")
        if self.headers.get("authorization") != f"Bearer {TOKEN}":
            return self.refuse(401, "Bad credentials")
        return True

    def body(self):
        return self.rfile.read(int(self.headers.get("content-length", 0)))

    def do_GET(self):
        path, _, query = self.path.partition("?")
        if archive := re.fullmatch("/codeload/acme/infra/legacy.tar.gz/([^/]+)", path):
            # Another host than the API's: the token is none of its business.
            if "authorization" in self.headers:
                return self.refuse(400, "a token was sent to the host of archives")
            packed = self.github.archive(self.github.commits[archive[1]])
            return self.answer(200, packed, {"content-type": "application/x-gzip"})
        if not self.authorized():
            return
        if tarball := re.fullmatch("/repos/acme/infra/tarball/([^/]+)", path):
            reference = urllib.parse.unquote(tarball[1])
            sha = self.github.branches.get(reference, reference)
            if sha not in self.github.commits:
                return self.answer(404, {"message": "Not Found"})
            location = f"http://localhost:{self.github.port}/codeload/acme/infra/legacy.tar.gz/{sha}"
            return self.answer(302, headers={"location": location})
        if re.fullmatch("/repos/acme/infra/commits/[0-9a-f]{40}/pulls", path):
            # Nobody has merged anything: commits are pushed.
            return self.answer(200, [])
        if issue := re.fullmatch(r"/repos/acme/infra/issues/(\d+)/comments", path):
            asked = {key: int(values[0]) for key, values in urllib.parse.parse_qs(query).items()}
            size, page = min(asked.get("per_page", 30), 100), asked.get("page", 1)
            found = [{"id": number, "body": body} for number, (of, body) in self.github.comments.items() if of == issue[1]]
            return self.answer(200, found[(page - 1) * size:page * size])
        self.refuse(404, "Not Found")

    def do_POST(self):
        body = self.body()
        if self.path == "/told":
            self.github.told.append((dict(self.headers), body))
            return self.answer(200, {})
        if not self.authorized():
            return
        body = json.loads(body)
        if status := re.fullmatch("/repos/acme/infra/statuses/([^/]+)", self.path):
            if not HASH.fullmatch(status[1]) or status[1] not in self.github.commits:
                return self.refuse(422, "No commit found for SHA")
            if body.get("state") not in STATES or len(body.get("description", "")) > LONGEST_DESCRIPTION:
                return self.refuse(422, "Validation Failed")
            self.github.statuses.append((status[1], body))
            return self.answer(201, {"id": len(self.github.statuses), **body})
        if issue := re.fullmatch(r"/repos/acme/infra/issues/(\d+)/comments", self.path):
            if not body.get("body") or len(body["body"]) > LONGEST_COMMENT:
                return self.refuse(422, "Validation Failed")
            with self.github.lock:
                number = len(self.github.comments) + 1
                self.github.comments[number] = (issue[1], body["body"])
            return self.answer(201, {"id": number, "body": body["body"]})
        self.refuse(404, "Not Found")

    def do_PATCH(self):
        body = json.loads(self.body())
        if not self.authorized():
            return
        comment = re.fullmatch(r"/repos/acme/infra/issues/comments/(\d+)", self.path)
        if comment is None or int(comment[1]) not in self.github.comments:
            return self.refuse(404, "Not Found")
        issue, _ = self.github.comments[int(comment[1])]
        self.github.comments[int(comment[1])] = (issue, body["body"])
        self.answer(200, {"id": int(comment[1]), **body})

    def log_message(self, *_):
        pass
