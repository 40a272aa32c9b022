"""usage: notifier.py PROGRAM SOURCE - agents are told of their mail: by long polls, prompts and hooks, once each message."""

import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from agents import Agents, Gateway  # noqa: E402
from foreign_mail import ForeignMail  # noqa: E402
from mailroom import describe  # noqa: E402
from tap import Tap  # noqa: E402

WAIT_S = 60
STORM = 1000
TURNS = 12
TOKEN = "tok-ultramarine-7"
KEYS = ["schema_version", "enabled", "interval_seconds", "mode", "appendix_text", "context_error_policy",
    "pre_notification_context_action", "notify_block_render", "notify_block_auth_mode", "notify_block_auth_verifier",
    "notify_block_shared_tokens", "notify_block_per_message_chars", "notify_block_total_chars", "supported", "support_error",
    "last_poll_at_utc", "last_notification_at_utc", "last_error"]


def until(look, what):
    """What `look` returns once that is something."""
    end = time.monotonic() + WAIT_S
    while time.monotonic() < end:
        found = look()
        if found:
            return found
        time.sleep(0.05)
    raise AssertionError(f"never: {what}")


def text_of(path):
    try:
        with open(path, encoding="utf-8") as file:
            return file.read()
    except FileNotFoundError:
        return ""


def call(server, method, path, body=None):
    headers = {} if body is None else {"Content-Type": "application/json"}
    status, _, text = server.request(method, path, headers, None if body is None else json.dumps(body))
    return status, json.loads(text)


def notifier(server, method="GET", body=None, agent=None):
    return call(server, method, f"/houmao/agents/{agent}/gateway/mail-notifier" if agent else "/v1/mail-notifier", body)


def serve(m, **env):
    return Gateway(m, (), env)


def notices(m, agent):
    return m.mail(agent, "notices")["notices"]


def enable(m, agent, *options):
    return m.json("agents", "gateway", "mail-notifier", "enable", agent, *options)


def command(m, agent, script, *options):
    """Prompts of the agent go to this shell script."""
    return enable(m, agent, *(word for part in ("sh", "-c", script) for word in ("--command", part)), *options)


def shown(m, *args):
    """What a command shows to people."""
    done = m.run(*args)
    assert done.returncode == 0, describe(done)
    return done.stdout


class Poll:
    """A long poll in a thread of its own."""

    def __init__(self, server, path="/v1/mail-notifier/next?wait=60"):
        self.thread = threading.Thread(target=self.run, args=(server, path))
        self.thread.start()

    def run(self, server, path):
        self.status, self.told = call(server, "GET", path)

    def end(self):
        self.thread.join(WAIT_S)
        assert not self.thread.is_alive() and self.status == 200, self.__dict__
        return self.told


