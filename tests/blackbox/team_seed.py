"""usage: team_seed.py PROGRAM SOURCE - what the seed says of a team, in its order: tables, operations, files, rules."""

import base64
import json
import os
import re
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import database  # noqa: E402
import pictures  # noqa: E402
from mailroom import Mailroom, describe  # noqa: E402
from tap import Tap  # noqa: E402

TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z")
ADJECTIVES = """Red Blue Green Gold Silver Bronze Amber Coral Jade Ruby Pearl Onyx Ivory Ebony Crimson Azure Swift Bold Calm Keen
    Wise Brave Noble Loyal Bright Clear Sharp Quick Quiet Steady Strong Gentle Sunny Misty Stormy Frosty Dusty Rusty Mossy Dewy
    Windy Rainy Snowy Cloudy Dawn Dusk Night Noon Iron Steel Glass Stone Silk Velvet Wild Free True Pure Deep High Vast
    Grand""".split()
NOUNS = """River Mountain Valley Forest Desert Ocean Island Canyon Lake Stream Meadow Grove Ridge Peak Shore Bay Fox Eagle Wolf
    Bear Hawk Owl Deer Lion Tiger Raven Falcon Heron Crane Swan Otter Badger Tower Bridge Castle Temple Garden Harbor Beacon
    Gate Wall Fort Keep Hall Oak Pine Willow Cedar Birch Maple Ash Elm Star Moon Cloud Storm Wind Thunder Lightning Aurora
    Summit Haven Crest Crown Stone Crystal Ember Spark Shadow""".split()
# The seed's message, without its picture.
BODY = """## Context

Working on the auth microservice. Need to update the database schema.

### Changes Made
- Added `user_roles` table
- Updated migration scripts"""
HEAD = """id: "msg_20250101_abc123"
from: "GreenCastle"
to: ["RedCat", "BlueLake"]
cc: ["YellowForest"]
thread_id: "TKT-123"
subject: "Backend API refactoring underway"
importance: "normal"
ack_required: true
created_ts: "2025-01-01T14:30:00Z"
"""


def register(m, project, name, *more, **options):
    return m.json("team", "register", project, name, "--program", "codex", "--model", "gpt", *more, **options)


def scene(m):
    """The seed's agents; BlueLake is known before RedCat."""
    for name in ("GreenCastle", "BlueLake", "RedCat", "YellowForest"):
        register(m, "/path/to/backend", name)


def send(m, who, to, *more, body="Hello.", subject="x", **options):
    return m.json("team", "send", *who.split("/"), "--to", to, "--subject", subject, "--body-md", body, *more, **options)


def refused(m, *args, status=1):
    return m.json("team", *args, status=status)["error"]


def rows(m, sql, *values):
    return database.rows(database.team_database(m.root), sql, *values)


def files(folder):
    """Paths below a folder, without git's own and lock files."""
    found = [os.path.relpath(os.path.join(d, f), folder) for d, _, names in os.walk(folder) for f in names]
    return sorted(f for f in found if not f.startswith((".git/", ".archive.lock")))


def tables_have_their_fields(m):
    """Core data model: every field is a column, and what is unique is."""
    scene(m)
    tables = {
        "projects": "id slug human_key created_at",
        "agents": "id project_id name program model task_description inception_ts last_active_ts attachments_policy"
            " contact_policy",
        "messages": "id project_id sender_id thread_id subject body_md importance ack_required created_ts attachments",
        "message_recipients": "message_id agent_id kind read_ts ack_ts",
        "file_reservations": "id project_id agent_id path_pattern exclusive reason created_ts expires_ts released_ts",
        "agent_links": "id a_project_id a_agent_id b_project_id b_agent_id status created_ts expires_ts",
    }
    for table, fields in tables.items():
        columns = {r[1]: r[5] for r in rows(m, f"PRAGMA table_info({table})")}
        assert set(fields.split()) <= set(columns), (table, columns)
        assert columns.get("id", 1) == 1, table
    foreign = {t: {r[3]: r[2] for r in rows(m, f"PRAGMA foreign_key_list({t})")} for t in tables}
    assert foreign["agents"] == {"project_id": "projects"} and foreign["message_recipients"] == {
        "message_id": "messages", "agent_id": "agents"}, foreign
    for sql in ("INSERT INTO projects SELECT 9, slug, human_key, 'x', tail, identity_mode, created_at FROM projects",
            "UPDATE agents SET name_fold = 'redcat'"):
        try:
            rows(m, sql)
            raise AssertionError(sql)
        except database.Refused as error:
            assert "UNIQUE" in str(error), error
    assert rows(m, "PRAGMA journal_mode") == [("wal",)]


