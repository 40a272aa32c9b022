"""usage: mcp_resources.py PROGRAM - every resource by its URI, with its query and the members of what it gives; prompts, and what
completes their arguments. Over HTTP, as clients ask."""

import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from mailroom import Mailroom  # noqa: E402
from shapes import AGENT, ITEM, LEASE, LINK, PRODUCT, PROJECT, READ, TIME, Maybe, fits  # noqa: E402
from tap import Tap  # noqa: E402

B, F = "/srv/backend", "/srv/frontend"

NAMED = {"to": [str], "cc": [str]}
COMMIT = {"hexsha": str, "summary": str, "authored_ts": TIME}
DIFF = COMMIT | {"insertions": int, "deletions": int, "diff_summary": {"hunks": int, "excerpt": [str]}}
LATE = ITEM | {"read_at": Maybe(TIME), "age_seconds": int}


def box(item, **more):
    return {"project": str, "agent": str, "count": int, "messages": [item]} | more


TOOL = {"name": str, "summary": str, "use_when": str, "related": [str], "expected_frequency": str,
    "required_capabilities": [str], "usage_examples": [{"hint": str, "sample": str}], "capabilities": [str],
    "complexity": ("low", "medium")}
LOCK = {"project": str, "path": str, "metadata_path": str, "status": ("held", "left"), "metadata_present": bool,
    "category": ("archive",), "owner_pid": int, "owner_alive": bool, "created_ts": TIME, "age_seconds": int,
    "stale_timeout_seconds": int, "stale_suspected": bool}
CALLED = {"timestamp": TIME, "tool": str, "project": Maybe(str), "agent": Maybe(str), "cluster": str}
RECENT = {"generated_at": TIME, "window_seconds": int, "count": int, "entries": [CALLED]}
CAPABLE = {"generated_at": TIME, "agent": str, "project": Maybe(str), "capabilities": [str]}
LEASES = [LEASE]

