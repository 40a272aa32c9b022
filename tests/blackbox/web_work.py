"""usage: web_work.py PROGRAM - the pages of an e-mail workspace: what strangers wrote stays text, what waits is approved or sent
back, and nothing leaves before."""

import html
import html.parser
import json
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from desk import Desk  # noqa: E402
from tap import Tap  # noqa: E402
from webs import ask, changes_at_once, page, post  # noqa: E402
from workspace import mail  # noqa: E402

EVIL = '<img src=x onerror=alert(1)>"\'><script>alert(2)</script>'
HTML_MAIL = ("From: {evil} <eve@evil.example>\r\nTo: me@example.com\r\nSubject: {evil}\r\nMessage-ID: <html@evil.example>\r\n"
    "Authentication-Results: mx.example.com; spf=pass smtp.mailfrom=evil.example; dkim=fail header.d=evil.example; dmarc=fail\r\n"
    "Date: Mon, 04 May 2026 01:00:00 +0000\r\nMIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n"
    "--b\r\nContent-Type: text/html\r\n\r\n<h1 onclick=alert(3)>Big offer</h1><script>alert(4)</script>"
    "<style>*{{color:red}}</style>"
    "<img src=http://evil.example/seen.png><a href=javascript:alert(5)>click</a><iframe src=//evil.example></iframe>"
    "<a href=https://evil.example/x>there</a>\r\n"
    "--b\r\nContent-Type: text/plain; name=\"{evil}.txt\"\r\n"
    "Content-Disposition: attachment; filename=\"{evil}.txt\"\r\n\r\nx\r\n--b--\r\n")


def serve(w):
    return w.serve("--workspace", w.dir)


class Markup(html.parser.HTMLParser):
    """What a browser makes of a page, as far as it could do something."""

    def __init__(self, text):
        super().__init__()
        self.bad = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        values = dict(attrs)
        if tag in ("iframe", "style", "img", "object", "embed", "base") or (tag == "script" and not values.get("src", "").endswith("/app.js")):
            self.bad.append(self.get_starttag_text())
        if any(name.startswith("on") or name == "style" for name in values) or \
                any((values.get(name) or "").lower().strip().startswith(("javascript:", "data:")) for name in ("href", "action", "src")):
            self.bad.append(self.get_starttag_text())


def harmless(text):
    """Nothing of a mail became markup that does something."""
    bad = Markup(text).bad
    assert not bad, bad


def words(answer):
    """What somebody reads, in one line."""
    return re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]*>", " ", answer.text)))


def a_server_without_a_workspace_says_so(w):
    with w.serve() as server:
        home = page(server, "/mail").text
        assert "/mail/work" not in home, home
        for path in ("/mail/work", "/mail/work/approval", "/mail/work/message/x"):
            answer = page(server, path)
            assert answer.status == 404 and "This server has no e-mail workspace. Start it with `mailroom serve --workspace" in \
                words(answer), answer


def an_empty_one_says_what_to_do(w):
    with serve(w) as server:
        for path, said in (("", "Nothing waits"), ("/cases", "No open case"), ("/cases?archived=true", "No case is archived"),
                ("/drafts", "No drafts"), ("/contacts", "Nobody yet"), ("/approval", "Nothing is queued"),
                ("/search?query=nix", "Nothing found"), ("/search", "has:attachment"), ("/messages?status=spam", "No messages here")):
            answer = page(server, f"/mail/work{path}")
            assert answer.status == 200 and said in words(answer), (path, answer)
        assert 'aria-current="page">Workspace<' in page(server, "/mail/work").text
        assert page(server, "/mail/work/message/message_nix").status == 404
        assert page(server, "/mail/work/case/c20260101001").status == 404
        assert page(server, "/mail/work/contact/p20260521001").status == 404


