"""usage: jmap_client.py DRIVER - the JMAP client against a server that follows a script, and against Cyrus."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from certificates import Certificates  # noqa: E402
from cyrus_server import HAS_CYRUS_JMAP, NO_CYRUS, CyrusJmap  # noqa: E402
from jmap_client import Jmap  # noqa: E402
from jmap_driver import Client, fails  # noqa: E402
from jmap_server import HANG_UP, MAIL, PASSWORD, QUOTA, SUBMISSION, TOKEN, USER, Answer, JmapServer, problem, results, session  # noqa: E402
from mail_server import PASSWORD as ACCOUNT_PASSWORD  # noqa: E402
from tap import Tap  # noqa: E402


def ids(count):
    return [f"M{number}" for number in range(count)]


def got(call, state="e1"):
    """The answer to an Email/get."""
    assert call[0] == "Email/get", call
    return ["Email/get", {"accountId": "A1", "state": state, "list": [{"id": item} for item in call[1]["ids"]], "notFound": []}, call[2]]


def every_get(request):
    return results(*(got(call) for call in request.calls))


ECHO = ("Core/echo", {"x": "y"})
QUERY = results(["Email/query", {"ids": ["M1"]}, "0"])
LIST = ("Email/query", {"filter": {"inMailbox": "B1"}})


# --- the session ---

def test_session():
    with JmapServer([QUERY]) as server, Client(server.url) as client:
        found = client.say(session=1)
        assert found == {"url": server.url, "api": server.origin + "/api", "account": "A1", "submission": "A1", "calls": 16, "gets": 500,
            "events": server.origin + "/events?types={types}&closeafter={closeafter}&ping={ping}"}, found
        client.ask(LIST)
        client.ask(LIST)
        assert [request.path for request in server.requests] == ["/session", "/api", "/api"]
        assert server.connections == 1, "the connection is kept"
        sent = server.api()[0]
        assert sent.json == {"using": ["urn:ietf:params:jmap:core", MAIL],
            "methodCalls": [["Email/query", {"accountId": "A1", "filter": {"inMailbox": "B1"}}, "0"]]}, sent.body
        assert sent.headers["Content-Type"] == "application/json"
        assert sent.headers["Accept"] == "application/json;jmapVersion=rfc-8621"


def test_well_known():
    for there in (Answer(404), Answer(200, b"<html>welcome</html>", {"Content-Type": "text/html"}), Answer(405)):
        with JmapServer([QUERY]) as server:
            server.pages.update({"/": there, "/.well-known/jmap": Answer(301, headers={"Location": "/jmap/here"}),
                "/jmap/here": Answer(307, headers={"Location": server.origin + "/session"})})
            with Client(server.origin + "/") as client:
                assert client.say(session=1)["url"] == server.url
                client.ask(LIST)
    with JmapServer(pages={"/x": Answer(200, {"not": "a session"})}) as server:
        with Client(server.origin + "/x") as client:
            fails("remote_error", f"127.0.0.1:{server.http.server_address[1]}: what is at {server.origin}/x is not a JMAP session",
                client.say, session=1)
        with Client(server.origin + "/y") as client:
            fails("remote_error", f"has no JMAP session at {server.origin}/y (HTTP status 404)", client.say, session=1)
    with JmapServer(can=(QUOTA,)) as server, Client(server.url) as client:
        fails("not_found", "the server has no account for mail here", client.say, session=1)


def test_redirects():
    with JmapServer() as other, JmapServer([QUERY]) as server:
        server.pages["/away"] = Answer(302, headers={"Location": other.url})
        server.pages["/circle"] = Answer(302, headers={"Location": "/circle"})
        with Client(server.origin + "/away") as client:
            fails("remote_error", f"redirects to {other.origin}, where the credentials are not sent", client.say, session=1, word="not_done")
        assert not other.requests, "nothing goes there"
        with Client(server.origin + "/circle") as client:
            fails("remote_error", "redirects in a circle", client.say, session=1, word="not_done")
        # A POST stays one, or is not followed.
        server.session["apiUrl"] = "/moved"
        server.pages["/moved"] = Answer(308, headers={"Location": "/api"})
        with Client(server.url) as client:
            client.ask(LIST)
            assert server.requests[-1].method == "POST" and server.requests[-1].calls
            server.pages["/moved"] = Answer(303, headers={"Location": "/api"})
            fails("remote_error", "answered with HTTP status 303", client.ask, LIST, word="not_done")
        # And the addresses of a session lead nowhere else.
        server.session.update(session(other.origin))
        with Client(server.url) as client:
            assert client.say(session=1)["api"] == server.origin + "/api"
            client.ask(LIST)
        assert not other.requests


def test_changed_session():
    with JmapServer([QUERY]) as server, Client(server.url) as client:
        client.ask(LIST)
        server.session = session(state="s2", account="A2")
        server.script = [results(QUERY_ITEM, state="s2")]
        client.ask(LIST)
        client.ask(LIST)
        assert [request.calls[0][1]["accountId"] for request in server.api()] == ["A1", "A1", "A2"]
        # A server whose answers never name the session's state is not asked for it each time.
        server.script = [results(QUERY_ITEM, state="odd")]
        for _ in range(4):
            client.ask(LIST)
        assert [request.path for request in server.requests].count("/session") == 3


QUERY_ITEM = ["Email/query", {"ids": ["M1"]}, "0"]


def test_remembered_session():
    with JmapServer([QUERY]) as server, Client(server.url) as client:
        client.say(session=1)
        assert client.say(remember=1) == server.url
        client.ask(LIST)
        assert [request.path for request in server.requests] == ["/session", "/api"]
        client.say(remember=1)
        # What it names has moved since.
        server.pages["/api"] = Answer(404)
        server.session["apiUrl"] = "/api2"
        server.pages["/api2"] = QUERY
        assert client.ask(LIST)[0][1]["ids"] == ["M1"]
        client.say(remember=1)
        server.pages["/api2"] = lambda request: results(["error", {"type": "accountNotFound"}, "0"]
            if request.calls[0][1]["accountId"] == "A1" else QUERY_ITEM)
        server.session = session(account="A3", apiUrl="/api2")
        assert client.ask(LIST)[0][1]["ids"] == ["M1"]
        # One that was just fetched is right.
        server.pages["/api2"] = results(["error", {"type": "accountNotFound"}, "0"])
        fails("not_found", "Email/query: accountNotFound", client.call, "Email/query")


# --- requests ---

def test_using():
    def names(*calls):
        client.ask(*calls)
        return [name.rsplit(":", 1)[1] for name in server.api()[-1].json["using"]]

    with JmapServer([results()]) as server, Client(server.url) as client:
        assert names(ECHO) == ["core"]
        assert "accountId" not in server.api()[-1].calls[0][1]
        assert names(LIST, ("Thread/get", {"ids": []})) == ["core", "mail"]
        assert names(("EmailSubmission/set", {})) == ["core", "mail", "submission"]
        assert names(("Quota/get", {"ids": None})) == ["core", "quota"]
        fails("invalid", "Nonsense/get is no method that is known here", client.ask, ("Nonsense/get", {}))
        fails("remote_error", "the server did not answer Email/query", client.call, "Email/query")
    # Another account may be the one that sends.
    with JmapServer([results()]) as server:
        server.session["accounts"]["A9"] = {"accountCapabilities": {SUBMISSION: {}}}
        server.session["primaryAccounts"] = {MAIL: "A1", SUBMISSION: "A9"}
        with Client(server.url) as client:
            client.ask(("Identity/get", {"ids": None}), LIST, ("Email/get", {"accountId": "A7", "ids": []}))
            assert [call[1]["accountId"] for call in server.api()[-1].calls] == ["A9", "A1", "A7"]
    with JmapServer(can=(MAIL,)) as server, Client(server.url) as client:
        fails("forbidden", "does not let this account send mail", client.ask, ("EmailSubmission/set", {}), word="not_done")


def test_references():
    """They are left to the server in a request, and resolved by us between requests."""
    refer = {"#ids": {"resultOf": "0", "name": "Email/query", "path": "/ids"}}

    def serve(request):
        answers = []
        for name, args, number in request.calls:
            if name == "Email/query":
                answers.append([name, {"ids": ids(7)}, number])
            elif "#ids" in args:
                assert answers and args == {"accountId": "A1", **refer}
                answers.append(["error", {"type": "requestTooLarge"}, number] if many else
                    ["Email/get", {"list": [{"id": item} for item in ids(7)], "state": "e1", "notFound": []}, number])
            else:
                answers.append(got([name, args, number]))
        return results(*answers)

    for calls, gets, many, expected in ((16, 500, False, [2]), (1, 500, False, [1, 1]), (16, 3, True, [2, 1, 1, 1])):
        with JmapServer([serve], limits={"maxCallsInRequest": calls, "maxObjectsInGet": gets}) as server, Client(server.url) as client:
            answer = client.ask(LIST, ("Email/get", refer))
            assert [item["id"] for item in answer[1][1]["list"]] == ids(7), answer
            assert [name for name, _, _ in answer] == ["Email/query", "Email/get"]
            assert [len(request.calls) for request in server.api()] == expected, [request.calls for request in server.api()]
    # To what is not there.
    with JmapServer([results(["error", {"type": "serverFail"}, "0"])], limits={"maxCallsInRequest": 1}) as server, Client(server.url) as client:
        answer = client.ask(LIST, ("Email/get", refer))
        assert answer[1][0] == "error" and answer[1][1]["type"] == "invalidResultReference", answer
        answer = client.ask(("Email/get", refer))
        assert answer[0][1]["type"] == "invalidResultReference", answer


def test_many_objects():
    with JmapServer([every_get], limits={"maxObjectsInGet": 4}) as server, Client(server.url) as client:
        answer = client.ask(("Email/get", {"ids": ids(10), "properties": ["id"]}))
        assert [item["id"] for item in answer[0][1]["list"]] == ids(10) and len(answer) == 1
        assert [len(request.calls[0][1]["ids"]) for request in server.api()] == [4, 4, 2]
        assert all(request.calls[0][1]["properties"] == ["id"] for request in server.api())
        # A piece that fails fails all of it.
        server.script = [every_get, results(["error", {"type": "serverFail", "description": "oh"}, "0"])]
        answer = client.ask(("Email/get", {"ids": ids(9)}))
        assert answer == [["error", {"type": "serverFail", "description": "oh"}, "0"]], answer


def set_all(request, state):
    name, args, number = request.calls[0]
    return results([name, {"oldState": args.get("ifInState", "?"), "newState": state, "created": {key: {"id": "X" + key} for key in args.get("create") or {}},
        "updated": dict.fromkeys(args.get("update") or {}), "destroyed": args.get("destroy") or []}, number])


def test_many_changes():
    change = {"create": {f"c{number}": {} for number in range(3)}, "update": {f"u{number}": {"keywords/a": True} for number in range(3)},
        "destroy": [f"d{number}" for number in range(2)], "ifInState": "e0"}
    with JmapServer([lambda r: set_all(r, "e1"), lambda r: set_all(r, "e2"), lambda r: set_all(r, "e3")],
            limits={"maxObjectsInSet": 3}) as server, Client(server.url) as client:
        answer = client.write(("Email/set", change))[0][1]
        assert sorted(answer["created"]) == ["c0", "c1", "c2"] and sorted(answer["updated"]) == ["u0", "u1", "u2"]
        assert answer["destroyed"] == ["d0", "d1"] and answer["oldState"] == "e0" and answer["newState"] == "e3"
        assert [request.calls[0][1]["ifInState"] for request in server.api()] == ["e0", "e1", "e2"], "each on the state that the last left"
        # Somebody else changes something in between: what was not done is said of each object.
        server.script = [lambda r: set_all(r, "e1"), results(["error", {"type": "stateMismatch"}, "0"])]
        answer = client.write(("Email/set", change))[0][1]
        assert sorted(answer["created"]) == ["c0", "c1", "c2"] and not answer.get("updated")
        assert answer["notUpdated"]["u1"]["type"] == "stateMismatch" and answer["notDestroyed"]["d0"]["type"] == "stateMismatch"
        server.script = [results(["error", {"type": "stateMismatch"}, "0"])]
        fails("conflict", "Email/set: stateMismatch", client.call, "Email/set", word="state_changed", **change)


def test_large_requests():
    texts = {f"u{number}": {"keywords/" + "k" * 600: True} for number in range(8)}
    with JmapServer([lambda r: set_all(r, "e1")], limits={"maxSizeRequest": 3000}) as server, Client(server.url) as client:
        answer = client.write(("Email/set", {"update": texts}))[0][1]
        assert sorted(answer["updated"]) == sorted(texts)
        assert len(server.api()) > 2 and all(len(request.body) <= 3000 for request in server.api())
        # Calls that do not fit beside each other.
        server.script = [every_get]
        done = len(server.api())
        client.ask(*(("Email/get", {"ids": [letter * 900]}) for letter in "abcd"))
        assert [len(request.calls) for request in server.api()[done:]] == [2, 2]
        fails("too_large", "Email/set: the call is larger than the 3000 bytes", client.write,
            ("Email/set", {"create": {"a": {"subject": "x" * 4000}}}), word="not_done")


def test_created_ids():
    """What one request created, the next can name."""
    def serve(request):
        name, args, number = request.calls[0]
        return results([name, {"created": {key: {"id": "X" + key} for key in args["create"]}}, number])

    with JmapServer([serve], limits={"maxCallsInRequest": 1}) as server, Client(server.url) as client:
        client.write(("Email/set", {"create": {"draft": {}}}), ("EmailSubmission/set", {"create": {"s": {"emailId": "#draft"}}}))
        assert server.api()[1].json["createdIds"] == {"draft": "Xdraft"}
        assert "createdIds" not in server.api()[0].json


# --- trouble ---

def test_busy():
    busy = Answer(429, headers={"Retry-After": "2"})
    with JmapServer([busy, Answer(503), problem(400, "limit", limit="maxConcurrentRequests"), QUERY]) as server, Client(server.url) as client:
        assert client.ask(LIST)[0][1]["ids"] == ["M1"]
        assert len(client.pauses) == 3 and client.pauses[0] == 2000 and 400 <= client.pauses[1] < 501 and 800 <= client.pauses[2] < 1001, client.pauses
        # What was refused was not done: changes are tried again too.
        server.script = [busy, lambda r: set_all(r, "e1")]
        client.write(("Email/set", {"destroy": ["M1"]}))
        # And not for ever.
        server.script = [Answer(503, {"detail": "in maintenance"})]
        fails("remote_error", "is busy (HTTP status 503): in maintenance", client.write, ("Email/set", {}), word="not_done")
        assert len(client.pauses) == 4
        server.script = [Answer(429, headers={"Retry-After": "3600"})]
        fails("remote_error", "is busy (HTTP status 429)", client.ask, LIST, word="not_done")
        assert not client.pauses, "so long nobody waits"


def test_busy_methods():
    later = ["error", {"type": "serverUnavailable"}, "1"]
    query = ["Email/query", {"ids": ["M1"]}, "0"]
    with JmapServer([results(query, later), lambda r: results(got(r.calls[0]))]) as server, Client(server.url) as client:
        answer = client.ask(LIST, ("Email/get", {"#ids": {"resultOf": "0", "name": "Email/query", "path": "/ids"}}))
        assert [item["id"] for item in answer[1][1]["list"]] == ["M1"]
        assert [call[1] for call in server.api()[1].calls] == [{"accountId": "A1", "ids": ["M1"]}], "only what failed is asked again"
        # A mail was made, its submission has to wait: the mail is not made twice.
        made = ["Email/set", {"created": {"m": {"id": "M5"}}, "newState": "e2"}, "0"]
        sent = ["EmailSubmission/set", {"created": {"s": {"id": "S1"}}}, "1"]
        moved = ["Email/set", {"updated": {"M5": None}}, "1"]
        send = (("Email/set", {"create": {"m": {}}}), ("EmailSubmission/set", {"create": {"s": {"emailId": "#m"}},
            "onSuccessUpdateEmail": {"#s": {"keywords/$draft": None}}}))
        for refusal in (["EmailSubmission/set", {"created": None, "notCreated": {"s": {"type": "rateLimit"}}}, "1"], later):
            done = len(server.api())
            server.script = [results(made, refusal), results(sent, moved)]
            assert client.write(*send) == [made, sent, moved]
            again = server.api()[done + 1]
            assert [call[0] for call in again.calls] == ["EmailSubmission/set"] and again.json["createdIds"] == {"m": "M5"}
        # What follows was done: nothing is asked again.
        server.script = [results(["error", {"type": "serverUnavailable"}, "0"], sent)]
        answer = client.write(*send)
        assert answer[0][0] == "error" and answer[1] == sent and not client.pauses
        server.script = [results(["error", {"type": "rateLimit", "description": "slow down"}, "0"])]
        fails("remote_error", "Email/query: rateLimit: slow down", client.call, "Email/query", word="not_done")
        assert len(client.pauses) == 4


def test_lost():
    with JmapServer([HANG_UP, QUERY]) as server, Client(server.url) as client:
        client.ask(LIST)
        for loss in (HANG_UP, Answer(200, QUERY.body + b"  ", cut=20)):
            server.script = [loss, QUERY]
            client.ask(LIST)
            server.script = [loss]
            fails("remote_error", "127.0.0.1", client.ask, LIST)
            assert len(client.pauses) == 1, "once"
            # Whether it was carried out nobody knows: it is not sent again.
            done = len(server.api())
            fails("remote_error", "127.0.0.1", client.write, ("Email/set", {}))
            assert len(server.api()) == done + 1 and not client.pauses
        # The same on a connection that was used before, where libcurl would send it again.
        for _ in range(3):
            server.script = [QUERY, HANG_UP]
            client.ask(LIST)
            done = len(server.api())
            fails("remote_error", "127.0.0.1", client.write, ("Email/set", {}))
            assert len(server.api()) == done + 1
        port = server.http.server_address[1]
    with Client(f"http://127.0.0.1:{port}/session") as client:
        fails("remote_error", f"127.0.0.1:{port}", client.write, LIST, word="not_done")
        assert not client.pauses


def test_slow():
    with JmapServer([QUERY]) as server, Client(server.url, timeout_ms=300) as client:
        client.say(session=1)
        server.script = [Answer(200, QUERY.body, wait=server.stopping)]
        fails("timeout", "did not answer in time", client.ask, LIST)
        fails("timeout", "did not answer in time", client.write, LIST)


def test_broken_answers():
    for answer, text in ((Answer(200, b'{"methodRes'), "line 1"), (Answer(200, {"x": 1}), "the answer is not a JMAP response"),
            (Answer(200, {"methodResponses": [["Email/get", {}]]}), "the answer is not a JMAP response"),
            (Answer(500, b"<html>oh</html>"), "answered with HTTP status 500"), (Answer(404), "does not answer at the address of its session")):
        with JmapServer([answer]) as server, Client(server.url) as client:
            fails("remote_error", text, client.ask, LIST, word="not_done" if answer.status == 404 else None)


def test_credentials():
    with JmapServer([QUERY]) as server:
        with Client(server.url, password="wrong password") as client:
            fails("unauthorized", f"refuses the credentials of {USER}", client.ask, LIST, word="not_done")
        with Client(server.url, user=None, password=None, bearer=TOKEN) as client:
            client.ask(LIST)
            # It expires.
            server.script = [problem(401, "", detail=f"{TOKEN} has expired")]
            fails("unauthorized", "refuses the credentials: (hidden)", client.ask, LIST, word="not_done")
            server.script = [Answer(403, {"detail": "not yours"})]
            fails("forbidden", "does not permit this: not yours", client.ask, LIST, word="not_done")
            server.script = [results(["error", {"type": "forbidden", "description": f"no {TOKEN}!"}, "0"])]
            fails("forbidden", "Email/query: forbidden: (hidden)", client.call, "Email/query")
    for url in ("ftp://127.0.0.1/", "127.0.0.1", f"http://{USER}:x@127.0.0.1/", ""):
        fails("invalid", "the JMAP server's address is no http or https URL", Client, url)
    fails("invalid", "a login with a colon cannot be sent", Client, "http://127.0.0.1/", user="a:b")


def test_errors():
    cases = (("invalidArguments", "invalid", None), ("unknownMethod", "remote_error", "not_done"), ("serverFail", "remote_error", None),
        ("cannotCalculateChanges", "conflict", "state_changed"), ("accountReadOnly", "forbidden", None), ("overQuota", "too_large", None),
        ("requestTooLarge", "too_large", None), ("anchorNotFound", "not_found", None), ("somethingNew", "invalid", None))
    with JmapServer([QUERY]) as server, Client(server.url) as client:
        for kind, code, word in cases:
            server.script = [results(["error", {"type": kind, "description": "two\nlines"}, "0"])]
            fails(code, f"Email/changes: {kind}: two lines", client.call, "Email/changes", sinceState="e1", word=word)
        for kind, code, word in (("invalidProperties", "invalid", None), ("forbiddenFrom", "forbidden", None), ("blobNotFound", "not_found", None),
                ("tooManyRecipients", "too_large", None), ("stateMismatch", "conflict", "state_changed"), ("alreadyExists", "exists", None)):
            server.script = [results(["Email/set", {"created": None, "notCreated": {"m": {"type": kind, "description": "because",
                "properties": ["keywords", "from"]}}}, "0"])]
            fails(code, f"{kind}: because (keywords, from)", client.say, method="Email/set", args={"create": {"m": {}}}, done="created",
                refused="notCreated", key="m", writes="yes", word=word)
        server.script = [results(["Email/set", {"created": {}}, "0"])]
        fails("remote_error", "the server did not say whether it is created", client.say, method="Email/set", args={"create": {"m": {}}},
            done="created", refused="notCreated", key="m", writes="yes")
        server.script = [results(["Email/set", {"updated": {"M1": None}}, "0"])]
        assert client.say(method="Email/set", args={"update": {"M1": {}}}, done="updated", refused="notUpdated", key="M1", writes="yes") is None
        for status, kind, code, text in ((400, "unknownCapability", "remote_error", "lacks a capability that is needed: what?"),
                (400, "notRequest", "invalid", "calls the request wrong: what?"), (413, "limit", "too_large", "the limit maxSizeRequest is reached: what?")):
            server.script = [problem(status, kind, detail="what?", limit="maxSizeRequest")]
            fails(code, text, client.ask, LIST, word="not_done")


def test_blobs():
    with JmapServer() as server, Client(server.url) as client:
        server.pages["/upload/A1/"] = Answer(201, {"blobId": "B/1", "type": "text/plain", "size": 5})
        assert client.say(upload="hello", type="text/plain") == "B/1"
        assert server.requests[-1].body == b"hello" and server.requests[-1].headers["Content-Type"] == "text/plain"
        assert client.say(upload="", type="text/plain") == "B/1" and server.requests[-1].headers["Content-Length"] == "0"
        server.pages["/download/A1/B%2F1/a%20name"] = Answer(200, b"hello", {"Content-Type": "text/plain"})
        assert client.say(download="B/1", type="text/plain", max=5) == "hello"
        assert server.requests[-1].path.endswith("?type=text%2Fplain")
        fails("too_large", "answered with more than 4 bytes", client.say, download="B/1", type="text/plain", max=4)
        fails("not_found", "download: ", client.say, download="B2", type="text/plain", max=4, word="not_done")
        fails("too_large", "1000001 bytes are more than the 1000000 that", client.say, upload="x" * 1000001, type="text/plain")
        server.pages["/upload/A1/"] = Answer(507)
        fails("too_large", "has no space left", client.say, upload="hello", type="text/plain")
        server.pages["/upload/A1/"] = Answer(200, {"size": 5})
        fails("remote_error", "did not name what was uploaded", client.say, upload="hello", type="text/plain")
    with JmapServer(uploadUrl=None, downloadUrl="") as server, Client(server.url) as client:
        fails("remote_error", "takes no uploads", client.say, upload="hello", type="text/plain")
        fails("remote_error", "takes no downloads", client.say, download="B1", type="text/plain", max=9)


def test_certificates():
    with Certificates() as certificates:
        for certificate, good in ((certificates.make(), True), (certificates.expired(), False), (certificates.of_another_host(), False)):
            with JmapServer([QUERY], certificate=certificate) as server:
                with Client(server.url, ca_file=certificates.ca) as client:
                    if good:
                        client.ask(LIST)
                    else:
                        fails("remote_error", "certificate", client.ask, LIST, word="not_done")
                if good:
                    assert server.connections == 1
                with Client(server.url) as client:  # nobody vouches for it
                    fails("remote_error", "certificate", client.ask, LIST, word="not_done")
                assert not [request for request in server.requests[2:] if request.headers.get("Authorization")]


# --- a real server ---

def test_cyrus():
    with CyrusJmap(["ann@example.test", "bob@example.test"]) as server:
        ann, bob = (Jmap(server.jmap_url, f"{name}@example.test") for name in ("ann", "bob"))
        for number in range(7):
            ann.put(f"From: bob@example.test\r\nTo: ann@example.test\r\nSubject: number {number}\r\nMessage-ID: <m{number}@example.test>\r\n"
                f"Date: Thu, 19 Nov 2026 12:00:0{number} +0000\r\n\r\nText {number}\r\n".encode())
        root = server.jmap_url.replace("/jmap/", "/")
        for url in (server.jmap_url, root):
            with Client(url, user="ann@example.test", password=ACCOUNT_PASSWORD) as client:
                boxes = client.call("Mailbox/get", ids=None)["list"]
                inbox = next(box["id"] for box in boxes if box["role"] == "inbox")
                answer = client.ask(("Email/query", {"filter": {"inMailbox": inbox}, "sort": [{"property": "sentAt"}], "limit": 5}),
                    ("Email/get", {"#ids": {"resultOf": "0", "name": "Email/query", "path": "/ids"}, "properties": ["subject"]}))
                assert sorted(mail["subject"] for mail in answer[1][1]["list"]) == [f"number {number}" for number in range(5)], answer
        with Client(server.jmap_url, user="ann@example.test", password=ACCOUNT_PASSWORD) as client:
            state = client.call("Email/get", ids=[])["state"]
            first = answer[0][1]["ids"][0]
            client.write(("Email/set", {"update": {first: {"keywords/$seen": True}}, "ifInState": state}))
            changes = client.call("Email/changes", sinceState=state)
            assert changes["updated"] == [first], changes
            fails("conflict", "Email/set: stateMismatch", client.call, "Email/set", update={first: {"keywords/$seen": None}}, ifInState=state,
                word="state_changed")
            text = "bytes\r\nwith lines\r\n"
            blob = client.say(upload=text, type="text/plain")
            assert client.say(download=blob, type="text/plain", max=1000) == text
            fails("not_found", "download: ", client.say, download="Gffffffffffffffffffffffffffffffffffffffff", type="text/plain", max=9, word="not_done")
            identity = client.call("Identity/get", ids=None)["list"][0]["id"]
            drafts = next(box["id"] for box in boxes if box["role"] == "drafts")
            sent = next(box["id"] for box in boxes if box["role"] == "sent")
            answer = client.write(("Email/set", {"create": {"m": {"mailboxIds": {drafts: True}, "from": [{"email": "ann@example.test"}],
                "to": [{"email": "bob@example.test"}], "subject": "hello", "bodyStructure": {"type": "text/plain", "partId": "1"},
                "bodyValues": {"1": {"value": "Hello Bob"}}}}}), ("EmailSubmission/set", {"create": {"s": {"emailId": "#m",
                "identityId": identity}}, "onSuccessUpdateEmail": {"#s": {f"mailboxIds/{drafts}": None, f"mailboxIds/{sent}": True}}}))
            assert [item[0] for item in answer] == ["Email/set", "EmailSubmission/set", "Email/set"] and answer[1][1]["created"]["s"], answer
        assert [mail["subject"] for mail in bob.mails("inbox")] == ["hello"]
        with Client(server.jmap_url, user="ann@example.test", password="wrong") as client:
            fails("unauthorized", "refuses the credentials of ann@example.test", client.call, "Mailbox/get", ids=None, word="not_done")


with Tap() as tap:
    for test in (test_session, test_well_known, test_redirects, test_changed_session, test_remembered_session, test_using, test_references,
            test_many_objects, test_many_changes, test_large_requests, test_created_ids, test_busy, test_busy_methods, test_lost, test_slow,
            test_broken_answers, test_credentials, test_errors, test_blobs, test_certificates):
        tap.run(test.__name__, test)
    if HAS_CYRUS_JMAP:
        tap.run("test_cyrus", test_cyrus)
    else:
        tap.skip("test_cyrus", NO_CYRUS)