# URI, shape, and what else must be true of it.
READS = [
    ("config/environment", {"environment": str, "database_url": str, "http": {"host": str, "port": int, "path": str}},
        lambda v: v["environment"] == "development" and v["http"]["path"] == "/mcp/"),
    ("tooling/directory", {"generated_at": TIME, "metrics_uri": str, "clusters": [{"name": str, "purpose": str,
        "tools": [TOOL]}], "playbooks": [{"workflow": str, "sequence": [str]}]},
        lambda v: [c["name"] for c in v["clusters"]][:6] == ["infrastructure", "identity", "messaging", "search",
            "file_reservations", "workflow_macros"] and all(c["tools"] for c in v["clusters"])),
    ("tooling/schemas", {"generated_at": TIME, "tools": dict},
        lambda v: v["tools"]["whois"] == {"required": ["project_key", "agent_name"], "optional": ["include_recent_commits",
            "commit_limit"], "shapes": {"project_key": "string", "agent_name": "string", "include_recent_commits": "boolean",
            "commit_limit": "integer"}}),
    ("tooling/metrics", {"generated_at": TIME, "tools": [{"name": str, "calls": int, "errors": int, "cluster": str,
        "capabilities": [str], "complexity": ("low", "medium")}]},
        lambda v: [(t["calls"], t["errors"]) for t in v["tools"] if t["name"] == "register_agent"] == [(3, 0)]),
    ("tooling/locks", {"locks": [LOCK], "summary": {"total": int, "active": int, "stale": int, "metadata_missing": int}},
        lambda v: len(v["locks"]) == v["summary"]["total"]),
    ("tooling/capabilities/RedCat?project=backend", CAPABLE, lambda v: v["capabilities"] == ["sql"]),
    ("tooling/capabilities/Nobody", CAPABLE, lambda v: v["capabilities"] == []),
    ("tooling/recent/600", RECENT, lambda v: v["window_seconds"] == 600 and v["count"] == len(v["entries"]) > 5),
    ("tooling/recent/soon", RECENT, lambda v: v["window_seconds"] == 60),
    # They were called with the path.
    *[(f"tooling/recent/600?project={key}&agent=redcat", RECENT, lambda v: {e["agent"] for e in v["entries"]} == {"RedCat"})
        for key in ("backend", "srv-backend", "/srv/backend", "%2Fsrv%2Fbackend")],
    ("tooling/recent/600?project=nowhere", RECENT, lambda v: v["count"] == 0),
    ("projects", [PROJECT], lambda v: [p["human_key"] for p in v] == [B, F]),
    ("project/srv-backend", PROJECT | {"agents": [AGENT]}, lambda v: len(v["agents"]) == 2),
    ("agents/backend", {"project": {"slug": str, "human_key": str}, "agents": [AGENT | {"unread_count": int}]},
        lambda v: {a["name"]: a["unread_count"] for a in v["agents"]} == {"RedCat": 3, "GreenCastle": 0}),
    *[(f"file_reservations/{key}", LEASES, lambda v: [x["path_pattern"] for x in v] == ["a", "b"])
        for key in ("srv-backend", "backend", B, "srv-backend?active_only=false", "srv-backend?active_only=perhaps")],
    *[(f"file_reservations/srv-backend?active_only={yes}", LEASES, lambda v: [x["path_pattern"] for x in v] == ["b"])
        for yes in ("1", "true", "T", "yes", "Y", "on")],
    ("message/1", READ | NAMED | {"body_md": str}, lambda v: v["from"] == "GreenCastle" and v["body_md"] == "first **body**"),
    ("message/1?project=backend&max_chars=5", READ | NAMED | {"body_md": ("first",), "truncated": (True,)}, lambda v: True),
    ("thread/T-1", {"project": str, "thread_id": str, "messages": [READ | NAMED]},
        lambda v: (v["project"], v["thread_id"], [x["id"] for x in v["messages"]]) == (B, "T-1", [1, 2])),
    ("thread/T-1?project=backend&include_bodies=1", {"project": str, "thread_id": str,
        "messages": [READ | NAMED | {"body_md": str}]}, lambda v: True),
    ("inbox/RedCat", box(ITEM | {"commit": Maybe(COMMIT)}),
        lambda v: (v["project"], v["agent"], v["count"]) == (B, "RedCat", 3) and [x["id"] for x in v["messages"]] == [3, 2, 1]),
    ("inbox/RedCat?limit=1&include_bodies=yes", box(ITEM | {"commit": Maybe(COMMIT), "body_md": str}), lambda v: v["count"] == 1),
    ("inbox/RedCat?urgent_only=on", box(ITEM | {"commit": Maybe(COMMIT)}), lambda v: [x["id"] for x in v["messages"]] == [3, 1]),
    ("inbox/RedCat?since_ts=2999-01-01T00:00:00Z", box(ITEM), lambda v: v["count"] == 0),
    ("inbox/redcat%3Fproject=backend", box(ITEM | {"commit": Maybe(COMMIT)}), lambda v: v["agent"] == "RedCat"),
    ("outbox/GreenCastle", box(READ | NAMED | {"bcc": [str], "commit": Maybe(COMMIT)}),
        lambda v: [x["bcc"] for x in v["messages"]] == [[], [], ["BlueLake@srv-frontend"]]),
    ("outbox/GreenCastle?project=backend&limit=1&include_bodies=true", box(READ | NAMED | {"bcc": [str], "body_md": str,
        "commit": Maybe(COMMIT)}), lambda v: v["count"] == 1),
    ("mailbox/RedCat", box(ITEM | {"commit": COMMIT}),
        lambda v: v["messages"][2]["commit"]["summary"] == "mail: GreenCastle -> RedCat | plan"),
    ("mailbox-with-commits/RedCat?limit=2", box(ITEM | {"commit": DIFF}), lambda v: v["count"] == 2 and
        all(len(x["commit"]["hexsha"]) == 12 and x["commit"]["insertions"] > 5 and
            len(x["commit"]["diff_summary"]["excerpt"]) <= 12 for x in v["messages"])),
    ("views/urgent-unread/RedCat", box(ITEM), lambda v: [x["id"] for x in v["messages"]] == [3, 1]),
    ("views/ack-required/RedCat", box(ITEM), lambda v: [x["id"] for x in v["messages"]] == [2, 1]),
    ("views/acks-stale/RedCat", box(LATE, ttl_seconds=int), lambda v: (v["ttl_seconds"], v["count"]) == (1800, 0)),
    ("views/acks-stale/RedCat?ttl_seconds=0", box(LATE, ttl_seconds=int), lambda v: [x["id"] for x in v["messages"]] == [1, 2]),
    ("views/ack-overdue/RedCat", box(LATE, ttl_seconds=int), lambda v: (v["ttl_seconds"], v["count"]) == (3600, 0)),
    ("views/ack-overdue/RedCat?ttl_minutes=0", box(LATE, ttl_seconds=int), lambda v: v["ttl_seconds"] == 60),
    ("product/suite", PRODUCT, lambda v: v["projects"][0]["slug"] == "srv-backend"),
    ("threads/backend", [{"thread_id": str, "subject": str, "messages": int, "first_ts": TIME, "last_ts": TIME,
        "last_from": str, "last_id": int}], lambda v: [x["thread_id"] for x in v][-1] == "T-1"),
    ("contacts/BlueLake", {"agent": str, "contacts": [LINK]}, lambda v: v["contacts"][0]["from"]["agent"] == "RedCat"),
    ("identity//srv/backend", PROJECT | {"exists": (True,)}, lambda v: v["id"] == 1),
    ("identity//srv/other", {"exists": (False,), "slug": ("srv-other",), "human_key": str, "identity_mode": ("dir",)},
        lambda v: True),
]
# Without text that agents wrote.
OWN = ("config/", "tooling/", "projects", "product/", "identity/")

