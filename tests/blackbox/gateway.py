"""usage: gateway.py PROGRAM SOURCE - an agent's gateway: what it serves, its files, how it is found, trouble."""

import concurrent.futures
import http.client
import json
import os
import shutil
import signal
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from agents import Agents, Gateway  # noqa: E402
from mailroom import describe  # noqa: E402
from tap import Tap  # noqa: E402


NOBODY = "filesystem:msg-20260101T000000Z-00000000000000000000000000000000"


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
        # Longer than any body may be: from its length, or while it comes.
        for headers in ({}, {"Transfer_Encoding": "chunked"}):
            body = b" " * (5 << 20)
            status, told = gateway.ask("list", b"%x\r\n%s\r\n0\r\n\r\n" % (len(body), body) if headers else body, **headers)
            assert (status, told) == (422, {"detail": "The body is larger than 4194304 bytes"}), (status, told)
        status, told = gateway.ask("list", "{}", Content_Type="text/plain")
        assert status == 422 and told["detail"][0]["type"] == "model_attributes_type", told
        assert gateway.ask("list", {"archived": None, "limit": None, "since": None})[0] == 200
        assert gateway.ask("peek", {})[1]["detail"][0] == {"type": "missing", "loc": ["body", "message_ref"],
            "msg": "Field required", "input": {}}
        assert gateway.request("GET", "/v1/mail/list")[0] == 405 and gateway.request("HEAD", "/v1/mail/status")[0] == 405
        status, _, text = gateway.request("POST", "/v1/mail/nothing")
        assert (status, json.loads(text)) == (404, {"detail": "Not Found"}), text


POINTS = ["deliver.staged", "deliver.intended", "deliver.filled", "deliver.moved", "deliver.linked", "deliver.committed", "deliver.unlocked",
    "deliver.local_committed", "deliver.dropped"]


def letter(subject="s", to="bob", **more):
    return {"to": [f"{to}@houmao.localhost"], "subject": subject, "body_content": "x", **more}


def refs(gateway, box="inbox", agent=None):
    return [one["message_ref"] for one in gateway.ask("list", {"box": box}, agent)[1]["messages"]]


def a_retry_sends_nothing_twice(m):
    m.create("alice", "bob")
    with m.gateway("alice") as gateway:
        status, first = gateway.ask("send", letter(), Idempotency_Key="one")
        assert (status, gateway.ask("send", letter(), Idempotency_Key="one")) == (200, (200, first))
        status, told = gateway.ask("send", letter("another"), Idempotency_Key="one")
        assert status == 422 and "used for another request" in told["detail"], told
        assert gateway.ask("send", letter(), Idempotency_Key="two")[1]["message"]["message_ref"] != first["message"]["message_ref"]
        # The keys of one verb are not those of another.
        posted = [gateway.ask("post", {"subject": "s", "body_content": "x"}, Idempotency_Key="one") for _ in range(2)]
        assert posted[0] == posted[1] and posted[0][0] == 200, posted
        asked = {"message_ref": posted[0][1]["message"]["message_ref"], "body_content": "Yes."}
        replied = [gateway.ask("reply", asked, Idempotency_Key="one") for _ in range(2)]
        assert replied[0] == replied[1] and replied[0][0] == 200, replied
        assert gateway.ask("send", letter(), Idempotency_Key="k" * 256)[0] == 422
        # Of requests that come at once one sends.
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            told = list(pool.map(lambda _: gateway.ask("send", letter("at once"), Idempotency_Key="three"), range(8)))
        assert len({one["message"]["message_ref"] for _, one in told}) == 1 and {status for status, _ in told} == {200}, told
    assert len(m.mail("bob", "list")["messages"]) == 3
    m.check()


