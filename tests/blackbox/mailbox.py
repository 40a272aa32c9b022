"""usage: mailbox.py PROGRAM SOURCE - mailbox roots from a shell and through the managed scripts."""

import hashlib
import json
import os
import re
import subprocess
import sys
import threading

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import database  # noqa: E402
from mailbox_root import CREATED, Root, message_id, principal  # noqa: E402
from mailroom import Mailroom, describe  # noqa: E402
from tap import Tap  # noqa: E402


def init_makes_a_root_that_the_reference_can_use(m):
    root = Root(m)
    for name in ("protocol-version.txt", "index.sqlite", "rules/README.md", "rules/protocols/filesystem-mailbox-v1.md",
            "rules/scripts/requirements.txt", "messages", "attachments/managed", "locks/addresses", "staging",
            "mailboxes/HOUMAO-operator@houmao.localhost/mailbox.sqlite"):
        assert os.path.exists(os.path.join(root.path, name)), name
    with open(os.path.join(root.path, "protocol-version.txt"), encoding="ascii") as file:
        assert file.read() == "3\n"
    index = os.path.join(root.path, "index.sqlite")
    assert database.value(index, "PRAGMA journal_mode") == "delete"
    tables = set(database.table_names(index))
    assert {"mailbox_registrations", "messages", "message_recipients", "attachments", "message_attachments",
        "mailbox_projections", "mailbox_state", "thread_summaries"} <= tables, tables
    again = root.command("init")
    assert again["status"] == "ready" and again["mailbox_root"] == root.path, again
    status = root.command("status")
    assert status["supported"] and status["registration_counts"] == {"active": 3, "inactive": 0, "stashed": 0}, status
    assert os.stat(root.path).st_mode & 0o777 == 0o700
    assert os.stat(os.path.join(root.path, "index.sqlite")).st_mode & 0o777 == 0o600
    root.check()


def status_tells_what_is_wrong(m):
    assert m.json("mailbox", "status", "--mailbox-root", "absent")["exists"] is False
    done = m.run("mailbox", "accounts", "list", "--mailbox-root", "absent")
    assert done.returncode == 1 and "mailroom mailbox init" in done.stderr, describe(done)
    os.makedirs(os.path.join(m.dir, "old/locks/principals"))
    status = m.json("mailbox", "status", "--mailbox-root", "old")
    assert status["supported"] is False and "unsupported stale mailbox root" in status["error"], status


def a_message_is_delivered_to_all_or_none(m):
    root = Root(m)
    root.register("carol")
    answer = root.deliver(to=[principal("bob"), principal("alice")], cc=[principal("carol"), principal("bob")])
    mid = answer["message_id"]
    assert answer["recipient_count"] == 3, answer
    assert answer["canonical_path"] == os.path.join(root.path, "messages", CREATED[:10], mid + ".md"), answer
    for name in ("alice", "bob", "carol"):
        assert root.box(name, "inbox") == [mid + ".md"], name
        link = os.path.join(root.path, "mailboxes", f"{name}@houmao.localhost", "inbox", mid + ".md")
        assert os.readlink(link) == answer["canonical_path"]
        assert root.states(name) == [(mid, 0, 0, "inbox")], root.states(name)
    assert root.box("alice", "sent") == [mid + ".md"] and root.box("bob", "sent") == []
    text = root.deliver(status=1, to=[principal("bob"), principal("nobody")])["error"]
    assert "no active mailbox registration exists" in text and "nobody@houmao.localhost" in text, text
    assert len(root.box("bob", "inbox")) == 1
    root.check()


def the_same_delivery_again_is_reported(m):
    root = Root(m)
    payload = root.payload()
    first = root.script("deliver_message", payload)
    document = open(first["canonical_path"], encoding="utf-8").read()
    with open(payload["staged_message_path"], "w", encoding="utf-8") as out:
        out.write(document)
    again = root.script("deliver_message", payload)
    assert again["already_delivered"] is True and again["canonical_path"] == first["canonical_path"], again
    with open(payload["staged_message_path"], "w", encoding="utf-8") as out:
        out.write(document.replace("hello", "other"))
    text = root.script("deliver_message", payload, 1)["error"]
    assert "canonical message already exists" in text, text
    assert len(root.box("bob", "inbox")) == 1
    root.check()