def settings_are_kept_and_changed(m):
    m.create("alice")
    with m.gateway("alice") as gateway:
        status, told = notifier(gateway)
        assert status == 200 and list(told) == KEYS and told["enabled"] is False and told["interval_seconds"] is None, told
        status, told = notifier(gateway, "PUT", {"interval_seconds": 3600, "mode": "unread_only", "appendix_text": "Be brief.",
            "notify_block_auth_mode": "required", "notify_block_auth_verifier": "shared-token",
            "notify_block_shared_tokens": [TOKEN], "notify_block_total_chars": 0})
        assert status == 200 and list(told) == KEYS and told["enabled"] is True and told["mode"] == "unread_only", told
        digests = told["notify_block_shared_tokens"]
        assert len(digests) == 1 and digests[0].startswith("sha256:") and TOKEN not in json.dumps(told), told
        # What is left out is kept, or goes back to its default.
        status, told = notifier(gateway, "PUT", {"interval_seconds": 7, "notify_block_shared_tokens": digests})
        assert told["mode"] == "any_inbox" and told["appendix_text"] == "Be brief." and told["interval_seconds"] == 7, told
        assert told["notify_block_shared_tokens"] == digests and told["notify_block_auth_mode"] == "required", told
        for body, places in (({}, ["interval_seconds"]), ({"interval_seconds": 0}, ["interval_seconds"]),
                ({"interval_seconds": 1, "enabled": False}, ["enabled"]),
                ({"interval_seconds": 1, "appendix_text": None}, ["appendix_text"]),
                ({"interval_seconds": 1, "pre_notification_context_action": "compact"}, ["pre_notification_context_action"]),
                ({"interval_seconds": 1, "channel": "command"}, ["channel"])):
            status, told = notifier(gateway, "PUT", body)
            assert status == 422 and [one["loc"][1] for one in told["detail"]] == places, (body, told)
        for _ in range(2):
            status, told = notifier(gateway, "DELETE")
            assert status == 200 and not told["enabled"] and told["interval_seconds"] is None, told
            assert told["appendix_text"] == "Be brief." and told["notify_block_shared_tokens"] == digests, told
        status, told = call(gateway, "GET", "/v1/mail-notifier/next?wait=soon")
        assert status == 422, told
        assert TOKEN not in gateway.logged()
    assert TOKEN not in shown(m, "agents", "gateway", "mail-notifier", "status", "alice")


def without_a_mailbox_it_says_so(m):
    m.json("agents", "create", "alice", "--transport", "none")
    with m.gateway("alice") as gateway:
        status, told = notifier(gateway)
        assert status == 200 and told["supported"] is False and "no mailbox" in told["support_error"], told
        assert notifier(gateway, "PUT", {"interval_seconds": 5})[0] == 422
        assert call(gateway, "GET", "/v1/mail-notifier/next?wait=0")[0] == 422


def a_long_poll_returns_with_mail_once(m):
    m.create("alice", "bob")
    with m.gateway("bob") as gateway:
        assert call(gateway, "GET", "/v1/mail-notifier/next?wait=0")[1]["notice_id"] is None
        poll = Poll(gateway)
        ref = m.send("alice", "bob", "Hello", "x", "--notify-block", "Look {{now}}")["message_ref"]
        told = poll.end()
        assert told["message_count"] == 1 and told["messages"][0]["message_ref"] == ref, told
        assert told["messages"][0]["from"] == "alice@houmao.localhost", told
        assert "> Look { {now} }" in told["prompt"] and gateway.url in told["prompt"], told
        assert call(gateway, "GET", "/v1/mail-notifier/next?wait=0")[1]["notice_id"] is None
        (notice,) = notices(m, "bob")
        assert (notice["state"], notice["channel"], notice["message_count"]) == ("delivered", "long_poll", 1), notice
        m.mail("bob", "read", ref)
        assert notices(m, "bob")[0]["state"] == "acknowledged"
        # What was read before anybody asked is not told.
        m.mail("bob", "read", m.send("alice", "bob", "Read")["message_ref"])
        assert call(gateway, "GET", "/v1/mail-notifier/next?wait=0")[1]["notice_id"] is None


def a_server_tells_all_its_agents(m):
    m.create("alice", "bob", "carol")
    with serve(m) as server:
        polls = {name: Poll(server, f"/houmao/agents/{name}/gateway/mail-notifier/next?wait=60") for name in ("bob", "carol")}
        m.send("alice", "carol", "For carol")
        assert polls["carol"].end()["messages"][0]["subject"] == "For carol"
        m.send("alice", "bob", "For bob")
        told = polls["bob"].end()
        assert told["messages"][0]["subject"] == "For bob" and f"{server.url}/houmao/agents/" in told["prompt"], told
        # An agent that is made while the server runs.
        m.create("dave")
        got = os.path.join(m.dir, "dave.txt")
        command(m, "dave", f"cat > {got}.new && mv {got}.new {got}")
        m.send("alice", "dave", "For dave")
        assert "You have mail in inbox." in until(lambda: text_of(got), "dave is told")


