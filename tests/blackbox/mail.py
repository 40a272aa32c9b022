"""usage: mail.py PROGRAM SOURCE - agents and their mail from a shell: verbs, selectors, sessions, operator mail, trouble."""

import json
import os
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from agents import Agents  # noqa: E402
from mailroom import TIMEOUT_S, describe  # noqa: E402
from tap import Tap  # noqa: E402

NOBODY = "filesystem:msg-20260101T000000Z-00000000000000000000000000000000"


def subjects(m, agent, *args):
    return [one["subject"] for one in m.mail(agent, "list", *args)["messages"]]


def a_person_sends_in_one_line(m):
    m.create("alice", "bob")
    done = m.run("mail", "send", "--agent-name", "alice", "--to", "bob@houmao.localhost", "--subject", "Hello", "--body-content",
        "How are you?")
    assert done.returncode == 0 and done.stdout.startswith("Sent to bob@houmao.localhost: Hello\nfilesystem:msg-"), describe(done)
    # Without an agent, for an address of the root.
    told = m.json("mail", "send", "--address", "bob@houmao.localhost", "--to", "alice@houmao.localhost", "--subject", "Re",
        stdin="Piped\n")
    assert told["message"]["body_text"] == "Piped\n" and told["principal_id"] == "HOUMAO-bob", told
    shown = m.run("mail", "check", "--agent-name", "bob").stdout
    assert "How are you?" in shown and "1 message, 1 new" in shown, shown
    listed = m.in_a_terminal("mail", "list", "--agent-name", "bob")
    assert max(len(line.rstrip()) for line in listed.splitlines()) <= 80, listed
    assert "Hello" in listed and "alice@houmao.localhost" in listed, listed
    m.check()


def a_body_is_given_once(m):
    m.create("alice")
    words = ("send", "--to", "alice@houmao.localhost", "--subject", "s")
    m.write("body.md", "# From a file\n")
    assert m.mail("alice", *words, "--body-file", "body.md")["message"]["body_text"] == "# From a file\n"
    assert m.mail("alice", *words, "--body-content", "-")["message"]["body_text"] == "-"
    assert "not both" in m.refused("alice", *words, "--body-content", "x", "--body-file", "body.md", status=2)
    assert "--body-file" in m.refused("alice", *words, "--body-file", "absent.md")
    for name, data in (("nul.md", b"a\0b"), ("latin.md", b"caf\xe9")):
        with open(os.path.join(m.dir, name), "wb") as file:
            file.write(data)
        assert "the body" in m.refused("alice", *words, "--body-file", name, status=2)
    # Nobody's text is waited for.
    done = subprocess.run([m.program, "mail", "--agent-name", "alice", *words], cwd=m.dir, env=m.env(), stdin=subprocess.DEVNULL,
        capture_output=True, text=True, timeout=TIMEOUT_S, check=False)
    assert done.returncode == 2 and "no body" in done.stderr, describe(done)
    assert len(subjects(m, "alice")) == 2


def what_is_wrong_is_refused_by_name(m):
    m.create("alice", "bob")
    sent = m.send("alice", "bob", "one")["message_ref"]
    for words, text, status in (
            (("list", "--since", "yesterday"), "since", 2),
            (("list", "--limit", "0"), "--limit", 2),
            (("list", "--box", "a/b"), "cannot be the name of a box", 2),
            (("list", "--read-state", "maybe"), "--read-state must be one of: any, read, unread", 2),
            (("list", "--archived", "--not-archived"), "--archived or --not-archived", 2),
            (("peek", "stalwart:1"), "is not the ref of a message here", 2),
            (("peek", NOBODY), "has no message", 1),
            (("read", sent, "--box", "archive"), "is in the box `inbox`, not in `archive`", 1),
            (("mark", sent), "give at least one of --read", 2),
            (("mark", sent, "--read", "--unread"), "--read or --unread, not both", 2),
            (("mark", sent, "--archived", "--unread"), "archived messages must be read", 2),
            (("move", sent), "--destination-box", 2),
            (("send", "--to", "alice", "--subject", "s", "--body-content", "x"), "Did you mean `alice@houmao.localhost`?", 2),
            (("send", "--to", "carol@houmao.localhost", "--subject", "s", "--body-content", "x"), "has no mailbox in this root", 1),
            (("send", "--to", "alice@houmao.localhost", "--subject", " ", "--body-content", "x"), "subject", 2),
            (("send", "--to", "alice@houmao.localhost", "--subject", "s", "--body-content", "x", "--notify-block", " "), "notify", 2),
            (("send", "--to", "alice@houmao.localhost", "--subject", "s", "--body-content", "x", "--attach", "absent"), "absent", 1)):
        told = m.refused("bob", *words, status=status)
        assert text in told, (words, told)
    assert subjects(m, "alice") == [] and m.mail("bob", "peek", sent)["message"]["read"] is False
    m.check()


