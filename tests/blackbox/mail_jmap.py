"""usage: mail_jmap.py PROGRAM SOURCE - agents whose mail is on a JMAP server: every verb, the gateway, and what the server does wrong."""

import contextlib
import json
import os
import stat
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from agents import Agents  # noqa: E402
from certificates import Certificates  # noqa: E402
from cyrus_server import HAS_CYRUS_JMAP, NO_CYRUS, CyrusJmap  # noqa: E402
from jmap_client import Jmap  # noqa: E402
from jmap_model import JmapModel, Management, PASSWORD  # noqa: E402
from jmap_server import Answer, HANG_UP, problem  # noqa: E402
from mail_server import PASSWORD as CYRUS_PASSWORD  # noqa: E402
from mailroom import describe  # noqa: E402
from tap import Tap  # noqa: E402

PROGRAM, SOURCE = sys.argv[1:3]
ALICE, BOB, CAROL = (f"{name}@houmao.localhost" for name in ("alice", "bob", "carol"))
SENT_ONCE = "sent once"


class Office(Agents):
    """Agents bound to accounts of a server."""

    def arrived(self):
        """Wait for mail that the server may deliver after it was sent."""

    def settle(self, url, password, *names):
        self.write("password", password + "\n")
        for name in names:
            self.json("agents", "create", name, "--transport", "stalwart", "--jmap-url", url, "--management-url", url + "/none",
                "--password-file", "password")

    def session(self, name):
        return os.path.dirname(self.manifest(name))

    def secrets(self, name):
        return os.path.join(self.session(name), "mailbox-secrets")


@contextlib.contextmanager
def modelled(*traits, names=("alice", "bob"), **about):
    with JmapModel(*traits, **about) as model, Office(PROGRAM) as m:
        for name in names:
            model.add(f"{name}@houmao.localhost")
        m.settle(model.url, PASSWORD, *names)
        model.requests.clear()
        yield m, model


def subjects(m, name, *args):
    return [one["subject"] for one in m.mail(name, "list", *args)["messages"]]


def view(message):
    return "".join(letter if message[flag] else "-" for letter, flag in (("r", "read"), ("a", "answered"), ("x", "archived"))) + " " + message["box"]


# --- every verb, over any server ---


def mail_is_sent_and_read(m):
    sent = m.send("alice", "bob", "Grüße", "Body é\n\nlast line")
    assert view(sent) == "r-- sent" and sent["body_text"] == "Body é\n\nlast line", sent
    assert sent["message_ref"].startswith("stalwart:") and sent["thread_ref"].startswith("stalwart-thread:"), sent
    assert sent["sender"] == {"address": ALICE, "display_name": None, "principal_id": "HOUMAO-alice"}, sent
    told = m.mail("bob", "check")
    assert (told["message_count"], told["unread_count"], told["transport"], told["authoritative"]) == (1, 1, "stalwart", True), told
    got = told["messages"][0]
    assert got["subject"] == "Grüße" and got["body_text"] == "Body é\n\nlast line" and view(got) == "--- inbox", got
    assert got["sender"]["address"] == ALICE and [one["address"] for one in got["to"]] == [BOB], got
    ref = got["message_ref"]
    assert view(m.mail("bob", "peek", ref)["message"]) == "--- inbox"
    assert view(m.mail("bob", "read", ref, "--box", "inbox")["message"]) == "r-- inbox"
    assert "is in the box `inbox`, not in `archive`" in m.refused("bob", "read", ref, "--box", "archive")
    assert m.mail("bob", "check", "--unread-only")["message_count"] == 0
    assert subjects(m, "alice", "--box", "sent") == ["Grüße"] and subjects(m, "alice", "--box", "drafts") == []
    status = m.mail("bob", "status")
    assert (status["address"], status["principal_id"], status["execution_path"]) == (BOB, "HOUMAO-bob", "manager_direct"), status