def projects_and_agents(m):
    """Projects map a path to a stable slug; an agent has its fields, and the words of its enumerations."""
    first = m.json("team", "ensure-project", "/path/to/backend")
    assert {"id", "slug", "human_key", "created_at"} <= set(first), first
    assert (first["slug"], first["human_key"]) == ("path-to-backend", "/path/to/backend"), first
    assert m.json("team", "ensure-project", "/path/to/backend") == first and TIME.fullmatch(first["created_at"])
    agent = register(m, "backend", "GreenCastle", "--task-description", "auth")
    assert {"id", "project_id", "name", "program", "model", "task_description", "inception_ts", "last_active_ts",
        "attachments_policy", "contact_policy"} <= set(agent), agent
    assert agent["project_id"] == first["id"] and TIME.fullmatch(agent["inception_ts"]), agent
    seen = m.json("team", "whois", "backend", "GreenCastle")
    assert {k: seen[k] for k in agent if k != "last_active_ts"} == {k: v for k, v in agent.items() if k != "last_active_ts"}
    for field, words in (("attachments-policy", "inline attach deny"), ("contact-policy", "open auto contacts_only block_all")):
        for word in words.split():
            answer = register(m, "backend", "GreenCastle", f"--{field}", word)
            assert answer[field.replace("-", "_")] == word and answer["id"] == agent["id"], answer
    error = refused(m, "register", "backend", "GreenCastle", "--program", "x", "--model", "y", "--contact-policy", "friends",
        status=2)
    assert error["type"] == "INVALID_ARGUMENT" and error["data"]["argument"] == "contact_policy", error


def messages_and_recipients(m):
    scene(m)
    for word in ("low", "normal", "high", "urgent"):
        payload = send(m, "backend/GreenCastle", "RedCat", "--cc", "BlueLake", "--bcc", "YellowForest", "--importance", word,
            "--ack-required")["deliveries"][0]["payload"]
        assert {"id", "project_id", "sender_id", "thread_id", "subject", "body_md", "importance", "ack_required", "created_ts",
            "attachments"} <= set(payload), payload
        assert payload["importance"] == word and payload["thread_id"] is None and payload["attachments"] == [], payload
    for name, kind in (("RedCat", "to"), ("BlueLake", "cc"), ("YellowForest", "bcc")):
        item = m.json("team", "inbox", "backend", name, "--limit", "1")["result"][0]
        assert (item.get("kind", "to"), item["importance"]) == (kind, "urgent"), item
        assert "read_ts" not in item and "ack_ts" not in item, item
        m.json("team", "ack", "backend", name, str(item["id"]))
        item = m.json("team", "inbox", "backend", name, "--limit", "1")["result"][0]
        assert TIME.fullmatch(item["read_ts"]) and TIME.fullmatch(item["ack_ts"]), item


def leases_and_links(m):
    scene(m)
    register(m, "/path/to/frontend", "GoldBear", "--contact-policy", "contacts_only")
    m.json("team", "reserve", "backend", "GreenCastle", "src/main.py", "tests/*.py", "--reason", "why")
    lease = m.json("team", "reservations", "backend")["result"][0]
    assert {"id", "path_pattern", "exclusive", "reason", "created_ts", "expires_ts", "released_ts", "agent"} <= set(lease), lease
    link = m.json("team", "contact", "request", "backend", "GreenCastle", "GoldBear", "--to-project", "frontend")
    assert link["status"] == "pending" and {"id", "from", "to", "created_ts", "expires_ts"} <= set(link), link
    assert link["from"] == {"project": "path-to-backend", "agent": "GreenCastle"}, link
    assert link["to"] == {"project": "path-to-frontend", "agent": "GoldBear"}, link
    for status in ("approved", "blocked"):
        link = m.json("team", "contact", "respond", "frontend", "GoldBear", "GreenCastle", "--from-project", "backend",
            "--status", status)
        assert link["status"] == status, link


