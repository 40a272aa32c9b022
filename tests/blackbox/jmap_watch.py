"""usage: jmap_watch.py DRIVER - being told of changed mail: by events that a server pushes, and by asking where it does not."""

import os
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from cyrus_server import HAS_CYRUS_JMAP, NO_CYRUS, CyrusJmap  # noqa: E402
from jmap_client import Jmap  # noqa: E402
from jmap_driver import Client  # noqa: E402
from jmap_server import HANG_UP, Answer, Events, JmapServer, results  # noqa: E402
from mail_server import PASSWORD as ACCOUNT_PASSWORD  # noqa: E402
from tap import Tap  # noqa: E402

OFTEN = {"poll_ms": 20, "pause_ms": 5}
SELDOM = {"poll_ms": 600000, "pause_ms": 600000}


class Mailbox:
    """A mailbox of which only the state is known."""

    def __init__(self):
        self.state = "e1"
        self.asked = 0

    def __call__(self, request):
        assert [(name, args["ids"]) for name, args, _ in request.calls] == [("Email/get", [])], request.body
        self.asked += 1
        return results(["Email/get", {"state": self.state, "list": [], "notFound": []}, request.calls[0][2]])


def way(client, wanted, within_s=60):
    """Wait until the watch learns of changes in this way."""
    deadline = time.monotonic() + within_s
    while (found := client.say(**{"await": 0}))["way"] != wanted:
        assert time.monotonic() < deadline, found
        time.sleep(0.005)
    return found


def watched(server, events, client, options=SELDOM):
    """Begin, up to the first stream; the request for it."""
    if events:
        server.pages["/events"] = events
    client.say(watch=options)
    assert client.say(**{"await": 1})["changes"] == 1
    if not events:
        return None
    way(client, "pushed")
    return events.opened.get(timeout=60)


def test_push():
    mailbox, events = Mailbox(), Events()
    with JmapServer([mailbox]) as server, Client(server.url) as client:
        request = watched(server, events, client)
        assert request.path == "/events?types=Email&closeafter=no&ping=60" and request.headers["Accept"] == "text/event-stream"
        assert request.headers["Last-Event-ID"] is None
        # Others' changes, comments and what cannot be read are no news; nor is the state that is known.
        for text in (": hello\n\n", "data: {\n\n", "event: state\ndata: []\n\n", "data\n\n"):
            events.sent.put(text)
        events.change("e5", account="A2")
        events.change("m7", kind="Mailbox")
        events.change("e1")
        events.sent.put('event: ping\ndata: {"interval": 30}\n\n')
        for number in range(2, 12):
            events.change(f"e{number}")
            found = client.say(**{"await": number})
            assert found["changes"] == number, found
        assert mailbox.asked == 1, "an event says it all"
        events.sent.put(None)


def test_reconnects():
    """The next stream begins where the last ended, and what happened in between is noticed."""
    mailbox, events = Mailbox(), Events()
    with JmapServer([mailbox]) as server, Client(server.url) as client:
        watched(server, events, client, OFTEN)
        mailbox.state = "e2"
        events.change("e2", number="41 a")
        assert client.say(**{"await": 2})["changes"] == 2
        mailbox.state = "e3"
        events.sent.put(None)
        assert client.say(**{"await": 3})["changes"] == 3
        again = events.opened.get(timeout=60)
        assert again.headers["Last-Event-ID"] == "41 a"
        # A stream that says too much at once is given up.
        events.sent.put("data: " + "x" * 70000)
        events.sent.put(None)
        assert events.opened.get(timeout=60).headers["Last-Event-ID"] == "41 a"
        events.change("e4")
        assert client.say(**{"await": 4})["changes"] == 4
        events.sent.put(None)


def test_silence():
    """A stream on which nothing is heard, not even the pings that it announces, is dead."""
    mailbox, events = Mailbox(), Events()
    with JmapServer([mailbox]) as server, Client(server.url) as client:
        watched(server, events, client, OFTEN)
        events.sent.put('event: ping\ndata: {"interval": 1}\n\n')
        began = time.monotonic()
        events.opened.get(timeout=60)
        assert time.monotonic() - began > 6, "two pings and some time"
        events.sent.put(None)
        events.sent.put(None)