def a_kill_before_the_answer_sends_nothing_twice(m):
    """At every step of the delivery: the client gets no answer, and sends its request again to the next gateway."""
    m.create("alice", "bob")
    for point in POINTS:
        gateway = m.gateway("alice", env={"MAILROOM_CRASH_AT": point})
        try:
            gateway.ask("send", letter(point), Idempotency_Key=point)
            raise AssertionError(f"{point} was not passed")
        except (http.client.HTTPException, ConnectionError):
            pass
        gateway.process.wait(60)
        gateway.close()
        with m.gateway("alice") as gateway:
            sent = [gateway.ask("send", letter(point), Idempotency_Key=point) for _ in range(2)]
            assert sent[0] == sent[1] and sent[0][0] == 200, (point, sent)
        got = [one["subject"] for one in m.mail("bob", "list")["messages"]]
        assert got.count(point) == 1, (point, got)
    m.json("mailbox", "check")


def several_refs_are_changed_all_or_none(m):
    m.create("alice", "bob")
    sent = [m.send("bob", "alice", f"n{i}")["message_ref"] for i in range(3)]
    with m.gateway("alice") as gateway:
        before = gateway.ask("list", {})[1]
        for verb, more in (("archive", {}), ("move", {"destination_box": "later"}), ("mark", {"read": True})):
            status, told = gateway.ask(verb, {"message_refs": [*sent, NOBODY], **more})
            assert status == 502 and "has no message" in told["detail"], told
            assert gateway.ask("list", {})[1] == before
        assert gateway.ask("archive", {"message_refs": sent})[1]["message_count"] == 3
        assert sorted(refs(gateway, "archive")) == sorted(sent)
        assert gateway.ask("mark", {"message_refs": sent, "archived": True, "read": False})[0] == 502
        assert gateway.ask("state", {"message_ref": sent[0], "read": False})[0] == 422
        assert gateway.ask("state", {"message_ref": sent[0]})[1]["read"] is True
    m.check()


def what_cannot_be_sent_is_refused_before_anything_is(m):
    m.create("alice", "bob", "carol")
    theirs = m.send("bob", "carol", "not alice's")["message_ref"]
    with m.gateway("alice") as gateway:
        for verb, body, status, text in (
                ("reply", {"message_ref": theirs, "body_content": "x"}, 502, "has no message"),
                ("send", letter(to="nobody"), 502, "has no mailbox"),
                ("send", {**letter(), "to": ["bob"]}, 502, "Did you mean `bob@houmao.localhost`?"),
                ("send", letter(attachments=[{"path": "absent"}]), 502, "absent"),
                ("send", letter(attachments=[{"path": m.dir}]), 502, "regular file"),
                ("send", {**letter(), "body_content": "y" * (3 << 20), "subject": "s" * (65 << 10)}, 422, "subject"),
                ("peek", {"message_ref": "stalwart:1"}, 502, "is not the ref of a message here"),
                ("peek", {"message_ref": "filesystem:"}, 502, "is not the ref of a message here"),
                ("move", {"message_refs": [NOBODY], "destination_box": "a/b"}, 502, "cannot be the name of a box")):
            got, told = gateway.ask(verb, body)
            assert got == status and text in told["detail"], (verb, got, told)
        assert refs(gateway, "sent") == []
        for body in (letter(notify_block={"text": " "}), letter(notify_auth={"scheme": "jws"}), letter(subject=" "),
                {**letter(), "to": []}, {**letter(), "to": [" "]}, letter(subject=5), letter(notify_block={"text": "a\n```\nb"})):
            status, told = gateway.ask("send", body)
            assert status == 422 and told["detail"][0]["loc"][0] == "body", (body, told)
        for scheme, kind in (("jws", "value_error"), ("bogus", "literal_error")):
            problem = gateway.ask("send", letter(notify_auth={"scheme": scheme}))[1]["detail"][0]
            assert (problem["type"], problem["loc"]) == (kind, ["body", "notify_auth", "scheme"]), problem
        assert gateway.ask("post", {"subject": "s", "body_content": "x", "reply_policy": "none"})[0] == 200
        status, told = gateway.ask("reply", {"message_ref": refs(gateway)[0], "body_content": "x"})
        assert status == 422 and "take no answers" in told["detail"], told
    assert [one["subject"] for one in m.mail("carol", "list")["messages"]] == ["not alice's"]
    m.check()


