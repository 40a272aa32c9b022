"""usage: team_errors.py PROGRAM SOURCE - every kind of error a team's operations answer with, shown once, whole."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from mailroom import Mailroom, describe  # noqa: E402
from tap import Tap  # noqa: E402

SEND = ("send", "backend", "GreenCastle", "--subject", "s", "--body-md", "b", "--to")


def fill(m):
    """A backend where GreenCastle and RedCat work, a frontend with BlueLake, and reasons for every refusal."""
    os.mkdir(os.path.join(m.dir, "backend"))
    back, front = os.path.join(m.dir, "backend"), "/path/to/frontend"
    for project, name, policy in ((back, "GreenCastle", "open"), (back, "RedCat", "open"), (front, "BlueLake", "contacts_only"),
            (front, "GoldBear", "block_all"), (front, "KeenOwl", "open")):
        m.json("team", "register", project, name, "--program", "codex", "--model", "gpt", "--contact-policy", policy)
    with open(os.path.join(m.dir, "backend", "large"), "wb") as file:
        file.truncate((25 << 20) + 1)
    m.json("team", "reserve", "backend", "RedCat", "src/**")
    m.json("team", "reserve", "backend", "RedCat", "agents/RedCat/inbox/**", "--admin")
    m.json("team", "slot", "acquire", "backend", "RedCat", "build")
    m.json("team", "contact", "request", "backend", "GreenCastle", "BlueLake")
    m.json("team", *SEND, "KeenOwl")


# What is typed, what it ends with, and the envelope: type, recoverable, the start of the message, data.
CASES = [
    (("inbox", "backend", "GreenCastle", "--limit", "many"), {}, 2, "INVALID_ARGUMENT", True, "arguments: $.limit: must be",
        lambda d: d["argument"] == "limit" and d["issues"][0]["path"] == "$.limit"),
    ((*SEND, "RedCat", "--thread-id", "t" * 129), {}, 2, "INVALID_ARGUMENT", True, "thread_id has 129 bytes",
        {"argument": "thread_id"}),
    (("whois", "backend", "GreenCastel"), {}, 1, "NOT_FOUND", True, 'there is no agent "GreenCastel"',
        lambda d: d["suggestions"][0] == "GreenCastle"),
    (("inbox", "bakcend", "GreenCastle"), {}, 1, "NOT_FOUND", True, 'there is no project "bakcend"',
        lambda d: len(d["suggestions"]) >= 1),
    (("create-identity", "backend", "--name-hint", "RedCat", "--program", "x", "--model", "y"), {"AGENT_NAME_ENFORCEMENT_MODE": "strict"}, 1,
        "NAME_TAKEN", True, "the name RedCat is taken", {"name": "RedCat"}),
    ((*SEND, "SwiftFox"), {"MESSAGING_AUTO_REGISTER_RECIPIENTS": "0"}, 1, "RECIPIENT_NOT_FOUND", True,
        "nobody is called SwiftFox in project",
        lambda d: d["unknown_recipients"] == ["SwiftFox"] and d["code_alias"] == "RECIPIENT_UNKNOWN" and
            d["suggested_tool_calls"][0]["tool"] == "register_agent"),
    (("reply", "frontend", "KeenOwl", "2", "--body-md", "b", "--to", "???"), {}, 1, "RECIPIENT_NOT_FOUND", True,
        "nobody is called ??? in project path-to-frontend, and no agent elsewhere is; a name is two words",
        lambda d: d["unknown_recipients"] == ["???"] and d["suggested_tool_calls"] == []),
    ((*SEND, "RedCat"), {}, 1, "FILE_RESERVATION_CONFLICT", True, "",
        lambda d: d["conflicts"][0]["holder"] == "RedCat" and set(d["conflicts"][0]) >= {"surface", "holder", "path_pattern",
            "exclusive", "expires_ts"}),
    (("force-release", "backend", "GreenCastle", "1"), {}, 1, "RESERVATION_ACTIVE", True, "lease 1 of RedCat on src/**",
        lambda d: d["file_reservation_id"] == 1 and d["stale_reasons"][0] == "agent_recently_active"),
    ((*SEND, "BlueLake"), {}, 1, "CONTACT_REQUIRED", True, "",
        lambda d: (d["recipient"], d["policy"], d["reason"]) == ("BlueLake", "contacts_only", "pending") and
            d["suggested_tool_calls"][0]["tool"] == "request_contact"),
    ((*SEND, "GoldBear"), {}, 1, "CONTACT_BLOCKED", False, "",
        lambda d: (d["recipient"], d["policy"]) == ("GoldBear", "block_all")),
    (("send", "frontend", "BlueLake", "--subject", "s", "--body-md", "b", "--to", "KeenOwl"),
        {"QUOTA_ENABLED": "1", "QUOTA_INBOX_LIMIT_COUNT": "1"}, 1, "QUOTA_EXCEEDED", True, "KeenOwl has 1 unread",
        {"quota": "inbox_count", "recipient": "KeenOwl", "limit": 1}),
    ((*SEND, "KeenOwl", "--attachment-paths", "/etc/passwd"), {}, 2, "ATTACHMENT_REJECTED", True, "cannot attach: /etc/passwd",
        {"path": "/etc/passwd"}),
    ((*SEND, "KeenOwl", "--attachment-paths", "large"), {}, 1, "PAYLOAD_TOO_LARGE", True, "cannot attach: ",
        {"path": "large", "limit": 25 << 20}),
    (("slot", "release", "backend", "GreenCastle", "1"), {}, 1, "PERMISSION_DENIED", True, 'build slot 1 ("build") is held by',
        {"holder": "RedCat"}),
    (("contact", "respond", "backend", "GreenCastle", "--link-id", "1", "--accept"), {}, 1, "PERMISSION_DENIED", True,
        "contact link 1 is a request to BlueLake", {}),
    (("retire", "backend", "RedCat", "--purge"), {}, 1, "PERMISSION_DENIED", True, "not confirmed", {}),
    (("search", "backend", "since:yore"), {}, 2, "SEARCH_SYNTAX", True, "the filter since:yore makes no sense",
        {"filter": "since", "value": "yore"}),
]


def shown(m, args, env, status, kind, recoverable, message, data):
    answer = m.json("team", *args, env=env, status=status)
    assert set(answer) == {"error"}, answer
    error = answer["error"]
    assert list(error) == ["type", "message", "recoverable", "data"], error
    assert (error["type"], error["recoverable"]) == (kind, recoverable), error
    assert error["message"].startswith(message) and 10 < len(error["message"]) < 480, error
    assert data(error["data"]) if callable(data) else data == error["data"], error
    # People get the same sentence, and nothing on standard output.
    done = m.run("team", *args, env=env)
    assert done.returncode == status and not done.stdout and done.stderr.startswith(f"mailroom team {args[0]}"), describe(done)


def damage(m):
    """UNHANDLED_EXCEPTION is what nobody foresaw; a damaged database says at least which file and what to do."""
    path = os.path.join(m.root, "storage.sqlite3")
    for name in os.listdir(m.root):
        if name.startswith("storage.sqlite3-"):
            os.unlink(os.path.join(m.root, name))
    with open(path, "r+b") as file:
        file.write(b"this is no database, whatever it was" * 100)
    error = m.json("team", "inbox", "backend", "GreenCastle", status=1)["error"]
    assert (error["type"], error["recoverable"]) == ("UNHANDLED_EXCEPTION", False), error
    assert path in error["message"] and "mailroom team rebuild" in error["message"], error
    assert error["data"] == {"tool": "fetch_inbox", "original_error": "malformed"}, error


def main():
    with Tap() as tap, Mailroom(sys.argv[1]) as m:
        fill(m)
        for case in CASES:
            tap.run(f"{case[3]}: {' '.join(case[0])[:60]}", shown, m, *case)
        tap.run("UNHANDLED_EXCEPTION: a damaged database", damage, m)


main()