def choices_are_taken_in_any_case(m):
    m.create("alice")
    m.send("alice", "alice", "one", "x", "--notify-block", "look", "--notify-block-placement", "PREPEND")
    listed = m.mail("alice", "list", "--read-state", "UnRead")["messages"]
    assert listed[0]["notify_block"] == {"text": "look", "placement": "prepend"}, listed


def check_and_mark_read_as_the_seed_has_them(m):
    m.create("alice", "bob")
    refs = [m.send("alice", "bob", f"n{i}", f"body {i}")["message_ref"] for i in range(3)]
    m.mail("bob", "archive", refs[0])
    told = m.mail("bob", "check")
    assert sorted(told) == sorted(["schema_version", "operation", "authoritative", "status", "execution_path", "transport",
        "principal_id", "address", "unread_only", "message_count", "unread_count", "messages"]), told
    assert told["message_count"] == told["unread_count"] == 2 and told["messages"][0]["body_text"].startswith("body"), told
    read = m.mail("bob", "mark-read", "--message-ref", refs[1])
    assert read["message_ref"] == refs[1] and read["read"] is True and read["operation"] == "mark-read", read
    assert m.mail("bob", "check", "--unread-only", "--limit", "5")["message_count"] == 1
    assert m.mail("bob", "check", "--since", "2999-01-01")["message_count"] == 0


def several_refs_are_changed_all_or_none(m):
    m.create("alice", "bob")
    refs = [m.send("alice", "bob", f"n{i}")["message_ref"] for i in range(3)]
    before = m.mail("bob", "list")["messages"]
    assert "has no message" in m.refused("bob", "archive", *refs, NOBODY)
    assert m.mail("bob", "list")["messages"] == before
    assert "named twice" in m.refused("bob", "mark", refs[0], refs[0], "--read", status=2)
    # The third one fails when two are done: something else stands where its link belongs.
    for box in ("archive", "later"):
        in_the_way = os.path.join(m.mail_root, "mailboxes/bob@houmao.localhost", box, refs[2].split(":")[1] + ".md")
        os.makedirs(os.path.dirname(in_the_way), exist_ok=True)
        with open(in_the_way, "w", encoding="utf-8") as file:
            file.write("not a link")
        assert "projection already exists" in m.refused("bob", "move", *refs, "--destination-box", box)
        assert m.mail("bob", "list")["messages"] == before
        os.unlink(in_the_way)
    m.check()


def answers_go_to_who_can_see_the_message(m):
    m.create("alice", "bob", "carol")
    ref = m.send("alice", "bob", "Plan")["message_ref"]
    assert "has no message" in m.refused("carol", "reply", ref, "--body-content", "x")
    assert subjects(m, "alice") == [] and subjects(m, "carol", "--box", "sent") == []
    answer = m.mail("bob", "reply", ref, "--body-content", "Good")["message"]
    assert answer["subject"] == "Re: Plan" and answer["thread_ref"] == ref, answer
    assert [one["address"] for one in answer["to"]] == ["alice@houmao.localhost"], answer
    parent = m.mail("bob", "peek", ref)["message"]
    assert parent["read"] and parent["answered"] and not parent["archived"], parent
    assert "there is no option --notify-block" in m.refused("bob", "reply", ref, "--body-content", "x", "--notify-block", "x", status=2)