def sessions_in_trouble_say_what_to_do(m):
    m.create("alice", "bob")
    path = m.manifest("alice")
    with open(path, encoding="utf-8") as file:
        manifest = file.read()
    with m.gateway("alice") as gateway:
        def told(status):
            got, answer = gateway.ask("list", {})
            assert got == status and isinstance(answer["detail"], str), (got, answer)
            return answer["detail"]

        m.write(path, manifest[:200])
        assert "cannot be read" in told(422)
        os.unlink(path)
        assert "no session manifest" in told(422)
        m.write(path, manifest)
        m.run("agents", "unbind", "alice")
        assert "mailroom agents bind alice" in told(422)
        # A new binding is followed at once.
        bound = m.json("agents", "bind", "alice", "--address", "alice2@houmao.localhost")
        assert gateway.ask("status")[1] == {"schema_version": 1, "transport": "filesystem", "principal_id": "HOUMAO-alice",
            "address": "alice2@houmao.localhost", "bindings_version": bound["bindings_version"]}
        m.send("bob", "alice2", "to the new address")
        assert len(refs(gateway)) == 1
        os.rename(m.mail_root, m.mail_root + ".away")
        assert "no mailbox root at" in told(422)
        os.rename(m.mail_root + ".away", m.mail_root)
        assert len(refs(gateway)) == 1


def one_that_listens_everywhere_serves_no_mail(m):
    m.create("alice")
    with m.gateway("alice", "--host", "0.0.0.0") as gateway:
        port = gateway.url.rsplit(":", 1)[1]
        gateway.address = f"127.0.0.1:{port}"
        assert gateway.get("/health")[0] == 200
        status, told = gateway.ask("status")
        assert status == 503 and "127.0.0.1" in told["detail"], told
    done = m.run("gateway", "--agent-name", "alice", "--host", "10.0.0.1")
    assert done.returncode == 2 and "--host" in done.stderr, describe(done)


def strangers_are_refused(m):
    m.create("alice")
    with m.gateway("alice") as gateway:
        assert gateway.get("/v1/mail/status", Host="evil.example")[0] == 403
        assert gateway.get("/v1/mail/status", Origin="http://evil.example")[0] == 403
        assert gateway.get("/v1/mail/status", Origin=gateway.url)[0] == 200


def tokens_are_not_shown(m):
    m.create("alice", "bob")
    with m.gateway("alice") as gateway:
        status, told = gateway.ask("send", letter(notify_auth={"token": "s3cret-token"}, notify_block={"text": "look"}))
        assert status == 200 and told["message"]["notify_auth"]["token"] is None, told
        gateway.ask("send", letter(notify_auth={"token": "s3cret-token", "scheme": "jws"}))
        gateway.ask("send", {**letter(), "to": ["bob"], "body_content": "s3cret-body"})
        assert "s3cret" not in json.dumps(gateway.ask("list", {"box": "sent", "include_body": True})[1])
        gateway.stop()
        assert "s3cret" not in gateway.logged() and "operation_started" not in gateway.logged()
    with open(os.path.join(session_of(m, "alice"), "gateway/events.jsonl"), encoding="utf-8") as file:
        events = [json.loads(line) for line in file]
    assert [(one["event"], one["operation"]) for one in events if "operation" in one] == [
        ("gateway.mailbox_operation_completed", "gateway_mail_send"), ("gateway.http_validation_failed", "gateway_mail_send"),
        ("gateway.mailbox_operation_failed", "gateway_mail_send"), ("gateway.mailbox_operation_completed", "gateway_mail_list")], events
    with open(os.path.join(session_of(m, "alice"), "gateway/logs/gateway.log"), encoding="utf-8") as file:
        lines = file.readlines()
    assert len(lines) == len(events) and "+00:00 {" in lines[0], lines
    for directory, _, names in os.walk(session_of(m, "alice")):
        for name in names:
            with open(os.path.join(directory, name), "rb") as file:
                assert b"s3cret" not in file.read(), name


