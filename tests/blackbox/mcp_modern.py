"""usage: mcp_modern.py PROGRAM - the second generation of MCP over HTTP: requests that say all about themselves."""

import base64
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from mailroom import Mailroom  # noqa: E402
from tap import Tap  # noqa: E402
from wire import META, MODERN, Client, Events, expect, modern, modern_call, modern_headers, request  # noqa: E402


def requests_say_all_about_themselves(s):
    c = Client(s)
    status, headers, answer = c.post(modern("server/discover"), **modern_headers("server/discover"))
    result = answer["result"]
    assert status == 200 and "Mcp-Session-Id" not in headers, headers
    assert result["supportedVersions"] == [MODERN] and result["resultType"] == "complete", result
    assert result["ttlMs"] >= 0 and result["cacheScope"] in ("public", "private"), result
    assert result["_meta"][META + "serverInfo"]["name"] == "mailroom", result
    answer = modern_call(c, "health_check")[2]
    assert answer["result"]["structuredContent"]["status"] == "ok" and answer["result"]["resultType"] == "complete"
    for method in ("initialize", "ping", "logging/setLevel", "resources/subscribe", "resources/unsubscribe", "no/such"):
        expect(c.post(modern(method, id="m"), **modern_headers(method)), 404, -32601, "m")
    status, _, text = c.post({"jsonrpc": "2.0", "method": "notifications/cancelled",
        "params": {"_meta": {META + "protocolVersion": MODERN}, "requestId": 1}})
    assert (status, text) == (202, "")


def bodies_decide_the_generation(s):
    c = Client(s)
    headers = modern_headers("tools/list")
    expect(c.post(request("tools/list", id=3), **headers), 400, -32602, 3)
    expect(c.post(request("tools/list", {"_meta": {META + "clientCapabilities": {}}}, 3), **headers), 400, -32602, 3)
    for capabilities in (None, [], "x"):
        body = modern("tools/list", id=3, clientCapabilities=capabilities)
        expect(c.post(body, **headers), 400, -32602, 3)
    expect(c.post(modern("tools/list", id=3, protocolVersion=7), **headers), 400, -32602, 3)
    # A header of the second generation does not make initialize one of it.
    status, answered, _ = c.post(request("initialize", {"protocolVersion": "2025-11-25"}), **headers)
    assert status == 200 and answered["Mcp-Session-Id"]
    # Nor is a session asked for, or looked at.
    assert c.post(modern("tools/list"), Mcp_Session_Id="nonsense", **headers)[0] == 200


def versions_nobody_speaks(s):
    c = Client(s)
    for version in ("2027-01-01", "2025-11-25", "v999"):
        body = modern("tools/list", id=4, protocolVersion=version)
        answer = c.post(body, **(modern_headers("tools/list") | {"MCP_Protocol_Version": version}))
        expect(answer, 400, -32022, 4)
        assert answer[2]["error"]["data"] == {"supported": [MODERN], "requested": version}, answer
    expect(c.post(modern("tools/list", id=4, protocolVersion="v999"), **modern_headers("tools/list")), 400, -32020, 4)


def headers_repeat_the_body(s):
    c = Client(s)
    good = modern_headers("tools/call", "health_check")
    body = modern("tools/call", {"name": "health_check", "arguments": {}}, 6)
    assert c.post(body, **good)[0] == 200
    encoded = "=?base64?" + base64.b64encode(b"health_check").decode() + "?="
    for name in ("  health_check\t ", encoded):
        assert c.post(body, **(good | {"Mcp_Name": name}))[0] == 200, name
    for bad in ({"Mcp_Method": None}, {"Mcp_Method": "tools/list"}, {"Mcp_Method": "TOOLS/CALL"}, {"Mcp_Name": None},
            {"Mcp_Name": "whois"}, {"Mcp_Name": "Health_check"}, {"MCP_Protocol_Version": None},
            {"MCP_Protocol_Version": "2025-11-25"}, {"Mcp_Name": encoded[:-3] + "!?="},
            {"Mcp_Name": "=?base64?aGVhbHRoX2NoZWNr=?="}, {"Mcp_Name": "=?base64?"}):
        expect(c.post(body, **(good | bad)), 400, -32020, 6)
    expect(c.post(modern("tools/call", {"arguments": {}}, 6), **good), 400, -32020, 6)
    expect(c.post(modern("tools/call", {"arguments": {}}, 6), **modern_headers("tools/call")), 200, -32602, 6)
    # Arguments that stand in headers too.
    for value, header, status in (("eu", "eu", 200), ("eu", "us", 400), ("eu", None, 400), ("é", "=?base64?w6k=?=", 200)):
        answer = modern_call(c, "test_header_parameter", 6, None, {"region": value}, {"Mcp_Param_Region": header})
        assert answer[0] == status, (value, header, answer)
        assert status == 200 or answer[2]["error"]["code"] == -32020, answer