def what_came_meanwhile_is_one_wake_up(m):
    m.create("alice", "bob")
    log = os.path.join(m.dir, "log.txt")
    command(m, "bob", f"cat >> {log}; echo >> {log}")
    for number in range(12):
        m.send("alice", "bob", f"Number {number}")
    with serve(m):
        until(lambda: any(one["state"] == "delivered" for one in notices(m, "bob")), "bob is told")
    (notice,) = notices(m, "bob")
    assert notice["message_count"] == 12 and notice["channel"] == "command", notice
    assert text_of(log).count("You have mail in inbox.") == 1 and "It is about 12 messages." in text_of(log), text_of(log)


def foreign(m):
    """What delivers to bob without mailroom. The message that it copies was read since."""
    ref = m.send("alice", "bob", "Model")["message_ref"]
    mail = ForeignMail(m.mail_root, ref.removeprefix("filesystem:"), ("alice", "bob"))
    m.mail("bob", "read", ref)
    return mail


def a_storm_is_one_wake_up_with_its_count(m):
    m.create("alice", "bob")
    log = os.path.join(m.dir, "log.txt")
    mail = foreign(m)
    command(m, "bob", f"cat >> {log}; echo >> {log}", "--interval-seconds", "3600")
    with serve(m):
        until(lambda: m.json("agents", "gateway", "mail-notifier", "status", "bob")["last_poll_at_utc"], "bob is served")
        seconds, pauses = mail.storm(STORM)
        told = until(lambda: (found := notices(m, "bob")) and sum(one["message_count"] for one in found
            if one["state"] == "delivered") == STORM and found, "bob is told of all")
    # One, but where a busy machine made a pause in the storm, or stretched it.
    assert len(told) <= 1 + sum(pause > 0.1 for pause in pauses) + int(seconds / 2.4), (told, seconds, max(pauses))
    assert text_of(log).count("You have mail in inbox.") == len(told), text_of(log)
    assert len(told) > 1 or f"It is about {STORM} messages." in text_of(log), text_of(log)


def a_storm_is_two_answers_to_who_asks(m):
    m.create("alice", "bob")
    mail = foreign(m)
    counts = []
    with m.gateway("bob") as gateway:

        def ask():
            while sum(counts) < STORM:
                counts.append(call(gateway, "GET", "/v1/mail-notifier/next?wait=60")[1]["message_count"])

        asking = threading.Thread(target=ask)
        asking.start()
        seconds, pauses = mail.storm(STORM)
        asking.join(WAIT_S)
        assert not asking.is_alive() and sum(counts) == STORM, counts
    assert len(counts) <= 2 + sum(pause > 0.03 for pause in pauses) + int(seconds / 0.95), (counts, seconds, max(pauses))


def another_programs_mail_is_noticed_at_once(m):
    m.create("alice", "bob")
    mail = foreign(m)
    log = os.path.join(m.dir, "log.txt")
    command(m, "bob", f"cat >> {log}; echo >> {log}", "--interval-seconds", "3600")
    with serve(m):
        until(lambda: m.json("agents", "gateway", "mail-notifier", "status", "bob")["last_poll_at_utc"], "bob is served")
        for count, mail.journal in enumerate(("DELETE", "TRUNCATE", "PERSIST", "WAL", "PERSIST"), 1):
            mail.deliver()
            until(lambda: text_of(log).count("You have mail in inbox.") == count, f"bob is told with {mail.journal}")
    # On a busy machine the program could get it before the first long poll has begun.
    m.json("agents", "gateway", "mail-notifier", "disable", "bob")
    with m.gateway("bob") as gateway:
        for mail.journal in ("TRUNCATE", "DELETE", "PERSIST", "WAL"):
            poll = Poll(gateway)
            ident = mail.deliver()
            told = poll.end()
            assert [one["message_ref"] for one in told["messages"]] == [f"filesystem:{ident}"], (mail.journal, told)
    m.check()