def it_notes_counts_refs_and_flags_alone(m):
    m.create("alice", "bob")
    m.write("s3cret.txt", "s3cret")
    with m.gateway("alice", env={"LOG_LEVEL": "debug"}) as gateway:
        status, sent = gateway.ask("send", letter("s3cret", cc=["alice@houmao.localhost"], notify_block={"text": "s3cret"},
            notify_auth={"token": "s3cret"}, body_content="s3cret",
            attachments=[{"path": os.path.join(m.dir, "s3cret.txt"), "label": "s3cret"}]))
        assert status == 200, sent
        ref = sent["message"]["message_ref"]
        gateway.ask("list", {"include_body": True, "archived": False, "box": "inbox"})
        gateway.ask("mark", {"message_refs": [ref, NOBODY], "read": True})
        gateway.ask("peek", {"message_ref": ref})
        gateway.ask("peek", {"message_ref": "filesystem:s3cret"})
        gateway.ask("send", letter(attachments=[{"path": "/absent/s3cret", "label": "s3cret"}]))
        gateway.ask("send", letter(s3cret="s3cret", subject=" "))
        gateway.stop()
        assert "s3cret" not in gateway.logged()
    events = events_of(m, "alice")
    for name in ("events.jsonl", "logs/gateway.log"):
        with open(os.path.join(session_of(m, "alice"), "gateway", name), encoding="utf-8") as file:
            assert "s3cret" not in file.read()
    who = {"address": "alice@houmao.localhost"}
    send = {"operation": "gateway_mail_send", **who, "to_count": 1, "cc_count": 1, "attachments_count": 1, "has_notify_block": 1,
        "has_notify_auth": 1}
    assert events == [("started", send), ("completed", {**send, "code": "ok"}),
        ("started", {"operation": "gateway_mail_list", **who, "archived": 0, "include_body": 1}),
        ("completed", {"operation": "gateway_mail_list", **who, "archived": 0, "include_body": 1, "code": "ok"}),
        ("started", {"operation": "gateway_mail_mark", **who, "message_refs_count": 2, "read": 1}),
        ("failed", {"operation": "gateway_mail_mark", **who, "message_refs_count": 2, "read": 1, "code": "not_found"}),
        ("started", {"operation": "gateway_mail_peek", **who, "message_ref": ref}),
        ("completed", {"operation": "gateway_mail_peek", **who, "message_ref": ref, "code": "ok"}),
        ("started", {"operation": "gateway_mail_peek", **who}),
        ("failed", {"operation": "gateway_mail_peek", **who, "code": "not_found"}),
        ("started", {"operation": "gateway_mail_send", **who, "to_count": 1, "attachments_count": 1}),
        ("failed", {"operation": "gateway_mail_send", **who, "to_count": 1, "attachments_count": 1, "code": "not_found"}),
        ("http_validation_failed", {"operation": "gateway_mail_send", "problems": 2})], events


def events_of(m, agent):
    with open(os.path.join(session_of(m, agent), "gateway/events.jsonl"), encoding="utf-8") as file:
        events = [json.loads(line) for line in file]
    return [(one["event"].rsplit(".", 1)[1].removeprefix("mailbox_operation_"), {key: value for key, value in one.items()
        if key not in ("ts", "level", "event", "bytes")}) for one in events if one["event"].startswith("gateway.")]


def a_failure_that_repeats_is_counted(m):
    m.create("alice")
    with m.gateway("alice") as gateway:
        # Another minute may begin in between: then it is written twice.
        for _ in range(30):
            assert gateway.ask("peek", {"message_ref": NOBODY})[0] == 502
        shutil.rmtree(os.path.join(m.mail_root, "mailboxes/alice@houmao.localhost"))
        status, told = gateway.ask("list", {})
        assert status in (422, 502), told
        assert "repair" in told["detail"], told
    failed = [fields for event, fields in events_of(m, "alice") if event == "failed"]
    peeks = [one for one in failed if one["operation"] == "gateway_mail_peek"]
    assert len(peeks) in (1, 2), failed
    assert sum(one.get("suppressed", 0) for one in failed) + len(peeks) == 30, failed
    assert failed[-1]["repair_hint"] == "run mailbox repair" and "repair_hint" not in peeks[0], failed
    m.run("mailbox", "repair")


