"""usage: guard.py PROGRAM SOURCE - the guard in real repositories: commits of files others hold."""

import json
import os
import shutil
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from mailroom import Mailroom, describe  # noqa: E402
from repo import HOLDER, OTHER, Repo, read, slug_of  # noqa: E402
from tap import Tap  # noqa: E402

DAY_US = 86400 * 1000000


def change_json(path, **members):
    record = json.loads(read(path))
    record.update(members)
    for holder in record.get("holders", []):
        holder.update(members)
    with open(path, "w", encoding="utf-8") as file:
        json.dump(record, file)


# --- what is refused, and what is said ---


def a_commit_is_refused_and_told(m):
    r = Repo(m)
    r.reserve("src/**", more=("--reason", "it's a refactoring"))
    said = r.commit("src/app.py", status=1).stderr
    for part in ("src/app.py", HOLDER, "src/**", "for 60 more minutes", "it's a refactoring", "AGENT_MAIL_BYPASS=1"):
        assert part in said, (part, said)
    ask = next(line.split("ask: ")[1] for line in said.splitlines() if "ask: " in line)
    assert f"mailroom team send {r.path} {OTHER} --to {HOLDER} " in ask, ask
    done = r.run("sh", "-c", ask)
    assert done.returncode == 0, describe(done)
    inbox = m.json("team", "inbox", r.path, HOLDER)["result"]
    assert inbox[0]["subject"] == "May I change src/app.py?" and inbox[0]["from"] == OTHER, inbox
    r.git("rm", "-q", "--cached", "src/app.py")
    r.commit("other/x")
    r.commit("src/app.py", agent=HOLDER)
    assert r.git("log", "--format=%s").stdout.split() == ["change", "change"]


def asks(m, r, said, subject):
    """What it prints is pasted into a shell, and the holder has it. Who has asked."""
    ask = next(line.split("ask: ")[1] for line in said.splitlines() if "ask: " in line)
    done = r.run("sh", "-c", ask)
    assert done.returncode == 0, describe(done)
    [mail] = [i for i in m.json("team", "inbox", r.path, HOLDER, "--limit", "1")["result"] if i["subject"] == subject]
    return mail["from"]


def the_one_who_asks_is_there(m):
    """AGENT_NAME may be a name that the project does not know, and a person at a terminal has none."""
    r = Repo(m)
    r.reserve("src/**")
    known = {a["name"] for a in m.json("team", "agents", r.path)["result"]}
    said = r.commit("src/a", agent="Somebody", status=1).stderr
    sender = asks(m, r, said, "May I change src/a?")
    assert sender not in known and sender in {a["name"] for a in m.json("team", "agents", r.path)["result"]}, sender
    # The work tree's last agent is asked as, before anybody is made.
    last = m.json("team", "macro", "start-session", r.path, "--program", "x", "--model", "y")["agent"]["name"]
    said = r.commit("src/b", agent="Somebody", status=1).stderr
    assert asks(m, r, said, "May I change src/a?") == last, said
    # In another case it is the same one, by its own name.
    said = r.commit("src/c", agent="bluelake", status=1).stderr
    assert f" {OTHER} --to {HOLDER} " in said and asks(m, r, said, "May I change src/a?") == OTHER, said
    said = r.edit("src/a", agent="Somebody", status=2).stderr
    assert '"sender_name": "' + last + '"' in said and "YOUR_NAME" not in said, said


def names_in_any_case(m):
    r = Repo(m)
    r.reserve("a")
    r.commit("a", agent="greencastle")
    r.commit("a", agent="Green Castle")
    r.commit("a", agent="GreenCastl", status=1)


def only_active_exclusive_leases_of_others(m):
    r = Repo(m)
    r.reserve("shared", more=("--no-exclusive",))
    r.reserve("released")
    m.json("team", "release", r.path, HOLDER, "released")
    r.reserve("expired")
    r.reserve("mine", agent=OTHER)
    r.database("UPDATE file_reservations SET expires_ts = expires_ts - ? WHERE path_pattern = 'expired'", DAY_US)
    r.commit("shared", "released", "expired", "mine")
    r.commit("mine", agent=HOLDER, status=1)


