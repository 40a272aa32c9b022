"""usage: team_identity.py PROGRAM SOURCE - projects and agents of a team, from a shell."""

import concurrent.futures
import json
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import database  # noqa: E402
from mailroom import Mailroom, describe  # noqa: E402
from mcp import Stdio  # noqa: E402
from tap import Tap  # noqa: E402
from wire import Client, call  # noqa: E402

TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z")
NAME = re.compile(r"([A-Z][a-z]+){2}\d*")
AGENT = {"id", "name", "program", "model", "task_description", "inception_ts", "last_active_ts", "project_id",
    "attachments_policy", "contact_policy", "is_active", "deleted_ts"}
AS = ("--program", "codex", "--model", "gpt-5")


def register(m, *args, **options):
    return m.json("team", "register", *args, *AS, **options)


def error(m, *args, status=1, **options):
    """What is wrong, as a client sees it."""
    answer = m.json("team", *args, status=status, **options)
    assert set(answer) == {"error"}, answer
    assert set(answer["error"]) == {"type", "message", "recoverable", "data"}, answer
    return answer["error"]


def ensure(m, *args, **options):
    """A project, without how it was chosen."""
    project = m.json("team", "ensure-project", *args, **options)
    assert project.pop("why"), project
    return project


def git(m, *args):
    env = {**os.environ, "HOME": m.dir, "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1"}
    subprocess.run(["git", "-c", "user.name=t", "-c", "user.email=t@example.com", *args], cwd=m.dir, env=env, check=True,
        capture_output=True, timeout=60)


def log(m, slug, *paths):
    """The subjects of a project's commits, newest first."""
    done = subprocess.run(["git", "-C", f"{m.root}/projects/{slug}", "log", "--format=%s", "--", *paths], env=m.env(),
        check=True, capture_output=True, text=True, timeout=60)
    return done.stdout.splitlines()


def projects_are_made_once(m):
    first = ensure(m, "/backend")
    assert first["slug"] == "backend" and first["human_key"] == "/backend", first
    assert first["identity_mode"] == "dir" and TIME.fullmatch(first["created_at"]), first
    assert ensure(m, "/backend/") == first
    assert ensure(m, "Backend") == first
    assert m.json("team", "projects") == {"result": [first | {"short_name": "backend"}]}
    assert log(m, "backend") == ["chore: initialize archive"], log(m, "backend")
    with open(f"{m.root}/projects/backend/project.json", encoding="utf-8") as file:
        assert json.load(file)["human_key"] == "/backend"


def slugs_and_their_collisions(m):
    assert m.json("team", "ensure-project", "  Hello World!!  ")["slug"] == "hello-world"
    assert m.json("team", "ensure-project", "/a/b-c")["slug"] == "a-b-c"
    second = m.json("team", "ensure-project", "/a/b/c")
    assert re.fullmatch(r"a-b-c-[0-9a-f]{8}", second["slug"]), second
    assert register(m, "/a/b/c")["project_id"] == second["id"]
    assert register(m, second["slug"])["project_id"] == second["id"]
    for key in ("with space", "under_score", "/abs/path with space/x_y"):
        made = m.json("team", "ensure-project", key)
        assert register(m, key)["project_id"] == made["id"], key


def the_seeds_short_name_resolves(m):
    made = m.json("team", "ensure-project", "/path/to/backend")
    agent = register(m, "backend", "GreenCastle")
    assert agent["project_id"] == made["id"] and agent["name"] == "GreenCastle", agent
    assert m.json("team", "whois", "backend", "greencastle")["id"] == agent["id"]


def unknown_projects_are_made_by_registering_only(m):
    assert error(m, "agents", "/new")["type"] == "NOT_FOUND"
    assert error(m, "whois", "/new", "GreenCastle")["type"] == "NOT_FOUND"
    register(m, "/new", "GreenCastle")
    assert m.json("team", "whois", "/new", "GreenCastle")["name"] == "GreenCastle"


