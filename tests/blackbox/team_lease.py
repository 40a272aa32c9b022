"""usage: team_lease.py PROGRAM SOURCE - leases on the files of a project, from a shell."""

import concurrent.futures
import hashlib
import json
import os
import re
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import database  # noqa: E402
from mailroom import Mailroom, describe  # noqa: E402
from tap import Tap  # noqa: E402

TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z")
LEASE = {"id", "agent", "path_pattern", "exclusive", "reason", "created_ts", "expires_ts", "released_ts", "stale",
    "stale_reasons", "last_agent_activity_ts", "last_mail_activity_ts", "last_filesystem_activity_ts",
    "last_git_activity_ts"}
DAY_US = 86400 * 1000000


class Project:
    """A project in a directory that exists, with two agents."""

    def __init__(self, m):
        self.m = m
        self.path = os.path.join(os.path.realpath(m.dir), "backend")
        os.mkdir(self.path)
        for name in ("GreenCastle", "BlueLake"):
            m.json("team", "register", self.path, name, "--program", "codex", "--model", "gpt")

    def ask(self, command, *args, **options):
        return self.m.json("team", command, "backend", *args, **options)

    def error(self, command, *args, status=1):
        answer = self.ask(command, *args, status=status)
        assert set(answer) == {"error"}, answer
        return answer["error"]

    def reserve(self, agent, *args):
        return self.ask("reserve", agent, *args)

    def holders(self, agent, *args):
        """Who is in the way of each path."""
        return {c["path"]: [h["agent"] for h in c["holders"]] for c in self.reserve(agent, *args)["conflicts"]}

    def change(self, sql, *values):
        return database.rows(database.team_database(self.m.root), sql, *values)

    def away(self, name):
        """As if it had been active a day ago for the last time."""
        self.change("UPDATE agents SET last_active_ts = last_active_ts - ? WHERE name = ?", DAY_US, name)

    def file(self, pattern):
        """What the archive says about a pattern."""
        name = hashlib.sha1(pattern.encode()).hexdigest() + ".json"
        folder = os.path.join(self.m.root, "projects", self.ask_slug(), "file_reservations")
        with open(os.path.join(folder, name), encoding="utf-8") as file:
            return json.load(file)

    def ask_slug(self):
        return self.change("SELECT slug FROM projects")[0][0]

    def log(self):
        folder = os.path.join(self.m.root, "projects", self.ask_slug())
        return subprocess.run(["git", "log", "--format=%s"], cwd=folder, capture_output=True, text=True, check=True,
            timeout=60).stdout.splitlines()


def a_conflict_is_granted_and_reported(m):
    p = Project(m)
    first = p.reserve("GreenCastle", "src/app.py", "--reason", "refactoring")
    assert set(first) == {"granted", "conflicts"} and first["conflicts"] == [], first
    grant = first["granted"][0]
    assert set(grant) == {"id", "path_pattern", "exclusive", "reason", "expires_ts"}, grant
    assert grant["path_pattern"] == "src/app.py" and grant["exclusive"] and grant["reason"] == "refactoring", grant
    assert TIME.fullmatch(grant["expires_ts"]), grant
    second = p.reserve("bluelake", "src/app.py", "docs/x.md")
    assert len(second["granted"]) == 2, second
    assert [c["path"] for c in second["conflicts"]] == ["src/app.py"], second
    holder = second["conflicts"][0]["holders"]
    assert holder == [{"agent": "GreenCastle", "path_pattern": "src/app.py", "exclusive": True,
        "expires_ts": grant["expires_ts"], "id": grant["id"], "reason": "refactoring"}], holder


def own_leases_do_not_conflict(m):
    p = Project(m)
    p.reserve("GreenCastle", "src/**")
    assert p.holders("GreenCastle", "src/a", "src/**") == {}


def patterns_overlap_exactly(m):
    p = Project(m)
    p.reserve("GreenCastle", "src/**", "docs/", "one/*.{ts,js}", "api/**/*.py", "lib/a*.c", "dir/*", "app/[id]/page.tsx",
        p.path + "/abs/x")
    inside = ["src/app.py", "./src/app.py", "docs/x.md", "docs", "one/x.js", "api/v1/**", "lib/*b.c", "dir/deep/er",
        "app/[id]/page.tsx", "abs/x", "**"]
    outside = ["tests/x.py", "one/x.c", "api/v1/*.rs", "lib/b*.c", "src2/a", "documents/x", "app/x/page.tsx", "abs2"]
    held = p.holders("BlueLake", *inside, *outside)
    assert list(held) == inside, held
    assert p.ask("check-paths", "src/a")["ok"] is False
    assert p.ask("check-paths", "src/a", "--agent-name", "GreenCastle")["ok"] is False, "BlueLake holds ** by now"
    p.ask("release", "BlueLake")
    assert p.ask("check-paths", "src/a", "--agent-name", "GreenCastle") == {"ok": True, "conflicts": []}
    assert p.ask("check-paths", "nothing/here") == {"ok": True, "conflicts": []}


