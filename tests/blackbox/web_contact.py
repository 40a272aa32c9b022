"""usage: web_contact.py PROGRAM - the page of contacts: who asks, the answers, and the policies."""

import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from mailroom import Mailroom  # noqa: E402
from tap import Tap  # noqa: E402
from webs import api, page, post, project  # noqa: E402

SHOP, STOCK = "/srv/shop", "/srv/stock"
PATH = "/mail/p/srv-shop/contacts"
NASTY = "<script>alert(1)</script>\"'&amp;"
TOKENS = {"HTTP_BEARER_TOKENS": "sees:reader,writes:writer", "HTTP_ALLOW_LOCALHOST_UNAUTHENTICATED": "false"}


def teams(server, policy="contacts_only"):
    project(server, SHOP, {"BlueLake": "checkout"})
    project(server, STOCK, {"SilverHawk": "stock"})
    api(server, "set_contact_policy", project_key=SHOP, agent_name="BlueLake", policy=policy)


def ask(server, reason="Stock levels"):
    """The number of the request."""
    return api(server, "request_contact", project_key=STOCK, from_agent="SilverHawk", to_agent="BlueLake", to_project=SHOP,
        reason=reason)["id"]


def status(m):
    return [link["status"] for link in m.json("team", "contact", "all", SHOP)["contacts"]]


def part(text, heading):
    return text.split(f"<h2>{heading}</h2>")[1].split("</section>")[0]


def nobody_asks(m):
    with m.serve() as server:
        teams(server)
        text = page(server, PATH).text
        assert "No agent waits for an answer" in text and "<h2>Answered</h2>" not in text, text
        assert m.run("team", "contact", "all", SHOP).stdout == "srv-shop has no contacts.\n"
        assert page(server, "/mail/p/nix/contacts").status == 404


def a_request_is_approved_and_blocked(m):
    with m.serve() as server:
        teams(server)
        link = ask(server)
        waiting = part(page(server, PATH).text, "Wait for an answer")
        assert "SilverHawk" in waiting and "Stock levels" in waiting and f"{link}/answer" in waiting, waiting
        answer = post(server, f"{PATH}/{link}/answer", status="approved", back=PATH)
        assert (answer.status, answer.headers["Location"]) == (303, PATH + "?done=contact-answer"), answer
        assert status(m) == ["approved"]
        text = page(server, PATH + "?done=contact-answer").text
        assert "Answered; the agent that asked has a message." in text and ">approved</span>" in part(text, "Answered"), text
        assert post(server, f"{PATH}/{link}/answer", status="blocked", back=PATH).status == 303
        assert status(m) == ["blocked"] and ">blocked</span>" in part(page(server, PATH).text, "Answered")
        told = api(server, "fetch_inbox", project_key=STOCK, agent_name="SilverHawk")["result"]
        assert len(told) == 2, told


def the_side_that_asks_sees_it_too(m):
    with m.serve() as server:
        teams(server)
        link = ask(server)
        text = page(server, "/mail/p/srv-stock/contacts").text
        assert f'action="/mail/p/srv-shop/contacts/{link}/answer"' in text, text


def a_policy_is_set(m):
    with m.serve() as server:
        teams(server)
        answer = post(server, f"{PATH}/BlueLake/policy", policy="block_all", back=PATH)
        assert answer.status == 303, answer
        assert api(server, "whois", project_key=SHOP, agent_name="BlueLake")["contact_policy"] == "block_all"
        assert re.search(r'value="block_all" selected', page(server, PATH).text)


def what_cannot_be_done_is_said(m):
    with m.serve() as server:
        teams(server)
        link = ask(server)
        for path, fields, code, text in ((f"{link}/answer", {"status": "perhaps"}, 400, "is no answer"),
                (f"{link + 1}/answer", {"status": "approved"}, 404, ""), (f"{link}/answer", {}, 400, "an answer is needed"),
                ("BlueLake/policy", {"policy": "nobody"}, 400, "is no contact policy"), ("Nobody/policy", {"policy": "open"}, 404, "Nobody")):
            answer = post(server, f"{PATH}/{path}", **fields)
            assert answer.status == code and text in answer.text, (path, fields, answer)
        assert post(server, f"{PATH}/{link}/answer", status="approved", csrf="nix").status == 403
        assert status(m) == ["pending"]


def readers_only_look(m):
    with m.serve() as server:
        teams(server)
        link = ask(server)
    with m.serve(env=TOKENS) as server:
        reader = {"Authorization": "Bearer sees"}
        text = page(server, PATH, **reader).text
        assert "SilverHawk" in text and "answer" not in "".join(re.findall(r'action="([^"]+)"', text)) and "<select" not in text, text
        assert "contacts only" in text
        assert post(server, f"{PATH}/{link}/answer", reader, status="approved").status == 403
        assert post(server, f"{PATH}/{link}/answer", {"Authorization": "Bearer writes"}, status="approved").status == 303
        assert status(m) == ["approved"]


def reasons_are_text(m):
    with m.serve() as server:
        teams(server)
        ask(server, NASTY)
        text = page(server, PATH).text
        assert "&lt;script&gt;alert(1)" in text and "<script>" not in text, text


def main():
    with Tap() as tap:
        for test in (nobody_asks, a_request_is_approved_and_blocked, the_side_that_asks_sees_it_too, a_policy_is_set,
                what_cannot_be_done_is_said, readers_only_look, reasons_are_text):
            with Mailroom(sys.argv[1]) as m:
                tap.run(test.__name__, test, m)


main()