def the_operator_posts_and_is_answered(m):
    m.create("alice", "bob")
    posted = m.mail("alice", "post", "--subject", "Stop", "--body-content", "At noon.")["message"]
    operator = "HOUMAO-operator@houmao.localhost"
    assert posted["sender"]["address"] == operator and posted["sender"]["display_name"] == "Houmao Operator", posted
    assert posted["reply_to"][0]["address"] == operator and posted["box"] == "inbox" and posted["unread"], posted
    answer = m.mail("alice", "reply", posted["message_ref"], "--body-content", "Will do")["message"]
    assert [one["address"] for one in answer["to"]] == [operator], answer
    seen = m.json("mail", "--address", operator, "check")["messages"]
    assert [one["body_text"] for one in seen] == ["Will do"], seen
    quiet = m.mail("alice", "post", "--subject", "Notice", "--body-content", "fyi", "--reply-policy", "NONE")["message"]
    assert quiet["reply_to"] == [], quiet
    assert "take no answers" in m.refused("alice", "reply", quiet["message_ref"], "--body-content", "x")
    assert "must be one of" in m.refused("alice", "post", "--subject", "s", "--body-content", "x", "--reply-policy", "maybe", status=2)
    document = os.path.join(m.mail_root, "messages")
    texts = [open(os.path.join(folder, name), encoding="utf-8").read() for folder, _, names in os.walk(document) for name in names]
    policies = sorted(line for text in texts for line in text.splitlines() if line.strip().startswith("x-houmao-"))
    assert [line.strip().replace("'", "").replace('"', "") for line in policies] == ["x-houmao-origin: operator"] * 2 + [
        "x-houmao-reply-policy: none", "x-houmao-reply-policy: operator_mailbox"], policies
    m.check()


def files_are_named_or_kept(m):
    m.create("alice", "bob")
    m.write("note.txt", "attachment\n")
    named = m.send("alice", "bob", "named", "x", "--attach", "note.txt")["attachments"][0]
    assert named["kind"] == "path_ref" and named["locator"] == os.path.join(m.dir, "note.txt"), named
    assert named["size_bytes"] == 11 and named["label"] == "note.txt" and named["media_type"] == "text/plain", named
    kept = m.send("alice", "bob", "kept", "x", "--attach", "note.txt", "--attach-mode", "managed_copy")["attachments"][0]
    assert kept["kind"] == "managed_copy" and kept["sha256"] == named["sha256"], kept
    assert kept["locator"] == os.path.join(m.mail_root, "attachments/managed", kept["attachment_id"], "note.txt"), kept
    m.remove("note.txt")
    with open(kept["locator"], encoding="utf-8") as file:
        assert file.read() == "attachment\n"
    m.write("second.txt", "x")
    both = m.send("alice", "bob", "both", "x", "--attach", "second.txt", "--attach", kept["locator"])["attachments"]
    assert [one["label"] for one in both] == ["second.txt", "note.txt"] and {one["kind"] for one in both} == {"path_ref"}, both
    # A message that is not sent leaves no copy.
    m.write("other.txt", "x")
    m.refused("alice", "send", "--to", "bob@houmao.localhost", "--subject", "s", "--body-content", "x", "--attach", "other.txt",
        "--attach-mode", "managed_copy", env={"MAILROOM_FAIL_AT": "deliver.link:ENOSPC"})
    assert os.listdir(os.path.join(m.mail_root, "attachments/managed")) == [kept["attachment_id"]]
    m.check()
    exported = m.json("mailbox", "export", "--output-dir", "out", "--all-accounts")
    assert exported["message_count"] == 3, exported
    m.json("--yes", "mailbox", "clear-messages")
    assert not os.path.exists(kept["locator"])