def mail_is_put_in_order(m):
    for name in ("one", "two", "three"):
        m.send("alice", "bob", name)
    refs = {one["subject"]: one["message_ref"] for one in m.mail("bob", "list")["messages"]}
    assert sorted(refs) == ["one", "three", "two"], refs
    marked = m.mail("bob", "mark", refs["one"], refs["two"], "--read", "--answered")["messages"]
    assert [view(one) for one in marked] == ["ra- inbox"] * 2 and all(one["body_text"].rstrip() == "text" for one in marked), marked
    assert view(m.mail("bob", "mark", refs["two"], "--unread")["messages"][0]) == "-a- inbox"
    assert subjects(m, "bob", "--read-state", "read") == ["one"]
    assert subjects(m, "bob", "--read-state", "unread", "--answered-state", "unanswered") == ["three"]
    assert subjects(m, "bob", "--read-state", "read", "--answered-state", "unanswered") == []
    moved = m.mail("bob", "move", refs["one"], "--destination-box", "project x")["messages"]
    assert view(moved[0]) == "ra- project x", moved
    assert subjects(m, "bob", "--box", "project x") == ["one"] and subjects(m, "bob", "--box", "nowhere") == []
    assert view(m.mail("bob", "archive", refs["two"])["messages"][0]) == "rax archive"
    assert subjects(m, "bob", "--box", "archive", "--archived") == ["two"] and subjects(m, "bob") == ["three"]
    assert view(m.mail("bob", "mark", refs["two"], "--unarchived")["messages"][0]) == "ra- inbox"
    assert m.mail("bob", "list", "--limit", "1")["message_count"] == 1
    assert subjects(m, "bob", "--since", "2999-01-01") == [] and len(subjects(m, "bob", "--since", "2000-01-01")) == 2
    # All or none.
    assert "has no message" in m.refused("bob", "archive", refs["three"], "stalwart:Mnothing")
    assert subjects(m, "bob", "--box", "archive") == []


def answers_are_in_the_thread(m):
    m.send("alice", "bob", "Question")
    first = m.mail("bob", "list")["messages"][0]
    answer = m.mail("bob", "reply", first["message_ref"], "--body-content", "Answer")["message"]
    assert answer["subject"] == "Re: Question" and [one["address"] for one in answer["to"]] == [ALICE], answer
    assert answer["thread_ref"] == first["thread_ref"], (answer, first)
    assert view(m.mail("bob", "peek", first["message_ref"])["message"]) == "ra- inbox"
    got = m.mail("alice", "list")["messages"][0]
    again = m.mail("alice", "reply", got["message_ref"], "--body-content", "More")["message"]
    assert again["subject"] == "Re: Question" and again["thread_ref"] == got["thread_ref"], again
    newest = m.mail("bob", "list", "--read-state", "unread")["messages"][0]
    assert newest["thread_ref"] == first["thread_ref"], newest


def the_operator_posts(m):
    told = m.mail("alice", "post", "--subject", "Stop", "--body-content", "Please", "--reply-policy", "none")["message"]
    assert told["sender"]["principal_id"] == "HOUMAO-operator" and view(told) == "--- inbox", told
    got = m.mail("alice", "check")["messages"][0]
    assert got["sender"] == {"address": "HOUMAO-operator@houmao.localhost", "display_name": "Houmao Operator", "principal_id":
        "HOUMAO-operator"} and got["reply_to"] == [], got
    assert "unsupported for operator-origin" in m.refused("alice", "reply", got["message_ref"], "--body-content", "x")
    told = m.mail("alice", "post", "--subject", "And now", "--body-content", "?")["message"]
    assert [one["address"] for one in told["reply_to"]] == ["HOUMAO-operator@houmao.localhost"], told


def notices_and_files_go_along(m):
    m.write("report.txt", "numbers\n")
    sent = m.send("alice", "bob", "With all", "body", "--attach", "report.txt", "--notify-block", "Look now", "--notify-block-placement", "prepend")
    assert sent["attachments"][0]["kind"] == "transport_owned" and sent["attachments"][0]["locator"].startswith("blob:"), sent
    got = m.mail("bob", "check")["messages"][0]
    file = got["attachments"][0]
    assert (file["kind"], file["media_type"], file["label"], file["size_bytes"]) == ("transport_owned", "text/plain", "report.txt", 8), file
    assert got["notify_block"] == {"text": "Look now", "placement": "prepend"}, got
    assert got["body_text"] == "```houmao-notify\nLook now\n```\n\nbody", got
    assert m.mail("bob", "list")["messages"][0]["notify_block"]["text"] == "Look now"


def mail_to_oneself_and_copies(m):
    m.mail("alice", "send", "--to", ALICE, "--to", BOB, "--cc", BOB, "--subject", "All", "--body-content", "x")
    m.arrived()
    assert subjects(m, "alice") == ["All"] and subjects(m, "alice", "--box", "sent") == ["All"] and subjects(m, "bob") == ["All"]
    got = m.mail("bob", "list")["messages"][0]
    assert [one["address"] for one in got["to"]] == [ALICE, BOB] and [one["address"] for one in got["cc"]] == [BOB], got


