"""usage: mcp_tools.py PROGRAM - what MCP clients are answered is what the command line answers."""

import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from mailroom import Mailroom  # noqa: E402
from mcp import Stdio  # noqa: E402
from tap import Tap  # noqa: E402

B, F = "/srv/backend", "/srv/frontend"

# Their text is what people read: the structure would be too long a second time.
TOLD = {"fetch_inbox", "list_outbox", "acks_pending", "acks_overdue", "product_inbox", "search_messages_product", "get_thread",
    "list_threads", "search_messages"}

# What changes nothing, as a tool and as a command: one object, whoever asks.
READS = [
    ("list_projects", {}, ["projects"]),
    ("list_projects", {"limit": 1, "cursor": 1}, ["projects", "--limit", "1", "--cursor", "1"]),
    ("list_agents", {"project_key": B}, ["agents", B]),
    ("whois", {"project_key": B, "agent_name": "RedCat"}, ["whois", B, "RedCat"]),
    ("fetch_inbox", {"project_key": B, "agent_name": "RedCat", "include_bodies": True, "max_chars": 4},
        ["inbox", B, "RedCat", "--include-bodies", "--max-chars", "4"]),
    ("fetch_inbox", {"project_key": F, "agent_name": "BlueLake", "unread_only": "true"},
        ["inbox", F, "BlueLake", "--unread-only"]),
    ("list_outbox", {"project_key": B, "agent_name": "GreenCastle"}, ["outbox", B, "GreenCastle"]),
    ("get_message", {"project_key": B, "message_id": 1}, ["show", B, "1"]),
    ("get_thread", {"project_key": B, "thread_id": "T"}, ["thread", B, "T"]),
    ("list_threads", {"project_key": B}, ["threads", B]),
    ("search_messages", {"project_key": B, "query": "plan"}, ["search", B, "plan"]),
    ("summarize_thread", {"project_key": B, "thread_id": "T"}, ["summarize", B, "T"]),
    ("summarize_threads", {"project_key": B, "thread_ids": ["T"]}, ["summarize-many", B, "T"]),
    ("check_paths", {"project_key": B, "paths": ["src/a.c"]}, ["check-paths", B, "src/a.c"]),
    ("list_file_reservations", {"project_key": B}, ["reservations", B]),
    ("list_contacts", {"project_key": F, "agent_name": "BlueLake"}, ["contact", "list", F, "BlueLake"]),
    ("list_products", {}, ["product", "list"]),
    ("wait_for_mail", {"project_key": B, "agent_name": "RedCat", "since": 0},
        ["wait", B, "RedCat", "--since", "0"]),
]

# The same change made twice over, in two storages: only times and random ids may differ.
CHANGES = [
    ("ensure_project", {"human_key": "/srv/new"}, ["ensure-project", "/srv/new"]),
    ("register_agent", {"project_key": "/srv/new", "name": "SwiftFox", "program": "codex", "model": "gpt"},
        ["register", "/srv/new", "SwiftFox", "--program", "codex", "--model", "gpt"]),
    ("send_message", {"project_key": B, "sender_name": "RedCat", "to": ["GreenCastle"], "subject": "s",
        "body_md": "b", "ack_required": True},
        ["send", B, "RedCat", "--to", "GreenCastle", "--subject", "s", "--body-md", "b", "--ack-required"]),
    ("reply_message", {"project_key": B, "sender_name": "RedCat", "message_id": 1, "body_md": "ok"},
        ["reply", B, "RedCat", "1", "--body-md", "ok"]),
    ("mark_message_read", {"project_key": B, "agent_name": "RedCat", "message_id": 1}, ["read", B, "RedCat", "1"]),
    ("acknowledge_message", {"project_key": B, "agent_name": "RedCat", "message_id": 1}, ["ack", B, "RedCat", "1"]),
    ("file_reservation_paths", {"project_key": B, "agent_name": "RedCat", "paths": ["doc/**"]},
        ["reserve", B, "RedCat", "doc/**"]),
    ("release_file_reservations", {"project_key": B, "agent_name": "RedCat"}, ["release", B, "RedCat"]),
    ("set_contact_policy", {"project_key": B, "agent_name": "RedCat", "policy": "auto"},
        ["contact", "policy", B, "RedCat", "auto"]),
]