def another_programs_deliveries_and_ours_take_turns(m):
    """Its lock files keep us out and ours keep it out, and a journal of ours that stays is none to it."""
    m.create("alice", "bob")
    mail = foreign(m)
    theirs = []
    with m.gateway("alice") as gateway:
        other = threading.Thread(target=lambda: theirs.extend(mail.deliver_as_agreed() for _ in range(TURNS)))
        other.start()
        for number in range(TURNS):
            status, told = call(gateway, "POST", "/v1/mail/send", {"to": ["bob@houmao.localhost"], "subject": f"Ours {number}",
                "body_content": "x"})
            assert status == 200, told
        other.join(WAIT_S)
        assert len(theirs) == TURNS, theirs
        told = m.mail("bob", "list", "--read-state", "unread")["messages"]
        assert len(told) == 2 * TURNS, told
        assert {f"filesystem:{ident}" for ident in theirs} < {one["message_ref"] for one in told}, told
        locks = os.path.join(m.mail_root, "locks")
        assert os.listdir(os.path.join(locks, "addresses")) == [] and not os.path.exists(os.path.join(locks, "index.lock"))
    with m.gateway("bob") as gateway:
        told = Poll(gateway).end()
        assert told["message_count"] == 2 * TURNS, told
    m.check()


def a_program_that_hangs_holds_up_nobody(m):
    m.create("alice", "bob", "carol")
    got = os.path.join(m.dir, "carol.txt")
    command(m, "bob", "exec sleep 1000", "--command-timeout-seconds", "2")
    command(m, "carol", f"cat > {got}")
    with serve(m):
        m.send("alice", "bob", "One")
        m.send("alice", "carol", "Two")
        until(lambda: text_of(got), "carol is told")
        failed = until(lambda: [one for one in notices(m, "bob") if one["state"] == "failed"], "bob's program is stopped")[0]
        assert failed["detail"] == "sh did not end within 2 seconds and was stopped" and failed["retry_at_utc"], failed


def a_dead_channel_is_named_by_the_doctor(m):
    m.create("alice", "bob")
    command(m, "bob", "echo broken >&2; exit 3")
    with serve(m):
        m.send("alice", "bob", "One")
        m.send("alice", "bob", "Two")
        until(lambda: notices(m, "bob") and notices(m, "bob")[0]["message_count"] == 2 and notices(m, "bob")[0]["detail"],
            "it fails")
    (notice,) = notices(m, "bob")
    assert notice["state"] == "failed" and notice["retry_at_utc"] and notice["detail"] == "sh ended with status 3: broken", notice
    found = [one for one in m.json("doctor")["checks"] if one["name"] == "wake-ups"]
    assert len(found) == 1 and found[0]["state"] == "warning", found
    assert "agent bob was not told of 2 messages since" in found[0]["detail"] and "status 3: broken" in found[0]["detail"], found
    table = m.in_a_terminal("mail", "notices", "--agent-name", "bob")
    assert "failed" in table and "command" in table and max(map(len, table.splitlines())) <= 80, table
    # When the channel lives again, who asks gets it.
    with m.gateway("bob") as gateway:
        assert call(gateway, "GET", "/v1/mail-notifier/next?wait=0")[1]["message_count"] == 2
    assert not [one for one in m.json("doctor")["checks"] if one["name"] == "wake-ups"]


