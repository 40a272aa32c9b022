"""usage: team_search.py PROGRAM SOURCE - messages found by what they say, and conversations summed up."""

import http.server
import json
import os
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import database  # noqa: E402
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
        with database.opened(database.team_database(self.m.root)) as db:
            count = db.execute("SELECT count(*) FROM messages").fetchone()[0]
            row = {"uid": f"msg_20260311_{count:06d}", "project_id": 1, "sender_id": sender, "subject": subject,
                "body_md": body, "created_ts": NOW_US + count * 60000000, "thread_seq": count + 1, **more}
            [(ident,)] = db.execute(f"INSERT INTO messages ({', '.join(row)}) VALUES ({', '.join('?' * len(row))})"
                " RETURNING id", list(row.values())).fetchall()
            db.execute("INSERT INTO message_recipients (message_id, agent_id) VALUES (?, ?)", (ident, to))
            database.index_message(db, ident, subject, body)
        return ident

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
        "from_verified": False, "sender_project": hit["project"], "is_human": False,
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


def what_is_sent_is_found(m):
    Team(m)
    for name in ("GreenHill", "SwiftFox"):
        m.json("team", "register", "backend", name, "--program", "codex", "--model", "gpt")
    m.json("team", "send", "backend", "BlueLake", "--to", "RedStone", "--cc", "GreenHill", "--bcc", "SwiftFox",
        "--subject", "Migration", "--body-md", "We move the users table.\n\n- [ ] back it up @RedStone",
        "--thread-id", "M-1")

    def ids(query):
        return [hit["id"] for hit in m.json("team", "search", "backend", query)["result"]]

    assert ids("users table") == [1] and ids("to:RedStone") == [1] and ids("to:GreenHill") == [1]
    assert ids("to:SwiftFox") == [] and ids("SwiftFox") == []
    summary = m.json("team", "summarize", "backend", "M-1")["summary"]
    assert summary["open_actions"] == 1 and summary["participants"] == ["BlueLake"], summary


def fill_threads(team):
    team.post("Plan", "- move the users\n- [ ] write the migration\n- [x] ask @RedStone\nsee `src/db.c`, @RedStone",
        thread_id="PLAN-1")
    team.post("Re: Plan", "TODO: tests\nThe transaction is fine.", sender=2, to=1, thread_id="PLAN-1")
    team.post("Other", "* lunch with @BlueLake", sender=2, to=1, thread_id="OTHER")


def a_conversation_is_summed_up(m):
    team = Team(m)
    fill_threads(team)
    answer = m.json("team", "summarize", "backend", "PLAN-1", "--include-examples")
    assert answer == {"thread_id": "PLAN-1", "summary": {"participants": ["BlueLake", "RedStone"],
        "key_points": ["move the users", "write the migration", "ask @RedStone"],
        "action_items": ["- [ ] write the migration", "- [x] ask @RedStone", "TODO: tests"],
        "total_messages": 2, "open_actions": 1, "done_actions": 1, "mentions": [{"name": "RedStone", "count": 2}],
        "code_references": ["src/db.c"], "source": "heuristic"},
        "examples": [
            {"id": 1, "subject": "Plan", "from": "BlueLake", "created_ts": "2026-03-11T04:15:00.000000Z"},
            {"id": 2, "subject": "Re: Plan", "from": "RedStone", "created_ts": "2026-03-11T04:16:00.000000Z"}]}, answer
    answer = m.json("team", "summarize", "backend", "OTHER")
    assert answer["examples"] == [] and "code_references" not in answer["summary"], answer
    answer = m.json("team", "summarize", "backend", "nothing")
    assert answer["summary"]["total_messages"] == 0 and answer["summary"]["participants"] == [], answer


def several_conversations_are_summed_up_together(m):
    team = Team(m)
    fill_threads(team)
    answer = m.json("team", "summarize-many", "backend", "PLAN-1", "OTHER", "--per-thread-limit", "1")
    assert [t["thread_id"] for t in answer["threads"]] == ["PLAN-1", "OTHER"], answer
    assert answer["threads"][0]["summary"]["total_messages"] == 1, answer
    assert answer["aggregate"] == {"top_mentions": [{"name": "RedStone", "count": 2}, {"name": "BlueLake", "count": 1}],
        "action_items": ["- [ ] write the migration", "- [x] ask @RedStone"],
        "key_points": ["move the users", "write the migration", "ask @RedStone", "lunch with @BlueLake"],
        "source": "heuristic"}, answer
    done = m.run("--json", "team", "summarize-many", "backend", *[f"T{i}" for i in range(101)])
    error = json.loads(done.stdout or done.stderr)["error"]
    assert error["type"] == "INVALID_ARGUMENT" and error["data"]["argument"] == "thread_ids", error


