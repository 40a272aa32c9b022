"""usage: team_servers.py PROGRAM - servers of one team on several machines: each with a storage root of its own, all on one PostgreSQL."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from mailroom import describe  # noqa: E402
from postgres_server import HAS_POSTGRES, WHY_NOT, Postgres  # noqa: E402
from tap import Tap  # noqa: E402
from team_machines import Team, archived, kept_at, project_dir, until  # noqa: E402
from webs import Listener  # noqa: E402
from wire import Client, Events, call, modern, modern_call, modern_headers, request  # noqa: E402

def the_archive_goes_to_who_is_left(m):
    with m.serve_on(1) as one:
        m.register(one, "GreenCastle", "BlueLake")
        m.write("notes.txt", "what was attached")
        m.call(one, "send_message", sender_name="GreenCastle", to=["BlueLake"], subject="first", body_md="b",
            attachment_paths=["notes.txt"], thread_id="T-1")
        m.call(one, "file_reservation_paths", agent_name="BlueLake", paths=["src/**"])
        until(lambda: kept_at(m, 1))
        with m.serve_on(2) as two:
            m.call(two, "send_message", sender_name="BlueLake", to=["GreenCastle"], subject="second", body_md="b", thread_id="T-1")
            until(lambda: kept_at(m, 1))
            assert "__second__" in archived(m, 1)
            assert not os.path.exists(os.path.join(m.on(2)["STORAGE_ROOT"], "projects", os.path.basename(project_dir(m, 1)), ".git"))
            # Elsewhere a check looks at the database alone, and says where the archive is.
            told = m.check(2)
            assert told["ok"] and told["kept_by"].endswith(m.on(1)["STORAGE_ROOT"]), told
            one.process.send_signal(signal.SIGKILL)
            one.process.wait()
            killed = time.monotonic()
            m.call(two, "send_message", sender_name="GreenCastle", to=["BlueLake"], subject="third", body_md="b", thread_id="T-1")
            until(lambda: kept_at(m, 2))
            took = time.monotonic() - killed
            told = m.check(2)
            assert told["ok"] and "kept_by" not in told and told["messages"] == 3, told
            files = archived(m, 2)
            assert all(f"__{subject}__" in files for subject in ("first", "second", "third")), (files,)
            # What was attached on the machine that is gone is there, too.
            assert "attachments/" in files and ".txt" in files, (files,)
            print(f"# taken over and complete after {took:.1f} s")
            # The first machine comes back with an older archive, and waits for its turn.
            with m.serve_on(1) as again:
                m.call(again, "send_message", sender_name="BlueLake", to=["GreenCastle"], subject="fourth", body_md="b")
                until(lambda: kept_at(m, 2))
                m.json("team", "agents", m.dir, env=m.on(1))
                assert two.stop() == 0
                until(lambda: kept_at(m, 1))
                told = m.check(1)
                assert told["ok"] and told["messages"] == 4, told
                assert "__third__" in archived(m, 1)


class Balanced:
    """One client of MCP, whose requests go where they are sent: `at(server)` is it at that server."""

    def __init__(self):
        self.session = None

    def at(self, server):
        client = Client(server)
        client.session, client.version = self.session, "2025-11-25"
        return client

    def open(self, server, **capabilities):
        client = Client(server)
        client.open(**capabilities)
        self.session = client.session
        return self


FIXTURES = {"MCP_CONFORMANCE_FIXTURES": "true", "MCP_TOOLS_MODE": "extended", "MCP_TOOLS_DETAIL": "full"}


def inbox_uri(m, name):
    return f"resource://inbox/{name}?project={m.dir}"


def subscribed(client, uri):
    status, _, answer = client.post(request("resources/subscribe", {"uri": uri}))
    assert status == 200 and "result" in answer, answer


def a_session_is_known_to_all(m):
    with m.serve_on(1, **FIXTURES) as one, m.serve_on(2, **FIXTURES) as two:
        m.register(one, "GreenCastle", "BlueLake")
        c = Balanced().open(one)
        assert c.at(two).post(request("tools/list", {}))[0] == 200
        assert c.at(two).post(request("ping", {}))[2]["result"] == {}
        # One that was made up is none.
        stranger = c.at(two)
        stranger.session = "x" * 32
        assert stranger.post(request("ping", {}))[0] == 404
        # It outlives the server that opened it.
        one.process.kill()
        one.process.wait()
        assert c.at(two).post(request("ping", {}))[0] == 200
        with m.serve_on(1, **FIXTURES) as one_again:
            assert c.at(one_again).post(request("ping", {}))[0] == 200
            # And ends everywhere.
            assert c.at(two).ask("DELETE")[0] in (200, 204)
            until(lambda: c.at(one_again).post(request("ping", {}))[0] == 404)
            assert c.at(two).post(request("ping", {}))[0] == 404


def news_come_at_the_server_that_is_listened_to(m):
    with m.serve_on(1) as one, m.serve_on(2) as two, m.serve_on(3) as three:
        m.register(one, "GreenCastle", "BlueLake")
        c = Balanced().open(one)
        connection, response, events = c.at(two).listen()
        assert response.status == 200 and events.next()[1] is None
        # Subscribed to at a third server, after the stream was opened.
        subscribed(c.at(three), inbox_uri(m, "BlueLake"))
        until(lambda: m.sql("SELECT count(*) FROM client_subscriptions") == "1")
        # The stream's server hears of the subscription, and what comes after that is told there.
        sent = 0
        told = []

        def hear():
            told.append(events.next())

        thread = threading.Thread(target=hear)
        thread.start()
        while thread.is_alive():
            m.call(one, "send_message", sender_name="GreenCastle", to=["BlueLake"], subject=f"n{sent}", body_md="b")
            sent += 1
            thread.join(0.2)
        last, message = told[0]
        assert message["method"] == "notifications/resources/updated", message
        assert message["params"]["uri"] == inbox_uri(m, "BlueLake"), message
        connection.close()
        # It comes back at another server, which says what may have been missed, and goes on.
        connection, response, events = c.at(three).listen(last)
        assert response.status == 200, response.status
        while (event := events.next())[1] is None:
            pass
        assert event[1]["params"]["uri"] == inbox_uri(m, "BlueLake"), event
        # Unsubscribed at one server, it is over at all.
        assert c.at(one).post(request("resources/unsubscribe", {"uri": inbox_uri(m, "BlueLake")}))[0] == 200
        assert m.sql("SELECT count(*) FROM client_subscriptions") == "0"
        connection.close()


def a_call_goes_on_at_another_server(m):
    with m.serve_on(1, **FIXTURES) as one, m.serve_on(2, **FIXTURES) as two:
        m.register(one, "GreenCastle", "BlueLake")
        c = Balanced().open(one, sampling={}, elicitation={})
        # It waits at one; its client is cut off, and comes back at two.
        connection, response = c.at(one).send("POST", call("wait_for_mail", id=7, project_key=m.dir, agent_name="BlueLake",
            timeout_seconds=50, since=0))
        assert response.headers["Content-Type"] == "text/event-stream", response.headers
        first = response.readline().decode()
        assert first.startswith("id: "), first
        connection.close()
        connection, response, events = c.at(two).listen(first[4:].strip())
        assert response.status == 200, (response.status, response.read())
        m.call(two, "send_message", sender_name="GreenCastle", to=["BlueLake"], subject="over there", body_md="b")
        last, answer = events.rest()[-1]
        assert answer["id"] == 7 and "over there" in json.dumps(answer["result"]), answer
        connection.close()
        # Once more at the first: what is kept is told again.
        stream, number = last.split("-")
        connection, response, events = c.at(one).listen(f"{stream}-{int(number) - 1}")
        assert [message["id"] for _, message in events.rest()] == [7]
        connection.close()
        # A question asked by one is answered at two.
        connection, response = c.at(one).send("POST", call("test_sampling", id=8, prompt="Why?"))
        question = None
        events = Events(response)
        while question is None:
            question = events.next()[1]
        assert question["method"] == "sampling/createMessage", question
        status, _, _ = c.at(two).post({"jsonrpc": "2.0", "id": question["id"],
            "result": {"role": "assistant", "content": {"type": "text", "text": "Because."}, "model": "m"}})
        assert status == 202, status
        assert "Because." in json.dumps(events.rest()[-1][1]), "no answer"
        connection.close()
        # And a call at one is cancelled at two.
        connection, response = c.at(one).send("POST", call("wait_for_mail", id=9, project_key=m.dir, agent_name="BlueLake",
            timeout_seconds=50))
        response.readline()
        status, _, _ = c.at(two).post({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 9}})
        assert status == 202
        until(lambda: not response.readline())
        connection.close()
        # A stream of a server that is gone cannot be resumed, and that is said within seconds.
        connection, response = c.at(one).send("POST", call("wait_for_mail", id=10, project_key=m.dir, agent_name="BlueLake",
            timeout_seconds=50))
        first = response.readline().decode()
        one.process.kill()
        one.process.wait()
        connection.close()
        connection, response, events = c.at(two).listen(first[4:].strip())
        assert response.status == 400 and b"Last-Event-ID" in response.read(), response.status
        connection.close()


def what_a_client_carries_is_read_by_all(m):
    tool = "test_input_required_result_request_state"
    with m.serve_on(1, **FIXTURES) as one, m.serve_on(2, **FIXTURES) as two:
        able = {"elicitation": {}}
        asked = modern_call(Client(one), tool, 8, able)[2]["result"]
        said = {key: {"action": "accept", "content": {"ok": True}} for key in asked["inputRequests"]}
        done = modern_call(Client(two), tool, 8, able, inputResponses=said, requestState=asked["requestState"])[2]
        assert done["result"]["resultType"] == "complete", done


def a_take_over_that_dies_is_gone_on_with(m):
    with m.serve_on(1) as one:
        m.register(one, "GreenCastle", "BlueLake")
        m.call(one, "send_message", sender_name="GreenCastle", to=["BlueLake"], subject="first", body_md="b")
        until(lambda: kept_at(m, 1))
    for point in ("place.taken", "place.project_queued", "archive.committed"):
        # It may be killed before it has greeted.
        dying = subprocess.Popen([m.program, "serve", "--port", "0"], cwd=m.dir, env=m.env(**m.on(2), MAILROOM_CRASH_AT=point),
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        assert dying.wait(60) == -signal.SIGKILL, point
    with m.serve_on(2):
        until(lambda: kept_at(m, 2))
        told = m.check(2)
        assert told["ok"] and told["messages"] == 1, told


def who_stands_still_is_replaced(m):
    with m.serve_on(1) as one:
        m.register(one, "GreenCastle", "BlueLake")
        until(lambda: kept_at(m, 1))
        with m.serve_on(2) as two:
            one.process.send_signal(signal.SIGSTOP)
            stopped = time.monotonic()
            try:
                m.call(two, "send_message", sender_name="GreenCastle", to=["BlueLake"], subject="meanwhile", body_md="b")
                until(lambda: kept_at(m, 2))
                print(f"# taken over after {time.monotonic() - stopped:.1f} s")
            finally:
                one.process.send_signal(signal.SIGCONT)
            # It goes on, as one that does not archive.
            m.call(one, "send_message", sender_name="BlueLake", to=["GreenCastle"], subject="awake", body_md="b")
            until(lambda: kept_at(m, 2) and "__awake__" in archived(m, 2))
            assert m.check(2)["ok"]


def whoever_waits_is_woken_by_another_server(m):
    with m.serve_on(1) as one, m.serve_on(2) as two, contextlib.ExitStack() as stack:
        m.register(one, "GreenCastle", "BlueLake")
        got = []
        poll = threading.Thread(target=lambda: got.append(m.call(two, "wait_for_mail", agent_name="BlueLake", timeout_seconds=50,
            since=0)))
        poll.start()
        watch = subprocess.Popen([m.program, "team", "watch", m.dir, "BlueLake", "--cursor", "0", "--count", "1", "--timeout", "50"],
            cwd=m.dir, env=m.env(**m.on(3)), stdout=subprocess.PIPE, text=True)
        body = modern("subscriptions/listen", {"notifications": {"resourceSubscriptions": [inbox_uri(m, "BlueLake")]}}, 1)
        connection, response = Client(two).send("POST", body, **modern_headers("subscriptions/listen"))
        stack.callback(connection.close)
        changes = Events(response)
        assert "acknowledged" in changes.next()[1]["method"]
        page = stack.enter_context(Listener(two))
        number = page.next()[1]
        m.call(one, "send_message", sender_name="GreenCastle", to=["BlueLake"], subject="over there", body_md="b")
        poll.join()
        assert "over there" in json.dumps(got), got
        assert "over there" in watch.stdout.readline() and watch.wait(60) == 0
        watch.stdout.close()
        assert changes.next()[1]["params"]["uri"] == inbox_uri(m, "BlueLake")
        page.wait_for_other(number)


def how_the_server_stands_is_told(m):
    with m.serve_on(1) as one:
        m.register(one, "GreenCastle")
        ready = until(lambda: (lambda said: said if "connections" in said else None)(json.loads(one.get("/health/readiness")[2])))
        assert ready["status"] == "ready" and ready["engine"] == "PostgreSQL" and ready["connections_max"] == 97, ready
        assert 1 <= ready["connections"] < 97 and 0 < ready["round_trip_us"], ready
        health = m.json("team", "health", env=m.on(1))
        assert health["engine"] == "PostgreSQL" and health["connections_max"] == 97 and health["status"] == "ok", health
        done = m.run("doctor", env={**m.on(1), "DATABASE_URL": m.url.replace("mailroom@", "mailroom:hunter2@")})
        assert "hunter2" not in done.stdout + done.stderr, describe(done)
        assert "PostgreSQL" in done.stdout and " of 97 connections in use" in done.stdout, describe(done)


def trouble_with_the_server_is_told(m):
    # No connection left.
    m.sql("CREATE ROLE guest LOGIN CONNECTION LIMIT 0")
    done = m.run("team", "agents", m.dir, env={**m.on(1), "DATABASE_URL": m.url.replace("mailroom@", "guest@")})
    assert done.returncode == 1 and "the server has no connection left" in done.stderr and "max_connections" in done.stderr, done
    with m.serve_on(1, DATABASE_TIMEOUT_SECONDS="5") as one:
        m.register(one, "GreenCastle", "BlueLake")
        # A table is locked by somebody: what waits for it ends in the stated time, and nothing is stored twice.
        locker = subprocess.Popen(["psql", "-X", "-q", "-h", m.postgres.dir, "-U", "mailroom", "-d", m.name], stdin=subprocess.PIPE,
            text=True)
        locker.stdin.write("BEGIN; LOCK TABLE messages;\n")
        locker.stdin.flush()
        until(lambda: m.sql("SELECT count(*) FROM pg_locks WHERE relation = 'messages'::regclass AND mode = 'AccessExclusiveLock' "
            "AND granted") == "1")
        asked = {"sender_name": "GreenCastle", "to": ["BlueLake"], "subject": "slow", "body_md": "b", "idempotency_key": "k"}
        begun = time.monotonic()
        told = m.call(one, "send_message", status=504, **asked)
        assert 4 < time.monotonic() - begun < 20 and "the statement took too long" in json.dumps(told), told
        locker.stdin.close()
        assert locker.wait(60) == 0
        m.call(one, "send_message", **asked)
        assert m.sql("SELECT count(*) FROM messages") == "1"


TESTS = [the_archive_goes_to_who_is_left, a_take_over_that_dies_is_gone_on_with, who_stands_still_is_replaced,
    whoever_waits_is_woken_by_another_server, a_session_is_known_to_all, news_come_at_the_server_that_is_listened_to,
    a_call_goes_on_at_another_server, what_a_client_carries_is_read_by_all, how_the_server_stands_is_told,
    trouble_with_the_server_is_told]

if __name__ == "__main__":
    with Tap() as tap:
        if not HAS_POSTGRES:
            for test in TESTS:
                tap.skip(test.__name__, WHY_NOT)
        else:
            with Postgres() as postgres:
                for test in TESTS:
                    with Team(sys.argv[1], postgres, test.__name__[:60]) as team:
                        tap.run(test.__name__, test, team)
