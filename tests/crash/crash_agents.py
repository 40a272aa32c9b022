"""usage: crash_agents.py PROGRAM - `mailroom agents create|bind|unbind|remove` killed at every write.

Each command runs undisturbed first. Then, for each write, rename and removal that it passes, in a fresh directory: it is killed there,
every manifest and record that stands must be whole and `agents list` must work; the command runs again, and the agents, their
bindings, records and mailboxes must be what they are undisturbed. A root that is being made is looked at by crash_mailbox_register.
"""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from crash import passes, run_all, same  # noqa: E402
from tap import Tap  # noqa: E402

PROGRAM = os.path.abspath(sys.argv[1])
TIMEOUT_S = 120
# What is killed loses nothing that the kernel has: where syncing costs nothing is as good.
if os.access("/dev/shm", os.W_OK):
    tempfile.tempdir = "/dev/shm"
STEPS = re.compile(r"^(agent\.(finished|swept)|fs\.write\.(created|renamed)|fs\.rename\.renamed|fs\.remove_all\.removed|register\.committed)$")
# What a command says that was killed when all was done.
DONE = re.compile(r"is there already|has no mailbox|no agent with the name or id")
COMMANDS = {
    "create": (("create", "alice"), ()),
    "create without a mailbox": (("create", "alice", "--transport", "none"), ()),
    "bind": (("bind", "alice"), (("create", "alice", "--transport", "none"),)),
    "bind anew": (("bind", "alice", "--address", "new@houmao.localhost"), (("create", "alice"),)),
    "unbind": (("unbind", "alice"), (("create", "alice"),)),
    "remove": (("remove", "alice"), (("create", "alice"),)),
}
# Never the same twice; which session an agent has is compared by its parts.
CHANCE = re.compile(r"mailroom-alice-[0-9a-f]{8}|[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|[0-9a-f]{32}"
    r"|\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|\+00:00)")


def run(home, *args, **variables):
    env = {name: value for name, value in os.environ.items() if name.startswith(("ASAN_", "UBSAN_"))}
    env.update(HOME=home, PATH="/usr/bin:/bin", **{f"MAILROOM_{name.upper()}": value for name, value in variables.items()})
    return subprocess.run([PROGRAM, "agents", *args, "--json"], cwd=home, env=env, stdin=subprocess.DEVNULL, capture_output=True,
        text=True, timeout=TIMEOUT_S, check=False)


def must(home, *args):
    done = run(home, *args)
    assert done.returncode == 0, (args, done.stdout, done.stderr)
    return json.loads(done.stdout)


def plain(home, value):
    return CHANCE.sub("*", json.dumps(value, sort_keys=True).replace(home, "HOME"))


def load(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def every_file_is_whole(home):
    """Manifests and records, wherever they stand."""
    for directory, _, names in os.walk(home):
        for name in names:
            if name in ("manifest.json", "record.json"):
                load(os.path.join(directory, name))


def picture(home):
    """The agents as everybody finds them, and which mailboxes there are."""
    found = {}
    for agent in must(home, "list")["agents"]:
        assert agent["problem"] is None, agent
        found[agent["agent_name"]] = plain(home, [agent, load(agent["manifest_path"]),
            load(os.path.join(home, ".config/houmao/registry/live_agents", agent["agent_id"], "record.json"))])
    boxes = os.path.join(home, ".houmao/mailbox/mailboxes")
    found["boxes"] = sorted(name for name in os.listdir(boxes) if not name.startswith("."))
    return found


def every_session_is_an_agents(home):
    """After another agent was made: what a killed command left behind is gone."""
    must(home, "create", "zoe", "--transport", "none")
    named = {os.path.dirname(agent["manifest_path"]) for agent in must(home, "list")["agents"]}
    found = {os.path.join(directory, name) for directory, names, _ in os.walk(home) for name in names
        if name.startswith(("mailroom-", ".mailroom-")) and "sessions" in directory.split(os.sep)[-2:]}
    same(found, named)
    marks = [os.path.join(directory, name) for directory, _, names in os.walk(home) for name in names if "unfinished" in name]
    assert not marks, marks


def kill_at(saved, room, command, point, number, whole):
    """One at a time in a directory: what is prepared has its absolute path in it."""
    home = os.path.join(room, "home")
    shutil.rmtree(home, ignore_errors=True)
    shutil.copytree(saved, home, symlinks=True)
    done = run(home, *command, crash_at=f"{point}:{number}")
    assert done.returncode == -signal.SIGKILL, (done.returncode, done.stdout, done.stderr)
    every_file_is_whole(home)
    must(home, "list")
    done = run(home, *command)
    assert done.returncode == 0 or DONE.search(done.stdout + done.stderr), (done.stdout, done.stderr)
    same(picture(home), whole)
    if command[0] == "create":
        every_session_is_an_agents(home)


def stop_everywhere(title, command, before):
    """How many points were tried."""
    with tempfile.TemporaryDirectory(prefix="mailroom-crash-") as room:
        room = os.path.realpath(room)
        home, saved, log = (os.path.join(room, name) for name in ("home", "saved", "log"))
        os.mkdir(home)
        must(home, "create", "bob")  # and a root
        for args in before:
            must(home, *args)
        shutil.copytree(home, saved, symlinks=True)
        done = run(home, *command, crash_log=log)
        assert done.returncode == 0, (done.stdout, done.stderr)
        whole = picture(home)
        with open(log, encoding="ascii") as file:
            points = [one for one in passes(file.read().split()) if STEPS.match(one[0])]
        names = {name for name, _ in points}
        wanted = {"fs.remove_all.removed"} if title == "remove" else {"fs.write.created", "fs.write.renamed"}
        assert wanted <= names, (title, names)
        failures = []
        for point, number in points:
            try:
                kill_at(saved, room, command, point, number, whole)
            except AssertionError as error:
                failures.append(f"{title} killed at {point}:{number}: {error}")
        assert not failures, "\n".join(failures)


with Tap() as tap:
    run_all(tap, [(f"agents {title}, killed at every step", stop_everywhere, title, *commands) for title, commands in
        COMMANDS.items()])
