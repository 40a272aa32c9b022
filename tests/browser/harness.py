"""What the tests of pages rely on: troubles of a page are noticed, and a good page has none."""

import os
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "support"))

import browser as browsers
from tap import Tap

GOOD = "<!doctype html><html lang=en><title>Good</title><meta name=viewport content='width=device-width'><main><h1>Good</h1></main>"
POLICY = "<meta http-equiv=Content-Security-Policy content=\"script-src 'none'\">"


def put(folder, text):
    path = os.path.join(folder, "page.html")
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    return f"file://{path}"


def fails(with_words, function):
    try:
        function()
    except AssertionError as error:
        assert with_words in str(error), error
    else:
        raise AssertionError(f"nobody noticed {with_words}")


def a_good_page_is_fine(browser, folder):
    with browser.page(dark=True) as page:
        page.goto(put(folder, GOOD))
        page.is_fine()
        assert page.text("h1") == "Good" and page.get_by_role("heading", name="Good").count() == 1


def troubles_are_noticed(browser, folder):
    for word, more in (("alert: taken", "<script>alert('taken')</script>"),
            ("console: broken", "<script>console.error('broken')</script>"),
            ("uncaught: thrown", "<script>throw new Error('thrown')</script>"),
            ("Content Security Policy", POLICY + "<script>1</script>"),
            ("asked http://elsewhere.invalid/", "<img alt='' src=http://elsewhere.invalid/>")):
        def visit(more=more):
            with browser.page() as page:
                page.goto(put(folder, GOOD + more))
        fails(word, visit)


def bad_pages_are_told(browser, folder):
    with browser.page() as page:
        page.goto(put(folder, GOOD + "<p style='width:50em'>wide"))
        fails("the page is ", page.is_fine)
        page.goto(put(folder, GOOD + "<input><p style='color:#eee'>pale"))
        fails("color-contrast", page.is_accessible)
        fails("label", page.is_accessible)
        fails("Timeout", lambda: page.locator("h2").click(timeout=1))


def scripts_can_be_off(browser, folder):
    with browser.page(scripts=False) as page:
        page.goto(put(folder, GOOD + "<script>document.title='on'</script>"))
        assert page.title() == "Good"


def main():
    with Tap() as tap, tempfile.TemporaryDirectory(prefix="mailroom-pages-") as folder:
        browsers.run(tap, [a_good_page_is_fine, troubles_are_noticed, bad_pages_are_told, scripts_can_be_off], folder)


main()
