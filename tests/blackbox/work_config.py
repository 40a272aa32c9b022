"""usage: work_config.py PROGRAM SOURCE - the configuration of an e-mail workspace, and what a pull checks of it."""

import fcntl
import json
import os
import socket
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from tap import Tap  # noqa: E402
from workspace import Workspace  # noqa: E402


def get(w, key):
    return w.ok("config", "get", key).get("value")


def keys_are_set_and_read(w):
    for key, value in (("imap.host", "imap.example.com"), ("case.default_group", "todo"), ("audit.reason_mode", "optional"),
            ("contact.default_group", "folk"), ("mailboxes.archive.mailbox_name", "Old")):
        done = w.ok("config", "set", key, value)
        assert (done["code"], done["key"], done["value"]) == ("config_updated", key, value), done
        assert get(w, key) == value
    assert get(w, "mailboxes.archive.special_use") is None
    assert w.ok("config", "set", "imap.port", "143")["value"] == 143 and w.ok("config", "set", "imap.tls", "false")["value"] is False
    assert w.ok("config", "set", "workspace.timezone_utc_offset", "+0530")["value"] == "+05:30"
    assert w.ok("config", "set", "workspace.timezone_utc_offset", "null")["value"] is None
    ids = w.ok("config", "set", "actions.pull.default_mailbox_ids", "inbox", "junk", "inbox")["value"]
    assert ids == ["inbox", "junk"] == get(w, "actions.pull.default_mailbox_ids"), ids
    assert w.ok("config", "unset", "imap.host")["value"] is None and w.ok("config", "unset", "imap.port")["value"] == 993
    config = w.ok("config", "show")["config"]
    assert config["case"] == {"default_group": "todo"} and config == {**w.document(".afmail", "config.json"),
        "imap": config["imap"], "smtp": config["smtp"]}, config


def secrets_are_never_shown(w):
    done = w.ok("config", "set", "imap.password_secret", "hunter2")
    assert done["value"] == "***" == get(w, "imap.password_secret"), done
    assert w.document(".afmail", "config.json")["imap"]["password_secret"] == "hunter2"
    for args in (["config", "show"], ["config", "list"], ["--log", "startup", "config", "set", "imap.password_secret", "hunter2"],
            ["config", "get", "imap.password_secret"]):
        for how in ([], ["--output", "yaml"], ["--output", "plain"]):
            assert "hunter2" not in w.afmail(*how, *args).stdout, args
    for args in (["config", "show"], ["config", "list"], ["config", "get", "imap.password_secret"],
            ["config", "set", "imap.password_secret", "hunter2"]):
        done = w.run("work", *args)
        assert done.returncode == 0 and "hunter2" not in done.stdout + done.stderr, done
    assert w.ok("config", "set", "imap.password_secret_env", "MAIL_SECRET")["value"] == "MAIL_SECRET"
    assert get(w, "imap.password_secret") is None


def what_is_refused(w):
    before = w.read(".afmail", "config.json")
    for args, word, text in (
            (["get", "imap.hots"], "invalid_request", "there is no configuration key 'imap.hots'"),
            (["set", "imap.hots", "x"], "invalid_request", "there is no configuration key 'imap.hots'"),
            (["set", "imap.host"], "invalid_request", "no value was given for imap.host"),
            (["set", "imap.host", "a", "b"], "invalid_request", "imap.host takes one value, but 2 were given"),
            (["set", "imap.port", "x"], "invalid_request", "imap.port must be a number from 0 to 65535, not 'x'"),
            (["set", "imap.tls", "yes"], "invalid_request", "imap.tls must be true or false, not 'yes'"),
            (["set", "workspace.timezone_utc_offset", "Asia/Shanghai"], "invalid_request",
                "workspace.timezone_utc_offset must be UTC, null or an offset such as +05:30, not 'Asia/Shanghai'"),
            (["set", "schema_version", "2"], "invalid_request", "the key 'schema_version' can be read but not set"),
            (["set", "imap.host", "--json", '"x"'], "invalid_request",
                "imap.host cannot be set from JSON; only identities and steps can"),
            (["set", "identities.you.name", "x"], "invalid_request", "there is no identity 'you'"),
            (["unset", "identities.me.name"], "invalid_request", "identities.me.name has no default"),
            (["unset", "mailboxes.nope.mailbox_name"], "unknown_mailbox_id", "there is no mailbox with the id 'nope'"),
            (["add", "imap.host", "x"], "invalid_request", "nothing can be added to or removed from imap.host; use `config set`"),
            (["add", "identities", "you"], "invalid_request", "an identity needs a slug, a name and an email address"),
            (["add", "identities", "you", "--json", "{}"], "invalid_request",
                "an identity is given either as JSON or by its slug, name and email"),
            (["add", "identities", "--json", "{"], "invalid_request", "the identity is not JSON: "),
            (["add", "actions.pull.default_mailbox_ids"], "invalid_request", "no value was given for actions.pull."),
            (["add", "actions.pull.default_mailbox_ids", "inbox", "--name", "x"], "invalid_request",
                "actions.pull.default_mailbox_ids is a list of words: JSON, names and addresses are for identities"),
            (["remove", "identities", "you"], "invalid_request", "identities has no 'you'"),
            (["remove", "identities"], "invalid_request", "no value was given for identities"),
            (["remove", "identities", "me"], "config_invalid", "must have between 1 and 1000 identities"),
            (["set", "imap.password_secret_env", "foo"], "config_invalid", "password_secret_env"),
            (["set", "imap.password_secret", "env:X"], "config_invalid", "password_secret"),
            (["set", "actions.pull.by_mailbox_id.inbox.import_as", "bogus"], "config_invalid", "import_as"),
            (["set", "actions.pull.default_mailbox_ids", "nope"], "config_invalid", "nope"),
            (["set", "identities", "--json", "{}"], "invalid_request", "the value of identities must be a list in JSON, not "),
            (["set", "identities", "x"], "invalid_request", "the value of identities must be a list in JSON: ")):
        error = w.fails(word, "config", *args)
        assert text in error["error"] and error["hint"], (args, error)
    error = w.fails(None, "config", "set", "identities", "[]", "--json", "[]")
    assert error["error"] == "--json replaces the values: give one of them", error
    assert "KEY" in w.fails(None, "config", "get")["error"]
    assert w.read(".afmail", "config.json") == before