def what_strangers_wrote_stays_text(w):
    evil = EVIL.replace('"', "").replace("<script>", "<SCRIPT>")
    (one,) = w.deliver(HTML_MAIL.format(evil=evil))
    (two,) = w.deliver(mail(2, subject=EVIL, sender=f'"{EVIL[:20]}" <a@evil.example>', body=EVIL))
    with serve(w) as server:
        listed = page(server, "/mail/work")
        harmless(listed.text)
        assert listed.text.count("&lt;img src=x onerror=alert(1)&gt;") >= 2, listed.text
        shown = page(server, f"/mail/work/message/{one}")
        harmless(shown.text)
        text = words(shown)
        assert "From outside" in text and "SPF pass" in text and "DKIM fail" in text and "DMARC fail" in text, text
        assert "<h1>Big offer</h1>" in shown.text and "alert(4)" not in shown.text and "seen.png" not in shown.text, shown.text
        assert 'href="https://evil.example/x"' in shown.text, "a link may be followed"
        plain = page(server, f"/mail/work/message/{two}")
        harmless(plain.text)
        assert "&lt;script&gt;alert(2)&lt;/script&gt;" in plain.text, plain.text
        found = page(server, "/mail/work/search?query=offer")
        harmless(found.text)
        assert f"/mail/work/message/{one}" in found.text, found.text
        wrong = page(server, "/mail/work/search?query=%28")
        assert wrong.status == 200 and 'role="alert"' in wrong.text, wrong
        harmless(page(server, "/mail/work/search?query=%3Cscript%3Ealert(1)%3C/script%3E").text)
        for path in ("/mail/work", f"/mail/work/message/{one}"):
            policy = page(server, path).headers["Content-Security-Policy"]
            assert "default-src 'none'" in policy or "default-src 'self'" in policy, policy


def messages_are_decided_about(w):
    first, second, third = w.deliver(mail(1), mail(2), mail(3))
    with serve(w) as server:
        answer = post(server, f"/mail/work/message/{first}/case", message=first, name="Offer & more", reason="new")
        assert answer.status == 303, answer
        case = re.fullmatch(r"/mail/work/case/(c\d+)\?done=case", answer.headers["Location"])[1]
        shown = page(server, answer.headers["Location"])
        assert "The case is open." in words(shown) and "Mail 1" in words(shown) and "Offer & more" in words(shown), shown
        answer = post(server, f"/mail/work/message/{second}/add", case_ref=case, reason="same")
        assert answer.status == 303 and "Mail 2" in words(page(server, answer.headers["Location"])), answer
        answer = post(server, f"/mail/work/message/{third}/spam", reason="spam")
        assert answer.headers["Location"] == "/mail/work?done=spam", answer
        assert "Nothing waits" in words(page(server, "/mail/work")) and "Mail 3" in words(page(server, "/mail/work/messages?status=spam"))
        answer = post(server, f"/mail/work/message/{third}/restore", reason="no")
        assert answer.status == 303 and "Mail 3" in words(page(server, "/mail/work")), answer
        w.ok("config", "set", "audit.reason_mode", "required")
        answer = post(server, f"/mail/work/message/{third}/trash")
        assert answer.status == 400 and "this command needs a reason" in words(answer) and "Mail 3" in words(answer), answer
        assert post(server, f"/mail/work/message/{third}/trash", csrf="wrong", reason="x").status == 403
        assert post(server, f"/mail/work/message/{third}/trash", reason="x").status == 303
        assert w.ok("message", "show", third)["message"]["workspace"]["status"] == "trashed"


def an_agents_suggestion_is_accepted(w):
    (one,) = w.deliver(mail(1))
    w.ok("suggestion", "set", one, "--action", "spam", "--reason", "Looks bad")
    with serve(w) as server:
        assert "suggested: spam" in words(page(server, "/mail/work"))
        assert "Why: Looks bad" in words(page(server, f"/mail/work/message/{one}"))
        answer = post(server, f"/mail/work/message/{one}/accept")
        assert answer.headers["Location"] == "/mail/work?done=accepted", answer
        assert w.ok("message", "show", one)["message"]["workspace"]["status"] == "spam"


