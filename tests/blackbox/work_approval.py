"""usage: work_approval.py PROGRAM - queued work that waits for a person: approved to the byte, sent back with a reason, asked
about again when it changed, and never carried out otherwise."""

import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from desk import Desk, mails  # noqa: E402
from mail_server import DOVECOT, Dovecot  # noqa: E402
from smtp_server import HAS_SMTP, Smtp  # noqa: E402
from tap import Tap  # noqa: E402
from workspace import mail  # noqa: E402

NOT_APPROVED = ("Nothing was done for it. A person looks at it with `afmail push show` or on the page Approval of `mailroom serve`, "
    "and approves it there or with `afmail push approve CONTENT_ID`; then push again.")


class Office(Desk):
    """A workspace whose pushes wait for approval."""

    def __init__(self, program, *servers, mode="required"):
        super().__init__(program, *servers)
        self.ok("config", "set", "audit.approval_mode", mode)

    def shown(self):
        return {item["push_id"]: item for item in self.ok("push", "show")["items"]}

    def one(self):
        (item,) = self.ok("push", "show")["items"]
        return item

    def states(self):
        return [item["approval"] for item in self.ok("push", "show")["items"]]


def the_mode_is_a_setting(program):
    with Desk(program) as w:
        assert w.ok("config", "get", "audit.approval_mode")["value"] is None
        assert "approval_mode" not in w.read(".afmail", "config.json"), "another program cannot read it"
        w.ok("config", "set", "audit.approval_mode", "required")
        assert w.document(".afmail", "config.json")["audit"]["approval_mode"] == "required"
        assert w.ok("push", "show")["approval_required"] is True
        w.fails("config_invalid", "config", "set", "audit.approval_mode", "maybe")
        w.ok("config", "unset", "audit.approval_mode")
        assert w.ok("push", "show")["approval_required"] is False


def everything_is_shown_as_it_would_be_sent(program):
    with Office(program) as w:
        (spam,) = w.deliver(mail(1, subject="Cheap watches", sender="Eve <eve@evil.example>"))
        w.locate(spam)
        w.ok("message", "spam", spam)
        case = w.case()
        w.put("12 chairs", "offer.txt")
        name = w.ok("case", "draft", "new", case, "--subject", "Grüße", "--to", "Bob <bob@desk.example>", "--cc",
            "carol@desk.example", "--body", "Dear Bob\n\n<b>yes</b>")["draft_name"]
        w.ok("case", "draft", "attach", case, name, "offer.txt")
        sent = w.ok("case", "draft", "send", case, name)["push_id"]
        shown = w.ok("push", "show")
        assert (shown["count"], shown["waiting_count"], shown["plan_id"][:5]) == (2, 2, "plan_"), shown
        by_kind = {item["display_kind"]: item for item in shown["items"]}
        one = by_kind["outbound"]
        assert one["push_id"] == sent and one["from"] == "Alice <alice@desk.example>", one
        assert one["subject"] == "Grüße" and one["text"].strip() == "Dear Bob\n\n<b>yes</b>", one
        assert one["files"] == [{"filename": "offer.txt", "content_type": "text/plain", "size_bytes": 9}], one
        assert one["new_recipients"] == ["bob@desk.example", "carol@desk.example"], one
        assert one["approval"] == "waiting" and one["content_id"].startswith("content_"), one
        assert by_kind["message.spam"]["changes"] == [{"message_id": spam, "subject": "Cheap watches",
            "from": "Eve <eve@evil.example>", "mailbox_name": "INBOX"}], by_kind["message.spam"]
        assert w.ok("push", "show", sent)["count"] == 1
        assert w.fails("push_not_found", "push", "show", "push_nix")["error"] == "push_nix is not queued"
        text = w.tells("push", "show")
        for part in ("   | Dear Bob\n   | \n   | <b>yes</b>\n", "never written to before: bob@desk.example, carol@desk.example",
                "with offer.txt (text/plain, 9 bytes)", '   in INBOX: "Cheap watches" of Eve <eve@evil.example>\n',
                "on the server: send, copy to sent\n", "waits for approval", shown["plan_id"], one["content_id"]):
            assert part in text, (part, text)
        assert json.loads(w.tells("push", "--json"))["waiting_count"] == 2
        assert "waits for approval" in w.tells("push"), w.tells("push")
        assert "approval" not in w.ok("push")["items"][0], "the contract does not have it"


