"""usage: team_contact.py PROGRAM SOURCE - who may write to whom, products, build slots, macros."""

import json
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import database  # noqa: E402
from mailroom import Mailroom, describe  # noqa: E402
from promise import Promises  # noqa: E402
from tap import Tap  # noqa: E402


class Team:
    """GreenCastle and RedFox in /path/to/backend, BlueLake (another program) in /path/to/frontend."""

    def __init__(self, m, **env):
        self.m = m
        self.env = env
        self.promises = Promises(m)
        self.call("ensure-project", "/path/to/backend")
        self.call("ensure-project", "/path/to/frontend")
        for project, name, program in (("backend", "GreenCastle", "codex"), ("backend", "RedFox", "codex"),
                ("frontend", "BlueLake", "claude-code")):
            self.call("register", project, name, "--program", program, "--model", "m")

    def call(self, *args, **options):
        result = self.m.json("team", *args, env=self.env, **options)
        self.promises.check(["team", *args], result)
        return result

    def fail(self, *args):
        """The error of a call that must fail."""
        done = self.m.run("--json", "team", *args, env=self.env)
        assert done.returncode not in (0, 101), describe(done)
        error = json.loads(done.stdout)["error"]
        assert set(error) == {"type", "message", "recoverable", "data"}, error
        return error

    def policy(self, project, name, policy):
        agent = self.call("contact", "policy", project, name, policy)
        assert agent["contact_policy"] == policy, agent

    def ask(self, *more):
        return self.call("contact", "request", "frontend", "BlueLake", "GreenCastle", "--to-project", "backend", *more)

    def respond(self, *more):
        return self.call("contact", "respond", "backend", "GreenCastle", "BlueLake", "--from-project", "frontend", *more)

    def send(self, project, sender, to, *more):
        return self.call("send", project, sender, "--to", to, "--subject", "s", "--body-md", "b", *more)

    def refused(self, project, sender, to, *more):
        return self.fail("send", project, sender, "--to", to, "--subject", "s", "--body-md", "b", *more)

    def subjects(self, project, name):
        return [item["subject"] for item in self.call("inbox", project, name)["result"]]


def the_workflow_of_the_seed(m):
    """Mail before any handshake; then a request, an answer, and both know."""
    team = Team(m)
    team.send("backend", "GreenCastle", "BlueLake")
    assert team.subjects("frontend", "BlueLake") == ["s"]
    link = team.ask("--reason", "API questions")
    assert link["status"] == "approved" and link["notified"] is True, link
    assert link["from"] == {"project": "path-to-frontend", "agent": "BlueLake"}, link
    assert link["to"] == {"project": "path-to-backend", "agent": "GreenCastle"}, link
    assert link["reason"] == "API questions", link
    answer = team.respond("--status", "approved")
    assert answer["id"] == link["id"] and answer["status"] == "approved" and answer["updated"] == 1, answer
    assert team.subjects("backend", "GreenCastle") == ["Contact request from BlueLake (path-to-frontend)"]
    assert team.subjects("frontend", "BlueLake")[0] == "Contact approved by GreenCastle (path-to-backend)"


def only_contacts(m):
    team = Team(m)
    team.policy("backend", "GreenCastle", "contacts_only")
    error = team.refused("frontend", "BlueLake", "GreenCastle")
    assert error["type"] == "CONTACT_REQUIRED" and error["recoverable"] is True, error
    assert error["data"]["recipient"].startswith("GreenCastle"), error
    assert error["data"]["policy"] == "contacts_only", error
    assert error["data"]["suggested_tool_calls"][0]["tool"] == "request_contact", error
    team.send("backend", "RedFox", "GreenCastle")

    link = team.ask()
    assert link["status"] == "pending" and link["notified"] is True, link
    assert team.ask()["notified"] is False
    assert team.refused("frontend", "BlueLake", "GreenCastle")["type"] == "CONTACT_REQUIRED"
    assert team.respond("--accept")["status"] == "approved"
    team.send("frontend", "BlueLake", "GreenCastle")

    answer = team.respond("--no-accept")
    assert answer["status"] == "blocked" and answer["expires_ts"] is None, answer
    assert team.respond("--status", "rejected")["updated"] == 0
    team.policy("backend", "GreenCastle", "open")
    error = team.refused("frontend", "BlueLake", "GreenCastle")
    assert error["type"] == "CONTACT_BLOCKED" and error["recoverable"] is False, error
    error = team.fail("contact", "request", "frontend", "BlueLake", "GreenCastle@backend")
    assert error["type"] == "CONTACT_BLOCKED" and error["data"]["reason"] == "blocked_link", error
    assert team.call("contact", "list", "backend", "GreenCastle", "--status", "blocked")["contacts"][0]["id"] == link["id"]
    assert team.call("contact", "list", "backend", "RedFox") == {"agent": "RedFox", "contacts": []}


