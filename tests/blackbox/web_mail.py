"""usage: web_mail.py PROGRAM - the pages of a team's mail, over plain HTTP: lists, messages, conversations."""

import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from mailroom import Mailroom  # noqa: E402
from tap import Tap  # noqa: E402
from webs import api, page, project  # noqa: E402

SHOP, INFRA = "/srv/shop", "/srv/infra"
NASTY = "<script>alert(1)</script><img src=x onerror=alert(2)>\"'&amp;"
OVERSEER = "HumanOverseer"


def team(server):
    project(server, SHOP, {"BlueLake": "the cart", "RedStone": "payments", "GreenCastle": "checkout"})
    project(server, INFRA, {"WhitePeak": "terraform"})


def send(server, key, sender, to, subject, body="A text.", **more):
    """The id of the message."""
    sent = api(server, "send_message", project_key=key, sender_name=sender, to=to, subject=subject, body_md=body, **more)
    return sent["deliveries"][0]["payload"]["id"]


def subjects(text):
    """Of a list, in their order."""
    return re.findall(r'<span class="what"><a href="[^"]*">([^<]*)</a>', text)


def an_empty_inbox_says_so(m):
    with m.serve() as server:
        for path in ("/mail/inbox", "/mail/inbox?only=urgent", "/mail/inbox?only=unread", "/mail/inbox?cursor=1"):
            answer = page(server, path)
            assert answer.status == 200 and 'class="empty"' in answer.text, (path, answer)


def an_inbox_has_the_mail_of_all_projects(m):
    with m.serve() as server:
        team(server)
        send(server, SHOP, "BlueLake", ["RedStone", "GreenCastle"], "Cart", "The **totals** are\nin cents.", importance="high",
            ack_required=True)
        send(server, INFRA, "WhitePeak", ["BlueLake@shop"], "Staging")
        send(server, SHOP, "RedStone", ["BlueLake"], "Retries")
        text = page(server, "/mail/inbox").text
        assert subjects(text) == ["Retries", "Staging", "Cart"], text
        assert ">shop</a>" in text and ">infra</a>" in text and "→ RedStone, GreenCastle" in text, text
        assert '<span class="chip warn">high</span>' in text and "Waits for RedStone, GreenCastle" in text, text
        assert "in cents." in text, text
        # What came from elsewhere to one of its agents belongs to a project, too.
        assert subjects(page(server, "/mail/p/shop/inbox").text) == ["Retries", "Staging", "Cart"]
        assert subjects(page(server, "/mail/p/infra/inbox").text) == ["Staging"]


def an_inbox_can_be_narrowed(m):
    with m.serve() as server:
        team(server)
        send(server, SHOP, "BlueLake", ["RedStone"], "plain")
        send(server, SHOP, "BlueLake", ["RedStone"], "urgent", importance="urgent")
        asked = send(server, SHOP, "BlueLake", ["RedStone", "GreenCastle"], "asked", ack_required=True)
        for only, expected in (("urgent", ["urgent"]), ("waiting", ["asked"]), ("attachments", []), ("overseer", []),
                ("all", ["asked", "urgent", "plain"])):
            for path in ("/mail/inbox", "/mail/p/shop/inbox"):
                found = subjects(page(server, f"{path}?only={only}").text)
                assert found == expected, (path, only, found)
        for agent in ("RedStone", "GreenCastle"):
            api(server, "acknowledge_message", project_key=SHOP, agent_name=agent, message_id=asked)
        assert subjects(page(server, "/mail/inbox?only=waiting").text) == []
        answer = page(server, "/mail/inbox?only=nonsense")
        assert answer.status == 400 and "only" in answer.text, answer


def lists_go_on_where_they_stopped(m):
    with m.serve() as server:
        team(server)
        for number in range(120):
            send(server, SHOP, "BlueLake", ["RedStone"], f"number {number}", importance="urgent" if number % 2 else "normal")
        for path, count in (("/mail/inbox", 120), ("/mail/p/shop/inbox?only=all", 120), ("/mail/inbox?only=urgent", 60)):
            seen = []
            while path:
                text = page(server, path).text
                seen += subjects(text)
                found = re.search(r'rel="next" href="([^"]+)"', text)
                path = found and found[1].replace("&amp;", "&")
            assert len(seen) == count and len(set(seen)) == count, (count, seen)
            assert ">Newest</a>" in text, text


def a_message_says_who_acknowledged_it(m):
    with m.serve() as server:
        team(server)
        number = send(server, SHOP, "BlueLake", ["RedStone", "GreenCastle"], "Plan", "# Plan\n\n- **one**\n- two", ack_required=True)
        api(server, "acknowledge_message", project_key=SHOP, agent_name="RedStone", message_id=number)
        api(server, "mark_message_read", project_key=SHOP, agent_name="GreenCastle", message_id=number)
        text = page(server, f"/mail/p/shop/message/{number}").text
        assert "<li><strong>one</strong></li>" in text, text
        assert "RedStone acknowledged" in text and "GreenCastle read, owes an acknowledgement" in text, text


def what_agents_write_is_text(m):
    with m.serve() as server:
        project(server, "/srv/" + NASTY, {"BlueLake": NASTY, "RedStone": "r"})
        key = api(server, "list_projects")["result"][0]["slug"]
        number = send(server, key, "BlueLake", ["RedStone"], NASTY, NASTY + "\n\n[x](javascript:alert(3)) ![y](http://evil.invalid/y.png)",
            thread_id="T<b>\"'&")
        for path in ("/mail/inbox", "/mail/projects", f"/mail/p/{key}", f"/mail/p/{key}/inbox", f"/mail/p/{key}/message/{number}"):
            text = page(server, path).text
            assert "<script>alert" not in text and "<img src=x" not in text and not re.search(r"href=\"javascript:|src=\"http", text), (path, text)
            assert "&lt;script&gt;" in text, (path, text)


def what_is_not_there_is_said(m):
    with m.serve() as server:
        team(server)
        number = send(server, INFRA, "WhitePeak", ["WhitePeak"], "own")
        for path in (f"/mail/p/shop/message/{number}", "/mail/p/shop/message/99", "/mail/p/nix/inbox"):
            answer = page(server, path)
            assert answer.status == 404 and "<h1>Not found</h1>" in answer.text, (path, answer)
        assert page(server, "/mail/p/shop/message/x").status == 400


def main():
    with Tap() as tap, Mailroom(sys.argv[1]) as m:
        for test in (an_empty_inbox_says_so, an_inbox_has_the_mail_of_all_projects, an_inbox_can_be_narrowed,
                lists_go_on_where_they_stopped, a_message_says_who_acknowledged_it, what_agents_write_is_text,
                what_is_not_there_is_said):
            # Each has a team of its own.
            with Mailroom(m.program) as own:
                tap.run(test.__name__, test, own)


main()
