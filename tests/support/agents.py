"""Agents with mailboxes: as Mailroom makes them, and as the Houmao runtime leaves them on disk."""

import http.server
import json
import os
import re
import threading

from mailroom import Mailroom, Server, describe


class Agents(Mailroom):
    """Commands of mailroom, and with houmao() of the same program called houmao-mgr."""

    def __init__(self, program):
        super().__init__(program)
        self.dir = os.path.realpath(self.dir)
        self.manager = os.path.join(self.dir, "houmao-mgr")
        os.symlink(self.program, self.manager)
        self.registry = os.path.join(self.dir, ".config/houmao/registry/live_agents")
        self.mail_root = os.path.join(self.dir, ".houmao/mailbox")

    def houmao(self, *args, status=0, **options):
        """The result of a command as an object, or the text of its failure."""
        mailroom, self.program = self.program, self.manager
        try:
            done = self.run("--print-json", *args, **options)
        finally:
            self.program = mailroom
        assert done.returncode == status, describe(done)
        return json.loads(done.stdout) if status == 0 else done.stderr

    def create(self, *names):
        return [self.json("agents", "create", name) for name in names]

    def mail(self, agent, *args, **options):
        return self.json("mail", "--agent-name", agent, *args, **options)

    def send(self, agent, to, subject, body="text", *more):
        return self.mail(agent, "send", "--to", f"{to}@houmao.localhost", "--subject", subject, "--body-content", body, *more)[
            "message"]

    def refused(self, agent, *args, status=1, **options):
        """What people are told when it does not work."""
        done = self.run("mail", "--agent-name", agent, *args, **options)
        assert done.returncode == status and not done.stdout, describe(done)
        return done.stderr

    def load(self, path):
        with open(path, encoding="utf-8") as file:
            return json.load(file)

    def store(self, path, value):
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            json.dump(value, file)

    def record(self, agent):
        for agent_id in os.listdir(self.registry):
            record = self.load(os.path.join(self.registry, agent_id, "record.json"))
            if record["agent_name"] == agent:
                return record
        raise AssertionError(agent)

    def manifest(self, agent):
        return self.record(agent)["runtime"]["manifest_path"]

    def gateway(self, agent, *args, env=None):
        return Gateway(self, ("--agent-name", agent, *args), env or {}, command=("gateway",))

    def check(self):
        found = self.json("mailbox", "check")
        assert found["ok"], found


def manifest_of(record, directory):
    """The manifest that belongs to a record of the runtime, as the runtime writes it."""
    session, agent_def = record["runtime"]["session_root"], record["runtime"]["agent_def_dir"]
    tmux, backend, tool = record["terminal"]["current_session_name"], record["identity"]["backend"], record["identity"]["tool"]
    generation = {"registry_generation_id": record["generation_id"], "registry_launch_authority": "runtime"}
    return {"schema_version": 4, "backend": backend, "tool": tool, "role_name": record["agent_name"],
        "created_at_utc": "2026-03-11T04:00:00+00:00", "working_directory": directory,
        "brain_manifest_path": f"{session}/brain_manifest.json", "agent_name": record["agent_name"],
        "agent_id": record["agent_id"], "tmux_session_name": tmux, **generation,
        "runtime": {"session_id": os.path.basename(session), "agent_def_dir": agent_def, **generation},
        "tmux": {"session_name": tmux}, "interactive": {},
        "agent_launch_authority": {"backend": backend, "tool": tool, "tmux_session_name": tmux, "working_directory": directory,
            "posture_kind": "headless_launch_options", "session_origin": "joined_tmux"},
        "gateway_authority": {"attach": {}, "control": {}},
        "launch_plan": {"backend": backend, "tool": tool, "executable": tool, "args": [], "working_directory": directory,
            "home_selector": {"env_var": "CLAUDE_CONFIG_DIR", "home_path": f"{directory}/.claude"}, "env_var_names": [],
            "role_injection": {"method": "cao_profile", "role_name": record["agent_name"]}, "metadata": {},
            "mailbox": record["mailbox"]},
        "backend_state": {}, "headless": {"session_id": None, "turn_index": 0, "role_bootstrap_applied": True,
            "working_directory": directory}}


class Gateway(Server):
    """A running `mailroom gateway`."""

    def ask(self, verb, body=None, agent=None, **headers):
        """(status, answer) of one request to /v1/mail, or of the agent of a server of many."""
        path = f"/houmao/agents/{agent}/mail/{verb}" if agent else f"/v1/mail/{verb}"
        headers = {key.replace("_", "-"): value for key, value in headers.items()}
        if body is not None:
            headers.setdefault("Content-Type", "application/json")
            body = body if isinstance(body, (bytes, str)) else json.dumps(body)
        status, _, text = self.request("GET" if body is None else "POST", path, headers, body)
        return status, json.loads(text)


class Health:
    """Something that answers as the gateway of this session does; as a context."""

    def __init__(self, protocol="v1", session="session-1"):
        answers = {"/health": {"protocol_version": protocol, "status": "ok"}, "/v1/status": {"attach_identity": session}}

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                body = json.dumps(answers.get(self.path)).encode()
                self.send_response(200 if self.path in answers else 404)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *ignored):
                pass

        self.server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
        self.port = self.server.server_address[1]

    def __enter__(self):
        self.thread = threading.Thread(target=self.server.serve_forever)
        self.thread.start()
        return self

    def __exit__(self, *ignored):
        self.server.shutdown()
        self.thread.join()
        self.server.server_close()


MESSAGE_ID = re.compile(r"^filesystem:msg-\d{8}T\d{6}Z-[0-9a-f]{32}$")
SHAPES = [
    re.compile(r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$"),
    re.compile(r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$"),
    re.compile(r"^att-[0-9a-f]{12}$"),
]


class Comparison:
    """What the reference said beside what we say. Each of its refs is one of ours, always the same."""

    def __init__(self, directory):
        self.directory = directory
        self.ours = {}
        self.names = {}  # of theirs that are others here

    def text(self, theirs, ours, where):
        theirs = self.names.get(theirs, theirs)
        if MESSAGE_ID.match(theirs):
            assert MESSAGE_ID.match(ours), (where, ours)
            assert self.ours.setdefault(theirs, ours) == ours, (where, theirs, ours)
        elif theirs == "<text>":
            assert ours, where
        elif shape := next((shape for shape in SHAPES if shape.match(theirs)), None):
            assert shape.match(ours), (where, ours)
        else:
            assert ours == theirs.replace("/project", self.directory), (where, ours, theirs)

    def same(self, theirs, ours, where="$"):
        assert type(theirs) is type(ours), (where, theirs, ours)
        if isinstance(theirs, dict):
            assert theirs.keys() == ours.keys(), (where, theirs.keys() ^ ours.keys())
            for key in theirs:
                self.same(theirs[key], ours[key], f"{where}.{key}")
        elif isinstance(theirs, list):
            assert len(theirs) == len(ours), (where, theirs, ours)
            for i, pair in enumerate(zip(theirs, ours)):
                self.same(*pair, f"{where}[{i}]")
        elif isinstance(theirs, str):
            self.text(theirs, ours, where)
        else:
            assert theirs == ours, (where, ours, theirs)

    def ref(self, theirs):
        return self.ours.get(theirs, theirs)
