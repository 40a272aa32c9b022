"""usage: reach.py PROGRAM SOURCE - which directories of the machine a caller may name: attachments, git, hooks."""

import json
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import pictures  # noqa: E402
from mailroom import Mailroom  # noqa: E402
from mcp import LATEST, Stdio  # noqa: E402
from tap import Tap  # noqa: E402

TOKENS = {"HTTP_BEARER_TOKENS": "writer-token:writer,admin-token:admin"}


def make(m, name="app"):
    """A repository with a picture, in the home directory."""
    path = os.path.join(os.path.realpath(m.dir), name)
    subprocess.run(["git", "init", "-q", path], check=True, timeout=60)
    with open(os.path.join(path, "a.png"), "wb") as file:
        file.write(pictures.png())
    return path


def tool(server, name, role="writer", /, **arguments):
    """(status, answer); the request was passed on by a proxy, so being on this machine does not help."""
    status, _, text = server.request("POST", f"/api/tools/{name}", {"Content-Type": "application/json",
        "Authorization": f"Bearer {role}-token", "X-Forwarded-For": "198.51.100.7"}, json.dumps(arguments))
    return status, json.loads(text)


def joined(server, path):
    assert tool(server, "ensure_project", human_key=path)[0] == 200
    status, agent = tool(server, "register_agent", project_key=path, program="x", model="y", name="BlueLake")
    assert status == 200, agent


def send(server, project, body="x", *paths):
    return tool(server, "send_message", project_key=project, sender_name="BlueLake", to=["BlueLake"], subject="s",
        body_md=body, attachment_paths=list(paths))


def refused(server, project, path):
    """What is answered, without the path that was asked for."""
    status, answer = send(server, project, "x", path)
    error = answer["error"]
    assert status == 400 and error["type"] == "ATTACHMENT_REJECTED" and error["data"] == {"path": path}, (status, answer)
    return json.dumps(answer).replace(json.dumps(path)[1:-1], "PATH")


def a_writer_does_not_choose_what_is_read(m):
    """Not by making a project of it."""
    app = make(m)
    with m.serve(env=TOKENS) as server:
        for place, name in ((app, "a.png"), ("/etc", "passwd"), ("/", "etc/passwd"), (m.dir, "app/a.png")):
            joined(server, place)
            gone = refused(server, place, "no-such-file")
            assert "PROJECT_ROOTS" in gone, gone
            for path in (name, os.path.join(place, name), "/etc/shadow", "/no/such/place", ".", "..", "/"):
                assert refused(server, place, path) == gone, path
                body = f"![x]({path})"
                status, sent = send(server, place, body)
                assert status == 200 and sent["deliveries"][0]["payload"]["body_md"] == body, sent
                assert not sent.get("attachments"), sent


def the_owner_allows_directories(m):
    app, other = make(m), make(m, "other")
    with open(os.path.join(app, ".git", "token"), "w", encoding="utf-8") as file:
        file.write("secret")
    os.symlink("../other/a.png", os.path.join(app, "link.png"))
    os.symlink(other, os.path.join(m.dir, "inside"))
    with m.serve(env=TOKENS | {"PROJECT_ROOTS": app + ",~/inside-not-there"}) as server:
        joined(server, app)
        for path in ("a.png", os.path.join(app, "a.png")):
            status, sent = send(server, app, "x", path)
            assert status == 200 and sent["attachments"][0]["type"] == "inline", sent
        status, sent = send(server, app, "![x](a.png)")
        assert status == 200 and sent["attachments"][0]["filename"] == "a.png", sent
        gone = refused(server, app, "gone.png")
        for path in ("link.png", ".git/token", "../other/a.png", os.path.join(other, "a.png"), "a.png/x"):
            assert refused(server, app, path) == gone, path
        joined(server, other)
        assert refused(server, other, "a.png") == gone
    # A root that is a home allows what is below it, and a link to somewhere else is somewhere else.
    with m.serve(env=TOKENS | {"PROJECT_ROOTS": "~/"}) as server:
        joined(server, m.dir)
        assert refused(server, m.dir, "app/a.png") == gone
        assert send(server, other, "x", "a.png")[0] == 200
    with m.serve(env=TOKENS | {"PROJECT_ROOTS": app, "ATTACHMENT_ROOTS": other}) as server:
        status, sent = send(server, app, "x", os.path.join(other, "a.png"))
        assert status == 200 and sent["attachments"][0]["type"] == "inline", sent


