"""A JMAP server that says what a test tells it to: for what no real one does when it is asked to."""

import base64
import http.server
import json
import queue
import socket
import ssl
import threading

CORE, MAIL, SUBMISSION, QUOTA = (f"urn:ietf:params:jmap:{name}" for name in ("core", "mail", "submission", "quota"))
LIMITS = {"maxSizeUpload": 1000000, "maxConcurrentUpload": 4, "maxSizeRequest": 1000000, "maxConcurrentRequests": 4, "maxCallsInRequest": 16,
    "maxObjectsInGet": 500, "maxObjectsInSet": 500, "collationAlgorithms": []}
USER, PASSWORD, TOKEN = "sam@example.test", "correct horse battery", "token-of-sam"


def session(url="", state="s1", account="A1", can=(MAIL, SUBMISSION), limits=None, **more):
    """A session object; its addresses begin with `url`."""
    return {"capabilities": {CORE: {**LIMITS, **(limits or {})}, **{name: {} for name in can}, "https://example.test/odd": {"x": 1}},
        "accounts": {account: {"name": USER, "isPersonal": True, "isReadOnly": False, "accountCapabilities": {name: {} for name in can}}},
        "primaryAccounts": {name: account for name in can}, "username": USER, "apiUrl": url + "/api", "state": state,
        "uploadUrl": url + "/upload/{accountId}/", "downloadUrl": url + "/download/{accountId}/{blobId}/{name}?type={type}",
        "eventSourceUrl": url + "/events?types={types}&closeafter={closeafter}&ping={ping}", **more}


class Request:
    """One that arrived."""

    def __init__(self, handler, body, connection):
        self.method, self.path, self.headers = handler.command, handler.path, handler.headers
        self.handler, self.body, self.connection = handler, body, connection

    @property
    def json(self):
        return json.loads(self.body)

    @property
    def calls(self):
        return self.json["methodCalls"]


class Answer:
    """`cut`: hang up after so many bytes of the body, though it is said to be longer. `wait`: an event before it is sent."""

    def __init__(self, status=200, body=b"", headers=(), cut=None, wait=None):
        self.status, self.headers, self.cut, self.wait = status, dict(headers), cut, wait
        self.body = body if isinstance(body, bytes) else json.dumps(body).encode()


HANG_UP = Answer(0)


class Events:
    """Streams of events, as a page: `opened` has a Request for each that was asked for, and what is put into `sent` goes to the one that is
    open: texts, or None to end it."""

    def __init__(self, status=200, kind="text/event-stream"):
        self.status, self.kind = status, kind
        self.opened, self.sent = queue.Queue(), queue.Queue()

    def __call__(self, request):
        handler = request.handler
        handler.send_response(self.status)
        handler.send_header("Content-Type", self.kind)
        handler.send_header("Connection", "close")
        handler.end_headers()
        handler.close_connection = True
        self.opened.put(request)
        while (text := self.sent.get()) is not None:
            handler.wfile.write(text.encode())

    def change(self, state, account="A1", kind="Email", number=None):
        identified = "" if number is None else f"id: {number}\r\n"
        data = json.dumps({"@type": "StateChange", "changed": {account: {kind: state}}})
        self.sent.put(f"event: state\r\n{identified}data: {data}\r\n\r\n")


def results(*responses, state="s1"):
    return Answer(200, {"methodResponses": list(responses), "sessionState": state})


def problem(status, kind, **more):
    return Answer(status, {"type": "urn:ietf:params:jmap:error:" + kind, "status": status, **more}, {"Content-Type": "application/problem+json"})


class JmapServer:
    """Runs while the context is open. GET /session is answered with `session`, and a POST to /api with the next of `script`: an Answer, or a
    function from a Request to one; the last one stays. Other paths are looked up in `pages`. `requests` are all that came."""

    def __init__(self, script=(), certificate=None, pages=None, **about):
        self.script, self.certificate = list(script), certificate
        self.session, self.pages = session(**about), dict(pages or {})
        self.requests, self.connections, self.lock = [], 0, threading.Lock()
        self.stopping = threading.Event()

    def __enter__(self):
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def setup(self):
                super().setup()
                with outer.lock:
                    outer.connections += 1
                    self.number = outer.connections

            def serve(self):
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                outer.answer(self, Request(self, body, self.number))

            do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = serve

            def log_message(self, *_):
                pass

        class Server(http.server.ThreadingHTTPServer):
            daemon_threads = True

            def handle_error(self, *_):
                pass  # a client that hangs up

            def get_request(self):
                connection, address = super().get_request()
                connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                if outer.certificate:
                    connection = outer.tls.wrap_socket(connection, server_side=True, do_handshake_on_connect=False)
                return connection, address

        if self.certificate:
            self.tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            self.tls.load_cert_chain(*self.certificate)
        self.http = Server(("127.0.0.1", 0), Handler)
        self.origin = f"http{'s' if self.certificate else ''}://127.0.0.1:{self.http.server_address[1]}"
        self.url = self.origin + "/session"
        self.thread = threading.Thread(target=self.http.serve_forever, kwargs={"poll_interval": 0.05})
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.stopping.set()
        self.http.shutdown()
        self.thread.join()
        self.http.server_close()

    def is_allowed(self, request):
        basic = "Basic " + base64.b64encode(f"{USER}:{PASSWORD}".encode()).decode()
        return request.headers.get("Authorization") in (basic, "Bearer " + TOKEN)

    def choose(self, request):
        with self.lock:
            self.requests.append(request)
            if not self.is_allowed(request):
                return problem(401, "", detail=f"not with {request.headers.get('Authorization')}")
            where = request.path.split("?")[0]
            if where in self.pages:
                return self.pages[where]
            if where == "/session":
                return Answer(200, self.session)
            if where == "/api" and self.script:
                return self.script.pop(0) if len(self.script) > 1 else self.script[0]
        return Answer(404)

    def answer(self, handler, request):
        answer = self.choose(request)
        if callable(answer):
            answer = answer(request)
        if answer is None:  # it wrote the answer itself
            return
        if answer.wait:
            answer.wait.wait(60)
        if answer is HANG_UP or answer.status == 0:
            handler.close_connection = True
            return
        handler.send_response(answer.status)
        headers = {"Content-Type": "application/json", "Content-Length": str(len(answer.body)), **answer.headers}
        for name, value in headers.items():
            handler.send_header(name, value)
        handler.end_headers()
        handler.wfile.write(answer.body if answer.cut is None else answer.body[:answer.cut])
        if answer.cut is not None:
            handler.close_connection = True

    def api(self):
        """The requests with method calls."""
        return [request for request in self.requests if request.method == "POST" and request.path == "/api"]