def what_is_wrong_is_refused_by_name(m):
    words = ("--subject", "s", "--body-content", "x")
    for args, text, status in (
            (("peek", "filesystem:1"), "is not the ref of a message here; refs begin with `stalwart:`", 2),
            (("peek", "stalwart:../../x"), "has no message", 1),
            (("peek", "stalwart:Mabsent"), "mailbox `bob@houmao.localhost` has no message `Mabsent`", 1),
            (("move", "stalwart:Mabsent", "--destination-box", "a/b"), "cannot be the name of a box", 2),
            (("send", "--to", "alice", *words), "is not a full mailbox address, such as bob@houmao.localhost", 2),
            (("send", "--to", ALICE, "--attach", "absent", *words), "absent", 1)):
        told = m.refused("bob", *args, status=status)
        assert text in told, (args, told)


# --- being told ---


class Waiting(threading.Thread):
    """A long poll; `answer` is there when it is over."""

    def __init__(self, gateway, seconds=60):
        super().__init__(daemon=True)
        self.gateway, self.seconds, self.answer = gateway, seconds, None
        self.start()

    def run(self):
        self.answer = json.loads(self.gateway.get(f"/v1/mail-notifier/next?wait={self.seconds}")[2])

    def told(self):
        self.join(60)
        assert self.answer, "the long poll does not return"
        return self.answer


def without_push_it_is_polled(m):
    with m.gateway("bob") as gateway:
        assert Waiting(gateway, 0).told()["notice_id"] is None
        waiting = Waiting(gateway)
        m.send("alice", "bob", "Wake up")
        assert waiting.told()["message_count"] == 1


def prompts_are_delivered(m):
    m.write("deliver.sh", f"#!/bin/sh\ncat > {m.dir}/prompt.tmp && mv {m.dir}/prompt.tmp {m.dir}/prompt\n")
    os.chmod(os.path.join(m.dir, "deliver.sh"), 0o755)
    m.json("agents", "gateway", "mail-notifier", "enable", "bob", "--interval-seconds", "60", "--channel", "command", "--command", os.path.join(m.dir, "deliver.sh"))
    with m.gateway("bob"):
        m.send("alice", "bob", "Wake up")
        end = time.monotonic() + 60
        while not os.path.exists(os.path.join(m.dir, "prompt")) and time.monotonic() < end:
            time.sleep(0.05)
        with open(os.path.join(m.dir, "prompt"), encoding="utf-8") as file:
            assert "You have mail in inbox." in file.read()


EVERYWHERE = (mail_is_sent_and_read, mail_is_put_in_order, answers_are_in_the_thread, the_operator_posts, notices_and_files_go_along,
    mail_to_oneself_and_copies, what_is_wrong_is_refused_by_name, without_push_it_is_polled, prompts_are_delivered)


def over_cyrus(tap):
    with CyrusJmap([ALICE, BOB]) as cyrus:
        for test in EVERYWHERE:
            for name in (ALICE, BOB):  # a mailbox of its own for each test
                jmap = Jmap(cyrus.jmap_url, name)
                ids = [mail["id"] for mail in jmap.mails()]
                if ids:
                    jmap.call("Email/set", destroy=ids)
            with Office(PROGRAM) as m:
                m.settle(cyrus.jmap_url, CYRUS_PASSWORD, "alice", "bob")
                m.arrived = cyrus.smtp.settle
                tap.run(f"{test.__name__}, over Cyrus", test, m)


# --- how often, and how, a server is asked ---


def verbs_are_few_requests():
    with modelled() as (m, model):
        m.send("alice", "bob", "first")
        for i in range(60):
            model.create(model.accounts[BOB], {"mailboxIds": {model.accounts[BOB].box("inbox"): True}, "from": [{"email": ALICE}],
                "to": [{"email": BOB}], "subject": f"n{i}", "bodyValues": {"1": {"value": "x"}}, "textBody": [{"partId": "1"}]})
        m.mail("bob", "check", "--limit", "1")
        model.requests.clear()
        assert m.mail("bob", "check", "--limit", "50")["message_count"] == 50
        assert len(model.requests) == 1, [request.path for request in model.requests]
        # The first message of an agent that knows nothing yet, and one later.
        os.unlink(next(entry.path for entry in os.scandir(m.secrets("alice")) if entry.name.endswith(".known")))
        for most in (3, 1):
            model.requests.clear()
            m.send("alice", "bob", "more")
            assert len(model.requests) <= most, [request.path for request in model.requests]
        # Nothing of it is secret.
        known = next(entry.path for entry in os.scandir(m.secrets("alice")) if entry.name.endswith(".known"))
        with open(known, encoding="utf-8") as file:
            assert PASSWORD not in file.read()


