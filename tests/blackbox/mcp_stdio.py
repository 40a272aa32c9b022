"""usage: mcp_stdio.py PROGRAM - `mailroom mcp` as a client that starts it meets it."""

import json
import os
import signal
import subprocess
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from mailroom import Mailroom  # noqa: E402
from mcp import LATEST, Stdio  # noqa: E402
from tap import Tap  # noqa: E402

LINE_BYTES = 4 << 20
MODERN = {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}}
PROJECT = "/srv/backend"


def register(client, *names):
    client.call("ensure_project", human_key=PROJECT)
    for name in names:
        client.call("register_agent", project_key=PROJECT, program="codex", model="gpt-5", name=name)


def send(client, sender, to, subject="Hello"):
    return client.call("send_message", project_key=PROJECT, sender_name=sender, to=[to], subject=subject,
        body_md="Body.")


def it_introduces_itself(m):
    with Stdio(m) as client:
        assert client.hello["protocolVersion"] == LATEST, client.hello
        assert client.hello["serverInfo"]["name"] == "mailroom" and client.hello["instructions"], client.hello
        assert client.ask("ping") == {}
        assert client.fail("initialize", {"protocolVersion": LATEST, "capabilities": {}})["code"] == -32600


def versions_are_agreed_on(m):
    for wanted, agreed in (("2024-11-05", "2024-11-05"), ("2025-03-26", "2025-03-26"), ("1999-01-01", LATEST)):
        with Stdio(m, hello=False) as client:
            result = client.ask("initialize", {"protocolVersion": wanted, "capabilities": {}})
            assert result["protocolVersion"] == agreed, (wanted, result)


def a_small_set_of_tools_can_be_had(m):
    """On stdio and over HTTP."""
    env = {"MCP_TOOLS_MODE": "core"}
    with Stdio(m, env=env) as client:
        names = [tool["name"] for tool in client.ask("tools/list")["tools"]]
    assert "send_message" in names and "call_extended_tool" in names and len(names) <= 12, names
    with m.serve(env=env) as server:
        text = server.request("POST", "/mcp", {"Accept": "application/json, text/event-stream",
            "Content-Type": "application/json"}, '{"jsonrpc": "2.0", "id": 1, "method": "tools/list"}')[2]
    assert [tool["name"] for tool in json.loads(text)["result"]["tools"]] == names, text


def the_client_is_asked_and_told(m):
    """By the conformance tests' own tools: questions and progress come on the same line."""
    with Stdio(m, env={"MCP_CONFORMANCE_FIXTURES": "true"}, hello=False) as client:
        client.ask("initialize", {"protocolVersion": LATEST, "capabilities": {"sampling": {}, "elicitation": {}}})
        call = client.begin("tools/call", {"name": "test_sampling", "arguments": {"prompt": "Say hello"}})
        asked = client.message(lambda message: message.get("method") == "sampling/createMessage")
        assert client.ask("ping") == {}
        client.send({"jsonrpc": "2.0", "id": "nobody asked", "result": {}})
        client.send({"jsonrpc": "2.0", "id": asked["id"], "result": {"role": "assistant", "model": "m",
            "content": {"type": "text", "text": "Hello there"}}})
        assert "Hello there" in json.dumps(client.answer(call)), call
        call = client.begin("tools/call", {"name": "test_sampling", "arguments": {"prompt": "Say hello"}})
        asked = client.message(lambda message: message.get("method") == "sampling/createMessage")
        client.send({"jsonrpc": "2.0", "id": asked["id"], "error": {"code": -1, "message": "not today"}})
        assert "not today" in json.dumps(client.answer(call))
        call = client.begin("tools/call", {"name": "test_tool_with_progress", "arguments": {},
            "_meta": {"progressToken": "p"}})
        answer = client.answer(call)
        told = [k["params"]["progress"] for k in client.kept if k.get("method") == "notifications/progress"]
        assert answer["result"] and len(told) >= 2 and told == sorted(told), (answer, client.kept)


def two_agents_talk(m):
    """Each has a process of its own; they share the storage and see each other's mail at once."""
    with Stdio(m) as one, Stdio(m) as two:
        register(one, "BlueLake", "GreenCastle")
        assert "send_message" in [tool["name"] for tool in one.ask("tools/list")["tools"]]
        send(one, "BlueLake", "GreenCastle", "Hello from here")
        inbox = two.call("fetch_inbox", project_key=PROJECT, agent_name="GreenCastle")["result"]
        assert [mail["subject"] for mail in inbox] == ["Hello from here"], inbox
        send(two, "GreenCastle", "BlueLake", "And back")
        inbox = one.call("fetch_inbox", project_key=PROJECT, agent_name="BlueLake")["result"]
        assert [mail["subject"] for mail in inbox] == ["And back"], inbox


