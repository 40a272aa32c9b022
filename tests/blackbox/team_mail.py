"""usage: team_mail.py PROGRAM SOURCE - messages between the agents of a team, from a shell."""

import concurrent.futures
import json
import os
import re
import signal
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import database  # noqa: E402
from mailroom import Mailroom, describe  # noqa: E402
from tap import Tap  # noqa: E402

TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z")
UID = re.compile(r"msg_\d{8}_[0-9a-f]{6}")
MESSAGE = {"id", "uid", "project_id", "sender_id", "from", "thread_id", "reply_to", "subject", "importance", "ack_required",
    "created_ts", "attachments"}
ITEM = MESSAGE | {"from_verified", "sender_project", "is_human", "kind", "read_ts", "ack_ts"}


def scene(m):
    """GreenCastle and RedCat in backend, BlueLake in frontend."""
    for project, name in (("/path/to/backend", "GreenCastle"), ("/path/to/backend", "RedCat"),
            ("/path/to/frontend", "BlueLake")):
        m.json("team", "register", project, "--name", name, "--program", "codex", "--model", "gpt")


def send(m, to, subject="x", *args, who=("backend", "GreenCastle"), body="Hello.", **options):
    return m.json("team", "send", *who, "--to", to, "--subject", subject, "--body-md", body, *args, **options)


def inbox(m, *args, who=("frontend", "BlueLake")):
    return m.json("team", "inbox", *who, *args)["result"]


def error(m, *args, status=1, **options):
    answer = m.json("team", *args, status=status, **options)
    assert set(answer) == {"error"}, answer
    assert set(answer["error"]) == {"type", "message", "recoverable", "data"}, answer
    return answer["error"]


def archived(m, slug):
    """{path: text} of everything the project's repository has committed."""
    git = ["git", "-C", f"{m.root}/projects/{slug}"]
    names = subprocess.run([*git, "ls-tree", "-rz", "--name-only", "HEAD"], env=m.env(), check=True, capture_output=True,
        text=True, timeout=60).stdout.split("\0")
    return {name: subprocess.run([*git, "show", f"HEAD:{name}"], env=m.env(), check=True, capture_output=True, text=True,
        timeout=60).stdout for name in names if name}


def log(m, slug):
    return subprocess.run(["git", "-C", f"{m.root}/projects/{slug}", "log", "--format=%B"], env=m.env(), check=True,
        capture_output=True, text=True, timeout=60).stdout


def the_seeds_example(m):
    m.json("team", "ensure-project", "/path/to/backend")
    m.json("team", "register", "backend", "--name", "GreenCastle", "--program", "claude-code", "--model", "opus")
    m.json("team", "ensure-project", "/path/to/frontend")
    m.json("team", "register", "frontend", "--name", "BlueLake", "--program", "codex", "--model", "gpt")
    m.json("team", "reserve", "backend", "GreenCastle", "src/auth.py", "--exclusive")
    sent = send(m, "BlueLake", "Auth refactoring...")
    assert sent["count"] == 1 and sent["attachments"] == [], sent
    delivery = sent["deliveries"][0]
    assert delivery["project"] == "/path/to/backend", sent
    payload = delivery["payload"]
    assert set(payload) == MESSAGE | {"to", "cc", "bcc", "body_md"}, payload
    assert payload["to"] == ["BlueLake@path-to-frontend"] and payload["body_md"] == "Hello.", payload
    assert UID.fullmatch(payload["uid"]) and TIME.fullmatch(payload["created_ts"]), payload
    got = inbox(m)
    assert len(got) == 1 and set(got[0]) == {"id", "from", "sender_project", "subject", "created_ts"}, got
    assert got[0]["from"] == "GreenCastle" and got[0]["sender_project"] == "path-to-backend", got
    m.json("team", "contact", "request", "frontend", "BlueLake", "GreenCastle", "--to-project", "backend")
    m.json("team", "release", "backend", "GreenCastle")


def to_oneself_and_into_the_archive(m):
    scene(m)
    send(m, "GreenCastle", "Note to self")
    files = archived(m, "path-to-backend")
    for box in ("agents/GreenCastle/inbox/", "agents/GreenCastle/outbox/", "messages/"):
        assert any(re.fullmatch(rf"{box}\d{{4}}/\d\d/[^/]*__note-to-self__1\.md", name) for name in files), files.keys()
    assert "mail: GreenCastle -> GreenCastle | Note to self\n" in log(m, "path-to-backend")


