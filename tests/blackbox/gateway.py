"""usage: gateway.py PROGRAM SOURCE - an agent's gateway: what it serves, its files, how it is found, trouble."""

import json
import os
import signal
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from agents import Agents  # noqa: E402
from mailroom import describe  # noqa: E402
from tap import Tap  # noqa: E402


def session_of(m, agent):
    return m.record(agent)["runtime"]["session_root"]


def it_serves_the_mail_of_its_agent(m):
    m.create("alice", "bob")
    sent = m.send("bob", "alice", "Hello", "How are you?")["message_ref"]
    with m.gateway("alice") as gateway:
        status, _, text = gateway.get("/health")
        assert (status, text) == (200, '{"protocol_version":"v1","status":"ok"}'), text
        status, told = gateway.ask("status")
        assert status == 200 and told["address"] == "alice@houmao.localhost" and told["bindings_version"], told
        status, listed = gateway.ask("list", {})
        assert status == 200 and [one["message_ref"] for one in listed["messages"]] == [sent], listed
        assert gateway.ask("peek", {"message_ref": sent})[1]["message"]["read"] is False
        assert gateway.ask("read", {"message_ref": sent})[1]["message"]["body_text"] == "How are you?"
        assert gateway.ask("check", {"unread_only": True})[1]["message_count"] == 0
    m.check()


def its_files_are_those_of_the_runtime(m):
    m.create("alice")
    session = session_of(m, "alice")
    with m.gateway("alice") as gateway:
        port = int(gateway.url.rsplit(":", 1)[1])
        instance = m.load(os.path.join(session, "gateway/run/current-instance.json"))
        assert instance == {"schema_version": 1, "protocol_version": "v1", "pid": gateway.process.pid, "host": "127.0.0.1",
            "port": port, "execution_mode": "detached_process", "managed_agent_instance_epoch": 1,
            "managed_agent_instance_id": os.path.basename(session), "tmux_window_id": None, "tmux_window_index": None,
            "tmux_pane_id": None}, instance
        state = m.load(os.path.join(session, "gateway/state.json"))
        assert state == json.loads(gateway.get("/v1/status")[2]) and state["gateway_health"] == "healthy", state
        assert m.record("alice")["gateway"]["port"] == port
        found = m.mail("alice", "resolve-live")
        assert found["gateway"]["base_url"] == gateway.url and found["gateway_available"] is True, found
        # There is one for each agent.
        done = m.run("gateway", "--agent-name", "alice")
        assert done.returncode == 1 and "a gateway of agent alice runs already" in done.stderr, describe(done)
    assert os.listdir(os.path.join(session, "gateway/run")) == [".mailroom.lock"]
    assert m.record("alice")["gateway"] is None
    assert m.load(os.path.join(session, "gateway/gateway_manifest.json"))["gateway_port"] is None
    assert m.mail("alice", "resolve-live")["gateway"] is None


def a_killed_one_is_recognised(m):
    m.create("alice")
    gateway = m.gateway("alice")
    gateway.stop(signal.SIGKILL)
    gateway.close()
    assert m.record("alice")["gateway"], "nobody could take it away"
    assert m.mail("alice", "resolve-live")["gateway"] is None
    with m.gateway("alice") as gateway:
        assert m.mail("alice", "resolve-live")["gateway"]["base_url"] == gateway.url


def bodies_are_checked_to_the_letter(m):
    m.create("alice")
    with m.gateway("alice") as gateway:
        for body, problems in (
                ({"limit": 0}, [("value_error", ["body", "limit"])]),
                ({"limit": "1"}, [("int_type", ["body", "limit"])]),
                ({"limit": 1.0}, [("int_type", ["body", "limit"])]),
                ({"include_body": 1}, [("bool_type", ["body", "include_body"])]),
                ({"read_state": "maybe"}, [("literal_error", ["body", "read_state"])]),
                ({"x": 1, "box": " "}, [("value_error", ["body", "box"]), ("extra_forbidden", ["body", "x"])]),
                ({"since": "yesterday"}, [("value_error", ["body", "since"])]),
                ({"schema_version": 2}, [("value_error", ["body"])]),
                ([], [("model_attributes_type", ["body"])]),
                ("{", [("json_invalid", ["body", 0])]),
                ('{"box": "\\ud800"}', [("json_invalid", ["body", 15])]),
                (b"", [("missing", ["body"])])):
            status, told = gateway.ask("list", body)
            assert status == 422, (body, told)
            assert [(one["type"], one["loc"]) for one in told["detail"]] == problems, (body, told)
        status, told = gateway.ask("list", "{}", Content_Type="text/plain")
        assert status == 422 and told["detail"][0]["type"] == "model_attributes_type", told
        assert gateway.ask("list", {"archived": None, "limit": None, "since": None})[0] == 200
        assert gateway.ask("peek", {})[1]["detail"][0] == {"type": "missing", "loc": ["body", "message_ref"],
            "msg": "Field required", "input": {}}
        assert gateway.request("GET", "/v1/mail/list")[0] == 405 and gateway.request("HEAD", "/v1/mail/status")[0] == 405
        status, _, text = gateway.request("POST", "/v1/mail/nothing")
        assert (status, json.loads(text)) == (404, {"detail": "Not Found"}), text


TESTS = [
    it_serves_the_mail_of_its_agent,
    its_files_are_those_of_the_runtime,
    a_killed_one_is_recognised,
    bodies_are_checked_to_the_letter,
]

with Tap() as tap:
    for test in TESTS:
        with Agents(sys.argv[1]) as room:
            tap.run(test.__name__, test, room)