def long_lists_come_in_pages():
    with modelled(limits={"maxObjectsInGet": 40}) as (m, model):
        account = model.accounts[BOB]
        for i in range(130):
            model.create(account, {"mailboxIds": {account.box("inbox"): True}, "from": [{"email": ALICE}], "to": [{"email": BOB}],
                "subject": f"n{i}", "bodyValues": {"1": {"value": "x" * 400 if i else "y" * 400000}}, "textBody": [{"partId": "1"}]})
        listed = m.mail("bob", "list")["messages"]
        assert [one["subject"] for one in listed] == [f"n{i}" for i in reversed(range(130))]
        assert listed[0]["body_preview"] == "x" * 237 + "..." and listed[0]["body_text"] is None
        # One that is longer than what is listed comes whole all the same.
        assert m.mail("bob", "check")["messages"][-1]["body_text"] == "y" * 400000


def boxes_that_changed_are_found_again():
    with modelled() as (m, model):
        m.send("alice", "bob", "one")
        assert subjects(m, "bob") == ["one"]
        account = model.accounts[BOB]
        before = account.box("inbox")
        account.boxes["Bnew"] = {**account.boxes.pop(before), "id": "Bnew"}
        for email in account.emails.values():
            email["mailboxIds"] = {"Bnew": True}
        assert subjects(m, "bob") == ["one"]
        account = model.accounts[ALICE]
        account.boxes["Bsent"] = {**account.boxes.pop(account.box("sent")), "id": "Bsent"}
        account.boxes["Bdrafts"] = {**account.boxes.pop(account.box("drafts")), "id": "Bdrafts"}
        account.emails.clear()
        m.send("alice", "bob", "two")
        assert [email["subject"] for email in account.in_box("sent")] == ["two"] and len(model.delivered) == 2


# --- servers that are not like Cyrus ---


def servers_differ():
    for traits in (("empty-keywords", "no-submission-query"), ("no-filing",), ("no-roles",), ("drops-headers",)):
        boxes = (("INBOX", "inbox"),) if "no-roles" in traits else (("INBOX", "inbox"), ("Outbox", "outbox"), ("Sent", "sent"), ("Archive", "archive"),
            ("Drafts", "drafts"))
        for test in (mail_is_sent_and_read, mail_is_put_in_order, answers_are_in_the_thread):
            if traits == ("drops-headers",) and test is mail_is_sent_and_read:
                continue
            with modelled(*traits, boxes=boxes) as (m, model):
                try:
                    test(m)
                    assert len(model.delivered) == len(set(model.delivered))
                except AssertionError as error:
                    raise AssertionError(f"{traits}, {test.__name__}: {error}") from error
    with modelled("drops-headers") as (m, model):
        m.send("alice", "bob", "s", "body", "--notify-block", "Look")
        got = m.mail("bob", "check")["messages"][0]
        # The body has it still.
        assert got["notify_block"] == {"text": "Look", "placement": "append"} and got["body_text"] == "body\n\n```houmao-notify\nLook\n```\n", got
    with modelled() as (m, model):
        model.accounts[ALICE].identities.clear()
        m.send("alice", "bob", "an identity is made")
        assert model.accounts[ALICE].identities[0]["email"] == ALICE


def mail_of_people_is_read():
    with modelled() as (m, model):
        account = model.accounts[BOB]
        for subject, sender in (("", []), ("Hi", [{"name": "Ann", "email": "ann@example.com"}])):
            email = model.create(account, {"mailboxIds": {account.box("inbox"): True}, "from": [{"email": "x@y"}], "to": [{"email": BOB}],
                "subject": subject, "bodyValues": {"1": {"value": "Text\r\n"}}, "textBody": [{"partId": "1"}], "messageId": ["abc@example.com"]})
            email["from"] = sender
        hi, nothing = m.mail("bob", "check")["messages"]
        assert nothing["subject"] == "(no subject)" and nothing["sender"]["address"] == "unknown@invalid.local", nothing
        assert hi["sender"] == {"address": "ann@example.com", "display_name": "Ann", "principal_id": None} and hi["body_text"] == "Text\n", hi
        model.add("ann@example.com")
        m.mail("bob", "reply", hi["message_ref"], "--body-content", "Hello")
        got = model.accounts["ann@example.com"].in_box("inbox")[0]
        assert got["inReplyTo"] == ["abc@example.com"] and got["references"] == ["abc@example.com"] and got["subject"] == "Re: Hi", got


def long_conversations_stay_short():
    with modelled() as (m, model):
        account = model.accounts[BOB]
        before = [f"m{i}@example.com" for i in range(500)]
        model.create(account, {"mailboxIds": {account.box("inbox"): True}, "from": [{"email": ALICE}], "to": [{"email": BOB}], "subject": "Long",
            "bodyValues": {"1": {"value": "x"}}, "textBody": [{"partId": "1"}], "messageId": ["last@example.com"], "references": before})
        m.mail("bob", "reply", m.mail("bob", "list")["messages"][0]["message_ref"], "--body-content", "y")
        got = model.accounts[ALICE].in_box("inbox")[0]
        assert got["references"] == [*before[-99:], "last@example.com"] and got["inReplyTo"] == ["last@example.com"], got["references"]