def copies_of_three_kinds(m):
    scene(m)
    sent = send(m, "RedCat", "Plan", "--cc", "GreenCastle", "--bcc", "BlueLake")["deliveries"][0]["payload"]
    assert (sent["to"], sent["cc"], sent["bcc"]) == (["RedCat"], ["GreenCastle"], ["BlueLake@path-to-frontend"]), sent
    assert inbox(m)[0]["kind"] == "bcc" and "bcc" not in inbox(m)[0]
    assert inbox(m, who=("backend", "GreenCastle"))[0]["kind"] == "cc"
    shown = m.json("team", "show", "backend", "1", "--agent-name", "RedCat")
    assert shown["to"] == ["RedCat"] and "bcc" not in shown, shown
    assert m.json("team", "show", "backend", "1", "--agent-name", "GreenCastle")["bcc"] == sent["bcc"]
    assert m.json("team", "outbox", "backend", "GreenCastle")["result"][0]["bcc"] == sent["bcc"]
    assert "BlueLake" not in json.dumps(m.json("team", "thread", "backend", "1"))
    assert error(m, "show", "frontend", "1")["type"] == "NOT_FOUND"
    # Not in git: no file but the sender's outbox, no commit's text.
    for name, text in archived(m, "path-to-backend").items():
        assert "BlueLake" not in text or "/outbox/" in name, name
    assert "BlueLake" not in log(m, "path-to-backend")
    assert m.json("team", "search", "backend", "BlueLake")["result"] == []
    assert "Plan" not in json.dumps(m.json("team", "whois", "frontend", "BlueLake")["recent_commits"])
    assert "Plan" in json.dumps(m.json("team", "whois", "backend", "RedCat")["recent_commits"])


def the_strongest_kind_wins(m):
    scene(m)
    sent = send(m, "RedCat, redcat", "x", "--cc", "RedCat", "--bcc", "red-cat")["deliveries"][0]["payload"]
    assert (sent["to"], sent["cc"], sent["bcc"]) == (["RedCat"], [], []), sent


def unknown_recipients(m):
    scene(m)
    off = {"MESSAGING_AUTO_REGISTER_RECIPIENTS": "false"}
    e = error(m, "send", "backend", "GreenCastle", "--to", "SwiftFox", "--to", "RedCta", "--subject", "x", "--body-md", "y",
        env=off)
    assert e["type"] == "RECIPIENT_NOT_FOUND" and e["recoverable"], e
    assert e["data"]["unknown_recipients"] == ["SwiftFox", "RedCta"] and e["data"]["code_alias"] == "RECIPIENT_UNKNOWN", e
    assert e["data"]["suggested_tool_calls"][0]["arguments"]["name"] == "SwiftFox", e
    assert m.json("team", "outbox", "backend", "GreenCastle")["result"] == []
    # With registration, at once and with its kind.
    sent = send(m, "RedCat", "x", "--cc", "SwiftFox")
    assert sent["auto_registered"] == ["SwiftFox"], sent
    assert inbox(m, who=("backend", "SwiftFox"))[0]["kind"] == "cc"
    assert "agents/SwiftFox/profile.json" in archived(m, "path-to-backend")


def arguments_that_are_refused(m):
    scene(m)
    ask = ("send", "backend", "GreenCastle", "--subject", "x", "--body-md", "y")
    e = error(m, *ask, status=2)
    assert e["type"] == "INVALID_ARGUMENT" and e["data"] == {"argument": "to"}, e
    e = error(m, *ask, "--to", "RedCat", "--importance", "asap", status=2)
    assert e["type"] == "INVALID_ARGUMENT" and e["data"]["argument"] == "importance", e
    e = error(m, *ask, "--to", "RedCat", "--thread-id", "t" * 129, status=2)
    assert e["data"] == {"argument": "thread_id"}, e
    e = error(m, *ask[:3], "--to", "RedCat", "--subject", "s" * 513, "--body-md", "y", status=2)
    assert e["data"] == {"argument": "subject"} and "513 characters" in e["message"], e
    e = error(m, *ask, *[x for i in range(300) for x in ("--to", "RedCat")], status=2)
    assert e["data"] == {"argument": "to"} and "300 recipients" in e["message"], e
    e = error(m, "send", "backend", "Nobody", "--to", "RedCat", "--subject", "x", "--body-md", "y")
    assert e["type"] == "NOT_FOUND" and "suggestions" in e["data"], e
    e = error(m, "inbox", "frontend", "BlueLake", "--since-ts", "yesterday", status=2)
    assert e["data"] == {"argument": "since_ts"}, e
    e = error(m, "reply", "backend", "GreenCastle", "99", "--body-md", "y")
    assert e["type"] == "NOT_FOUND" and e["data"] == {"message_id": 99}, e
    assert m.json("team", "outbox", "backend", "GreenCastle")["result"] == []