def test_polling():
    """Where nothing is pushed, states are compared."""
    for about in ({"eventSourceUrl": None}, {"eventSourceUrl": "/nothing"}, {}):
        for page in (Answer(204), Answer(200, {"no": "events"}), Answer(405)) if not about else (None,):
            mailbox = Mailbox()
            with JmapServer([mailbox], **about) as server, Client(server.url) as client:
                if page:
                    server.pages["/events"] = page
                watched(server, None, client, OFTEN)
                found = way(client, "polled")
                assert "the server offers no push" in found["why"] or "no stream of events" in found["why"], found
                mailbox.state = "e2"
                assert client.say(**{"await": 2})["changes"] == 2
                assert sum(request.path.startswith("/events") for request in server.requests) <= 1, "it is not asked again at once"


def test_broken_push():
    """A stream that cannot be opened for now is tried again, and states are compared until then."""
    mailbox, events = Mailbox(), Events()
    with JmapServer([mailbox]) as server, Client(server.url) as client:
        server.pages["/events"] = Answer(503)
        client.say(watch=OFTEN)
        assert "HTTP status 503" in way(client, "polled")["why"]
        mailbox.state = "e2"
        assert client.say(**{"await": 2})["changes"] == 2
        server.pages["/events"] = events
        # An open stream is known to be one at once, and not when the time for opening it is over.
        way(client, "pushed", within_s=9)
        events.change("e3")
        assert client.say(**{"await": 3})["changes"] == 3
        events.sent.put(None)


def test_redirects():
    mailbox, events = Mailbox(), Events()
    with JmapServer() as other, JmapServer([mailbox]) as server, Client(server.url) as client:
        server.pages["/stream"] = events
        server.pages["/events"] = Answer(307, headers={"Location": "/stream"})
        watched(server, None, client)
        way(client, "pushed")
        events.sent.put(None)
        with Client(server.url) as second:
            server.pages["/events"] = Answer(307, headers={"Location": other.url})
            second.say(watch=OFTEN)
            way(second, "polled")
        assert not other.requests, "the credentials stay on their host"


def test_lost_server():
    mailbox = Mailbox()
    with JmapServer([mailbox], eventSourceUrl=None) as server, Client(server.url) as client:
        watched(server, None, client, OFTEN)
        server.script = [HANG_UP]
        assert "127.0.0.1" in way(client, "lost")["why"]
        server.script = [Answer(401)]
        deadline = time.monotonic() + 60
        while "refuses the credentials" not in (client.say(**{"await": 0})["why"] or ""):
            assert time.monotonic() < deadline
            time.sleep(0.01)
        mailbox.state = "e2"
        server.script = [mailbox]
        assert client.say(**{"await": 2})["changes"] == 2
        way(client, "polled")
    # One that is not there from the beginning on, and a watch that is closed while it waits.
    with Client(server.url) as client:
        client.say(watch=SELDOM)
        way(client, "lost")


def test_closing():
    """It ends at once, whatever it waits for."""
    mailbox, events = Mailbox(), Events()
    with JmapServer([mailbox]) as server:
        with Client(server.url) as client:
            watched(server, events, client)
        events.sent.put(None)
        for page in (Answer(200, wait=server.stopping), Answer(204)):
            server.pages["/events"] = page
            with Client(server.url) as client:
                client.say(watch=SELDOM)
                if page.status == 204:
                    way(client, "polled")
        # A server that does not answer is given up before its time is over.
        asked = threading.Event()

        def hang(_request):
            asked.set()
            return Answer(200, {}, wait=server.stopping)
        server.script, server.pages = [hang], {}
        with Client(server.url, timeout_ms=300000) as client:
            client.say(watch=SELDOM)
            assert asked.wait(60)
        server.stopping.set()


def test_cyrus():
    """It pushes nothing."""
    with CyrusJmap(["ann@example.test"]) as server:
        ann = Jmap(server.jmap_url, "ann@example.test")
        with Client(server.jmap_url, user="ann@example.test", password=ACCOUNT_PASSWORD) as client:
            client.say(watch={"poll_ms": 50})
            assert client.say(**{"await": 1})["changes"] == 1
            way(client, "polled")
            for number in range(2, 5):
                ann.put(f"Subject: {number}\r\nMessage-ID: <{number}@example.test>\r\n\r\nText\r\n".encode())
                assert client.say(**{"await": number})["changes"] >= number


with Tap() as tap:
    for test in (test_push, test_reconnects, test_silence, test_polling, test_broken_push, test_redirects, test_lost_server, test_closing):
        tap.run(test.__name__, test)
    if HAS_CYRUS_JMAP:
        tap.run("test_cyrus", test_cyrus)
    else:
        tap.skip("test_cyrus", NO_CYRUS)