def operations_are_all_there(m):
    """Core operations: each is a command, under the seed's name in the reference."""
    with open(os.path.join(sys.argv[2], "docs/reference.md"), encoding="utf-8") as file:
        known = dict(re.findall(r"^\| `(\w+)` \| `mailroom (team [\w -]+)` \|", file.read(), re.M))
    for name in """ensure_project register_agent whois send_message reply_message fetch_inbox mark_message_read
            acknowledge_message search_messages file_reservation_paths release_file_reservations
            force_release_file_reservation renew_file_reservations request_contact respond_contact set_contact_policy""".split():
        done = m.run(*known[name].split(), "--help")
        assert done.returncode == 0 and done.stdout.startswith(f"Usage: mailroom {known[name]}"), (name, describe(done))


def a_message_as_a_file(m):
    """Message format: the seed's keys in its order and its way of writing them, then the body."""
    scene(m)
    send(m, "backend/GreenCastle", "RedCat", "--to", "BlueLake", "--cc", "YellowForest", "--thread-id", "TKT-123",
        "--ack-required", subject="Backend API refactoring underway", body=BODY)
    folder = f"{m.root}/projects/path-to-backend"
    copies = [f for f in files(folder) if f.endswith("__1.md")]
    assert len(copies) == 5, copies  # one, what was sent, what three got
    texts = set()
    for copy in copies:
        with open(os.path.join(folder, copy), encoding="utf-8", newline="") as file:
            texts.add(file.read().replace("bcc: []\n", ""))
    assert len(texts) == 1, texts
    head, body = re.fullmatch(r"---\n(.*?)---\n\n(.*)\n", texts.pop(), re.S).groups()
    assert body == BODY, body
    ours = dict(line.split(": ", 1) for line in head.splitlines())
    theirs = dict(line.split(": ", 1) for line in HEAD.splitlines())
    for key in set(theirs) - {"id", "created_ts"}:
        assert ours[key] == theirs[key], (key, ours[key])
    assert re.fullmatch(r'"msg_\d{8}_[0-9a-f]{6,}"', ours["id"]), ours
    assert re.fullmatch(r'"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{6})?Z"', ours["created_ts"]), ours
    day = json.loads(ours["created_ts"])[:10].replace("-", "")
    assert ours["id"].startswith(f'"msg_{day}_'), ours
    assert [key for key in ours if key in theirs] == list(theirs), ours
    assert set(ours) - set(theirs) == {"message_id", "project", "project_slug", "reply_to", "attachments"}, ours


def recipients_keep_their_order(m):
    """As in the seed's example: RedCat was named first, though BlueLake registered first."""
    scene(m)
    send(m, "backend/GreenCastle", "RedCat", "--to", "BlueLake", "--cc", "YellowForest", "--cc", "GreenCastle")
    for args in (("show", "backend", "1"), ("show", "backend", "1", "--agent-name", "BlueLake")):
        shown = m.json("team", *args)
        assert (shown["to"], shown["cc"]) == (["RedCat", "BlueLake"], ["YellowForest", "GreenCastle"]), shown
    answer = m.json("team", "reply", "backend", "YellowForest", "1", "--body-md", "y", "--reply-all")
    assert answer["to"] == ["GreenCastle", "RedCat", "BlueLake"], answer


