"""The pages of an e-mail workspace, as a person uses them: by mouse and by keyboard, wide and on a phone, with and without scripts."""

import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "support"))

import browser as browsers
from desk import Desk
from tap import Tap
from workspace import mail

EVIL = "<script>alert('taken')</script><img src=x onerror=\"alert('taken')\">"


def furnish(w):
    """Mail in every place, a case with drafts, and a queue with something of every kind; the addresses of all pages."""
    w.ok("config", "set", "audit.approval_mode", "required")
    long = "Spring sale: everything must go, and this goes on for longer than any line of a list, averylongwordthatdoesnotbreak" + "x" * 90
    ids = w.deliver(mail(1, subject="Offer for 40 chairs"), mail(2, subject=long), mail(3, subject=EVIL, body=EVIL), mail(4),
        "From: Shop <shop@shop.example>\r\nTo: me@example.com\r\nSubject: As HTML\r\nMessage-ID: <h@x>\r\nMIME-Version: 1.0\r\n"
        "Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\nContent-Type: text/html\r\n\r\n<h1>Big</h1><p>Only <b>today</b>: "
        "<a href='https://shop.example/x'>here</a><script>alert('taken')</script><img src='http://shop.example/seen.png'>"
        "<table><tr><td>A<td>B</table>\r\n--b\r\nContent-Type: application/pdf\r\nContent-Disposition: attachment; "
        "filename=offer.pdf\r\n\r\n%PDF\r\n--b--\r\n")
    w.locate(*ids)
    w.ok("message", "spam", ids[3])
    w.ok("suggestion", "set", ids[2], "--action", "spam", "--reason", EVIL)
    case = w.ok("case", "create", "--name", "Chairs", "--message", ids[0])["case_uid"]
    name = w.ok("case", "draft", "reply", case, ids[0], "--body", "Dear Ann,\n\nwe take them.\n")["draft_name"]
    w.put("12 chairs", "plan.txt")
    w.ok("case", "draft", "attach", case, name, "plan.txt")
    w.ok("case", "draft", "send", case, name)
    w.send(case, "Rude", body="No.")
    contact = w.ok("contact", "create", "--name", "Ann Lee", "--email", "ann@example.com")["contact_uid"]
    return ["/mail/work", "/mail/work/messages?status=spam", *(f"/mail/work/message/{one}" for one in ids), "/mail/work/cases",
        f"/mail/work/case/{case}", "/mail/work/drafts", f"/mail/work/case/{case}/draft/{name}", "/mail/work/contacts",
        f"/mail/work/contact/{contact}", "/mail/work/search?query=chairs", "/mail/work/search", "/mail/work/approval"]


def every_page_can_be_used(browser, w):
    paths = furnish(w)
    with w.serve("--workspace", w.dir) as server:
        for dark in (False, True):
            for path in paths:
                with browser.page(dark=dark) as page:
                    page.goto(server.url + path)
                    page.is_fine()
                    page.shot("work" + re.sub(r"\W+", "-", path[10:40]) + ("-dark" if dark else "-light"), full_page=True)
        for path in paths:
            with browser.page(scripts=False, width=browsers.NARROW) as page:
                page.goto(server.url + path)
                assert page.locator(".head h1").count() == 1, path


def a_queue_is_decided_about_by_mouse(browser, w):
    furnish(w)
    with w.serve("--workspace", w.dir) as server, browser.page() as page:
        page.goto(server.url + "/mail/work")
        page.get_by_role("link", name="Approval", exact=True).click()
        rude = page.locator("article").filter(has_text="Send: Rude")
        assert "we take them" in page.text("main") and "never written to before: bob@desk.example" in page.text("main")
        rude.get_by_text("Send back").click()
        rude.get_by_role("textbox", name="What has to be another way").fill("Be kind")
        rude.get_by_role("button", name="Send it back").click()
        page.wait_for_text("You sent it back: Be kind")
        page.get_by_role("button", name="Approve Re: Offer").click()
        page.wait_for_text("Approved, exactly as it is now")
        page.wait_for_text("mailroom work push --confirm")
        states = {item.get("subject"): item["approval"] for item in w.ok("push", "show")["items"]}
        assert states == {None: "waiting", "Rude": "refused", "Re: Offer for 40 chairs": "approved"}, states


def press_until(page, text):
    """Go on with Tab until what has the focus says this."""
    for _ in range(80):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.innerText || document.activeElement.ariaLabel || ''").strip().startswith(text):
            return
    raise AssertionError(f"Tab never leads to {text!r}")


def a_queue_is_approved_by_keyboard(browser, w):
    furnish(w)
    with w.serve("--workspace", w.dir) as server, browser.page() as page:
        page.goto(server.url + "/mail/work/approval")
        press_until(page, "Approve all 3")
        page.keyboard.press("Enter")
        page.wait_for_text("Approved, exactly as it is now")
        assert {item["approval"] for item in w.ok("push", "show")["items"]} == {"approved"}


def mail_is_decided_about_without_scripts(browser, w):
    furnish(w)
    with w.serve("--workspace", w.dir) as server, browser.page(scripts=False) as page:
        page.goto(server.url + "/mail/work")
        page.get_by_role("link", name="As HTML").click()
        assert "From outside" in page.text("main") and page.locator("main img").count() == 0
        page.get_by_label("Why, for the log").last().fill("not for us")
        page.get_by_role("button", name="Trash").click()
        assert "In the trash here" in page.text("main") and "As HTML" not in page.text("main")


def main():
    with Tap() as tap:
        def each(test):
            def run(browser):
                with Desk(sys.argv[1]) as w:
                    test(browser, w)
            run.__name__ = test.__name__
            return run
        browsers.run(tap, [each(test) for test in (every_page_can_be_used, a_queue_is_decided_about_by_mouse,
            a_queue_is_approved_by_keyboard, mail_is_decided_about_without_scripts)])


main()