def identities_are_a_list(w):
    sales = {"identity": "sales", "name": "Sales", "email": "sales@example.com", "default": False}
    assert w.ok("config", "add", "identities", "sales", "--name", "Sales", "--email", "sales@example.com")["value"][1] == sales
    added = w.ok("config", "add", "identities", "boss", "--name", "Boss", "--email", "boss@example.com", "--default")["value"]
    assert [one["default"] for one in added] == [False, False, True], added
    added = w.ok("config", "add", "identities", json.dumps({"identity": "bot", "name": "Bot", "email": "bot@example.com"}))["value"]
    assert [one["identity"] for one in added] == ["me", "sales", "boss", "bot"], added
    assert w.ok("config", "set", "identities.me.default", "true")["value"] is True
    left = w.ok("config", "remove", "identities", "sales", "boss", "bot")["value"]
    assert [one["identity"] for one in left] == ["me"], left
    text = json.dumps([{"identity": "me", "name": "Max", "email": "max@example.com", "default": True}])
    assert w.ok("config", "set", "identities", "--json", text)["value"][0]["name"] == "Max"
    assert w.ok("config", "set", "identities", text.replace("Max", "Mia"))["value"][0]["name"] == "Mia"
    assert w.ok("config", "add", "actions.pull.default_mailbox_ids", "drafts", "inbox")["value"][-1] == "drafts"
    assert "drafts" not in w.ok("config", "remove", "actions.pull.default_mailbox_ids", "drafts")["value"]
    steps = "actions.message.archive.by_source_mailbox_id.sent.steps"
    assert w.ok("config", "set", steps, "--json", '[{"move_to_mailbox_id":"archive"}]')["value"] == [{"move_to_mailbox_id": "archive"}]
    assert w.ok("config", "set", steps, "none").get("value") == []


def all_keys_are_listed(w):
    w.ok("config", "set", "imap.host", "h")
    listed = w.ok("config", "list")
    items = {item["key"]: item for item in listed["items"]}
    assert listed["count"] == len(items) > 40, listed["count"]
    assert items["imap.host"] == {"key": "imap.host", "value": "h", "default": False}
    assert items["imap.port"]["value"] == 993 and items["imap.port"]["default"] is True
    for key, item in items.items():
        assert get(w, key) == item.get("value"), key


def damaged_files_are_named(w):
    config = w.document(".afmail", "config.json")
    w.put("{", ".afmail", "config.json")
    assert ".afmail/config.json" in w.fails("store_error", "config", "show")["error"]
    w.put(json.dumps({**config, "imap_host": "x"}), ".afmail", "config.json")
    assert "imap_host" in w.fails("config_invalid", "config", "show")["error"]
    w.put(json.dumps({**config, "smtp": {**config["smtp"], "from": "x"}}), ".afmail", "config.json")
    assert "from" in w.fails("config_invalid", "config", "get", "imap.host")["error"]
    w.put(json.dumps(config), ".afmail", "config.json")
    w.put("---\nkind: identity\nidentity: you\n---\n", "identities", "you.md")
    error = w.fails("config_invalid", "config", "show")
    assert "identities/you.md" in error["error"], error
    w.fails("config_invalid", "config", "get", "imap.host")
    w.fails("config_invalid", "config", "set", "imap.host", "x")
    # Commands that are not about the configuration go on.
    assert w.ok("contact", "list")["count"] == 0