def rights_are_those_of_the_operation(m):
    """A reader's token looks; only a writer's sends, marks, moves, and changes how the agent is told."""
    m.create("alice", "bob")
    ref = m.send("bob", "alice", "s")["message_ref"]
    tokens = {"HTTP_BEARER_TOKENS": "r3ader:reader,wr1ter:writer", "HTTP_ALLOW_LOCALHOST_UNAUTHENTICATED": "false"}
    looks = {"status": None, "list": {}, "check": {}, "peek": {"message_ref": ref}}
    changes = {"send": letter(), "post": {"subject": "s", "body_content": "x"}, "reply": {"message_ref": ref, "body_content": "x"},
        "read": {"message_ref": ref}, "mark": {"message_refs": [ref], "read": True},
        "move": {"message_refs": [ref], "destination_box": "later"}, "archive": {"message_refs": [ref]},
        "state": {"message_ref": ref, "read": True}}
    with Gateway(m, (), tokens, command=("serve", "--port", "0")) as server:
        reader, writer = {"Authorization": "Bearer r3ader"}, {"Authorization": "Bearer wr1ter"}
        for verb, body in looks.items():
            assert server.ask(verb, body, "alice")[0] == 401, verb
            assert server.ask(verb, body, "alice", **reader)[0] == 200, verb
        for verb, body in changes.items():
            assert server.ask(verb, body, "alice")[0] == 401, verb
            assert server.ask(verb, body, "alice", **reader)[0] == 403, verb
        notifier = "/houmao/agents/alice/gateway/mail-notifier"
        on = json.dumps({"enabled": True, "interval_seconds": 60})
        for method, body, wanted in (("GET", None, 200), ("PUT", on, 403), ("DELETE", None, 403)):
            headers = {**reader, **({"Content-Type": "application/json"} if body else {})}
            assert server.request(method, notifier, headers, body)[0] == wanted, method
        assert server.request("GET", notifier + "/next?wait=1", reader)[0] == 403
        # Nothing happened.
        listed = server.ask("list", {}, "alice", **reader)[1]["messages"]
        assert [(one["message_ref"], one["read"]) for one in listed] == [(ref, False)], listed
        assert server.ask("list", {"box": "sent"}, "alice", **reader)[1]["message_count"] == 0
        for verb, body in changes.items():
            assert server.ask(verb, body, "alice", **writer)[0] == 200, verb
    m.check()


