"""Pages as a browser asks for them, and the mail that is on them."""

import collections
import http.client
import json
import re
import urllib.parse

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


def csrf(server, **headers):
    """What forms of this browser's pages have to prove that they are the server's."""
    return re.search(r'name="csrf" value="([^"]+)"', page(server, "/mail", **headers).text)[1]


def post(server, path, headers=None, **fields):
    """A form of a page, sent as a browser does that has just loaded it. Fields may be lists."""
    headers = headers or {}
    if "csrf" not in fields:
        fields["csrf"] = csrf(server, **{k: v for k, v in headers.items() if k in ("Cookie", "Authorization")})
    return ask(server, "POST", path, {"Content-Type": "application/x-www-form-urlencoded", **headers},
        urllib.parse.urlencode(fields, doseq=True))


def api(server, tool, **arguments):
    answer = ask(server, "POST", f"/api/tools/{tool}", {"Content-Type": "application/json"}, json.dumps(arguments))
    assert answer.status == 200, (tool, arguments, answer.text)
    return json.loads(answer.text)


def project(server, key, agents):
    """A project and its agents: {name: what it does}."""
    api(server, "ensure_project", human_key=key)
    for name, task in agents.items():
        api(server, "register_agent", project_key=key, name=name, program="test", model="none", task_description=task)


class Listener:
    """A stream of events: their names and data, one after another."""

    def __init__(self, server, **headers):
        self.connection = http.client.HTTPConnection(server.address, timeout=TIMEOUT_S)
        self.connection.request("GET", "/mail/live", headers=headers)
        self.response = self.connection.getresponse()

    def next(self):
        said = {}
        while True:
            line = self.response.readline().decode()
            assert line, "the stream has ended"
            if line == "\n" and said:
                return said["event"], said["data"]
            name, colon, value = line.rstrip("\n").partition(": ")
            if colon and name:
                said[name] = value

    def wait_for_other(self, number):
        while True:
            event = self.next()
            assert event[0] == "change", event
            if event[1] != number:
                return event[1]

    def __enter__(self):
        return self

    def __exit__(self, *ignored):
        self.connection.close()


def number_of(server, path="/mail"):
    """What changes when the page is to be asked for again."""
    return page(server, path).text.split('data-live="')[1].split('"')[0]


def changes_at_once(server, path, change, appears):
    """Another process makes the change: open pages are told, and this one shows it then."""
    with Listener(server) as listener:
        listener.wait_for_other("0")
        number = number_of(server, path)
        assert appears not in page(server, path).text, (path, appears)
        change()
        number = listener.wait_for_other(number)
        while appears not in page(server, path).text:
            number = listener.wait_for_other(number)
