"""What results look like: members and types, compared without mercy."""

import re

TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z")


class Maybe:
    """Null, or this."""

    def __init__(self, shape):
        self.shape = shape


def fits(value, shape, at="$"):
    """A member whose name ends in ? may be missing; others must be there, and none besides."""
    if isinstance(shape, Maybe):
        if value is not None:
            fits(value, shape.shape, at)
    elif shape is TIME:
        assert isinstance(value, str) and TIME.fullmatch(value), (at, value)
    elif isinstance(shape, list):
        assert isinstance(value, list), (at, value)
        for i, item in enumerate(value):
            fits(item, shape[0], f"{at}[{i}]")
    elif isinstance(shape, dict):
        assert isinstance(value, dict), (at, value)
        known = {name.rstrip("?") for name in shape}
        needed = {name for name in shape if not name.endswith("?")}
        assert set(value) <= known and needed <= set(value), (at, "besides", set(value) - known, "missing", needed - set(value))
        for name, inner in shape.items():
            if name.rstrip("?") in value:
                fits(value[name.rstrip("?")], inner, f"{at}.{name.rstrip('?')}")
    elif isinstance(shape, tuple):
        assert value in shape and type(value) is type(shape[0]), (at, value, shape)
    else:
        assert type(value) is shape, (at, value, shape)


# The objects that several results share: the contract's members, and after them ours.

PROJECT = {"id": int, "slug": str, "human_key": str, "created_at": TIME, "identity_mode": ("dir",), "why?": str,
    "short_name?": str}
AGENT = {"id": int, "name": str, "program": str, "model": str, "task_description": str, "inception_ts": TIME,
    "last_active_ts": TIME, "project_id": int, "attachments_policy": ("auto", "inline", "attach", "deny"),
    "is_active": bool, "deleted_ts": Maybe(TIME), "contact_policy": ("open", "auto", "contacts_only", "block_all")}
MESSAGE = {"id": int, "project_id": int, "sender_id": int, "thread_id": Maybe(str), "subject": str,
    "importance": ("low", "normal", "high", "urgent"), "ack_required": bool, "created_ts": TIME, "attachments": [dict],
    "from": str, "uid": str, "reply_to": Maybe(int), "addressed?": [str]}
PAYLOAD = MESSAGE | {"to": [str], "cc": [str], "bcc": [str], "body_md": str}
READ = MESSAGE | {"from_verified": bool, "sender_project": str, "is_human": bool}
ITEM = READ | {"kind": ("to", "cc", "bcc"), "read_ts": Maybe(TIME), "ack_ts": Maybe(TIME)}
# In a list what is empty or as usual is left out.
LISTED = {"id": int, "from": str, "subject": str, "created_ts": TIME, "thread_id?": str, "reply_to?": int,
    "importance?": ("low", "high", "urgent"), "ack_required?": (True,), "attachments?": [dict], "addressed?": [str],
    "from_verified?": (True,), "is_human?": (True,), "sender_project?": str, "kind?": ("cc", "bcc"), "read_ts?": TIME,
    "ack_ts?": TIME}
SENT = {"deliveries": [{"project": str, "payload": PAYLOAD}], "count": int, "attachments": [dict]}
GRANT = {"id": int, "path_pattern": str, "exclusive": bool, "reason": str, "expires_ts": TIME}
HOLDER = {"agent": str, "path_pattern": str, "exclusive": bool, "expires_ts": TIME, "id": int, "reason": str}
RESERVED = {"granted": [GRANT], "conflicts": [{"path": str, "holders": [HOLDER]}]}
RELEASED = {"released": int, "released_at": TIME}
LEASE = {"id": int, "agent": str, "path_pattern": str, "exclusive": bool, "reason": str, "created_ts": TIME, "expires_ts": TIME,
    "released_ts": Maybe(TIME), "stale": bool, "stale_reasons": [str], "last_agent_activity_ts": Maybe(TIME),
    "last_mail_activity_ts": Maybe(TIME), "last_filesystem_activity_ts": Maybe(TIME), "last_git_activity_ts": Maybe(TIME)}
END = {"project": str, "agent": str}
LINK = {"id": int, "from": END, "to": END, "status": ("pending", "approved", "blocked"), "reason": str, "created_ts": TIME,
    "updated_ts": TIME, "expires_ts": Maybe(TIME)}
MENTIONS = [{"name": str, "count": int}]
SUMMARY = {"participants": [str], "key_points": [str], "action_items": [str], "total_messages": int, "open_actions": int,
    "done_actions": int, "mentions": MENTIONS, "code_references?": [str], "source": ("heuristic",)}
EXAMPLES = [{"id": int, "subject": str, "from": str, "created_ts": TIME}]
THREAD = {"thread_id": str, "summary": SUMMARY, "examples": EXAMPLES}
FOUND = {"id": int, "subject": str, "importance": str, "ack_required": bool, "created_ts": TIME, "thread_id": Maybe(str),
    "from": str, "from_verified": bool, "sender_project": str, "is_human": bool, "uid": str, "project": str, "snippet": str,
    "offsets": [[int]], "score": float}
PRODUCT = {"id": int, "product_uid": str, "name": str, "created_at": TIME, "projects": [PROJECT]}
GROUP = {"name": str, "members": [str], "created_ts": TIME}
SLOT = {"id": int, "slot_name": str, "agent": str, "created_ts": TIME, "expires_ts": TIME, "released_ts": Maybe(TIME)}
HOOKS = [{"name": str, "path": str, "state": str, "chained": bool}]
