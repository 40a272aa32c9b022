"""A day of a team as calls of tools, each with the shape of its result, in an order in which each finds what it needs.

Every tool is called at least once; mcp_shapes.py looks at the results, parity.py compares them between surfaces.
"""

import os
import subprocess

from shapes import (
    AGENT, FOUND, GROUP, HOLDER, HOOKS, LEASE, LINK, LISTED, MENTIONS, PAYLOAD, PRODUCT, PROJECT, READ, RELEASED, RESERVED,
    SENT, SLOT, SUMMARY, THREAD, TIME, Maybe
)

B, F = "/srv/backend", "/srv/frontend"

ME = {"project_key": B, "agent_name": "RedCat"}
OTHER = {"project_key": B, "agent_name": "GreenCastle"}
REPO = object()  # the path of a repository

# In an order in which each call finds what it needs; `proof` is what the answer must also say.
CALLS = [
    ("health_check", {}, {"status": ("ok",), "environment": str, "http_host": str, "http_port": int, "database_url": str,
        "storage_root": str, "version": str, "protocol_versions": [str], "uptime_seconds": int, "archive_pending": int, "engine?": str,
        "problems": [str]}, {"environment": "development", "http_host": "127.0.0.1", "http_port": 8765}),
    ("ensure_project", {"human_key": B}, PROJECT, {"human_key": B}),
    ("list_projects", {}, {"result": [PROJECT]}, {}),
    ("register_agent", {"project_key": F, "program": "x", "model": "y", "name": "BlueLake"}, AGENT,
        {"task_description": "", "attachments_policy": "auto", "contact_policy": "open", "is_active": True}),
    ("register_agent", {"project_key": B, "program": "x", "model": "y", "name": "RedCat"}, AGENT, {"name": "RedCat"}),
    ("register_agent", {"project_key": B, "program": "codex", "model": "y", "name": "redcat", "attachments_policy": "some"},
        AGENT, {"name": "RedCat", "program": "codex", "attachments_policy": "auto"}),
    ("create_agent_identity", {"project_key": B, "program": "codex", "model": "y", "name_hint": "GreenCastle"}, AGENT,
        {"name": "GreenCastle"}),
    ("whois", ME, AGENT | {"recent_commits": [{"hexsha": str, "summary": str, "authored_ts": TIME}]}, {}),
    ("whois", ME | {"include_recent_commits": False}, AGENT | {"recent_commits": [dict]}, {"recent_commits": []}),
    ("list_agents", {"project_key": B}, {"result": [AGENT]}, {}),
    ("update_agent_profile", ME | {"task_description": "t"}, AGENT, {"task_description": "t"}),
    ("send_message", {"project_key": B, "sender_name": "GreenCastle", "to": ["RedCat"], "cc": "BlueLake", "subject": "plan",
        "body_md": "- build `src/a.c`\n- [ ] test @RedCat", "thread_id": "T", "importance": "high", "ack_required": True}, SENT,
        {"count": 1}),
    ("send_message", {"project_key": B, "sender_name": "GreenCastle", "to": ["RedCat"], "subject": "s", "body_md": "b"}, SENT,
        {"count": 1}),
    ("reply_message", {"project_key": B, "message_id": 1, "sender_name": "RedCat", "body_md": "ok"},
        PAYLOAD | {"deliveries": SENT["deliveries"], "count": int},
        {"thread_id": "T", "reply_to": 1, "subject": "Re: plan", "to": ["GreenCastle"], "ack_required": True}),
    ("fetch_inbox", ME, {"result": [LISTED]}, {}),
    ("fetch_inbox", ME | {"include_bodies": True}, {"result": [LISTED | {"body_md": str}]}, {}),
    ("fetch_inbox", ME | {"include_bodies": True, "max_chars": 1}, {"result": [LISTED | {"body_md": str, "truncated?": (True,)}]}, {}),
    ("wait_for_mail", ME | {"since": 0}, {"messages": [LISTED], "timed_out": (False,), "cursor": int}, {}),
    ("list_outbox", OTHER, {"result": [LISTED | {"to": [str], "cc?": [str], "bcc?": [str]}]}, {}),
    ("get_message", {"project_key": B, "message_id": 1}, READ | {"to": [str], "cc": [str], "body_md": str}, {"id": 1}),
    ("acks_pending", ME, {"result": [LISTED | {"age_seconds": int}]}, {}),
    ("acks_pending", ME | {"include_bodies": True, "max_chars": 3},
        {"result": [LISTED | {"age_seconds": int, "body_md": ("- b",), "truncated": (True,)}]}, {}),
    ("acks_overdue", ME | {"ttl_seconds": 0, "include_bodies": True}, {"result": [LISTED | {"age_seconds": int, "body_md": str}]},
        {}),
    ("mark_message_read", ME | {"message_id": 1}, {"message_id": int, "read": bool, "read_at": TIME}, {"read": True}),
    ("mark_message_read", OTHER | {"message_id": 1}, {"message_id": int, "read": bool, "read_at": Maybe(TIME)},
        {"message_id": 1, "read": False, "read_at": None}),
    ("acknowledge_message", ME | {"message_id": 1}, {"message_id": int, "acknowledged": bool, "acknowledged_at": TIME,
        "read_at": TIME}, {"acknowledged": True}),
    ("acknowledge_message", OTHER | {"message_id": 1}, {"message_id": int, "acknowledged": bool,
        "acknowledged_at": Maybe(TIME), "read_at": Maybe(TIME)}, {"acknowledged": False, "acknowledged_at": None}),
    ("list_threads", {"project_key": B}, {"result": [{"thread_id": str, "subject": str, "messages": int, "first_ts": TIME,
        "last_ts": TIME, "last_from": str, "last_id": int}]}, {}),
    ("get_thread", {"project_key": B, "thread_id": "T"}, {"project": str, "thread_id": str,
        "messages": [LISTED | {"to": [str], "cc?": [str], "body_md": str}], "next_cursor": Maybe(int)}, {"next_cursor": None}),
    ("search_messages", {"project_key": B, "query": "plan"}, {"result": [FOUND], "mode": ("fts",)}, {}),
    ("summarize_thread", {"project_key": B, "thread_id": "T"}, THREAD, {"examples": []}),
    ("summarize_thread", {"project_key": B, "thread_id": "T", "include_examples": True}, THREAD, {"thread_id": "T"}),
    ("summarize_threads", {"project_key": B, "thread_ids": ["T"]}, {"threads": [{"thread_id": str, "summary": SUMMARY}],
        "aggregate": {"top_mentions": MENTIONS, "action_items": [str], "key_points": [str], "source": ("heuristic",)}}, {}),
    ("file_reservation_paths", OTHER | {"paths": ["src/**"]}, RESERVED, {"conflicts": []}),
    ("file_reservation_paths", ME | {"paths": "src/a.c"}, RESERVED, {}),
    ("check_paths", ME | {"paths": ["src/a.c"]}, {"ok": bool, "conflicts": RESERVED["conflicts"]}, {"ok": False}),
    ("list_file_reservations", {"project_key": B}, {"result": [LEASE]}, {}),
    ("renew_file_reservations", ME, {"renewed": int, "file_reservations": [{"id": int, "path_pattern": str,
        "old_expires_ts": TIME, "new_expires_ts": TIME}]}, {"renewed": 1}),
    ("force_release_file_reservation", ME | {"file_reservation_id": 1, "override": True}, RELEASED | {"reservation":
        LEASE | {"notified": bool}}, {"released": 1}),
    ("force_release_file_reservation", ME | {"file_reservation_id": 1}, RELEASED | {"already_released": (True,)},
        {"released": 0}),
    ("release_file_reservations", ME, RELEASED, {"released": 1}),
    ("set_contact_policy", {"project_key": F, "agent_name": "BlueLake", "policy": "contacts_only"}, AGENT,
        {"contact_policy": "contacts_only"}),
    ("request_contact", {"project_key": B, "from_agent": "RedCat", "to_agent": "BlueLake", "to_project": F},
        LINK | {"notified": bool}, {"status": "pending", "notified": True}),
    ("respond_contact", {"project_key": F, "to_agent": "BlueLake", "from_agent": "RedCat", "from_project": B, "accept": True},
        LINK | {"updated": (0, 1)}, {"status": "approved", "updated": 1}),
    ("list_contacts", {"project_key": F, "agent_name": "BlueLake"}, {"agent": str, "contacts": [LINK]}, {"agent": "BlueLake"}),
    ("macro_start_session", {"human_key": B, "program": "codex", "model": "y", "agent_name": "RedCat",
        "file_reservation_paths": ["q"]}, {"project": PROJECT, "agent": AGENT, "file_reservations": RESERVED, "inbox": [LISTED],
        "resumed?": str, "offered?": [HOLDER]},
        {}),
    ("macro_start_session", {"human_key": B, "program": "codex", "model": "y", "agent_name": "RedCat"},
        {"project": PROJECT, "agent": AGENT, "file_reservations": RESERVED, "inbox": [LISTED]},
        {"file_reservations": {"granted": [], "conflicts": []}}),
    ("macro_prepare_thread", {"project_key": B, "thread_id": "T", "program": "codex", "model": "y", "agent_name": "RedCat"},
        {"project": PROJECT, "agent": AGENT, "thread": THREAD | {"total_messages": int}, "inbox": [LISTED]}, {}),
    ("macro_file_reservation_cycle", ME | {"paths": ["z"]}, {"file_reservations": RESERVED, "released": Maybe(RELEASED)},
        {"released": None}),
    ("macro_file_reservation_cycle", ME | {"paths": ["z"], "auto_release": True}, {"file_reservations": RESERVED,
        "released": RELEASED}, {}),
    ("macro_contact_handshake", {"project_key": F, "requester": "BlueLake", "target": "GreenCastle", "to_project": B,
        "auto_accept": True, "welcome_subject": "hello", "welcome_body": "b"}, {"request": LINK | {"notified": bool},
        "response": Maybe(LINK), "welcome_message": SENT}, {}),
    ("macro_contact_handshake", {"project_key": B, "agent_name": "GreenCastle", "to_agent": "BlueLake", "to_project": F},
        {"request": LINK | {"notified": bool}, "response": Maybe(LINK), "welcome_message": Maybe(SENT)},
        {"response": None, "welcome_message": None}),
    ("ensure_product", {"product_uid": "suite"}, PRODUCT, {"projects": []}),
    ("link_project_to_product", {"product_uid": "suite", "project_key": B}, PRODUCT, {}),
    ("list_products", {}, {"result": [PRODUCT]}, {}),
    ("product_inbox", {"product_uid": "suite"}, {"result": [LISTED]}, {}),
    ("product_inbox", {"product_uid": "suite", "include_bodies": True, "max_chars": 2},
        {"result": [LISTED | {"body_md": str, "truncated?": (True,)}]}, {}),
    ("search_messages_product", {"product_uid": "suite", "query": "plan"}, {"result": [FOUND], "mode": ("fts",)}, {}),
    ("summarize_thread_product", {"product_uid": "suite", "thread_id": "T"}, THREAD, {}),
    ("unlink_project_from_product", {"product_uid": "suite", "project_key": B}, PRODUCT, {"projects": []}),
    ("set_group", ME | {"name": "reviewers", "members": ["RedCat"]}, GROUP, {"name": "reviewers", "members": ["RedCat"]}),
    ("list_groups", {"project_key": B}, {"result": [GROUP]}, {}),
    ("acquire_build_slot", ME | {"slot_name": "b"}, SLOT, {"released_ts": None}),
    ("renew_build_slot", ME | {"slot_id": 1}, SLOT, {}),
    ("release_build_slot", ME | {"slot_id": 1}, SLOT, {}),
    ("list_extended_tools", {}, {"total": int, "by_category": dict, "tools": [{"name": str, "category": str,
        "description": str}]}, {}),
    ("call_extended_tool", {"tool_name": "whois", "arguments": ME}, AGENT | {"recent_commits": [dict]}, {"name": "RedCat"}),
    ("install_precommit_guard", {"project_key": B, "code_repo_path": REPO}, {"hook": str, "hooks": HOOKS, "project": str,
        "warnings": [str]}, {}),
    ("uninstall_precommit_guard", {"code_repo_path": REPO}, {"removed": bool, "hooks": HOOKS}, {"removed": True}),
    ("uninstall_precommit_guard", {"code_repo_path": REPO}, {"removed": bool, "hooks": HOOKS}, {"removed": False}),
    ("delete_agent", {"project_key": B, "name": "GreenCastle"}, {"agent_id": int, "agent_name": str, "project": str,
        "message_recipients_deleted": int, "messages_deleted": int, "file_reservations_deleted": int, "purged": bool,
        "deleted_ts": TIME, "file_reservations_released": int}, {"agent_name": "GreenCastle", "purged": False}),
]


def repository(m):
    return os.path.join(m.dir, "repo")


def given(m, arguments):
    repo = repository(m)
    if REPO in arguments.values() and not os.path.exists(repo):
        subprocess.run(["git", "init", "-q", repo], check=True, timeout=60)
    return {name: repo if value is REPO else value for name, value in arguments.items()}