def it_works_beside_a_server(m):
    with m.serve() as server, Stdio(m) as client:
        register(client, "BlueLake", "GreenCastle")
        send(client, "BlueLake", "GreenCastle")
        lines = server.get("/metrics")[2].splitlines()
        assert 'mailroom_messages_total{project="srv-backend"} 1' in lines, lines


def the_archive_is_written(m):
    with Stdio(m) as client:
        register(client, "BlueLake", "GreenCastle")
        send(client, "BlueLake", "GreenCastle", "For the record")
    log = subprocess.run(["git", "-C", os.path.join(m.root, "projects", "srv-backend"), "log", "--format=%B"],
        capture_output=True, text=True, check=True).stdout
    assert "mail: BlueLake -> GreenCastle | For the record" in log, log


def what_is_wrong_is_answered(m):
    cases = (
        (b"not json\n", None, -32700, "not valid JSON"),
        (b"[]\n", None, -32600, "1 to 100 messages"),
        (b"[1,2]\n", None, -32600, "must be an object"),
        (b'{"id":7,"method":"ping"}\n', 7, -32600, "jsonrpc"),
        (b'{"jsonrpc":"2.0","id":7,"method":1}\n', 7, -32600, "method must be a string"),
        (b'{"jsonrpc":"2.0","id":7,"method":"no/such"}\n', 7, -32601, "no/such"),
        (b'{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"nobody"}}\n', 7, -32602, "nobody"),
        (b'[{"jsonrpc":"2.0","id":7,"method":"ping"}]\n', None, -32600, "no batches"),
        (b"\xff\xfe\n", None, -32700, "not valid JSON"),
    )
    with Stdio(m) as client:
        for data, id, code, text in cases:
            client.write(data)
            answer = client.message()
            assert answer["id"] == id and answer["error"]["code"] == code, (data, answer)
            assert text in answer["error"]["message"], (data, answer)
        client.write(b"\n  \r\n\n")
        assert client.ask("ping") == {}


def a_line_has_a_limit(m):
    """Too long a line is answered, and the next one is read as if nothing had been."""
    with Stdio(m) as client:
        client.write(b"x" * (LINE_BYTES + 1) + b"\n")
        answer = client.message()
        assert answer["id"] is None and answer["error"]["code"] == -32600, answer
        assert answer["error"]["message"] == f"a message has at most {LINE_BYTES} bytes", answer
        client.write(b" " * LINE_BYTES)
        client.write(b"y" * LINE_BYTES + b"\n")
        assert client.message()["error"]["code"] == -32600
        message = json.dumps({"jsonrpc": "2.0", "id": 99, "method": "ping"}).encode()
        client.write(b" " * (LINE_BYTES - len(message)) + message + b"\n")
        assert client.answer(99)["result"] == {}


def a_tool_that_fails_says_so(m):
    with Stdio(m) as client:
        result = client.ask("tools/call", {"name": "fetch_inbox", "arguments": {"project_key": "/nowhere",
            "agent_name": "BlueLake"}})
        assert result["isError"] and result["structuredContent"]["error"]["type"] == "NOT_FOUND", result


def batches_are_of_one_version(m):
    with Stdio(m, hello=False) as client:
        client.ask("initialize", {"protocolVersion": "2025-03-26", "capabilities": {}})
        client.send([{"jsonrpc": "2.0", "id": "a", "method": "ping"},
            {"jsonrpc": "2.0", "method": "notifications/initialized"},
            {"jsonrpc": "2.0", "id": "b", "method": "no/such"}])
        answers = client.message(lambda message: isinstance(message, list))
        assert [a["id"] for a in answers] == ["a", "b"] and answers[1]["error"]["code"] == -32601, answers
        client.send([{"jsonrpc": "2.0", "method": "notifications/initialized"}])
        assert client.ask("ping") == {}


def the_second_generation_needs_no_introduction(m):
    with Stdio(m, hello=False) as client:
        found = client.ask("server/discover", {"_meta": MODERN})
        assert found["supportedVersions"] == ["2026-07-28"] and found["resultType"] == "complete", found
        assert found["_meta"]["io.modelcontextprotocol/serverInfo"]["name"] == "mailroom", found
        made = client.ask("tools/call", {"_meta": MODERN, "name": "ensure_project", "arguments": {"human_key": PROJECT}})
        assert made["structuredContent"]["slug"] == "srv-backend" and made["resultType"] == "complete", made
        assert client.fail("ping", {"_meta": MODERN})["code"] == -32601
        wrong = {**MODERN, "io.modelcontextprotocol/protocolVersion": "2027-01-01"}
        error = client.fail("tools/list", {"_meta": wrong})
        assert error["code"] == -32022, error
        assert error["data"] == {"supported": ["2026-07-28"], "requested": "2027-01-01"}, error
        error = client.fail("tools/list", {"_meta": {"io.modelcontextprotocol/protocolVersion": "2026-07-28"}})
        assert error["code"] == -32602 and "clientCapabilities" in error["message"], error
        client.send([{"jsonrpc": "2.0", "id": 5, "method": "tools/list", "params": {"_meta": MODERN}}])
        assert client.message()["error"]["code"] == -32600


