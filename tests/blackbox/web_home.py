"""usage: web_home.py PROGRAM - the home page, and the stream of events that pages listen to, over plain HTTP."""

import os
import sys
import urllib.parse

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import team_scene  # noqa: E402
from mailroom import Mailroom  # noqa: E402
from tap import Tap  # noqa: E402
from webs import Listener, api, number_of, page, project  # noqa: E402

NASTY = "<script>alert(1)</script><img src=x onerror=alert(2)>\"'&amp;"


def what_needs_a_person_is_on_it(m):
    with m.serve() as server:
        ids = team_scene.lively(server)
        text = page(server, "/mail").text
        assert "asks to write to RedStone" in text and "I want to describe the new search" in text, text
        for name, task in team_scene.AGENTS.items():
            assert name in text and task in text, (name, text)
        assert "<code class=\"lease\">src/price/**</code>" in text and "Nothing." not in text, text
        assert "Search asks for prices, too" in text, text
        # What is no longer asked for goes.
        api(server, "respond_contact", project_key="/srv/shop", to_agent="RedStone", from_agent="PurpleFox",
            from_project="/srv/docs", accept=True)
        assert "asks to write" not in page(server, "/mail").text
        assert ids["plan"] and m.json("team", "attention")["requests"] == []


def overdue_acknowledgements_and_quiet_holders_are_on_it(m):
    env = {"ACK_TTL_SECONDS": "1", "FILE_RESERVATION_INACTIVITY_SECONDS": "1", "FILE_RESERVATIONS_CLEANUP_ENABLED": "false",
        "ACK_ESCALATION_ENABLED": "false"}
    with m.serve(env=env) as server:
        team_scene.lively(server)
        while "Overdue acknowledgements" not in (text := page(server, "/mail").text) or "gone quiet" not in text:
            pass
        assert "BlueLake waits in srv-shop" in text and "Price service: plan" in text, text
        shown = m.run("team", "attention", env=env).stdout
        for words in ("Contact requests", "Acknowledgements that are overdue", "Leases whose holders have gone quiet", "Agents"):
            assert words in shown, shown


def names_on_it_are_text(m):
    with m.serve() as server:
        project(server, "/srv/" + NASTY, {"BlueLake": NASTY, "GreenCastle": NASTY})
        slug = api(server, "list_projects")["result"][0]["slug"]
        api(server, "send_message", project_key=slug, sender_name="BlueLake", to=["GreenCastle"], subject=NASTY, body_md=NASTY)
        api(server, "file_reservation_paths", project_key=slug, agent_name="BlueLake", paths=[NASTY.replace("/", "")])
        text = page(server, "/mail").text
        assert text.count("&lt;script&gt;alert(1)") >= 3 and "<script>" not in text and "<img src" not in text, text


def a_shell_shows_the_same(m):
    assert m.run("team", "attention").stdout == "Nothing needs you, and nobody works here yet.\n"
    assert m.json("team", "attention") == {"projects": 0, "letters": [], "requests": [], "owed": [], "left": [], "working": []}


def whatever_has_a_name_is_found(m):
    with m.serve() as server:
        team_scene.lively(server)
        project(server, "/srv/" + NASTY, {"GoldLake": NASTY})

        def found(query):
            return [(one["project"], one.get("agent")) for one in m.json("team", "find", query)["result"]]
        assert found("refunds") == [("srv-shop", "GreenCastle")] and found("RV/DO") == [("srv-docs", None)]
        assert sorted(agent for _, agent in found("lake")) == ["BlueLake", "GoldLake"]
        # What stands for anything in a pattern stands for itself.
        assert found("%") == found("_") == found("\\") == found("no such thing") == []
        assert len(m.json("team", "find")["result"]) == 3 + 5 and len(m.json("team", "find", "--limit", "1")["result"]) == 2
        text = page(server, "/mail/open?query=" + urllib.parse.quote(NASTY.lower())).text
        assert "GoldLake" in text and "<script>" not in text and "<img src" not in text, text
        assert "Nothing is called so" in page(server, "/mail/open?query=zzz").text


def a_change_is_told_at_once_and_the_page_has_its_number(m):
    with m.serve() as server:
        team_scene.lively(server)
        before = number_of(server)
        with Listener(server) as listener:
            assert listener.response.status == 200
            assert listener.response.headers["Content-Type"] == "text/event-stream", listener.response.headers
            assert listener.response.headers["Cache-Control"] == "no-cache, no-transform", listener.response.headers
            first = listener.wait_for_other(before)
            assert int(number_of(server)) >= int(first)
            # A message, a mark and a lease, each of which somebody may look at.
            for tool, arguments in (
                    ("send_message", {"sender_name": "BlueLake", "to": ["GreenCastle"], "subject": "s", "body_md": "b"}),
                    ("acknowledge_message", {"agent_name": "GreenCastle", "message_id": 1}),
                    ("release_file_reservations", {"agent_name": "BlueLake"})):
                api(server, tool, project_key="/srv/shop", **arguments)
                last = first
                first = listener.wait_for_other(last)
                assert int(first) > int(last), (first, last)
        # What another process has changed, too.
        with Listener(server) as listener:
            number = listener.next()[1]
            m.json("team", "send", "srv-shop", "BlueLake", "--to", "GreenCastle", "--subject", "s", "--body-md", "b")
            listener.wait_for_other(number)


def strangers_are_told_nothing(m):
    with m.serve(env={"HTTP_ALLOW_LOCALHOST_UNAUTHENTICATED": "false", "HTTP_BEARER_TOKEN": "s3cret"}) as server:
        with Listener(server) as listener:
            assert listener.response.status == 401, listener.response.status
        with Listener(server, Authorization="Bearer s3cret") as listener:
            assert listener.response.status == 200 and listener.next()[0] == "change"
        assert page(server, "/mail/sign-in").text.count("data-live") == 0
    with m.serve() as server:
        assert page(server, "/mail/live", Host="elsewhere.invalid").status == 403
        # Nothing to ask for again: no page has such an address.
        assert "data-live" not in page(server, "/mail/nix").text


def many_listen_and_the_server_ends_well(m):
    with m.serve() as server:
        project(server, "/srv/shop", {"BlueLake": "a"})
        listeners = [Listener(server) for _ in range(50)]
        try:
            numbers = [listener.next()[1] for listener in listeners]
            api(server, "register_agent", project_key="/srv/shop", name="RedStone", program="p", model="m")
            assert all(listener.wait_for_other(number) for listener, number in zip(listeners, numbers))
            for listener in listeners[::2]:
                listener.connection.close()
            assert server.stop() == 0
        finally:
            for listener in listeners:
                listener.connection.close()


TESTS = (what_needs_a_person_is_on_it, overdue_acknowledgements_and_quiet_holders_are_on_it, names_on_it_are_text,
    a_shell_shows_the_same, whatever_has_a_name_is_found, a_change_is_told_at_once_and_the_page_has_its_number, strangers_are_told_nothing,
    many_listen_and_the_server_ends_well)


def main():
    with Tap() as tap:
        for test in TESTS:
            with Mailroom(sys.argv[1]) as m:
                tap.run(test.__name__.replace("_", " "), test, m)


main()
