"""Pages as a browser asks for them, and the mail that is on them."""

import collections
import http.client
import json

TIMEOUT_S = 60

Answer = collections.namedtuple("Answer", "status headers text body")


def ask(server, method, path, headers=None, body=None):
    """One request on a connection of its own; its body as bytes and, where that can be, as text."""
    connection = http.client.HTTPConnection(server.address, timeout=TIMEOUT_S)
    try:
        connection.request(method, path, body=body, headers=headers or {})
        response = connection.getresponse()
        data = response.read()
    finally:
        connection.close()
    return Answer(response.status, response.headers, data.decode("utf-8", "replace"), data)


def page(server, path, **headers):
    return ask(server, "GET", path, {k.replace("_", "-"): v for k, v in headers.items()})


def api(server, tool, **arguments):
    answer = ask(server, "POST", f"/api/tools/{tool}", {"Content-Type": "application/json"}, json.dumps(arguments))
    assert answer.status == 200, (tool, arguments, answer.text)
    return json.loads(answer.text)


def project(server, key, agents):
    """A project and its agents: {name: what it does}."""
    api(server, "ensure_project", human_key=key)
    for name, task in agents.items():
        api(server, "register_agent", project_key=key, name=name, program="test", model="none", task_description=task)