def one_message_that_is_damaged_does_not_hide_the_others(m):
    m.create("alice", "bob")
    m.send("alice", "bob", "good")
    bad = m.send("alice", "bob", "bad")
    day = os.path.join(m.mail_root, "messages", bad["created_at_utc"][:10])
    with open(os.path.join(day, bad["message_ref"].split(":")[1] + ".md"), "w", encoding="utf-8") as file:
        file.write("---\n")
    listed = {one["subject"]: one for one in m.mail("bob", "list")["messages"]}
    assert "cannot be read" in listed["bad"]["problem"] and "problem" not in listed["good"], listed
    assert "cannot be read" in m.refused("bob", "peek", bad["message_ref"])


# --- agents ---

def agents_are_made_shown_and_removed(m):
    made = m.json("agents", "create", "alice", "--tmux-session", "work")
    assert made["address"] == "alice@houmao.localhost" and made["registered"] and made["tmux_session_name"] == "work", made
    assert made["mailbox_root"] == m.mail_root, made
    m.json("agents", "create", "quiet", "--transport", "none")
    listed = m.json("agents", "list")["agents"]
    assert {one["agent_name"]: one["address"] for one in listed} == {"alice": "alice@houmao.localhost", "quiet": None}, listed
    assert "is not mailbox-enabled" in m.refused("quiet", "check") and "mailroom agents bind quiet" in m.refused("quiet", "status")
    done = m.run("agents", "create", "alice")
    assert done.returncode == 1 and "is there already" in done.stderr, describe(done)
    for name in ("../x", "a b", ""):
        done = m.run("agents", "create", name)
        assert done.returncode == 2, describe(done)
    done = m.run("agents", "create", "mallory", "--address", "HOUMAO-boss@houmao.localhost")
    assert done.returncode == 2 and "reserved" in done.stderr, describe(done)
    assert {one["agent_name"] for one in m.json("agents", "list")["agents"]} == {"alice", "quiet"}
    shown = m.json("agents", "show", made["agent_id"])
    assert shown == made, (shown, made)
    first = made["bindings_version"]
    bound = m.json("agents", "bind", "alice")
    assert bound["bindings_version"] > first and bound["shared_registration"]["reused_existing"] is True, bound
    assert m.mail("alice", "status")["bindings_version"] == bound["bindings_version"]
    private = os.path.join(m.dir, "private")
    m.json("mailbox", "unregister", "--address", "alice@houmao.localhost", "--mode", "purge", "--yes")
    assert "is not there" in m.refused("alice", "check")
    m.json("agents", "bind", "alice", "--mailbox-path", private)
    live = m.mail("alice", "resolve-live")["mailbox"]["filesystem"]
    assert live["mailbox_kind"] == "symlink" and live["inbox_path"] == os.path.join(private, "inbox"), live
    m.send("alice", "alice", "kept")
    m.json("agents", "unbind", "alice")
    assert m.json("agents", "show", "alice")["runtime_mailbox_enabled"] is False
    removed = m.json("agents", "remove", "alice")
    assert removed["removed"] is True and not os.path.exists(made["manifest_path"]), removed
    assert m.json("mail", "--address", "alice@houmao.localhost", "check")["message_count"] == 1
    done = m.run("agents", "show", "alice")
    assert done.returncode == 1 and "mailroom agents list" in done.stderr, describe(done)
    done = m.run("agents", "create", "operator")
    assert done.returncode == 2 and "no agent can be called `operator`" in done.stderr, describe(done)
    done = m.run("agents", "bind", "quiet", "--principal-id", "HOUMAO-operator")
    assert done.returncode == 2 and "is that of the person" in done.stderr, describe(done)
    # One whose session was deleted by hand is taken off the list all the same.
    shutil.rmtree(os.path.dirname(m.manifest("quiet")))
    assert m.json("agents", "remove", "quiet")["agent_name"] == "quiet"
    assert m.json("agents", "list")["agents"] == []


