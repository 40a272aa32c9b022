"""usage: demo.py PROGRAM - `mailroom demo`: a team that goes on working and mail that waits, of which nothing is left."""

import os
import re
import signal
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from mailroom import TIMEOUT_S, Mailroom, Server  # noqa: E402
from tap import Tap  # noqa: E402
from webs import api, page, post  # noqa: E402

AGENTS = {"GreenFox", "BlueLake", "AmberOwl", "SilverPine", "QuietHarbor"}


class Demo(Server):
    """It keeps its files in a directory that is ours."""

    def __init__(self, m, pace=200):
        self.place = os.path.join(m.runtime, "memory")
        os.makedirs(self.place, exist_ok=True)
        super().__init__(m, ["--pace", str(pace)], {"TMPDIR": self.place}, command=("demo",))

    def read_greeting(self):
        text = self.greeting
        while "until you press Ctrl-C" not in text:
            line = self.process.stdout.readline()
            assert line, self.logged()
            text += line
        return text

    def left(self):
        return os.listdir(self.place)


def until(what, said):
    end = time.monotonic() + TIMEOUT_S
    while not (got := what()):
        assert time.monotonic() < end, said
        time.sleep(0.05)
    return got


def subjects(server):
    return [one["subject"] for one in api(server, "fetch_inbox", project_key="/srv/harbor-shop",
        agent_name="BlueLake", limit=100)["result"]]


def its_pages_are_full(m):
    with Demo(m) as demo:
        text = demo.read_greeting()
        assert re.match(r"The Mailroom demo listens on http://127\.0\.0\.1:\d+\n", text), text
        addresses = re.findall(r"^  (http://\S+)  ", text, re.M)
        assert len(addresses) == 5 and demo.place in text, text
        for address in addresses:
            answer = page(demo, address[len(demo.url):])
            assert answer.status == 200, (address, answer)
        names = {agent["name"] for agent in api(demo, "list_agents", project_key="/srv/harbor-shop")["result"]}
        assert names >= AGENTS, names
        queue = page(demo, "/mail/work/approval").text
        for said in ("never written to before: c.okafor@port.example", "You sent it back: Too rude.", "Approve all 2"):
            assert said in queue, (said, queue)
        home = page(demo, "/mail").text
        for said in ("may the old name go at once?", "2 things wait for your approval", "asks to write to QuietHarbor"):
            assert said in home, (said, home)
        triage = page(demo, "/mail/work").text
        assert "suggested: spam" in triage and "Your mailbox will be deleted TODAY" in triage, triage
        leases = page(demo, "/mail/p/srv-harbor-shop/leases").text
        assert "src/" in leases or "tests/" in leases, leases


def the_agents_go_on(m):
    with Demo(m, pace=50) as demo:
        demo.read_greeting()
        seen = len(subjects(demo))
        assert seen > 5, subjects(demo)
        until(lambda: len(subjects(demo)) >= seen + 6, "nobody writes any more")
        assert "SHOP-" in " ".join(subjects(demo))


def what_waits_can_be_approved(m):
    with Demo(m) as demo:
        demo.read_greeting()
        ids = re.findall(r'name="id" value="(content_\w+)"', page(demo, "/mail/work/approval").text)
        answer = post(demo, "/mail/work/approval/approve", id=ids[0])
        assert answer.status == 303, answer
        assert "mailroom work push --confirm" in page(demo, "/mail/work/approval").text


def nothing_is_left(m):
    before = sorted(os.listdir(m.dir))
    for how in (signal.SIGINT, signal.SIGTERM):
        demo = Demo(m)
        demo.read_greeting()
        assert demo.left(), "where are its files?"
        assert demo.stop(how) == 0, demo.logged()
        assert not demo.left() and not demo.logged(), (demo.left(), demo.logged())
        demo.close()
    assert sorted(os.listdir(m.dir)) == before, "it has touched what is the user's"


def nothing_is_left_when_it_is_killed(m):
    demo = Demo(m, pace=50)
    demo.read_greeting()
    demo.process.kill()
    demo.process.wait(TIMEOUT_S)
    until(lambda: not demo.left(), "its files stay")
    demo.close()


def a_port_that_is_taken_is_said(m):
    with m.serve() as server:
        done = m.run("demo", "--port", server.url.rpartition(":")[2], env={"TMPDIR": m.runtime})
        assert done.returncode != 0 and "the port is in use" in done.stderr, done
        assert not [name for name in os.listdir(m.runtime) if name.startswith("mailroom-demo")]


def main():
    with Tap() as tap:
        for test in (its_pages_are_full, the_agents_go_on, what_waits_can_be_approved, nothing_is_left,
                nothing_is_left_when_it_is_killed, a_port_that_is_taken_is_said):
            with Mailroom(sys.argv[1]) as m:
                tap.run(test.__name__, test, m)


main()