def payloads_are_held_to_the_contract(m):
    root = Root(m)
    good = root.payload()
    bad_address = {**good, "to": [{"principal_id": "x", "address": "bob"}]}
    assert root.script("deliver_message", bad_address, 1)["error"] == (
        "delivery payload: $.to[0].address: mailbox addresses must be full-form email-like values such as "
        "`research@houmao.localhost`")
    for change, text in (
            ({"subject": None}, "delivery payload: $.subject: Input should be a valid string"),
            ({"subject": "  "}, "delivery payload: $.subject: must not be empty"),
            ({"to": []}, "delivery payload: $: delivery payload must include at least one recipient"),
            ({"to": "bob"}, "delivery payload: $.to: Input should be a valid tuple"),
            ({"headers": []}, "delivery payload: $.headers: Input should be a valid dictionary"),
            ({"staged_message_path": 5}, "delivery payload: $.staged_message_path: Input should be an instance of Path"),
            ({"zebra": 1}, "delivery payload: $.zebra: Extra inputs are not permitted"),
            ({"message_id": "msg-1"},
                "delivery payload: $.message_id: message_id must match msg-{YYYYMMDDTHHMMSSZ}-{uuid4-no-dashes}"),
            ({"created_at_utc": "2026-03-11"},
                "delivery payload: $.created_at_utc: created_at_utc must be an RFC3339 UTC timestamp ending in Z"),
            ({"thread_id": message_id(99)}, "delivery payload: $: root deliveries must use message_id as thread_id"),
            ({"references": [message_id(99)]}, "delivery payload: $: root deliveries must not include references"),
            ({"in_reply_to": message_id(99)}, "delivery payload: $: reply deliveries must include references"),
            ({"attachments": [{"attachment_id": "a", "kind": "path_ref", "path": "x", "media_type": "t/p"}]},
                "delivery payload: $.attachments[0]: path_ref attachments must use an absolute path"),
            ({"attachments": [{"attachment_id": "a", "kind": "blob", "path": "/x", "media_type": "t/p"}]},
                "delivery payload: $.attachments[0].kind: Input should be 'path_ref' or 'managed_copy'")):
        assert root.script("deliver_message", {**good, **change}, 1)["error"] == text, change
    missing = root.script("deliver_message", {}, 1)["error"]
    assert missing.count("Field required") == 5 and missing.startswith(
        "delivery payload: $.staged_message_path: Field required; $.message_id: Field required; "), missing
    assert root.script("deliver_message", [], 1)["error"] == (
        "delivery payload: $: Input should be a valid dictionary or instance of DeliveryRequest")
    assert root.script("update_mailbox_state", {"address": "bob@houmao.localhost", "message_id": message_id(1)}, 1)[
        "error"] == "state update payload: $: state update payload must set at least one field"
    assert root.script("register_mailbox", {"mode": "maybe"}, 1)["error"].startswith(
        "register payload: $.mode: Input should be 'safe', 'force' or 'stash'; $.address: Field required; ")
    assert root.script("deregister_mailbox", {"mode": "x", "address": "a@b"}, 1)["error"] == (
        "deregister payload: $.mode: Input should be 'deactivate' or 'purge'")
    assert root.script("repair_index", {"cleanup_staging": "yes"}, 1)["error"] == (
        "repair payload: $.cleanup_staging: Input should be a valid boolean")
    assert root.script("register_mailbox", {"mode": "safe", "address": "HOUMAO-x@houmao.localhost",
        "owner_principal_id": "x", "mailbox_kind": "in_root", "mailbox_path": "x"}, 1)["error"].startswith(
        "register payload: $: ")
    root.check()


def every_payload_is_strict_and_refused_before_anything_changes(m):
    root = Root(m)
    sent = root.deliver()
    good = {"register_mailbox": {"mode": "safe", "address": "carol@houmao.localhost", "owner_principal_id": "HOUMAO-carol",
                "mailbox_kind": "in_root", "mailbox_path": os.path.join(root.path, "mailboxes/carol@houmao.localhost")},
            "deliver_message": root.payload(),
            "update_mailbox_state": {"address": "bob@houmao.localhost", "message_id": sent["message_id"], "read": True},
            "repair_index": {"cleanup_staging": True},
            "deregister_mailbox": {"mode": "deactivate", "address": "bob@houmao.localhost"}}
    names = {"register_mailbox": "register", "deregister_mailbox": "deregister", "deliver_message": "delivery",
             "update_mailbox_state": "state update", "repair_index": "repair"}
    full_form = "mailbox addresses must be full-form email-like values such as `research@houmao.localhost`"
    before = root.tree()
    for script, change, text in (
            *((script, {"zebra": 1}, "$.zebra: Extra inputs are not permitted") for script in good),
            ("register_mailbox", {"address": "carol"}, "$.address: " + full_form),
            ("register_mailbox", {"address": "a b@houmao.localhost"}, "$.address: "),
            ("register_mailbox", {"address": " "}, "$.address: "),
            ("register_mailbox", {"address": "../x@houmao.localhost"}, "$.address: "),
            ("register_mailbox", {"address": "a@-houmao..localhost"}, "$.address: "),
            ("register_mailbox", {"owner_principal_id": " "}, "$.owner_principal_id: must not be empty"),
            ("register_mailbox", {"mailbox_kind": "elsewhere"}, "$.mailbox_kind: Input should be 'in_root' or 'symlink'"),
            ("register_mailbox", {"display_name": 3}, "$.display_name: Input should be a valid string"),
            ("register_mailbox", {"role": " "}, "$.role: must not be empty"),
            ("deregister_mailbox", {"address": "bob"}, "$.address: " + full_form),
            ("update_mailbox_state", {"address": "bob"}, "$.address: " + full_form),
            ("update_mailbox_state", {"message_id": "msg-1"}, "$.message_id: message_id must match "),
            ("update_mailbox_state", {"read": 1}, "$.read: Input should be a valid boolean"),
            ("update_mailbox_state", {"starred": "true"}, "$.starred: Input should be a valid boolean"),
            ("update_mailbox_state", {"read": None}, "$: state update payload must set at least one field"),
            ("deliver_message", {"message_id": sent["message_id"].upper()}, "$.message_id: message_id must match "),
            ("repair_index", {"quarantine_staging": 0}, "$.quarantine_staging: Input should be a valid boolean")):
        error = root.script(script, {**good[script], **change}, 1)["error"]
        assert error.startswith(f"{names[script]} payload: {text}"), (script, change, error)
        assert root.tree() == before, (script, change)
    for script, payload in good.items():
        root.script(script, payload)