def images(m):
    """Image handling: WebP, small ones inside, large ones as files, from paths and from data URIs."""
    work = os.path.join(m.dir, "work")
    os.mkdir(work)
    for name in ("BlueLake", "RedStone"):
        register(m, work, name)
    with open(os.path.join(work, "small.png"), "wb") as file:
        file.write(pictures.png(40, 30))

    def sent(body, *more, **env):
        payload = send(m, "work/BlueLake", "RedStone", *more, body=body, env=env)["deliveries"][0]["payload"]
        return payload["body_md"], payload["attachments"]

    body, [meta] = sent("![a](small.png)")
    assert body.startswith("![a](data:image/webp;base64,UklGR") and meta["type"] == "inline", (body, meta)
    assert meta["media_type"] == "image/webp" and meta["bytes"] < 65536, meta
    # The limit itself is still small, one byte less is not; by default it is 64 KiB.
    assert sent("![a](small.png)", INLINE_IMAGE_MAX_BYTES=str(meta["bytes"]))[1][0]["type"] == "inline"
    body, [large] = sent("![a](small.png)", INLINE_IMAGE_MAX_BYTES=str(meta["bytes"] - 1))
    assert large["type"] == "file" and re.fullmatch(r"attachments/../[0-9a-f]{40}\.webp", large["path"]), large
    assert body == f"![a]({large['path']})", body
    [[slug]] = rows(m, "SELECT slug FROM projects")
    with open(os.path.join(m.root, "projects", slug, large["path"]), "rb") as file:
        assert file.read(12)[8:] == b"WEBP"
    # Not converted when that is not wanted; the place stays as it was written.
    body, _ = sent("![a](small.png)", CONVERT_IMAGES="false")
    assert body == "![a](small.png)", body
    uri = "data:image/png;base64," + base64.b64encode(pictures.png(8, 8)).decode()
    body, [meta] = sent(f"![a]({uri})")
    assert body == f"![a]({uri})" and meta == {"type": "inline", "media_type": "image/png"}, (body, meta)


def the_tree(m):
    """Filesystem organization, at its default place: the seed's names, and below them years and months."""
    home = {"STORAGE_ROOT": None}
    error = m.json("team", "projects", env={"STORAGE_ROOT": None, "HOME": None}, status=2)["error"]
    assert "HOME is not set: set HOME, or STORAGE_ROOT to a path without ~" in error["message"], error
    work = os.path.join(m.dir, "backend")
    os.mkdir(work)
    with open(os.path.join(work, "a.png"), "wb") as file:
        file.write(pictures.png(9, 9))
    for name in ("GreenCastle", "BlueLake"):
        register(m, work, name, env=home)
    m.json("team", "reserve", "backend", "GreenCastle", "src/auth.py", env=home)
    send(m, "backend/GreenCastle", "BlueLake", body="![a](a.png)", env={**home, "INLINE_IMAGE_MAX_BYTES": "1"})
    root = os.path.join(m.dir, ".mcp_agent_mail_git_mailbox_repo")
    [slug] = os.listdir(os.path.join(root, "projects"))
    folder = os.path.join(root, "projects", slug)
    assert os.path.isdir(os.path.join(folder, ".git")), os.listdir(folder)
    month = time.strftime("%Y/%m", time.gmtime())
    forms = [r"agents/BlueLake/profile\.json", rf"agents/BlueLake/inbox/{month}/[^/]+\.md", r"agents/GreenCastle/profile\.json",
        rf"agents/GreenCastle/outbox/{month}/[^/]+\.md", rf"messages/{month}/[^/]+\.md",
        r"file_reservations/[0-9a-f]{40}\.json", r"attachments/[0-9a-f]{2}/[0-9a-f]{40}\.webp"]
    found = files(folder)
    for form in forms:
        assert [f for f in found if re.fullmatch(form, f)], (form, found)
    beside = [f for f in found if not any(re.fullmatch(form, f) for form in forms)]
    assert [f for f in beside if not f.startswith("attachments/_")] == [".gitattributes", "project.json"], beside
    # All of it is committed, and nothing else: people can read the history.
    listed = subprocess.run(["git", "ls-tree", "-r", "--name-only", "HEAD"], cwd=folder, capture_output=True, text=True,
        check=True, timeout=60).stdout.split()
    assert sorted(listed) == found, (listed, found)
    status = subprocess.run(["git", "status", "--porcelain"], cwd=folder, capture_output=True, text=True, check=True,
        timeout=60).stdout
    assert status == "", status