def errors_say_what_to_do(m):
    register(m, "/path/to/backend", "GreenCastle")
    wrong = error(m, "agents", "bakcend")
    assert wrong["type"] == "NOT_FOUND" and wrong["recoverable"] is True, wrong
    assert wrong["data"]["suggestions"] == ["backend"], wrong
    wrong = error(m, "whois", "backend", "GreenCastel")
    assert wrong["type"] == "NOT_FOUND" and wrong["data"]["suggestions"] == ["GreenCastle"], wrong
    assert "resource://agents/path-to-backend" in wrong["message"], wrong
    m.json("team", "ensure-project", "/other/backend")
    wrong = error(m, "agents", "backend", status=2)
    assert wrong["type"] == "INVALID_ARGUMENT", wrong
    assert wrong["data"] == {"argument": "project_key", "candidates": ["/path/to/backend", "/other/backend"]}, wrong
    wrong = error(m, "ensure-project", "../../etc", status=2)
    assert wrong["type"] == "INVALID_ARGUMENT" and "relative path" in wrong["message"], wrong
    done = m.run("team", "whois", "backend-x", "GreenCastel")
    assert done.returncode == 1 and "mailroom team projects" in done.stderr, describe(done)


def agents_have_the_contracts_shape(m):
    agent = register(m, "/b", "GreenCastle", "--task-description", "auth", "--attachments-policy", "what")
    assert set(agent) == AGENT, agent
    assert agent["attachments_policy"] == "auto" and agent["contact_policy"] == "open", agent
    assert agent["is_active"] is True and agent["deleted_ts"] is None, agent
    assert TIME.fullmatch(agent["inception_ts"]) and agent["inception_ts"] == agent["last_active_ts"], agent
    again = register(m, "/b", "greencastle", "--task-description", "tests")
    assert again["id"] == agent["id"] and again["name"] == "GreenCastle", again
    assert again["task_description"] == "tests" and again["last_active_ts"] > agent["last_active_ts"], again
    assert again["inception_ts"] == agent["inception_ts"], again


def enforcement_is_configured(m):
    strict = {"AGENT_NAME_ENFORCEMENT_MODE": "strict"}
    always = {"AGENT_NAME_ENFORCEMENT_MODE": "always_auto"}
    register(m, "/b", "BlueLake", env=strict)
    wrong = error(m, "register", "/b", "HappyLake", *AS, status=2, env=strict)
    assert wrong["type"] == "INVALID_ARGUMENT" and wrong["data"] == {"argument": "name"}, wrong
    wrong = error(m, "create-identity", "/b", "--name-hint", "bluelake", *AS, env=strict)
    assert wrong["type"] == "NAME_TAKEN" and wrong["data"] == {"name": "BlueLake"}, wrong
    assert wrong["recoverable"] is True, wrong
    made = m.json("team", "create-identity", "/b", "--name-hint", "bluelake", *AS)
    assert made["name"] != "BlueLake" and NAME.fullmatch(made["name"]), made
    assert register(m, "/b", "BlueLake", env=always)["name"] != "BlueLake"
    assert NAME.fullmatch(register(m, "/b", "not a name")["name"])
    assert register(m, "/b", "Backend-Harmonizer!!", env={"AGENT_NAME_VALIDATION": "any"})["name"] == \
        "BackendHarmonizer"
    for name in ("HumanOverseer", "system", "OPS"):
        assert register(m, "/b", name)["name"].lower() != name.lower()
        wrong = error(m, "register", "/b", name, *AS, status=2, env=strict)
        assert "reserved" in wrong["message"], wrong
    for name in ("RedCat", "BlueDog", "YellowForest"):
        assert register(m, "/b", name, env=strict)["name"] == name