def a_killed_server_does_not_tell_twice(m):
    m.create("alice", "bob")
    log, child = os.path.join(m.dir, "log.txt"), os.path.join(m.dir, "child.pid")
    command(m, "bob", f"cat >> {log}; echo $$ > {child}.new; mv {child}.new {child}; exec sleep 1000")
    server = serve(m)
    try:
        m.send("alice", "bob", "One")
        pid = int(until(lambda: text_of(child), "the program has it"))
    finally:
        server.stop(signal.SIGKILL)
        server.close()
    os.kill(pid, signal.SIGKILL)
    assert notices(m, "bob")[0]["state"] == "sending"
    command(m, "bob", f"cat >> {log}")
    with serve(m):
        notice = until(lambda: [one for one in notices(m, "bob") if one["state"] == "failed"], "it is recorded")[0]
        assert notice["detail"] == "the notifier ended while it delivered this; it may have arrived", notice
        m.send("alice", "bob", "Two")
        until(lambda: len([one for one in notices(m, "bob") if one["state"] == "delivered"]) == 1, "the next one is told")
    assert [one["message_count"] for one in notices(m, "bob")] == [1, 1] and text_of(log).count("You have mail") == 2


def hooks_say_it_once_and_else_nothing(m):
    m.create("alice", "bob")

    def hook(event, *options):
        done = m.run("mail", "hook", event, "--agent-name", "bob", *options)
        assert done.returncode == 0 and not done.stderr, describe(done)
        return json.loads(done.stdout) if done.stdout else None

    assert hook("session-start") is None
    for event, options, name in (("session-start", (), "SessionStart"), ("post-tool-use", (), "PostToolUse"),
            ("post-tool-use", ("--program", "gemini"), "AfterTool"), ("session-start", ("--program", "codex"), "SessionStart")):
        m.send("alice", "bob", event)
        told = hook(event, *options)
        assert list(told) == ["hookSpecificOutput"] and told["hookSpecificOutput"]["hookEventName"] == name, told
        assert "You have mail in inbox." in told["hookSpecificOutput"]["additionalContext"], told
        assert hook(event, *options) is None and hook("stop") is None
    m.send("alice", "bob", "stop")
    told = hook("stop")
    assert told["decision"] == "block" and "You have mail in inbox." in told["reason"] and len(told) == 2, told
    assert [one["channel"] for one in notices(m, "bob")] == ["hook"] * 5
    done = m.run("mail", "notices", "--address", "bob@houmao.localhost")
    assert done.returncode == 2 and "wake-ups are those of an agent: name it with --agent-name" in done.stderr, describe(done)
    done = m.run("mail", "hook", "lunch", "--agent-name", "bob")
    assert done.returncode == 2 and "session-start" in done.stderr, describe(done)


def commands_set_it_up(m):
    m.create("bob")
    told = m.json("agents", "gateway", "mail-notifier", "status", "bob")
    assert told["enabled"] is False and told["channel"] == "tmux", told
    told = enable(m, "bob")
    assert told["enabled"] is True and told["interval_seconds"] == 60 and told["channel"] == "tmux", told
    told = m.json("agents", "single", "--agent-name", "bob", "gateway", "mail-notifier", "enable", "--interval-seconds", "5",
        "--mode", "unread_only")
    assert told["interval_seconds"] == 5 and told["mode"] == "unread_only", told
    done = m.run("agents", "gateway", "mail-notifier", "enable", "bob", "--channel", "command")
    assert done.returncode == 2 and "--channel command needs a program: give --command" in done.stderr, describe(done)
    told = m.houmao("agents", "single", "--agent-name", "bob", "gateway", "mail-notifier", "disable")
    assert told["enabled"] is False and told["interval_seconds"] is None and told["mode"] == "unread_only", told
    assert "only when it asks" in shown(m, "agents", "gateway", "mail-notifier", "status", "bob")
    assert "was not told of any mail yet" in shown(m, "mail", "notices", "--agent-name", "bob")


class Tmux:
    """A server of tmux of its own."""

    def __init__(self, m):
        self.m = m
        self.env = {"TMUX_TMPDIR": m.dir}

    def __call__(self, *args):
        done = subprocess.run(["tmux", "-f", "/dev/null", *args], env={**self.m.env(), **self.env}, cwd=self.m.dir,
            capture_output=True, text=True, timeout=WAIT_S, check=False)
        assert done.returncode == 0, describe(done)
        return done.stdout

    def __enter__(self):
        return self

    def __exit__(self, *ignored):
        subprocess.run(["tmux", "kill-server"], env={**self.m.env(), **self.env}, capture_output=True, check=False)


