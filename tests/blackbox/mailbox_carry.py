"""usage: mailbox_carry.py PROGRAM SOURCE - the mail of a root goes to a JMAP server and comes back: nothing is lost, nothing twice."""

import hashlib
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from carried import ALICE, BOB, CAROL, Carried, fill, picture  # noqa: E402
from crash import same  # noqa: E402
from cyrus_server import HAS_CYRUS_JMAP, NO_CYRUS, CyrusJmap  # noqa: E402
from jmap_client import Jmap  # noqa: E402
from jmap_server import Answer, JmapServer, results  # noqa: E402
from mailbox_root import Root  # noqa: E402
from mailroom import Mailroom, describe  # noqa: E402
from tap import Tap  # noqa: E402

PROGRAM = sys.argv[1]


def there_and_back(m, server):
    """All of it: boxes, flags, threads, files, bodies; the documents are the same bytes."""
    root = Root(m)
    ids = fill(root)
    carried = Carried(m, root, server)
    done = carried.out("--all-accounts")
    assert done["carried_count"] == len(picture(root)["mail"]) and done["left_count"] == 0, done
    assert {one["address"] for one in done["accounts"]} == {ALICE, BOB}, done
    # What a mail program sees.
    bob = Jmap(server.jmap_url, BOB)
    mails = {mail["subject"]: mail for mail in bob.mails()}
    answered = mails["question"]
    assert set(answered["keywords"]) == {"$seen", "$answered", "$flagged"}, answered["keywords"]
    assert mails["Re: question"]["inReplyTo"] == answered["messageId"] and mails["Re: question"]["threadId"] == answered["threadId"]
    assert list(mails["kept"]["mailboxIds"]) == [bob.box("projects")], mails["kept"]["mailboxIds"]
    assert list(mails["done"]["mailboxIds"]) == [bob.box("archive")]
    assert mails["question"]["receivedAt"].startswith("2026-03-11T04:15:00"), mails["question"]["receivedAt"]
    # Again: all is there.
    again = carried.out("--all-accounts")
    assert (again["carried_count"], again["present_count"]) == (0, done["carried_count"]), again
    assert len(bob.mails()) == len(mails)
    # Into another root, with nobody in it.
    other = carried.into("other")
    back = carried.back(other, ALICE, BOB)
    assert back["carried_count"] == done["carried_count"] and not back["left_count"], back
    same(picture(other)["mail"], picture(root)["mail"])
    assert picture(other) == picture(root)
    other.check()
    assert carried.back(other, ALICE, BOB)["carried_count"] == 0
    assert picture(other) == picture(root)
    # And into the one that it came from.
    assert carried.back(root, ALICE, BOB)["present_count"] == done["carried_count"]
    assert ids


def new_mail_joins(m, server):
    """What an agent did meanwhile stays as it is; only what is new is carried."""
    root = Root(m)
    fill(root)
    carried = Carried(m, root, server)
    first = carried.out("--address", BOB)
    bob = Jmap(server.jmap_url, BOB)
    unread = next(mail for mail in bob.mails() if "$seen" not in mail["keywords"])
    bob.call("Email/set", update={unread["id"]: {"keywords/$seen": True}})
    fresh = root.deliver(subject="later")["message_id"]
    second = carried.out("--address", BOB)
    assert (second["carried_count"], second["present_count"]) == (1, first["carried_count"]), second
    mails = bob.mails()
    assert sorted(mail["messageId"][0] for mail in mails).count(fresh + "@houmao.localhost") == 1
    assert next(mail for mail in mails if mail["id"] == unread["id"])["keywords"].get("$seen")