def a_name_that_is_not_taken_is_said(m):
    made = register(m, "/b", "Alice")
    name = made["name"]
    assert NAME.fullmatch(name) and made["asked_name"] == "Alice", made
    assert '"Alice" was not taken' in made["name_note"] and name in made["name_note"], made
    assert "adjective and noun" in made["name_note"], made
    # Whoever goes on as Alice is told who it is.
    for call in (("inbox", "/b", "alice"), ("reserve", "/b", "Alice", "a.c"), ("whois", "/b", "Alice")):
        wrong = error(m, *call)
        assert wrong["type"] == "NOT_FOUND" and wrong["data"]["suggestions"] == [name], wrong
        assert "not taken" in wrong["message"] and f"called {name} now" in wrong["message"], wrong
    sending = ("--subject", "s", "--body-md", "b")
    wrong = error(m, "send", "/b", "Alice", "--to", name, *sending)
    assert f"called {name} now" in wrong["message"], wrong
    wrong = error(m, "send", "/b", name, "--to", "Alice", *sending)
    assert wrong["type"] == "RECIPIENT_NOT_FOUND" and wrong["data"]["suggestions"] == [name], wrong
    started = m.json("team", "macro", "start-session", "/b", "--agent-name", "HumanOverseer", *AS)
    assert "reserved" in started["agent"]["name_note"], started
    register(m, "/b", "BlueLake")
    made = m.json("team", "create-identity", "/b", "--name-hint", "BlueLake", *AS)
    assert made["asked_name"] == "BlueLake" and "another agent has it" in made["name_note"], made
    assert m.json("team", "whois", "/b", "BlueLake")["name"] == "BlueLake"
    made = register(m, "/b", "RedFox", env={"AGENT_NAME_ENFORCEMENT_MODE": "always_auto"})
    assert "always given out" in made["name_note"], made
    for made in (register(m, "/b"), register(m, "/b", "GreenCastle")):
        assert "name_note" not in made and "asked_name" not in made, made
    assert "Alice" in m.run("team", "register", "/b", "Alice", *AS).stdout
    # A new database takes that over.
    m.json("team", "rebuild", "--yes")
    assert name in error(m, "whois", "/b", "Alice")["data"]["suggestions"]


def names_are_unique_in_their_project_only(m):
    here, there = register(m, "/a", "GreenCastle"), register(m, "/b", "GREENCASTLE", env={"AGENT_NAME_VALIDATION": "any"})
    assert here["id"] != there["id"] and there["name"] == "GREENCASTLE", there
    assert m.json("team", "whois", "/a", "GreenCastle")["is_active"] is True


def two_hundred_at_once(m):
    m.json("team", "ensure-project", "/b")
    with concurrent.futures.ThreadPoolExecutor(16) as pool:
        names = [a["name"] for a in pool.map(lambda _: register(m, "/b"), range(200))]
    assert len({n.lower() for n in names}) == 200, len(set(names))
    assert len(m.json("team", "agents", "/b")["result"]) == 200


def the_first_use_is_safe_for_many(m):
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        agents = list(pool.map(lambda _: register(m, "/fresh"), range(8)))
    assert len({a["project_id"] for a in agents}) == 1 and len({a["name"] for a in agents}) == 8, agents


def hostile_names_do_no_harm(m):
    strict = {"AGENT_NAME_ENFORCEMENT_MODE": "strict"}
    huge = "x" * 100_000
    for name in (huge, "../../../etc/passwd", "a/b", "..", "\x1b[31m", "'; DROP TABLE agents; --"):
        wrong = error(m, "register", "/b", name, *AS, status=2, env=strict)
        assert wrong["type"] == "INVALID_ARGUMENT" and len(wrong["message"]) < 1000, wrong
        assert NAME.fullmatch(register(m, "/b", name)["name"])
        wrong = error(m, "whois", "/b", name)
        assert wrong["type"] == "NOT_FOUND", wrong
    wrong = error(m, "ensure-project", huge, status=2)
    assert "at most 255" in wrong["message"], wrong
    made = m.json("team", "ensure-project", "/../../../tmp/evil")
    assert "/" not in made["slug"] and not made["slug"].startswith("."), made
    found = {os.path.basename(p) for p, _, _ in os.walk(m.root)}
    assert not any("etc" in p or ".." in p for p in found), found
    assert error(m, "register", "/b", "--program", huge, "--model", "m", status=2)["data"] == {"argument": "program"}


