"""usage: team_purge.py PROGRAM - an agent is purged, asked in every way there is: the archive's files forget it, nobody else's
mail is lost, and a rebuild brings back what was there before."""

import http.client
import json
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import database  # noqa: E402
from mailroom import Mailroom  # noqa: E402
from mcp import Stdio  # noqa: E402
from tap import Tap  # noqa: E402

B, F = "/srv/backend", "/srv/frontend"
GONE = "GreenCastle"
NOTE = os.path.join("srv-backend", "agents", GONE, "deleted.json")
# What a rebuild need not bring back: what waits for the archive, which is nothing, and what search and SQLite keep for themselves.
ASIDE = ("archive_queue", "sqlite_stat1", "schema_version", "migrations")


def scene(m):
    """Mail both ways, here and abroad, open and blind; leases, slots, contacts, a product; everybody else has some too."""
    def team(*args):
        return m.json("team", *args)

    def send(project, sender, subject, *args):
        return team("send", project, sender, "--subject", subject, "--body-md", f"about {subject}", *args)

    for project, name in ((B, GONE), (B, "RedCat"), (B, "QuietOwl"), (F, "BlueLake")):
        team("register", project, name, "--program", "codex", "--model", "gpt")
    team("contact", "request", B, GONE, "BlueLake", "--to-project", F)
    team("contact", "respond", F, "BlueLake", GONE, "--from-project", B, "--accept")
    team("contact", "request", B, "RedCat", "BlueLake", "--to-project", F)
    team("contact", "respond", F, "BlueLake", "RedCat", "--from-project", B, "--accept")
    send(B, GONE, "first", "--to", "RedCat", "--cc", "BlueLake@srv-frontend", "--thread-id", "T")
    send(B, "RedCat", "second", "--to", GONE, "--to", "BlueLake@srv-frontend", "--bcc", "QuietOwl", "--thread-id", "T")
    third = send(B, "RedCat", "third", "--to", "QuietOwl", "--bcc", GONE, "--thread-id", "T")
    send(F, "BlueLake", "fourth", "--to", f"{GONE}@srv-backend", "--to", "RedCat@srv-backend", "--ack-required")
    send(B, "RedCat", "fifth", "--to", GONE)
    send(B, GONE, "sixth", "--to", GONE, "--thread-id", "alone")
    team("reply", B, "QuietOwl", str(third["deliveries"][0]["payload"]["id"]), "--body-md", "an answer")
    team("read", B, "RedCat", "1")
    for name in (GONE, "RedCat"):
        team("reserve", B, name, "src/**", "--no-exclusive")
    team("reserve", B, GONE, "doc/*")
    team("release", B, GONE, "--paths", "doc/*")
    for name, slot in ((GONE, "build"), ("RedCat", "test")):
        team("slot", "acquire", B, name, slot)
    team("product", "ensure", "suite")
    for project in (B, F):
        team("product", "link", "suite", project)


def rows(m):
    path = database.team_database(m.root)
    names = [name for name in database.table_names(path) if name not in ASIDE]
    # A gap in the order somebody named recipients in is closed, and says nothing.
    with database.opened(path) as db:
        return {name: sorted((dict(zip([c[0] for c in cursor.description], row)) | {"place": 0} for row in cursor), key=repr)
            for name in names for cursor in [db.execute(f"SELECT * FROM {name}")]}


def files(m):
    place = os.path.join(m.root, "projects")
    found = {}
    for root, directories, names in os.walk(place):
        directories[:] = [d for d in directories if d != ".git"]
        for name in names:
            with open(os.path.join(root, name), "rb") as file:
                found[os.path.relpath(os.path.join(root, name), place)] = file.read()
    return found