def foreign_mail(m, server):
    """Mail of other programs becomes messages: one for all who have it, with its thread and its files."""
    root = Root(m)
    carried = Carried(m, root, server)
    first = (b"From: Eve <eve@elsewhere.example>\r\nTo: " + BOB.encode() + b", " + ALICE.encode() + b"\r\nSubject: plans\r\nMessage-ID: <p1@elsewhere.example>\r\n"
        b"Date: Wed, 18 Nov 2026 10:00:00 +0000\r\nMIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n"
        b"Content-Type: text/plain; charset=utf-8\r\n\r\nLook at this.\r\n--b\r\nContent-Type: application/pdf; name=\"../plan.pdf\"\r\n"
        b"Content-Disposition: attachment; filename=\"../plan.pdf\"\r\nContent-Transfer-Encoding: base64\r\n\r\nJVBERg==\r\n--b--\r\n")
    second = (b"From: eve@elsewhere.example\r\nTo: " + BOB.encode() + b"\r\nSubject: Re: plans\r\nMessage-ID: <p2@elsewhere.example>\r\n"
        b"In-Reply-To: <p1@elsewhere.example>\r\nReferences: <p1@elsewhere.example>\r\nDate: Wed, 18 Nov 2026 11:00:00 +0000\r\n\r\nMore.\r\n")
    for address in (ALICE, BOB):
        Jmap(server.jmap_url, address).put(first)
    Jmap(server.jmap_url, BOB).put(b"X-Copy: 1\r\n" + first, role="sent", keywords=["$seen"])  # as of mail to oneself
    Jmap(server.jmap_url, BOB).put(second, keywords=["$seen"])
    done = carried.back(root, ALICE, BOB)
    assert done["carried_count"] == 3 and done["left_count"] == 0, done
    mail = picture(root)["mail"]
    assert len(mail) == 3 and len({mid for _, mid in mail}) == 2, mail
    plans = next(value for (who, _), value in mail.items() if who == BOB and value["message"]["subject"] == "plans")
    answer = next(value for value in mail.values() if value["message"]["subject"] == "Re: plans")
    assert answer["flags"]["read"] and not plans["flags"]["read"] and plans["box"] == "inbox"
    assert answer["thread"] == plans["thread"], (answer, plans)
    assert "Look at this." in plans["message"]["body_markdown"], plans
    assert plans["message"]["attachments"][0]["sha256"] == hashlib.sha256(b"%PDF").hexdigest(), plans
    kept = [os.path.join(folder, name) for folder, _, names in os.walk(root.path + "/attachments/managed") for name in names]
    assert [os.path.basename(name) for name in kept] == ["plan.pdf"] and all(open(name, "rb").read() == b"%PDF" for name in kept), kept
    root.check()
    assert carried.back(root, ALICE, BOB)["carried_count"] == 0


def many(m, server):
    """More than fit into one request, with progress."""
    root = Root(m)
    for number in range(60):
        root.deliver(subject=f"number {number}", body="x" * 1000)
    carried = Carried(m, root, server)
    done = m.run("mailbox", "export", "--mailbox-root", root.path, "--to-jmap", server.jmap_url, "--address", BOB, "--credentials",
        carried.credentials)
    assert done.returncode == 0 and f"{BOB}: 60 carried to the server, 0 were there already" in done.stdout, describe(done)
    other = carried.into("many")
    assert carried.back(other, BOB)["carried_count"] == 60


def refused(m, server):
    root = Root(m)
    fill(root)
    carried = Carried(m, root, server)
    for args, text in (((), "exactly one of output_dir, to_jmap and from_jmap must be given"),
            (("--to-jmap", server.jmap_url, "--output-dir", "x", "--all-accounts"), "exactly one of output_dir"),
            (("--to-jmap", server.jmap_url), "exactly one of all_accounts and address"),
            (("--from-jmap", server.jmap_url, "--all-accounts"), "a JMAP server does not list its accounts"),
            (("--output-dir", "x", "--all-accounts", "--ca-file", "x"), "are for to_jmap and from_jmap")):
        assert text in root.command("export", *args, status=2)["detail"], args
    assert "no active mailbox `zoe@houmao.localhost`" in carried.out("--address", "zoe@houmao.localhost", status=1)["detail"]
    root.register("carol")
    assert f"the account of {CAROL}: there is no credential" in carried.out("--address", CAROL, status=1)["detail"]
    carried.credential(ALICE, password="wrong")
    text = carried.out("--address", ALICE, status=1)["detail"]
    assert "refuses the credentials" in text and "the same command goes on from there" in text and "wrong" not in text, text
    os.chmod(carried.file(BOB), 0o644)
    assert "others than its owner can read it" in carried.out("--address", BOB, status=1)["detail"]