def lists_are_in_order_of_use(m):
    for name in ("GreenCastle", "BlueLake", "RedFox"):
        register(m, "/b", name)
    register(m, "/b", "GreenCastle")
    assert [a["name"] for a in m.json("team", "agents", "/b")["result"]] == ["GreenCastle", "RedFox", "BlueLake"]
    m.json("team", "retire", "/b", "RedFox")
    assert [a["name"] for a in m.json("team", "agents", "/b")["result"]] == ["GreenCastle", "BlueLake"]
    everyone = m.json("team", "agents", "/b", "--include-retired")["result"]
    assert [a["name"] for a in everyone if not a["is_active"]] == ["RedFox"]


def profiles_change(m):
    register(m, "/b", "GreenCastle")
    now = m.json("team", "profile", "/b", "greencastle", "--task-description", "docs", "--contact-policy", "block_all")
    assert now["task_description"] == "docs" and now["contact_policy"] == "block_all" and now["program"] == "codex", now
    assert m.json("team", "whois", "/b", "GreenCastle")["task_description"] == "docs"
    wrong = error(m, "profile", "/b", "greencastle", status=2)
    assert "nothing to change" in wrong["message"], wrong
    wrong = error(m, "profile", "/b", "greencastle", "--contact-policy", "maybe", status=2)
    assert wrong["data"]["argument"] == "contact_policy", wrong


def agents_retire_and_return(m):
    agent = register(m, "/b", "GreenCastle")
    gone = m.json("team", "retire", "/b", "greencastle")
    assert gone["agent_id"] == agent["id"] and gone["purged"] is False and gone["project"] == "/b", gone
    assert log(m, "b")[0] == "agent: retire GreenCastle", log(m, "b")
    seen = m.json("team", "whois", "/b", "greencastle")
    assert seen["is_active"] is False and seen["deleted_ts"] == gone["deleted_ts"], seen
    wrong = error(m, "profile", "/b", "greencastle", "--model", "x")
    assert wrong["type"] == "NOT_FOUND" and wrong["data"] == {"retired": "GreenCastle"}, wrong
    back = register(m, "/b", "greencastle")
    assert back["id"] == agent["id"] and back["is_active"] is True and back["deleted_ts"] is None, back


def purging_asks_first(m):
    agent = register(m, "/b", "GreenCastle")
    wrong = error(m, "retire", "/b", "greencastle", "--purge", stdin="")
    assert wrong["type"] == "PERMISSION_DENIED" and "not confirmed" in wrong["message"], wrong
    assert m.json("team", "whois", "/b", "greencastle")["id"] == agent["id"]
    gone = m.json("team", "retire", "/b", "greencastle", "--purge", "--yes")
    assert gone["purged"] is True and gone["messages_deleted"] == 0, gone
    assert error(m, "whois", "/b", "greencastle")["type"] == "NOT_FOUND"
    with open(f"{m.root}/projects/b/agents/GreenCastle/deleted.json", encoding="utf-8") as file:
        stone = json.load(file)
    assert stone["name"] == "GreenCastle" and stone["deletion_stats"]["messages_deleted"] == 0, stone
    assert "agent: delete GreenCastle" in log(m, "b"), log(m, "b")
    assert register(m, "/b", "GreenCastle")["id"] > agent["id"]


def whois_tells_what_the_agent_did(m):
    for _ in range(3):
        register(m, "/b", "GreenCastle")
        register(m, "/b", "BlueLake")
    seen = m.json("team", "whois", "/b", "GreenCastle", "--commit-limit", "500")
    assert seen["recent_commits"], seen
    assert set(seen) == AGENT | {"recent_commits"}, seen
    for commit in seen["recent_commits"]:
        assert set(commit) == {"hexsha", "summary", "authored_ts"} and len(commit["hexsha"]) == 12, commit
        assert "BlueLake" not in commit["summary"], commit
    assert len(m.json("team", "whois", "/b", "GreenCastle", "--commit-limit", "0")["recent_commits"]) == 1
    seen = m.json("team", "whois", "/b", "GreenCastle", "--include-recent-commits=false")
    assert seen["recent_commits"] == [], seen


