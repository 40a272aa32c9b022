"""usage: mcp_small.py PROGRAM - what a client's model pays: the lists of tools, by their bytes on the wire at four to a token."""

import json
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from mailroom import Mailroom  # noqa: E402
from mcp import EVERYTHING, LATEST, Stdio  # noqa: E402
from tap import Tap  # noqa: E402
from workspace import Workspace  # noqa: E402

B = "/srv/backend"
SEED = {"ensure_project", "register_agent", "whois", "send_message", "reply_message", "fetch_inbox", "mark_message_read",
    "acknowledge_message", "search_messages", "file_reservation_paths", "release_file_reservations",
    "force_release_file_reservation", "renew_file_reservations", "request_contact", "respond_contact", "set_contact_policy"}
META = {"list_extended_tools", "call_extended_tool"}
MODES = ("core", "standard", "extended")


def wire(value):
    """Its bytes as they are sent."""
    return len(json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode())


def listed(client):
    """The whole answer, which must fit one page, and the tools by their names."""
    answer = client.ask("tools/list")
    assert "nextCursor" not in answer, answer
    return answer, {tool["name"]: tool for tool in answer["tools"]}


def mode(name):
    return {"MCP_TOOLS_MODE": name}


def the_usual_set_is_what_agents_need(m):
    with Stdio(m) as client:
        answer, tools = listed(client)
    assert set(tools) == SEED | META | {"macro_start_session", "wait_for_mail"}, set(tools)
    assert wire(answer) < 4 * 4000, wire(answer)


def the_core_set_is_smaller(m):
    with Stdio(m, env=mode("core")) as client:
        answer, tools = listed(client)
    assert len(tools) <= 12 and META < set(tools), set(tools)
    assert wire(answer) < 4 * 2500, wire(answer)


def all_can_be_listed(m):
    with Stdio(m, env=mode("core")) as client:
        core = set(listed(client)[1])
    with Stdio(m) as client:
        standard = set(listed(client)[1])
        unlisted = {tool["name"] for tool in client.call("list_extended_tools")["tools"]}
    with Stdio(m, env=mode("extended")) as client:
        answer, tools = listed(client)
        assert client.call("list_extended_tools")["total"] == 0
    assert core < standard < set(tools) and set(tools) - standard == unlisted, unlisted
    assert wire(answer) < 4 * 10000, wire(answer)


def what_is_not_listed_can_be_called(m):
    with Stdio(m, env=mode("core")) as client:
        client.call("register_agent", project_key=B, name="RedCat", program="x", model="y")
        given = {"project_key": B}
        [agent] = client.call("list_agents", **given)["result"]
        assert agent["name"] == "RedCat", agent
        assert client.call("call_extended_tool", tool_name="list_agents", arguments=given)["result"] == [agent]
        # So can parameters that short lists leave out.
        sent = {"project_key": B, "sender_name": "RedCat", "to": ["RedCat"], "subject": "s", "body_md": "b", "idempotency_key": "k"}
        assert "idempotency_key" not in client.tools()["send_message"]["inputSchema"]["properties"]
        client.call("send_message", **sent)
        assert client.call("send_message", **sent)["repeated"] is True


def each_tool_says_when_and_what(m):
    """Nothing stands twice, and nothing that says what a client presumes anyway."""
    for name in MODES:
        with Stdio(m, env=mode(name)) as client:
            for tool in listed(client)[1].values():
                assert tool["description"] and tool["inputSchema"]["type"] == "object", tool
                assert set(tool) <= {"name", "description", "inputSchema", "outputSchema", "annotations"}, tool
                assert "outputSchema" not in tool or tool["outputSchema"]["x-fastmcp-wrap-result"], tool
                assert tool["inputSchema"].get("required") != [], tool
                for about in tool["inputSchema"]["properties"].values():
                    assert about["type"] and about.get("default") is not False, tool
                assert tool["annotations"].get("openWorldHint") is not True and (
                    tool["annotations"].get("readOnlyHint") or "destructiveHint" in tool["annotations"]), tool