def mail_of_others_is_not_attached(m):
    """The archive holds everybody's mail: of it only what was attached before can be attached again."""
    app = make(m)
    with m.serve(env=TOKENS | {"PROJECT_ROOTS": app}) as server:
        joined(server, app)
        for name in ("RedCat", "GreenCastle"):
            tool(server, "register_agent", project_key=app, program="x", model="y", name=name)
        status, sent = tool(server, "send_message", project_key=app, sender_name="RedCat", to=["GreenCastle"], subject="s",
            body_md="our secret", thread_id="T-1", attachment_paths=["a.png"])
        assert status == 200, sent
        slug = tool(server, "list_projects")[1]["result"][0]["slug"]
    archive = os.path.join(m.root, "projects", slug)
    files = [os.path.relpath(os.path.join(place, file), archive) for place, _, names in os.walk(archive) for file in names
        if ".git" not in place.split(os.sep)]
    stored = [file for file in files if file.startswith("attachments/") and file.endswith(".webp")]
    mail = [file for file in files if file.endswith(".md")]
    assert len(stored) == 1 and len(mail) >= 3, files
    with m.serve(env=TOKENS | {"PROJECT_ROOTS": app}) as server:
        gone = refused(server, app, "gone.png")
        for file in files:
            if file not in stored and not file.startswith("attachments/"):
                assert refused(server, app, file) == gone, file
                assert refused(server, app, os.path.join(archive, file)) == gone, file
        assert send(server, app, "x", *stored)[0] == 200


def the_database_is_not_attached(m):
    """Wherever it lies: it has the mail of all projects."""
    app = make(m)
    place = {"DATABASE_URL": os.path.join(app, "mail.sqlite3"), "STORAGE_ROOT": os.path.join(m.dir, "elsewhere")}
    with m.serve(env=TOKENS | place | {"PROJECT_ROOTS": app}) as server:
        joined(server, app)
        gone = refused(server, app, "no-such-file")
        for name in ("mail.sqlite3", "mail.sqlite3-wal", "mail.sqlite3-shm"):
            assert os.path.exists(os.path.join(app, name)), name
            assert refused(server, app, name) == gone, name
        assert send(server, app, "x", "a.png")[0] == 200


def projects_tell_nothing_of_directories(m):
    app = make(m)
    for roots, mode in (("", "dir"), (app, "git-toplevel")):
        with m.serve(env=TOKENS | {"PROJECT_ROOTS": roots, "STORAGE_ROOT": os.path.join(m.dir, "data-" + mode)}) as server:
            answers = [tool(server, "ensure_project", human_key=path, identity_mode="git-toplevel")
                for path in (app, app + "-gone", "/etc")]
            assert [status for status, _ in answers] == [200] * 3, answers
            assert [answer["identity_mode"] for _, answer in answers] == [mode, "dir", "dir"], answers


def leases_tell_nothing_of_files(m):
    app = make(m)
    for roots, third in (("", "file_activity_not_shown"), (app, "filesystem_activity_recent")):
        with m.serve(env=TOKENS | {"PROJECT_ROOTS": roots, "STORAGE_ROOT": os.path.join(m.dir, "data-" + third)}) as server:
            joined(server, app)
            for path in ("a.png", "gone.png"):
                status, held = tool(server, "file_reservation_paths", project_key=app, agent_name="BlueLake", paths=[path])
                assert status == 200, held
            leases = tool(server, "list_file_reservations", project_key=app)[1]["result"]
            assert leases[0]["stale_reasons"][2] == third, leases
            if not roots:
                assert leases[1]["stale_reasons"] == leases[0]["stale_reasons"], leases
                assert not any(lease["last_filesystem_activity_ts"] for lease in leases), leases


def hooks_are_put_where_the_owner_allows(m):
    """An administrator of the server's mail is not one of its machine."""
    app, other = make(m), make(m, "other")
    hook = os.path.join(app, ".git", "hooks", "pre-commit")
    with m.serve(env=TOKENS) as server:
        joined(server, app)
        answers = []
        for path in (app, app + "-gone", "/etc", "/", "."):
            for name, arguments in (("install_precommit_guard", {"project_key": app}), ("uninstall_precommit_guard", {})):
                status, answer = tool(server, name, "admin", code_repo_path=path, **arguments)
                assert status == 403 and answer["error"]["type"] == "PERMISSION_DENIED", (status, answer)
                assert "PROJECT_ROOTS" in answer["error"]["message"], answer
                answers.append(answer["error"]["message"].replace(path, "PATH", 1))
        assert len(set(answers)) == 1, answers
        assert tool(server, "install_precommit_guard", "admin", project_key=app)[0] == 403
        assert not os.path.exists(hook)
    with m.serve(env=TOKENS | {"PROJECT_ROOTS": app}) as server:
        assert tool(server, "install_precommit_guard", "admin", project_key=app)[0] == 200
        assert os.path.exists(hook)
        assert tool(server, "uninstall_precommit_guard", "admin", code_repo_path=app)[1]["removed"]
        # The repository's own settings do not lead elsewhere.
        subprocess.run(["git", "-C", app, "config", "core.hooksPath", os.path.join(other, "hooks")], check=True, timeout=60)
        os.mkdir(os.path.join(other, "hooks"))
        status, answer = tool(server, "install_precommit_guard", "admin", project_key=app)
        assert status == 403 and not os.listdir(os.path.join(other, "hooks")), answer
    # Its owner has the command line.
    done = m.run("guard", "install", app)
    assert done.returncode == 0 and os.listdir(os.path.join(other, "hooks")), done


