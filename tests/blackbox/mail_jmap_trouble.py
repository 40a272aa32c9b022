"""usage: mail_jmap_trouble.py PROGRAM SOURCE - what agents are told when the server of their mail does wrong, and how they get their accounts."""

import json
import os
import stat
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from certificates import Certificates  # noqa: E402
from jmap_model import JmapModel, Management, PASSWORD  # noqa: E402
from jmap_office import ALICE, BOB, CAROL, PROGRAM, Office, Waiting, make_only, modelled, sends, subjects  # noqa: E402
from jmap_server import Answer, SUBMISSION, results  # noqa: E402
from mailroom import describe  # noqa: E402
from tap import Tap  # noqa: E402


# --- trouble ---


def gateways_say_what_is_wrong():
    with modelled() as (m, model), m.gateway("alice") as gateway:
        sent = gateway.ask("send", {"to": [BOB], "subject": "s", "body_content": "x"})
        assert sent[0] == 200 and sent[1]["transport"] == "stalwart", sent
        send = ("send", {"to": [CAROL], "subject": "s", "body_content": "x"})
        assert gateway.ask(*send)[0] == 502
        assert gateway.ask("peek", {"message_ref": "filesystem:1"})[0] == 502
        assert gateway.ask("peek", {"message_ref": "stalwart:Mx"})[0] == 502
        model.traits.add("full")
        status, told = gateway.ask("send", {"to": [BOB], "subject": "s", "body_content": "x"})
        assert status == 502 and "The mailbox is full" in told["detail"], (status, told)
        model.accounts[ALICE].password = "changed"
        status, told = gateway.ask("list", {})
        assert status == 502 and "is wrong or has expired" in told["detail"] and "--password-file" in told["detail"], (status, told)
        assert PASSWORD not in json.dumps(told)
        model.accounts[ALICE].password = PASSWORD
        model.before = lambda calls: Answer(503, {})
        status, told = gateway.ask("list", {})
        assert status == 502, (status, told)
        model.before = lambda calls: Answer(200, b'{"methodResponses": [', cut=None)
        assert gateway.ask("list", {})[0] == 502
        model.before = lambda calls: None
        assert gateway.ask("list", {})[0] == 200
        os.rename(m.secrets("alice"), m.secrets("alice") + ".away")
        os.rename(os.path.join(m.dir, ".houmao/runtime/mailbox-credentials"), os.path.join(m.dir, "away"))
        status, told = gateway.ask("list", {})
        assert status == 422 and "there is no credential at" in told["detail"], (status, told)


def servers_that_lack_something():
    """A send, through a gateway and by a command: both say what is missing, and nothing is left behind."""
    def method_errors(kind):
        return lambda calls: results(*(["error", {"type": kind}, tag] for _, _, tag in calls))

    def changed(model, call, change):
        """The answers of the model, with the result of one method changed."""
        def instead(calls):
            model.before = lambda calls: None
            answer = model.api_request(type("Asked", (), {"calls": calls, "json": {}, "headers": {"Authorization": model.basic(ALICE)}})())
            model.before = instead
            body = json.loads(answer.body)
            for name, result, _ in body["methodResponses"]:
                if name == call:
                    change(result)
            return Answer(200, body)
        return instead

    def no_inbox(model):
        model.accounts[ALICE].boxes = {key: box for key, box in model.accounts[ALICE].boxes.items() if box["role"] != "inbox"}

    def no_submission(model):
        whole = model.session_of

        def without(account):
            session = whole(account)
            for part in (session["capabilities"], session["primaryAccounts"], *(each["accountCapabilities"] for each in session["accounts"].values())):
                part.pop(SUBMISSION, None)
            return session
        model.session_of = without

    def small_uploads(model):
        model.limits["maxSizeUpload"] = 3

    def gone_account(model):
        model.before = method_errors("accountNotFound")

    def odd_lists(model):
        model.before = changed(model, "Email/query", lambda result: result.update(ids="M1"))

    def read_only(model):
        model.before = method_errors("accountReadOnly")

    words = ("send", {"to": [BOB], "subject": "s", "body_content": "x", "attachments": [{"path": "file.txt"}]})
    for trouble, ask, text in ((no_inbox, ("list", {}), "the account `alice@houmao.localhost` has no inbox on the server"),
            (no_submission, words, "it does not offer submission"),
            (small_uploads, words, "is too large for the server, which takes attachments of 3 bytes at most"),
            (gone_account, ("list", {}), "accountNotFound; the login `alice@houmao.localhost` needs an account with mail on the server"),
            (gone_account, words, "accountNotFound"), (odd_lists, ("list", {}), "the server's list of messages is none"),
            (read_only, words, "accountReadOnly")):
        with modelled() as (m, model):
            m.write("file.txt", "four\n")
            trouble(model)
            for entry in os.scandir(m.secrets("alice")):
                if entry.name.endswith(".known"):
                    os.unlink(entry.path)
            with m.gateway("alice") as gateway:
                status, told = gateway.ask(*ask)
            assert status == 502 and text in told["detail"] and list(told) == ["detail"], (trouble, status, told)
            args = ("list",) if ask[0] == "list" else ("send", "--to", BOB, "--subject", "s", "--body-content", "x", "--attach", "file.txt")
            done = m.run("mail", "--agent-name", "alice", *args)
            assert done.returncode and not done.stdout and text in done.stderr, (trouble, describe(done))
            assert not model.delivered and not model.accounts[ALICE].emails, (trouble, model.delivered)