def ambiguous_names_are_listed(m):
    scene(m)
    for project in ("/path/to/frontend", "/path/to/other"):
        m.json("team", "register", project, "--name", "KeenOwl", "--program", "codex", "--model", "gpt")
    e = error(m, "send", "backend", "GreenCastle", "--to", "KeenOwl", "--subject", "x", "--body-md", "y", status=2)
    assert e["type"] == "INVALID_ARGUMENT", e
    assert sorted(e["data"]["candidates"]) == ["KeenOwl@path-to-frontend", "KeenOwl@path-to-other"], e
    for form in ("KeenOwl@other", "project:/path/to/other#KeenOwl"):
        assert send(m, form)["deliveries"][0]["payload"]["to"] == ["KeenOwl@path-to-other"], form


def replies(m):
    scene(m)
    send(m, "BlueLake", "Plan", "--ack-required", "--importance", "high")
    got = m.json("team", "reply", "frontend", "BlueLake", "1", "--body-md", "Yes.")
    assert got["thread_id"] == "1" and got["reply_to"] == 1 and got["subject"] == "Re: Plan", got
    assert got["to"] == ["GreenCastle@path-to-backend"] and got["ack_required"] and got["importance"] == "high", got
    assert got["count"] == 1 and got["deliveries"][0]["payload"]["id"] == 2, got
    got = m.json("team", "reply", "backend", "GreenCastle", "2", "--body-md", "Fine.", "--subject-prefix", "RE:",
        "--no-ack-required")
    assert got["subject"] == "Re: Plan" and got["thread_id"] == "1" and not got["ack_required"], got
    thread = m.json("team", "thread", "frontend", "1")
    assert [x["id"] for x in thread["messages"]] == [1, 2, 3] and thread["next_cursor"] is None, thread
    assert thread["messages"][1]["body_md"] == "Yes.", thread
    threads = m.json("team", "threads", "frontend")["result"]
    assert threads[0]["thread_id"] == "1" and threads[0]["subject"] == "Plan", threads
    # The author is gone, and can be answered all the same.
    m.json("team", "retire", "backend", "GreenCastle", "--yes")
    got = m.json("team", "reply", "frontend", "BlueLake", "1", "--body-md", "Are you there?")
    assert got["to"] == ["GreenCastle@path-to-backend"], got
    assert m.json("team", "show", "frontend", "1")["from"] == "GreenCastle"


def reply_to_all(m):
    scene(m)
    send(m, "RedCat", "Plan", "--to", "BlueLake", "--cc", "SwiftFox", "--bcc", "KeenOwl")
    got = m.json("team", "reply", "backend", "RedCat", "1", "--body-md", "Yes.", "--reply-all")
    assert (got["to"], got["cc"], got["bcc"]) == (["GreenCastle", "BlueLake@path-to-frontend"], ["SwiftFox"], []), got


