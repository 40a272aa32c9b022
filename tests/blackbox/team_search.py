"""usage: team_search.py PROGRAM SOURCE - messages found by what they say, and conversations summed up."""

import json
import os
import sqlite3
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from mailroom import Mailroom, describe  # noqa: E402
from tap import Tap  # noqa: E402

NOW_US = 1773202500 * 1000000  # 2026-03-11T04:15:00Z


class Team:
    """A project with two agents; messages are put into its database directly."""

    def __init__(self, m):
        self.m = m
        m.json("team", "ensure-project", "/path/to/backend")
        for name in ("BlueLake", "RedStone"):
            m.json("team", "register", "backend", name, "--program", "codex", "--model", "gpt")

    def post(self, subject, body, sender=1, to=2, **more):
        with sqlite3.connect(os.path.join(self.m.root, "storage.sqlite3")) as db:
            count = db.execute("SELECT count(*) FROM messages").fetchone()[0]
            row = {"uid": f"msg_20260311_{count:06d}", "project_id": 1, "sender_id": sender, "subject": subject,
                "body_md": body, "created_ts": NOW_US + count * 60000000, "thread_seq": count + 1, **more}
            cursor = db.execute(f"INSERT INTO messages ({', '.join(row)}) VALUES ({', '.join('?' * len(row))})",
                list(row.values()))
            db.execute("INSERT INTO message_recipients (message_id, agent_id) VALUES (?, ?)", (cursor.lastrowid, to))
            db.execute("INSERT INTO fts_messages (rowid, subject, body_md) VALUES (?, ?, ?)",
                (cursor.lastrowid, subject, body))
        return cursor.lastrowid

    def search(self, query, *more, **options):
        return self.m.json("team", "search", "backend", *more, "--", query, **options)

    def ids(self, query, *more):
        answer = self.search(query, *more)
        return [hit["id"] for hit in answer["result"]], answer["mode"]


def a_search_finds_and_says_where(m):
    team = Team(m)
    first = team.post("Deploy plan", "The build plan for users.\n\nAnd the full-text index.", thread_id="PLAN-1")
    second = team.post("Lunch", "Nothing about plans; see src/foo/bar.c", sender=2, to=1, importance="high",
        ack_required=1)
    answer = team.search("plan")
    assert answer["mode"] == "fts" and len(answer["result"]) == 1, answer
    hit = answer["result"][0]
    score = hit.pop("score")
    assert score > 0, score
    assert hit == {"id": first, "subject": "Deploy plan", "importance": "normal", "ack_required": False,
        "created_ts": "2026-03-11T04:15:00.000000Z", "thread_id": "PLAN-1", "from": "BlueLake",
        "uid": "msg_20260311_000000", "project": hit["project"],
        "snippet": "The build plan for users. And the full-text index.", "offsets": [{"start": 10, "end": 14}]}, hit
    for query, want, mode in [
            ("plan*", [first, second], "fts"), ("full-text", [first], "fts"), ("foo/bar.c", [second], "fts"),
            ("\"build plan", [first], "fts_quoted"), ("AND", [first], "fts_quoted"), ("*", [], "like"),
            ("'; DROP TABLE", [], "fts"), ("-plan", [], "like"), ("from:redstone", [second], "filters"),
            ("to:RedStone", [first], "filters"), ("importance:high is:unread ack:pending", [second], "filters"),
            ("until:2026-03-11T04:15:30Z", [first], "filters"), ("<script>", [], "fts")]:
        assert team.ids(query) == (want, mode), (query, team.ids(query))
    assert team.ids("plan*", "--order", "newest") == ([second, first], "fts")
    assert team.ids("plan*", "--limit", "1", "--offset", "1") == ([second], "fts")
    assert team.ids("is:unread", "--agent-name", "bluelake") == ([second], "filters")
    done = m.run("team", "search", "backend", "plan")
    assert done.returncode == 0 and "Deploy plan" in done.stdout, describe(done)


def a_search_refuses_only_nonsense(m):
    team = Team(m)
    for query, kind, data in [
            (" ", "INVALID_ARGUMENT", {"argument": "query"}),
            ("plan importance:purple", "SEARCH_SYNTAX", {"filter": "importance", "value": "purple"}),
            ("since:yore", "SEARCH_SYNTAX", {"filter": "since", "value": "yore"})]:
        done = m.run("--json", "team", "search", "backend", query)
        error = json.loads(done.stdout or done.stderr)["error"]
        assert done.returncode != 0 and error["type"] == kind and error["recoverable"] is True, describe(done)
        assert error["data"] == data, error
    done = m.run("--json", "team", "search", "backend", "x", "--agent-name", "Nobody")
    assert json.loads(done.stdout or done.stderr)["error"]["type"] == "NOT_FOUND", describe(done)
    done = m.run("--json", "team", "search", "nowhere", "x")
    assert json.loads(done.stdout or done.stderr)["error"]["type"] == "NOT_FOUND", describe(done)
    # A command line takes no longer argument than this.
    for bomb in ("(" * 10000, "a " * 50000, "a OR " * 20000, "\"" * 100000, "x" * 100000):
        assert team.search(bomb)["result"] == []


with Tap() as tap:
    for case in (a_search_finds_and_says_where, a_search_refuses_only_nonsense):
        with Mailroom(sys.argv[1]) as room:
            tap.run(case.__name__, case, room)