def names_are_made_of_two_words(m):
    """62 adjectives, 69 nouns, 4,278 names in CamelCase; the counts of the program's lists are a unit test's."""
    assert (len(ADJECTIVES), len(NOUNS), len(set(ADJECTIVES)) * len(set(NOUNS))) == (62, 69, 4278)
    made = [m.json("team", "register", "/p", "--program", "x", "--model", "y")["name"] for _ in range(20)]
    assert len(set(made)) == 20, made
    known = {a + n for a in ADJECTIVES for n in NOUNS}
    assert set(made) <= known, set(made) - known
    for name in ("GreenLake", "BlueDog", "StormyMountain", "GreenCastle", "BlueLake", "RedCat", "YellowForest"):
        assert register(m, "/p", name, env={"AGENT_NAME_ENFORCEMENT_MODE": "strict"})["name"] == name


def enforcement_modes(m):
    modes = {mode: {"AGENT_NAME_ENFORCEMENT_MODE": mode} for mode in ("strict", "coerce", "always_auto")}
    error = m.json("team", "register", "/p", "frontend-dev", "--program", "x", "--model", "y", status=2, env=modes["strict"])
    assert error["error"]["type"] == "INVALID_ARGUMENT" and error["error"]["data"]["argument"] == "name", error
    for env in (modes["coerce"], {}):
        name = register(m, "/p", "frontend-dev", env=env)["name"]
        assert re.fullmatch("[A-Z][a-z]+[A-Z][a-z]+", name), name
    assert register(m, "/p", "GreenCastle", env=modes["coerce"])["name"] == "GreenCastle"
    assert register(m, "/p", "GreenCastle", env=modes["always_auto"])["name"] != "GreenCastle"


def the_lease_workflow(m):
    """Declared, stored as a row and a JSON file in git, seen by others, given back or over by itself."""
    scene(m)
    m.json("team", "reserve", "backend", "GreenCastle", "src/main.py", "tests/*.py")
    assert rows(m, "SELECT path_pattern FROM file_reservations ORDER BY id") == [("src/main.py",), ("tests/*.py",)]
    folder = f"{m.root}/projects/path-to-backend"
    listed = subprocess.run(["git", "ls-tree", "-r", "--name-only", "HEAD", "file_reservations"], cwd=folder,
        capture_output=True, text=True, check=True, timeout=60).stdout.split()
    assert len(listed) == 2, listed
    for path, free in (("src/main.py", False), ("tests/test_x.py", False), ("tests/x.c", True)):
        assert m.json("team", "check-paths", "backend", path, "--agent-name", "BlueLake")["ok"] is free, path
    m.json("team", "release", "backend", "GreenCastle", "src/main.py")
    assert m.json("team", "check-paths", "backend", "src/main.py", "--agent-name", "BlueLake")["ok"]
    rows(m, "UPDATE file_reservations SET expires_ts = 1 WHERE released_ts IS NULL")
    assert m.json("team", "check-paths", "backend", "tests/test_x.py", "--agent-name", "BlueLake")["ok"]


def enforcement_options(m):
    """Advisory leases tell nobody off; a holder who has gone silent loses them."""
    scene(m)
    m.json("team", "reserve", "backend", "GreenCastle", "a", "--exclusive=false")
    assert m.json("team", "reserve", "backend", "BlueLake", "a", "--no-exclusive")["conflicts"] == []
    m.json("team", "reserve", "backend", "GreenCastle", "b", "--exclusive=true")
    assert m.json("team", "reserve", "backend", "BlueLake", "b")["conflicts"][0]["holders"][0]["agent"] == "GreenCastle"
    rows(m, "UPDATE agents SET last_active_ts = 1 WHERE name = 'GreenCastle'")
    active = m.json("team", "reservations", "backend", "--active-only")["result"]
    assert {x["agent"] for x in active} == {"BlueLake"}, active