def waiting_blocks_nobody(m):
    with Stdio(m) as client:
        register(client, "BlueLake", "GreenCastle")
        waits = [client.begin_call("wait_for_mail", project_key=PROJECT, agent_name="GreenCastle", since=0,
            timeout_seconds=50)
            for _ in range(8)]
        assert client.ask("ping") == {}
        send(client, "BlueLake", "GreenCastle", "At last")
        for wait in waits:
            result = client.answer(wait)["result"]
            assert "At last" in json.dumps(result["structuredContent"]), result


def too_many_that_wait_are_refused(m):
    with Stdio(m) as client:
        register(client, "BlueLake")
        for _ in range(24):
            client.begin_call("wait_for_mail", project_key=PROJECT, agent_name="BlueLake", timeout_seconds=50)
        one_more = client.begin_call("wait_for_mail", project_key=PROJECT, agent_name="BlueLake", timeout_seconds=50)
        error = client.answer(one_more)["error"]
        assert error["code"] == -32000 and "too many calls wait" in error["message"], error
        assert client.ask("ping") == {}


def a_call_can_be_cancelled(m):
    with Stdio(m) as client:
        register(client, "BlueLake", "GreenCastle")
        wait = client.begin_call("wait_for_mail", project_key=PROJECT, agent_name="GreenCastle", timeout_seconds=50)
        client.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": wait}})
        client.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "unknown"}})
        send(client, "BlueLake", "GreenCastle")
        assert client.end() == 0
        rest = []
        while (message := client.message()) is not None:
            rest.append(message)
        assert not [r for r in rest if r.get("id") == wait], rest


def changes_are_told(m):
    """A subscription hears of what another process stored."""
    with Stdio(m) as client, Stdio(m) as other:
        register(client, "BlueLake", "GreenCastle")
        uri = "resource://inbox/GreenCastle?project=srv-backend"
        client.ask("resources/subscribe", {"uri": uri})
        send(other, "BlueLake", "GreenCastle")
        told = client.message(lambda message: message.get("method") == "notifications/resources/updated")
        assert told["params"]["uri"] == uri, told
        client.ask("resources/unsubscribe", {"uri": uri})


def the_second_generation_listens(m):
    with Stdio(m, hello=False) as client, Stdio(m) as other:
        register(other, "BlueLake", "GreenCastle")
        uri = "resource://inbox/GreenCastle?project=srv-backend"
        key = "io.modelcontextprotocol/subscriptionId"
        wanted = {"notifications": {"resourceSubscriptions": [uri, "resource://nothing"], "toolsListChanged": True}}
        id = client.begin("subscriptions/listen", {"_meta": MODERN, **wanted})
        first = client.message()
        assert first["method"] == "notifications/subscriptions/acknowledged", first
        assert first["params"]["notifications"] == {"toolsListChanged": True, "resourceSubscriptions": [uri]}, first
        assert first["params"]["_meta"] == {key: id}, first
        send(other, "BlueLake", "GreenCastle")
        told = client.message()
        assert told["method"] == "notifications/resources/updated", told
        assert told["params"] == {"_meta": {key: id}, "uri": uri}, told
        # Another one, which stays until the end; the first is cancelled and hears nothing more.
        last = client.begin("subscriptions/listen", {"_meta": MODERN, "notifications": {"promptsListChanged": True}})
        assert client.message()["params"]["_meta"] == {key: last}
        client.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}})
        assert client.ask("tools/list", {"_meta": MODERN})["tools"]
        send(other, "BlueLake", "GreenCastle")
        assert client.fail("subscriptions/listen", {"_meta": MODERN})["code"] == -32602
        # One after the other: of many at once any may be the one too many.
        for _ in range(15):
            client.begin("subscriptions/listen", {"_meta": MODERN, **wanted})
            client.message(lambda m: m.get("method") == "notifications/subscriptions/acknowledged")
        error = client.fail("subscriptions/listen", {"_meta": MODERN, **wanted})
        assert error["code"] == -32000 and "too many" in error["message"], error
        client.end()
        ended = client.answer(last)
        assert ended["result"] == {"resultType": "complete", "_meta": {key: last}}, ended
        assert not [k for k in client.kept if k.get("id") == id], client.kept