def scripts_register_and_deregister(m):
    root = Root(m)
    private = os.path.join(m.dir, "private")
    payload = {"address": "carol@houmao.localhost", "owner_principal_id": "HOUMAO-carol", "mailbox_kind": "in_root",
        "mailbox_path": os.path.join(root.path, "mailboxes/carol@houmao.localhost"), "display_name": "Carol",
        "manifest_path_hint": "/somewhere/manifest.json", "role": "reviewer"}
    root.script("register_mailbox", {**payload, "mode": "safe"})
    account = root.command("accounts", "get", "--address", "carol@houmao.localhost")["account"]
    assert (account["status"], account["mailbox_kind"], account["owner_principal_id"], account["display_name"],
        account["manifest_path_hint"], account["role"]) == ("active", "in_root", "HOUMAO-carol", "Carol",
        "/somewhere/manifest.json", "reviewer"), account
    linked = {**payload, "mailbox_kind": "symlink", "mailbox_path": private}
    assert "already has an active mailbox" in root.script("register_mailbox", {**linked, "mode": "safe"}, 1)["error"]
    root.script("register_mailbox", {**linked, "mode": "stash"})
    root.deliver(to=[principal("carol")])
    assert len(os.listdir(os.path.join(private, "inbox"))) == 1
    root.script("register_mailbox", {**payload, "mode": "force"})
    assert root.box("carol", "inbox") == [] and len(os.listdir(os.path.join(private, "inbox"))) == 1
    root.script("deregister_mailbox", {"mode": "deactivate", "address": "carol@houmao.localhost"})
    assert os.path.isdir(payload["mailbox_path"])
    root.script("register_mailbox", {**payload, "mode": "safe"})
    root.script("deregister_mailbox", {"mode": "purge", "address": "carol@houmao.localhost"})
    assert not os.path.exists(payload["mailbox_path"])
    text = root.script("deregister_mailbox", {"mode": "purge", "address": "carol@houmao.localhost"}, 1)["error"]
    assert "carol@houmao.localhost" in text, text
    root.check()


def repair_and_headers_scripts(m):
    root = Root(m)
    sent = root.deliver()
    left = os.path.join(root.path, "staging/left")
    for payload, action, stays in (({"cleanup_staging": False}, "quarantine", True), ({}, "quarantine", False),
            ({"quarantine_staging": False}, "remove", False)):
        with open(left, "w", encoding="ascii"):
            pass
        before = len(root.tree())
        answer = root.script("repair_index", payload)
        assert (answer["staging_action"], os.path.exists(left)) == (action, stays), answer
        assert answer["staging_artifact_count"] == (0 if stays else 1), answer
        assert (len(root.tree()) < before) == (action == "remove"), action
    # Without a payload it is the empty one.
    with open(left, "w", encoding="ascii"):
        pass
    done = root.bare_script("repair_index")
    answer = json.loads(done.stdout)
    assert done.returncode == 0 and not done.stderr and done.stdout.count("\n") == 1, describe(done)
    assert (answer["ok"], answer["message_count"], answer["staging_action"], answer["staging_artifact_count"]) == (
        True, 1, "quarantine", 1), answer
    before = root.tree()
    answer = root.script("insert_standard_headers", {"message_id": sent["message_id"]}, 1)
    assert "reserved" in answer["error"], answer
    done = root.bare_script("insert_standard_headers")
    assert done.returncode == 1 and json.loads(done.stdout)["ok"] is False and not done.stderr, describe(done)
    assert root.tree() == before


def replies_stay_in_their_thread(m):
    root = Root(m)
    headers = {"x-houmao-origin": "operator", "x-houmao-reply-policy": "operator_mailbox"}
    operator = {"principal_id": "HOUMAO-operator", "address": "HOUMAO-operator@houmao.localhost"}
    first = root.deliver(sender=operator, headers=headers, reply_to=[operator])["message_id"]
    reply = root.deliver(sender=principal("bob"), to=[operator], subject="about something else", thread_id=first,
        in_reply_to=first, references=[first])["message_id"]
    for local, unread in (("", 0), ("mailboxes/bob@houmao.localhost/mailbox.sqlite", 1)):
        threads = database.rows(os.path.join(root.path, local or "index.sqlite"),
            "SELECT thread_id, latest_message_id, normalized_subject, unread_count FROM thread_summaries")
        assert len(threads) == 1 and threads[0][0] == first and threads[0][3] == unread, threads
        # Of one second: the higher id is the later one.
        assert threads[0][1:3] == (reply, "about something else"), threads
    stored = database.value(os.path.join(root.path, "index.sqlite"),
        "SELECT headers_json FROM messages WHERE message_id = ?", first)
    assert json.loads(stored) == headers, stored
    root.check()