def nobody_at_all(m):
    """block_all: unsolicited mail is refused, an answer to one's own message is not."""
    team = Team(m)
    team.policy("backend", "GreenCastle", "block_all")
    assert team.refused("frontend", "BlueLake", "GreenCastle")["type"] == "CONTACT_BLOCKED"
    assert team.refused("backend", "RedFox", "GreenCastle")["type"] == "CONTACT_BLOCKED"
    link = team.ask()
    assert link["status"] == "blocked" and link["notified"] is False, link
    assert team.fail("contact", "request", "frontend", "BlueLake", "GreenCastle")["type"] == "CONTACT_BLOCKED"
    sent = team.send("backend", "GreenCastle", "BlueLake")
    original = sent["deliveries"][0]["payload"]["id"]
    team.call("reply", "frontend", "BlueLake", str(original), "--body-md", "yes")
    assert team.subjects("backend", "GreenCastle") == ["Re: s"]


def approvals_expire(m):
    team = Team(m)
    team.policy("backend", "GreenCastle", "contacts_only")
    team.ask()
    assert team.respond("--accept")["expires_ts"] > team.respond("--accept", "--ttl-seconds", "60")["expires_ts"]
    team.send("frontend", "BlueLake", "GreenCastle")
    with database.opened(database.team_database(m.root)) as db:
        db.execute("UPDATE agent_links SET expires_ts = expires_ts - 61000000")
        db.execute("UPDATE messages SET created_ts = created_ts - 86401000000")
    assert team.refused("frontend", "BlueLake", "GreenCastle")["type"] == "CONTACT_REQUIRED"


def a_request_with_the_message(m):
    """auto_contact_if_blocked makes a pending link and one request, however often it is tried."""
    team = Team(m)
    team.policy("backend", "GreenCastle", "contacts_only")
    for _ in range(2):
        team.refused("frontend", "BlueLake", "GreenCastle", "--auto-contact-if-blocked")
    assert team.subjects("backend", "GreenCastle") == ["Contact request from BlueLake (path-to-frontend)"]
    contacts = team.call("contact", "list", "frontend", "BlueLake")["contacts"]
    assert [c["status"] for c in contacts] == ["pending"], contacts
    assert contacts[0]["reason"] == "s", contacts


def many_ask_at_once(m):
    """One link and one message, however many processes ask at the same moment."""
    team = Team(m)
    team.policy("backend", "GreenCastle", "contacts_only")
    command = [m.program, "--json", "team", "contact", "request"]
    ways = [["frontend", "BlueLake", "GreenCastle"], ["backend", "GreenCastle", "BlueLake"]]
    team.policy("frontend", "BlueLake", "contacts_only")
    askers = [subprocess.Popen([*command, *ways[n % 2]], cwd=m.dir, env=m.env(), stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, text=True) for n in range(8)]
    links = [json.loads(asker.communicate(timeout=60)[0]) for asker in askers]
    assert len({link["id"] for link in links}) == 1, links
    assert sum(link["notified"] for link in links) == 1, links
    assert len(team.subjects("backend", "GreenCastle") + team.subjects("frontend", "BlueLake")) == 1


def nothing_enforced(m):
    team = Team(m, CONTACT_ENFORCEMENT_ENABLED="false")
    team.policy("backend", "GreenCastle", "block_all")
    team.send("frontend", "BlueLake", "GreenCastle")
    assert team.subjects("backend", "GreenCastle") == ["s"]