FAILURES = [
    ("fetch_inbox", {"project_key": "/srv/nowhere", "agent_name": "X"}, ["inbox", "/srv/nowhere", "X"]),
    ("fetch_inbox", {"project_key": B, "agent_name": "RedCat", "since_ts": "never"},
        ["inbox", B, "RedCat", "--since-ts", "never"]),
    ("send_message", {"project_key": B, "sender_name": "RedCat", "to": ["no such name"], "subject": "s",
        "body_md": "b"}, ["send", B, "RedCat", "--to", "no such name", "--subject", "s", "--body-md", "b"]),
    ("search_messages", {"project_key": B, "query": ""}, ["search", B, ""]),
]


def scene(client):
    for project, name in ((B, "GreenCastle"), (B, "RedCat"), (F, "BlueLake")):
        client.call("register_agent", project_key=project, name=name, program="codex", model="gpt")
    client.call("send_message", project_key=B, sender_name="GreenCastle", to=["RedCat"], cc=["BlueLake"],
        subject="plan", body_md="- build the plan\n- [ ] test it @RedCat", thread_id="T", importance="high")
    client.call("file_reservation_paths", project_key=B, agent_name="GreenCastle", paths=["src/**"], reason="r")
    client.call("ensure_product", product_uid="suite")


def without_chance(value):
    """What is the same in two storages."""
    if isinstance(value, dict):
        return {k: None if k.endswith(("_ts", "_at")) or k == "uid" else without_chance(v) for k, v in value.items()}
    return [without_chance(v) for v in value] if isinstance(value, list) else value


def reads_are_the_same(m):
    with Stdio(m) as client:
        scene(client)
        for tool, arguments, words in READS:
            told, shown = client.call(tool, **arguments), m.json("team", *words)
            # Both look at a clock.
            for lease in [*told.get("result", []), *shown.get("result", [])] if "reserv" in tool else []:
                lease.pop("stale_reasons"), lease.pop("last_agent_activity_ts")
            for agent in (told, shown) if tool == "whois" else []:
                agent.pop("last_active_ts")
            for agent in [*told["result"], *shown["result"]] if tool == "list_agents" else []:
                agent.pop("last_active_ts")
            assert told == shown, (tool, told, shown)


def changes_are_the_same(m):
    with Mailroom(m.program) as other, Stdio(m) as client:
        scene(client)
        with Stdio(other) as there:
            scene(there)
        for tool, arguments, words in CHANGES:
            told, shown = client.call(tool, **arguments), other.json("team", *words)
            assert without_chance(told) == without_chance(shown), (tool, told, shown)


def failures_are_the_same(m):
    with Stdio(m) as client:
        scene(client)
        for tool, arguments, words in FAILURES:
            result = client.ask("tools/call", {"name": tool, "arguments": arguments})
            assert result["isError"], result
            done = m.run("--json", "team", *words)
            assert done.returncode != 0
            shown = json.loads(done.stdout)
            assert result["structuredContent"] == shown, (tool, result, shown)
            message, envelope = result["content"][0]["text"].split("\n", 1)
            assert message == shown["error"]["message"] and json.loads(envelope) == shown, result


def texts_say_the_same_as_structures(m):
    with Stdio(m) as client:
        scene(client)
        for tool, arguments, _ in READS:
            result = client.ask("tools/call", {"name": tool, "arguments": arguments})
            value = result["structuredContent"]
            text = result["content"][0]["text"]
            if tool in TOLD:
                assert all(str(item.get("id", item.get("thread_id"))) in text and item["subject"] in text
                    for item in value.get("result", value.get("messages"))), result
            else:
                assert json.loads(text) == value.get("result", value), result


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    with Tap() as tap:
        for case in (reads_are_the_same, changes_are_the_same, failures_are_the_same,
                texts_say_the_same_as_structures):
            with Mailroom(sys.argv[1]) as m:
                tap.run(case.__name__.replace("_", " "), lambda: case(m))


main()