def repositories_give_identities(m):
    top = os.path.realpath(m.dir)
    git(m, "init", "-q", "repo")
    git(m, "-C", "repo", "commit", "-q", "--allow-empty", "-m", "x")
    git(m, "-C", "repo", "worktree", "add", "-q", "../tree")
    git(m, "init", "-q", "clone")
    git(m, "-C", "repo", "remote", "add", "origin", "git@example.com:team/backend.git")
    git(m, "-C", "clone", "remote", "add", "origin", "https://example.com/team/backend")
    common = {"PROJECT_IDENTITY_MODE": "git-common-dir"}
    first = ensure(m, top + "/repo", env=common)
    assert re.fullmatch(r"repo-[0-9a-f]{10}", first["slug"]) and first["identity_mode"] == "git-common-dir", first
    assert ensure(m, top + "/tree", env=common) == first
    # From now on that path is known, whatever is configured.
    assert register(m, top + "/tree")["project_id"] == first["id"]
    other = Mailroom(m.program)
    with other:
        mode = ("--identity-mode", "git-remote")
        one = ensure(other, top + "/repo", *mode)
        assert re.fullmatch(r"backend-[0-9a-f]{10}", one["slug"]), one
        assert ensure(other, top + "/clone", *mode) == one
        plain = other.json("team", "ensure-project", top + "/nowhere", *mode)
        assert plain["identity_mode"] == "dir" and plain["slug"].endswith("-nowhere"), plain
        wrong = error(other, "ensure-project", "/x", "--identity-mode", "magic", status=2)
        assert wrong["data"]["argument"] == "identity_mode", wrong


def make_repository(m):
    """A repository with a worktree beside it, a directory in it and a link to it."""
    top = os.path.realpath(m.dir)
    git(m, "init", "-q", "repo")
    git(m, "-C", "repo", "commit", "-q", "--allow-empty", "-m", "x")
    git(m, "-C", "repo", "worktree", "add", "-q", "../tree")
    os.makedirs(top + "/repo/src")
    os.makedirs(top + "/tree/src")
    os.symlink("repo", top + "/link")
    return top


def one_repository_is_one_project(m):
    top = make_repository(m)
    # Whoever comes first: the project is the repository's, not the worktree's.
    first = m.json("team", "ensure-project", top + "/tree")
    assert first["human_key"] == top + "/repo" and first["identity_mode"] == "dir", first
    assert "worktree" in first["why"] and top + "/repo" in first["why"], first
    for path, why in (("/repo", "root of a git repository"), ("/repo/src", "is in the repository"),
            ("/tree/src", "worktree"), ("/link", "leads to the repository"), ("/link/src", "is in the repository")):
        found = m.json("team", "ensure-project", top + path)
        assert found["id"] == first["id"] and why in found["why"], found
    os.makedirs(top + "/plain")
    plain = m.json("team", "ensure-project", top + "/plain")
    assert plain["human_key"] == top + "/plain" and "no git repository" in plain["why"], plain
    # The peers' modes remain.
    for mode in ("dir", "git-toplevel"):
        with Mailroom(m.program) as other:
            env = {"PROJECT_IDENTITY_MODE": mode}
            ids = {other.json("team", "ensure-project", top + path, env=env)["id"] for path in ("/repo", "/tree")}
            assert len(ids) == 2, (mode, ids)


def agents_of_two_worktrees_meet(m):
    top = make_repository(m)
    for where, name, path in (("/repo", "GreenCastle", "src/a.c"), ("/tree", "BlueLake", "src/a.c"),
            ("/tree/src", "RedFox", top + "/tree/src/a.c"), ("/link", "WildOwl", top + "/link/src/a.c")):
        register(m, top + where, name)
        done = m.json("team", "reserve", top + where, name, path)
        assert done["granted"][0]["path_pattern"] == "src/a.c", done
        assert bool(done["conflicts"]) == (name != "GreenCastle"), done
    # A directory that nobody has named yet is the repository's too.
    os.makedirs(top + "/tree/docs")
    assert len(m.json("team", "agents", top + "/tree/docs")["result"]) == 4
    sent = m.json("team", "send", top + "/tree/docs", "BlueLake", "--to", "GreenCastle", "--subject", "s", "--body-md", "b")
    assert sent["deliveries"][0]["project"] == top + "/repo", sent