def two_holders_are_both_named(m):
    r = Repo(m)
    m.json("team", "register", r.path, "RedStone", "--program", "codex", "--model", "gpt")
    r.reserve("a")
    r.reserve("**", agent="RedStone")
    assert r.held("a") == {"a": [HOLDER, "RedStone"]}
    r.forget_database()
    assert {k: sorted(v) for k, v in r.held("a").items()} == {"a": [HOLDER, "RedStone"]}
    assert r.held("a", agent=HOLDER) == {"a": ["RedStone"]}


def patterns(m):
    """As they are written: a star is not widened for the guard."""
    r = Repo(m)
    r.reserve("src/*", "docs", "lib/**/*.py", "app/[id]/page.tsx", r.path + "/abs/x", "{one,two}/f")
    held = ["src/a", "docs/deep/x.md", "docs", "lib/a/b/c.py", "app/[id]/page.tsx", "app/i/page.tsx", "abs/x", "two/f"]
    free = ["src/deep/a", "documents", "lib/a.c", "three/f", "abs/y"]
    assert sorted(r.held(*held, *free)) == sorted(held)
    assert r.check(*free)["status"] == "passed"
    assert sorted(r.held("src/deep/a", RESERVATION_GLOB_STYLE="fnmatch")) == ["src/deep/a"]
    # The same, one by one: few paths ask the database otherwise than many.
    for path in held:
        assert list(r.held(path)) == [path]
    many = held + free + [f"more/{i}" for i in range(50)]
    assert sorted(r.held(*many)) == sorted(held)


def all_kinds_of_names(m):
    r = Repo(m)
    r.reserve("with space/**", "ümläut/日本.c", "quote*", "new?line", more=("--", "-dash", "tab*", "a?b"))
    for name in ("with space/a b.c", "ümläut/日本.c", "quote'\"$x.c", "new\nline", "-dash", "tab\there", "a\\b"):
        said = r.commit(name, status=1).stderr
        assert HOLDER in said, (name, said)
        r.git("rm", "-q", "--cached", "--", name)
    raw = os.fsencode(r.path) + b"/bad\xff.c"
    r.reserve("bad*")
    with open(raw, "w", encoding="utf-8") as file:
        file.write("x")
    r.git("add", "-A")
    assert "bad\ufffd.c" in r.held()


def renames_deletions_and_modes(m):
    r = Repo(m)
    r.start("old/a", "gone", "mode", "free")
    r.reserve("old/a", "gone", "new/b", "mode")
    r.git("mv", "old/a", "elsewhere")
    assert r.held() == {"old/a": [HOLDER]}
    r.git("reset", "-q", "--hard")
    os.mkdir(os.path.join(r.path, "new"))
    r.git("mv", "free", "new/b")
    assert r.held() == {"new/b": [HOLDER]}
    r.git("reset", "-q", "--hard")
    r.git("rm", "-q", "gone")
    assert r.held() == {"gone": [HOLDER]}
    r.git("reset", "-q", "--hard")
    os.chmod(os.path.join(r.path, "mode"), 0o755)
    r.git("add", "-A")
    assert r.held() == {"mode": [HOLDER]}


def odd_settings_of_git(m):
    r = Repo(m)
    r.start("src/a")
    r.reserve("src/a")
    for key, value in (("diff.relative", "true"), ("core.quotePath", "true"), ("color.ui", "always"),
            ("diff.noprefix", "true"), ("log.showSignature", "true"), ("diff.renames", "copies"),
            ("diff.external", "false"), ("status.relativePaths", "false")):
        r.git("config", key, value)
    r.write("src/a", text="y\n")
    r.git("add", "-A")
    assert r.held() == {"src/a": [HOLDER]}
    assert r.held(cwd=os.path.join(r.path, "src")) == {"src/a": [HOLDER]}