def of_several_that_make_one_agent_one_succeeds(m):
    words = [m.program, "agents", "create", "alice", "--json"]
    running = [subprocess.Popen(words, cwd=m.dir, env=m.env(), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, text=True) for _ in range(6)]
    said = [process.communicate(timeout=120)[0] for process in running]
    assert sorted(process.returncode for process in running) == [0, 1, 1, 1, 1, 1], said
    assert sum("is there already" in text for text in said) == 5, said
    assert [agent["agent_name"] for agent in m.json("agents", "list")["agents"]] == ["alice"]


def the_nearest_overlay_has_the_root(m):
    m.create("alice")
    below = os.path.join(m.dir, "src/deep")
    os.makedirs(below)
    for words in (("agents", "create", "bob"), ("mail", "--address", "alice@houmao.localhost", "resolve-live")):
        done = subprocess.run([m.program, "--json", *words], cwd=below, env=m.env(), capture_output=True, text=True,
            timeout=TIMEOUT_S, check=False)
        assert done.returncode == 0, describe(done)
    assert json.loads(done.stdout)["mailbox"]["filesystem"]["root"] == m.mail_root, done.stdout
    assert m.json("agents", "show", "bob")["mailbox_root"] == m.mail_root
    other = m.json("agents", "create", "carol", env={"HOUMAO_GLOBAL_MAILBOX_DIR": os.path.join(m.dir, "global")})
    assert other["mailbox_root"] == os.path.join(m.dir, "global"), other
    other = m.json("agents", "create", "dora", "--mailbox-root", "named", env={"HOUMAO_GLOBAL_MAILBOX_DIR": "global"})
    assert other["mailbox_root"] == os.path.join(m.dir, "named"), other


def selectors_keep_their_rules(m):
    m.create("alice", "bob")
    for words, text in (
            (("--agent-name", "a", "--agent-id", "b"), "not both"),
            (("--agent-name", " "), "must not be blank"),
            (("--agent-name", "a", "--agent-name", "b"), "given twice"),
            (("--port", "80"), "--port is only supported with --agent-id or --agent-name"),
            (("--agent-name", "alice", "--port", "x"), "--port must be"),
            (("--agent-name", "alice", "--address", "b@c"), "not both"),
            (("--mailbox-root", "x"), "only supported with --address"),
            ((), "not inside an agent's tmux session; name the agent with --agent-name or --agent-id")):
        done = m.run("mail", "status", *words)
        assert done.returncode == 2 and text in done.stderr, (words, describe(done))
    done = m.run("mail", "status", "--agent-name", "alice", "--port", "1")
    assert done.returncode == 1 and "the gateway does not answer" in done.stderr, describe(done)
    done = m.run("mail", "status", "--agent-name", "nobody")
    assert done.returncode == 1 and "mailroom agents list" in done.stderr, describe(done)
    # Nothing is guessed outside tmux, whatever variables are left over.
    done = m.run("mail", "status", env={"HOUMAO_MANIFEST_PATH": m.manifest("alice")})
    assert done.returncode == 2, describe(done)


def the_older_names_work(m):
    m.create("alice")
    me = m.record("alice")["agent_id"]
    told = [m.json("agents", "mail", "status", "--agent-name", "alice"),
        m.json("agents", "single", "--agent-id", me, "mail", "status"),
        m.houmao("agents", "mail", "status", "--agent-name", "alice"),
        m.houmao("agents", "single", "--agent-name", "alice", "mail", "status")]
    assert all(one == told[0] for one in told), told
    assert m.houmao("agents", "single", "mail", "status", status=1).startswith("Error: name the agent")
    assert "takes no --agent-id" in m.houmao("agents", "self", "mail", "status", "--agent-name", "alice", status=2)
    assert m.houmao("agents", "mail", "list", "--limit", "x", "--agent-name", "alice", status=2).startswith("Error: --limit ")
    assert m.houmao("agents", "mail", "nothing", status=2).startswith("Error: ")
    assert "Did you mean" in m.houmao("agents", "mail", "send", "--agent-name", "alice", "--to", "alice", "--subject", "s",
        "--body-content", "x", status=1)
    assert m.houmao("mailbox", "status")["registration_counts"]["active"] == 2
    listed = [one["name"] for one in m.json("operations")["operations"]]
    assert len(listed) == len(set(listed)) and "agents_mailbox_status" not in listed, listed
    helped = m.run("agents", "mail", "--help").stdout
    assert "resolve-live" in helped and "--agent-name NAME" in helped, helped
    plain = m.run("agents", "mail", "status", "--agent-name", "alice").stdout
    assert plain.startswith("The mailbox alice@houmao.localhost"), plain
    mailroom, m.program = m.program, m.manager
    styled = m.run("agents", "mail", "status", "--agent-name", "alice", env={"HOUMAO_CLI_PRINT_STYLE": "json"}).stdout
    m.program = mailroom
    assert json.loads(styled) == told[0] and styled.startswith('{\n  "address"'), styled