def older_projects_keep_their_paths(m):
    top = make_repository(m)
    old = m.json("team", "ensure-project", top + "/tree", env={"PROJECT_IDENTITY_MODE": "dir"})
    assert old["human_key"] == top + "/tree", old
    now = m.json("team", "ensure-project", top + "/tree")
    assert now["id"] == old["id"] and "was there already" in now["why"] and top + "/repo" in now["why"], now
    assert register(m, top + "/tree")["project_id"] == old["id"]
    assert m.json("team", "ensure-project", top + "/repo")["id"] != old["id"]


def the_current_directory_is_meant(m):
    top = make_repository(m)
    first = m.json("team", "ensure-project", cwd=top + "/tree/src")
    assert first["human_key"] == top + "/repo", first
    assert m.json("team", "ensure-project", ".", cwd=top + "/repo")["id"] == first["id"]
    register(m, ".", "GreenCastle", cwd=top + "/link")
    assert [a["name"] for a in m.json("team", "agents", cwd=top + "/repo/src")["result"]] == ["GreenCastle"]
    assert m.json("team", "inbox", ".", "GreenCastle", cwd=top + "/repo")["result"] == []
    started = m.json("team", "macro", "start-session", *AS, cwd=top + "/repo")
    assert started["project"]["id"] == first["id"] and started["project"]["why"], started
    assert "current directory" in m.run("team", "agents", "--help").stdout


def short_names_are_printed_where_they_are_clear(m):
    for key in ("/srv/a/backend", "/srv/b/backend", "/srv/shop", "/x/a-b", "/a/b"):
        m.json("team", "ensure-project", key)
    names = [one["short_name"] for one in m.json("team", "projects")["result"]]
    assert names == ["srv-a-backend", "srv-b-backend", "shop", names[3], "b"], names
    lines = m.run("team", "projects").stdout.splitlines()
    assert [line.split()[0] for line in lines[1:]] == names, lines
    for name, key in zip(names, ("/srv/a/backend", "/srv/b/backend", "/srv/shop", "/x/a-b", "/a/b")):
        assert ensure(m, key)["id"] == m.json("team", "register", name, *AS)["project_id"], name


def start(m, *args, **options):
    return m.json("team", "macro", "start-session", *args, *AS, **options)


def the_same_agent_comes_back(m):
    # By what its client calls the session.
    first = start(m, "/b", "--session-id", "one", "--file-reservation-paths", "src/a.c")
    assert "resumed" not in first, first
    again = start(m, "/b", "--session-id", "one", "--file-reservation-paths", "src/a.c")
    assert again["agent"]["id"] == first["agent"]["id"] and "had this session" in again["resumed"], again
    assert again["file_reservations"]["conflicts"] == [], again
    other = start(m, "/b", "--session-id", "two")
    assert other["agent"]["id"] != first["agent"]["id"] and "resumed" not in other, other
    assert start(m, "/c", "--session-id", "one")["agent"]["name"] not in ("", first["agent"]["name"])
    # By AGENT_NAME, where the client's own process says so; by the name that is asked for before all.
    assert start(m, "/b", env={"AGENT_NAME": "GreenCastle"})["agent"]["name"] == "GreenCastle"
    named = start(m, "/b", "--agent-name", "BlueLake", "--session-id", "one")
    assert named["agent"]["name"] == "BlueLake" and "resumed" not in named, named
    # A session id is not kept as it is; a new database has the sessions, and who is purged has none.
    assert database.value(database.team_database(m.root), "SELECT count(*) FROM agent_sessions WHERE session = 'two'") == 0
    m.json("team", "rebuild", "--yes")
    assert start(m, "/b", "--session-id", "two")["agent"]["id"] == other["agent"]["id"]
    m.json("team", "retire", "/b", other["agent"]["name"], "--purge", "--yes")
    assert "resumed" not in start(m, "/b", "--session-id", "two")