def shared_leases(m):
    p = Project(m)
    p.reserve("GreenCastle", "a", "--no-exclusive")
    assert p.holders("BlueLake", "a", "--no-exclusive") == {}
    assert p.holders("BlueLake", "a") == {"a": ["GreenCastle"]}


def stars_that_cross(m):
    p = Project(m)
    env = {"RESERVATION_GLOB_STYLE": "fnmatch"}
    m.json("team", "reserve", "backend", "GreenCastle", "src/*.py", env=env)
    assert m.json("team", "check-paths", "backend", "src/deep/x.py", env=env)["ok"] is False
    assert m.json("team", "check-paths", "backend", "src/deep/x.py")["ok"] is True
    assert p.ask("check-paths", "src/x.py")["ok"] is False


def renewing(m):
    p = Project(m)
    old = p.reserve("GreenCastle", "a", "b", "--reason", "work")["granted"]
    before = p.file("a")
    answer = p.ask("renew", "GreenCastle", "a", "--extend-seconds", "600")
    assert set(answer) == {"renewed", "file_reservations"} and answer["renewed"] == 1, answer
    one = answer["file_reservations"][0]
    assert set(one) == {"id", "path_pattern", "old_expires_ts", "new_expires_ts"}, one
    assert one["id"] == old[0]["id"] and one["old_expires_ts"] == old[0]["expires_ts"] < one["new_expires_ts"], one
    after = p.file("a")
    assert before["expires_ts"] < after["expires_ts"], after
    for record in (before, after):
        for part in (record, record["holders"][0]):
            del part["expires_ts"]
    assert before == after, (before, after)
    assert p.ask("renew", "GreenCastle", "--extend-seconds", "1")["renewed"] == 2
    assert p.ask("renew", "BlueLake")["renewed"] == 0
    refused = p.error("renew", "GreenCastle", "--extend-seconds", "2592001", status=2)
    assert refused["type"] == "INVALID_ARGUMENT" and refused["data"]["argument"] == "extend_seconds", refused


def times_to_live(m):
    p = Project(m)
    for bad in ("0", "-5", "2592001", "soon"):
        refused = p.error("reserve", "GreenCastle", "a", "--ttl-seconds", bad, status=2)
        assert refused["type"] == "INVALID_ARGUMENT" and refused["data"]["argument"] == "ttl_seconds", refused
    short = p.reserve("GreenCastle", "a", "--ttl-seconds", "1")
    assert "ttl_seconds is 1" in short["warnings"][0], short
    assert "warnings" not in p.reserve("GreenCastle", "b", "--ttl-seconds", "2592000")
    p.change("UPDATE file_reservations SET expires_ts = ? WHERE path_pattern = 'a'", int(time.time() * 1000000))
    assert p.ask("check-paths", "a")["ok"] is True
    assert p.holders("BlueLake", "a") == {}
    listed = p.ask("reservations")["result"]
    assert [x["path_pattern"] for x in listed] == ["a", "b", "a"] and listed[0]["released_ts"], listed


def releasing(m):
    p = Project(m)
    ids = [g["id"] for g in p.reserve("GreenCastle", "a", "./b", "c/", "d", "e")["granted"]]
    p.reserve("BlueLake", "z")
    answer = p.ask("release", "GreenCastle", "a", "--file-reservation-ids", str(ids[1]))
    assert answer["released"] == 0 and TIME.fullmatch(answer["released_at"]), answer
    assert p.ask("release", "GreenCastle", "a", "--file-reservation-ids", str(ids[0]))["released"] == 1
    assert p.ask("release", "GreenCastle", "./b", "c/")["released"] == 2
    assert p.ask("release", "GreenCastle", "--file-reservation-ids", str(ids[3]))["released"] == 1
    assert p.ask("release", "GreenCastle")["released"] == 1
    assert p.ask("release", "GreenCastle")["released"] == 0
    assert [x["agent"] for x in p.ask("reservations", "--active-only")["result"]] == ["BlueLake"]