def answers_that_make_no_sense(m):
    team = Team(m)
    names = ("contact", "respond", "backend", "GreenCastle", "BlueLake")
    for args, argument, text in (
            (names, "status", "an answer is needed"),
            ((*names, "--status", "pending"), "status", "is no answer"),
            ((*names, "--status", "approved", "--no-accept"), "status", "disagree"),
            (("contact", "respond", "--accept"), "project_key", "missing"),
            (("contact", "request", "backend", "GreenCastle", "greencastle"), "to_agent", "itself"),
            (("contact", "policy", "backend", "GreenCastle", "sometimes"), "policy", "no contact policy"),
            (("contact", "list", "backend", "GreenCastle", "--status", "x"), "status", "no status"),
            (("contact", "request", "backend", "GreenCastle", "BlueLake", "--ttl-seconds", "0"), "ttl_seconds", "between")):
        error = team.fail(*args)
        assert error["type"] == "INVALID_ARGUMENT", error
        assert error["data"]["argument"] == argument and text in error["message"], error
    assert team.fail("contact", "respond", "--link-id", "7", "--accept")["type"] == "NOT_FOUND"
    error = team.fail("contact", "request", "backend", "GreenCastle", "BlueLaek")
    assert error["type"] == "NOT_FOUND", error


def products(m):
    team = Team(m)
    assert team.call("product", "ensure", "shop", "Web Shop")["projects"] == []
    team.call("product", "link", "shop", "backend")
    product = team.call("product", "link", "web shop", "frontend", "--role", "secondary")
    assert [p["slug"] for p in product["projects"]] == ["path-to-backend", "path-to-frontend"], product
    assert team.call("product", "list")["result"] == [product]
    # Two projects of one product have to do with each other: auto lets the mail through.
    team.policy("backend", "GreenCastle", "auto")
    team.send("frontend", "BlueLake", "GreenCastle")
    team.send("backend", "GreenCastle", "RedFox")
    inbox = team.call("product", "inbox", "shop", "--limit", "5")["result"]
    assert [item["from"] for item in inbox] == ["GreenCastle", "BlueLake"], inbox
    assert len(team.call("product", "search", "shop", "s")["result"]) == 2
    for project, sender, to in (("backend", "GreenCastle", "RedFox"), ("frontend", "BlueLake", "BlueLake")):
        team.send(project, sender, to, "--thread-id", "T-1")
    summary = team.call("product", "summarize", "shop", "T-1", "--include-examples")
    assert summary["summary"]["participants"] == ["BlueLake", "GreenCastle"], summary
    assert summary["summary"]["total_messages"] == 2 and len(summary["examples"]) == 2, summary
    both = team.call("product", "summarize", "shop", "T-1", "T-2")
    assert [t["summary"]["total_messages"] for t in both["threads"]] == [2, 0], both
    team.call("product", "unlink", "shop", "frontend")
    # What is written there, and what came from elsewhere to somebody there.
    hits = team.call("product", "search", "shop", "s")["result"]
    assert sorted(hit["id"] for hit in hits) == [1, 2, 3], hits
    assert [item["id"] for item in team.call("product", "inbox", "shop")["result"]] == [3, 2, 1]
    assert team.refused("frontend", "BlueLake", "GreenCastle")["type"] == "CONTACT_REQUIRED"
    error = team.fail("product", "inbox", "shpo")
    assert error["type"] == "NOT_FOUND" and error["data"]["suggestions"] == ["shop"], error