def an_id_stands_for_one_content(program):
    """It does not change with time, tries or what is said, and does with everything that would be done."""
    with Office(program) as w:
        case = w.case()
        push_id = w.send(case)
        first = w.one()["content_id"]
        assert w.one()["content_id"] == first
        w.ok("push", "approve", first)
        assert w.one()["content_id"] == first and w.states() == ["approved"]
        draft = ("cases", "open", f"{case}-Out", "drafts", w.one()["draft_name"])
        before = w.read(*draft)
        for change in (lambda: w.put(before.replace("The text", "The test"), *draft),
                lambda: w.put(before.replace("bob@", "rob@"), *draft), lambda: w.put(before.replace("Hello", "Hullo"), *draft),
                lambda: w.ok("config", "set", "smtp.host", "elsewhere.example"),
                lambda: w.ok("config", "set", "actions.draft.send.steps", "--json", '[{"smtp_send":{}}]'),
                lambda: w.ok("config", "set", "mailboxes.sent.mailbox_name", "Other")):
            change()
            now = w.one()
            assert now["content_id"] != first and now["approval"] == "changed", now
            w.put(before, *draft)
        w.ok("config", "unset", "mailboxes.sent.mailbox_name")
        w.ok("config", "unset", "smtp.host")
        w.ok("config", "unset", "actions.draft.send.steps")
        w.ok("config", "set", "mailboxes.sent.special_use", "\\Sent")
        assert w.states() == ["approved"] and w.one()["push_id"] == push_id, "as it was approved"
        w.ok("case", "draft", "remove", case, w.one()["draft_name"])
        assert os.listdir(w.path(".afmail", "push")) == []


def decisions_are_all_or_none(program):
    with Office(program) as w:
        case = w.case()
        for subject in ("One", "Two", "Three"):
            w.send(case, subject)
        items = list(w.shown().values())
        error = w.fails("push_plan_changed", "push", "approve", items[0]["content_id"], "content_" + "0" * 32)
        assert "stands for nothing that is queued now" in error["error"] and "nothing was decided" in error["error"], error
        assert error["hint"] == "Look at it as it is now with `afmail push show`, and decide again.", error
        assert w.states() == ["waiting"] * 3
        error = w.fails("invalid_request", "push", "approve", items[0]["push_id"])
        assert "neither a plan id nor a content id" in error["error"], error
        w.fails(None, "push", "approve")
        error = w.fails("reason_required", "push", "refuse", items[0]["content_id"])
        assert error["hint"] == "Add --reason TEXT." and "needs a reason" in error["error"], error
        done = w.ok("push", "approve", items[0]["content_id"], items[2]["content_id"])
        assert done["code"] == "push_approved" and done["push_ids"] == [items[0]["push_id"], items[2]["push_id"]], done
        assert w.states() == ["approved", "waiting", "approved"]
        done = w.ok("push", "refuse", items[1]["content_id"], items[2]["content_id"], "--reason", "Too rude")
        assert done["code"] == "push_refused" and done["count"] == 2, done
        assert w.states() == ["approved", "refused", "refused"] and w.ok("push", "show")["waiting_count"] == 0
        kinds = [(event["kind"], event.get("reason"), event["push_id"]) for event in w.events() if event["kind"].startswith("push_")]
        assert kinds == [("push_approved", None, items[0]["push_id"]), ("push_approved", None, items[2]["push_id"]),
            ("push_refused", "Too rude", items[1]["push_id"]), ("push_refused", "Too rude", items[2]["push_id"])], kinds
        assert "sent back: Too rude" in w.tells("push"), w.tells("push")
        plan = w.ok("push", "show")["plan_id"]
        w.send(case, "Four")
        w.fails("push_plan_changed", "push", "approve", plan)
        assert w.ok("push", "approve", w.ok("push", "show")["plan_id"])["count"] == 4 and set(w.states()) == {"approved"}
        assert "approved as they are now" in w.tells("push", "approve", items[0]["content_id"])
        assert w.tells("push", "refuse", items[0]["content_id"], "--reason", "x") == f"1 item sent back: {items[0]['push_id']}\n"