def details_can_be_had(m):
    with Stdio(m, env=EVERYTHING) as client:
        tools = listed(client)[1]
    assert all(tool["title"] and tool["outputSchema"]["type"] == "object" for tool in tools.values())
    assert "idempotency_key" in tools["send_message"]["inputSchema"]["properties"]


def old_clients_see_what_they_know(m):
    """Schemas of results came with 2025-06-18."""
    for version, knows in (("2024-11-05", False), ("2025-03-26", False), ("2025-06-18", True), (LATEST, True)):
        for env in ({}, EVERYTHING):
            with Stdio(m, hello=False, env=env) as client:
                client.ask("initialize", {"protocolVersion": version, "capabilities": {}})
                assert any("outputSchema" in tool for tool in client.tools().values()) is knows, (version, env)


def only_what_is_listed_is_named(m):
    """By the server's instructions and by the block that connect puts into AGENTS.md."""
    here = os.path.join(m.dir, "repo")
    os.mkdir(here)
    m.run("connect", "codex", "--stdio", cwd=here)
    with open(os.path.join(here, "AGENTS.md"), encoding="utf-8") as file:
        block = file.read()
    with Stdio(m, env=mode("extended")) as client:
        known = set(listed(client)[1])
    for name in MODES:
        with Stdio(m, env=mode(name)) as client:
            tools, texts = set(listed(client)[1]), (client.hello["instructions"], block)
        for text in texts:
            named = set(re.findall(r"[a-z]+(?:_[a-z]+)+", text)) & known
            assert len(named) >= 5 and named <= tools, (name, named - tools)
    # A tool's description does not send a model to what it cannot see.
    for name in MODES:
        with Stdio(m, env=mode(name)) as client:
            tools = listed(client)[1]
        for tool in tools.values():
            named = set(re.findall(r"[a-z]+(?:_[a-z]+)+", tool["description"])) & known
            assert named <= set(tools), (name, tool["name"], named)


def a_workspace_has_a_set_of_its_own(m):
    with Workspace(m.program) as desk:
        costs = {}
        for name in MODES:
            with Stdio(desk, "--workspace", desk.dir, env=mode(name)) as client:
                tools = {tool: about for tool, about in client.tools().items() if tool.startswith("work_")}
                costs[name] = (len(tools), wire(list(tools.values())))
                assert client.call("work_contact_list")["count"] == 0
        assert costs["core"][0] == 0 and costs["standard"][0] == 15 and costs["extended"][0] > 80, costs
        assert costs["standard"][1] < 4 * 2500 and costs["extended"][1] < 4 * 12500, costs


def mail(m, client, count):
    """That many messages to RedCat, and the whole answer that its inbox gives."""
    for name in ("GreenCastle", "RedCat"):
        client.call("register_agent", project_key=B, name=name, program="x", model="y")
    for i in range(count):
        client.call("send_message", project_key=B, sender_name="GreenCastle", to=["RedCat"], body_md="text " * 100,
            subject=f"Refactoring of the module {i} begins now", thread_id="TKT-123")


def inbox(client, **more):
    given = {"project_key": B, "agent_name": "RedCat"} | more
    return client.ask("tools/call", {"name": "fetch_inbox", "arguments": given})


