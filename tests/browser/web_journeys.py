"""What a person comes for, by mouse and by keyboard alone: to read, to answer, to search, to approve a contact, to take a lease away. How a
queued mail is approved or sent back is in workspace.py, how mail arrives on an open page in web_live.py."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "support"))

import browser as browsers
import team_scene
from mailroom import Mailroom
from tap import Tap
from webs import api

HERE = f"/mail/p/{team_scene.SLUG}"


def newest(server, agent):
    [message] = api(server, "fetch_inbox", project_key=team_scene.SHOP, agent_name=agent, limit=1, include_bodies=True)["result"]
    return message["from"], message["subject"], message["body_md"]


def leases(m):
    return {one["path_pattern"] for one in m.json("team", "reservations", team_scene.SLUG)["result"] if not one["released_ts"]}


def press(page, *keys):
    for key in keys:
        page.keyboard.press(key)


def tab_to(page, text):
    """The focus goes on until it is on something so called, as somebody does who has no mouse."""
    for _ in range(80):
        page.keyboard.press("Tab")
        if page.evaluate("(text) => document.activeElement.textContent.includes(text)", text):
            return
    raise AssertionError(f"Tab never came to {text}")


def reading_and_answering_by_mouse(browser, m):
    with m.serve() as server, browser.page() as page:
        team_scene.lively(server)
        page.goto(server.url + "/mail")
        page.get_by_role("link", name="Inbox", exact=True).click()
        page.get_by_role("link", name="Search asks for prices, too").click()
        page.wait_for_text("120 requests a page", "main")
        assert page.locator("article table td").first().inner_text() == "results"
        page.get_by_text("Reply", exact=True).click()
        page.get_by_label("Message").fill("Ask for **all** of a page at once.")
        page.get_by_role("button", name="Preview").click()
        page.wait_for_text("Ask for all of a page at once.", "main")
        assert newest(server, "RedStone")[0] != "HumanOverseer"
        page.get_by_role("button", name="Send", exact=True).click()
        page.wait_for_text("Ask for all of a page at once.", "main")
        sender, subject, body = newest(server, "RedStone")
        assert sender == "HumanOverseer" and subject == "Re: Search asks for prices, too" and "**all**" in body, (sender, subject, body)


def reading_and_answering_by_keyboard(browser, m):
    with m.serve() as server, browser.page() as page:
        team_scene.lively(server)
        page.goto(server.url + "/mail")
        page.arrives("/mail")
        press(page, "g", "i")
        page.arrives("/mail/inbox")
        # The second of the newest: the first is the request for contact.
        press(page, "j", "j", "Enter")
        page.wait_for_text("120 requests a page", "main")
        path = page.evaluate("location.pathname")
        page.arrives(path)
        press(page, "r")
        page.keyboard.type("One call for many: next week.")
        tab_to(page, "Send")
        press(page, "Enter")
        page.wait_for_text("One call for many: next week.", ".body, .snippet, .note, main")
        while newest(server, "RedStone")[0] != "HumanOverseer":
            pass
        page.arrives(page.evaluate("location.pathname"))
        press(page, "u")
        page.wait_for_function("(path) => location.pathname.startsWith('/mail/p/') && location.pathname !== path", path)
        page.arrives(page.evaluate("location.pathname"))
        press(page, "c")
        page.arrives(f"{HERE}/compose")


def searching_by_keyboard(browser, m):
    with m.serve() as server, browser.page() as page:
        team_scene.lively(server)
        page.goto(server.url + "/mail")
        page.arrives("/mail")
        press(page, "/")
        page.keyboard.type("subject:prices")
        press(page, "Enter")
        page.arrives("/mail/search")
        page.wait_for_text("Search asks for prices, too", "main")
        press(page, "j", "Enter")
        page.wait_for_function("() => location.pathname.includes('/message/')")
        page.wait_for_text("120 requests a page", "main")


def a_message_that_arrives_by_keyboard(browser, m):
    """It appears where somebody looks, and is opened and acknowledged without a mouse."""
    with m.serve() as server, browser.page() as page:
        team_scene.lively(server)
        m.json("team", "say", team_scene.SLUG, "--to", "BlueLake", "--subject", "How far?", "--body-md", "Tell me.")
        page.goto(server.url + "/mail/inbox")
        page.arrives("/mail/inbox")
        page.wait_for_function("() => document.querySelector('.connection')?.textContent === ''")
        api(server, "send_message", project_key=team_scene.SHOP, sender_name="BlueLake", to=["HumanOverseer"], subject="Half way",
            body_md="Two of four.", ack_required=True)
        page.wait_for_text("Half way", "main")
        press(page, "j", "Enter")
        page.wait_for_text("Two of four.", "main")
        page.arrives(page.evaluate("location.pathname"))
        tab_to(page, "Acknowledge")
        press(page, "Enter")
        page.wait_for_text("HumanOverseer acknowledged", "main")


def a_contact_is_approved_by_mouse(browser, m):
    with m.serve() as server, browser.page() as page:
        team_scene.lively(server)
        page.goto(server.url + "/mail")
        page.get_by_role("link", name="asks to write to RedStone").click()
        page.get_by_role("button", name="Approve PurpleFox to RedStone").click()
        page.wait_for_text("approved", "main .chip")
        page.goto(server.url + "/mail")
        assert "asks to write" not in page.text("main")


def a_contact_is_approved_by_keyboard(browser, m):
    with m.serve() as server, browser.page() as page:
        team_scene.lively(server)
        page.goto(server.url + "/mail")
        page.arrives("/mail")
        press(page, "j", "Enter")
        page.arrives(f"{HERE}/contacts")
        tab_to(page, "Approve PurpleFox to RedStone")
        press(page, "Enter")
        page.wait_for_text("approved", "main .chip")


def a_lease_is_taken_away_by_mouse(browser, m):
    with m.serve() as server, browser.page() as page:
        team_scene.lively(server)
        page.goto(server.url + HERE)
        page.locator("main nav").get_by_role("link", name="Leases").click()
        page.get_by_text("Release tests/refunds/** of GreenCastle").click()
        page.get_by_label("What the message says besides").locator("visible=true").fill("I need these tests.")
        page.get_by_role("button", name="Release it").locator("visible=true").click()
        page.wait_for_function("() => !document.querySelector('main').innerText.includes('refunds')")
        assert "tests/refunds/**" not in leases(m)
        assert "I need these tests." in newest(server, "GreenCastle")[2]


def a_lease_is_taken_away_by_keyboard(browser, m):
    with m.serve() as server, browser.page() as page:
        team_scene.lively(server)
        page.goto(server.url + HERE + "/leases")
        page.arrives(HERE + "/leases")
        tab_to(page, "tests/refunds/** of GreenCastle")
        press(page, "Enter")
        tab_to(page, "Release it")
        press(page, "Enter")
        page.wait_for_function("() => !document.querySelector('main').innerText.includes('refunds')")
        assert "tests/refunds/**" not in leases(m)


TESTS = [reading_and_answering_by_mouse, reading_and_answering_by_keyboard, searching_by_keyboard, a_message_that_arrives_by_keyboard, a_contact_is_approved_by_mouse,
    a_contact_is_approved_by_keyboard, a_lease_is_taken_away_by_mouse, a_lease_is_taken_away_by_keyboard]


def main():
    def alone(test):
        def run(browser):
            with Mailroom(sys.argv[1]) as m:
                test(browser, m)
        run.__name__ = test.__name__
        return run
    with Tap() as tap:
        browsers.run(tap, [alone(test) for test in TESTS])


main()