def gateways_outlive_their_server():
    with Certificates() as certificates, Office(PROGRAM) as m:
        with JmapModel(certificate=certificates.make()) as model:
            model.add(ALICE)
            m.write("password", PASSWORD)
            m.json("agents", "create", "alice", "--transport", "stalwart", "--jmap-url", model.url, "--management-url", model.url,
                "--password-file", "password", "--ca-file", certificates.ca)
            gateway = m.gateway("alice")
            assert gateway.ask("list", {})[0] == 200
            model.tls.load_cert_chain(*certificates.of_another_host())
            status, told = gateway.ask("list", {})
            assert status == 502 and "certificate" in told["detail"] and "--ca-file" in told["detail"], told
            model.tls.load_cert_chain(*certificates.make())
            assert gateway.ask("list", {})[0] == 200
        with gateway:
            status, told = gateway.ask("list", {})
            assert status == 502 and model.origin.partition("://")[2] in told["detail"], told


def commands_say_what_is_wrong():
    with modelled() as (m, model):
        url = model.url
        model.accounts[ALICE].password = "changed"
        told = m.refused("alice", "check")
        assert "the password of `alice@houmao.localhost` in" in told and "is wrong or has expired" in told and PASSWORD not in told, told
        model.accounts[ALICE].password = PASSWORD
        files = [os.path.join(m.secrets("alice"), name) for name in os.listdir(m.secrets("alice")) if name.endswith(".json")]
        assert [stat.S_IMODE(os.stat(path).st_mode) for path in files] == [0o600]
        os.chmod(files[0], 0o644)
        assert "others than its owner can read it (mode 644)" in m.refused("alice", "check")
        os.chmod(files[0], 0o600)
        model.session_of = lambda account: {"capabilities": {}, "accounts": {}, "primaryAccounts": {}, "apiUrl": "/api", "username": "x", "state": "x"}
        for entry in os.scandir(m.secrets("bob")):
            if entry.name.endswith(".known"):
                os.unlink(entry.path)
        assert "needs an account with mail on the server" in m.refused("bob", "status")
    # The server is gone.
    with Office(PROGRAM) as m:
        with JmapModel() as model:
            model.add(ALICE)
            m.settle(model.url, PASSWORD, "alice")
        told = m.refused("alice", "check")
        assert "127.0.0.1" in told, (told, url)


def certificates_are_checked():
    with Certificates() as certificates, JmapModel(certificate=certificates.make()) as model, Office(PROGRAM) as m:
        model.add(ALICE)
        m.write("password", PASSWORD)
        words = ("agents", "create", "alice", "--transport", "stalwart", "--jmap-url", model.url, "--management-url", model.url,
            "--password-file", "password")
        told = m.run(*words)
        assert told.returncode == 1 and "certificate" in told.stderr and not model.requests, describe(told)
        assert "--ca-file" in told.stderr, told.stderr
        m.json(*words, "--ca-file", certificates.ca)
        # The session has its own copy.
        os.unlink(certificates.ca)
        assert m.mail("alice", "check")["message_count"] == 0