# --- nothing is sent twice ---


def sends(calls):
    return any(name == "EmailSubmission/set" for name, _, _ in calls)


def lost_answers_are_looked_up():
    # All was done, and the answer got lost.
    with modelled() as (m, model):
        lose = iter([True])
        model.after = lambda calls: HANG_UP if sends(calls) and next(lose, False) else None
        sent = m.send("alice", "bob", SENT_ONCE)
        assert view(sent) == "r-- sent" and len(model.delivered) == 1, (sent, model.delivered)
        assert subjects(m, "alice", "--box", "sent") == [SENT_ONCE] == subjects(m, "bob")
    # Nothing was done: then it is tried again.
    with modelled() as (m, model):
        lose = iter([True])
        model.before = lambda calls: HANG_UP if sends(calls) and next(lose, False) else None
        m.send("alice", "bob", SENT_ONCE)
        assert len(model.delivered) == 1 and len([r for r in model.api() if sends(r.calls)]) == 2, model.delivered
    # The mail was made, and not submitted.
    with modelled() as (m, model):
        lose = iter([True])

        def half(calls):
            if not sends(calls) or not next(lose, False):
                return None
            model.do_Email_set(model.accounts[ALICE], {key: value for key, value in calls[0][1].items() if key != "accountId"}, {})
            return HANG_UP
        model.before = half
        m.send("alice", "bob", SENT_ONCE)
        assert len(model.delivered) == 1 and subjects(m, "alice", "--box", "drafts") == [], model.delivered
        assert subjects(m, "alice", "--box", "sent") == [SENT_ONCE]
    # It was submitted, and is still a draft.
    with modelled("no-filing") as (m, model):
        lose = iter([True])
        model.after = lambda calls: HANG_UP if sends(calls) and next(lose, False) else None
        m.send("alice", "bob", SENT_ONCE)
        assert len(model.delivered) == 1 and subjects(m, "alice", "--box", "sent") == [SENT_ONCE], model.delivered
    # The same, and the server does not tell of submissions.
    with modelled("no-filing", "no-submission-query") as (m, model):
        lose = iter([True])
        model.after = lambda calls: HANG_UP if sends(calls) and next(lose, False) else None
        told = m.refused("alice", "send", "--to", BOB, "--subject", SENT_ONCE, "--body-content", "x")
        assert "is in the box `drafts`, and the server does not tell whether it was sent" in told and len(model.delivered) == 1, told
    # The server is gone then.
    with modelled() as (m, model):
        gone = []

        def vanish(calls):
            gone.extend([True] if sends(calls) else [])
            return HANG_UP if gone else None
        model.after = vanish
        told = m.refused("alice", "send", "--to", BOB, "--subject", SENT_ONCE, "--body-content", "x")
        assert "whether the message was sent is not known" in told and "look into the box `sent`" in told, told
        assert len(model.delivered) == 1


def what_the_server_refuses_leaves_nothing():
    with modelled() as (m, model):
        told = m.refused("alice", "send", "--to", CAROL, "--subject", "s", "--body-content", "x", status=2)
        assert "no such user: carol@houmao.localhost" in told, told
        assert not model.accounts[ALICE].emails and not model.delivered
        model.traits.add("full")
        told = m.refused("alice", "send", "--to", BOB, "--subject", "s", "--body-content", "x")
        assert "The mailbox is full" in told and not model.delivered, told


def requests_are_recognised_when_they_come_again():
    with modelled() as (m, model), m.gateway("alice") as gateway:
        body = {"to": [BOB], "subject": SENT_ONCE, "body_content": "x"}
        answers = [gateway.ask("send", body, Idempotency_Key="k1") for _ in range(2)]
        assert answers[0] == answers[1] or (answers[0][0], answers[0][1]["message"]["message_ref"]) == (answers[1][0], answers[1][1]["message"][
            "message_ref"]), answers
        assert len(model.delivered) == 1
        status, told = gateway.ask("send", {**body, "subject": "another"}, Idempotency_Key="k1")
        assert status == 422 and "was used for another request" in told["detail"], told
        # A gateway that was killed between the mail and its submission goes on where it was.
        half = iter([True])

        def stop(calls):
            if not sends(calls) or not next(half, False):
                return None
            model.do_Email_set(model.accounts[ALICE], {key: value for key, value in calls[0][1].items() if key != "accountId"}, {})
            return problem(500, "serverFail")
        model.before = stop
        gateway.ask("send", {**body, "subject": "k2"}, Idempotency_Key="k2")
        status, told = gateway.ask("send", {**body, "subject": "k2"}, Idempotency_Key="k2")
        assert status == 200 and len(model.delivered) == 2, (status, told, model.delivered)


