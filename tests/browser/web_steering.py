"""usage: web_steering.py PROGRAM - in a browser: leases, contacts, history, mailboxes and the status, and what a person does there."""

import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "support"))

import browser as browsers
from agents import Agents
from tap import Tap
from webs import api, page as fetch, project

SHOP, STOCK = "/srv/shop", "/srv/stock"
LONG = "src/a-directory-with-a-long-name/another-one-in-it/and-a-file-that-is-deep-in-the-repository.c"
PAGES = ("/leases", "/leases/all", "/contacts", "/history", "/history/files", "/history/files?path=agents/BlueLake/profile.json",
    "/history/traffic")


def team(server):
    project(server, SHOP, {"BlueLake": "checkout", "GreenCastle": "payment", "RedStone": "migrations"})
    project(server, STOCK, {"SilverHawk": "stock"})
    api(server, "set_contact_policy", project_key=SHOP, agent_name="BlueLake", policy="contacts_only")
    api(server, "request_contact", project_key=STOCK, from_agent="SilverHawk", to_agent="BlueLake", to_project=SHOP, reason="Levels")
    for who, paths in (("BlueLake", [LONG, "src/cart/**"]), ("RedStone", ["src/cart/total.c", "db/*.sql"])):
        api(server, "file_reservation_paths", project_key=SHOP, agent_name=who, paths=paths, reason="W" * 90)
    for sender, to in (("BlueLake", ["GreenCastle", "RedStone"]), ("RedStone", ["BlueLake"]), ("GreenCastle", ["GreenCastle"])):
        api(server, "send_message", project_key=SHOP, sender_name=sender, to=to, subject="S" * 120, body_md="one\n" + "x" * 300)


def pages_are_fine(browser, m, server):
    m.create("alice", "bob")
    m.send("bob", "alice", "Plan", "# A plan\n\n[link](https://example.org) in a text\n\n" + "y" * 200)
    commit = re.search(r"history/commit/[0-9a-f]{40}", fetch(server, "/mail/p/srv-shop/history").text)[0]
    account = "/mail/mailboxes/account/alice%40houmao.localhost"
    letter = re.search(rf"{account}/[^\"]+", fetch(server, account).text)[0]
    for dark in (False, True):
        with browser.page(dark=dark) as page:
            for path in (*(f"/mail/p/srv-shop{one}" for one in (*PAGES, f"/{commit}")), "/mail/mailboxes", "/mail/mailboxes/notices",
                    account, letter, "/mail/status"):
                page.goto(server.url + path)
                page.has_no_overflow()
                page.is_fine()
                page.shot("steering-" + re.sub(r"\W+", "-", path.strip("/"))[:60] + ("-dark" if dark else ""), full_page=True)


def a_lease_is_released_by_keyboard(browser, m, server):
    with browser.page() as page:
        page.goto(server.url + "/mail/p/srv-shop/leases")
        page.locator("tr:has-text('total.c') summary").focus()
        page.keyboard.press("Enter")
        page.keyboard.press("Tab")
        page.keyboard.type("It blocks the release.")
        page.keyboard.press("Tab")
        page.keyboard.press("Enter")
        page.wait_for_text("The lease is released")
        assert page.locator("tr:has-text('total.c')").count() == 0
        assert page.locator("tr:has-text('.sql')").count() == 1


def a_contact_is_approved_by_mouse(browser, m, server):
    with browser.page() as page:
        page.goto(server.url + "/mail/p/srv-shop/contacts")
        page.get_by_role("button", name="Approve SilverHawk").click()
        page.wait_for_text("Answered; the agent that asked has a message.")
        page.wait_for_text("approved", "section .chip")


def everything_is_read_without_scripts(browser, m, server):
    with browser.page(scripts=False) as page:
        for path, text in (("/leases", "meets RedStone"), ("/history/traffic", "BlueLake"), ("/history", "initialize archive")):
            page.goto(server.url + "/mail/p/srv-shop" + path)
            assert text in page.text("main"), page.text("main")


def main():
    with Tap() as tap, Agents(sys.argv[1]) as m, m.serve() as server:
        team(server)
        browsers.run(tap, [pages_are_fine, everything_is_read_without_scripts, a_lease_is_released_by_keyboard,
            a_contact_is_approved_by_mouse], m, server)


main()