def a_slow_server_is_not_waited_for_twice():
    with modelled() as (m, model):
        m.send("alice", "bob", "before")
        never = threading.Event()

        def slow(calls):
            if not sends(calls):
                return None
            make_only(model, calls)
            return Answer(200, {}, wait=never)
        model.before = slow
        began = time.monotonic()
        told = m.refused("alice", "send", "--to", BOB, "--subject", "s", "--body-content", "x")
        never.set()
        assert "the server did not answer in time" in told and "look into the box `sent`" in told, told
        assert time.monotonic() - began >= 10 and len([request for request in model.api() if sends(request.calls)]) == 2
        assert len(model.delivered) == 1


def a_stop_waits_for_no_server():
    """Neither does a request that hangs, nor the notifier: it is given up long before the server's time is over."""
    with modelled() as (m, model):
        never, asked = threading.Event(), threading.Event()

        def hang(_calls):
            asked.set()
            return Answer(200, {}, wait=never)
        with m.gateway("alice") as gateway:
            told = []
            waiting = Waiting(gateway)
            assert gateway.ask("list", {})[0] == 200
            model.before = hang
            ask = threading.Thread(target=lambda: told.append(gateway.ask("list", {})))
            ask.start()
            assert asked.wait(60)
            assert gateway.stop() == 0
            ask.join(60)
            [(status, answer)] = told
            assert status == 502 and "had not answered when the answer was no longer wanted" in answer["detail"], told
            waiting.join(60)
        never.set()


def redirects_to_other_hosts_are_refused():
    with modelled() as (m, model), JmapModel() as other:
        m.mail("alice", "check")
        for entry in os.scandir(m.secrets("alice")):
            if entry.name.endswith(".known"):
                os.unlink(entry.path)
        model.pages["/session"] = Answer(302, b"", {"Location": other.url})
        told = m.refused("alice", "check")
        assert "redirects to" in told and "where the credentials are not sent" in told and not other.requests, told


# --- bindings and accounts ---


def bindings_hold_no_secret():
    with modelled() as (m, model):
        with open(m.manifest("alice"), encoding="utf-8") as file:
            text = file.read()
        binding = json.loads(text)["launch_plan"]["mailbox"]
        assert sorted(binding) == sorted(["transport", "principal_id", "address", "jmap_url", "management_url", "login_identity", "credential_ref",
            "bindings_version"]), binding
        live = m.mail("alice", "resolve-live")
        account = live["mailbox"]["stalwart"]
        assert {key: account[key] for key in ("jmap_url", "management_url", "login_identity", "credential_ref")} == {key: binding[key] for key in (
            "jmap_url", "management_url", "login_identity", "credential_ref")}, account
        assert account["credential_file"] == os.path.join(m.secrets("alice"), binding["credential_ref"] + ".json")
        with open(account["credential_file"], encoding="utf-8") as file:
            assert json.load(file) == {"credential_ref": binding["credential_ref"], "login_identity": ALICE, "password": PASSWORD}
        for folder, _, names in os.walk(m.dir):
            for name in names:
                if os.path.islink(os.path.join(folder, name)):
                    continue
                with open(os.path.join(folder, name), errors="replace", encoding="utf-8") as file:
                    if PASSWORD in file.read():
                        assert "mailbox-secrets" in folder or "mailbox-credentials" in folder or name == "password", (folder, name)
        # Bound to files again, and back with the credential that is there.
        m.json("agents", "bind", "alice")
        assert m.mail("alice", "status")["transport"] == "filesystem"
        told = m.json("agents", "bind", "alice", "--transport", "stalwart", "--jmap-url", model.url, "--management-url", model.url + "/none")
        assert told["account"] == {"managed": False, "created": False, "new_password": False} and told["transport"] == "stalwart", told
        shown = m.run("agents", "show", "alice").stdout
        assert model.url in shown, shown
        told = m.run("agents", "unbind", "alice").stdout
        assert f"The mail of {ALICE} stays at {model.url}." in told, told
        told = m.run("agents", "bind", "alice", "--base-url", "http://x")
        assert told.returncode == 2 and "--transport stalwart" in told.stderr, describe(told)


