"""usage: mail_golden.py PROGRAM SOURCE - agents' mail as the reference answers: its verbs, its files, its messages."""

import glob
import json
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from agents import Agents, Comparison, Health, manifest_of  # noqa: E402
from tap import Tap  # noqa: E402

PROGRAM, SOURCE = sys.argv[1:3]
GOLDEN = os.path.join(SOURCE, "tests/golden/mail")

def golden(name):
    with open(os.path.join(GOLDEN, name), encoding="utf-8") as file:
        return json.load(file)


def in_place(value, directory):
    return json.loads(json.dumps(value).replace("/project", directory))


def settle(m, port=9999):
    """alice as the runtime left her on disk, and bob as we make him."""
    files = in_place(golden("files.json"), m.dir)
    record = files["registry/live_agents/<agent-id>/record.json"]
    session = record["runtime"]["session_root"]
    for name in [name for name in files if name.startswith("gateway/")]:
        ours = {"port": port, "pid": os.getpid()}
        m.store(os.path.join(session, name), {**files[name], **{key: ours[key] for key in ours.keys() & files[name].keys()}})
    m.store(record["runtime"]["manifest_path"], manifest_of(record, m.dir))
    m.store(os.path.join(m.registry, record["agent_id"], "record.json"), record)
    m.create("bob")
    m.json("mailbox", "register", "--address", "alice@houmao.localhost", "--principal-id", "HOUMAO-alice")
    return record


def the_verbs(m):
    """Every verb of the recording, in the order in which it was recorded."""
    verbs = golden("verbs.json")
    compare = Comparison(m.dir)
    with Health() as health:
        settle(m, health.port)
        resolved = m.houmao("agents", "single", "--agent-name", "alice", "mail", "resolve-live")
        gateway = {**verbs["resolve-live"]["gateway"], "port": health.port, "base_url": f"http://127.0.0.1:{health.port}"}
        compare.same({**verbs["resolve-live"], "gateway": gateway}, resolved)

    def verb(name, *args):
        told = m.houmao("agents", "single", "--agent-name", "alice", "mail", name, *args)
        compare.same(verbs[name], told)
        return told

    verb("status")
    sent = verb("send", "--to", "bob@houmao.localhost", "--subject", "hello", "--body-content", "hi", "--notify-block", "look")
    verb("list", "--box", "sent")
    verb("peek", "--message-ref", sent["message"]["message_ref"])
    posted = verb("post", "--subject", "op", "--body-content", "x")["message"]["message_ref"]
    verb("read", "--message-ref", posted)
    verb("reply", "--message-ref", posted, "--body-content", "ok")
    verb("mark", "--message-ref", posted, "--unread")
    verb("move", "--message-ref", posted, "--destination-box", "later")
    verb("archive", "--message-ref", posted)
    status = m.houmao("agents", "single", "--agent-name", "alice", "mailbox", "status")
    compare.same(verbs["mailbox-status"], status)
    m.check()


def a_gateway_that_is_gone(m):
    """The record that a dead process left is recognised as such; a program that is no gateway, too."""
    with Health() as health:
        port = health.port
    settle(m, port)
    resolved = m.mail("alice", "resolve-live")
    assert resolved["gateway"] is None and resolved["gateway_available"] is False, resolved
    with Health("v9") as health:
        instance = os.path.join(m.record("alice")["runtime"]["session_root"], "gateway/run/current-instance.json")
        m.store(instance, {**m.load(instance), "port": health.port})
        assert m.mail("alice", "resolve-live")["gateway"] is None
    # The port may have gone to another session's gateway, and the process may be another one by now.
    with Health(session="session-2") as health:
        m.store(instance, {**m.load(instance), "port": health.port})
        assert m.mail("alice", "resolve-live")["gateway"] is None
    with Health() as health:
        m.store(instance, {**m.load(instance), "port": health.port})
        assert m.mail("alice", "resolve-live")["gateway_available"] is True
        gone = subprocess.Popen(["true"])
        gone.wait()
        m.store(instance, {**m.load(instance), "pid": gone.pid})
        assert m.mail("alice", "resolve-live")["gateway"] is None


