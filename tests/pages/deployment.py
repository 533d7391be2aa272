"""A server that shows a page where a deployment's API shows it, and notes what browsers send."""

import contextlib
import http.server
import threading

RUN = "9f2c61d0a4b7"
ESTATE = "shop-production"
PAGE = f"/runs/{RUN}?estate={ESTATE}"


class Deployment:
    """What was sent: the path, the headers by name in lower case, and the body of each."""

    def __init__(self, port):
        self.port = port
        self.sent = []

    def address(self, path, host="127.0.0.1"):
        return f"http://{host}:{self.port}{path}"


@contextlib.contextmanager
def serving(pages):
    """Shows pages by path, and leads whoever sends something to the page of the run."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            found = pages.get(self.path)
            self.answer(404 if found is None else 200, found or b"", {"content-type": "text/html; charset=utf-8"})

        def do_POST(self):
            body = self.rfile.read(int(self.headers["content-length"])).decode()
            deployment.sent.append((self.path, {name.lower(): value for name, value in self.headers.items()}, body))
            self.answer(303, b"", {"location": f"../{RUN}?estate={ESTATE}"})

        def answer(self, status, body, headers):
            self.send_response(status)
            for name, value in {**headers, "content-length": str(len(body))}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    deployment = Deployment(server.server_address[1])
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield deployment
    finally:
        server.shutdown()
        server.server_close()