def repair_invents_no_message(m):
    root = Root(m)
    lost, kept = root.deliver(), root.deliver()
    os.unlink(lost["canonical_path"])
    assert root.command("check", status=1)["ok"] is False
    answer = root.command("repair")
    assert answer["message_count"] == 1 and not os.path.exists(lost["canonical_path"]), answer
    assert root.box("bob", "inbox") == [kept["message_id"] + ".md"]
    listed = root.command("messages", "list", "--address", "bob@houmao.localhost")["messages"]
    assert [x["message_id"] for x in listed] == [kept["message_id"]], listed


def a_staged_file_must_be_what_it_claims(m):
    root = Root(m)
    payload = root.payload()
    text = root.script("deliver_message", {**payload, "subject": "another"}, 1)["error"]
    assert "subject" in text, text
    with open(payload["staged_message_path"], "w", encoding="utf-8") as out:
        out.write("garbage")
    assert root.script("deliver_message", payload, 1)["error"]
    outside = os.path.join(m.dir, "outside.md")
    m.write("outside.md", "x")
    text = root.script("deliver_message", {**payload, "staged_message_path": outside}, 1)["error"]
    assert "must live under the mailbox staging directory" in text, text
    gone = payload["staged_message_path"] + "x"
    text = root.script("deliver_message", {**payload, "staged_message_path": gone}, 1)["error"]
    assert "staged message not found" in text, text
    os.unlink(payload["staged_message_path"])
    os.symlink(outside, payload["staged_message_path"])
    assert root.script("deliver_message", payload, 1)["error"]
    assert root.box("bob", "inbox") == []


def bad_payload_files_are_one_json_object_too(m):
    root = Root(m)
    for content in (b"{", b"\xff\xfe", b'{"a": 1, "a": 2}', b'{"subject": "\\u0000"}', b"[" * 100000):
        text = root.script("deliver_message", content, 1)["error"]
        assert text.startswith("payload file is not valid JSON: "), text
    huge = {**root.payload(), "subject": "x" * (3 << 20)}
    assert "subject" in root.script("deliver_message", huge, 1)["error"]
    many = {**root.payload(), "to": [principal(f"a{i}") for i in range(20000)]}
    assert "$.to" in root.script("deliver_message", many, 1)["error"]
    for args, status in ((["deliver_message"], 2), (["deliver_message", "--mailbox-root", root.path], 2),
            (["deliver_message", "--mailbox-root", root.path, "--payload-file", "absent"], 1), (["zebra"], 2),
            (["deliver_message", "--zebra"], 2), (["insert_standard_headers"], 1)):
        done = m.run("mailbox", "script", *args)
        assert done.returncode == status and not done.stderr, describe(done)
        assert json.loads(done.stdout)["ok"] is False, describe(done)
    assert json.loads(m.run("mailbox", "script", "deliver_message", "--mailbox-root", root.path, "--payload-file",
        "absent").stdout)["error"] == "payload file not found: absent"


def state_is_changed_beside_the_message(m):
    root = Root(m)
    answer = root.deliver()
    before = hashlib.sha256(open(answer["canonical_path"], "rb").read()).hexdigest()
    payload = {"address": "bob@houmao.localhost", "message_id": answer["message_id"], "read": True, "starred": True}
    state = root.script("update_mailbox_state", payload)
    assert (state["read"], state["answered"], state["starred"], state["archived"], state["deleted"], state["box"]) == (
        True, False, True, False, False, "inbox"), state
    assert root.states("bob") == [(answer["message_id"], 1, 1, "inbox")]
    assert before == hashlib.sha256(open(answer["canonical_path"], "rb").read()).hexdigest()
    text = root.script("update_mailbox_state", {**payload, "message_id": message_id(77)}, 1)["error"]
    assert "unknown message id" in text, text
    root.register("carol")
    text = root.script("update_mailbox_state", {**payload, "address": "carol@houmao.localhost"}, 1)["error"]
    assert "is not projected into" in text, text
    root.check()


def repair_rebuilds_and_keeps_flags(m):
    root = Root(m)
    sent = [root.deliver() for _ in range(3)]
    root.script("update_mailbox_state", {"address": "bob@houmao.localhost", "message_id": sent[0]["message_id"],
        "read": True, "starred": True})
    states = root.states("bob")
    os.unlink(os.path.join(root.path, "index.sqlite"))
    os.unlink(os.path.join(root.path, "mailboxes/bob@houmao.localhost/inbox", sent[1]["message_id"] + ".md"))
    with open(os.path.join(root.path, "mailboxes", ".DS_Store"), "w", encoding="ascii"):
        pass
    with open(os.path.join(root.path, "staging", "left"), "w", encoding="ascii"):
        pass
    answer = root.script("repair_index", {})
    assert (answer["message_count"], answer["staging_action"], answer["staging_artifact_count"]) == (
        3, "quarantine", 1), answer
    assert root.states("bob") == states and len(root.box("bob", "inbox")) == 3
    found = root.command("check")
    assert (found["ok"], found["problems"]) == (True, []), found
    assert [(w["what"], os.path.basename(w["path"])) for w in found["warnings"]] == [("stray_entry", ".DS_Store")], found
    os.unlink(os.path.join(root.path, "mailboxes", ".DS_Store"))
    assert root.command("check")["warning_count"] == 0
    with open(os.path.join(root.path, "index.sqlite"), "wb") as file:
        file.write(b"not a database at all" * 100)
    done = m.run("mailbox", "accounts", "list", "--mailbox-root", root.path)
    assert done.returncode == 1 and "mailroom mailbox repair" in done.stderr, describe(done)
    answer = root.command("repair")
    assert answer["backed_up_index_path"] and os.path.exists(answer["backed_up_index_path"]), answer
    assert root.states("bob") == states
    root.check()