def a_server_serves_all_agents(m):
    m.create("bob")
    work = os.path.join(m.dir, "work")
    os.mkdir(work)
    m.json("agents", "create", "alice", cwd=work)
    with Gateway(m, (), {}, command=("serve", "--port", "0")) as server:
        status, sent = server.ask("send", letter(), agent="alice", Idempotency_Key="k")
        assert status == 200 and sent["principal_id"] == "HOUMAO-alice", sent
        assert server.ask("send", letter(), agent="alice", Idempotency_Key="k") == (200, sent)
        ref = sent["message"]["message_ref"]
        assert refs(server, agent="bob") == [ref] and refs(server, agent=m.record("bob")["agent_id"]) == [ref]
        assert server.ask("read", {"message_ref": ref}, agent="bob")[1]["message"]["read"] is True
        assert server.ask("status", agent="bob")[1]["address"] == "bob@houmao.localhost"
        status, told = server.ask("status", agent="carol")
        assert status == 422 and "no agent named `carol`" in told["detail"], told
        assert server.ask("list", {"agent_ref": "alice"}, agent="bob")[1]["detail"][0]["type"] == "extra_forbidden"
        # Files of the server are not everybody's to attach.
        m.write("work/note.txt", "in the agent's working directory")
        attached = letter(attachments=[{"path": os.path.join(work, "note.txt")}])
        told = server.ask("send", attached, agent="alice")
        assert told[0] == 200, told
        status, told = server.ask("send", letter(attachments=[{"path": "/etc/hostname"}]), agent="alice")
        assert status == 502 and "may name" in told["detail"], told
    # Where a token is needed, it is needed here.
    token = {"HTTP_BEARER_TOKEN": "t0ken", "HTTP_ALLOW_LOCALHOST_UNAUTHENTICATED": "false"}
    with Gateway(m, (), token, command=("serve", "--port", "0")) as server:
        assert server.ask("status", agent="bob")[0] == 401
        assert server.ask("status", agent="bob", Authorization="Bearer t0ken")[0] == 200
        # So does --port: as the settings say, or through the user's own socket.
        port = server.url.rsplit(":", 1)[1]
        for env, status in (({"HTTP_SOCKET": "off"}, 1), ({"HTTP_SOCKET": "off", "HTTP_BEARER_TOKEN": "t0ken"}, 0),
                ({"HTTP_SOCKET": "off", "MAILROOM_TOKEN": "t0ken"}, 0)):
            done = m.run("mail", "--agent-name", "bob", "--port", port, "status", env=env)
            assert done.returncode == status and ("(status 401)" in done.stderr) == (status == 1), describe(done)
    m.check()


def verbs_go_over_http_where_they_must(m):
    """Through a server of many agents with --port, and through the agent's gateway when the mailbox cannot be opened here."""
    m.create("bob")
    os.mkdir(os.path.join(m.dir, "work"))
    m.json("agents", "create", "alice", cwd=os.path.join(m.dir, "work"))
    m.write("work/note.txt", "attachment")
    with Gateway(m, (), {}, command=("serve", "--port", "0")) as server:
        port = server.url.rsplit(":", 1)[1]

        def far(verb, *args):
            return m.mail("alice", "--port", port, verb, *args)

        def near(verb, *args):
            return {**m.mail("alice", verb, *args), "execution_path": "gateway_backed"}

        sent = far("send", "--to", "bob@houmao.localhost", "--subject", "s", "--body-content", "x", "--notify-block", "look",
            "--attach", "work/note.txt")
        assert sent["execution_path"] == "gateway_backed" and sent["authoritative"] is True, sent
        ref = far("post", "--subject", "p", "--body-content", "y", "--reply-policy", "operator_mailbox")["message"]["message_ref"]
        for words in (("status",), ("list", "--box", "sent", "--include-body"), ("list", "--read-state", "unread"), ("check",),
                ("peek", sent["message"]["message_ref"]), ("read", ref), ("mark", ref, "--unread"), ("mark-read", ref),
                ("move", ref, "--destination-box", "later"), ("archive", ref)):
            assert far(*words) == near(*words), words
        assert far("reply", ref, "--body-content", "z")["message"]["subject"] == "Re: p"
        for words, text in ((("peek", NOBODY), "has no message"), (("list", "--box", "a/b"), "cannot be the name of a box"),
                (("send", "--to", "bob", "--subject", "s", "--body-content", "x"), "Did you mean")):
            done = m.run("mail", "--agent-name", "alice", "--port", port, *words)
            assert done.returncode == 1 and text in done.stderr, describe(done)
    done = m.run("mail", "--agent-name", "alice", "--port", port, "status")
    assert done.returncode == 1 and "does not answer" in done.stderr, describe(done)
    with m.gateway("alice") as gateway:
        assert m.mail("alice", "list")["execution_path"] == "manager_direct"
        # As an agent in a container has it: the manifest names a root that only the gateway can open.
        record = m.record("alice")
        other = record["runtime"]["session_root"] + "-other"
        shutil.copytree(record["runtime"]["session_root"], other)
        text = json.dumps(m.load(os.path.join(other, "manifest.json")))
        m.store(os.path.join(other, "manifest.json"), json.loads(text.replace(m.mail_root, "/nowhere/mailbox")))
        record["runtime"]["manifest_path"] = os.path.join(other, "manifest.json")
        m.store(os.path.join(m.registry, record["agent_id"], "record.json"), record)
        told = m.mail("alice", "send", "--to", "bob@houmao.localhost", "--subject", "through", "--body-content", "x")
        assert told["execution_path"] == "gateway_backed", told
        assert refs(gateway, "sent")[0] == told["message"]["message_ref"]
        gateway.stop()
    assert "/nowhere/mailbox" in m.refused("alice", "list")
    m.check()


