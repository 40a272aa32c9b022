#!/usr/bin/env python3
"""bench_jmap.py PROGRAM - mail on a JMAP server.

A first listing of 10,000 messages on Cyrus, read and put together, in batches that the server allows, beside curl that asks the same and
throws the answers away. How long after an event was pushed the client tells of it, beside a bare reader of the same stream, and how long
after it a long poll of a gateway returns, without what the server took for its answers. And how many requests a check and a send are.
"""

import contextlib
import json
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
PROGRAM = sys.argv[1]
sys.argv[1] = os.path.join(os.path.dirname(PROGRAM), "..", "tests", "jmap_driver")
sys.path.insert(0, os.path.join(HERE, "..", "tests", "support"))
from agents import Agents  # noqa: E402
from cyrus_server import HAS_CYRUS_JMAP, NO_CYRUS, CyrusJmap  # noqa: E402
from jmap_client import USING, Jmap  # noqa: E402
from jmap_driver import Client  # noqa: E402
from jmap_model import JmapModel, PASSWORD as MODEL_PASSWORD  # noqa: E402
from jmap_server import Events, JmapServer, results  # noqa: E402
from mail_server import PASSWORD  # noqa: E402

MESSAGES, MADE_AT_ONCE, ROUNDS = int(os.environ.get("BENCH_MESSAGES", "10000")), 250, 5
EVENTS = int(os.environ.get("BENCH_EVENTS", "200"))
POLLS = int(os.environ.get("BENCH_POLLS", "40"))
USER = "ann@example.test"
PROPERTIES = ["id", "threadId", "mailboxIds", "keywords", "messageId", "receivedAt", "sentAt", "from", "to", "subject", "preview"]


def figure(**fields):
    print(json.dumps(fields), flush=True)


def mail(box, number):
    return {"mailboxIds": {box: True}, "from": [{"email": "bob@example.test"}], "to": [{"email": USER}],
        "messageId": [f"m{number}@example.test"], "subject": f"A subject of usual length, number {number}",
        "bodyStructure": {"type": "text/plain", "partId": "1"},
        "bodyValues": {"1": {"value": f"What stands in message {number}.\n" * 20}}}


def curl(ann, path, batch):
    """The requests of a listing, with curl on one connection."""
    api = ann.session["apiUrl"] if "://" in ann.session["apiUrl"] else ann.url.split("/jmap/")[0] + ann.session["apiUrl"]
    ids = ann.call("Email/query", limit=MESSAGES)["ids"]
    calls = [["Email/query", {"accountId": ann.account, "limit": MESSAGES}, "0"]]
    bodies = [{"using": USING[:2], "methodCalls": calls}] + [{"using": USING[:2], "methodCalls": [["Email/get",
        {"accountId": ann.account, "ids": ids[at:at + batch], "properties": PROPERTIES}, "1"]]} for at in range(0, len(ids), batch)]
    lines = []
    for number, body in enumerate(bodies):
        with open(os.path.join(path, str(number)), "w", encoding="utf-8") as file:
            json.dump(body, file)
        lines.append(f'url = "{api}"\nuser = "{USER}:{PASSWORD}"\nheader = "Content-Type: application/json"\ncompressed\n'
            f'data-binary = "@{path}/{number}"\noutput = "/dev/null"\n')
    begin = time.perf_counter()
    subprocess.run(["curl", "--silent", "--fail", "--noproxy", "*", "--config", "-"], input="next\n".join(lines), text=True, check=True)
    return MESSAGES / (time.perf_counter() - begin)


def listing():
    if not HAS_CYRUS_JMAP:
        print(f"jmap_first_listing {NO_CYRUS}", file=sys.stderr)
        return
    with CyrusJmap([USER]) as server, tempfile.TemporaryDirectory() as path:
        ann = Jmap(server.jmap_url, USER)
        box = ann.box("inbox")
        for at in range(0, MESSAGES, MADE_AT_ONCE):
            made = ann.call("Email/set", create={str(number): mail(box, number) for number in range(at, at + MADE_AT_ONCE)})
            assert len(made["created"]) == MADE_AT_ONCE, made
        ours, theirs = [], []
        for _ in range(ROUNDS):
            with Client(server.jmap_url, user=USER, password=PASSWORD) as client:
                client.say(session=1)
                batch = min(client.say(session=1)["gets"], MESSAGES)
                begin = time.perf_counter()
                ids = client.ask(["Email/query", {"limit": MESSAGES}])[0][1]["ids"]
                count = client.say(count="1", calls=[["Email/get", {"ids": ids, "properties": PROPERTIES}, "1"]])
                ours.append(MESSAGES / (time.perf_counter() - begin))
                assert count == MESSAGES, count
            theirs.append(curl(ann, path, batch))
        value, yardstick = statistics.median(ours), statistics.median(theirs)
        figure(what="jmap_first_listing", value=value, unit="messages/s", yardstick="curl, same requests", yardstick_value=yardstick,
            ratio=value / yardstick, goal="at least", target=0.5)