def a_lost_index_is_found(m):
    """Mail is there and index.sqlite is not: everybody says so, and names what puts it right."""
    root = Root(m)
    mid = root.deliver()["message_id"]
    assert m.run("mailbox", "check", "--mailbox-root", root.path).returncode == 0
    os.unlink(os.path.join(root.path, "index.sqlite"))
    found = root.command("check", status=1)
    assert found["ok"] is False and found["message_count"] == 1, found
    assert {"what": "missing_index", "path": os.path.join(root.path, "index.sqlite"),
        "detail": "every root has one; run `mailroom mailbox repair`"} in found["problems"], found
    human = m.run("mailbox", "check", "--mailbox-root", root.path)
    assert human.returncode == 1 and not human.stderr, describe(human)
    assert " problem" in human.stdout and "run `mailroom mailbox repair`" in human.stdout, human.stdout
    status = root.command("status")
    assert status["supported"] is False and status["error"] == \
        f"{root.path}/index.sqlite is missing; run `mailroom mailbox repair`", status
    doctor = m.run("--json", "doctor", env={"HOUMAO_GLOBAL_MAILBOX_DIR": root.path, "HTTP_PORT": "1"})
    assert doctor.returncode == 1, describe(doctor)
    check = {c["name"]: c for c in json.loads(doctor.stdout)["checks"]}["mailbox"]
    assert check["state"] == "problem" and check["detail"] == status["error"], check
    assert "mailroom mailbox repair" in check["advice"], check
    text = root.deliver(status=1)["error"]
    assert "index.sqlite is missing" in text and "mailroom mailbox repair" in text, text
    root.command("repair")
    assert root.check()["message_count"] == 1
    assert root.states("bob") == [(mid, 0, 0, "inbox")], root.states("bob")
    doctor = m.run("--json", "doctor", env={"HOUMAO_GLOBAL_MAILBOX_DIR": root.path, "HTTP_PORT": "1"})
    check = {c["name"]: c for c in json.loads(doctor.stdout)["checks"]}["mailbox"]
    assert (check["state"], check["detail"]) == ("ok", f"{root.path}, 3 addresses"), check


def a_moved_root_is_repaired(m):
    root = Root(m)
    root.deliver()
    states = root.states("bob")
    os.rename(root.path, root.path + "-moved")
    root.path += "-moved"
    assert root.command("check", status=1)["problem_count"] > 0
    root.command("repair")
    root.check()
    assert root.states("bob") == states
    root.deliver()
    assert len(root.box("bob", "inbox")) == 2


def registration_modes(m):
    root = Root(m)
    again = root.register("bob")
    assert again["reused_existing"] is True, again
    text = root.register("bob", "--mailbox-path", os.path.join(m.dir, "private"), status=1)["detail"]
    assert "already has an active mailbox" in text, text
    stashed = root.register("bob", "--mailbox-path", os.path.join(m.dir, "private"), "--mode", "stash")
    assert re.search(r"bob@houmao\.localhost--[0-9a-f]{32}$", stashed["stashed_mailbox_path"]), stashed
    assert os.readlink(os.path.join(root.path, "mailboxes/bob@houmao.localhost")) == os.path.realpath(
        os.path.join(m.dir, "private"))
    root.deliver()
    assert len(os.listdir(os.path.join(m.dir, "private", "inbox"))) == 1
    done = m.run("mailbox", "unregister", "--address", "bob@houmao.localhost", "--mode", "purge", "--mailbox-root",
        root.path)
    assert done.returncode == 1 and "not confirmed" in done.stderr, describe(done)
    gone = root.command("unregister", "--address", "bob@houmao.localhost", "--mode", "purge", "--yes")
    assert gone["resulting_status"] == "purged", gone
    assert os.path.isdir(os.path.join(m.dir, "private", "inbox"))
    assert "no active mailbox registration exists" in root.deliver(status=1)["error"]
    counts = root.command("status")["registration_counts"]
    assert counts == {"active": 2, "inactive": 0, "stashed": 1}, counts
    cleaned = root.command("cleanup", "--yes")
    assert cleaned["summary"]["applied_count"] == 1, cleaned
    text = root.command("unregister", "--address", "HOUMAO-operator@houmao.localhost", status=1)["detail"]
    assert "operator" in text.lower(), text
    root.check()