def what_is_committed_counts(m):
    """Not what is staged besides: git commit FILE has an index of its own; and git commit -a."""
    r = Repo(m)
    r.start("mine", "theirs")
    r.reserve("theirs")
    r.write("mine", "theirs", text="y\n")
    r.git("add", "-A")
    r.git("commit", "-qm", "x", "mine", AGENT_NAME=OTHER)
    r.git("commit", "-qm", "x", status=1, AGENT_NAME=OTHER)
    r.git("reset", "-q")
    r.git("commit", "-qam", "x", status=1, AGENT_NAME=OTHER)
    r.git("commit", "-q", "--allow-empty", "-m", "x", AGENT_NAME=OTHER)


def a_merge_brings_others_work(m):
    """What the holder has committed elsewhere may be merged; what is changed on the way may not."""
    r = Repo(m)
    r.start("both", "theirs", "held")
    r.git("checkout", "-qb", "topic")
    r.commit("both", "theirs", "held", agent=HOLDER)
    r.git("checkout", "-q", "main")
    r.commit("both")
    r.reserve("theirs", "held")
    r.git("merge", "-q", "topic", status=1, AGENT_NAME=OTHER)
    r.commit("both")
    r.git("reset", "-q", "--hard", "HEAD~1")
    r.git("merge", "-q", "topic", status=1, AGENT_NAME=OTHER)
    said = r.commit("both", "held", status=1).stderr
    assert "held" in said and "theirs" not in said, said


def case_folds_where_the_file_system_does(m):
    r = Repo(m)
    r.reserve("Src/App.py")
    r.check("src/app.py")
    r.edit("src/app.py")
    r.git("config", "core.ignorecase", "true")
    assert r.held("src/app.py") == {"src/app.py": [HOLDER]}
    r.edit("src/app.py", status=2)
    r.git("config", "core.ignorecase", "false")
    r.edit("src/app.py")


# --- who asks, and how strictly ---


def without_a_name(m):
    r = Repo(m)
    said = r.commit("a", agent=None, status=1).stderr
    assert "AGENT_NAME is not set" in said, said
    said = r.commit(agent="", status=1).stderr
    assert "AGENT_NAME is not set" in said, said
    said = r.commit(agent=None, AGENT_MAIL_GUARD_MODE="warn").stderr
    assert "AGENT_NAME is not set" in said, said
    answer = r.check("a", agent=None, status=1)["error"]
    assert answer["type"] == "PERMISSION_DENIED", answer


def warnings_and_bypass(m):
    r = Repo(m)
    r.reserve("a")
    for word in ("warn", "advisory", "ADV"):
        said = r.commit("a", AGENT_MAIL_GUARD_MODE=word).stderr
        assert HOLDER in said and "only a warning" in said, said
    said = r.commit("a", AGENT_MAIL_BYPASS="1").stderr
    assert "bypassed" in said, said
    for word in ("0", "", "false"):
        r.commit("a", status=1, AGENT_MAIL_BYPASS=word)
    for word in ("block", "", "enforce"):
        r.commit("a", status=1, AGENT_MAIL_GUARD_MODE=word)
    answer = r.check("a", AGENT_MAIL_GUARD_MODE="warn")
    assert answer["status"] == "warned" and answer["conflicts"][0]["holders"][0]["minutes_left"] == 60, answer
    assert r.check("a", "--advisory")["status"] == "warned"
    assert r.check("a", AGENT_MAIL_BYPASS="yes")["status"] == "bypassed"
    refused = r.check("a", status=2, AGENT_MAIL_GUARD_MODE="sometimes")["error"]
    assert refused["type"] == "INVALID_ARGUMENT" and "AGENT_MAIL_GUARD_MODE" in refused["message"], refused


def what_cannot_be_found_out(m):
    """2, and only in mode warn a pass."""
    r = Repo(m)
    shutil.rmtree(m.root)
    os.makedirs(os.path.join(m.root, "storage.sqlite3"))
    r.commit("a", status=1)
    assert "could not be checked" in r.check("a", status=2)["error"]["message"]
    passed = r.check("a", "--advisory")
    assert passed["status"] == "passed" and "could not be checked" in passed["warnings"][0], passed
    r.check("a", cwd=m.dir, status=2)
    r.edit("a")


