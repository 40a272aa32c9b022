"""A client of `mailroom mcp`: messages by lines, answers by their ids."""

import json
import queue
import subprocess
import tempfile
import threading

TIMEOUT_S = 60
LATEST = "2025-11-25"

# With it all tools are listed, in full.
EVERYTHING = {"MCP_TOOLS_MODE": "extended", "MCP_TOOLS_DETAIL": "full"}


class Stdio:
    """As a context it ends by closing the input, and the program must end well."""

    def __init__(self, mailroom, *args, env=None, hello=True, cwd=None):
        self.log = tempfile.TemporaryFile(mode="w+", encoding="utf-8")
        self.process = subprocess.Popen([mailroom.program, "mcp", *args], cwd=cwd or mailroom.dir, env=mailroom.env(**(env or {})),
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.log)
        self.inbox = queue.Queue()
        self.kept = []
        self.ids = 0
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()
        if hello:
            self.hello = self.ask("initialize", {"protocolVersion": LATEST, "capabilities": {},
                "clientInfo": {"name": "test", "version": "1"}})
            self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def _read(self):
        for line in self.process.stdout:
            self.inbox.put(json.loads(line))
        self.inbox.put(None)

    def write(self, data):
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def send(self, message):
        self.write(json.dumps(message).encode() + b"\n")

    def begin(self, method, params=None):
        """Send a request; its id."""
        self.ids += 1
        self.send({"jsonrpc": "2.0", "id": self.ids, "method": method, "params": params or {}})
        return self.ids

    def message(self, fits=lambda message: True, timeout=TIMEOUT_S):
        """The next message that fits; the others are kept for later. None at the end."""
        for message in self.kept:
            if fits(message):
                self.kept.remove(message)
                return message
        while True:
            message = self.inbox.get(timeout=timeout)
            if message is None or fits(message):
                return message
            self.kept.append(message)

    def answer(self, id):
        return self.message(lambda message: "method" not in message and message.get("id") == id)

    def ask(self, method, params=None):
        """The result."""
        answer = self.answer(self.begin(method, params))
        assert answer and "result" in answer, (method, answer, self.logged())
        return answer["result"]

    def fail(self, method, params=None):
        """The error."""
        answer = self.answer(self.begin(method, params))
        assert answer and "error" in answer, (method, answer)
        return answer["error"]

    def begin_call(self, tool, **arguments):
        return self.begin("tools/call", {"name": tool, "arguments": arguments})

    def call(self, tool, **arguments):
        """The structured result of a tool; it must succeed."""
        result = self.ask("tools/call", {"name": tool, "arguments": arguments})
        assert not result["isError"], result
        return result["structuredContent"]

    def tools(self):
        """All tools by their names, whatever the number of pages."""
        found, page = {}, {"nextCursor": None}
        while "nextCursor" in page:
            page = self.ask("tools/list", {"cursor": page["nextCursor"]} if page["nextCursor"] else {})
            found |= {tool["name"]: tool for tool in page["tools"]}
        return found

    def logged(self):
        self.log.flush()
        self.log.seek(0)
        return self.log.read()

    def end(self):
        """Close the input; the exit status."""
        self.process.stdin.close()
        status = self.process.wait(TIMEOUT_S)
        self.reader.join(TIMEOUT_S)
        return status

    def __enter__(self):
        return self

    def __exit__(self, kind, *ignored):
        if self.process.poll() is None:
            if kind:
                self.process.kill()
            status = self.end()
            assert kind or status == 0, f"mcp ended with {status}: {self.logged()}"
        self.process.stdout.close()
        self.log.close()