def forgotten(m):
    """After the archive has followed: nobody tells of it, and everybody else has what they had."""
    report = m.json("team", "check")
    assert report["ok"] and report["problems"] == [], report
    found = files(m)
    note = json.loads(found.pop(NOTE))
    assert note["name"] == GONE and note["purged"] is True, note
    named = [path for path, data in found.items() if GONE in path or GONE.encode() in data]
    assert named == [], named
    subjects = {re.sub(r".*__(.*)__\d+\.md", r"\1", path) for path in found
        if "/messages/2" in path and "contact" not in path}
    assert subjects == {"second", "third", "fourth", "fifth", "re-third"}, subjects
    for project, name, expect in ((B, "RedCat", ["Re: third", "fourth"]), (B, "QuietOwl", ["third", "second"]),
            (F, "BlueLake", ["second"])):
        inbox = [x["subject"] for x in m.json("team", "inbox", project, name)["result"]]
        assert [s for s in inbox if "ontact" not in s] == expect, (name, inbox)
    assert m.json("team", "search", B, "about first")["result"] == []


def rebuilt(m):
    before, shown = rows(m), files(m)
    result = m.json("team", "rebuild", "--yes")
    assert result["problem_count"] == 0, result
    after = rows(m)
    for name in before:
        assert after[name] == before[name], (name, before[name], after[name])
    assert files(m) == shown
    forgotten(m)


def asked(ask):
    def test(m):
        scene(m)
        assert m.json("team", "check")["ok"], m.json("team", "check")
        gone = ask(m)
        assert gone["purged"] is True and gone["agent_name"] == GONE, gone
        assert (gone["messages_deleted"], gone["file_reservations_deleted"]) == (3, 2), gone
        forgotten(m)
        rebuilt(m)

    test.__name__ = ask.__name__
    return test


@asked
def by_a_command(m):
    return m.json("team", "retire", B, GONE.lower(), "--purge", "--yes")


CALL = {"name": "delete_agent", "arguments": {"project_key": B, "name": GONE, "purge": True}}
MODERN = "2026-07-28"
ACCEPT = {"action": "accept", "content": {"confirm": True}}
REFUSALS = [{"action": "decline"}, {"action": "cancel"}, {"action": "accept", "content": {"confirm": False}},
    {"action": "accept"}]


def is_question(message):
    return message and message.get("method") == "elicitation/create"


def refused(result):
    assert result["isError"], result
    error = result["structuredContent"]["error"]
    assert error["type"] == "PERMISSION_DENIED" and "not confirmed, nothing was done" in error["message"], error


def is_form(params):
    assert GONE in params["message"] and B in params["message"], params
    assert params["requestedSchema"]["properties"]["confirm"]["type"] == "boolean", params
    return True


def introduce(client, can):
    client.ask("initialize", {"protocolVersion": "2025-11-25", "capabilities": can,
        "clientInfo": {"name": "test", "version": "1"}})
    client.send({"jsonrpc": "2.0", "method": "notifications/initialized"})


def on_stdio(client, answer):
    """The result of the call when the person answers so."""
    id = client.begin("tools/call", CALL)
    question = client.message(is_question)
    assert is_form(question["params"])
    client.send({"jsonrpc": "2.0", "id": question["id"], "result": answer})
    return client.answer(id)["result"]


@asked
def over_mcp_on_stdio(m):
    with Stdio(m, hello=False) as client:
        introduce(client, {"elicitation": {}})
        for answer in REFUSALS:
            refused(on_stdio(client, answer))
        return on_stdio(client, ACCEPT)["structuredContent"]


def post(server, body, **headers):
    status, _, text = server.request("POST", "/mcp", {"Content-Type": "application/json",
        "Accept": "application/json, text/event-stream", **headers}, json.dumps({"jsonrpc": "2.0", **body}))
    assert status == 200, (status, text)
    return text


def modern(server, **params):
    body = {"id": 1, "method": "tools/call", "params": {**CALL, **params, "_meta": {
        "io.modelcontextprotocol/protocolVersion": MODERN,
        "io.modelcontextprotocol/clientCapabilities": {"elicitation": {}}}}}
    return json.loads(post(server, body, **{"MCP-Protocol-Version": MODERN, "Mcp-Method": "tools/call",
        "Mcp-Name": "delete_agent"}))["result"]