def several_are_written_to_at_once(m):
    scene(m)
    for name, program in (("WildOwl", "claude-code"), ("BoldHawk", "claude-code")):
        m.json("team", "register", "backend", "--name", name, "--program", program, "--model", "m")

    def got(name, project="backend"):
        return [item["subject"] for item in inbox(m, who=(project, name))]

    sent = send(m, "@all", "to all")["deliveries"][0]["payload"]
    assert sorted(sent["to"]) == ["BoldHawk", "RedCat", "WildOwl"] and sent["addressed"] == ["@all"], sent
    sent = send(m, "@program:claude-code, RedCat", "mixed")["deliveries"][0]["payload"]
    assert sorted(sent["to"]) == ["BoldHawk", "RedCat", "WildOwl"] and sent["addressed"] == ["@program:claude-code"], sent
    group = m.json("team", "group", "set", "backend", "GreenCastle", "reviewers", "WildOwl", "GreenCastle")
    assert group["members"] == ["GreenCastle", "WildOwl"], group
    sent = send(m, "@Reviewers", "to reviewers", "--cc", "RedCat")["deliveries"][0]["payload"]
    assert sent["to"] == ["WildOwl"] and sent["cc"] == ["RedCat"] and sent["addressed"] == ["@Reviewers"], sent
    assert got("BoldHawk") == ["mixed", "to all"] and got("WildOwl") == ["to reviewers", "mixed", "to all"]
    assert got("GreenCastle") == [], "not to oneself"
    # It is resolved when it is sent: who comes later, and who leaves, has what was sent then.
    m.json("team", "register", "backend", "--name", "CalmOtter", "--program", "codex", "--model", "m")
    assert got("CalmOtter") == []
    database.rows(database.team_database(m.root), "UPDATE agents SET last_active_ts = 1 WHERE name = 'BoldHawk'")
    sent = send(m, "@active", "to active")["deliveries"][0]["payload"]
    assert "BoldHawk" not in sent["to"] and "CalmOtter" in sent["to"], sent
    # Shown as it was sent, in lists, to people, in the archive, and after a rebuild.
    item = next(i for i in inbox(m, who=("backend", "RedCat")) if i["subject"] == "to all")
    assert item["addressed"] == ["@all"], item
    assert "addressed" not in send(m, "RedCat", "plain")["deliveries"][0]["payload"]
    assert "@all" in m.run("team", "show", "backend", str(item["id"])).stdout
    assert 'addressed: ["@all"]' in "".join(archived(m, "path-to-backend").values())
    # Blind copies stay blind.
    secret = send(m, "RedCat", "blind", "--bcc", "@program:claude-code")["deliveries"][0]["payload"]
    assert "addressed" not in secret and sorted(secret["bcc"]) == ["BoldHawk", "WildOwl"], secret
    m.json("team", "rebuild", "--yes")
    assert [i["addressed"] for i in inbox(m, who=("backend", "RedCat")) if i["subject"] == "to all"] == [["@all"]]
    assert m.json("team", "group", "list", "backend")["result"][0]["members"] == ["GreenCastle", "WildOwl"]
    # An answer goes to who wrote, unless it is one to all.
    def answer(*args):
        done = m.json("team", "reply", "backend", "RedCat", str(item["id"]), "--body-md", "ok", *args)
        return sorted(done["to"]), done.get("addressed")
    assert answer() == (["GreenCastle"], None)
    assert answer("--reply-all") == (["BoldHawk", "GreenCastle", "WildOwl"], None)


def groups_keep_to_the_rules(m):
    scene(m)
    wrong = error(m, "send", "frontend", "BlueLake", "--to", "@all", "--subject", "s", "--body-md", "b", status=2)
    assert wrong["type"] == "INVALID_ARGUMENT" and "nobody but the sender" in wrong["message"], wrong
    m.json("team", "profile", "backend", "RedCat", "--contact-policy", "block_all")
    sent = send(m, "@all@backend", who=("frontend", "BlueLake"))
    assert sent["deliveries"][0]["payload"]["to"] == ["GreenCastle@path-to-backend"], sent
    assert [one["name"] for one in sent["blocked_recipients"]] == ["RedCat"], sent
    assert sent["deliveries"][0]["payload"]["addressed"] == ["@all@path-to-backend"], sent
    wrong = error(m, "send", "frontend", "BlueLake", "--to", "@all@backend", "--subject", "s", "--body-md", "b",
        "--strict-recipients")
    assert wrong["type"] == "CONTACT_BLOCKED", wrong
    # @Name is an agent, as people write it; an @ that is nobody's is said.
    assert send(m, "@RedCat", who=("backend", "GreenCastle"), status=1)["error"]["type"] == "CONTACT_BLOCKED"
    wrong = error(m, "send", "backend", "GreenCastle", "--to", "@everybody", "--subject", "s", "--body-md", "b")
    assert wrong["type"] == "RECIPIENT_NOT_FOUND", wrong
    # Who is purged is in no group.
    m.json("team", "group", "set", "backend", "GreenCastle", "two", "RedCat", "GreenCastle")
    m.json("team", "retire", "backend", "RedCat", "--purge", "--yes")
    assert m.json("team", "group", "list", "backend")["result"][0]["members"] == ["GreenCastle"]