def no_project_no_guard(m):
    r = Repo(m, register=False, install=False)
    answer = r.check("a", agent=None)
    assert answer["status"] == "passed" and "no project" in answer["warnings"][0], answer
    m.json("team", "register", "/elsewhere", OTHER, "--program", "codex", "--model", "gpt")
    assert r.check("a", agent=None)["source"] is None
    answer = r.check("a", "--project", "nowhere", agent=None)
    assert 'no project "nowhere"' in answer["warnings"][0], answer


def paths_on_standard_input(m):
    r = Repo(m)
    r.reserve("b c")
    assert r.held("--stdin-nul", stdin="a\0b c\0") == {"b c": [HOLDER]}
    assert r.check("--stdin-nul", stdin="")["checked"] == 0
    assert r.held(os.path.join(r.path, "b c")) == {"b c": [HOLDER]}
    os.mkdir(os.path.join(r.path, "sub"))
    assert r.held("../b c", cwd=os.path.join(r.path, "sub")) == {"b c": [HOLDER]}


# --- where leases are found ---


def without_the_database(m):
    """The archive's files say the same."""
    r = Repo(m)
    r.reserve("held", "released", "shared/x", "expired")
    m.json("team", "release", r.path, HOLDER, "released")
    r.reserve("soft", more=("--no-exclusive",))
    assert r.check("held2")["source"] == "database"
    r.forget_database()
    for path in r.lease_files():
        if json.loads(read(path))["path_pattern"] == "expired":
            change_json(path, expires_ts="2020-01-01T00:00:00+00:00")
    assert r.held("held", "released", "expired", "soft") == {"held": [HOLDER]}
    assert r.check("free")["source"] == "archive"
    r.commit("held", status=1)
    r.commit("released", status=1)  # `held` is still staged
    r.git("rm", "-q", "--cached", "held")
    r.commit("released")
    r.edit("held", status=2)


def a_peers_archive(m):
    """Records without holders and project.json; no end is no end."""
    r = Repo(m, register=False, install=False)
    slug = slug_of(r.path)
    folder = os.path.join(m.root, "projects", slug, "file_reservations")
    os.makedirs(folder)
    base = {"id": 1, "project": r.path, "agent": HOLDER, "exclusive": True, "reason": "", "created_ts": "2020-01-01"}
    for i, more in enumerate(({"path_pattern": "a", "expires_ts": None}, {"path_pattern": "b",
            "expires_ts": "2020-01-01T00:00:00Z"}, {"path_pattern": "c"}, {"path_pattern": "d", "exclusive": False})):
        with open(os.path.join(folder, f"{i}.json"), "w", encoding="utf-8") as file:
            json.dump({**base, **more}, file)
    assert r.held("a", "b", "c", "d") == {"a": [HOLDER], "c": [HOLDER]}
    refused = r.check("a", status=1)["error"]["data"]["conflicts"][0]["holders"][0]
    assert refused["minutes_left"] is None and refused["expires_ts"] is None, refused


def bad_files_are_passed_over_and_told(m):
    r = Repo(m)
    r.reserve("good", "bad1", "bad2", "bad3", "bad4")
    r.forget_database()
    by_pattern = {json.loads(read(path))["path_pattern"]: path for path in r.lease_files()}
    with open(by_pattern["bad1"], "w", encoding="utf-8") as file:
        file.write("{")
    change_json(by_pattern["bad2"], expires_ts="soon")
    change_json(by_pattern["bad3"], exclusive="yes")
    change_json(by_pattern["bad4"], path_pattern=7)
    r.write("notes.txt")
    with open(os.path.join(os.path.dirname(by_pattern["good"]), "README"), "w", encoding="utf-8") as file:
        file.write("not a lease")
    answer = r.check("bad1", "bad2", "bad3", "bad4")
    assert answer["status"] == "passed" and len(answer["warnings"]) == 4, answer
    assert all("passed over" in w for w in answer["warnings"]), answer
    assert r.held("good", "bad1") == {"good": [HOLDER]}
    said = r.commit("bad1").stderr
    assert said.count("passed over") == 4, said