def slots(m):
    """Of five processes that want it at once one gets it. Who waits gets it when it is given back."""
    team = Team(m)
    for name in ("GoldOwl", "JadeOtter", "RubyHawk"):
        team.call("register", "backend", name, "--program", "p", "--model", "m")
    names = ["GreenCastle", "RedFox", "GoldOwl", "JadeOtter", "RubyHawk"]
    command = [m.program, "--json", "team", "slot", "acquire", "backend"]
    racers = [subprocess.Popen([*command, names[n % len(names)], f"build-{n // len(names)}"], cwd=m.dir,
        env=m.env(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for n in range(20)]
    results = {}
    for n, racer in enumerate(racers):
        answer = json.loads(racer.communicate(timeout=60)[0])
        results.setdefault(n // len(names), []).append(answer)
    for answers in results.values():
        held = [a for a in answers if "error" not in a]
        lost = [a["error"] for a in answers if "error" in a]
        assert len(held) == 1, answers
        assert all(e["type"] == "FILE_RESERVATION_CONFLICT" and e["data"]["holder"] == held[0]["agent"] for e in lost), lost

    slot = next(a for a in results[0] if "error" not in a)
    other = next(name for name in names if name != slot["agent"])
    waiter = subprocess.Popen([*command, other, "build-0", "--wait-seconds", "50"], cwd=m.dir, env=m.env(),
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert team.fail("slot", "release", "backend", other, str(slot["id"]))["type"] == "PERMISSION_DENIED"
    assert team.call("slot", "renew", "backend", slot["agent"], str(slot["id"]))["expires_ts"] > slot["expires_ts"]
    assert waiter.poll() is None
    assert team.call("slot", "release", "backend", slot["agent"], str(slot["id"]))["released_ts"]
    got = json.loads(waiter.communicate(timeout=60)[0])
    assert got["agent"] == other and got["id"] != slot["id"], got
    assert team.fail("slot", "acquire", "backend", slot["agent"], "build-0", "--wait-seconds", "1")["data"]["holder"] == other


def sessions(m):
    """Macros do in one call what several would."""
    team = Team(m)
    team.send("frontend", "BlueLake", "GreenCastle", "--thread-id", "T-1")
    start = ("macro", "start-session", "/path/to/backend", "--program", "codex", "--model", "m", "--agent-name", "GreenCastle")
    started = team.call(*start, "--file-reservation-paths", "src/**")
    assert started["project"]["slug"] == "path-to-backend" and started["agent"]["name"] == "GreenCastle", started
    assert started["file_reservations"]["granted"][0]["reason"] == "macro-session", started
    assert [item["subject"] for item in started["inbox"]] == ["s"], started
    assert team.call(*start)["file_reservations"] == {"granted": [], "conflicts": []}
    made = team.call("macro", "start-session", "/path/to/new", "--program", "p", "--model", "m")
    assert made["agent"]["name"] and made["inbox"] == [], made

    prepare = ("macro", "prepare-thread", "backend", "T-1", "--program", "codex", "--model", "m")
    ready = team.call(*prepare, "--agent-name", "GreenCastle", "--include-inbox-bodies")
    assert ready["thread"]["total_messages"] == 1 and len(ready["thread"]["examples"]) == 1, ready
    assert ready["inbox"][0]["body_md"] == "b", ready
    error = team.fail(*prepare, "--no-register-if-missing")
    assert error["type"] == "INVALID_ARGUMENT" and error["data"]["argument"] == "agent_name", error
    assert team.fail("macro", "prepare-thread", "nowhere", "T-1", "--program", "p", "--model", "m")["type"] == "NOT_FOUND"

    cycle = team.call("macro", "reservation-cycle", "backend", "RedFox", "src/a.c", "--auto-release")
    assert cycle["file_reservations"]["conflicts"][0]["holders"][0]["agent"] == "GreenCastle", cycle
    assert cycle["released"]["released"] == 1, cycle
    assert team.call("macro", "reservation-cycle", "backend", "RedFox", "docs/**")["released"] is None


def handshakes(m):
    """Nobody is made to answer yes against its policy."""
    team = Team(m)
    shake = ("macro", "contact-handshake", "frontend", "BlueLake", "GreenCastle", "--to-project", "backend", "--auto-accept",
        "--welcome-subject", "Hello", "--welcome-body", "I am new")
    team.policy("backend", "GreenCastle", "contacts_only")
    shaken = team.call(*shake)
    assert shaken["request"]["status"] == "pending" and shaken["request"]["notified"] is True, shaken
    assert shaken["response"] is None and shaken["welcome_message"] is None, shaken
    team.policy("backend", "GreenCastle", "open")
    shaken = team.call(*shake)
    assert shaken["request"]["to"]["project"] == "path-to-backend", shaken
    assert shaken["response"]["status"] == "approved", shaken
    assert shaken["welcome_message"]["deliveries"][0]["payload"]["subject"] == "Hello", shaken
    assert team.subjects("backend", "GreenCastle")[0] == "Hello"


TESTS = [the_workflow_of_the_seed, only_contacts, nobody_at_all, approvals_expire, a_request_with_the_message,
    many_ask_at_once, nothing_enforced, answers_that_make_no_sense, products, slots,
    sessions, handshakes]


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    with Tap() as tap:
        for test in TESTS:
            with Mailroom(sys.argv[1]) as m:
                tap.run(test.__name__.replace("_", " "), lambda: test(m))


main()