def sessions_of_mcp_are_known(m):
    top = make_repository(m)
    here = {"human_key": top + "/tree", "program": "codex", "model": "gpt"}
    with Stdio(m, cwd=top + "/tree") as client:
        first = client.call("macro_start_session", **here, file_reservation_paths=["src/a.c"])
        name = first["agent"]["name"]
        assert client.call("macro_start_session", **here)["agent"]["name"] == name
        # While it works, another client there is somebody else, and is told who holds the file.
        with Stdio(m, cwd=top + "/tree") as second:
            other = second.call("macro_start_session", **here, file_reservation_paths=["src/a.c"])
            assert other["agent"]["name"] != name and "resumed" not in other, other
            assert other["file_reservations"]["conflicts"][0]["holders"][0]["agent"] == name, other
            assert "offered" not in other, other
            second.call("delete_agent", project_key=top + "/repo", name=other["agent"]["name"])
    # When the client has gone, the next one there goes on as the same agent, with its leases.
    with Stdio(m, cwd=top + "/tree/src") as client:
        back = client.call("macro_start_session", **here | {"human_key": top + "/tree/src"}, file_reservation_paths=["src/a.c"])
        assert back["agent"]["name"] == name and "not at work" in back["resumed"], back
        assert back["file_reservations"]["conflicts"] == [], back
    # In another worktree it is another agent.
    with Stdio(m, cwd=top + "/repo") as client:
        assert client.call("macro_start_session", **here | {"human_key": top + "/repo"})["agent"]["name"] != name
    # A successor with a name of its own is offered what was left, and may take it at once.
    with Stdio(m, cwd=top + "/tree") as client:
        heir = client.call("macro_start_session", **here, agent_name="GreenCastle")
        assert [one["agent"] for one in heir["offered"]] == [name, name], heir
        for one in heir["offered"]:
            taken = client.call("force_release_file_reservation", project_key=top + "/repo", agent_name="GreenCastle",
                file_reservation_id=one["id"])
            assert taken["released"] == 1 and "session_ended" in taken["reservation"]["stale_reasons"], taken
        assert "offered" not in client.call("macro_start_session", **here, agent_name="GreenCastle")


def sessions_over_http_are_known(m):
    def started(client):
        status, _, answer = client.post(call("macro_start_session", human_key="/b", program="codex", model="gpt"))
        assert status == 200, answer
        result = answer["result"]["structuredContent"]
        return result["agent"]["name"], result.get("resumed", "")

    # The server's own AGENT_NAME is nobody's who asks it.
    with m.serve(env={"AGENT_NAME": "GreenCastle"}) as server:
        first, second, third = Client(server), Client(server), Client(server)
        for client in (first, second, third):
            client.open()
        name, resumed = started(first)
        assert name != "GreenCastle" and not resumed, (name, resumed)
        assert started(first)[0] == name and "had this session" in started(first)[1]
        assert started(second)[0] != name
        assert first.ask("DELETE")[0] == 200
        back, resumed = started(third)
        assert back == name and "not at work any more" in resumed, (back, resumed)


def health_is_probed(m):
    seen = m.json("team", "health")
    assert seen["status"] == "ok" and seen["problems"] == [], seen
    assert seen["database_url"] == f"sqlite:///{m.root}/storage.sqlite3" and seen["uptime_seconds"] == 0, seen
    assert {"environment", "http_host", "http_port", "version"} <= set(seen), seen
    seen = m.json("team", "health", env={"APP_ENVIRONMENT": "production"})
    assert seen["environment"] == "production", seen
    done = m.run("--json", "team", "health", env={"DATABASE_URL": "postgresql://me:hunter2@db/mail?password=hunter3"})
    assert "hunter" not in done.stdout + done.stderr, describe(done)
    assert json.loads(done.stdout)["status"] == "error" and done.returncode == 1, describe(done)
    os.rename(m.root + "/projects", m.root + "/gone")
    with open(m.root + "/projects", "w", encoding="utf-8"):
        pass
    done = m.run("--json", "team", "health")
    assert json.loads(done.stdout)["status"] != "ok", describe(done)
    os.unlink(m.root + "/projects")
    os.rename(m.root + "/gone", m.root + "/projects")
    for name in ("storage.sqlite3-wal", "storage.sqlite3-shm"):
        if os.path.exists(f"{m.root}/{name}"):
            os.unlink(f"{m.root}/{name}")
    with open(m.root + "/storage.sqlite3", "r+b") as file:
        file.write(b"this is no database at all, not even nearly")
    seen = m.json("team", "health", status=1)
    assert seen["status"] == "error" and "mailroom team rebuild" in seen["problems"][0], seen