def a_draft_is_written_and_queued(w):
    (one,) = w.deliver(mail(1))
    case = w.ok("case", "create", "--name", "In", "--message", one)["case_uid"]
    with serve(w) as server:
        answer = post(server, f"/mail/work/case/{case}/reply", message_id=one)
        draft = answer.headers["Location"].partition("?")[0]
        assert answer.status == 303 and draft.startswith(f"/mail/work/case/{case}/draft/reply-"), answer
        shown = page(server, draft)
        assert "Re: Mail 1" in shown.text and 'value="Ann &lt;ann@example.com&gt;"' in shown.text, shown.text
        answer = post(server, draft + "/change", back=draft, to=["ann@example.com", "", "bob@example.com"], subject="Well",
            body="Dear Ann\r\n\r\n<b>")
        assert answer.headers["Location"] == draft + "?done=changed", answer
        shown = page(server, draft)
        assert "Dear Ann" in shown.text and "&lt;b&gt;" in shown.text and 'value="bob@example.com"' in shown.text, shown.text
        assert "\r" not in w.read("cases", "open", f"{case}-In", "drafts", os.path.basename(draft)), "line ends of browsers"
        answer = post(server, draft + "/change", to=["no address"], subject="Well", body="My long text")
        assert answer.status == 400 and "My long text" in answer.text and 'role="alert"' in answer.text, "what was typed stays"
        assert "Well" in words(page(server, "/mail/work/drafts")) and "Well" in words(page(server, f"/mail/work/case/{case}"))
        answer = post(server, draft + "/send")
        assert answer.headers["Location"] == "/mail/work/approval?done=queued", answer
        text = words(page(server, answer.headers["Location"]))
        for said in ("Nothing has left this machine", "Dear Ann", "This workspace does not wait for you"):
            assert said in text, (said, text)
        answer = post(server, f"/mail/work/case/{case}/write", to="c@example.com", subject="New one", body="x")
        assert answer.headers["Location"] == f"/mail/work/case/{case}/draft/new-new-one.md?done=written", answer
        answer = post(server, f"/mail/work/case/{case}/draft/new-new-one.md/remove", reason="no")
        assert answer.headers["Location"] == f"/mail/work/case/{case}?done=removed", answer
        assert page(server, f"/mail/work/case/{case}/draft/new-new-one.md").status == 404


def contents(text):
    return re.findall(r'name="id" value="(content_\w+)"', text)


def the_queue_is_approved_item_by_item(w):
    w.ok("config", "set", "audit.approval_mode", "required")
    (spam,) = w.deliver(mail(1, subject="Cheap " + EVIL))
    w.locate(spam)
    w.ok("message", "spam", spam)
    case = w.case()
    rude = w.send(case, "Rude " + EVIL, body="Go away " + EVIL)
    w.send(case, "Fine", to=("Ann <ann@example.com>",))
    with serve(w) as server:
        shown = page(server, "/mail/work/approval")
        harmless(shown.text)
        text = words(shown)
        for said in ("Approve all 3", "Mark as spam", "never written to before: ann@example.com", "move to junk", "send it",
                "Go away <img", "Alice <alice@desk.example>", rude):
            assert said in text, (said, text)
        assert "does not wait for you" not in text
        ids = {item["subject"]: item["content_id"] for item in w.ok("push", "show")["items"] if "subject" in item}
        [rude_id] = [one for name, one in ids.items() if name.startswith("Rude")]
        answer = post(server, "/mail/work/approval/refuse", id=rude_id)
        assert answer.status == 400 and "needs a reason" in words(answer), answer
        answer = post(server, "/mail/work/approval/refuse", id=rude_id, reason="Be kind " + EVIL)
        assert answer.headers["Location"] == "/mail/work/approval?done=refused", answer
        answer = post(server, "/mail/work/approval/approve", id=ids["Fine"], back="/mail/work/approval")
        assert answer.headers["Location"] == "/mail/work/approval?done=approved", answer
        shown = page(server, "/mail/work/approval")
        harmless(shown.text)
        text = words(shown)
        assert "You sent it back: Be kind <img" in text and "mailroom work push --confirm" in text, text
        assert [item["approval"] for item in w.ok("push", "show")["items"]] == ["waiting", "refused", "approved"]
        assert "1 thing waits for your approval" in words(page(server, "/mail"))
        w.ok("config", "set", "audit.approval_mode", "optional")
        assert "for your approval" not in words(page(server, "/mail")), "nobody waits"


def an_approval_is_of_what_was_on_the_page(w):
    """Whatever changed meanwhile is not approved, and neither is what stands beside it."""
    w.ok("config", "set", "audit.approval_mode", "required")
    case = w.case()
    for subject in ("One", "Two"):
        w.send(case, subject)
    with serve(w) as server:
        ids = sorted(set(contents(page(server, "/mail/work/approval").text)))
        assert len(ids) == 2, ids
        name = w.ok("push", "show")["items"][0]["draft_name"]
        w.ok("case", "draft", "change", case, name, "--body", "Another text")
        answer = post(server, "/mail/work/approval/approve", id=ids)
        text = words(answer)
        assert answer.status == 409 and "stands for nothing that is queued now" in text and "Another text" in text, answer
        assert {item["approval"] for item in w.ok("push", "show")["items"]} == {"waiting"}
        answer = post(server, "/mail/work/approval/approve", id=sorted(set(contents(page(server, "/mail/work/approval").text))))
        assert answer.status == 303 and {item["approval"] for item in w.ok("push", "show")["items"]} == {"approved"}, answer
        w.ok("case", "draft", "change", case, name, "--body", "A third")
        text = words(page(server, "/mail/work/approval"))
        assert "changed since you decided" in text, text
        push_id = w.ok("push", "show")["items"][0]["push_id"]
        answer = post(server, f"/mail/work/approval/{push_id}/drop", reason="enough")
        assert answer.headers["Location"] == "/mail/work/approval?done=dropped" and len(w.queue()) == 1, answer