def a_damaged_word_is_no_approval(program):
    with Office(program) as w:
        push_id = w.send(w.case())
        w.ok("push", "approve", w.one()["content_id"])
        path = (".afmail", "push", f"{push_id}.approval")
        good = w.document(*path)
        assert set(good) == {"schema_name", "schema_version", "push_id", "state", "content_id", "decided_rfc3339"}, good
        for text in ("", "{", "[]", json.dumps({**good, "push_id": "push_other"}), json.dumps({**good, "state": "fine"}),
                json.dumps({**good, "more": 1})):
            w.put(text, *path)
            assert w.states() == ["waiting"], text
        w.put(json.dumps(good), *path)
        assert w.states() == ["approved"] and w.ok("doctor")["ok"]


def only_what_was_approved_goes(program):
    with Dovecot(["alice", "bob"], lmtp=True) as imap, Smtp(lmtp_port=imap.lmtp_port) as smtp, \
            Office(program, imap, smtp) as w:
        imap.append("alice", "INBOX", mail(1, subject="Cheap watches").encode())
        w.ok("pull")
        w.ok("message", "spam", w.triage()["Cheap watches"])
        case = w.case()
        rude, fine = w.send(case, "Rude"), w.send(case, "Fine")
        result = w.push()
        assert (result["pushed_count"], result["failed_count"]) == (0, 3) and smtp.accepted == [], result
        for failure in result["failures"]:
            assert failure["error_code"] == "push_not_approved" and not failure.get("retryable"), failure
            assert failure["error"] == f"{failure['push_id']} waits for approval: nobody has approved it yet", failure
            assert failure["hint"] == NOT_APPROVED, failure
        assert {item["attempt_count"] for item in w.queue()} == {0} and not w.events("push_failed"), "nothing was tried"
        assert sorted(os.listdir(w.path(".afmail", "push"))) == sorted(f"{item['push_id']}.json" for item in w.queue())
        shown = w.shown()
        w.ok("push", "refuse", shown[rude]["content_id"], "--reason", "Be kind")
        w.ok("push", "approve", shown[fine]["content_id"])
        result = w.push()
        words = {failure["push_id"]: failure for failure in result["failures"]}
        assert result["pushed_count"] == 1 and words[rude]["error_code"] == "push_refused", result
        assert words[rude]["error"] == f"{rude} was sent back: Be kind", words
        assert "it waits for approval again" in words[rude]["hint"], words
        assert [one.recipients for one in smtp.accepted] == [["bob@desk.example"]] and len(mails(imap, "alice", "Sent")) == 1
        assert w.shown()[rude].get("new_recipients") is None, "bob has got a mail by now"
        name = w.shown()[rude]["draft_name"]
        w.ok("case", "draft", "change", case, name, "--body", "Dear Bob")
        assert w.shown()[rude]["approval"] == "changed"
        failure = {one["push_id"]: one for one in w.push()["failures"]}[rude]
        assert failure["error_code"] == "push_not_approved" and "changed since, and waits for approval again" in failure["error"]
        w.ok("push", "approve", w.ok("push", "show")["plan_id"])
        w.done(2)
        assert len(smtp.accepted) == 2 and b"Dear Bob" in smtp.accepted[1].content and not os.listdir(w.path(".afmail", "push"))
        assert "Move" not in w.tells("push") and len(mails(imap, "alice", "Junk")) == 1