def pushed():
    """Milliseconds from the event on the wire to the client's word, and to a reader that does nothing else."""
    state = results(["Email/get", {"state": "e0", "list": [], "notFound": []}, "0"])
    events = Events()
    with JmapServer([state], pages={"/events": events}) as server, Client(server.url) as client:
        client.say(watch={})
        client.say(**{"await": 1})
        events.opened.get(timeout=60)
        ours = []
        for number in range(EVENTS):
            time.sleep(0.002)
            sent = time.monotonic()
            events.change(f"e{number + 1}")
            ours.append((client.say(**{"await": number + 2})["at"] - sent) * 1e3)
        events.sent.put(None)
    with JmapServer([state], pages={"/events": events}) as server:
        reader = socket.create_connection(("127.0.0.1", server.http.server_address[1]))
        reader.sendall(b"GET /events HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer token-of-sam\r\n\r\n")
        events.opened.get(timeout=60)
        reader.recv(65536)
        arrived, theirs = [], []

        def read():
            while reader.recv(65536):
                arrived.append(time.monotonic())

        thread = threading.Thread(target=read)
        thread.start()
        for number in range(EVENTS):
            time.sleep(0.002)
            seen, sent = len(arrived), time.monotonic()
            events.change(f"e{number}")
            while len(arrived) == seen:
                time.sleep(0.0002)
            theirs.append((arrived[-1] - sent) * 1e3)
        events.sent.put(None)
        thread.join()
        reader.close()
    value = sorted(ours)[int(len(ours) * 0.95)]
    figure(what="jmap_push_told_p95", value=value, unit="ms", yardstick="bare reader p95, ms", yardstick_value=sorted(theirs)[int(len(theirs) * 0.95)],
        ratio=value / 20, goal="at most", target=1)


class Timed(JmapModel):
    """Knows how long it was busy with requests, other than streams of events."""

    busy_s = 0.0

    def answer(self, handler, request):
        begin = time.monotonic()
        super().answer(handler, request)
        if not request.path.startswith("/events"):
            self.busy_s += time.monotonic() - begin


@contextlib.contextmanager
def office():
    with Timed() as model, Agents(PROGRAM) as m:
        m.write("password", MODEL_PASSWORD)
        for name in ("alice", "bob"):
            model.add(f"{name}@houmao.localhost")
            m.json("agents", "create", name, "--transport", "stalwart", "--jmap-url", model.url, "--management-url", model.url,
                "--password-file", "password")
        yield m, model


def put(model, account, number):
    return model.create(account, {"mailboxIds": {account.box("inbox"): True}, "from": [{"email": "alice@houmao.localhost"}],
        "to": [{"email": account.address}], "subject": f"Number {number}", "bodyValues": {"1": {"value": "x"}}, "textBody": [{"partId": "1"}]})


def long_poll():
    """Milliseconds from the event on the wire to the end of the long poll, less the server's."""
    with office() as (m, model), m.gateway("bob") as gateway:
        account, taken = model.accounts["bob@houmao.localhost"], []
        events, model.events = model.push(), None  # mail comes first, and then the word of it
        for number in range(POLLS):
            told = []
            poll = threading.Thread(target=lambda: told.append((json.loads(gateway.get("/v1/mail-notifier/next?wait=60")[2]), time.monotonic())))
            poll.start()
            if number == 0:
                events.opened.get(timeout=60)
            time.sleep(0.7)  # the poll has begun, and what it asks at its beginning is answered; changes apart are told at once
            put(model, account, number)
            model.busy_s, sent = 0.0, time.monotonic()
            events.change(f"p{number}", account=account.id)
            poll.join()
            [(answer, at)] = told
            assert answer["message_count"] == 1, answer
            taken.append(((at - sent) - model.busy_s) * 1e3)
        events.sent.put(None)
    for what, part in (("jmap_push_to_long_poll_p50", 0.5), ("jmap_push_to_long_poll_p95", 0.95)):
        value = sorted(taken)[int(len(taken) * part)]
        figure(what=what, value=value, unit="ms", yardstick="goal, ms", yardstick_value=20, ratio=value / 20, goal="at most", target=1)


def requests():
    with office() as (m, model):
        for number in range(60):
            put(model, model.accounts["bob@houmao.localhost"], number)
        m.mail("bob", "check", "--limit", "1")  # it knows the server then
        for what, args, target in (("jmap_check_of_50", ("bob", "check", "--limit", "50"), 1),
                ("jmap_first_send", ("alice", "send", "--to", "bob@houmao.localhost", "--subject", "s", "--body-content", "x"), 3)):
            model.requests.clear()
            m.mail(*args)
            figure(what=what, value=len(model.requests), unit="requests", yardstick="goal", yardstick_value=target,
                ratio=len(model.requests) / target, goal="at most", target=1)


listing()
pushed()
long_poll()
requests()