def lists_filter_and_page(m):
    scene(m)
    assert inbox(m) == []
    for i in range(25):
        send(m, "BlueLake", f"s{i}", "--importance", "urgent" if i % 5 == 0 else "normal")
    got = inbox(m, "--limit", "10")
    assert [x["subject"] for x in got] == [f"s{i}" for i in range(24, 14, -1)], got
    rest = inbox(m, "--cursor", str(got[-1]["id"]), "--limit", "1000")
    assert [x["subject"] for x in rest] == [f"s{i}" for i in range(14, -1, -1)], rest
    assert len(inbox(m)) == 20 and len(inbox(m, "--limit", "0")) == 1 and len(inbox(m, "--limit", "-5")) == 1
    assert inbox(m, "--since-ts", got[0]["created_ts"]) == []
    assert [x["subject"] for x in inbox(m, "--since-ts", got[1]["created_ts"])] == ["s24"]
    assert [x["subject"] for x in inbox(m, "--urgent-only")] == ["s20", "s15", "s10", "s5", "s0"]
    m.json("team", "read", "frontend", "BlueLake", "25")
    assert inbox(m, "--unread-only")[0]["subject"] == "s23"
    assert inbox(m, "--include-bodies", "--limit", "1")[0]["body_md"] == "Hello."


def marks(m):
    scene(m)
    send(m, "BlueLake", "x", "--ack-required")
    pending = m.json("team", "acks", "pending", "frontend", "BlueLake")["result"]
    assert pending[0]["id"] == 1 and pending[0]["age_seconds"] >= 0, pending
    stale = m.json("team", "acks", "overdue", "frontend", "BlueLake", "--ttl-seconds", "0")["result"]
    assert stale[0]["id"] == 1 and "age_seconds" in stale[0], stale
    assert m.json("team", "acks", "overdue", "frontend", "BlueLake")["result"] == []
    database.rows(database.team_database(m.root), "UPDATE messages SET created_ts = created_ts - 3600000000")
    assert m.json("team", "acks", "overdue", "frontend", "BlueLake")["result"][0]["id"] == 1
    assert m.json("team", "read", "backend", "RedCat", "1") == {"message_id": 1, "read": False, "read_at": None}
    read = m.json("team", "read", "frontend", "BlueLake", "1")
    assert read["read"] and TIME.fullmatch(read["read_at"]), read
    first = m.json("team", "ack", "frontend", "BlueLake", "1")
    assert first["acknowledged"] and first["read_at"] == read["read_at"], first
    assert m.json("team", "ack", "frontend", "BlueLake", "1") == first
    assert m.json("team", "acks", "pending", "frontend", "BlueLake")["result"] == []
    assert error(m, "ack", "frontend", "BlueLake", "7")["type"] == "NOT_FOUND"


def a_message_deleted_by_hand(m):
    """The others are still listed, and the check tells what is wrong."""
    scene(m)
    for subject in ("one", "two", "three"):
        send(m, "BlueLake", subject)
    database.rows(database.team_database(m.root), "DELETE FROM messages WHERE id = 2")
    assert [item["subject"] for item in inbox(m)] == ["three", "one"]
    assert [item["body_md"] for item in inbox(m, "--include-bodies")] == ["Hello.", "Hello."]
    problems = m.json("team", "check", status=1)["problems"]
    assert any("message_recipients" in problem["msg"] for problem in problems), problems


def contacts_decide(m):
    scene(m)
    m.json("team", "contact", "policy", "frontend", "BlueLake", "contacts_only")
    e = error(m, "send", "backend", "GreenCastle", "--to", "BlueLake", "--subject", "Hi", "--body-md", "y")
    assert e["type"] == "CONTACT_REQUIRED" and e["recoverable"], e
    assert e["data"]["recipient"] == "BlueLake" and e["data"]["policy"] == "contacts_only", e
    call = e["data"]["suggested_tool_calls"][0]
    assert call["tool"] == "request_contact" and call["arguments"]["to_project"] == "path-to-frontend", e
    # Others get theirs; strictly nobody does.
    sent = send(m, "BlueLake", "x", "--to", "RedCat")
    assert sent["blocked_recipients"] == [{"name": "BlueLake", "project": "path-to-frontend", "reason": "contacts_only"}], sent
    assert sent["deliveries"][0]["payload"]["to"] == ["RedCat"], sent
    e = error(m, "send", "backend", "GreenCastle", "--to", "BlueLake", "--to", "RedCat", "--subject", "x", "--body-md", "y",
        "--strict-recipients")
    assert e["type"] == "CONTACT_REQUIRED", e
    assert len(inbox(m, who=("backend", "RedCat"))) == 1
    # Asked for on the way: the request stands although nothing was sent.
    e = error(m, "send", "backend", "GreenCastle", "--to", "BlueLake", "--subject", "Hi", "--body-md", "y",
        "--auto-contact-if-blocked")
    assert e["data"]["contact_requests"][0]["status"] == "pending", e
    assert [x["subject"] for x in inbox(m)] == ["Contact request from GreenCastle (path-to-backend)"], inbox(m)
    m.json("team", "contact", "respond", "frontend", "BlueLake", "GreenCastle", "--accept")
    send(m, "BlueLake", "now")
    assert inbox(m)[0]["subject"] == "now"
    m.json("team", "contact", "policy", "frontend", "BlueLake", "block_all")
    m.json("team", "register", "/path/to/third", "--name", "GoldBear", "--program", "x", "--model", "y")
    e = error(m, "send", "third", "GoldBear", "--to", "BlueLake", "--subject", "x", "--body-md", "y")
    assert e["type"] == "CONTACT_BLOCKED" and not e["recoverable"], e


