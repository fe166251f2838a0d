"""An HTTP proxy before an S3 server that fails often, as servers and networks do.

    faulty-proxy.py SERVER_PORT PROXY_PORT

Of every 20 requests, in a fixed order drawn once: some are answered by 500 or 503 and not passed on; some are
passed on, and the answer is lost, cut in half, or replaced by 500; some are slow. The counts are printed when it
ends (SIGTERM).
"""

import collections
import http.client
import random
import signal
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

SERVER, PROXY = int(sys.argv[1]), int(sys.argv[2])
FAULTS = ["refused", "refused", "unavailable", "lost", "lost", "cut", "replaced", "slow"] + ["none"] * 12
LOCK, COUNTS, ORDER = threading.Lock(), collections.Counter(), random.Random(7)


def next_fault():
    with LOCK:
        fault = ORDER.choice(FAULTS)
        COUNTS[fault] += 1
        return fault


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def forward(self):
        length = int(self.headers.get("content-length") or 0)
        body = self.rfile.read(length)
        fault = next_fault()
        if fault == "refused":
            return self.answer(500, [], b"<Error><Code>InternalError</Code></Error>")
        if fault == "unavailable":
            return self.answer(503, [], b"<Error><Code>SlowDown</Code></Error>")
        if fault == "slow":
            time.sleep(0.5)
        server = http.client.HTTPConnection("127.0.0.1", SERVER, timeout=60)
        headers = {k: v for k, v in self.headers.items() if k.lower() not in ("connection", "transfer-encoding")}
        server.request(self.command, self.path, body, headers)
        response = server.getresponse()
        content = response.read()
        server.close()
        if fault == "lost":
            self.close_connection = True
            return self.connection.close()
        if fault == "replaced":
            return self.answer(500, [], b"<Error><Code>InternalError</Code></Error>")
        self.answer(response.status, response.getheaders(), content, cut=fault == "cut")

    def answer(self, status, headers, content, cut=False):
        self.send_response(status)
        length = len(content)
        for name, value in headers:
            if name.lower() == "content-length" and self.command == "HEAD":
                length = int(value)
            if name.lower() not in ("content-length", "transfer-encoding", "connection", "server", "date"):
                self.send_header(name, value)
        self.send_header("Content-Length", str(length + (1 if cut and not content else 0)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content[: len(content) // 2] if cut else content)
        if cut:
            self.wfile.flush()
            self.close_connection = True

    do_GET = do_PUT = do_HEAD = do_POST = do_DELETE = forward

    def log_message(self, *_):
        pass


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def handle_error(self, *_):
        pass  # A client that hung up.


def stop(*_):
    raise KeyboardInterrupt


signal.signal(signal.SIGTERM, stop)
try:
    Server(("127.0.0.1", PROXY), Handler).serve_forever()
except KeyboardInterrupt:
    faults = ", ".join(f"{name} {count}" for name, count in sorted(COUNTS.items()))
    print(f"requests through the proxy: {sum(COUNTS.values())} ({faults})", flush=True)
