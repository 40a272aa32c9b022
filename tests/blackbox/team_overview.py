"""usage: team_overview.py PROGRAM - what a person at a shell sees of a project."""

import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from mailroom import Mailroom  # noqa: E402
from tap import Tap  # noqa: E402

LONG = "A question whose subject is longer than any terminal that is eighty columns wide can show"


def scene(m):
    """Two agents in the repository that is the current directory, their mail and a lease."""
    m.json("team", "register", m.dir, "GreenCastle", "--program", "codex", "--model", "x", "--task-description", "auth")
    m.json("team", "register", m.dir, "BlueLake", "--program", "claude-code", "--model", "y")
    m.json("team", "send", m.dir, "GreenCastle", "--to", "BlueLake", "--subject", "Auth", "--body-md", "b", "--ack-required",
        "--thread-id", "TKT-1")
    m.json("team", "send", m.dir, "BlueLake", "--to", "GreenCastle", "--subject", LONG, "--body-md", "b")
    m.json("team", "reserve", m.dir, "GreenCastle", "src/**", "--reason", "auth")


def nobody_is_named(m):
    scene(m)
    view = m.json("team")
    assert view["project"]["human_key"] == m.dir, view
    assert {a["name"]: a["unread"] for a in view["agents"]} == {"GreenCastle": 1, "BlueLake": 1}, view
    assert [t["thread_id"] for t in view["conversations"]] == ["2", "TKT-1"], view
    assert [(r["agent"], r["path_pattern"]) for r in view["leases"]] == [("GreenCastle", "src/**")], view
    assert [(w["agent"], w["from"], w["id"]) for w in view["waiting"]] == [("BlueLake", "GreenCastle", 1)], view
    m.json("team", "ack", m.dir, "BlueLake", "1")
    m.json("team", "release", m.dir, "GreenCastle")
    view = m.json("team", "--project-key", m.dir, cwd="/")
    assert view["waiting"] == [] and view["leases"] == [], view


def it_fits_a_terminal(m):
    scene(m)
    told = m.run("team").stdout
    for words in (m.dir, "Agents", "Newest conversations", "Leases", "Acknowledgements that are waited for", LONG):
        assert words in told, told
    shown = m.in_a_terminal("team", env={"NO_COLOR": "1"}, columns=80)
    assert all(len(line) <= 80 for line in shown.splitlines()), shown
    assert "just now" in shown and "UTC" not in shown, shown


def times_can_be_asked_for_as_dates(m):
    scene(m)
    relative = re.compile(r"just now|in \d+ (min|h)")
    wanted = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d UTC")
    for words in (["team"], ["team", "agents", m.dir], ["team", "inbox", m.dir, "BlueLake"], ["team", "reservations", m.dir]):
        shown = m.in_a_terminal(*words, env={"NO_COLOR": "1"}, columns=120)
        assert relative.search(shown) and not wanted.search(shown), (words, shown)
        for line in ([*words, "--absolute"], ["--absolute", *words]):
            shown = m.in_a_terminal(*line, env={"NO_COLOR": "1"}, columns=120)
            assert wanted.search(shown) and not relative.search(shown), (line, shown)
    for words in (["team"], ["mail"], ["mailbox"], ["work"]):
        assert "--absolute" in m.run(*words, "--help").stdout, words


def help_still_lists_the_commands(m):
    told = m.run("team", "--help").stdout
    assert "What goes on in a project" in told and "inbox" in told and "reserve" in told, told
    done = m.run("team", "bogus")
    assert done.returncode == 2 and "there is no command 'bogus'" in done.stderr, done


def a_place_without_a_project_is_told(m):
    done = m.run("team")
    assert done.returncode == 1, done
    assert "there is no project" in done.stderr and "mailroom team projects" in done.stderr, done


def messages_without_a_thread_count(m):
    scene(m)
    threads = m.json("team", "threads", m.dir)["result"]
    assert [(t["thread_id"], t["messages"], t["subject"]) for t in threads] == [("2", 1, LONG), ("TKT-1", 1, "Auth")], threads
    # Answered, it is one conversation of two.
    m.json("team", "reply", m.dir, "GreenCastle", "2", "--body-md", "b")
    threads = m.json("team", "threads", m.dir)["result"]
    assert [(t["thread_id"], t["messages"]) for t in threads] == [("2", 2), ("TKT-1", 1)], threads
    # A list that stops says how to go on.
    page = m.json("team", "threads", m.dir, "--limit", "1")
    assert page["next_cursor"] == 3, page
    rest = m.json("team", "threads", m.dir, "--limit", "1", "--cursor", "3")
    assert [t["thread_id"] for t in rest["result"]] == ["TKT-1"] and "next_cursor" not in rest, rest
    assert m.run("team", "threads", m.dir, "--limit", "1").stdout.endswith("There is more: --cursor 3\n")


def lists_that_stop_say_how_to_go_on(m):
    for i, name in enumerate(("GreenCastle", "BlueLake", "RedCat")):
        m.json("team", "register", m.dir, name, "--program", "codex", "--model", "x")
        m.json("team", "ensure-project", f"/p{i}")
        m.json("team", "product", "ensure", f"product{i}")
        m.json("team", "group", "set", m.dir, "GreenCastle", f"group{i}", "GreenCastle")
        m.json("team", "reserve", m.dir, "GreenCastle", f"f{i}")
        m.json("team", "send", m.dir, "GreenCastle", "--to", "BlueLake", "--subject", f"Auth {i}", "--body-md", "b")
        if i:
            m.json("team", "contact", "request", m.dir, "GreenCastle", name)
    lists = {"agents": [m.dir], "projects": [], "reservations": [m.dir], "search": [m.dir, "Auth"], "product list": [],
        "group list": [m.dir],
        "contact list": [m.dir, "GreenCastle"], "threads": [m.dir]}
    for command, words in lists.items():
        words = ["team", *command.split(), *words]
        [key] = [k for k, v in m.json(*words).items() if isinstance(v, list)]
        whole = m.json(*words)
        assert len(whole[key]) > 1 and "next_cursor" not in whole, (command, whole)
        assert "There is more" not in m.run(*words).stdout, command
        seen, cursor = [], []
        while True:
            page = m.json(*words, "--limit", "1", *cursor)
            told = m.run(*words, "--limit", "1", *cursor).stdout
            # Scores depend on what else is found, and leases come from the newest page on.
            seen.append({k: v for k, v in page[key][0].items() if k != "score"})
            if "next_cursor" not in page:
                assert "There is more" not in told, (command, told)
                break
            cursor = ["--cursor", str(page["next_cursor"])]
            assert told.endswith("There is more: " + " ".join(cursor) + "\n"), (command, told)
        order = reversed(whole[key]) if command == "reservations" else whole[key]
        assert [one.get("id", one.get("thread_id")) for one in seen] == [one.get("id", one.get("thread_id")) for one in order], (
            command, seen)


TESTS = [
    lists_that_stop_say_how_to_go_on,
    nobody_is_named,
    it_fits_a_terminal,
    times_can_be_asked_for_as_dates,
    help_still_lists_the_commands,
    a_place_without_a_project_is_told,
    messages_without_a_thread_count,
]


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    with Tap() as tap:
        for case in TESTS:
            with Mailroom(sys.argv[1]) as m:
                tap.run(case.__name__.replace("_", " "), case, m)


main()