def contact_policies(m):
    """Between projects: open takes all, auto what there is reason for, contacts_only contacts, block_all nothing new."""
    register(m, "/path/to/backend", "GreenCastle")
    for name, policy, program in (("BlueLake", "open", "x"), ("RedCat", "auto", "x"), ("SwiftFox", "auto", "codex"),
            ("KeenOwl", "contacts_only", "codex"), ("BoldHawk", "block_all", "codex")):
        m.json("team", "register", "/path/to/frontend", name, "--program", program, "--model", "y", "--contact-policy", policy)
    for name, word in (("BlueLake", None), ("RedCat", "CONTACT_REQUIRED"), ("SwiftFox", None), ("KeenOwl", "CONTACT_REQUIRED"),
            ("BoldHawk", "CONTACT_BLOCKED")):
        args = ("send", "backend", "GreenCastle", "--to", f"{name}@frontend", "--subject", "s", "--body-md", "b")
        if word:
            assert refused(m, *args)["type"] == word, name
        else:
            assert m.json("team", *args)["count"] == 1, name
    m.json("team", "contact", "respond", "frontend", "KeenOwl", "GreenCastle", "--from-project", "backend", "--status",
        "approved")
    send(m, "backend/GreenCastle", "KeenOwl@frontend")
    # No new mail that nobody asked for: an answer is neither.
    send(m, "frontend/BoldHawk", "GreenCastle@backend")
    send(m, "backend/GreenCastle", "BoldHawk@frontend")


def the_workflow(m):
    """The seven steps, with the seed's names and nothing but its arguments."""
    m.json("team", "ensure-project", "/path/to/backend")
    register(m, "backend", "GreenCastle")
    m.json("team", "ensure-project", "/path/to/frontend")
    register(m, "frontend", "BlueLake")
    assert [p["human_key"] for p in m.json("team", "projects")["result"]] == ["/path/to/backend", "/path/to/frontend"]
    granted = m.json("team", "reserve", "backend", "GreenCastle", "src/auth.py", "--exclusive=true")
    assert granted["conflicts"] == [] and granted["granted"][0]["exclusive"], granted
    send(m, "backend/GreenCastle", "BlueLake", subject="Auth refactoring...")
    [item] = m.json("team", "inbox", "frontend", "BlueLake")["result"]
    assert (item["subject"], item["from"], item["sender_project"]) == ("Auth refactoring...", "GreenCastle", "path-to-backend")
    link = m.json("team", "contact", "request", "frontend", "BlueLake", "GreenCastle", "--to-project", "backend")
    assert link["from"]["agent"] == "BlueLake", link
    link = m.json("team", "contact", "respond", "backend", "GreenCastle", "BlueLake", "--status", "approved")
    assert link["status"] == "approved", link
    assert m.json("team", "release", "backend", "GreenCastle")["released"] == 1


def linked_repositories(m):
    """One inbox and one search for projects that belong together."""
    register(m, "/path/to/backend", "GreenCastle")
    register(m, "/path/to/frontend", "BlueLake")
    m.json("team", "product", "ensure", "shop", "Shop")
    for project in ("backend", "frontend"):
        m.json("team", "product", "link", "shop", project)
    send(m, "backend/GreenCastle", "GreenCastle", subject="walnut one")
    send(m, "frontend/BlueLake", "BlueLake", subject="walnut two")
    assert len(m.json("team", "product", "inbox", "shop")["result"]) == 2
    found = m.json("team", "product", "search", "shop", "walnut")["result"]
    assert sorted(x["subject"] for x in found) == ["walnut one", "walnut two"], found


TESTS = [
    tables_have_their_fields,
    projects_and_agents,
    messages_and_recipients,
    leases_and_links,
    operations_are_all_there,
    a_message_as_a_file,
    recipients_keep_their_order,
    images,
    the_tree,
    names_are_made_of_two_words,
    enforcement_modes,
    the_lease_workflow,
    enforcement_options,
    contact_policies,
    the_workflow,
    linked_repositories,
]


def main():
    with Tap() as tap:
        for test in TESTS:
            with Mailroom(sys.argv[1]) as m:
                tap.run(test.__name__.replace("_", " "), test, m)


main()
