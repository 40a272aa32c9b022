"""usage: web_status.py PROGRAM - the page that says whether all is well, and how much goes on."""

import datetime
import html
import os
import re
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from database import opened, team_database  # noqa: E402
from mailroom import Mailroom  # noqa: E402
from tap import Tap  # noqa: E402
from webs import api, ask, page, project  # noqa: E402

KEY = "/srv/shop"
PATH = "/mail/status"
TOKENS = {"HTTP_BEARER_TOKENS": "sees:reader,rules:admin", "HTTP_ALLOW_LOCALHOST_UNAUTHENTICATED": "false"}


def words(text):
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", text)).split())


def all_is_well(m):
    with m.serve() as server:
        text = page(server, PATH).text
        said = words(text)
        assert "all is well" in said and "Archive has everything" in said and "none is held" in said, said
        assert "0 hold" in said and "none since the start" in said and m.root in said, said
        assert text.count("<svg class=\"chart\"") == 3 and not re.search(r"\bnan\b|\binf\b", text), text
        assert re.search(r"Mailroom \d+\.\d+\.\d+ MCP \d{4}-\d\d-\d\d", said), said


def what_goes_on_is_counted(m):
    with m.serve() as server:
        project(server, KEY, {"BlueLake": "checkout", "GreenCastle": "payment"})
        for number in range(12):
            api(server, "send_message", project_key=KEY, sender_name="BlueLake", to=["GreenCastle"], subject=str(number), body_md="b")
        api(server, "file_reservation_paths", project_key=KEY, agent_name="BlueLake", paths=["a", "b"])
        text = page(server, PATH).text
        said = words(text)
        assert "Messages, last 24 hours 12" in said and "2 hold" in said, said
        calls = int(re.search(r"Operations, last hour (\d+)", said)[1])
        assert calls >= 16 and re.search(r"Their times [\d.]+ m?s for 19 of 20", said), said
        ask(server, "POST", "/api/tools/send_message", {"Content-Type": "application/json"}, '{"project_key": "nix"}')
        text = page(server, PATH).text
        assert re.search(r'<rect class="bad"[^>]*><title>\d\d:\d\d UTC: \d+, [1-9]\d* failed', text), text
        told = m.json("team", "activity")
        assert len(told["hours"]) == 24 and len(told["minutes"]) == 60 and sum(hour["messages"] for hour in told["hours"]) == 12, told
        assert "Leases that hold: 2" in m.run("team", "activity").stdout


def messages_stand_in_their_hours(m):
    with m.serve() as server:
        project(server, KEY, {"BlueLake": "checkout"})
        for number in range(10):
            api(server, "send_message", project_key=KEY, sender_name="BlueLake", to=["BlueLake"], subject=str(number), body_md="b")
    now = int(time.time()) // 3600
    sent = (30, 25, 5, 5, 2, 1, 1, 1, 1, 1)  # hours ago; the first before all that is shown
    with opened(team_database(m.root)) as db:
        for number, hours in enumerate(sent, 1):
            db.execute("UPDATE messages SET created_ts = ? WHERE id = ?", (((now - hours) * 3600 + 7) * 1000000, number))
    told = m.json("team", "activity")["hours"]
    found = {now - datetime.datetime.fromisoformat(hour["begun_ts"]).timestamp() // 3600: hour["messages"] for hour in told}
    assert {ago: count for ago, count in found.items() if count} == {5: 2, 2: 1, 1: 5}, told


def only_administrators_see_places(m):
    with m.serve(env=TOKENS) as server:
        assert m.root in page(server, PATH, Authorization="Bearer rules").text
        text = page(server, PATH, Authorization="Bearer sees").text
        assert "all is well" in text and m.root not in text and "storage.sqlite3" not in text, text


def trouble_is_said(m):
    with m.serve() as server:
        project(server, KEY, {"BlueLake": "checkout"})
        page(server, f"/mail/p/srv-shop/history")
        archive = os.path.join(m.root, "projects", "srv-shop")
        os.rename(archive, archive + ".away")
        with open(archive, "w", encoding="utf-8") as file:
            file.write("in the way")
        api(server, "send_message", project_key=KEY, sender_name="BlueLake", to=["BlueLake"], subject="s", body_md="b")
        while "cannot be archived" not in (said := words(page(server, PATH).text)):
            pass
        assert "something is wrong" in said and "not in git yet" in said and "Mail is stored all the same." in said, said
        os.unlink(archive)
        os.rename(archive + ".away", archive)


def main():
    with Tap() as tap:
        for test in (all_is_well, what_goes_on_is_counted, messages_stand_in_their_hours, only_administrators_see_places, trouble_is_said):
            with Mailroom(sys.argv[1]) as m:
                tap.run(test.__name__, test, m)


main()
