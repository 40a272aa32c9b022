"""usage: mcp_many.py PROGRAM - two hundred MCP clients at once: nothing fails, nothing is lost, nothing is there twice."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import crowd  # noqa: E402
from mailroom import Mailroom  # noqa: E402
from tap import Tap  # noqa: E402

CLIENTS = 200
TURNS = 3


def work(clients):
    names = [client.name for client in clients]

    def turns(client):
        for _ in range(TURNS):
            client.turn(names)

    crowd.together(clients, turns)
    assert all(len(client.sent) == TURNS and len(client.grants) == TURNS for client in clients)


def leases_are_told(clients):
    assert crowd.check_leases(clients) > 0, "nobody met anybody"


def storage_is_whole(m, server):
    assert server.stop() == 0, server.logged()
    assert '"error"' not in server.logged(), server.logged()
    checked = m.json("team", "check")
    assert checked["ok"], checked


with Tap() as t, Mailroom(sys.argv[1]) as m, m.serve(env={"LOG_LEVEL": "warning"}) as s:
    crowd_of = []
    t.run("everybody joins at once", lambda: crowd_of.extend(crowd.begin(s.address, CLIENTS)))
    t.run("everybody sends, reads and reserves at once", work, crowd_of)
    t.run("every message is in every inbox it is for, once", crowd.check_mail, crowd_of)
    t.run("nobody holds a file unaware of another who does", leases_are_told, crowd_of)
    t.run("the storage is whole", storage_is_whole, m, s)