# --- push ---


def pushed_mail_wakes_who_waits():
    with modelled() as (m, model), m.gateway("bob") as gateway:
        events = model.push()
        waiting = Waiting(gateway)
        asked = events.opened.get(timeout=60)
        assert "types=Email" in asked.path, asked.path
        m.send("alice", "bob", "Wake up", "x", "--notify-block", "Look")
        told = waiting.told()
        assert told["message_count"] == 1 and "Sender notice" in told["prompt"] and "> Look" in told["prompt"], told
        # Once each; and the next one, without anybody having asked the server in between.
        waiting = Waiting(gateway)
        before = len(model.requests)
        m.send("alice", "bob", "Again")
        assert waiting.told()["message_count"] == 1
        assert len(model.requests) - before < 20, [(request.path, request.body[:200]) for request in model.requests[before:]]
        # What was read before is not told.
        m.mail("bob", "archive", *[one["message_ref"] for one in m.mail("bob", "list")["messages"]])
        assert Waiting(gateway, 0).told()["notice_id"] is None
        events.sent.put(None)


# --- trouble ---


def gateways_say_what_is_wrong():
    with modelled() as (m, model), m.gateway("alice") as gateway:
        sent = gateway.ask("send", {"to": [BOB], "subject": "s", "body_content": "x"})
        assert sent[0] == 200 and sent[1]["transport"] == "stalwart", sent
        send = ("send", {"to": [CAROL], "subject": "s", "body_content": "x"})
        assert gateway.ask(*send)[0] == 502
        assert gateway.ask("peek", {"message_ref": "filesystem:1"})[0] == 502
        assert gateway.ask("peek", {"message_ref": "stalwart:Mx"})[0] == 502
        model.traits.add("full")
        status, told = gateway.ask("send", {"to": [BOB], "subject": "s", "body_content": "x"})
        assert status == 502 and "The mailbox is full" in told["detail"], (status, told)
        model.accounts[ALICE].password = "changed"
        status, told = gateway.ask("list", {})
        assert status == 502 and "is wrong or has expired" in told["detail"] and "--password-file" in told["detail"], (status, told)
        assert PASSWORD not in json.dumps(told)
        model.accounts[ALICE].password = PASSWORD
        model.before = lambda calls: Answer(503, {})
        status, told = gateway.ask("list", {})
        assert status == 502, (status, told)
        model.before = lambda calls: Answer(200, b'{"methodResponses": [', cut=None)
        assert gateway.ask("list", {})[0] == 502
        model.before = lambda calls: None
        assert gateway.ask("list", {})[0] == 200
        os.rename(m.secrets("alice"), m.secrets("alice") + ".away")
        os.rename(os.path.join(m.dir, ".houmao/runtime/mailbox-credentials"), os.path.join(m.dir, "away"))
        status, told = gateway.ask("list", {})
        assert status == 422 and "there is no credential at" in told["detail"], (status, told)


def commands_say_what_is_wrong():
    with modelled() as (m, model):
        url = model.url
        model.accounts[ALICE].password = "changed"
        told = m.refused("alice", "check")
        assert "the password of `alice@houmao.localhost` in" in told and "is wrong or has expired" in told and PASSWORD not in told, told
        model.accounts[ALICE].password = PASSWORD
        files = [os.path.join(m.secrets("alice"), name) for name in os.listdir(m.secrets("alice")) if name.endswith(".json")]
        assert [stat.S_IMODE(os.stat(path).st_mode) for path in files] == [0o600]
        os.chmod(files[0], 0o644)
        assert "others than its owner can read it (mode 644)" in m.refused("alice", "check")
        os.chmod(files[0], 0o600)
        model.session_of = lambda account: {"capabilities": {}, "accounts": {}, "primaryAccounts": {}, "apiUrl": "/api", "username": "x", "state": "x"}
        for entry in os.scandir(m.secrets("bob")):
            if entry.name.endswith(".known"):
                os.unlink(entry.path)
        assert "needs an account with mail on the server" in m.refused("bob", "status")
    # The server is gone.
    with Office(PROGRAM) as m:
        with JmapModel() as model:
            model.add(ALICE)
            m.settle(model.url, PASSWORD, "alice")
        told = m.refused("alice", "check")
        assert "127.0.0.1" in told, (told, url)