def a_key_sends_once(m):
    scene(m)
    first = send(m, "RedCat", "x", "--idempotency-key", "k")
    again = send(m, "RedCat", "x", "--idempotency-key", "k")
    assert again.pop("repeated") is True and again == first, again
    assert len(inbox(m, who=("backend", "RedCat"))) == 1


def hostile_input(m):
    scene(m)
    send(m, "RedCat", "x", "--thread-id", "../../../x")
    assert m.json("team", "thread", "backend", "../../../x")["messages"][0]["id"] == 1
    outside = [os.path.join(d, f) for d, _, names in os.walk(m.dir) for f in names if f.startswith("x.")]
    assert not outside, outside
    assert any(re.fullmatch(r"messages/threads/t-[0-9a-f]{40}\.md", name) for name in archived(m, "path-to-backend"))
    for name in ("../../etc/passwd", "A" * 100000, "'; DROP TABLE messages; --", "\x1b[31m", "%s%n"):
        e = error(m, "send", "backend", "GreenCastle", "--to", name, "--subject", "x", "--body-md", "y")
        assert e["type"] == "RECIPIENT_NOT_FOUND" and len(json.dumps(e)) < 10000, e
    done = subprocess.run([m.program.encode(), b"--json", b"team", b"send", b"backend", b"GreenCastle", b"--to", b"RedCat",
        b"--subject", b"\xff\xfe", b"--body-md", b"y"], cwd=m.dir, env=m.env(), capture_output=True, timeout=60)
    assert done.returncode != 0 and b"INVALID_ARGUMENT" in done.stdout, done
    send(m, "RedCat", "line\none\x1b]0;title\x07", body="\x1b[2Jboo \u202e")
    done = m.run("team", "inbox", "backend", "RedCat", "--include-bodies")
    assert done.returncode == 0 and "\x1b" not in done.stdout and "\u202e" not in done.stdout, describe(done)


def many_at_once(m):
    scene(m)
    names = ["SwiftFox", "KeenOwl", "BoldHawk", "CalmDeer", "WiseSwan", "GoldBear", "JadeWolf", "RubyLion"]
    for name in names:
        m.json("team", "register", "backend", "--name", name, "--program", "codex", "--model", "gpt")

    def one(i):
        return [send(m, "RedCat", f"{i}-{k}", "--thread-id", "T", who=("backend", names[i]))["deliveries"][0]["payload"]
            for k in range(6)]

    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        sent = [p for ps in pool.map(one, range(8)) for p in ps]
    got = inbox(m, "--limit", "1000", who=("backend", "RedCat"))
    assert len({p["id"] for p in sent}) == len({p["uid"] for p in sent}) == 48
    assert sorted(x["id"] for x in got) == sorted(p["id"] for p in sent)
    assert sorted(x["subject"] for x in got) == sorted(f"{i}-{k}" for i in range(8) for k in range(6))
    rows = database.rows(database.team_database(m.root), "SELECT thread_seq FROM messages ORDER BY id")
    assert [r[0] for r in rows] == list(range(1, 49)), rows
    # Eight at once with one key are one.
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        same = list(pool.map(lambda i: send(m, "RedCat", "same", "--idempotency-key", "k"), range(8)))
    assert len({s["deliveries"][0]["payload"]["id"] for s in same}) == 1
    assert sum("repeated" not in s for s in same) == 1