def a_live_agent_gets_its_mailbox_under_the_older_names(m):
    m.create("bob")
    m.json("agents", "create", "alice", "--transport", "none")
    status = ("schema_version", "agent_id", "agent_name", "tracked_agent_id", "backend", "joined_session", "posture_kind", "registered",
        "runtime_mailbox_enabled", "activation_state")
    bound = ("transport", "principal_id", "address", "mailbox_root", "bindings_version")
    for run in (m.json, m.houmao):
        for one in (("agents", "single", "--agent-name", "alice", "mailbox"), ("agents", "mailbox", "--agent-name", "alice")):
            told = run(*one, "status")
            assert sorted(told) == sorted(status) and told["activation_state"] is None and told["registered"] is False, told
            told = run(*one, "register")
            assert sorted(told) == sorted([*status[:4], *bound, "activation_state", "shared_registration"]), told
            assert told["address"] == "alice@houmao.localhost" and told["activation_state"] == "active", told
            assert {"ok", "mode", "address", "active_registration_id", "owner_principal_id", "status"} <= set(
                told["shared_registration"]), told
            told = run(*one, "status")
            assert sorted(told) == sorted([*status, *bound]) and told["registered"] is True, told
            assert run(*one, "unregister")["address"] == "alice@houmao.localhost"
    # Somebody else has the address: a person is asked, or says yes beforehand.
    taken = ("--json", "agents", "bind", "alice", "--address", "bob@houmao.localhost")
    done = m.run(*taken)
    assert done.returncode == 1 and "already has an active mailbox" in done.stdout and "with --yes it is replaced" in done.stdout, (
        describe(done))
    assert m.mail("bob", "status")["principal_id"] == "HOUMAO-bob"
    told = m.json("--yes", *taken[1:])["shared_registration"]
    assert told["mode"] == "force" and told["replaced_registration_id"], told
    assert "is bound as `HOUMAO-bob`" in m.refused("bob", "check")
    done = m.run("agents", "self", "mailbox", "register")
    assert done.returncode == 2 and "not inside an agent's tmux session" in done.stderr, describe(done)