def certificates_are_checked():
    with Certificates() as certificates, JmapModel(certificate=certificates.make()) as model, Office(PROGRAM) as m:
        model.add(ALICE)
        m.write("password", PASSWORD)
        words = ("agents", "create", "alice", "--transport", "stalwart", "--jmap-url", model.url, "--management-url", model.url,
            "--password-file", "password")
        told = m.run(*words)
        assert told.returncode == 1 and "certificate" in told.stderr and not model.requests, describe(told)
        assert "--ca-file" in told.stderr, told.stderr
        m.json(*words, "--ca-file", certificates.ca)
        # The session has its own copy.
        os.unlink(certificates.ca)
        assert m.mail("alice", "check")["message_count"] == 0


def a_slow_server_is_not_waited_for_twice():
    with modelled() as (m, model):
        m.send("alice", "bob", "before")
        never = threading.Event()
        model.before = lambda calls: Answer(200, {}, wait=never) if sends(calls) else None
        began = time.monotonic()
        told = m.refused("alice", "send", "--to", BOB, "--subject", "s", "--body-content", "x")
        never.set()
        assert "the server did not answer in time" in told and "look into the box `sent`" in told, told
        assert time.monotonic() - began >= 10 and len([request for request in model.api() if sends(request.calls)]) == 2
        assert len(model.delivered) == 1


def a_stop_waits_for_no_server():
    """Neither does a request that hangs, nor the notifier: it is given up long before the server's time is over."""
    with modelled() as (m, model):
        never, asked = threading.Event(), threading.Event()

        def hang(_calls):
            asked.set()
            return Answer(200, {}, wait=never)
        with m.gateway("alice") as gateway:
            told = []
            waiting = Waiting(gateway)
            assert gateway.ask("list", {})[0] == 200
            model.before = hang
            ask = threading.Thread(target=lambda: told.append(gateway.ask("list", {})))
            ask.start()
            assert asked.wait(60)
            assert gateway.stop() == 0
            ask.join(60)
            [(status, answer)] = told
            assert status == 502 and "had not answered when the answer was no longer wanted" in answer["detail"], told
            waiting.join(60)
        never.set()


def redirects_to_other_hosts_are_refused():
    with modelled() as (m, model), JmapModel() as other:
        m.mail("alice", "check")
        for entry in os.scandir(m.secrets("alice")):
            if entry.name.endswith(".known"):
                os.unlink(entry.path)
        model.pages["/session"] = Answer(302, b"", {"Location": other.url})
        told = m.refused("alice", "check")
        assert "redirects to" in told and "where the credentials are not sent" in told and not other.requests, told


# --- bindings and accounts ---


def bindings_hold_no_secret():
    with modelled() as (m, model):
        with open(m.manifest("alice"), encoding="utf-8") as file:
            text = file.read()
        binding = json.loads(text)["launch_plan"]["mailbox"]
        assert sorted(binding) == sorted(["transport", "principal_id", "address", "jmap_url", "management_url", "login_identity", "credential_ref",
            "bindings_version"]), binding
        live = m.mail("alice", "resolve-live")
        account = live["mailbox"]["stalwart"]
        assert {key: account[key] for key in ("jmap_url", "management_url", "login_identity", "credential_ref")} == {key: binding[key] for key in (
            "jmap_url", "management_url", "login_identity", "credential_ref")}, account
        assert account["credential_file"] == os.path.join(m.secrets("alice"), binding["credential_ref"] + ".json")
        with open(account["credential_file"], encoding="utf-8") as file:
            assert json.load(file) == {"credential_ref": binding["credential_ref"], "login_identity": ALICE, "password": PASSWORD}
        for folder, _, names in os.walk(m.dir):
            for name in names:
                if os.path.islink(os.path.join(folder, name)):
                    continue
                with open(os.path.join(folder, name), errors="replace", encoding="utf-8") as file:
                    if PASSWORD in file.read():
                        assert "mailbox-secrets" in folder or "mailbox-credentials" in folder or name == "password", (folder, name)
        # Bound to files again, and back with the credential that is there.
        m.json("agents", "bind", "alice")
        assert m.mail("alice", "status")["transport"] == "filesystem"
        told = m.json("agents", "bind", "alice", "--transport", "stalwart", "--jmap-url", model.url, "--management-url", model.url + "/none")
        assert told["account"] == {"managed": False, "created": False, "new_password": False} and told["transport"] == "stalwart", told
        shown = m.run("agents", "show", "alice").stdout
        assert model.url in shown, shown
        told = m.run("agents", "unbind", "alice").stdout
        assert f"The mail of {ALICE} stays at {model.url}." in told, told
        told = m.run("agents", "bind", "alice", "--base-url", "http://x")
        assert told.returncode == 2 and "--transport stalwart" in told.stderr, describe(told)