def watching(m):
    scene(m)

    def watch(*args):
        return subprocess.Popen([m.program, *args[:-1], "team", "watch", "frontend", "BlueLake", "--cursor", "0",
            "--count", args[-1], "--timeout", "50"], cwd=m.dir, env=m.env(), stdout=subprocess.PIPE, text=True)

    people, program = watch("2"), watch("--json", "1")
    send(m, "BlueLake", "first", "--importance", "urgent")
    line = people.stdout.readline()
    assert re.fullmatch(r"\d\d:\d\d:\d\d  1  GreenCastle  first  \[new urgent\]\n", line), line
    assert set(json.loads(program.stdout.readline())) == ITEM
    assert program.wait(60) == 0 and people.poll() is None
    send(m, "BlueLake", "second")
    assert "second" in people.stdout.readline() and people.wait(60) == 0
    for process in (people, program):
        process.stdout.close()
    done = m.run("team", "watch", "frontend", "BlueLake", "--count", "1", "--timeout", "0")
    assert done.returncode == 1 and "1 of 1 messages did not come within 0 s" in done.stderr, describe(done)
    assert m.run("team", "watch", "frontend", "BlueLake", "--timeout", "0").returncode == 0
    # Ctrl-C ends it.
    process = subprocess.Popen([m.program, "team", "watch", "frontend", "BlueLake", "--cursor", "1"], cwd=m.dir, env=m.env(),
        stdout=subprocess.PIPE, text=True)
    assert "second" in process.stdout.readline()
    process.send_signal(signal.SIGINT)
    assert process.wait(60) == -signal.SIGINT
    process.stdout.close()


def a_whole_project_is_watched(m):
    scene(m)
    send(m, "BlueLake", "first", "--ack-required")
    watchers = [subprocess.Popen([m.program, *words, "team", "watch", "frontend", "--cursor", "0", "--count", "5", "--timeout", "50"],
        cwd=m.dir, env=m.env(), stdout=subprocess.PIPE, text=True) for words in ([], ["--json"])]
    people, program = watchers

    def happens(line, **members):
        told = people.stdout.readline()
        assert re.fullmatch(r"\d\d:\d\d:\d\d  " + line + r"\n", told), told
        event = json.loads(program.stdout.readline())
        assert {name: event[name] for name in members} == members, event
        return event

    # The first one tells that the others will be seen.
    event = happens(r"1  GreenCastle to BlueLake@path-to-frontend: first  \[to be acknowledged\]", event="message")
    assert event["message"]["subject"] == "first" and event["message"]["to"] == ["BlueLake@path-to-frontend"], event
    m.json("team", "ack", "frontend", "BlueLake", "1")
    happens("BlueLake has acknowledged 1: first", event="acknowledged", agent="BlueLake", message_id=1, subject="first")
    m.json("team", "reserve", "frontend", "BlueLake", "src/**", "--reason", "auth")
    happens(r"BlueLake holds src/\*\*: auth", event="lease", agent="BlueLake", path_pattern="src/**", exclusive=True)
    m.json("team", "release", "frontend", "BlueLake")
    happens(r"BlueLake no longer holds src/\*\*", event="lease_ended", agent="BlueLake", path_pattern="src/**")
    send(m, "BlueLake", "second")
    happens("2  GreenCastle to BlueLake@path-to-frontend: second", event="message")
    for process in watchers:
        assert process.wait(60) == 0
        process.stdout.close()
    done = m.run("team", "watch", "frontend", "--count", "1", "--timeout", "0")
    assert done.returncode == 1 and "1 of 1 events did not come within 0 s" in done.stderr, describe(done)
    assert m.run("team", "watch", "frontend", "--timeout", "0").returncode == 0
    assert "there is no project" in m.run("team", "watch", "nowhere", "--timeout", "0").stderr


def a_terminal_gets_a_table(m):
    scene(m)
    send(m, "BlueLake", "日本語の件名です" * 10, "--importance", "urgent", "--ack-required")
    send(m, "BlueLake", "A long subject " * 20)
    text = m.in_a_terminal("team", "inbox", "frontend", "BlueLake", env={"TERM": "xterm"})
    lines = text.replace("\r", "").split("\n")
    assert "\x1b[1;31m" in lines[2] and "new urgent ack" in lines[2], lines
    for line in lines:
        plain = re.sub(r"\x1b\[[0-9;]*m", "", line)
        width = sum(2 if ord(c) > 0x2fff else 1 for c in plain)
        assert width <= 80, (width, plain)
    assert "2 messages, 2 new, 1 urgent, 1 to acknowledge" in text, lines
    assert m.run("team", "inbox", "backend", "RedCat").stdout == "No messages.\n"
    assert "\x1b" not in m.run("team", "inbox", "frontend", "BlueLake").stdout