def odd_servers(m, _server):
    """What James and Stalwart do differently, a full server, and one that lies."""
    root = Root(m)
    root.deliver(subject="one")
    created, times = [], []

    def serve(request):
        answers = []
        for name, args, number in request.calls:
            if name == "Mailbox/get":
                answers.append([name, {"state": "b", "list": [{"id": "I", "name": "INBOX", "role": "inbox", "parentId": None}]}, number])
            elif name == "Email/query":
                answers.append([name, {"ids": [f"M{at}" for at in range(len(created))][args["position"]:], "queryState": str(len(created))}, number])
            elif name == "Email/get":
                ids = args.get("ids") or [f"M{at}" for at in range(len(created))]
                answers.append([name, {"state": "e", "notFound": [], "list": [{"id": item, "messageId": created[int(item[1:])]["messageId"],
                    "mailboxIds": {"I": True}, "keywords": {}, "receivedAt": "2026-03-11T04:15:00Z"} for item in ids]}, number])
            else:
                result = {"created": {}, "notCreated": {}, "newState": "e2"}
                for key, mail in args["create"].items():
                    error = refuse(mail)
                    if error:
                        result["notCreated"][key] = error
                    else:
                        created.append(mail)
                        result["created"][key] = {"id": f"M{len(created) - 1}", "blobId": "b", "threadId": "t", "size": 1}
                answers.append([name, result, number])
        return results(*answers)

    def james(mail):
        assert mail.get("keywords") != {}, "it refuses an empty set"
        times.append("receivedAt" in mail)
        return {"type": "invalidProperties", "properties": ["receivedAt"]} if "receivedAt" in mail else None

    refuse = james
    with JmapServer([serve]) as server:
        server.jmap_url = server.url
        carried = Carried(m, root, server, login="sam@example.test", password="correct horse battery")
        assert carried.out("--address", BOB)["carried_count"] == 1
        assert times == [True, False]
        assert carried.out("--address", BOB)["present_count"] == 1
        root.deliver(subject="two")
        refuse = lambda mail: {"type": "overQuota", "description": "it is full"}  # noqa: E731
        text = carried.out("--address", BOB, status=1)["detail"]
        assert "overQuota: it is full" in text, text
        refuse = lambda mail: {"type": "tooLarge"}  # noqa: E731
        done = carried.out("--address", BOB)
        assert done["left_count"] == 1 and done["left"][0]["reason"] == "tooLarge", done
        # Its answer is lost, and the mail is there: it is found by its Message-ID.
        refuse = lambda mail: None  # noqa: E731
        server.script = [serve, serve, serve, lambda request: (serve(request), Answer(500))[1]]
        text = carried.out("--address", BOB, status=1)["detail"]
        assert "HTTP status 500" in text, text
        server.script = [serve]
        done = carried.out("--address", BOB)
        assert (done["carried_count"], done["present_count"]) == (0, 2) and len(created) == 2, done


TESTS = (there_and_back, new_mail_joins, foreign_mail, many, refused, odd_servers)


def run(test):
    m = Mailroom(PROGRAM)
    if test is odd_servers:
        odd_servers(m, None)
        return
    with CyrusJmap([ALICE, BOB]) as server:
        test(m, server)


with Tap() as tap:
    for test in TESTS:
        if HAS_CYRUS_JMAP or test is odd_servers:
            tap.run(test.__name__, run, test)
        else:
            tap.skip(test.__name__, NO_CYRUS)
