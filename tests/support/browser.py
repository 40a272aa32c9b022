"""A browser as tests drive it: Debian's Chromium, with playwright-core and axe-core from npm (script/npm browser).

    with Browser() as browser, browser.page(width=375) as page:
        page.goto(url)
        page.get_by_role("button", name="Send").click()
        page.is_fine()

A page has Playwright's methods under their names in Python: what finds an element is remembered, everything else happens at
once and waits until it can. When a page is left without a failure, nothing may have gone wrong on it: no error in the console,
no violation of its content policy, no exception, no alert, no request to elsewhere.
"""

import atexit
import json
import os
import re
import shutil
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PACKAGES = os.path.join(ROOT, "build", "browser", "node_modules")
NODE = os.path.join(PACKAGES, "node", "bin", "node")
DRIVER = os.path.join(ROOT, "tests", "browser", "driver.mjs")
NARROW = 375
FINDERS = ("locator", "frame_locator", "first", "last", "nth", "filter", "keyboard", "mouse")


def missing():
    """Why there is no browser, or None."""
    if not shutil.which("chromium"):
        return "there is no chromium: script/setup test installs it"
    if not os.path.exists(os.path.join(os.path.dirname(PACKAGES), "installed")):
        return "playwright-core and axe-core are not installed: script/npm browser gets them from npm"
    return None


def run(tap, tests, *args):
    """Run the tests with a browser, or skip them with the reason."""
    why = missing()
    if why:
        for test in tests:
            tap.skip(test.__name__.replace("_", " "), why)
        return
    with Browser() as browser:
        for test in tests:
            tap.run(test.__name__.replace("_", " "), test, browser, *args)


class Browser:
    def __init__(self):
        self.process = subprocess.Popen([NODE, DRIVER, PACKAGES, shutil.which("chromium")], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, text=True)
        atexit.register(self.end)

    def ask(self, **request):
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        assert line, f"the browser ended while it was asked for {request}"
        reply = json.loads(line)
        assert "error" not in reply, f"{request.get('chain', request)}: {reply['error']}"
        return reply["value"]

    def page(self, width=1280, height=800, dark=False, scripts=True, **options):
        options = {"viewport": {"width": width, "height": height}, "colorScheme": "dark" if dark else "light",
            "reducedMotion": "reduce", "javaScriptEnabled": scripts, **options}
        return Page(self, self.ask(open=options))

    def end(self):
        if self.process.poll() is None:
            self.process.stdin.close()
            try:
                self.process.wait(30)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()

    def __enter__(self):
        return self

    def __exit__(self, *ignored):
        self.end()


def camel(name):
    return re.sub(r"_(\w)", lambda found: found[1].upper(), name)


class Chain:
    """What leads to something on a page: get_by_role("link").first."""

    def __init__(self, page, steps=()):
        self._page, self._steps = page, list(steps)

    def __getattr__(self, name):
        if name in ("keyboard", "mouse"):
            return Chain(self._page, [*self._steps, [name]])

        def call(*args, **options):
            options = {camel(key): value for key, value in options.items()}
            steps = [*self._steps, [camel(name), *args, *([options] if options else [])]]
            if name in FINDERS or name.startswith("get_by_"):
                return Chain(self._page, steps)
            return self._page.browser.ask(page=self._page.number, chain=steps)
        return call


class Page(Chain):
    def __init__(self, browser, number):
        super().__init__(self)
        self.browser, self.number = browser, number

    def troubles(self):
        """What went wrong since this was asked last."""
        return self.browser.ask(page=self.number, troubles=True)

    def text(self, selector="body"):
        """What somebody reads there."""
        return self.locator(selector).inner_text()

    def wait_for_text(self, text, selector="body"):
        self.wait_for_function("([where, what]) => [...document.querySelectorAll(where)].some((e) => e.innerText.includes(what))",
            [selector, text])

    def arrives(self, path):
        """The page of this path is there, and takes keys: Chromium drops those before its first frame. It is asked
        itself, because what drives the browser names the new page while the old one is still there."""
        self.wait_for_function("""(path) => location.pathname === path && document.readyState === "complete" &&
            (window.framesSeen = (window.framesSeen ?? 0) + 1) > 3""", path)

    def has_no_overflow(self):
        """Nothing is wider than the window: nobody has to scroll sideways."""
        wide = self.evaluate("""() => document.documentElement.scrollWidth <= innerWidth ? [] :
            [...document.querySelectorAll("body *")].filter((e) => e.getBoundingClientRect().right > innerWidth + 1)
                .map((e) => e.tagName + "." + e.className + " " + Math.round(e.getBoundingClientRect().right)).slice(0, 10)
                .concat(["the page is " + document.documentElement.scrollWidth + " wide"])""")
        assert not wide, f"wider than the window: {wide}"

    def is_accessible(self):
        found = self.browser.ask(page=self.number, axe=True)
        assert not found, "\n".join(found)

    def is_fine(self):
        """It has nothing that keeps somebody from using it, also on a phone."""
        self.is_accessible()
        size = self.evaluate("[innerWidth, innerHeight]")
        self.set_viewport_size({"width": NARROW, "height": 700})
        self.has_no_overflow()
        self.set_viewport_size({"width": size[0], "height": size[1]})

    def shot(self, name, **options):
        """A picture for people, in MAILROOM_TEST_SHOTS; without that directory there is none."""
        place = os.environ.get("MAILROOM_TEST_SHOTS")
        if place:
            self.screenshot(path=os.path.join(place, f"{name}.png"), **options)

    def close(self):
        self.browser.ask(page=self.number, close=True)

    def __enter__(self):
        return self

    def __exit__(self, kind, *ignored):
        if kind and self.browser.process.poll() is None:
            print(f"# troubles of the page: {self.troubles()}", file=sys.stderr)
            self.close()
            return
        troubles = self.troubles()
        self.close()
        assert not troubles, "\n".join(troubles)