def tmux_the_session_knows_its_gateway(m):
    """The variables are there while it runs; in a window of the session it says which."""
    m.create("alice")
    env = m.env(TMUX_TMPDIR=m.dir, SHELL="/bin/sh", PATH=os.path.dirname(m.program) + ":" + os.environ["PATH"])

    def tmux(*args, check=True):
        return subprocess.run(["tmux", *args], cwd=m.dir, env=env, capture_output=True, text=True, timeout=60, check=check).stdout

    def variables():
        return {line for line in tmux("show-environment", "-t", "=alice").splitlines() if "GATEWAY" in line}

    tmux("new-session", "-d", "-s", "alice", "cat")
    try:
        with m.gateway("alice", env={"TMUX_TMPDIR": m.dir}) as gateway:
            port = gateway.url.rsplit(":", 1)[1]
            assert variables() == {"HOUMAO_AGENT_GATEWAY_HOST=127.0.0.1", f"HOUMAO_AGENT_GATEWAY_PORT={port}",
                "HOUMAO_GATEWAY_PROTOCOL_VERSION=v1", f"HOUMAO_GATEWAY_STATE_PATH={session_of(m, 'alice')}/gateway/state.json"}
            state = json.loads(gateway.get("/v1/status")[2])
            assert state["managed_agent_connectivity"] == "connected" and state["request_admission"] == "open", state
        assert variables() == set(), variables()
        tmux("new-window", "-d", "-t", "=alice:", "-n", "gateway",
            "mailroom gateway --agent-name alice | (read -r line; tmux wait-for -S ready; cat); tmux wait-for -S gone; cat")
        tmux("wait-for", "ready")
        assert m.mail("alice", "resolve-live")["gateway_available"] is True
        record = m.load(os.path.join(session_of(m, "alice"), "gateway/run/current-instance.json"))
        assert record["execution_mode"] == "tmux_auxiliary_window" and record["tmux_window_index"] == "1", record
        os.kill(record["pid"], signal.SIGTERM)
        tmux("wait-for", "gone")
        assert not os.path.exists(os.path.join(session_of(m, "alice"), "gateway/run/current-instance.json"))
    finally:
        tmux("kill-server", check=False)


TESTS = [
    tmux_the_session_knows_its_gateway,
    verbs_go_over_http_where_they_must,
    a_retry_sends_nothing_twice,
    a_kill_before_the_answer_sends_nothing_twice,
    several_refs_are_changed_all_or_none,
    what_cannot_be_sent_is_refused_before_anything_is,
    sessions_in_trouble_say_what_to_do,
    one_that_listens_everywhere_serves_no_mail,
    strangers_are_refused,
    tokens_are_not_shown,
    it_notes_counts_refs_and_flags_alone,
    a_failure_that_repeats_is_counted,
    rights_are_those_of_the_operation,
    a_server_serves_all_agents,
    it_serves_the_mail_of_its_agent,
    its_files_are_those_of_the_runtime,
    a_killed_one_is_recognised,
    bodies_are_checked_to_the_letter,
]

with Tap() as tap:
    for test in TESTS:
        if test.__name__.startswith("tmux") and not shutil.which("tmux"):
            tap.skip(test.__name__, "there is no tmux")
            continue
        with Agents(sys.argv[1]) as room:
            tap.run(test.__name__, test, room)