def sessions_in_trouble_say_what_to_do(m):
    m.create("alice", "bob")
    path = m.manifest("alice")
    whole = m.load(path)
    for spoil, text in (
            (lambda: os.unlink(path), "there is no session manifest"),
            (lambda: open(path, "w", encoding="utf-8").write('{"schema_version": 4, "agent'), "cannot be read"),
            (lambda: m.store(path, {"schema_version": 4}), "it is not the manifest of a session"),
            (lambda: m.store(path, {**whole, "registry_generation_id": "other"}), "ownership conflict"),
            (lambda: m.store(path, {**whole, "launch_plan": {"mailbox": {"transport": "filesystem"}}}),
                "$.launch_plan.mailbox.principal_id"),
            (lambda: m.store(path, {**whole, "launch_plan": {"mailbox": {**whole["launch_plan"]["mailbox"], "address": " "}}}),
                "$.launch_plan.mailbox.address"),
            (lambda: m.store(path, {**whole, "launch_plan": {"mailbox": {**whole["launch_plan"]["mailbox"],
                "principal_id": "HOUMAO-else"}}}), "is bound as `HOUMAO-else`")):
        spoil()
        done = m.run("mail", "check", "--agent-name", "alice")
        assert done.returncode in (1, 2) and text in done.stderr, (text, describe(done))
        listed = {one["agent_name"]: one["problem"] for one in m.json("agents", "list")["agents"]}
        assert listed["bob"] is None, listed
    stalwart = {"transport": "stalwart", "principal_id": "HOUMAO-alice", "address": "alice@example.com", "jmap_url": "https://j",
        "management_url": "https://m", "login_identity": "alice", "credential_ref": "stalwart-alice", "bindings_version": "v"}
    m.store(path, {**whole, "launch_plan": {"mailbox": stalwart}})
    live = m.mail("alice", "resolve-live")["mailbox"]["stalwart"]
    assert live["credential_ref"] == "stalwart-alice" and live["credential_file"].endswith("mailbox-secrets/stalwart-alice.json"), live
    assert "there is no credential at" in m.refused("alice", "check")
    m.store(path, whole)
    assert m.mail("alice", "check")["message_count"] == 0
    os.unlink(os.path.join(m.mail_root, "mailboxes/bob@houmao.localhost/mailbox.sqlite"))
    assert "mailroom mailbox repair" in m.refused("bob", "check")
    m.send("bob", "bob", "writes anyway")
    # The root is gone, and comes back.
    os.rename(m.mail_root, m.mail_root + ".away")
    told = m.refused("alice", "check")
    assert "mailroom agents bind" in told, told
    assert m.mail("alice", "resolve-live")["mailbox"]["filesystem"]["root"] == m.mail_root
    os.rename(m.mail_root + ".away", m.mail_root)
    with open(os.path.join(m.registry, m.record("bob")["agent_id"], "record.json"), "w", encoding="utf-8") as file:
        file.write("{")
    assert any(one["problem"] for one in m.json("agents", "list")["agents"])
    assert m.mail("alice", "check")["message_count"] == 0


def a_token_is_not_shown(m):
    """A sender may have put one into notify_auth; it is for the gateway of the recipient."""
    m.create("alice")
    ref = m.send("alice", "alice", "s", "x", "--notify-block", "look")["message_ref"]
    folder = os.path.join(m.mail_root, "messages", os.listdir(os.path.join(m.mail_root, "messages"))[0])
    path = os.path.join(folder, ref.split(":")[1] + ".md")
    with open(path, encoding="utf-8") as file:
        text = file.read()
    text = text.replace("notify_auth: null", "notify_auth: {scheme: none, token: hunter2, iss: null, iat: null, exp: null}")
    os.chmod(path, 0o600)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    told = m.mail("alice", "peek", ref)
    assert told["message"]["notify_auth"]["scheme"] == "none" and "hunter2" not in json.dumps(told), told


# --- in tmux ---

class Tmux:
    """A server of tmux of its own; sessions run a command that is told on a pipe to end."""

    def __init__(self, m):
        self.m = m
        self.socket = os.path.join(m.dir, "tmux.socket")

    def __call__(self, *args):
        done = subprocess.run(["tmux", "-S", self.socket, "-f", "/dev/null", *args], env=self.m.env(), cwd=self.m.dir,
            capture_output=True, text=True, timeout=TIMEOUT_S, check=False)
        assert done.returncode == 0, describe(done)
        return done.stdout.strip()

    def start(self, name, **variables):
        settings = [word for key, value in variables.items() for word in ("-e", f"{key}={value}")]
        self("new-session", "-d", "-s", name, *settings, "cat")

    def run(self, session, *words, **variables):
        """Run mailroom in a window of the session; (status, output)."""
        pipe, script = os.path.join(self.m.dir, "answer"), os.path.join(self.m.dir, "ask.sh")
        os.mkfifo(pipe)
        line = " ".join(f"'{word}'" for word in (self.m.program, "--json", *words))
        with open(script, "w", encoding="utf-8") as file:
            file.write(f"{{ {line}; echo \"status $?\"; }} > '{pipe}' 2>&1\n")
        settings = [word for key, value in variables.items() for word in ("-e", f"{key}={value}")]
        self("new-window", "-d", "-t", f"={session}:", *settings, "sh", script)
        with open(pipe, encoding="utf-8") as file:
            text = file.read()
        os.unlink(pipe)
        body, status = text.rsplit("status ", 1)
        return int(status), body

    def __enter__(self):
        return self

    def __exit__(self, *ignored):
        self("kill-server")