def results_have_the_contracts_members(m):
    """What the reference's commands answer, member by member; ours may have more."""
    root = Root(m)
    sent = root.deliver(to=[principal("bob")], cc=[principal("alice")])
    detail = {"schema_version", "mailbox_root", "mailbox_root_detail"}
    init = root.command("init")
    assert init["protocol_version"] == 3 and set(init) == detail | {"bootstrapped", "supported", "protocol_version",
        "sqlite_path", "rules_dir", "mailboxes_dir", "status"}, init
    for path, exists, known in ((root.path, True, True), (os.path.join(m.dir, "absent"), False, False),
            (os.path.join(m.dir, "empty"), True, False)):
        if exists:
            os.makedirs(path, exist_ok=True)
        status = m.json("mailbox", "status", "--mailbox-root", path)
        assert set(status) == detail | {"exists", "bootstrapped", "supported", "protocol_version", "registration_counts",
            "structural_state_readable", "error"}, status
        assert (status["exists"], status["bootstrapped"], status["supported"], status["protocol_version"],
            status["structural_state_readable"], status["error"]) == (exists, known, True, 3 if known else None, known,
            None), status
    for answer in (root.register("carol"), root.command("unregister", "--address", "carol@houmao.localhost")):
        assert answer["schema_version"] == 1 and answer["mailbox_root"] == root.path and answer["ok"] is True, answer
        assert detail <= set(answer), answer
    answer = root.script("register_mailbox", {"mode": "safe", "address": "dora@houmao.localhost",
        "owner_principal_id": "HOUMAO-dora", "mailbox_kind": "in_root",
        "mailbox_path": os.path.join(root.path, "mailboxes/dora@houmao.localhost")})
    assert set(answer) == {"ok", "mode", "address", "active_registration_id", "owner_principal_id", "status"}, answer
    # cleanup asks nobody; its scope says what was asked for.
    planned = root.command("cleanup", "--dry-run", "--stashed-older-than-seconds", "7")
    assert planned["scope"] == {"kind": "mailbox_cleanup", "mailbox_root": root.path, "inactive_older_than_seconds": 0,
        "stashed_older_than_seconds": 7}, planned
    cleaned = root.command("cleanup")
    assert cleaned["summary"]["applied_count"] == 1 and "mailbox_root_detail" in cleaned, cleaned
    bob = root.command("accounts", "get", "--address", "bob@houmao.localhost")
    assert set(bob) == detail | {"account"}, bob
    cleared = root.command("messages", "clear", "--address", "bob@houmao.localhost", "--dry-run")
    assert cleared["scope"] == {"kind": "mailbox_account_message_clear", "mailbox_root": root.path,
        "address": "bob@houmao.localhost", "registration_id": bob["account"]["registration_id"]}, cleared
    assert root.command("clear-messages", "--dry-run")["scope"] == {"kind": "mailbox_message_clear",
        "mailbox_root": root.path}
    got = root.command("messages", "get", "--address", "bob@houmao.localhost", "--message-id", sent["message_id"])
    assert set(got) == detail | {"address", "registration_id", "message"}, got
    assert [(r["kind"], r["ordinal"]) for r in got["message"]["recipients"]] == [("cc", 1), ("to", 0)], got
    listed = root.command("messages", "list", "--address", "bob@houmao.localhost")
    assert set(listed["messages"][0]) == {"message_id", "thread_id", "created_at_utc", "subject", "sender_address",
        "sender_principal_id", "folder", "projection_path", "canonical_path"}, listed
    assert detail <= set(root.command("repair")) and detail <= set(root.command("check"))
    found = m.json("mailbox", "status", env={"HOUMAO_GLOBAL_MAILBOX_DIR": root.path})
    assert found["mailbox_root"] == root.path and "HOUMAO_GLOBAL_MAILBOX_DIR" in found["mailbox_root_detail"], found


def an_archive_by_the_reference_is_no_problem(m):
    """It marks the message as read, and does not count the thread's unread messages anew."""
    root = Root(m)
    mid = root.deliver()["message_id"]
    box = os.path.join(root.path, "mailboxes/bob@houmao.localhost")
    link = os.path.join(box, "archive", mid + ".md")
    os.rename(os.path.join(box, "inbox", mid + ".md"), link)
    database.rows(os.path.join(root.path, "index.sqlite"), "UPDATE mailbox_projections SET folder_name = 'archive', "
        "projection_path = ? WHERE folder_name = 'inbox'", link)
    database.rows(os.path.join(box, "mailbox.sqlite"),
        "UPDATE message_state SET is_read = 1, is_archived = 1, box_name = 'archive'")
    found = root.check()
    assert [w["what"] for w in found["warnings"]] == ["stale_unread_count"], found
    root.command("repair")
    assert root.check()["warnings"] == []
    # A count that no archive leaves is a problem.
    database.rows(os.path.join(box, "mailbox.sqlite"), "UPDATE thread_summaries SET unread_count = 5")
    assert [p["what"] for p in root.command("check", status=1)["problems"]] == ["wrong_thread_summary"]