def quotas(m):
    scene(m)
    env = {"QUOTA_ENABLED": "true", "QUOTA_INBOX_LIMIT_COUNT": "1"}
    send(m, "RedCat", env=env)
    e = error(m, "send", "backend", "GreenCastle", "--to", "RedCat", "--subject", "x", "--body-md", "y", env=env)
    assert e["type"] == "QUOTA_EXCEEDED" and e["data"] == {"quota": "inbox_count", "recipient": "RedCat", "limit": 1}, e
    m.json("team", "read", "backend", "RedCat", "1")
    send(m, "RedCat", env=env)


def bodies_from_standard_input(m):
    scene(m)
    # Twice what fits into an argument, and the last byte that is allowed.
    for body in ("two\nlines\n", "caf\u00e9 " * 50000, "", "-", "x" * (1 << 20)):
        sent = send(m, "RedCat", body="-", stdin=body)["deliveries"][0]["payload"]
        assert m.json("team", "show", "backend", str(sent["id"]))["body_md"] == body, (len(body), sent["id"])
    answer = m.json("team", "reply", "backend", "RedCat", "1", "--body-md=-", stdin="read\n")["deliveries"][0]["payload"]
    assert answer["body_md"] == "read\n", answer
    # Only a text that may be long: a subject of one sign is a subject.
    assert send(m, "RedCat", "-", stdin="not read")["deliveries"][0]["payload"]["subject"] == "-"
    handshake = m.json("team", "macro", "contact-handshake", "backend", "RedCat", "GreenCastle", "--auto-accept",
        "--welcome-subject", "hi", "--welcome-body", "-", stdin="welcome")
    assert [x["subject"] for x in inbox(m, "--limit", "1", who=("backend", "GreenCastle"))] == ["hi"], handshake
    before = len(inbox(m, "--limit", "100", who=("backend", "RedCat")))
    args = ["send", "backend", "GreenCastle", "--to", "RedCat", "--subject", "s", "--body-md", "-"]
    wrong = error(m, *args, stdin="x" * ((1 << 20) + 1))
    assert wrong["type"] == "PAYLOAD_TOO_LARGE" and wrong["data"] == {"argument": "body_md", "limit": 1 << 20}, wrong
    wrong = error(m, *args, stdin="x" * ((4 << 20) + 1))
    assert (wrong["type"], wrong["message"]) == ("PAYLOAD_TOO_LARGE",
        "--body-md: standard input has more than 4194304 bytes"), wrong
    for bad, message in ((b"ab\xffc", "--body-md: standard input is not UTF-8: see byte 3 of it"),
            (b"a\0b", "--body-md: standard input has a NUL in it: is it text?")):
        done = subprocess.run([m.program, "team", *args], cwd=m.dir, env=m.env(), input=bad, capture_output=True, check=False,
            timeout=60)
        assert done.returncode == 2 and done.stderr.decode() == f"mailroom team send: {message}\n", done
    done = subprocess.run(["sh", "-c", 'exec "$0" "$@" <&-', m.program, "team", *args], cwd=m.dir, env=m.env(),
        capture_output=True, check=False, timeout=60)
    assert done.returncode == 1 and b"standard input" in done.stderr, done
    assert len(inbox(m, "--limit", "100", who=("backend", "RedCat"))) == before
    assert "- reads standard input" in m.run("team", "send", "--help").stdout


TESTS = [
    the_seeds_example,
    to_oneself_and_into_the_archive,
    copies_of_three_kinds,
    the_strongest_kind_wins,
    unknown_recipients,
    arguments_that_are_refused,
    ambiguous_names_are_listed,
    replies,
    reply_to_all,
    several_are_written_to_at_once,
    groups_keep_to_the_rules,
    lists_filter_and_page,
    marks,
    a_message_deleted_by_hand,
    contacts_decide,
    a_key_sends_once,
    hostile_input,
    many_at_once,
    watching,
    a_whole_project_is_watched,
    a_terminal_gets_a_table,
    quotas,
    bodies_from_standard_input,
]


def main():
    with Tap() as tap:
        for test in TESTS:
            with Mailroom(sys.argv[1]) as m:
                tap.run(test.__name__.replace("_", " "), test, m)


main()