COMPLETIONS = [
    ({"type": "ref/prompt", "name": "start_session"}, "project", "srv-", {}, ["srv-backend", "srv-frontend"]),
    ({"type": "ref/prompt", "name": "triage_inbox"}, "agent", "r", {}, ["RedCat"]),
    ({"type": "ref/prompt", "name": "handoff"}, "to", "", {"project": "frontend"}, ["BlueLake"]),
    ({"type": "ref/prompt", "name": "handoff"}, "from", "green", {"project": "backend"}, ["GreenCastle"]),
    ({"type": "ref/prompt", "name": "summarize_thread"}, "thread_id", "t", {}, ["T-1"]),
    ({"type": "ref/resource", "uri": "resource://inbox/{agent}"}, "agent", "Red", {}, ["RedCat"]),
    ({"type": "ref/resource", "uri": "resource://file_reservations/{slug}"}, "slug", "srv-b", {}, ["srv-backend"]),
    ({"type": "ref/prompt", "name": "handoff"}, "task", "x", {}, []),
]
PROMPTS = {"start_session": ["project", "program", "model"], "triage_inbox": ["project", "agent"],
    "reserve_and_edit": ["project", "agent", "paths"], "handoff": ["project", "from", "to", "task"],
    "summarize_thread": ["project", "thread_id"]}


class Client:
    def __init__(self, server):
        self.server = server

    def say(self, method, params):
        status, _, text = self.server.request("POST", "/mcp", {"Content-Type": "application/json",
            "Accept": "application/json, text/event-stream"},
            json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}))
        assert status == 200, (status, text)
        return json.loads(text)

    def ask(self, method, **params):
        answer = self.say(method, params)
        assert "result" in answer, (method, params, answer)
        return answer["result"]

    def call(self, tool, **arguments):
        result = self.ask("tools/call", name=tool, arguments=arguments)
        assert not result["isError"], result
        return result["structuredContent"]

    def read(self, uri):
        result = self.ask("resources/read", uri=uri)
        [content] = result["contents"]
        assert set(content) == {"uri", "mimeType", "text"}, content
        assert (content["uri"], content["mimeType"]) == (uri, "application/json"), content
        return json.loads(content["text"]), result.get("_meta", {})


def scene(c):
    for project, name in ((B, "GreenCastle"), (B, "RedCat"), (F, "BlueLake")):
        c.call("register_agent", project_key=project, name=name, program="codex", model="gpt")
    for subject, importance, ack, thread, bcc in (("plan", "high", True, "T-1", ["BlueLake"]), ("next", "normal", True, "T-1", []),
            ("now", "urgent", False, None, [])):
        c.call("send_message", project_key=B, sender_name="GreenCastle", to=["RedCat"], bcc=bcc, subject=subject,
            body_md="first **body**", importance=importance, ack_required=ack, thread_id=thread)
    c.call("file_reservation_paths", project_key=B, agent_name="RedCat", paths=["a", "b"], reason="r")
    c.call("release_file_reservations", project_key=B, agent_name="RedCat", paths=["a"])
    c.call("set_contact_policy", project_key=F, agent_name="BlueLake", policy="auto")
    c.call("request_contact", project_key=B, from_agent="RedCat", to_agent="BlueLake", to_project=F)
    c.call("ensure_product", product_uid="suite")
    c.call("link_project_to_product", product_uid="suite", project_key=B)


def resources_have_their_members(c):
    for path, shape, proof in READS:
        value, meta = c.read("resource://" + path)
        fits(value, shape, f"{path}: $")
        assert proof(value), (path, value)
        quotes = "mailroom/provenance" in meta
        assert quotes == (not path.startswith(OWN)), (path, meta)
        assert not quotes or meta["mailroom/provenance"]["untrusted"] is True, meta