def an_inbox_says_everything_once(m):
    """Twenty messages without their bodies."""
    with Stdio(m) as client:
        mail(m, client, 20)
        result = inbox(client)
        assert wire(result) < 5000, wire(result)
        items = result["structuredContent"]["result"]
        assert [item["id"] for item in items] == list(range(20, 0, -1))
        for item in items:
            assert set(item) == {"id", "from", "thread_id", "subject", "created_ts"}, item
        # The text has what a model needs that is shown nothing else.
        [content] = result["content"]
        for i, line in zip(range(20, 0, -1), content["text"].splitlines()):
            assert line.startswith(f"{i}  GreenCastle  Refactoring of the module {i - 1} begins now  [TKT-123]  new, "), line
        # What there is to say is said.
        client.call("send_message", project_key="/srv/far", sender_name=client.call("register_agent", project_key="/srv/far",
            name="BlueLake", program="x", model="y")["name"], to=["GreenCastle@srv-backend"], cc=["RedCat@srv-backend"],
            subject="Far", body_md="b", importance="urgent", ack_required=True)
        [item] = inbox(client, limit=1)["structuredContent"]["result"]
        assert {name: item[name] for name in ("importance", "ack_required", "kind", "sender_project")} == {"importance": "urgent",
            "ack_required": True, "kind": "cc", "sender_project": "srv-far"}, item


def bodies_come_on_request(m):
    with Stdio(m) as client:
        mail(m, client, 1)
        result = inbox(client, include_bodies=True)
        assert result["structuredContent"]["result"][0]["body_md"] == "text " * 100
        assert "text " * 100 in result["content"][0]["text"], result


def a_list_that_stops_says_how_to_go_on(m):
    with Stdio(m) as client:
        mail(m, client, 3)
        result = inbox(client, limit=2)
        assert result["structuredContent"]["next_cursor"] == 2 and "There is more: cursor=2\n" in result["content"][0]["text"]
        result = inbox(client, limit=2, cursor=2)
        assert "next_cursor" not in result["structuredContent"] and "more" not in result["content"][0]["text"], result
    told = m.run("team", "inbox", B, "RedCat", "--limit", "2").stdout
    assert told.endswith("There is more: --cursor 2\n"), told


def old_clients_get_json_as_text(m):
    """Structured content came with 2025-06-18."""
    with Stdio(m) as client:
        mail(m, client, 20)
        new = inbox(client)["structuredContent"]["result"]
    with Stdio(m, hello=False) as client:
        client.ask("initialize", {"protocolVersion": "2025-03-26", "capabilities": {}})
        old = inbox(client)
    assert "structuredContent" not in old and json.loads(old["content"][0]["text"]) == new, old
    assert wire(old) < 5000, wire(old)


def who_states_no_version_gets_structured_content(m):
    """As docs/INTEROP.md says: its text is lines, and the members that a list leaves out are those of get_message."""
    with Stdio(m) as client:
        mail(m, client, 1)
    with Stdio(m, hello=False) as client:
        result = inbox(client)
        whole = client.call("get_message", project_key=B, message_id=1)
    assert result["content"][0]["text"].startswith("1  GreenCastle  "), result
    [item] = result["structuredContent"]["result"]
    assert {"uid", "project_id", "sender_id", "sender_project"} <= set(whole) - set(item), (whole, item)
    page = open(os.path.join(os.path.dirname(__file__), "..", "..", "docs", "INTEROP.md"), encoding="utf-8").read()
    row = next(line for line in page.splitlines() if line.startswith("| lists of messages |"))
    for name in set(whole) - set(item):
        assert f"`{name}`" in row, (name, row)


TESTS = [
    who_states_no_version_gets_structured_content,
    an_inbox_says_everything_once,
    bodies_come_on_request,
    a_list_that_stops_says_how_to_go_on,
    old_clients_get_json_as_text,
    the_usual_set_is_what_agents_need,
    the_core_set_is_smaller,
    all_can_be_listed,
    what_is_not_listed_can_be_called,
    each_tool_says_when_and_what,
    details_can_be_had,
    old_clients_see_what_they_know,
    only_what_is_listed_is_named,
    a_workspace_has_a_set_of_its_own,
]


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    with Tap() as tap:
        for case in TESTS:
            with Mailroom(sys.argv[1]) as m:
                tap.run(case.__name__.replace("_", " "), case, m)


main()