def clients_are_asked_by_results(s):
    c = Client(s)
    answer = modern_call(c, "test_input_required_result_elicitation", 7)
    expect(answer, 400, -32021, 7)
    assert answer[2]["error"]["data"] == {"requiredCapabilities": {"elicitation": {}}}, answer
    able = {"elicitation": {}}
    result = modern_call(c, "test_input_required_result_elicitation", 7, able)[2]["result"]
    assert result["resultType"] == "input_required" and list(result["inputRequests"]) == ["user_name"], result
    said = {"user_name": {"action": "accept", "content": {"name": "Alice"}}, "more": {}}
    result = modern_call(c, "test_input_required_result_elicitation", 7, able, inputResponses=said)[2]["result"]
    assert result["resultType"] == "complete" and "Alice" in result["content"][0]["text"], result
    for said in ({}, {"wrong": {}}, {"user_name": 3}):
        result = modern_call(c, "test_input_required_result_elicitation", 7, able, inputResponses=said)[2]["result"]
        assert result["resultType"] == "input_required", result
    for said in (None, [], "x"):
        expect(modern_call(c, "test_input_required_result_elicitation", 7, able, inputResponses=said), 200, -32602, 7)


def what_is_remembered_is_sealed(s):
    c = Client(s)
    tool, able = "test_input_required_result_request_state", {"elicitation": {}}
    said = {"confirm": {"action": "accept", "content": {"ok": True}}}
    state = modern_call(c, tool, 8, able)[2]["result"]["requestState"]
    result = modern_call(c, tool, 8, able, inputResponses=said, requestState=state)[2]["result"]
    assert result["content"][0]["text"] == "state-ok", result
    payload, seal = state.split(".")
    forged = base64.urlsafe_b64encode(b'{"until":9999999999,"state":"asked"}').decode().rstrip("=")
    for bad in (state + "A", state[:-1], payload, "." + seal, f"{forged}.{seal}", seal + "." + payload, "", 7, None,
            state.swapcase(), "." * 1000):
        expect(modern_call(c, tool, 8, able, inputResponses=said, requestState=bad), 200, -32602, 8)
    # It belongs to the request it was given out for.
    expect(modern_call(c, "test_input_required_result_tampered_state", 8, able, inputResponses=said,
        requestState=state), 200, -32602, 8)
    with_two = "test_input_required_result_multi_round"
    first = modern_call(c, with_two, 8, able)[2]["result"]
    second = modern_call(c, with_two, 8, able, requestState=first["requestState"])[2]["result"]
    assert list(second["inputRequests"]) == ["step2"] and second["requestState"] != first["requestState"], second


def changes_are_heard(s):
    c = Client(s)
    filter = {"toolsListChanged": True, "resourcesListChanged": False, "resourceSubscriptions": ["test://watched-resource"]}
    connection, response = c.send("POST", modern("subscriptions/listen", {"notifications": filter}, "sub"),
        **modern_headers("subscriptions/listen"))
    events = Events(response)
    assert response.headers["Content-Type"] == "text/event-stream"
    tag = {META + "subscriptionId": "sub"}
    id, message = events.next()
    assert id is None and message["method"] == "notifications/subscriptions/acknowledged", message
    assert message["params"]["_meta"] == tag and message["params"]["notifications"]["toolsListChanged"] is True, message
    assert "resourcesListChanged" not in message["params"]["notifications"], message
    modern_call(c, "test_trigger_prompt_change")
    modern_call(c, "test_trigger_tool_change")
    _, message = events.next()
    assert message["method"] == "notifications/tools/list_changed" and message["params"]["_meta"] == tag, message
    connection.close()
    for notifications in (None, [], "x"):
        expect(c.post(modern("subscriptions/listen", {"notifications": notifications}, 1),
            **modern_headers("subscriptions/listen")), 200, -32602, 1)
    expect(c.post(request("subscriptions/listen", {"notifications": {}})), 200, -32601, 1)


def logs_are_sent_to_who_wants_them(s):
    c = Client(s)
    assert len(modern_call(c, "test_logging_tool")[2]) == 1
    for level, count in (("debug", 4), ("info", 4), ("error", 1), ("loud", 1)):
        body = modern("tools/call", {"name": "test_logging_tool", "arguments": {}}, logLevel=level)
        answer = c.post(body, **modern_headers("tools/call", "test_logging_tool"))[2]
        assert len(answer) == count, (level, answer)
        assert answer[-1]["result"]["resultType"] == "complete"


CASES = [requests_say_all_about_themselves, bodies_decide_the_generation, versions_nobody_speaks,
    headers_repeat_the_body, clients_are_asked_by_results, what_is_remembered_is_sealed, changes_are_heard,
    logs_are_sent_to_who_wants_them]


def main():
    with Tap() as tap, Mailroom(sys.argv[1]) as m:
        with m.serve(env={"MCP_CONFORMANCE_FIXTURES": "true"}) as server:
            for case in CASES:
                tap.run(case.__name__, case, server)
            tap.run("the server ends well", lambda: None if server.stop() == 0 else 1 / 0)


main()