class Model:
    """A stub of a model's server on a free port: answers every request in one way and keeps what it was asked."""

    def __init__(self, content, status=200, raw=None, hang=False):
        model = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                model.asked.append((self.path, dict(self.headers), json.loads(body)))
                if hang:
                    model.ended.wait(60)
                    return
                reply = raw or json.dumps({"choices": [{"message": {"role": "assistant", "content": content}}]}).encode()
                self.send_response(status)
                self.send_header("Content-Length", str(len(reply)))
                self.end_headers()
                self.wfile.write(reply)

            def log_message(self, *ignored):
                pass

        self.asked = []
        self.ended = threading.Event()
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.env = {"LLM_ENDPOINT": f"http://127.0.0.1:{self.server.server_address[1]}/v1/", "LLM_API_KEY": "sesame",
            "LLM_DEFAULT_MODEL": "small"}
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *ignored):
        self.ended.set()
        self.server.shutdown()
        self.server.server_close()


def a_model_words_the_summary(m):
    team = Team(m)
    fill_threads(team)
    good = {"key_points": ["users move"], "action_items": [], "code_references": ["src/db.c", 7],
        "participants": ["Mallory"], "total_messages": 99, "mentions": []}
    for content in (json.dumps(good), f"```json\n{json.dumps(good)}\n```", f"Sure: {json.dumps(good)} Bye!"):
        with Model(content) as model:
            summary = m.json("team", "summarize", "backend", "PLAN-1", env=model.env)["summary"]
            assert summary["source"] == "llm" and summary["key_points"] == ["users move"], summary
            # What is empty stays, and what can be counted is counted.
            assert summary["action_items"][0] == "- [ ] write the migration", summary
            assert summary["participants"] == ["BlueLake", "RedStone"] and summary["total_messages"] == 2, summary
            assert summary["mentions"] == [{"name": "RedStone", "count": 2}], summary
            path, headers, request = model.asked[0]
            assert path == "/v1/chat/completions" and headers["Authorization"] == "Bearer sesame", (path, headers)
            assert request["model"] == "small", request
            system, user = request["messages"]
            fence = user["content"].split("\n")[0]
            assert len(fence) >= 24 and user["content"].endswith(fence) and fence in system["content"], request
            assert "BlueLake wrote:\n- move the users" in user["content"], request
    with Model(json.dumps(good)) as model:
        m.json("team", "summarize", "backend", "PLAN-1", "--llm-model", "large", env=model.env)
        assert model.asked[0][2]["model"] == "large"
        answer = m.json("team", "summarize", "backend", "PLAN-1", "--llm-mode=false", env=model.env)
        assert answer["summary"]["source"] == "heuristic" and len(model.asked) == 1, answer
        m.json("team", "summarize", "backend", "nothing", env=model.env)
        assert len(model.asked) == 1


def a_model_words_several(m):
    team = Team(m)
    fill_threads(team)
    reply = {"threads": [{"thread_id": "OTHER", "key_points": ["they eat"], "actions": ["book a table"]},
        {"thread_id": "made up", "key_points": ["x"]}],
        "aggregate": {"top_mentions": [{"name": "Mallory", "count": 9}], "key_points": ["work and food"],
            "action_items": []}}
    with Model(json.dumps(reply)) as model:
        answer = m.json("team", "summarize-many", "backend", "PLAN-1", "OTHER", env=model.env)
        assert len(model.asked) == 1
    first, second = (t["summary"] for t in answer["threads"])
    assert first["source"] == "heuristic" and second["source"] == "llm", answer
    assert second["key_points"] == ["they eat"] and second["action_items"] == ["book a table"], answer
    assert answer["aggregate"]["source"] == "llm" and answer["aggregate"]["key_points"] == ["work and food"], answer
    assert answer["aggregate"]["top_mentions"][0]["name"] == "RedStone" and answer["aggregate"]["action_items"], answer


def a_model_that_fails_changes_nothing(m):
    team = Team(m)
    fill_threads(team)
    want = m.json("team", "summarize", "backend", "PLAN-1")
    for options in (dict(content="I cannot do that"), dict(content="{\"key_points\": "), dict(content="[1]"),
            dict(content=json.dumps({"key_points": "no list", "action_items": [1, "", None]})),
            dict(content="", status=500), dict(content="", raw=b"not json"), dict(content="", raw=b"{}"),
            dict(content="", raw=b"{\"choices\": [{}]}"), dict(content="", raw=b"x" * (2 << 20))):
        with Model(**options) as model:
            answer = m.json("team", "summarize", "backend", "PLAN-1", env=model.env)
            assert answer == want and len(model.asked) == 1, (options.keys(), answer)
    gone = m.json("team", "summarize", "backend", "PLAN-1", env={"LLM_ENDPOINT": "http://127.0.0.1:1"})
    assert gone == want, gone
    with Model("", hang=True) as model:
        start = time.monotonic()
        answer = m.json("team", "summarize", "backend", "PLAN-1", env=model.env)
        assert answer == want and time.monotonic() - start < 50, answer


with Tap() as tap:
    for case in (a_search_finds_and_says_where, a_search_refuses_only_nonsense, what_is_sent_is_found,
            a_conversation_is_summed_up, several_conversations_are_summed_up_together, a_model_words_the_summary, a_model_words_several,
            a_model_that_fails_changes_nothing):
        with Mailroom(sys.argv[1]) as room:
            tap.run(case.__name__, case, room)