def the_archive_follows(m):
    p = Project(m)
    p.reserve("GreenCastle", "src/**", "--reason", "work")
    p.reserve("BlueLake", "src/**")
    both = p.file("src/**")
    assert [h["agent"] for h in both["holders"]] == ["GreenCastle", "BlueLake"], both
    assert both["agent"] == "BlueLake" and both["released_ts"] is None, both
    p.ask("release", "GreenCastle")
    one = p.file("src/**")
    assert [h["agent"] for h in one["holders"]] == ["BlueLake"], one
    p.ask("release", "BlueLake")
    none = p.file("src/**")
    assert none["holders"] == [] and none["released_ts"], none
    subjects = p.log()
    for subject in ("file_reservation: GreenCastle src/**", "file_reservation: release GreenCastle src/**"):
        assert subject in subjects, subjects


def listing(m):
    p = Project(m)
    with open(os.path.join(p.path, "x.c"), "w", encoding="utf-8") as file:
        file.write("x")
    p.reserve("GreenCastle", "x.c")
    p.reserve("BlueLake", "y.c")
    listed = p.ask("reservations")["result"]
    assert all(set(x) == LEASE for x in listed) and [x["id"] for x in listed] == [1, 2], listed
    assert listed[0]["stale_reasons"] == ["agent_recently_active", "no_recent_mail_activity>900s",
        "filesystem_activity_recent", "no_recent_git_activity>900s"], listed
    assert listed[1]["stale_reasons"][2] == "path_pattern_unmatched", listed
    assert TIME.fullmatch(listed[0]["last_filesystem_activity_ts"]), listed
    assert listed[0]["last_git_activity_ts"] is None and listed[0]["released_ts"] is None, listed
    assert len(p.ask("reservations", "--limit", "1")["result"]) == 1
    p.away("GreenCastle")
    p.away("BlueLake")
    # The file of one has just changed; the other was left.
    active = p.ask("reservations", "--active-only")["result"]
    assert [x["path_pattern"] for x in active] == ["x.c"], active
    assert "agent_inactive>1800s" in active[0]["stale_reasons"] and not active[0]["stale"], active
    swept = p.ask("reservations")["result"][1]
    assert swept["released_ts"] and not swept["stale"] and swept["stale_reasons"][0] == "agent_inactive>1800s", swept


def taking_away(m):
    p = Project(m)
    lease = p.reserve("GreenCastle", "src/**")["granted"][0]["id"]
    refused = p.error("force-release", "BlueLake", str(lease))
    assert refused["type"] == "RESERVATION_ACTIVE" and refused["recoverable"], refused
    assert refused["data"]["file_reservation_id"] == lease, refused
    assert refused["data"]["stale_reasons"][0] == "agent_recently_active", refused
    p.away("GreenCastle")
    taken = p.ask("force-release", "BlueLake", str(lease), "--note", "sorry")
    assert taken["released"] == 1 and set(taken["reservation"]) == LEASE | {"notified"}, taken
    assert taken["reservation"]["notified"] and taken["reservation"]["agent"] == "GreenCastle", taken
    rows = p.change("SELECT m.subject, m.body_md, a.name FROM messages m JOIN message_recipients r ON r.message_id = m.id"
        " JOIN agents a ON a.id = r.agent_id")
    assert rows[0][0] == "[file-reservations] Released stale lock on src/**" and rows[0][2] == "GreenCastle", rows
    assert "agent_inactive>1800s" in rows[0][1] and "Note: sorry" in rows[0][1], rows
    again = p.ask("force-release", "BlueLake", str(lease))
    assert again == {"released": 0, "released_at": taken["released_at"], "already_released": True}, again
    missing = p.error("force-release", "BlueLake", "99")
    assert missing["type"] == "NOT_FOUND" and missing["data"]["file_reservation_id"] == 99, missing
    other = p.reserve("GreenCastle", "docs")["granted"][0]["id"]
    forced = p.ask("force-release", "BlueLake", str(other), "--override", "--no-notify-previous")
    assert forced["released"] == 1 and not forced["reservation"]["notified"], forced
    assert "file_reservation: force-release GreenCastle docs by BlueLake" in p.log()


def stale_leases_make_way(m):
    p = Project(m)
    p.reserve("GreenCastle", "src/**")
    p.away("GreenCastle")
    assert p.ask("check-paths", "src/a")["ok"] is True
    assert p.holders("BlueLake", "src/a") == {}
    assert p.file("src/**")["released_ts"]