def in_tmux_the_prompt_is_typed(m):
    m.create("alice", "bob")
    got = os.path.join(m.dir, "got.txt")
    enable(m, "bob")
    with Tmux(m) as tmux:
        tmux("new-session", "-d", "-x", "100", "-y", "40", "-s", "bob", f"cat > {shlex.quote(got)}; sleep 1000")
        tmux("new-session", "-d", "-s", "other", "cat")
        with serve(m, **tmux.env):
            m.send("alice", "bob", "Hello", "x", "--notify-block", "Please look", "--notify-block-placement", "prepend")
            until(lambda: [one for one in notices(m, "bob") if one["state"] == "delivered"], "bob is told")
            (notice,) = notices(m, "bob")
            assert notice["channel"] == "tmux", notice
            tmux("send-keys", "-t", "bob", "C-d")
            text = until(lambda: text_of(got), "cat has written it")
            assert text.startswith("Sender notice \u2014 from alice@houmao.localhost:\n> Please look\n\nYou have mail in inbox.\n")
            assert text.endswith("wait for the next notice.\n") and text.count("You have mail") == 1, text
            # A pane that has died is a failure, and the doctor says so.
            tmux("kill-session", "-t", "bob")
            m.send("alice", "bob", "Nobody there")
            failed = until(lambda: [one for one in notices(m, "bob") if one["state"] == "failed"], "it fails")[0]
            assert "the tmux session bob cannot be reached" in failed["detail"] and failed["retry_at_utc"], failed
            assert [one for one in m.json("doctor")["checks"] if one["name"] == "wake-ups"]


def in_tmux_a_busy_agent_is_not_interrupted(m):
    m.create("alice", "bob")
    ready, got = os.path.join(m.dir, "ready"), os.path.join(m.dir, "got.txt")
    enable(m, "bob", "--interval-seconds", "1")
    with Tmux(m) as tmux:
        tmux("new-session", "-d", "-x", "100", "-y", "40", "-s", "bob",
            f"echo 'Working (esc to interrupt)'; while [ ! -e {ready} ]; do sleep 0.1; done; clear; cat > {got}; sleep 1000")
        with serve(m, **tmux.env):
            m.send("alice", "bob", "Hello")
            until(lambda: notices(m, "bob"), "it is queued")
            time.sleep(1)
            assert notices(m, "bob")[0]["state"] == "queued" and "You have mail" not in tmux("capture-pane", "-p", "-t", "bob")
            with open(ready, "w", encoding="utf-8"):
                pass
            until(lambda: notices(m, "bob")[0]["state"] == "delivered", "it is told when it rests")
            assert len(notices(m, "bob")) == 1


TESTS = [
    settings_are_kept_and_changed,
    without_a_mailbox_it_says_so,
    a_long_poll_returns_with_mail_once,
    a_server_tells_all_its_agents,
    what_came_meanwhile_is_one_wake_up,
    a_storm_is_one_wake_up_with_its_count,
    a_storm_is_two_answers_to_who_asks,
    another_programs_mail_is_noticed_at_once,
    another_programs_deliveries_and_ours_take_turns,
    a_program_that_hangs_holds_up_nobody,
    a_dead_channel_is_named_by_the_doctor,
    a_killed_server_does_not_tell_twice,
    hooks_say_it_once_and_else_nothing,
    commands_set_it_up,
    in_tmux_the_prompt_is_typed,
    in_tmux_a_busy_agent_is_not_interrupted,
]

with Tap() as tap:
    for test in TESTS:
        if test.__name__.startswith("in_tmux") and not shutil.which("tmux"):
            tap.skip(test.__name__, "there is no tmux")
            continue
        with Agents(sys.argv[1]) as room:
            tap.run(test.__name__, test, room)
