"""usage: mail_jmap.py PROGRAM SOURCE - agents whose mail is on a JMAP server: every verb, over a model and over Cyrus, and being told."""

import os
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from cyrus_server import HAS_CYRUS_JMAP, NO_CYRUS, CyrusJmap  # noqa: E402
from jmap_client import Jmap  # noqa: E402
from jmap_model import PASSWORD  # noqa: E402
from jmap_office import ALICE, BOB, PROGRAM, Office, Waiting, modelled, subjects, view  # noqa: E402
from mail_server import PASSWORD as CYRUS_PASSWORD  # noqa: E402
from tap import Tap  # noqa: E402
from webs import page  # noqa: E402


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


def pages_say_where_it_is():
    with modelled(names=("alice",)) as (m, _), m.serve() as server:
        text = page(server, "/mail/mailboxes").text
        assert "mail is on a mail server (JMAP)" in text and "mailroom mail list --agent-name alice" in text, text


ALONE = (verbs_are_few_requests, long_lists_come_in_pages, boxes_that_changed_are_found_again, servers_differ,
    mail_of_people_is_read, long_conversations_stay_short, pushed_mail_wakes_who_waits, pages_say_where_it_is)

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