def inside_tmux_the_session_says_who_it_is(m):
    made = [m.json("agents", "create", name, "--tmux-session", f"{name}-session") for name in ("alice", "bob")]
    alice, bob = (one["manifest_path"] for one in made)
    with Tmux(m) as tmux:
        tmux.start("alice-session", HOUMAO_MANIFEST_PATH=alice)
        tmux.start("bob-session", HOUMAO_AGENT_ID=made[1]["agent_id"])
        tmux.start("nobody")
        status, text = tmux.run("alice-session", "mail", "resolve-live")
        live = json.loads(text)
        assert status == 0 and live["address"] == "alice@houmao.localhost", text
        assert live["managed_agent"]["agent_ref"] == made[0]["agent_id"], live
        assert live["managed_agent"]["tmux_session_name"] == "alice-session", live
        status, text = tmux.run("bob-session", "agents", "self", "mail", "status")
        assert status == 0 and json.loads(text)["address"] == "bob@houmao.localhost", text
        # Whoever is named wins; a variable of another session's agent does not make one that agent.
        status, text = tmux.run("alice-session", "mail", "status", "--agent-name", "bob")
        assert status == 0 and json.loads(text)["address"] == "bob@houmao.localhost", text
        status, text = tmux.run("nobody", "mail", "status", HOUMAO_MANIFEST_PATH=bob)
        assert status == 1 and "belongs to the tmux session bob-session" in text, text
        status, text = tmux.run("nobody", "mail", "status")
        assert status == 1 and "is not an agent's" in text, text
        # The session learns it later, as a runtime that joins it tells it.
        tmux("set-environment", "-t", "=bob-session", "HOUMAO_MANIFEST_PATH", bob)
        status, text = tmux.run("bob-session", "mail", "send", "--to", "alice@houmao.localhost", "--subject", "hi", "--body-content",
            "x")
        assert status == 0, text
        status, text = tmux.run("alice-session", "mail", "check")
        assert [one["subject"] for one in json.loads(text)["messages"]] == ["hi"], text
        # Made inside a session, an agent belongs to it.
        status, text = tmux.run("nobody", "agents", "create", "carol")
        assert status == 0 and json.loads(text)["tmux_session_name"] == "nobody", text
        # The session of another one stays that one's.
        status, text = tmux.run("alice-session", "agents", "create", "dave")
        assert status == 0 and json.loads(text)["tmux_session_name"] == "dave", text


TESTS = [
    a_person_sends_in_one_line,
    a_body_is_given_once,
    what_is_wrong_is_refused_by_name,
    choices_are_taken_in_any_case,
    check_and_mark_read_as_the_seed_has_them,
    several_refs_are_changed_all_or_none,
    answers_go_to_who_can_see_the_message,
    the_operator_posts_and_is_answered,
    files_are_named_or_kept,
    one_message_that_is_damaged_does_not_hide_the_others,
    agents_are_made_shown_and_removed, of_several_that_make_one_agent_one_succeeds,
    the_nearest_overlay_has_the_root,
    selectors_keep_their_rules,
    the_older_names_work,
    a_live_agent_gets_its_mailbox_under_the_older_names,
    sessions_in_trouble_say_what_to_do,
    a_token_is_not_shown,
    inside_tmux_the_session_says_who_it_is,
]

with Tap() as tap:
    for test in TESTS:
        if "tmux_the" in test.__name__ and not shutil.which("tmux"):
            tap.skip(test.__name__, "there is no tmux")
            continue
        with Agents(sys.argv[1]) as room:
            tap.run(test.__name__, test, room)