def activity_is_noted_after_the_answer(m):
    register(m, "/b", "GreenCastle")
    path = database.team_database(m.root)
    database.rows(path, "UPDATE agents SET last_active_ts = 1")
    # Asking about somebody is not being somebody.
    m.json("team", "whois", "/b", "GreenCastle")
    assert database.value(path, "SELECT last_active_ts FROM agents") == 1


def people_get_text(m):
    done = m.run("team", "projects")
    assert done.stdout == "No projects; `mailroom team ensure-project PATH` makes one.\n", describe(done)
    m.json("team", "ensure-project", "/b")
    assert "No agents" in m.run("team", "agents", "/b").stdout
    done = m.run("team", "register", "/b", "GreenCastle", "--task-description", "a\x1b[31m\nb", *AS)
    assert done.stdout.startswith("GreenCastle\n") and "\x1b" not in done.stdout, describe(done)
    done = m.run("team", "agents", "/b")
    lines = done.stdout.splitlines()
    assert len(lines) == 2 and lines[0].split() == ["name", "runs", "on", "works", "on", "active"], describe(done)
    assert lines[1].startswith("GreenCastle  codex, gpt-5  ") and "\x1b" not in done.stdout, describe(done)
    done = m.run("team", "whois", "/b", "GreenCastle")
    assert "agent: profile GreenCastle" in done.stdout, describe(done)
    done = m.run("team", "retire", "/b", "greencastle")
    assert done.stdout == "GreenCastle is retired, and had no leases.\n", describe(done)
    assert re.search(r"^GreenCastle .* retired$", m.run("team", "agents", "/b", "--include-retired").stdout, re.M)
    done = m.run("team", "retire", "/b", "greencastle", "--purge", "--yes")
    assert done.stdout == "GreenCastle is deleted, with no messages it sent and no leases.\n", describe(done)
    done = m.run("team", "health")
    assert done.returncode == 0 and re.search(r"^status +ok$", done.stdout, re.M), describe(done)


def aliases_are_accepted(m):
    agent = m.json("team", "register", "--project-slug", "/b", "--agent-name", "GreenCastle", *AS)
    assert agent["name"] == "GreenCastle", agent
    assert m.json("team", "whois", "--project-slug", "/b", "--agent", "greencastle")["id"] == agent["id"]
    assert m.json("team", "create-identity", "/b", "--hint", "WildOwl", *AS)["name"] == "WildOwl"
    assert m.json("team", "ensure-project", "--project-key", "/b")["id"] == agent["project_id"]


TESTS = [
    projects_are_made_once,
    slugs_and_their_collisions,
    the_seeds_short_name_resolves,
    unknown_projects_are_made_by_registering_only,
    errors_say_what_to_do,
    agents_have_the_contracts_shape,
    enforcement_is_configured,
    a_name_that_is_not_taken_is_said,
    names_are_unique_in_their_project_only,
    two_hundred_at_once,
    the_first_use_is_safe_for_many,
    hostile_names_do_no_harm,
    lists_are_in_order_of_use,
    profiles_change,
    agents_retire_and_return,
    purging_asks_first,
    whois_tells_what_the_agent_did,
    repositories_give_identities,
    one_repository_is_one_project,
    agents_of_two_worktrees_meet,
    older_projects_keep_their_paths,
    the_current_directory_is_meant,
    short_names_are_printed_where_they_are_clear,
    the_same_agent_comes_back,
    sessions_of_mcp_are_known,
    sessions_over_http_are_known,
    health_is_probed,
    activity_is_noted_after_the_answer,
    people_get_text,
    aliases_are_accepted,
]


def main():
    with Tap() as tap:
        for test in TESTS:
            with Mailroom(sys.argv[1]) as m:
                tap.run(test.__name__.replace("_", " "), test, m)


main()
