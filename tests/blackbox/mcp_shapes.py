"""usage: mcp_shapes.py PROGRAM - each tool as the contract has it: its arguments, their defaults and other names, and the
members and types of what it gives, no more and no fewer."""

import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from mailroom import Mailroom  # noqa: E402
from mcp import EVERYTHING, Stdio  # noqa: E402
from shapes import fits  # noqa: E402
from tap import Tap  # noqa: E402
from tool_calls import B, CALLS, F, ME, REPO, given, repository  # noqa: E402

# Tools whose result is a list, bare in the text and under "result" in the structure.
LISTS = {"fetch_inbox", "search_messages", "list_projects", "list_agents", "list_outbox", "acks_pending", "acks_overdue",
    "list_threads", "list_file_reservations", "list_products", "list_groups", "product_inbox", "search_messages_product"}

# Their text is what people read: the structure would be too long a second time.
TOLD = {"fetch_inbox", "list_outbox", "acks_pending", "acks_overdue", "product_inbox", "search_messages_product", "get_thread",
    "list_threads", "search_messages"}

# What must be given, and what holds otherwise, as the contract's sections 7.1 to 7.7 have it. None: nothing, or a setting.
ARGUMENTS = {
    "health_check": ("", {}),
    "ensure_project": ("human_key", {"identity_mode": None}),
    "list_extended_tools": ("", {}),
    "call_extended_tool": ("tool_name", {"arguments": None}),
    "install_precommit_guard": ("project_key", {"code_repo_path": None}),
    "uninstall_precommit_guard": ("code_repo_path", {}),
    "register_agent": ("project_key program model", {"name": None, "task_description": None, "attachments_policy": "auto",
        "contact_policy": "open"}),
    "create_agent_identity": ("project_key program model", {"name_hint": None, "task_description": None,
        "attachments_policy": "auto"}),
    "whois": ("project_key agent_name", {"include_recent_commits": True, "commit_limit": 5}),
    "delete_agent": ("project_key name", {"purge": False}),
    "send_message": ("project_key sender_name subject body_md", {"to": None, "cc": None, "bcc": None, "attachment_paths": None,
        "convert_images": None, "importance": "normal", "ack_required": False, "thread_id": None,
        "auto_contact_if_blocked": False, "idempotency_key": None, "reply_to": None}),
    "reply_message": ("project_key message_id sender_name body_md", {"to": None, "cc": None, "bcc": None,
        "subject_prefix": "Re:", "reply_all": False, "importance": None, "ack_required": None, "attachment_paths": None}),
    "fetch_inbox": ("project_key agent_name", {"limit": 20, "urgent_only": False, "include_bodies": False, "since_ts": None,
        "unread_only": False, "thread_id": None, "cursor": None}),
    "mark_message_read": ("project_key agent_name message_id", {}),
    "acknowledge_message": ("project_key agent_name message_id", {}),
    "request_contact": ("project_key from_agent to_agent", {"to_project": None, "reason": None, "ttl_seconds": None}),
    "respond_contact": ("", {"project_key": None, "to_agent": None, "from_agent": None, "accept": None, "status": None,
        "from_project": None, "ttl_seconds": None, "link_id": None}),
    "list_contacts": ("project_key agent_name", {"status": None}),
    "set_contact_policy": ("project_key agent_name policy", {}),
    "search_messages": ("project_key query", {"limit": 20}),
    "summarize_thread": ("project_key thread_id", {"include_examples": False, "llm_mode": True, "llm_model": None}),
    "summarize_threads": ("project_key thread_ids", {"llm_mode": True, "llm_model": None, "per_thread_limit": 50}),
    "file_reservation_paths": ("project_key agent_name paths", {"ttl_seconds": 3600, "exclusive": True, "reason": None}),
    "release_file_reservations": ("project_key agent_name", {"paths": None, "file_reservation_ids": None}),
    "renew_file_reservations": ("project_key agent_name", {"extend_seconds": 1800, "paths": None,
        "file_reservation_ids": None}),
    "force_release_file_reservation": ("project_key agent_name file_reservation_id", {"notify_previous": True, "note": None}),
    "macro_start_session": ("human_key program model", {"task_description": None, "agent_name": None,
        "file_reservation_paths": None, "file_reservation_reason": "macro-session", "file_reservation_ttl_seconds": 3600,
        "inbox_limit": 10, "session_id": None}),
    "macro_prepare_thread": ("project_key thread_id program model", {"agent_name": None, "task_description": None,
        "register_if_missing": True, "include_examples": True, "inbox_limit": 10, "include_inbox_bodies": False,
        "llm_mode": True, "llm_model": None}),
    "macro_file_reservation_cycle": ("project_key agent_name paths", {"ttl_seconds": 3600, "exclusive": True,
        "reason": "macro-file_reservation", "auto_release": False}),
    "macro_contact_handshake": ("project_key requester target", {"to_project": None, "reason": None, "ttl_seconds": None,
        "auto_accept": False, "welcome_subject": None, "welcome_body": None, "thread_id": None, "register_if_missing": True,
        "program": None, "model": None}),
    "wait_for_mail": ("project_key agent_name", {"timeout_seconds": 30}),
}