def what_is_refused(m):
    p = Project(m)
    cases = [
        (("reserve", "GreenCastle", "../etc/passwd"), "INVALID_ARGUMENT", "paths"),
        (("reserve", "GreenCastle", ""), "INVALID_ARGUMENT", "paths"),
        (("reserve", "GreenCastle"), "INVALID_ARGUMENT", "paths"),
        (("reserve", "GreenCastle", "x" * 513), "INVALID_ARGUMENT", "paths"),
        (("reserve", "GreenCastle", "{a,b}" * 7), "INVALID_ARGUMENT", "paths"),
        (("reserve", "GreenCastle", "a/" * 100 + "b"), "INVALID_ARGUMENT", "paths"),
        (("reserve", "GreenCastle", "a", "--reason", "r" * 513), "INVALID_ARGUMENT", "reason"),
        (("reserve", "GreenCastle", *map(str, range(1001))), "INVALID_ARGUMENT", "paths"),
        (("force-release", "BlueLake", "1", "--note", "n" * 4097), "INVALID_ARGUMENT", "note"),
        (("force-release", "BlueLake", "one"), "INVALID_ARGUMENT", "file_reservation_id"),
    ]
    for args, kind, argument in cases:
        answer = m.run("--json", "team", args[0], "backend", *args[1:])
        assert answer.returncode == 2, describe(answer)
        wrong = json.loads(answer.stdout)["error"]
        assert wrong["type"] == kind and wrong["data"]["argument"] == argument, wrong
        assert len(wrong["message"]) < 480, wrong
    for command in ("reserve", "release", "renew"):
        nobody = p.error(command, "NoSuch", "a")
        assert nobody["type"] == "NOT_FOUND", nobody
    nowhere = m.json("team", "reservations", "nowhere", status=1)["error"]
    assert nowhere["type"] == "NOT_FOUND", nowhere
    assert p.ask("reservations")["result"] == []


def a_thousand_at_once(m):
    p = Project(m)
    p.reserve("GreenCastle", "src/**/x*.c")
    answer = p.reserve("BlueLake", *(f"src/mod{i}/*.c" for i in range(1000)))
    assert len(answer["granted"]) == 1000 and len(answer["conflicts"]) == 1000, len(answer["conflicts"])
    wide = p.reserve("GreenCastle", "**")["conflicts"][0]
    assert len(wide["holders"]) == 100 and wide["has_more"] is True, len(wide["holders"])
    assert p.ask("release", "BlueLake")["released"] == 1000


def bombs_end_in_time(m):
    p = Project(m)
    bomb = "{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}" + "*x" * 16
    p.reserve("GreenCastle", *(f"{bomb}{i}y" for i in range(200)))
    answer = m.run("--json", "team", "reserve", "backend", "BlueLake", *(f"{bomb}z{i}*" for i in range(200)))
    assert answer.returncode == 2, describe(answer)
    wrong = json.loads(answer.stdout)["error"]
    assert "would take too long" in wrong["message"] and wrong["data"]["argument"] == "paths", wrong
    assert p.holders("BlueLake", "src/a.c") == {}


def two_processes_see_each_other(m):
    p = Project(m)
    names = ["RedStone", "GreenLake", "PurpleBear", "WhiteMountain"]
    for name in names:
        m.json("team", "register", p.path, name, "--program", "codex", "--model", "gpt")
    with concurrent.futures.ThreadPoolExecutor(len(names)) as pool:
        answers = list(pool.map(lambda name: p.reserve(name, "src/one.c"), names))
    counts = sorted(len(a["conflicts"][0]["holders"]) if a["conflicts"] else 0 for a in answers)
    assert counts == [0, 1, 2, 3], counts


def leases_and_mail(m):
    p = Project(m)
    m.json("team", "register", p.path, "RedStone", "--program", "codex", "--model", "gpt")
    send = ("send", "GreenCastle", "--to", "BlueLake", "--subject", "s", "--body-md", "b")
    p.reserve("RedStone", "**", "agents/BlueLake/inbox/*/*/*.md")
    warned = p.ask(*send)
    assert warned["count"] == 1, warned
    assert "RedStone" in json.dumps(warned), warned
    p.ask("release", "RedStone")
    p.reserve("RedStone", "agents/BlueLake/inbox/*/*/*.md", "--admin")
    stopped = p.error(*send)
    assert stopped["type"] == "FILE_RESERVATION_CONFLICT" and "RedStone" in json.dumps(stopped["data"]), stopped
    assert p.change("SELECT count(*) FROM messages")[0][0] == 1
    m.json("team", *send[:1], "backend", *send[1:], env={"FILE_RESERVATIONS_ENFORCEMENT_ENABLED": "false"})
    p.change("UPDATE file_reservations SET expires_ts = ? WHERE released_ts IS NULL", int(time.time() * 1000000))
    assert p.ask(*send)["count"] == 1