def an_export_needs_no_writing(m):
    root = Root(m)
    root.deliver()
    before = root.tree()
    out = os.path.join(m.dir, "archive")
    args = [m.program, "--json", "mailbox", "export", "--mailbox-root", root.path, "--output-dir", out, "--all-accounts"]
    os.makedirs(out + "-mount")
    # A mount of our own that cannot be written, even by root, where the system allows one.
    done = subprocess.run(["unshare", "-rm", "sh", "-c", 'mount --bind "$1" "$1" && mount -o remount,ro,bind "$1" && '
        'if touch "$1/x" 2>/dev/null; then exit 99; fi; shift; exec "$@"', "sh", root.path, *args], cwd=m.dir, env=m.env(),
        capture_output=True, text=True, check=False, timeout=60)
    if done.returncode != 0 and not done.stdout:
        print("# SKIP no mount of one's own here: " + done.stderr.strip())
        return
    assert done.returncode == 0, describe(done)
    assert json.loads(done.stdout)["message_count"] == 1, done.stdout
    assert root.tree() == before
    local = [os.path.join(d, f) for d, _, fs in os.walk(out) for f in fs if f == "mailbox.sqlite"]
    assert sum(database.value(path, "SELECT count(*) FROM message_state") for path in local) == 2, local


def text_fits_a_terminal(m):
    root = Root(m)
    long = "A subject that is much longer than the column it is shown in, and then some more of it"
    mids = [root.deliver(subject=long)["message_id"], root.deliver(subject="short")["message_id"]]
    root.script("update_mailbox_state", {"address": "bob@houmao.localhost", "message_id": mids[0], "read": True,
        "starred": True, "answered": True})

    def lines(*args):
        text = m.in_a_terminal("mailbox", *args, "--mailbox-root", root.path, env={"NO_COLOR": "1"})
        return text.replace("\r", "").rstrip("\n").split("\n")

    table = lines("messages", "list", "--address", "bob@houmao.localhost")
    assert all(len(line) <= 80 for line in table), table
    assert table[0].split() == ["date", "from", "subject", "state"], table
    assert "new" in table[1] and "short" in table[1] and "alice@" in table[1], table
    assert "starred answered" in table[2] and "A subject" in table[2] and "new" not in table[2], table
    table = lines("accounts", "list")
    assert all(len(line) <= 80 for line in table) and "private directory" not in table[0], table
    shown = lines("messages", "get", "--address", "bob@houmao.localhost", "--message-id", mids[1])
    assert shown[0] == "short" and shown[-2:] == ["", "hello"] and "---" not in shown, shown
    root.register("carol", "--mailbox-path", os.path.join(m.dir, "p"))
    assert "private directory" in lines("accounts", "list")[0]
    for args, text in ((("init", ), "The mailbox root ROOT is ready."),
            (("status", ), "Mailbox root ROOT, protocol 3: 4 registrations active."),
            (("check", ), "The mailbox root ROOT is in order: 2 messages, 4 registrations."),
            (("repair", ), "The mailbox root ROOT is repaired: 2 messages, 4 links, 4 registrations."),
            (("adopt", ), "The mailbox root ROOT is a root of its own; nothing to do."),
            (("register", "--address", "dora@houmao.localhost", "--principal-id", "HOUMAO-dora"),
                "dora@houmao.localhost has a mailbox now, owned by HOUMAO-dora."),
            (("unregister", "--address", "dora@houmao.localhost"), "dora@houmao.localhost is inactive now; its mailbox is kept."),
            (("export", "--output-dir", "out", "--address", "bob@houmao.localhost"),
                f"Exported 1 account with 2 messages to {os.path.realpath(m.dir)}/out."),
            (("cleanup", "--dry-run"), "Would be removed: 1 registration."),
            (("messages", "clear", "--address", "bob@houmao.localhost", "--yes"), "Removed: 2 links, 1 mailbox's state."),
            (("messages", "list", "--address", "bob@houmao.localhost"), "bob@houmao.localhost has no messages."),
            (("clear-messages", "--yes"), "Removed: 2 messages, 2 links, ")):
        done = m.run("mailbox", *args, "--mailbox-root", root.path)
        assert done.returncode == 0 and done.stdout.replace(root.path, "ROOT").startswith(text), (args, done.stdout)


def accounts_and_messages_are_shown(m):
    root = Root(m)
    sent = [root.deliver() for _ in range(3)]
    accounts = root.command("accounts", "list")["accounts"]
    assert [a["address"] for a in accounts] == ["HOUMAO-operator@houmao.localhost", "alice@houmao.localhost",
        "bob@houmao.localhost"], accounts
    assert root.command("accounts", "get", "--address", "bob@houmao.localhost")["account"]["status"] == "active"
    listed = root.command("messages", "list", "--address", "bob@houmao.localhost")["messages"]
    assert [x["message_id"] for x in listed] == [x["message_id"] for x in reversed(sent)], listed
    assert len(root.command("messages", "list", "--address", "bob@houmao.localhost", "--limit", "2")["messages"]) == 2
    got = root.command("messages", "get", "--address", "bob@houmao.localhost", "--message-id",
        sent[0]["message_id"])["message"]
    assert got["sender"]["address"] == "alice@houmao.localhost" and got["body_markdown"].endswith("\n\nhello\n"), got
    assert [(r["kind"], r["ordinal"], r["address"]) for r in got["recipients"]] == [("to", 0, "bob@houmao.localhost")]
    text = m.run("mailbox", "accounts", "list", "--mailbox-root", root.path).stdout
    assert "bob@houmao.localhost" in text, text
    text = root.command("messages", "get", "--address", "bob@houmao.localhost", "--message-id", message_id(9),
        status=1)["detail"]
    assert message_id(9) in text, text


