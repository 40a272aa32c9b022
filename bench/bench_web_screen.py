#!/usr/bin/env python3
"""bench_web_screen.py PROGRAM - what a browser gets of the pages: the bytes of each with all that it loads, and how soon a message
that was sent is on the screen.

Bytes are those of gzip, as browsers ask for what pages load. The time to the screen needs Chromium and what script/npm browser
fetches: without them it is left out, with a word. It stands beside a bare fsync of a page on the same disk.
"""

import gzip
import json
import os
import re
import statistics
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(ROOT, "tests", "support"))

import browser as browsers  # noqa: E402
import mailroom  # noqa: E402
import team_scene  # noqa: E402
from webs import api, page  # noqa: E402

PAGE_KIB, SENDS, FSYNCS, FSYNC_BYTES = 60, 101, 201, 4096
# The page looks whether a text has appeared whenever it changes, and notes the frame in which it did.
WATCH = """() => { window.seen = {}; new MutationObserver(() => requestAnimationFrame(() => {
    const at = performance.timeOrigin + performance.now();
    for (const [word] of document.querySelector("main").textContent.matchAll(/SEEN-\\d+/g)) window.seen[word] ??= at;
})).observe(document.querySelector("main"), { childList: true, subtree: true, characterData: true }); }"""


def tell(what, value, unit, yardstick, yardstick_value, target):
    print(json.dumps({"what": what, "value": value, "unit": unit, "yardstick": yardstick, "yardstick_value": yardstick_value,
        "ratio": value / yardstick_value, "goal": "at most", "target": target}), flush=True)


def loaded(server, text):
    """The addresses of all that a page loads: what it names, and what modules name."""
    found, waiting = set(), re.findall(r'(?:src|href)="(/mail/static/[^"]+)"', text)
    while waiting:
        address = waiting.pop()
        if address in found:
            continue
        found.add(address)
        if address.endswith(".js"):
            base = os.path.dirname(address)
            waiting += [f"{base}/{name}" for name in re.findall(r'from "\./([^"]+)"', page(server, address).text)]
    return found


def weigh(server):
    """KiB of the heaviest page that links from the home page lead to, and its address."""
    weights, waiting, seen, kept = {}, ["/mail"], set(), {}
    while waiting and len(seen) < 60:
        address = waiting.pop(0).replace("&amp;", "&")
        if address in seen:
            continue
        seen.add(address)
        answer = page(server, address)
        if answer.status != 200 or not answer.headers["Content-Type"].startswith("text/html"):
            continue
        waiting += re.findall(r'href="(/mail(?!/static)[^"#]*)"', answer.text)
        for name in loaded(server, answer.text):
            if name not in kept:
                kept[name] = len(page(server, name, Accept_Encoding="gzip").body)
        weights[address] = len(gzip.compress(answer.body)) + sum(kept[name] for name in loaded(server, answer.text))
    return max((bytes_ / 1024, address) for address, bytes_ in weights.items())


def bare_fsync(directory):
    times = []
    with open(os.path.join(directory, "fsync"), "ab", buffering=0) as file:
        for _ in range(FSYNCS):
            file.write(b"x" * FSYNC_BYTES)
            begun = time.perf_counter()
            os.fsync(file.fileno())
            times.append(time.perf_counter() - begun)
    return statistics.median(times) * 1000


def screen(server):
    """Milliseconds from the call to the frame that shows the message, one after another."""
    times = []
    with browsers.Browser() as browser, browser.page() as shown:
        shown.goto(server.url + "/mail/inbox")
        shown.wait_for_text("Refund 59 is tested", "main")
        shown.wait_for_function("() => document.querySelector('.connection')?.textContent === ''")
        shown.evaluate(WATCH)
        for i in range(SENDS):
            begun = time.time() * 1000
            api(server, "send_message", project_key=team_scene.SHOP, sender_name="RedStone", to=["BlueLake"], subject=f"SEEN-{i}",
                body_md="Is it there?")
            shown.wait_for_function("(word) => window.seen[word]", f"SEEN-{i}")
            times.append(shown.evaluate("(word) => window.seen[word]", f"SEEN-{i}") - begun)
    return statistics.median(times)


def main():
    # The tests' server, whose files are in $TMPDIR: a real disk, please.
    with mailroom.Mailroom(sys.argv[1]) as m, m.serve() as server:
        team_scene.lively(server)
        for i in range(60):
            api(server, "send_message", project_key=team_scene.SHOP, sender_name="GreenCastle", to=["BlueLake"],
                subject=f"Refund {i} is tested", body_md="All of its cases pass, " * 20)
        heaviest, address = weigh(server)
        tell(f"heaviest page with all it loads: {address.split('?')[0]}", heaviest, "KiB", "allowed, KiB", PAGE_KIB, 1)
        bare = bare_fsync(m.dir)
        if browsers.missing():
            print(f"bench_web_screen: {browsers.missing()}", file=sys.stderr)
            return
        tell("send to screen, median", screen(server), "ms", "fsync, ms", bare, 20)


main()
