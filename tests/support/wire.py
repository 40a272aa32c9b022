"""A client of MCP over HTTP that chooses every header and byte, in both generations."""

import http.client
import json

from mailroom import TIMEOUT_S

BOTH = "application/json, text/event-stream"
META = "io.modelcontextprotocol/"
MODERN = "2026-07-28"


def request(method, params=None, id=1):
    message = {"jsonrpc": "2.0", "id": id, "method": method}
    if params is not None:
        message["params"] = params
    return message


def call(tool, id=1, **arguments):
    return request("tools/call", {"name": tool, "arguments": arguments}, id)


class Events:
    """A stream of events, read as they come; each is (id, message), the message None when there is no data."""

    def __init__(self, response):
        self.response = response

    def next(self):
        """The next event, or None at the end."""
        id, data, seen = None, None, False
        while True:
            line = self.response.readline()
            if not line:
                return None
            line = line.decode("utf-8").rstrip("\n")
            if not line:
                if seen:
                    return id, json.loads(data) if data else None
                continue
            if line.startswith("id: "):
                id, seen = line[4:], True
            elif line.startswith("data: "):
                data, seen = line[6:], True

    def rest(self):
        found = []
        while (event := self.next()) is not None:
            found.append(event)
        return found


class Client:
    """One client; `session` and `version` go into the headers when they are set."""

    def __init__(self, server, path="/mcp"):
        self.server, self.path = server, path
        self.session = self.version = None

    def headers(self, more):
        headers = {"Content-Type": "application/json", "Accept": BOTH}
        if self.session:
            headers["Mcp-Session-Id"] = self.session
        if self.version:
            headers["MCP-Protocol-Version"] = self.version
        headers.update(more)
        return {k: v for k, v in headers.items() if v is not None}

    def send(self, method, body=None, **headers):
        """(connection, response); the caller closes the connection."""
        connection = http.client.HTTPConnection(self.server.address, timeout=TIMEOUT_S)
        data = body if body is None or isinstance(body, (str, bytes)) else json.dumps(body)
        more = {k.replace("_", "-"): v for k, v in headers.items()}
        connection.request(method, self.path, body=data, headers=self.headers(more))
        return connection, connection.getresponse()

    def ask(self, method, body=None, **headers):
        """(status, headers, what the body says: JSON, a list of messages of a stream, or text)."""
        connection, response = self.send(method, body, **headers)
        try:
            type = response.headers.get("Content-Type", "")
            if type == "text/event-stream":
                return response.status, response.headers, [m for _, m in Events(response).rest() if m]
            text = response.read().decode("utf-8")
            return response.status, response.headers, json.loads(text) if text and "json" in type else text
        finally:
            connection.close()

    def post(self, body, **headers):
        return self.ask("POST", body, **headers)

    def open(self, version="2025-11-25", **capabilities):
        status, headers, answer = self.post(request("initialize", {"protocolVersion": version,
            "capabilities": capabilities, "clientInfo": {"name": "t", "version": "1"}}))
        assert status == 200, (status, answer)
        self.session, self.version = headers["Mcp-Session-Id"], answer["result"]["protocolVersion"]
        status, _, text = self.post({"jsonrpc": "2.0", "method": "notifications/initialized"})
        assert (status, text) == (202, ""), (status, text)
        return answer["result"]

    def listen(self, last_id=None):
        """(connection, response, events) of GET."""
        connection, response = self.send("GET", Last_Event_ID=last_id, Accept="text/event-stream")
        return connection, response, Events(response)


def expect(answer, status, code, id=None):
    got, _, body = answer
    assert got == status, (got, body)
    assert body["jsonrpc"] == "2.0" and body["id"] == id, body
    assert body["error"]["code"] == code and body["error"]["message"], body


def modern(method, params=None, id=1, capabilities=None, **meta):
    meta = {META + k: v for k, v in meta.items()}
    meta = {META + "protocolVersion": MODERN, META + "clientCapabilities": capabilities or {}} | meta
    return request(method, (params or {}) | {"_meta": meta}, id)


def modern_headers(method, name=None):
    headers = {"MCP_Protocol_Version": MODERN, "Mcp_Method": method}
    if name is not None:
        headers["Mcp_Name"] = name
    return headers


def modern_call(client, name, id=1, capabilities=None, arguments=None, headers=None, **params):
    body = modern("tools/call", {"name": name, "arguments": arguments or {}} | params, id, capabilities)
    return client.post(body, **(modern_headers("tools/call", name) | (headers or {})))


def two_agents(c):
    """(project, sender, reader) of a project with two agents."""
    project = "/srv/wire"
    assert not c.post(call("ensure_project", human_key=project))[2]["result"]["isError"]
    for name in ("BlueLake", "GreenCastle"):
        made = c.post(call("register_agent", project_key=project, program="p", model="m", name=name))[2]["result"]
        assert not made["isError"], made
    return project, "BlueLake", "GreenCastle"


def mail(c, project, sender, reader, subject):
    sent = c.post(call("send_message", project_key=project, sender_name=sender, to=[reader], subject=subject,
        body_md="b"))[2]["result"]
    assert not sent["isError"], sent


def cursor(c, project, agent):
    """Where an agent's mail stands now: who waits from here on misses nothing, however late it begins."""
    answer = c.post(call("wait_for_mail", project_key=project, agent_name=agent, timeout_seconds=0))[2]
    return answer[-1]["result"]["structuredContent"]["cursor"]