def who_cancels_at_once_listens_to_nothing(m):
    """The cancellation may be read before a thread has begun with what it cancels."""
    with Stdio(m, hello=False) as client:
        for n in range(40):
            lines = ({"jsonrpc": "2.0", "id": n, "method": "subscriptions/listen",
                "params": {"_meta": MODERN, "notifications": {"toolsListChanged": True}}},
                {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": n}})
            client.write(b"".join(json.dumps(line).encode() + b"\n" for line in lines))
            assert client.message()["method"] == "notifications/subscriptions/acknowledged"
        assert client.end() == 0, client.logged()
        assert client.message() is None


def the_end_of_input_ends_it_soon(m):
    """What was asked is answered; who waits is told that it is over."""
    with Stdio(m) as client:
        register(client, "BlueLake")
        wait = client.begin_call("wait_for_mail", project_key=PROJECT, agent_name="BlueLake", timeout_seconds=50)
        begun = time.monotonic()
        assert client.end() == 0, client.logged()
        assert time.monotonic() - begun < 30
        assert client.answer(wait), "no answer"


def the_last_line_needs_no_newline(m):
    done = m.run("mcp", stdin='{"jsonrpc":"2.0","id":1,"method":"ping"}')
    assert done.returncode == 0 and json.loads(done.stdout)["result"] == {}, done


def signals_end_it_well(m):
    for how in (signal.SIGTERM, signal.SIGINT):
        with Stdio(m) as client:
            client.process.send_signal(how)
            assert client.process.wait(60) == 0


def a_client_that_left_ends_it(m):
    """Its input stays open, but nobody reads what is said."""
    read, write = os.pipe()
    process = subprocess.Popen([m.program, "mcp"], cwd=m.dir, env=m.env(), stdin=subprocess.PIPE, stdout=write,
        stderr=subprocess.DEVNULL)
    os.close(write)
    os.close(read)
    process.stdin.write(b'{"jsonrpc":"2.0","id":1,"method":"ping"}\n')
    process.stdin.flush()
    assert process.wait(60) == 0
    process.stdin.close()


def only_messages_go_to_standard_output(m):
    with Stdio(m, env={"LOG_LEVEL": "debug"}) as client:
        client.ask("tools/list")
        client.end()
        for line in client.logged().splitlines():
            assert json.loads(line)["event"], line
        assert "mcp_client" in client.logged()


def trouble_with_storage_is_a_tools_trouble(m):
    m.write("data", "a file in the way")
    with Stdio(m) as client:
        result = client.ask("tools/call", {"name": "ensure_project", "arguments": {"human_key": PROJECT}})
        assert result["isError"], result
        assert client.ask("ping") == {}


def many_at_once_lose_nothing(m):
    """Four processes, each with many requests on its line at once."""
    clients = [Stdio(m) for _ in range(4)]
    register(clients[0], "BlueLake", "GreenCastle")

    def many(client):
        ids = [client.begin_call("send_message", project_key=PROJECT, sender_name="BlueLake", to=["GreenCastle"],
            subject=f"{client.process.pid} {i}", body_md="Body.") for i in range(25)]
        for id in ids:
            answer = client.answer(id)
            assert not answer["result"]["isError"], answer

    threads = [threading.Thread(target=many, args=(client,)) for client in clients]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    inbox = clients[0].call("fetch_inbox", project_key=PROJECT, agent_name="GreenCastle", limit=200)["result"]
    assert len({mail["subject"] for mail in inbox}) == len(inbox) == 100, len(inbox)
    for client in clients:
        assert client.end() == 0, client.logged()
        client.process.stdout.close()
        client.log.close()


with Tap() as tap:
    for case in (it_introduces_itself, versions_are_agreed_on, a_small_set_of_tools_can_be_had,
            the_client_is_asked_and_told, two_agents_talk, it_works_beside_a_server,
            the_archive_is_written, what_is_wrong_is_answered, a_line_has_a_limit, a_tool_that_fails_says_so,
            batches_are_of_one_version, the_second_generation_needs_no_introduction, waiting_blocks_nobody,
            too_many_that_wait_are_refused, a_call_can_be_cancelled, changes_are_told,
            the_second_generation_listens, who_cancels_at_once_listens_to_nothing, the_end_of_input_ends_it_soon,
            the_last_line_needs_no_newline, signals_end_it_well, a_client_that_left_ends_it,
            only_messages_go_to_standard_output, trouble_with_storage_is_a_tools_trouble, many_at_once_lose_nothing):
        with Mailroom(sys.argv[1]) as room:
            tap.run(case.__name__, case, room)