def what_was_sent_back_stays_in_any_mode(program):
    with Smtp() as smtp, Office(program, None, smtp, mode="optional") as w:
        w.ok("config", "set", "actions.draft.send.steps", "--json", '[{"smtp_send":{}}]')
        case = w.case()
        w.send(case, "Back")
        w.ok("push", "refuse", w.one()["content_id"], "--reason", "no")
        w.send(case, "Free")
        result = w.push()
        assert (result["pushed_count"], result["failed_count"]) == (1, 1) and len(smtp.accepted) == 1, result
        assert result["failures"][0]["error_code"] == "push_refused", result


def a_retry_needs_no_second_approval(program):
    with Smtp() as smtp, Office(program, None, smtp) as w:
        w.ok("config", "set", "actions.draft.send.steps", "--json", '[{"smtp_send":{}}]')
        push_id = w.send(w.case())
        w.ok("push", "approve", w.one()["content_id"])
        smtp.refuse("MAIL", "451 4.3.0 later", times=1)
        w.failure("smtp_send_failed")
        assert w.states() == ["approved"] and w.item(push_id)["attempt_count"] == 1
        w.done()
        assert len(smtp.accepted) == 1


def an_attached_file_is_part_of_it(program):
    with Smtp() as smtp, Office(program, None, smtp) as w:
        w.ok("config", "set", "actions.draft.send.steps", "--json", '[{"smtp_send":{}}]')
        case = w.case()
        name = w.ok("case", "draft", "new", case, "--to", "bob@desk.example", "--subject", "S", "--body", "b")["draft_name"]
        w.put("first", "plan.txt")
        attached = w.ok("case", "draft", "attach", case, name, "plan.txt")["file_path"]
        w.ok("case", "draft", "send", case, name)
        w.ok("push", "approve", w.one()["content_id"])
        w.put("other", attached)
        assert w.states() == ["changed"]
        w.failure("push_not_approved")
        w.put("first", attached)
        w.done()
        assert b"plan.txt" in smtp.accepted[0].content


def what_has_begun_cannot_be_sent_back(program):
    """And goes on with the mail that was approved, whatever its draft says now."""
    with Dovecot(["alice"]) as imap, Smtp() as smtp, Office(program, imap, smtp) as w:
        case = w.case()
        w.ok("config", "set", "mailboxes.sent.mailbox_name", "Nowhere")
        push_id = w.send(case)
        w.ok("push", "approve", w.one()["content_id"])
        w.push()
        assert len(smtp.accepted) == 1 and w.item(push_id)["step_states"][0]["status"] == "succeeded", w.item(push_id)
        draft = ("cases", "open", f"{case}-Out", "drafts", w.one()["draft_name"])
        w.put(w.read(*draft).replace("The text", "Something else"), *draft)
        assert w.states() == ["approved"] and "The text" in w.one()["text"]
        error = w.fails("push_already_started", "push", "refuse", w.one()["content_id"], "--reason", "late")
        assert error["error"] == f"a step of {push_id} has succeeded, or its mail may have gone: it cannot be sent back", error
        w.ok("config", "set", "mailboxes.sent.special_use", "\\Sent")
        assert w.states() == ["changed"], "another mailbox is another effect"
        w.failure("push_not_approved")
        w.ok("push", "approve", w.one()["content_id"])
        w.done()
        assert len(smtp.accepted) == 1 and len(mails(imap, "alice", "Sent")) == 1


def main():
    with Tap() as tap:
        for test in (the_mode_is_a_setting, everything_is_shown_as_it_would_be_sent, an_id_stands_for_one_content,
                decisions_are_all_or_none, a_damaged_word_is_no_approval):
            tap.run(test.__name__, test, sys.argv[1])
        for test in (only_what_was_approved_goes, what_was_sent_back_stays_in_any_mode, a_retry_needs_no_second_approval,
                an_attached_file_is_part_of_it, what_has_begun_cannot_be_sent_back):
            if not DOVECOT or not HAS_SMTP:
                tap.skip(test.__name__, "dovecot-imapd or python3-aiosmtpd is not installed")
            else:
                tap.run(test.__name__, test, sys.argv[1])


main()
