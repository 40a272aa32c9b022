"""usage: team_servers.py PROGRAM - servers of one team on several machines: each with a storage root of its own, all on one PostgreSQL."""

import json
import os
import signal
import subprocess
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from mailroom import Mailroom  # noqa: E402
from postgres_server import HAS_POSTGRES, WHY_NOT, Postgres  # noqa: E402
from tap import Tap  # noqa: E402
from wire import Client, Events, call, modern_call, request  # noqa: E402

WAIT_S = 60


class Team(Mailroom):
    """Machines are storage roots: `on(n)` are the variables of the nth."""

    def __init__(self, program, postgres, name):
        super().__init__(program)
        self.postgres = postgres
        self.name = name
        self.url = postgres.make(name)

    def env(self, **more):
        return super().env(**{"DATABASE_URL": self.url, "LOG_LEVEL": "debug", "ATTACHMENT_ROOTS": self.dir, **more})

    def on(self, number):
        return {"STORAGE_ROOT": os.path.join(self.dir, f"machine{number}")}

    def serve_on(self, number, **env):
        return self.serve(env={**self.on(number), **env})

    def call(self, server, tool, status=200, **arguments):
        got, _, text = server.request("POST", f"/api/tools/{tool}", {"Content-Type": "application/json"},
            json.dumps({"project_key": self.dir} | arguments))
        assert got == status, (tool, got, text)
        return json.loads(text)

    def register(self, server, *names):
        for name in names:
            self.call(server, "register_agent", name=name, program="codex", model="x")

    def sql(self, text):
        return self.postgres.sql(text, self.name)

    def check(self, number):
        return self.json_of(self.run("--json", "team", "check", env=self.on(number)))

    @staticmethod
    def json_of(done):
        return json.loads(done.stdout)


def until(condition):
    """The condition's first true value."""
    end = time.monotonic() + WAIT_S
    while not (found := condition()):
        assert time.monotonic() < end, "it never came true"
        time.sleep(0.05)
    return found


def kept_at(m, number):
    """The archive is kept on that machine, and shows all that the database has."""
    where = m.on(number)["STORAGE_ROOT"]
    kept = m.sql("SELECT name FROM archive_places WHERE is_kept = 1 AND is_whole = 1")
    return kept.endswith(":" + where) and m.sql("SELECT count(*) FROM archive_queue") == "0"


def project_dir(m, number):
    root = os.path.join(m.on(number)["STORAGE_ROOT"], "projects")
    return os.path.join(root, os.listdir(root)[0])


def archived(m, number):
    """The names of the files in the newest commit."""
    return subprocess.run(["git", "-c", "safe.directory=*", "ls-tree", "-r", "--name-only", "HEAD"], cwd=project_dir(m, number), stdout=subprocess.PIPE, text=True,
        check=True).stdout


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


TESTS = [the_archive_goes_to_who_is_left, a_session_is_known_to_all, news_come_at_the_server_that_is_listened_to,
    a_call_goes_on_at_another_server, what_a_client_carries_is_read_by_all]

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
