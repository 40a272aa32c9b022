"""usage: parity.py PROGRAM - every operation gives the same result on the command line, over HTTP and over MCP.

The same calls are made in the same order on three fresh installations, each on another surface, and every result and
every error is compared. What must differ (times, random ids, where the installation is) is replaced by its kind first.
"""

import json
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from mailroom import Mailroom  # noqa: E402
from mcp import EVERYTHING, Stdio  # noqa: E402
from tap import Tap  # noqa: E402
from tool_calls import B, CALLS, ME, given, repository  # noqa: E402
from work_calls import WORK_CALLS, furnish, work_given  # noqa: E402
from workspace import Workspace  # noqa: E402

# Members that say how long something has lasted, or how far the archive is, which follows on its own.
MOVING = {"uptime_seconds", "age_seconds", "archive_pending", "recent_commits"}
PATTERNS = [
    (re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(\+00:00|Z)"), "<time>"),
    # The command line runs as its user and may look at every directory; callers of a server may not.
    (re.compile(r"^(path_pattern_unmatched|file_activity_not_shown)$"), "<files>"),
    (re.compile(r"\bmsg_\d{8}_[0-9a-f]+\b"), "<uid>"),
]

# Failures of the caller, of the state, of a name, of a right.
WRONG = [
    ("fetch_inbox", ME | {"limit": "many"}),
    ("fetch_inbox", {"project_key": "/srv/nowhere", "agent_name": "RedCat"}),
    ("whois", {"project_key": B, "agent_name": "Nobody"}),
    ("send_message", {"project_key": B, "sender_name": "RedCat", "to": ["nobody"], "subject": "s", "body_md": "b"}),
    ("send_message", {"project_key": B, "sender_name": "RedCat", "subject": "s", "body_md": "b"}),
    ("send_message", {"project_key": B, "sender_name": "RedCat", "to": ["RedCat"], "subject": "s", "body_md": "b",
        "importance": "huge"}),
    ("reply_message", {"project_key": B, "message_id": 999, "sender_name": "RedCat", "body_md": "b"}),
    ("acknowledge_message", ME | {"message_id": 999}),
    ("file_reservation_paths", ME | {"paths": ["a"], "ttl_seconds": 0}),
    ("renew_build_slot", ME | {"slot_id": 999}),
    ("search_messages", {"project_key": B, "query": ""}),
    ("set_contact_policy", ME | {"policy": "friends"}),
]


def plain(value, room):
    """Without what differs between two installations."""
    if isinstance(value, dict):
        return {key: f"<{key}>" if key in MOVING else plain(item, room) for key, item in value.items()}
    if isinstance(value, list):
        return [plain(item, room) for item in value]
    if isinstance(value, float):
        return round(value, 1)  # the rank of a search result falls with its age
    if isinstance(value, str):
        value = value.replace(room, "<room>")
        for pattern, kind in PATTERNS:
            value = pattern.sub(kind, value)
    return value


class Surface:
    """One installation, and one way to ask it. ask() gives (True, result) or (False, error), as the contract has them."""

    def __init__(self, program):
        self.mailroom = Mailroom(program)

    def env(self):
        return {"PROJECT_ROOTS": repository(self.mailroom)}

    def told(self, tool, arguments):
        good, value = self.ask(tool, given(self.mailroom, arguments))
        return good, plain(value, self.mailroom.dir)

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.mailroom.room.cleanup()


class CommandLine(Surface):
    name = "the command line"

    def __init__(self, program):
        super().__init__(program)
        listed = self.mailroom.json("operations")["operations"]
        self.commands = {op["name"]: op["command"].split() for op in listed if op["command"]}

    def words(self, arguments):
        for name, value in arguments.items():
            for item in value if isinstance(value, list) else [value]:
                text = item if isinstance(item, str) else json.dumps(item)
                yield f"--{name.replace('_', '-')}={text}"

    def ask(self, tool, arguments):
        done = self.mailroom.run("--json", "--yes", *self.commands[tool], *self.words(arguments), env=self.env())
        value = json.loads(done.stdout or done.stderr)
        return done.returncode == 0, value if done.returncode == 0 else value["error"]


class Http(Surface):
    name = "HTTP"

    def __init__(self, program):
        super().__init__(program)
        self.server = self.mailroom.serve(env=self.env())

    def ask(self, tool, arguments):
        status, _, text = self.server.request("POST", f"/api/tools/{tool}", {"Content-Type": "application/json"},
            json.dumps(arguments))
        value = json.loads(text)
        return status == 200, value if status == 200 else value["error"]

    def __exit__(self, *error):
        self.server.__exit__(*error)
        super().__exit__(*error)


class Mcp(Surface):
    name = "MCP"

    def __init__(self, program):
        super().__init__(program)
        self.client = Stdio(self.mailroom, env=self.env())

    def ask(self, tool, arguments):
        result = self.client.ask("tools/call", {"name": tool, "arguments": arguments})
        value = result["structuredContent"]
        return not result.get("isError"), value if not result.get("isError") else value["error"]

    def tools(self):
        return set(self.client.tools())

    def __exit__(self, *error):
        self.client.__exit__(*error)
        super().__exit__(*error)


def compare(surfaces, tool, arguments, good):
    # All are asked before any is compared: one that differs must not put them out of step.
    told = {surface.name: surface.told(tool, arguments) for surface in surfaces}
    for name, (is_good, value) in told.items():
        assert is_good == good, f"{name}: {value}"
    first = told.popitem()
    for name, value in told.items():
        assert value == first[1], f"{name}: {value}; {first[0]}: {first[1]}"


def every_tool_is_called(mcp):
    missing = mcp.tools() - {tool for tool, *_ in CALLS}
    assert not missing, f"no call of {sorted(missing)} in tool_calls.py"


def the_health_routes(cli, http):
    listed = cli.mailroom.json("operations")["operations"]
    routes = {op["name"]: op["route"].split() for op in listed if op["route"] and op["command"]}
    assert routes, listed
    for name, (method, path) in routes.items():
        status, _, text = http.server.request(method, path)
        assert status == 200, (path, status, text)
        done = cli.mailroom.run("--json", *cli.commands[name])
        assert done.returncode == 0, done
        assert json.loads(text).keys() == json.loads(done.stdout).keys(), (name, text, done.stdout)


def unfenced(value, fence):
    """A tool's result without what is there for models alone."""
    if isinstance(value, dict):
        return {key: unfenced(item, fence) for key, item in value.items() if key not in ("written_by", "untrusted", "offsets")}
    if isinstance(value, list):
        return [unfenced(item, fence) for item in value]
    if isinstance(value, str) and value.startswith(f"<<{fence} "):
        head = "\n" if "\n" in value else " "
        assert value.endswith(f"{head}{fence}>>"), value
        return value.split(head, 1)[1][:-len(f"{head}{fence}>>")]
    return value


# What depends on the second in which something was done, or is made from such a thing.
WORK_PATTERNS = [
    (re.compile(r"\bpush_\d{8}T\d{6}Z(_\d+)?"), "<push>"),
    (re.compile(r"\b(plan|content)_[0-9a-f]{32}"), r"<\1>"),
    (re.compile(r"\bevent_\d{8}T\d{6}Z_\d+"), "<event>"),
    (re.compile(r"\b([cap])\d{8}(\d{3})\b"), r"<\1\2>"),
]
WORK_MOVING = {"plan_id", "draft_hash", "storage_bytes"}


def same_for_all(value):
    if isinstance(value, dict):
        return {key: f"<{key}>" if key in WORK_MOVING else same_for_all(item) for key, item in value.items()}
    if isinstance(value, list):
        return [same_for_all(item) for item in value]
    if isinstance(value, str):
        for pattern, kind in WORK_PATTERNS:
            value = pattern.sub(kind, value)
    return value


def the_workspace(program):
    """Its tools give a model what its commands give a program, fenced: two workspaces with the same mail, each asked in one of
    the ways."""
    with Workspace(program) as desk, Workspace(program) as other, Stdio(desk, "--workspace", desk.dir,
            env=EVERYTHING) as client:
        with Stdio(desk, env=EVERYTHING) as bare:
            usual = set(bare.tools())
        listed = set(client.tools()) - usual
        assert listed == {tool for tool, *_ in WORK_CALLS}, listed
        commands = {op["name"]: op["command"].split() for op in desk.json("operations")["operations"] if op["command"]}
        ids, seen, seen_there = furnish(desk), {}, {}
        assert furnish(other) == ids
        for tool, arguments, *_ in WORK_CALLS:
            result = client.ask("tools/call", {"name": tool, "arguments": work_given(arguments, ids, seen)})
            assert not result["isError"], (tool, result)
            seen.setdefault(tool, []).append(result["structuredContent"])
            shown = unfenced(result["structuredContent"], result["_meta"]["mailroom/provenance"]["fence"])
            words = [f"--{name.replace('_', '-')}={json.dumps(item) if isinstance(item, bool) else item}"
                for name, value in work_given(arguments, ids, seen_there).items()
                for item in (value if isinstance(value, list) else [value])]
            done = other.run(*commands[tool], *words, "--output", "json")
            assert done.returncode == 0, (tool, done)
            told = json.loads(done.stdout)
            del told["trace"]
            seen_there.setdefault(tool, []).append(told)
            shown, told = (same_for_all(plain(value, desk.runtime)) for value in (shown, unfenced(told, "")))
            assert shown == told, (tool, shown, told)


with Tap() as tap, CommandLine(sys.argv[1]) as cli, Http(sys.argv[1]) as http, Mcp(sys.argv[1]) as mcp:
    tap.run("every_tool_is_called", every_tool_is_called, mcp)
    calls = [(tool, arguments, True) for tool, arguments, *_ in CALLS] + [(*call, False) for call in WRONG]
    for tool, arguments, good in calls:
        # Tools that only find and call other tools have no command.
        surfaces = [cli, http, mcp] if tool in cli.commands else [http, mcp]
        said = " ".join(f"{key}={value}" for key, value in arguments.items())
        tap.run(f"{'' if good else 'refused: '}{tool} {said[:60]}", compare, surfaces, tool, arguments, good)
    tap.run("the_health_routes", the_health_routes, cli, http)
    tap.run("the_workspace", the_workspace, sys.argv[1])