def who_may_only_read_changes_nothing(w):
    w.send(w.case(), "One")
    one = w.ok("push", "show")["items"][0]["content_id"]
    with w.serve("--workspace", w.dir, env={"HTTP_BEARER_TOKENS": "look:reader,s3cret:writer",
            "HTTP_ALLOW_LOCALHOST_UNAUTHENTICATED": "false"}) as server:
        key = {"Authorization": "Bearer look"}
        shown = page(server, "/mail/work/approval", **key)
        assert shown.status == 200 and "One" in words(shown) and "<button class=\"primary\">Approve" not in shown.text, shown
        answer = post(server, "/mail/work/approval/approve", headers=key, id=one)
        assert answer.status == 403, answer
        assert w.ok("push", "show")["items"][0]["approval"] == "waiting"
        assert ask(server, "GET", "/mail/work/approval").status == 401, "a client without a token"


def an_agents_client_cannot_approve(w):
    """What may leave is not for a client of the server to decide: neither a tool nor a route says it."""
    w.send(w.case(), "One")
    one = w.ok("push", "show")["items"][0]["content_id"]
    with serve(w) as server:
        for tool in ("work_push_approve", "work_push_refuse", "work_config_set"):
            answer = ask(server, "POST", f"/api/tools/{tool}", {"Content-Type": "application/json"}, json.dumps({"id": [one]}))
            assert answer.status == 404, (tool, answer)
    assert w.ok("push", "show")["items"][0]["approval"] == "waiting"


def contacts_are_shown(w):
    uid = w.ok("contact", "create", "--name", "Ann Lee", "--email", "ann@example.com")["contact_uid"]
    (one,) = w.deliver(mail(1))
    with serve(w) as server:
        assert "Ann Lee" in words(page(server, "/mail/work/contacts"))
        shown = page(server, f"/mail/work/contact/{uid}")
        assert "<h1>Ann Lee</h1>" in shown.text and "ann@example.com" in words(shown), shown.text
        href = html.unescape(re.search(r'href="(/mail/work/search[^"]+)"', shown.text)[1])
        assert "Mail 1" in words(page(server, href)), href
        assert f"/mail/work/contact/{uid}" in page(server, f"/mail/work/message/{one}").text


def changes_by_others_appear(w):
    w.ok("config", "set", "audit.approval_mode", "required")
    (one,) = w.deliver(mail(1))
    with serve(w) as server:
        changes_at_once(server, "/mail/work", lambda: w.deliver(mail(2, subject="Chairs")), "Chairs")
        changes_at_once(server, "/mail/work/messages?status=spam", lambda: w.ok("message", "spam", one), "Mail 1")
        changes_at_once(server, "/mail/work/approval", lambda: w.send(w.case(), "Offer"), "Offer")
        content = w.ok("push", "show")["items"][0]["content_id"]
        changes_at_once(server, "/mail/work/approval", lambda: w.ok("push", "approve", content), ">approved<")
        changes_at_once(server, "/mail", lambda: w.send(w.case(), "Second"), "1 thing waits for your approval")


def main():
    with Tap() as tap:
        for test in (a_server_without_a_workspace_says_so, an_empty_one_says_what_to_do, what_strangers_wrote_stays_text,
                messages_are_decided_about, an_agents_suggestion_is_accepted, a_draft_is_written_and_queued,
                the_queue_is_approved_item_by_item, an_approval_is_of_what_was_on_the_page, who_may_only_read_changes_nothing,
                an_agents_client_cannot_approve, contacts_are_shown, changes_by_others_appear):
            with Desk(sys.argv[1]) as w:
                tap.run(test.__name__, test, w)


main()