# Other names of arguments that are understood, and lists that arrive as something else: a call, and what it must give.
ALIASES = [
    ("fetch_inbox", {"project_slug": B, "agent": "RedCat"}, lambda r: len(r["result"]) == 1),
    ("fetch_inbox", {"project_key": B, "agent_name": "redcat", "limit": "1", "include_bodies": "true"},
        lambda r: "body_md" in r["result"][0]),
    *[("send_message", {"project_slug": B, name: "GreenCastle", to: ["RedCat"], "subject": "s", "body": "text"},
        lambda r: (r["deliveries"][0]["payload"]["from"], r["deliveries"][0]["payload"]["to"],
            r["deliveries"][0]["payload"]["body_md"]) == ("GreenCastle", ["RedCat"], "text"))
        for name, to in (("from", "recipients"), ("from_agent", "recipient_names"), ("sender", "to"))],
    ("send_message", {"project_key": B, "sender_name": "GreenCastle", "to": "RedCat, BlueLake", "cc": "SwiftFox", "subject": "s",
        "body_md": "b"}, lambda r: (len(r["deliveries"][0]["payload"]["to"]), r["deliveries"][0]["payload"]["cc"]) ==
            (2, ["SwiftFox"])),
    *[("reply_message", {"project_slug": B, "message_id": "1", name: "RedCat", "body": "text"},
        lambda r: (r["from"], r["body_md"], r["reply_to"]) == ("RedCat", "text", 1)) for name in ("from", "from_agent", "sender")],
    ("file_reservation_paths", {"project_slug": B, "agent": "RedCat", "path_pattern": "a/**", "ttl": 90, "exclusive": "false"},
        lambda r: r["granted"][0]["path_pattern"] == "a/**" and r["granted"][0]["exclusive"] is False),
    ("macro_file_reservation_cycle", {"project_slug": B, "agent": "RedCat", "path_pattern": "b", "ttl": 90},
        lambda r: r["file_reservations"]["granted"][0]["path_pattern"] == "b"),
    ("renew_file_reservations", {"project_slug": B, "agent": "RedCat", "reservation_ids": [1]}, lambda r: r["renewed"] == 1),
    ("release_file_reservations", {"project_slug": B, "agent": "RedCat", "reservation_ids": [1]}, lambda r: r["released"] == 1),
    ("set_contact_policy", {"project_slug": B, "agent": "RedCat", "contact_policy": "auto"},
        lambda r: r["contact_policy"] == "auto"),
    ("create_agent_identity", {"project_slug": B, "program": "x", "model": "y", "hint": "BoldHawk"},
        lambda r: r["name"] == "BoldHawk"),
    ("install_precommit_guard", {"project_slug": B, "target_repo_path": REPO}, lambda r: r["hook"].endswith("pre-commit")),
    ("uninstall_precommit_guard", {"target_repo_path": REPO}, lambda r: r["removed"] is True),
    ("request_contact", {"from_project_slug": B, "from_agent_name": "RedCat", "to_project_slug": F, "to_agent_name": "BlueLake",
        "reason": "r"}, lambda r: r["to"]["agent"] == "BlueLake"),
    ("respond_contact", {"link_id": 1, "project_key": F, "to_agent": "BlueLake", "status": "blocked"},
        lambda r: r["status"] == "blocked"),
    ("summarize_thread", {"project_key": B, "thread_id": 1}, lambda r: r["thread_id"] == "1"),
]

# Arguments that are refused, and the one that is named.
REFUSED = [
    ("fetch_inbox", {"project_key": B, "agent_nam": "RedCat"}, "agent_name", "did you mean agent_name?"),
    ("fetch_inbox", ME | {"limit": "many"}, "limit", "must be an integer"),
    ("fetch_inbox", ME | {"urgent_only": "perhaps"}, "urgent_only", "must be a boolean"),
    ("fetch_inbox", ME | {"since_ts": "never"}, "since_ts", "expected a year"),
    ("send_message", {"project_key": B, "sender_name": "RedCat", "to": ["RedCat"], "cc": 5, "subject": "s", "body_md": "b"}, "cc",
        "must be a string"),
    ("send_message", {"project_key": B, "sender_name": "RedCat", "to": ["RedCat"], "subject": "s", "body_md": "b",
        "importance": "huge"}, "importance", "must be one of: low, normal, high, urgent"),
    ("send_message", {"project_key": B, "sender_name": "RedCat", "to": [], "subject": "s", "body_md": "b"}, "to",
        "needs somebody"),
    ("set_contact_policy", ME | {"policy": "friends"}, "policy", "open, auto, contacts_only, block_all"),
    ("file_reservation_paths", ME | {"paths": ["a"], "ttl_seconds": 0}, "ttl_seconds", "must be between"),
    ("file_reservation_paths", ME | {"paths": []}, "paths", ""),
    ("macro_prepare_thread", {"project_key": B, "thread_id": "T", "program": "x", "model": "y", "register_if_missing": False},
        "agent_name", ""),
]


