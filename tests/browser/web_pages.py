"""Every page there is, reached by its links: no error in the console, nothing hostile runs, axe-core finds nothing, nothing is
wider than a phone, and it is read with scripts off. A page that is added is in it at once: the list is that of the program."""

import glob
import os
import re
import sys
import urllib.parse

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "support"))

import browser as browsers
import hostile
import team_scene
from desk import Desk
from tap import Tap
from webs import page as get

OF_EACH = 2  # addresses of a pattern
PAGE = re.compile(r"const struct mr_web_page \w+ = \{(.*?)\n\};", re.DOTALL)
HREF = re.compile(r'(?:href|action)="(/mail[^"#]*)')
# What no link has: a page for those who must sign in, and words that somebody has typed.
WORDS = urllib.parse.quote(hostile.PAYLOADS[4])
BEGIN = ["/mail", "/mail/sign-in", *(f"/mail/{place}?query={WORDS}" for place in ("open", "search", "work/search"))]


def patterns(root):
    """The patterns of all pages, those with the most literal segments first."""
    found = []
    for path in glob.glob(os.path.join(root, "src", "surface", "web", "*.c")):
        with open(path, encoding="utf-8") as file:
            found += [re.search(r'\.pattern = "([^"]+)"', body)[1] for body in PAGE.findall(file.read())]
    return sorted(found, key=lambda pattern: (pattern.count("{"), -len(pattern)))


def expression(pattern):
    return re.compile(re.sub(r"\\\{\w+\\\.\\\.\\\.\\\}", ".+", re.sub(r"\\\{\w+\\\}", "[^/]+", re.escape(pattern))) + "/?$")


def walk(server, known):
    """Addresses of each pattern, found by following links from the home page."""
    found = {pattern: [] for pattern in known}
    downloads = set()
    kinds = [(pattern, expression(pattern)) for pattern in known]
    waiting, seen = [*BEGIN], set()
    while waiting:
        address = waiting.pop(0)
        path = address.split("?")[0]
        pattern = next((name for name, kind in kinds if kind.match(path)), None)
        if address in seen or not pattern or len(found[pattern]) >= OF_EACH:
            continue
        seen.add(address)
        answer = get(server, address, Accept="text/html")
        if answer.status != 200 or not answer.headers["Content-Type"].startswith("text/html"):
            assert answer.status in (200, 303, 405), (address, answer.status)
            downloads.add(pattern)
            continue
        found[pattern].append(address)
        # What is new comes first: hostile mail has higher numbers than the other.
        waiting += [link.replace("&amp;", "&") for link in HREF.findall(answer.text)]
    return found, downloads


class World:
    def __init__(self, m, root):
        hostile.workspace(m)
        hostile.mailbox(m)
        m.write("page <b>.html", hostile.BODY)
        self.server = m.serve("--workspace", m.dir, env={"ATTACHMENT_ROOTS": m.dir})
        team_scene.lively(self.server)
        hostile.team(self.server, os.path.join(m.dir, "page <b>.html"))
        self.known = patterns(root)
        self.found, self.downloads = walk(self.server, self.known)
        self.addresses = [one for pattern in self.known for one in self.found[pattern]]


def name_of(pattern):
    return pattern.strip("/").replace("{", "").replace("}", "").replace("/", "-").replace(".", "")


def every_page_is_reached_by_links(_browser, world):
    missing = [pattern for pattern in world.known if not world.found[pattern] and pattern not in world.downloads]
    assert len(world.known) >= 5 and not missing, f"no link leads to {missing}"


def each(browser, world, check, **options):
    """Check every address on a page of its own; all that fail are named."""
    failed = []
    for pattern in world.known:
        for i, address in enumerate(world.found[pattern]):
            try:
                with browser.page(**options) as page:
                    page.goto(world.server.url + address)
                    check(page, name_of(pattern), i)
            except AssertionError as error:
                failed.append(f"{address[:200]}: {str(error)[:1500]}")
    assert not failed, "\n".join(failed)


def all_of_them_are_fine(browser, world):
    def check(page, name, i):
        assert page.locator("h1").count() == 1, f"{page.locator('h1').count()} headings of the page"
        page.has_no_overflow()
        page.is_fine()
        if i == 0:
            page.shot(f"{name}-wide")
    each(browser, world, check)


def in_the_dark_on_a_phone(browser, world):
    def check(page, name, i):
        page.has_no_overflow()
        page.is_accessible()
        hidden = page.evaluate("""[...document.querySelectorAll('.side [aria-current=page], .tabs [aria-current=page]')].filter((e) =>
            e.getBoundingClientRect().left < 0 || e.getBoundingClientRect().right > innerWidth + 1).map((e) => e.textContent)""")
        assert not hidden, f"out of sight, although it says where one is: {hidden}"
        if i == 0:
            page.shot(f"{name}-narrow")
    each(browser, world, check, dark=True, width=browsers.NARROW, height=700)


def all_is_read_with_scripts_off(browser, world):
    shown = {}

    def read(page, name, i):
        # Times are said otherwise, scripts add buttons, and who was active last comes first.
        shown.setdefault((name, i), []).append(sorted(page.evaluate("""() => {
            const main = document.querySelector("main").cloneNode(true);
            for (const one of main.querySelectorAll("time, [data-made]")) one.remove();
            const texts = document.createTreeWalker(main, NodeFilter.SHOW_TEXT), words = [];
            while (texts.nextNode()) words.push(texts.currentNode.textContent);
            return words.join(" ");
        }""").split()))
    each(browser, world, read, scripts=False)
    each(browser, world, read)
    for key, (without, with_scripts) in shown.items():
        assert len(without) > 3, key
        # The status counts these very requests.
        if key[0] != "mail-status":
            assert without == with_scripts, (key, set(without) ^ set(with_scripts))


TESTS = [every_page_is_reached_by_links, all_of_them_are_fine, in_the_dark_on_a_phone, all_is_read_with_scripts_off]


def main():
    with Tap() as tap, Desk(sys.argv[1]) as m:
        if browsers.missing():
            browsers.run(tap, TESTS)
            return
        world = World(m, sys.argv[2])
        with world.server:
            browsers.run(tap, TESTS, world)


main()
