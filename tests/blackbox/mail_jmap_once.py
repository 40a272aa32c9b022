"""usage: mail_jmap_once.py PROGRAM SOURCE - mail on a JMAP server is sent once, whatever becomes of the answers."""

import os
import sys
import urllib.parse
import urllib.request

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from cyrus_server import HAS_CYRUS_JMAP, NO_CYRUS, CyrusJmap  # noqa: E402
from jmap_client import Jmap  # noqa: E402
from jmap_office import ALICE, BOB, CAROL, PROGRAM, Office, make_only, modelled, sends, subjects, view  # noqa: E402
from jmap_server import Answer, HANG_UP, JmapServer, problem  # noqa: E402
from mail_server import PASSWORD as CYRUS_PASSWORD  # noqa: E402
from tap import Tap  # noqa: E402

SENT_ONCE = "sent once"


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
            make_only(model, calls)
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
            make_only(model, calls)
            return problem(500, "serverFail")
        model.before = stop
        gateway.ask("send", {**body, "subject": "k2"}, Idempotency_Key="k2")
        status, told = gateway.ask("send", {**body, "subject": "k2"}, Idempotency_Key="k2")
        assert status == 200 and len(model.delivered) == 2, (status, told, model.delivered)


def others_send_meanwhile():
    """What was found, or not found, may have changed when the server is told to send."""
    with modelled() as (m, model), m.gateway("alice") as gateway:
        body, meanwhile = {"to": [BOB], "subject": SENT_ONCE, "body_content": "x"}, []

        def act(calls):
            if sends(calls) and meanwhile:
                meanwhile.pop()(calls)
        model.before = act

        # The same request, by another process.
        def twin(calls):
            make_only(model, calls)
            email = list(model.accounts[ALICE].emails.values())[-1]
            model.do_EmailSubmission_set(model.accounts[ALICE], {"create": {"s": {"emailId": email["id"], "identityId": "I1"}},
                "onSuccessUpdateEmail": {"#s": {"mailboxIds": {model.accounts[ALICE].box("sent"): True}, "keywords": {"$seen": True}}}}, {})
        gateway.ask("send", {**body, "subject": "the first knows the server"})
        meanwhile.append(twin)
        status, told = gateway.ask("send", body, Idempotency_Key="k1")
        assert status == 200 and told["message"]["subject"] == SENT_ONCE and len(model.delivered) == 2, (status, told, model.delivered)
        guards = [[args.get("ifInState") for _, args, _ in request.calls] for request in model.api() if sends(request.calls)]
        assert guards[0] == [None, None] and guards[1][0] and not guards[1][1] and len(guards) == 2, guards
        # Another mail, which is none of ours: it is looked for again, and sent.
        meanwhile.append(lambda calls: model.touch(model.accounts[ALICE]))
        status, told = gateway.ask("send", {**body, "subject": "two"}, Idempotency_Key="k2")
        assert status == 200 and len(model.delivered) == 3, (status, told)
        # A server on which something always changes is not asked for ever.
        meanwhile.extend([lambda calls: model.touch(model.accounts[ALICE])] * 20)
        status, told = gateway.ask("send", {**body, "subject": "three"}, Idempotency_Key="k3")
        assert status == 502 and "stateMismatch" in told["detail"] and 5 < len(meanwhile) < 15 and len(model.delivered) == 3, (status, told)
    # The answer is lost, the mail is not submitted yet, and is when we are about to.
    with modelled() as (m, model):
        turns = []

        def late(calls):
            if not sends(calls):
                return None
            turns.append(calls)
            if len(turns) == 1:
                make_only(model, calls)
                return HANG_UP
            [(_, args, _)] = calls
            model.do_EmailSubmission_set(model.accounts[ALICE], {key: value for key, value in args.items() if key not in ("accountId",
                "ifInState")}, {})
            return None
        model.before = late
        m.send("alice", "bob", SENT_ONCE)
        assert len(model.delivered) == 1 and len(turns) == 2 and turns[1][0][1]["ifInState"] == "s0", (model.delivered, turns)
        assert subjects(m, "alice", "--box", "sent") == [SENT_ONCE]


class Between(JmapServer):
    """Hands requests on to a real server, and loses the answers to those that send while `is_losing`."""

    def __init__(self, url):
        super().__init__()
        self.target, self.is_losing, self.losses = url, False, 0

    def choose(self, request):
        path = "/jmap/" if request.path == "/session" else request.path
        headers = {name: request.headers[name] for name in ("Authorization", "Content-Type") if request.headers[name]}
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with opener.open(urllib.request.Request(urllib.parse.urljoin(self.target, path), data=request.body or None, headers=headers)) as got:
            answer = Answer(got.status, got.read(), {"Content-Type": got.headers["Content-Type"]})
        if self.is_losing and request.body and sends(request.calls):
            self.losses += 1
            return HANG_UP
        return answer


def lost_answers_of_cyrus_are_looked_up(cyrus):
    with Between(cyrus.jmap_url) as server, Office(PROGRAM) as m:
        m.settle(server.url, CYRUS_PASSWORD, "alice", "bob")
        m.send("alice", "bob", "before")
        server.is_losing = True
        sent = m.send("alice", "bob", SENT_ONCE)
        assert server.losses == 1 and view(sent) == "r-- sent", (server.losses, sent)
        server.is_losing = False
        assert subjects(m, "bob").count(SENT_ONCE) == 1 and subjects(m, "alice", "--box", "sent").count(SENT_ONCE) == 1
        # A draft that was never submitted is, once, when its request comes again.
        alice = Jmap(cyrus.jmap_url, ALICE)
        with m.gateway("alice") as gateway:
            body = {"to": [BOB], "subject": "By key", "body_content": "x"}
            assert gateway.ask("send", body, Idempotency_Key="k1")[0] == 200
            mail = next(mail for mail in alice.mails("sent") if mail["subject"] == "By key")
            status, told = gateway.ask("send", body, Idempotency_Key="k1")
            assert status == 200 and told["message"]["message_ref"] == "stalwart:" + mail["id"], (status, told)
        assert subjects(m, "bob").count("By key") == 1


TESTS = (lost_answers_are_looked_up, what_the_server_refuses_leaves_nothing, requests_are_recognised_when_they_come_again,
    others_send_meanwhile)

with Tap() as tap:
    for test in TESTS:
        tap.run(test.__name__, test)
    if HAS_CYRUS_JMAP:
        with CyrusJmap([ALICE, BOB]) as server:
            tap.run(lost_answers_of_cyrus_are_looked_up.__name__, lost_answers_of_cyrus_are_looked_up, server)
    else:
        tap.skip(lost_answers_of_cyrus_are_looked_up.__name__, NO_CYRUS)