TOKEN = {"HOUMAO_STALWART_MANAGEMENT_BEARER_TOKEN": "manager-token"}
KEYS = {"HOUMAO_STALWART_MANAGEMENT_API_KEY": "key", "HOUMAO_STALWART_MANAGEMENT_API_SECRET": "manager-token"}


def accounts_are_made():
    with JmapModel() as model, Office(PROGRAM) as m:
        manager = Management(model).open()
        words = ("--transport", "stalwart", "--jmap-url", model.url, "--management-url", model.origin + "/api/")
        made = m.json("agents", "create", "alice", *words, env=TOKEN)
        assert made["login_identity"] == "HOUMAO-alice", made
        assert [one["name"] for one in manager.principals] == ["houmao.localhost", "HOUMAO-alice"]
        assert manager.principals[1]["emails"] == [ALICE]
        with open(m.mail("alice", "resolve-live")["mailbox"]["stalwart"]["credential_file"], encoding="utf-8") as file:
            password = json.load(file)["password"]
        assert manager.principals[1]["secrets"] == [password] and len(password) == 32
        assert m.mail("alice", "status")["transport"] == "stalwart"
        # Again: nothing changes.
        before = json.dumps(manager.principals)
        told = m.json("agents", "bind", "alice", *words, env=KEYS)
        assert told["account"] == {"managed": True, "created": False, "new_password": False} and json.dumps(manager.principals) == before, told
        assert not [seen for seen in manager.seen[-2:] if seen[0] != "GET"], manager.seen
        # Somebody changed the password: the account gets another one.
        model.accounts["HOUMAO-alice"].password = "changed"
        told = m.json("agents", "bind", "alice", *words, env=TOKEN)
        assert told["account"]["new_password"] and m.mail("alice", "status"), told
        # An account of that name without the address gets it.
        manager.principals.append({"id": 7, "type": "individual", "name": "HOUMAO-bob", "emails": ["b@houmao.localhost"], "secrets": ["x"]})
        model.add("HOUMAO-bob", BOB)
        m.json("agents", "create", "bob", *words, env=TOKEN)
        assert manager.principals[2]["emails"] == ["b@houmao.localhost", BOB]
        m.send("alice", "bob", "Hello")
        assert subjects(m, "bob") == ["Hello"]


def management_says_what_is_wrong():
    with JmapModel() as model, Office(PROGRAM) as m:
        manager = Management(model).open()
        words = ("agents", "create", "alice", "--transport", "stalwart", "--jmap-url", model.url, "--management-url", model.origin + "/api")

        def refused(env=None, words=words):
            done = m.run(*words, env=env)
            assert done.returncode in (1, 2) and not done.stdout, describe(done)
            assert json.loads(m.run("--json", "agents", "list").stdout)["agents"] == []
            return done.stderr
        assert "refuses requests without credentials (status 401)" in refused()
        assert "refuses these credentials" in refused({"HOUMAO_STALWART_MANAGEMENT_BEARER_TOKEN": "wrong"})
        manager.problem = (404, {})
        assert "there is no management API at" in refused(TOKEN)
        manager.problem = (200, {"error": "fieldAlreadyExists", "field": "emails", "value": ALICE})
        assert "refuses the account alice@houmao.localhost: fieldAlreadyExists, emails" in refused(TOKEN)
        manager.problem = (500, b"oops")
        assert "fails (status 500)" in refused(TOKEN)
        manager.problem = None
        assert "needs base_url, or both" in refused(words=("agents", "create", "alice", "--transport", "stalwart", "--jmap-url", model.url))
        m.write("empty", "\n")
        assert "holds no password" in refused(words=(*words, "--password-file", "empty"))
        m.write("wrong", "nonsense\n")
        model.add(ALICE)
        assert "is wrong or has expired" in refused(words=(*words, "--password-file", "wrong"))


ALONE = (verbs_are_few_requests, long_lists_come_in_pages, boxes_that_changed_are_found_again, servers_differ, mail_of_people_is_read, long_conversations_stay_short,
    lost_answers_are_looked_up, what_the_server_refuses_leaves_nothing, requests_are_recognised_when_they_come_again, pushed_mail_wakes_who_waits, gateways_say_what_is_wrong,
    commands_say_what_is_wrong, certificates_are_checked, a_slow_server_is_not_waited_for_twice, a_stop_waits_for_no_server,
    redirects_to_other_hosts_are_refused, bindings_hold_no_secret, accounts_are_made, management_says_what_is_wrong)

with Tap() as tap:
    for test in EVERYWHERE:
        with modelled() as (m, _):
            tap.run(test.__name__, test, m)
    for test in ALONE:
        tap.run(test.__name__, test)
    if HAS_CYRUS_JMAP:
        over_cyrus(tap)
    else:
        tap.skip("over Cyrus", NO_CYRUS)