def the_files(m):
    """A change of the binding keeps every other key of the runtime's files, and adds none."""
    record = settle(m)
    path = os.path.join(m.registry, record["agent_id"], "record.json")
    manifest = m.load(record["runtime"]["manifest_path"])
    bound = m.json("agents", "bind", "alice", "--address", "alice2@houmao.localhost")
    after, record_after = m.load(record["runtime"]["manifest_path"]), m.load(path)
    mailbox = after["launch_plan"].pop("mailbox")
    before = manifest["launch_plan"].pop("mailbox")
    assert after == manifest
    assert {**record_after, "mailbox": None} == {**record, "mailbox": None}
    assert record_after["mailbox"].keys() == record["mailbox"].keys(), record_after["mailbox"]
    assert mailbox.keys() == before.keys() | {"mailbox_kind", "mailbox_path"}, mailbox
    assert mailbox["bindings_version"] == record_after["mailbox"]["bindings_version"] == bound["bindings_version"]
    assert mailbox["bindings_version"] != before["bindings_version"]
    with open(path, encoding="ascii") as file:
        assert file.read() == json.dumps(record_after, indent=2, sort_keys=True) + "\n"
    # Also those that hold what is hard to write again: byte for byte, but for the binding.
    odd = {**manifest, "launch_plan": {**manifest["launch_plan"], "metadata": {"numbers": [1.0, 0.1, 1e22, 1e-7, 12345678901234, -0.0,
        5e-324, 1.7976931348623157e308], "text": "\u00e9\u2014\U0001f600\u2028\"\\/\x7f\b", "empty": [[], {}, "", None]}}}
    m.store(record["runtime"]["manifest_path"], odd)
    m.json("agents", "bind", "alice", "--address", "alice3@houmao.localhost")
    with open(record["runtime"]["manifest_path"], encoding="ascii") as file:
        text = file.read()
    odd["launch_plan"]["mailbox"] = json.loads(text)["launch_plan"]["mailbox"]
    assert text == json.dumps(odd, indent=2, sort_keys=True) + "\n", text
    # A record that we make has the keys of theirs, and its manifest those of theirs.
    ours = m.record("bob")
    compare_keys(record, ours)
    theirs = {**manifest, "launch_plan": {**manifest["launch_plan"], "mailbox": mailbox}}
    theirs["agent_launch_authority"] = {key: value for key, value in theirs["agent_launch_authority"].items()
        if key not in ("posture_kind", "session_origin")}
    compare_keys(theirs, m.load(ours["runtime"]["manifest_path"]))


def compare_keys(theirs, ours, where="$"):
    if isinstance(theirs, dict) and isinstance(ours, dict):
        assert theirs.keys() == ours.keys(), (where, theirs.keys() ^ ours.keys())
        for key in theirs:
            compare_keys(theirs[key], ours[key], f"{where}.{key}")


def words_of(path, body, compare, m):
    """A request to the gateway as the words of the verb that does the same."""
    for key, value in body.items():
        option = "--" + {"message_refs": "message-ref", "attachments": "attach"}.get(key, key).replace("_", "-")
        if key == "notify_block":
            yield from ("--notify-block", value["text"])
            if "placement" in value:
                yield from ("--notify-block-placement", value["placement"])
        elif key == "attachments":
            for one in value:
                yield from (option, one["path"].replace("/project", m.dir))
        elif key in ("schema_version", "notify_auth"):
            continue
        elif isinstance(value, bool):
            yield option if value else {"--read": "--unread", "--archived": "--unarchived"}[option]
        else:
            for one in value if isinstance(value, list) else [value]:
                yield from (option, compare.ref(one))


def unlike(body):
    """What a verb cannot say: a label, the sender's token."""
    for message in [body["message"]] if "message" in body else body.get("messages", []):
        for attachment in message["attachments"]:
            attachment.pop("label")
        message["notify_auth"] = None
    return body


ENVELOPE = {"authoritative": True, "status": "verified", "execution_path": "manager_direct"}


def the_exchanges(m):
    """What the reference's gateway did, done by the verbs: the same messages come of it."""
    settle(m)
    m.write("note.txt", "attachment\n")
    compare = Comparison(m.dir)
    for name in sorted(glob.glob(os.path.join(GOLDEN, "[0-9]*.json"))):
        exchange = golden(os.path.basename(name))
        verb = exchange["request"]["path"].rsplit("/", 1)[1]
        body, answer = exchange["request"].get("body") or {}, exchange["response"]
        words = list(words_of(verb, body, compare, m))
        if verb == "reply":  # has no notices
            words = [word for i, word in enumerate(words) if "--notify-block" not in words[max(0, i - 1):i + 1]]
        command = ("agents", "single", "--agent-name", exchange["agent"], "mail", verb, *words)
        if answer["status"] != 200:
            # Where the reference has a 500, we say what is wrong.
            assert m.houmao(*command, status=2 if answer["status"] == 422 else 1), name
            continue
        told = m.houmao(*command)
        theirs = {"operation": verb, **ENVELOPE, **unlike(answer["body"])}
        if theirs.get("message", {}).get("notify_block", {}) and verb == "reply":
            theirs["message"].update(notify_block=None, body_preview="Thanks", body_text="Thanks")
        if "messages" in theirs:
            # Messages of one second stand in the order of their ids, which are random.
            for body in (theirs, told):
                body["messages"].sort(key=lambda one: (one["subject"], one["message_ref"]))
        try:
            compare.same(theirs, unlike(told))
        except AssertionError as error:
            raise AssertionError(f"{os.path.basename(name)}: {error}") from error
    m.check()


with Tap() as tap:
    for test in (the_verbs, a_gateway_that_is_gone, the_files, the_exchanges):
        with Agents(PROGRAM) as room:
            tap.run(test.__name__, test, room)
