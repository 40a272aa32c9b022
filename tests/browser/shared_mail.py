"""Mail that was exported for somebody else (team share), opened from the disk with a browser."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "support"))

import browser as browsers
from mailroom import Mailroom
from tap import Tap

EVIL = "</script><script>document.title='taken'</script><img src=x onerror=\"alert('taken')\">"


def exported(m):
    """The address of the page: a thread of three and a hostile message."""
    m.json("team", "ensure-project", "/work")
    for name in ("GreenFox", "BlueLake"):
        m.json("team", "register", "/work", name, "--program", "test", "--model", "none")

    def send(sender, to, subject, body, *more):
        m.json("team", "send", "/work", sender, "--to", to, "--subject", subject, "--body-md", body, *more)
    for subject, body in (("Plan", "The **plan**:\n\n- one\n- two"), ("Re: Plan", "`yes`"), ("Re: Plan", "| a | b |\n|-|-|\n| 1 | 2 |")):
        send("GreenFox", "BlueLake", subject, body, "--thread-id", "PLAN-1")
    send("BlueLake", "GreenFox", EVIL, EVIL)
    m.json("team", "share", "export", "-o", "shared")
    return f"file://{m.dir}/shared/index.html"


def it_is_read_and_searched(browser, url):
    with browser.page() as page:
        page.goto(url)
        page.wait_for_text("4 messages")
        page.locator("#filter").fill("table nothing")
        page.wait_for_text("0 messages")
        page.locator("#filter").fill("plan")
        page.wait_for_text("3 messages")
        page.get_by_text("Plan", exact=True).first().click()
        assert page.locator("article strong").first().text_content() == "plan"
        page.is_accessible()
        page.shot("share-wide")


def it_fits_a_phone_light_and_dark(browser, url):
    for dark in (False, True):
        with browser.page(width=375, height=700, dark=dark) as page:
            page.goto(url)
            page.wait_for_text("4 messages")
            page.has_no_overflow()
            page.is_accessible()
            page.shot(f"share-narrow-{'dark' if dark else 'light'}")


def hostile_mail_stays_text(browser, url):
    with browser.page() as page:
        page.goto(url)
        page.wait_for_text("4 messages")
        page.get_by_text("document.title").first().click()
        page.wait_for_text("onerror", "article")
        assert "taken" not in page.title(), page.title()


def main():
    with Tap() as tap, Mailroom(sys.argv[1]) as m:
        browsers.run(tap, [it_is_read_and_searched, it_fits_a_phone_light_and_dark, hostile_mail_stays_text], exported(m))


main()
