"""Many MCP clients at once on one server, and what must be true afterwards."""

import http.client
import json
import random
import threading
import time

PROJECT = "/path/to/crowd"
FILES = 40
HELD = 2
PAGE = 200
TIMEOUT_S = 120


class Client:
    """One agent with a session of its own. What it was told is kept, for check()."""

    def __init__(self, address, number):
        self.address = address
        self.number = number
        self.random = random.Random(number)
        self.calls = 0
        self.asked = self.answered = time.monotonic()
        self.sent = []  # (message id, subject, recipients)
        self.grants = []  # what each lease was granted with
        self.held = []  # those of them that last
        self.headers = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}

    def open(self):
        self.connection = http.client.HTTPConnection(self.address, timeout=TIMEOUT_S)
        self.connection.connect()
        response, answer = self.post("initialize", {"protocolVersion": "2025-11-25", "capabilities": {},
            "clientInfo": {"name": "crowd", "version": "1"}})
        self.headers["Mcp-Session-Id"] = response.headers["Mcp-Session-Id"]
        self.headers["MCP-Protocol-Version"] = answer["result"]["protocolVersion"]
        self.name = self.call("register_agent", program="crowd", model="none")["name"]

    def post(self, method, params):
        self.calls += 1
        message = {"jsonrpc": "2.0", "id": self.calls, "method": method, "params": params}
        self.asked = time.monotonic()
        self.connection.request("POST", "/mcp", body=json.dumps(message), headers=self.headers)
        response = self.connection.getresponse()
        text = response.read().decode("utf-8")
        self.answered = time.monotonic()
        assert response.status == 200, f"{method}: {response.status} {text}"
        answer = json.loads(text)
        assert answer.get("id") == self.calls and "result" in answer, f"{method}: {text}"
        return response, answer

    def call(self, tool, **arguments):
        _, answer = self.post("tools/call", {"name": tool, "arguments": {"project_key": PROJECT} | arguments})
        assert not answer["result"]["isError"], f"{tool}: {answer}"
        return answer["result"]["structuredContent"]

    def send(self, names):
        to = self.random.sample(names, self.random.randint(1, 3))
        subject = f"{self.name} {len(self.sent)}"
        result = self.call("send_message", sender_name=self.name, to=to, subject=subject, body_md=f"of {subject}")
        self.sent.append((result["deliveries"][0]["payload"]["id"], subject, to))

    def fetch(self, **more):
        return self.call("fetch_inbox", agent_name=self.name, **more)["result"]

    def look(self):
        ids = [message["id"] for message in self.fetch()]
        assert ids == sorted(set(ids), reverse=True), f"{self.name} is shown {ids}"

    def lease(self):
        path = f"src/file{self.random.randrange(FILES)}.c"
        result = self.call("file_reservation_paths", agent_name=self.name, paths=[path], exclusive=True, ttl_seconds=3600)
        grant = {"id": result["granted"][0]["id"], "path": path, "agent": self.name, "answered": time.monotonic(),
            "released": None, "told": {h["id"] for c in result["conflicts"] for h in c["holders"]}}
        self.grants.append(grant)
        self.held.append(grant)
        # A conflict names so many holders and no more: a file must not get more than that.
        if len(self.held) > HELD:
            oldest = self.held.pop(0)
            oldest["released"] = time.monotonic()
            done = self.call("release_file_reservations", agent_name=self.name, file_reservation_ids=[oldest["id"]])
            assert done["released"] == 1, done

    def turn(self, names):
        self.send(names)
        self.look()
        self.lease()

    def inbox(self):
        """Everything, page by page."""
        found, cursor = [], None
        while True:
            page = self.fetch(limit=PAGE, include_bodies=True, **({"cursor": cursor} if cursor else {}))
            found += page
            if len(page) < PAGE:
                return found
            cursor = page[-1]["id"]


def together(clients, work):
    """Each client's work on a thread of its own; the first failure is everybody's."""
    failures = []

    def run(client):
        try:
            work(client)
        except Exception as error:  # noqa: BLE001 - it is told below
            failures.append(f"client {client.number}: {type(error).__name__}: {error} (asked {time.monotonic() - client.asked:.1f} s"
                f" ago, last answered {time.monotonic() - client.answered:.1f} s ago)")

    threads = [threading.Thread(target=run, args=(client,)) for client in clients]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures, f"{len(failures)} failed: {'; '.join(failures[:8])}"


def begin(address, count):
    """So many clients, each with its agent; all names differ."""
    clients = [Client(address, number) for number in range(count)]
    together(clients, Client.open)
    assert len({client.name for client in clients}) == count
    return clients


def check_mail(clients):
    """Every message that was acknowledged is in each inbox it is for, once; and there is no other."""
    wanted = {client.name: {} for client in clients}
    for client in clients:
        for ident, subject, to in client.sent:
            for name in to:
                assert ident not in wanted[name], f"{ident} was given to two messages"
                wanted[name][ident] = subject

    def compare(client):
        messages = client.inbox()
        found = {message["id"]: message["subject"] for message in messages}
        assert len(found) == len(messages), f"{client.name} has {len(messages) - len(found)} twice"
        lost = wanted[client.name].keys() - found.keys()
        more = found.keys() - wanted[client.name].keys()
        assert not lost and not more, f"{client.name} lacks {sorted(lost)[:5]}, and has besides {sorted(more)[:5]}"
        assert found == wanted[client.name]
        assert all(message["body_md"] == f"of {message['subject']}" for message in messages)

    together(clients, compare)


def check_leases(clients):
    """Whoever got a lease on a file that somebody held was told of it; each lease was given once."""
    by_path = {}
    for client in clients:
        for grant in client.grants:
            by_path.setdefault(grant["path"], []).append(grant)
    ids = [grant["id"] for grants in by_path.values() for grant in grants]
    assert len(ids) == len(set(ids)), "a lease was given twice"
    overlaps = 0
    for grants in by_path.values():
        grants.sort(key=lambda grant: grant["id"])
        for i, later in enumerate(grants):
            for earlier in grants[:i]:
                if earlier["agent"] == later["agent"]:
                    continue
                if earlier["released"] is None or earlier["released"] > later["answered"]:
                    overlaps += 1
                    assert earlier["id"] in later["told"], f"{later} was not told of {earlier}"
    return overlaps