def a_damaged_database_is_no_way_around(m):
    r = Repo(m)
    r.reserve("a")
    r.forget_database()
    with open(os.path.join(m.root, "storage.sqlite3"), "w", encoding="utf-8") as file:
        file.write("this is no database" * 1000)
    assert r.held("a") == {"a": [HOLDER]}
    answer = r.check("b")
    assert answer["source"] == "archive" and "instead" in answer["warnings"][0], answer


def another_programs_env(m):
    r = Repo(m)
    r.reserve("a")
    r.write(".env", text="DATABASE_URL=postgres://user:pw@host/app\nHTTP_PORT=many\nAPP_NAME=x\nLOG_LEVEL=verbose\n")
    assert r.held("a") == {"a": [HOLDER]}
    r.commit("a", status=1)
    r.write(".env", text='BROKEN="\n')
    r.commit("a", status=1)
    r.git("reset", "-q")
    r.commit("b")


def which_project(m):
    r = Repo(m, install=False)
    r.reserve("a")
    other = Repo(m, "frontend", install=False)
    other.reserve("b")
    assert r.held("a", "b") == {"a": [HOLDER]}
    assert r.held("a", "b", AGENT_MAIL_PROJECT="frontend") == {"b": [HOLDER]}
    assert r.held("a", "b", AGENT_MAIL_PROJECT=other.path) == {"b": [HOLDER]}
    assert r.held("a", "b", "--project", other.path) == {"b": [HOLDER]}
    # A directory of the repository as a project.
    sub = os.path.join(r.path, "services", "api")
    os.makedirs(sub)
    m.json("team", "register", sub, HOLDER, "--program", "codex", "--model", "gpt", env={"PROJECT_IDENTITY_MODE": "dir"})
    m.json("team", "reserve", sub, HOLDER, "main.py")
    assert r.held("services/api/main.py", "main.py", AGENT_MAIL_PROJECT=sub) == {"main.py": [HOLDER]}
    r.edit("main.py", cwd=sub, status=2)
    # Over a link.
    link = os.path.join(m.dir, "link")
    real = Repo(m, "real", install=False, register=False)
    os.symlink(real.path, link)
    m.json("team", "register", link, HOLDER, "--program", "codex", "--model", "gpt")
    m.json("team", "reserve", link, HOLDER, "c")
    assert real.held("c") == {"c": [HOLDER]}
    real.edit(os.path.join(link, "c"), cwd=link, status=2)


def identities(m):
    """Two clones of one remote are one project."""
    r = Repo(m, "one", install=False, register=False)
    r.git("remote", "add", "origin", "git@example.com:team/app.git")
    env = {"PROJECT_IDENTITY_MODE": "git-remote"}
    m.json("team", "register", r.path, HOLDER, "--program", "codex", "--model", "gpt", env=env)
    m.json("team", "reserve", r.path, HOLDER, "a", env=env)
    other = Repo(m, "two", install=False, register=False)
    other.git("remote", "add", "origin", "https://example.com/team/app")
    assert other.held("a", **env) == {"a": [HOLDER]}
    assert other.held("a") == {"a": [HOLDER]}, "whatever is configured now"
    other.edit("a", status=2, **env)
    other.forget_database()
    assert other.held("a", **env) == {"a": [HOLDER]}


TESTS = [a_commit_is_refused_and_told, the_one_who_asks_is_there, names_in_any_case, only_active_exclusive_leases_of_others,
    two_holders_are_both_named, patterns, all_kinds_of_names, renames_deletions_and_modes,
    odd_settings_of_git, what_is_committed_counts, a_merge_brings_others_work,
    case_folds_where_the_file_system_does, without_a_name, warnings_and_bypass, what_cannot_be_found_out,
    no_project_no_guard, paths_on_standard_input, without_the_database, a_peers_archive,
    bad_files_are_passed_over_and_told, a_damaged_database_is_no_way_around, another_programs_env,
    which_project, identities]


def main():
    with Tap() as tap:
        for test in TESTS:
            with Mailroom(sys.argv[1]) as m:
                tap.run(test.__name__.replace("_", " "), test, m)


main()