TOKEN = {"HOUMAO_STALWART_MANAGEMENT_BEARER_TOKEN": "manager-token"}
KEYS = {"HOUMAO_STALWART_MANAGEMENT_API_KEY": "key", "HOUMAO_STALWART_MANAGEMENT_API_SECRET": "manager-token"}


def accounts_are_made():
    with JmapModel() as model, Office(PROGRAM) as m:
        manager = Management(model).open()
        words = ("--transport", "stalwart", "--jmap-url", model.url, "--management-url", model.origin + "/api/")
        made = m.json("agents", "create", "alice", *words, env=TOKEN)
        assert made["login_identity"] == "HOUMAO-alice", made
        assert [one["name"] for one in manager.principals] == ["houmao.localhost", "HOUMAO-alice"]
        assert manager.principals[1]["emails"] == [ALICE]
        with open(m.mail("alice", "resolve-live")["mailbox"]["stalwart"]["credential_file"], encoding="utf-8") as file:
            password = json.load(file)["password"]
        assert manager.principals[1]["secrets"] == [password] and len(password) == 32
        assert m.mail("alice", "status")["transport"] == "stalwart"
        # Again: nothing changes.
        before = json.dumps(manager.principals)
        told = m.json("agents", "bind", "alice", *words, env=KEYS)
        assert told["account"] == {"managed": True, "created": False, "new_password": False} and json.dumps(manager.principals) == before, told
        assert not [seen for seen in manager.seen[-2:] if seen[0] != "GET"], manager.seen
        # Somebody changed the password: the account gets another one.
        model.accounts["HOUMAO-alice"].password = "changed"
        told = m.json("agents", "bind", "alice", *words, env=TOKEN)
        assert told["account"]["new_password"] and m.mail("alice", "status"), told
        # An account of that name without the address gets it.
        manager.page_size = 1
        manager.principals.append({"id": 7, "type": "individual", "name": "HOUMAO-bob", "emails": ["b@houmao.localhost"], "secrets": ["x"]})
        model.add("HOUMAO-bob", BOB)
        m.json("agents", "create", "bob", *words, env=TOKEN)
        assert manager.principals[2]["emails"] == ["b@houmao.localhost", BOB]
        m.send("alice", "bob", "Hello")
        assert subjects(m, "bob") == ["Hello"]


def management_says_what_is_wrong():
    with JmapModel() as model, Office(PROGRAM) as m:
        manager = Management(model).open()
        words = ("agents", "create", "alice", "--transport", "stalwart", "--jmap-url", model.url, "--management-url", model.origin + "/api")

        def refused(env=None, words=words):
            done = m.run(*words, env=env)
            assert done.returncode in (1, 2) and not done.stdout, describe(done)
            assert json.loads(m.run("--json", "agents", "list").stdout)["agents"] == []
            return done.stderr
        assert "refuses requests without credentials (status 401)" in refused()
        assert "refuses these credentials" in refused({"HOUMAO_STALWART_MANAGEMENT_BEARER_TOKEN": "wrong"})
        manager.problem = (404, {})
        assert "there is no management API at" in refused(TOKEN)
        manager.problem = (200, {"error": "fieldAlreadyExists", "field": "emails", "value": ALICE})
        assert "refuses the account alice@houmao.localhost: fieldAlreadyExists, emails" in refused(TOKEN)
        manager.problem = (500, b"oops")
        assert "fails (status 500)" in refused(TOKEN)
        manager.problem = None
        assert "needs base_url, or both" in refused(words=("agents", "create", "alice", "--transport", "stalwart", "--jmap-url", model.url))
        m.write("empty", "\n")
        assert "holds no password" in refused(words=(*words, "--password-file", "empty"))
        m.write("wrong", "nonsense\n")
        model.add(ALICE)
        assert "is wrong or has expired" in refused(words=(*words, "--password-file", "wrong"))


TESTS = (gateways_say_what_is_wrong, servers_that_lack_something, gateways_outlive_their_server, commands_say_what_is_wrong,
    certificates_are_checked, a_slow_server_is_not_waited_for_twice, a_stop_waits_for_no_server,
    redirects_to_other_hosts_are_refused, bindings_hold_no_secret, accounts_are_made, management_says_what_is_wrong)

with Tap() as tap:
    for test in TESTS:
        tap.run(test.__name__, test)