def mail_is_cleared_only_when_confirmed(m):
    root = Root(m)
    sent = root.deliver()
    done = m.run("mailbox", "clear-messages", "--mailbox-root", root.path)
    assert done.returncode == 1 and "not confirmed" in done.stderr, describe(done)
    planned = root.command("clear-messages", "--dry-run")
    assert planned["dry_run"] and planned["summary"]["planned_count"] > 0 and not planned["applied_actions"], planned
    assert os.path.exists(sent["canonical_path"])
    one = root.command("messages", "clear", "--address", "bob@houmao.localhost", "--yes")
    assert one["scope"]["kind"] == "mailbox_account_message_clear", one
    assert root.box("bob", "inbox") == [] and os.path.exists(sent["canonical_path"])
    root.command("clear-messages", "--yes")
    assert not os.path.exists(sent["canonical_path"]) and root.box("alice", "sent") == []
    assert root.command("check")["message_count"] == 0
    root.check()
    root.deliver()


def export_is_plain_files(m):
    root = Root(m)
    sent = root.deliver()
    out = os.path.join(m.dir, "archive")
    result = root.command("export", "--output-dir", out, "--all-accounts")
    assert result["message_count"] == 1 and result["account_count"] == 3, result
    with open(result["manifest_path"], encoding="utf-8") as file:
        manifest = json.load(file)
    assert manifest["schema_version"] == 1 and len(manifest["messages"]) == 1, manifest
    exported = os.path.join(out, "messages", CREATED[:10], sent["message_id"] + ".md")
    assert open(exported, "rb").read() == open(sent["canonical_path"], "rb").read()
    links = [name for folder, _, files in os.walk(out) for name in files if os.path.islink(os.path.join(folder, name))]
    assert links == [], links
    text = root.command("export", "--output-dir", out, "--all-accounts", status=1)["detail"]
    assert out in text, text
    text = root.command("export", "--output-dir", out + "2", "--address", "x@y", status=1)["detail"]
    assert "address not found" in text, text
    for which in ((), ("--all-accounts", "--address", "bob@houmao.localhost")):
        text = root.command("export", "--output-dir", out + "2", *which, status=2)["detail"]
        assert text == "mailbox export payload: $: exactly one of all_accounts and addresses must be given", text
    assert not os.path.exists(out + "2")


def stale_locks_block_nobody(m):
    root = Root(m)
    dead = subprocess.Popen(["true"])
    dead.wait()
    for name in ("index.lock", "addresses/bob@houmao.localhost.lock"):
        with open(os.path.join(root.path, "locks", name), "w", encoding="ascii") as file:
            file.write(f"pid={dead.pid} acquired_at_utc=2026-01-01T00:00:00.000000+00:00\n")
    root.deliver()
    assert not os.path.exists(os.path.join(root.path, "locks/index.lock"))
    with open(os.path.join(root.path, "locks/index.lock"), "w", encoding="ascii") as file:
        file.write(f"pid={os.getpid()} acquired_at_utc=2026-01-01T00:00:00.000000+00:00\n")
    text = root.deliver(status=1)["error"]
    assert "timed out acquiring lock: " in text and "index.lock" in text, text
    os.unlink(os.path.join(root.path, "locks/index.lock"))
    root.deliver()


def mail_on_its_way_is_no_problem(m):
    root = Root(m)
    payloads = [root.payload() for _ in range(40)]
    errors = []

    def send(part):
        for payload in part:
            try:
                root.script("deliver_message", payload)
            except AssertionError as error:
                errors.append(str(error))

    senders = [threading.Thread(target=send, args=(payloads[i::4],)) for i in range(4)]
    for sender in senders:
        sender.start()
    looks = 0
    while any(sender.is_alive() for sender in senders):
        root.check()
        looks += 1
    for sender in senders:
        sender.join()
    assert not errors and looks > 2, (errors, looks)
    assert root.check()["message_count"] == 40


with Tap() as tap:
    for case in (init_makes_a_root_that_the_reference_can_use, status_tells_what_is_wrong,
            a_message_is_delivered_to_all_or_none, the_same_delivery_again_is_reported,
            payloads_are_held_to_the_contract, every_payload_is_strict_and_refused_before_anything_changes,
            scripts_register_and_deregister, repair_and_headers_scripts, replies_stay_in_their_thread,
            repair_invents_no_message, a_staged_file_must_be_what_it_claims,
            bad_payload_files_are_one_json_object_too, state_is_changed_beside_the_message,
            repair_rebuilds_and_keeps_flags, a_lost_index_is_found, a_moved_root_is_repaired, registration_modes,
            results_have_the_contracts_members, an_archive_by_the_reference_is_no_problem, an_export_needs_no_writing,
            text_fits_a_terminal, accounts_and_messages_are_shown, mail_is_cleared_only_when_confirmed, export_is_plain_files,
            stale_locks_block_nobody, mail_on_its_way_is_no_problem):
        with Mailroom(sys.argv[1]) as room:
            tap.run(case.__name__, case, room)