def a_pull_checks_before_it_connects(w):
    def failed():
        return w.document(".afmail", "workspace.progress.json")

    error = w.fails("unknown_mailbox_id", "pull", "INBOX")
    assert error["error"] == ("'INBOX' is not the id of a mailbox that can be pulled; available ids: archive, drafts, inbox, "
        "junk, sent, trash"), error
    assert failed()["error"]["error_code"] == "unknown_mailbox_id"
    for key, value, missing in (("imap.host", "127.0.0.1", "imap.host is not set"), ("imap.username", "ann", "imap.username is not set"),
            ("imap.password_secret_env", "MAIL_SECRET", "neither imap.password_secret nor imap.password_secret_env is set")):
        for args in (["pull"], ["remote", "test"], ["remote", "folders"]):
            error = w.fails("config_missing", *args)
            assert error["error"] == missing and "afmail config set" in error["hint"], error
        w.ok("config", "set", key, value)
    error = w.fails("config_missing", "remote", "test")
    assert error["error"] == "the environment variable MAIL_SECRET, which imap.password_secret_env names, is not set", error
    env = {"MAIL_SECRET": "hunter2"}
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    w.ok("config", "set", "imap.port", str(port))
    error = w.fails("imap_connect_failed", "pull", "inbox", env=env)
    assert error["error"].startswith("127.0.0.1: ") and error["retryable"] is True, error
    progress = failed()
    assert progress["status"] == "failed" and progress["phase"] == "finish" and progress["result"] is None, progress
    assert progress["fields"]["failed_phase"] == "pull_resolve_targets", progress
    assert progress["fields"]["failed_fields"] == {"requested_mailbox_ids": ["inbox"], "mailbox_ids": ["inbox"],
        "mailbox_names": ["INBOX"], "mailbox_count": 1}, progress
    summary = w.ok("status")["progress"]["summary"]
    assert summary == "pull failed: imap_connect_failed during resolved 1 mailboxes", summary
    # How many milliseconds it took is in the sentence.
    refused = error["error"].partition(" after ")[0]
    for args in (["test"], ["folders"]):
        again = w.fails("imap_connect_failed", "remote", *args, env=env)["error"]
        assert again.startswith(refused), (again, refused)
    # An empty selection; a transaction that another program left is in the snapshot too.
    config = w.document(".afmail", "config.json")
    config["actions"]["pull"]["default_mailbox_ids"] = []
    w.put(json.dumps(config), ".afmail", "config.json")
    error = w.fails("config_invalid", "pull", env=env)
    assert error["error"] == "no mailbox is selected: actions.pull.default_mailbox_ids is empty", error
    w.put("{}", ".afmail", "transactions", "transaction_x.json")
    w.fails("transaction_incomplete", "pull", env=env)
    assert failed()["error"]["error_code"] == "transaction_incomplete", failed()


def a_workspace_in_use_is_left_alone(w):
    w.ok("config", "list")
    with open(w.path(".afmail", "workspace.lock"), "r+b") as lock:
        fcntl.flock(lock, fcntl.LOCK_SH)
        assert get(w, "imap.port") == 993
        for args in (["config", "set", "imap.host", "x"], ["pull"], ["contact", "create", "--name", "x"]):
            assert w.fails("workspace_locked", *args)["retryable"] is True
    assert w.ok("config", "set", "imap.host", "x")["value"] == "x"


def people_read_text(w):
    def text(*args, status=0):
        done = w.run("work", "config", *args)
        assert done.returncode == status, done
        return done.stdout + done.stderr

    page = text("show")
    for part in ("Workspace\n", "\nIdentities\n  identity  name  address         default\n  me        Me    me@example.com  yes\n",
            "\nIMAP, to take mail in\n  host                (not set)\n", "\nSMTP, to send mail\n", "\nMailboxes\n",
            "\n  inbox    INBOX     triage       inbound    yes         move to archive\n",
            "\n  message.spam        flag \\Seen, $Junk; move to junk\n",
            "\n  draft.send          send by SMTP; copy to sent; flag what it replies to \\Seen, \\Answered\n",
            "\nAudit log\n  reason_mode         required\n"):
        assert part in page, (part, page)
    assert text("get", "imap.port") == "993\n" and text("get", "imap.host") == "(not set)\n"
    assert text("get", "actions.pull.default_mailbox_ids") == "inbox\nsent\narchive\njunk\ntrash\n"
    assert "me@example.com" in text("get", "identities")
    assert text("set", "imap.host", "h") == "imap.host is now: h\n"
    listed = text("list")
    assert "\n* imap.host = h\n" in listed and "\n  imap.port = 993\n" in listed, listed
    assert "\n  actions.message.trash.steps = move to trash\n" in listed, listed
    assert text("unset", "imap.host") == "imap.host is not set any more.\n"
    assert text("set", "actions.message.trash.steps", "[]") == "actions.message.trash.steps is now: nothing\n"
    done = w.run("work", "remote", "test")
    assert done.returncode == 1 and done.stdout == "" and done.stderr == ("mailroom work: imap.host is not set\n"
        "  Set it with `mailroom work config set imap.host HOST`; `mailroom work config show` shows all settings.\n"), done


TESTS = [keys_are_set_and_read, secrets_are_never_shown, what_is_refused, identities_are_a_list, all_keys_are_listed,
    damaged_files_are_named, a_pull_checks_before_it_connects, a_workspace_in_use_is_left_alone, people_read_text]


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    with Tap() as tap:
        for test in TESTS:
            with Workspace(sys.argv[1]) as w:
                tap.run(test.__name__.replace("_", " "), lambda: test(w))


main()