@asked
def over_mcp_on_http_without_a_session(m):
    with m.serve() as server:
        first = modern(server)
        assert first["resultType"] == "input_required", first
        assert is_form(first["inputRequests"]["confirm"]["params"])
        # A yes nobody asked for, and one that was given for somebody else.
        refused(modern(server, inputResponses={"confirm": ACCEPT}))
        other = modern(server, arguments={**CALL["arguments"], "name": "RedCat"})
        refused(modern(server, inputResponses={"confirm": ACCEPT}, requestState=other["requestState"]))
        for answer in REFUSALS:
            refused(modern(server, inputResponses={"confirm": answer}, requestState=first["requestState"]))
        return modern(server, inputResponses={"confirm": ACCEPT}, requestState=first["requestState"])["structuredContent"]


@asked
def over_mcp_on_http_with_a_session(m):
    with m.serve() as server:
        connection = http.client.HTTPConnection(server.address, timeout=60)
        headers = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
        connection.request("POST", "/mcp", json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
            "protocolVersion": "2025-11-25", "capabilities": {"elicitation": {}},
            "clientInfo": {"name": "test", "version": "1"}}}), headers)
        response = connection.getresponse()
        response.read()
        headers |= {"Mcp-Session-Id": response.headers["Mcp-Session-Id"], "MCP-Protocol-Version": "2025-11-25"}
        connection.request("POST", "/mcp", json.dumps({"jsonrpc": "2.0", "id": 2, "method": "tools/call",
            "params": CALL}), headers)
        stream = connection.getresponse()
        result = None
        while result is None:
            line = stream.readline().decode()
            assert line, "the stream ended"
            if not line.startswith("data: {"):
                continue
            message = json.loads(line[len("data: "):])
            if is_question(message):
                assert is_form(message["params"])
                status, _, text = server.request("POST", "/mcp", headers, json.dumps({"jsonrpc": "2.0",
                    "id": message["id"], "result": ACCEPT}))
                assert status == 202, (status, text)
            elif message.get("id") == 2:
                result = message["result"]
        connection.close()
        return result["structuredContent"]


def a_client_that_cannot_ask_cannot_purge(m):
    scene(m)
    with Stdio(m) as client:
        refused(client.ask("tools/call", CALL))
        assert client.call("delete_agent", project_key=B, name=GONE)["purged"] is False
    assert m.json("team", "check")["ok"]


def its_name_is_free_and_somebody_elses(m):
    scene(m)
    m.json("team", "retire", B, GONE, "--purge", "--yes")
    m.json("team", "register", B, GONE, "--program", "another", "--model", "m")
    m.json("team", "send", B, GONE, "--to", "RedCat", "--subject", "new", "--body-md", "b")
    report = m.json("team", "check")
    assert report["ok"], report
    before = rows(m)
    assert m.json("team", "rebuild", "--yes")["problem_count"] == 0
    assert rows(m) == before
    assert m.json("team", "whois", B, GONE)["program"] == "another"
    assert [x["subject"] for x in m.json("team", "outbox", B, GONE)["result"]] == ["new"]


def a_purge_while_others_send(m):
    """The archiver is at work in a server: rows of messages wait for it when their sender goes."""
    scene(m)
    with m.serve():
        for number in range(3):
            m.json("team", "send", B, GONE, "--to", "RedCat", "--subject", f"late {number}", "--body-md", "b")
        m.json("team", "retire", B, GONE, "--purge", "--yes")
        m.json("team", "send", B, "RedCat", "--to", "QuietOwl", "--subject", "after", "--body-md", "b")
    report = m.json("team", "check")
    assert report["ok"], report
    assert [path for path in files(m) if GONE in path] == [NOTE]


TESTS = [by_a_command, over_mcp_on_stdio, over_mcp_on_http_without_a_session, over_mcp_on_http_with_a_session,
    a_client_that_cannot_ask_cannot_purge, its_name_is_free_and_somebody_elses, a_purge_while_others_send]


def run(test):
    with Mailroom(sys.argv[1]) as m:
        test(m)


with Tap() as tap:
    for test in TESTS:
        tap.run(test.__name__.replace("_", " "), run, test)