def call_to_send(project, path):
    return {"name": "send_message", "arguments": {"project_key": project, "sender_name": "BlueLake", "to": ["BlueLake"],
        "subject": "s", "body_md": "x", "attachment_paths": [path]}}


def join(client, path):
    client.call("register_agent", project_key=path, program="x", model="y", name="BlueLake")


def a_client_works_where_it_was_started(m):
    app, other = make(m), make(m, "other")
    os.mkdir(os.path.join(app, "src"))
    with Stdio(m, cwd=os.path.join(app, "src")) as client:
        join(client, app)
        join(client, other)
        sent = client.ask("tools/call", call_to_send(app, "a.png"))
        assert not sent["isError"] and sent["structuredContent"]["attachments"][0]["type"] == "inline", sent
        for path in ("a.png", "gone.png"):
            assert client.ask("tools/call", call_to_send(other, path))["isError"]
    # Started in the home directory, it works nowhere.
    with Stdio(m) as client:
        assert client.ask("tools/call", call_to_send(app, "a.png"))["isError"]
    with Stdio(m, env={"PROJECT_ROOTS": app}) as client:
        assert not client.ask("tools/call", call_to_send(app, "a.png"))["isError"]


def a_client_with_roots_is_asked_for_them(m):
    app, other = make(m), make(m, "other")
    with Stdio(m, cwd=app, hello=False) as client:
        client.ask("initialize", {"protocolVersion": LATEST, "capabilities": {"roots": {"listChanged": True}}})
        join(client, app)
        join(client, other)
        for project, result, is_error in ((other, {"roots": [{"uri": "file://" + other}]}, False),
                (app, {"roots": [{"uri": "file://" + other}]}, True), (app, {"roots": [{"uri": "file://" + app}]}, False),
                (app, {"roots": []}, True), (app, {}, True)):
            call = client.begin("tools/call", call_to_send(project, "a.png"))
            asked = client.message(lambda message: message.get("method") == "roots/list")
            client.send({"jsonrpc": "2.0", "id": asked["id"], "result": result})
            answer = client.answer(call)["result"]
            assert answer["isError"] == is_error, (project, result, answer)
        call = client.begin("tools/call", call_to_send(app, "a.png"))
        asked = client.message(lambda message: message.get("method") == "roots/list")
        client.send({"jsonrpc": "2.0", "id": asked["id"], "error": {"code": -1, "message": "not today"}})
        text = json.dumps(client.answer(call)["result"])
        assert "the client did not name its roots: the client answered: not today" in text, text
        # What needs no file asks nothing.
        client.call("send_message", project_key=app, sender_name="BlueLake", to=["BlueLake"], subject="s", body_md="x")
        assert not client.kept, client.kept


def the_second_generation_brings_its_roots(m):
    app = make(m)
    with Stdio(m, cwd=m.dir, hello=False) as client:
        meta = {"io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
            "io.modelcontextprotocol/clientCapabilities": {"roots": {}}}

        def ask(params):
            return client.ask("tools/call", params | {"_meta": meta})
        ask({"name": "register_agent", "arguments": {"project_key": app, "program": "x", "model": "y", "name": "BlueLake"}})
        answer = ask(call_to_send(app, "a.png"))
        assert answer["resultType"] == "input_required", answer
        assert answer["inputRequests"] == {"roots": {"method": "roots/list", "params": {}}}, answer
        answer = ask(call_to_send(app, "a.png") | {"inputResponses": {"roots": {"roots": [{"uri": "file://" + app}]}}})
        assert not answer["isError"] and answer["structuredContent"]["attachments"], answer
        inbox = ask({"name": "fetch_inbox", "arguments": {"project_key": app, "agent_name": "BlueLake"}})
        assert len(inbox["structuredContent"]["result"]) == 1, inbox


def many_questions_and_requests_at_once(m):
    """The answers come on the same line as the requests: reading goes on while the client is asked."""
    app, count = make(m), 600
    with Stdio(m, cwd=app, hello=False) as client:
        client.ask("initialize", {"protocolVersion": LATEST, "capabilities": {"roots": {}}})
        join(client, app)
        calls = [client.begin("tools/call", call_to_send(app, "gone.png")) for _ in range(count)]
        left = set(calls)
        while left:
            message = client.message()
            if message.get("method") == "roots/list":
                client.send({"jsonrpc": "2.0", "id": message["id"], "result": {"roots": []}})
            else:
                assert message["result"]["isError"], message
                left.remove(message["id"])


TESTS = [
    a_writer_does_not_choose_what_is_read,
    the_owner_allows_directories,
    mail_of_others_is_not_attached,
    the_database_is_not_attached,
    projects_tell_nothing_of_directories,
    leases_tell_nothing_of_files,
    hooks_are_put_where_the_owner_allows,
    a_client_works_where_it_was_started,
    a_client_with_roots_is_asked_for_them,
    the_second_generation_brings_its_roots,
    many_questions_and_requests_at_once,
]


def main():
    with Tap() as tap:
        for test in TESTS:
            with Mailroom(sys.argv[1]) as m:
                tap.run(test.__name__.replace("_", " "), test, m)


main()