def ask(m, client, tool, arguments):
    return client.ask("tools/call", {"name": tool, "arguments": given(m, arguments)})


def results_have_their_members(m):
    with Stdio(m, env={"PROJECT_ROOTS": repository(m)}) as client:
        for tool, arguments, shape, proof in CALLS:
            result = ask(m, client, tool, arguments)
            assert not result["isError"], (tool, result)
            value = result["structuredContent"]
            fits(value, shape, f"{tool}: $")
            assert {name: value[name] for name in proof} == proof, (tool, proof, value)
            # A list of nothing would prove nothing.
            for name in ("result", "messages", "inbox", "contacts", "granted", "threads") if tool != "macro_start_session" else ():
                assert value.get(name) != [], (tool, name)
            [content] = result["content"]
            assert content["type"] == "text", content
            inner = value["result"] if tool in LISTS else value
            if tool in TOLD:
                assert all(item["subject"] in content["text"] for item in value.get("result", value.get("messages"))), content
            elif tool != "call_extended_tool":
                assert json.loads(content["text"]) == inner, (tool, content)


def every_tool_is_looked_at(m):
    with Stdio(m, env=EVERYTHING) as client:
        tools = {tool["name"]: tool for tool in client.ask("tools/list")["tools"]}
    assert set(tools) == {call[0] for call in CALLS}, set(tools) ^ {call[0] for call in CALLS}
    assert {name for name, tool in tools.items() if tool["outputSchema"].get("x-fastmcp-wrap-result")} == LISTS
    # What a call gave is what the list promised.
    for tool, _, shape, _ in CALLS:
        schema = tools[tool]["outputSchema"]
        assert schema["type"] == "object" and schema.get("additionalProperties", True) is not False, schema
        if tool != "call_extended_tool":
            assert {name.rstrip("?") for name in shape} <= set(schema["properties"]), (tool, schema)


def arguments_have_their_defaults(m):
    with Stdio(m, env=EVERYTHING) as client:
        tools = {tool["name"]: tool["inputSchema"] for tool in client.ask("tools/list")["tools"]}
    for name, (required, optional) in ARGUMENTS.items():
        schema = tools[name]
        assert set(schema.get("required", [])) == set(required.split()), (name, schema.get("required"))
        for argument, default in optional.items():
            assert schema["properties"][argument].get("default") == default, (name, argument, schema["properties"][argument])
        for argument, about in schema["properties"].items():
            assert about["description"] and about["type"], (name, argument)


def other_names_are_understood(m):
    with Stdio(m, env={"PROJECT_ROOTS": repository(m)} | EVERYTHING) as client:
        for project, name in ((B, "RedCat"), (B, "GreenCastle"), (F, "BlueLake"), (B, "SwiftFox")):
            client.call("register_agent", project_key=project, name=name, program="x", model="y")
        client.call("send_message", project_key=B, sender_name="GreenCastle", to=["RedCat"], subject="s", body_md="b")
        # They are understood, and not shown.
        shown = {tool["name"]: tool["inputSchema"]["properties"] for tool in client.ask("tools/list")["tools"]}
        for tool, arguments, proof in ALIASES:
            result = ask(m, client, tool, arguments)
            assert not result["isError"] and proof(result["structuredContent"]), (tool, arguments, result)
        for alias in ("project_slug", "agent", "sender", "body", "recipients", "recipient_names", "reservation_ids", "ttl", "hint",
                "path_pattern", "target_repo_path"):
            assert not [name for name, arguments in shown.items() if alias in arguments], alias


def what_is_wrong_is_named(m):
    with Stdio(m) as client:
        client.call("register_agent", project_key=B, name="RedCat", program="x", model="y")
        for tool, arguments, argument, why in REFUSED:
            result = ask(m, client, tool, arguments)
            assert result["isError"], (tool, arguments, result)
            error = result["structuredContent"]["error"]
            assert error["type"] == "INVALID_ARGUMENT" and error["recoverable"] is True, error
            assert error["data"]["argument"] == argument and why in error["message"], (tool, arguments, error)
            message, envelope = result["content"][0]["text"].split("\n", 1)
            assert message == error["message"] and json.loads(envelope) == result["structuredContent"], result


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    with Tap() as tap:
        for case in (results_have_their_members, every_tool_is_looked_at, arguments_have_their_defaults,
                other_names_are_understood, what_is_wrong_is_named):
            with Mailroom(sys.argv[1]) as m:
                tap.run(case.__name__.replace("_", " "), case, m)


main()