def every_template_is_looked_at(c):
    listed = [t["uriTemplate"] for t in c.ask("resources/templates/list")["resourceTemplates"]]
    paths = {t.split("{")[0].removeprefix("resource://").rstrip("/") for t in listed}
    looked = {path.split("?")[0] for path, _, _ in READS}
    for path in paths:
        assert [p for p in looked if p.startswith(path + "/")], path
    queries = {t.split("{")[0].removeprefix("resource://").rstrip("/"): t.split("{?")[1].rstrip("}").split(",") if "{?" in t else []
        for t in listed}
    for path, names in {"tooling/capabilities": "project", "tooling/recent": "agent project", "file_reservations": "active_only",
            "message": "project", "thread": "project include_bodies",
            "inbox": "project since_ts urgent_only include_bodies limit", "outbox": "project limit include_bodies since_ts",
            "mailbox": "project limit", "mailbox-with-commits": "project limit", "views/urgent-unread": "project limit",
            "views/ack-required": "project limit", "views/acks-stale": "project ttl_seconds limit",
            "views/ack-overdue": "project ttl_minutes limit"}.items():
        assert set(names.split()) <= set(queries[path]), (path, queries[path])


def listed_ones_can_be_read(c):
    listed = c.ask("resources/list")["resources"]
    uris = [r["uri"] for r in listed]
    for uri in ("resource://projects", "resource://config/environment", "resource://agents/srv-backend",
            "resource://inbox/RedCat?project=srv-backend"):
        assert uri in uris, uris
    for resource in listed:
        assert resource["name"] and resource["description"] and resource["mimeType"] == "application/json", resource
        c.read(resource["uri"])


def what_is_ambiguous_is_explained(c):
    c.call("register_agent", project_key=F, name="RedCat", program="x", model="y")
    answer = c.say("resources/read", {"uri": "resource://inbox/RedCat"})
    assert answer["error"]["code"] == -32602 and "project" in answer["error"]["message"], answer
    assert c.read("resource://inbox/RedCat?project=frontend")[0]["project"] == F
    for uri, code in (("resource://nope", -32002), ("resource://inbox/Nobody", -32002), ("resource://message/99", -32002),
            ("resource://thread/none", -32002), ("resource://message/one", -32602)):
        error = c.say("resources/read", {"uri": uri})["error"]
        assert error["code"] == code and error["data"] == {"uri": uri}, (uri, error)


def credentials_are_not_shown(m):
    url = "sqlite+aiosqlite:///" + os.path.join(m.dir, "x.sqlite3")
    with m.serve(env={"DATABASE_URL": url, "STORAGE_ROOT": os.path.join(m.dir, "other"),
            "HTTP_BEARER_TOKEN": "hunter2"}) as server:
        c = Client(server)
        assert "hunter2" not in json.dumps([c.read("resource://config/environment"), c.call("health_check")])


def prompts_take_their_arguments(c):
    listed = c.ask("prompts/list")["prompts"]
    assert {p["name"]: [a["name"] for a in p["arguments"]] for p in listed} == PROMPTS, listed
    for prompt in listed:
        arguments = {name: f"<{name}>" for name in PROMPTS[prompt["name"]]}
        got = c.ask("prompts/get", name=prompt["name"], arguments=arguments)
        [message] = got["messages"]
        assert message["role"] == "user" and message["content"]["type"] == "text", got
        for value in arguments.values():
            assert value in message["content"]["text"], (prompt, value)
        answer = c.say("prompts/get", {"name": prompt["name"], "arguments": {}})
        assert answer["error"]["code"] == -32602, answer


def arguments_are_completed(c):
    for ref, name, value, chosen, expected in COMPLETIONS:
        completion = c.ask("completion/complete", ref=ref, argument={"name": name, "value": value},
            context={"arguments": chosen})["completion"]
        assert completion == {"values": expected, "total": len(expected), "hasMore": False}, (ref, name, completion)


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    with Tap() as tap, Mailroom(sys.argv[1]) as m:
        m.write("caps.json", '{"agents": [{"name": "RedCat", "project": "backend", "capabilities": ["sql"]}]}')
        with m.serve(env={"MCP_CAPABILITIES_FILE": os.path.join(m.dir, "caps.json")}) as server:
            c = Client(server)
            scene(c)
            for case in (resources_have_their_members, every_template_is_looked_at, listed_ones_can_be_read,
                    prompts_take_their_arguments, arguments_are_completed, what_is_ambiguous_is_explained):
                tap.run(case.__name__.replace("_", " "), case, c)
        tap.run("credentials are not shown", credentials_are_not_shown, m)


main()