def a_server_sweeps_and_escalates(m):
    p = Project(m)
    p.reserve("GreenCastle", "a")
    p.change("UPDATE file_reservations SET expires_ts = 5")
    p.ask("send", "GreenCastle", "--to", "BlueLake", "--subject", "s", "--body-md", "b", "--ack-required")
    p.change("UPDATE messages SET created_ts = 5")
    env = {"FILE_RESERVATIONS_CLEANUP_ENABLED": "true", "ACK_TTL_ENABLED": "true", "ACK_ESCALATION_ENABLED": "true",
        "ACK_ESCALATION_MODE": "file_reservation", "ACK_ESCALATION_CLAIM_HOLDER_NAME": "ops"}
    for _ in range(2):
        with m.serve(env=env) as server:
            server.stop()
            logged = server.logged()
    assert p.change("SELECT count(*) FROM file_reservations WHERE released_ts IS NOT NULL")[0][0] == 1
    rows = p.change("SELECT f.path_pattern, f.reason, f.origin, a.name, a.program FROM file_reservations f"
        " JOIN agents a ON a.id = f.agent_id WHERE f.released_ts IS NULL")
    assert rows == [("agents/BlueLake/inbox/1970/01/*.md", "ack-overdue", "escalation", "ops", "ops")], rows
    assert "ack_overdue" not in logged, "the second server had nothing to tell"
    p.ask("ack", "BlueLake", "1")
    assert p.change("SELECT count(*) FROM file_reservations WHERE released_ts IS NULL")[0][0] == 0
    assert p.change("SELECT count(*) FROM ack_escalations")[0][0] == 0
    with m.serve(env={}) as server:
        server.stop()
        assert "reservation_sweep" not in server.logged()


def as_people_read_it(m):
    p = Project(m)
    assert m.run("team", "reservations", "backend").stdout == "No leases.\n"
    assert m.run("team", "check-paths", "backend", "a").stdout == "Nobody else holds any of them.\n"
    done = m.run("team", "reserve", "backend", "GreenCastle", "src/**")
    assert done.returncode == 0, describe(done)
    assert done.stdout.splitlines()[0].split() == ["id", "pattern", "state", "until", "reason"], describe(done)
    assert done.stdout.splitlines()[1].split()[:3] == ["1", "src/**", "exclusive"], describe(done)
    held = m.run("team", "check-paths", "backend", "src/a").stdout.splitlines()
    assert held[0] == "src/a is held by others:" and held[2].split()[1:4] == ["GreenCastle", "src/**", "exclusive"], held
    both = m.run("team", "reserve", "backend", "BlueLake", "src/a", "--ttl-seconds", "9", "--no-exclusive").stdout
    assert "talk to the others before you edit" in both and "warning: ttl_seconds is 9" in both, both
    p.ask("release", "GreenCastle")
    listed = [line.split()[1:4] for line in m.run("team", "reservations", "backend").stdout.splitlines()[1:]]
    assert listed == [["GreenCastle", "src/**", "released"], ["BlueLake", "src/a", "shared"]], listed
    p.ask("release", "BlueLake")
    p.reserve("GreenCastle", "src/**")
    refused = m.run("team", "force-release", "backend", "BlueLake", "3")
    assert refused.returncode == 1 and not refused.stdout, describe(refused)
    assert "lease 3 of GreenCastle on src/** is still in use" in refused.stderr, describe(refused)


TESTS = [a_conflict_is_granted_and_reported, own_leases_do_not_conflict, patterns_overlap_exactly, shared_leases,
    stars_that_cross, renewing, times_to_live, releasing, the_archive_follows, listing, taking_away,
    stale_leases_make_way, what_is_refused, a_thousand_at_once, bombs_end_in_time, two_processes_see_each_other,
    leases_and_mail, a_server_sweeps_and_escalates, as_people_read_it]


def main():
    with Tap() as tap:
        for test in TESTS:
            with Mailroom(sys.argv[1]) as m:
                tap.run(test.__name__.replace("_", " "), test, m)


main()
