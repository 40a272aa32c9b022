"""usage: work_doctor.py PROGRAM SOURCE - every issue that doctor tells of, made by damaging a workspace by hand, and its repair."""

import fcntl
import json
import os
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import old_workspace as old  # noqa: E402
from mailroom import describe  # noqa: E402
from tap import Tap  # noqa: E402
from workspace import Workspace, mail  # noqa: E402

PROGRAM = sys.argv[1]
CONFIRM = ("doctor", "repair", "--confirm")
CASE = "cases/open/c20260504001-A"
CATEGORY = "archive/notifications/a20260504001-N"


class Desk(Workspace):
    """A workspace with three messages, the second an answer to the first."""

    def __init__(self):
        super().__init__(PROGRAM)
        self.ids = self.deliver(mail(1), mail(2, reply_to=1), mail(3))
        assert self.issues() == [], self.issues()

    def write(self, path, content):
        old.write(self.dir, path, content)

    def delete(self, path):
        os.unlink(self.path(path))

    def issues(self):
        done = self.ok("doctor")
        assert done["code"] == "doctor" and done["ok"] == (not done["issues"]), done
        assert done["issue_count"] == len(done["issues"]), done
        assert done["error_count"] == sum(i["severity"] == "error" for i in done["issues"]), done
        assert done["repairable_count"] == sum(i["repairable"] for i in done["issues"]), done
        return done["issues"]

    def picture(self):
        """All files but the index and the lock, with their bytes."""
        found = {}
        for name in self.files():
            with open(self.path(name), "rb") as file:
                found[name] = file.read()
        return found

    def tells(self, code, path, text, repairable, severity="error", refs=None, others=()):
        """Exactly this issue, and `others`, which are codes; nothing was changed by looking."""
        before = self.picture()
        issues = self.issues()
        assert self.picture() == before
        found = [i for i in issues if i["code"] == code and i.get("path") == path]
        assert len(found) == 1, issues
        assert sorted(i["code"] for i in issues if i is not found[0]) == sorted(others), issues
        issue = found[0]
        assert text in issue["message"], issue
        assert issue["repairable"] is repairable and issue["severity"] == severity, issue
        assert refs is None or issue["refs"] == refs, issue
        return issue

    def repair(self, remaining=()):
        done = self.ok(*CONFIRM)
        assert done["code"] == "doctor_repair" and done["confirmed"] is True, done
        assert sorted(i["code"] for i in done["remaining_issues"]) == sorted(remaining), done
        assert done["after_issue_count"] == len(remaining) == len(self.issues()), done
        return done


def healthy():
    with Desk() as desk:
        before = desk.picture()
        done = desk.ok("doctor")
        assert done["checks"] == {"git_checked": False, "messages": True, "cases": True, "archives": True, "push_queue": True,
            "templates": True, "transactions": True}, done
        assert desk.picture() == before
        error = desk.fails("confirm_required", "doctor", "repair")
        assert error["details"]["suggested_commands"] == ["afmail doctor", "afmail doctor repair --confirm"], error
        assert "must be confirmed" in error["error"] and "--confirm" in error["hint"], error
        assert desk.picture() == before
        done = desk.repair()
        assert done["before_issue_count"] == 0 and done["render"]["code"] == "render_refreshed", done
        assert desk.picture() == before


# --- messages ---

def message_cache_invalid():
    with Desk() as desk:
        path = f"messages/{desk.ids[0]}.json"
        record = desk.document(path)
        for content, text in (("{", "not valid JSON"), (record | {"schema_name": "x"}, "schema message, version 1"),
                (record | {"message_id": "x"}, "not that of the file's name"),
                (record | {"direction": "up"}, "unknown direction 'up'"),
                (record | {"workspace": {"status": "lost"}}, "unknown status 'lost'"),
                (record | {"workspace": {}}, "has no status")):
            desk.write(path, content)
            desk.tells("message_cache_invalid", path, text, True, refs=[desk.ids[0]])
            assert desk.repair()["message_cache_rebuilt_count"] == 1
            assert desk.document(path)["message_id"] == desk.ids[0]
        desk.write(path, "{")
        desk.delete(f".afmail/messages/{desk.ids[0]}.eml")
        desk.tells("message_cache_invalid", path, "The raw message is gone too", False, others=["message_eml_missing", "view_stale"])


def message_eml_missing():
    with Desk() as desk:
        path = f".afmail/messages/{desk.ids[2]}.eml"
        desk.delete(path)
        desk.tells("message_eml_missing", path, "Restore it from a backup or pull it again", False)
        desk.repair(["message_eml_missing"])


def message_remote_missing():
    with Desk() as desk:
        path = f".afmail/messages/{desk.ids[2]}.remote.json"
        desk.write(path, old.sidecar(desk.ids[2]))
        desk.repair()
        before = desk.document(path)
        desk.delete(path)
        desk.tells("message_remote_missing", path, "Repairing writes it from the message's record", True, "warning")
        assert desk.repair()["render"]["message_cache_rebuilt_count"] == 1
        assert desk.document(path) == before
        desk.write(path, "{}")
        desk.tells("message_remote_invalid", path, "Correct the file, or delete it and repair", False)
        desk.delete(path)
        desk.repair()


def message_sidecar_orphaned():
    with Desk() as desk:
        path = ".afmail/messages/message_x.remote.json"
        desk.write(path, old.sidecar("message_x"))
        desk.tells("message_sidecar_orphaned", path, "Repairing deletes it", True, "warning")
        assert desk.repair()["sidecar_removed_count"] == 1
        assert not os.path.exists(desk.path(path))
        path = f".afmail/messages/{desk.ids[2]}.remote.json"
        desk.write(path, old.sidecar(desk.ids[2]))
        desk.delete(f"messages/{desk.ids[2]}.json")
        desk.tells("message_sidecar_orphaned", path, "The message has no record. Repairing makes it", True, "warning")
        desk.repair()
        assert desk.document(f"messages/{desk.ids[2]}.json")["remote"]["locations"][0]["uid"] == 7
        assert os.path.exists(desk.path(path))


def message_state_deprecated():
    with Desk() as desk:
        path = f".afmail/messages/{desk.ids[2]}.state.json"
        desk.write(path, {"status": "spam", "updated_rfc3339": "2026-05-05T10:00:00Z"})
        text = f".afmail/messages/{desk.ids[0]}.txt"
        desk.write(text, "Hello.\n")
        desk.tells("message_state_deprecated", path, "takes over what it says and deletes it", True, "warning",
            [desk.ids[2]], ["legacy_state_present"])
        done = desk.repair()
        assert done["deprecated_state_removed_count"] == 1 and done["text_cache_removed_count"] == 1, done
        assert desk.document("spam/data/spam.json")["items"] == [
            {"message_id": desk.ids[2], "added_rfc3339": "2026-05-05T10:00:00Z"}]
        assert desk.ok("status")["message_status"] == {"triage": 2, "spam": 1}
        desk.write(path, "{")  # what it says is not known, so it is not deleted
        desk.tells("message_state_deprecated", path, "cannot be read: correct or delete it", False, "warning")
        desk.repair(["message_state_deprecated"])


# --- lists ---

def references():
    with Desk() as desk:
        for path, document, code, uid in (
                (CASE + "/data/case.json", old.case("c20260504001", "A", ["message_x"]), "case_message_ref_broken", "c20260504001"),
                (CATEGORY + "/data/notification.json", old.category("a20260504001", "N", ["message_x"]),
                    "archive_message_ref_broken", "a20260504001"),
                ("trash/data/trash.json", old.disposition("trash", ["message_x"]), "disposition_ref_broken", "trash")):
            desk.write(path, document)
            assert [issue["code"] for issue in desk.ok("doctor")["issues"]] == [code]  # the views follow from it
            desk.repair([code])
            desk.tells(code, path, "Message message_x is listed here and is not there", False, refs=[uid, "message_x"])
            desk.write(path, document | {"items": []})
            desk.repair()


def multiple_dispositions():
    with Desk() as desk:
        desk.write("spam/data/spam.json", old.disposition("spam", desk.ids[2:]))
        desk.write("trash/data/trash.json", old.disposition("trash", desk.ids[2:]))
        desk.repair(["message_multiple_dispositions"])
        desk.tells("message_multiple_dispositions", "trash", f"{desk.ids[2]} is listed in spam too", False, refs=desk.ids[2:])
        desk.write("trash/data/trash.json", old.disposition("trash"))
        desk.repair()
        desk.write(CATEGORY + "/data/notification.json", old.category("a20260504001", "N", desk.ids[2:]))
        desk.repair(["message_multiple_dispositions"])


def broken_lists():
    """A list that cannot be read is one issue, and the rest goes on."""
    with Desk() as desk:
        desk.write(CASE + "/data/case.json", '{"schema_name": "case", "sch')
        desk.write(CATEGORY + "/data/notification.json", {"schema_name": "notification", "schema_version": 2})
        desk.write("spam/data/spam.json", {"schema_name": "trash", "schema_version": 1})
        desk.write(f"messages/{desk.ids[2]}.json", "{")
        others = ["archive_messages_invalid", "disposition_messages_invalid", "message_cache_invalid"]
        desk.tells("case_metadata_invalid", CASE + "/data/case.json", "not valid JSON", False, refs=["c20260504001"], others=others)
        desk.repair(["case_metadata_invalid", *others[:2]])
        assert desk.document(f"messages/{desk.ids[2]}.json")["message_id"] == desk.ids[2]
        assert desk.read(CASE, "data", "case.json") == '{"schema_name": "case", "sch'


def duplicates():
    with Desk() as desk:
        desk.write(CASE + "/data/case.json", old.case("c20260504001", "A"))
        desk.write("archive/cases/c20260504001-A/data/case.json", old.case("c20260504001", "A", status="archived"))
        desk.repair(["duplicate_case_uid"])
        desk.tells("duplicate_case_uid", CASE, "The case archive/cases/c20260504001-A has the same uid", False, refs=["c20260504001"])
        shutil.rmtree(desk.path("archive/cases/c20260504001-A"))
        for name in ("N", "O"):
            desk.write(f"archive/notifications/a20260504001-{name}/data/notification.json", old.category("a20260504001", name))
        desk.repair(["duplicate_archive_uid"])
        desk.tells("duplicate_archive_uid", "archive/notifications/a20260504001-O",
            "The category archive/notifications/a20260504001-N has the same uid", False, refs=["a20260504001"])


def case_dir_name_drift():
    with Desk() as desk:
        desk.write("cases/open/c20260504001-Renamed-by-hand/data/case.json", old.case("c20260504001", "A", desk.ids[:2]))
        desk.write("cases/open/c20260504001-Renamed-by-hand/notes.md", "Mine.\n")
        desk.repair()  # the views are made, and the name is put right
        assert desk.read(CASE, "notes.md") == "Mine.\n" and os.path.exists(desk.path(CASE, "case.md"))
        os.rename(desk.path(CASE), desk.path("cases/open/c20260504001-B"))
        desk.tells("case_dir_name_drift", "cases/open/c20260504001-B", f"Repairing renames it to {CASE}.", True, "warning",
            ["c20260504001"])
        assert desk.repair()["directory_renamed_count"] == 1
        assert os.listdir(desk.path("cases/open")) == ["c20260504001-A"]
        os.rename(desk.path(CASE), desk.path("cases/open/c20260504001-B"))
        desk.write(CASE + "/data/case.json", old.case("c20260504001", "A"))
        desk.repair(["case_dir_name_drift", "duplicate_case_uid"])
        desk.tells("case_dir_name_drift", "cases/open/c20260504001-B", "once nothing else stands there", False, "warning",
            others=["duplicate_case_uid"])


def drafts():
    with Desk() as desk:
        desk.write(CASE + "/data/case.json", old.case("c20260504001", "A"))
        desk.repair()
        desk.write(CASE + "/drafts/one.md", "no head\n")
        desk.tells("draft_invalid", CASE + "/drafts/one.md", "Correct the draft or remove it", False, "warning")
        desk.delete(CASE + "/drafts/one.md")
        desk.write(CASE + "/data/drafts.json", "{}")
        desk.tells("draft_state_invalid", CASE + "/data/drafts.json", "Delete the file", False)


# --- people ---

def contacts():
    with Desk() as desk:
        people = "contacts/people/p20260504"
        desk.write(people + "001-Ann.md", old.card("p20260504001", "Ann", "ann@example.com"))
        desk.repair()
        assert desk.document(f"messages/{desk.ids[0]}.json")["contact"]["display_name"] == "Ann"
        desk.write(people + "002-X.md", "no frontmatter")
        desk.tells("contact_invalid", people + "002-X.md", "Correct the card, or move it away", False)
        desk.write(people + "002-X.md", old.card("p20260504002", "X", "Ann@Example.com"))
        desk.tells("contact_email_duplicate", people + "002-X.md", f"ann@example.com is on {people}001-Ann.md too", False,
            refs=["p20260504001", "p20260504002"])
        desk.delete(people + "002-X.md")
        desk.write("archive/contacts/p20260504001-Old.md", old.card("p20260504001", "Old"))
        desk.tells("duplicate_contact_uid", "archive/contacts/p20260504001-Old.md",
            f"The card {people}001-Ann.md has the same uid", False, refs=["p20260504001"])


def identities():
    with Desk() as desk:
        desk.write("identities/ghost.md", "---\nkind: identity\nidentity: ghost\n---\n")
        issue = desk.tells("identity_file_invalid", "identities/ghost.md", "sends no mail", False)
        assert "ghost" in issue["message"], issue
        desk.write("identities/ghost.md", "---\nkind: [\n")
        desk.write(".afmail/config.json", "{")
        desk.tells("identity_file_invalid", "identities/ghost.md", "sends no mail", False, others=["config_invalid"])


# --- the queue ---

def queue():
    with Desk() as desk:
        path = ".afmail/push/push_20260504T120000Z.json"
        desk.write(path, "{}")
        desk.tells("push_item_invalid", path, "schema", False)
        desk.write(path, old.push("push_20260504T120000Z", "spam", message_ids=["message_x"]))
        desk.tells("push_message_ref_broken", path, "`afmail push drop push_20260504T120000Z`", False,
            refs=["push_20260504T120000Z", "message_x"])
        desk.write(path, old.push("push_20260504T120000Z", "send", case_uid="c20260504001", draft_name="one.md"))
        desk.tells("push_draft_missing", path, "The queued draft one.md of case c20260504001 is not there", False,
            refs=["push_20260504T120000Z", "c20260504001", "one.md"])
        desk.write(path, old.push("push_20260504T120000Z", "spam", message_ids=desk.ids[2:]))
        desk.tells("push_overlay_drift", f"messages/{desk.ids[2]}.json", "Repairing writes it anew", True, "warning")
        desk.repair()
        assert desk.document(f"messages/{desk.ids[2]}.json")["workspace"]["push"]["pending"][0]["kind"] == "message.spam"
        desk.delete(path)
        desk.tells("push_overlay_drift", f"messages/{desk.ids[2]}.json", "other queued items", True, "warning")
        desk.repair()


# --- the rest ---

def config_invalid():
    with Desk() as desk:
        config = desk.document(".afmail", "config.json")
        for content, text in (("{", "not valid JSON"), (config | {"surplus": 1}, "surplus"),
                (config | {"identities": []}, "identities")):
            desk.write(".afmail/config.json", content)
            desk.tells("config_invalid", ".afmail/config.json", text, False)
            assert desk.ok("doctor")["checks"]["templates"] is False
            done = desk.repair(["config_invalid"])
            assert "render" not in done, done
        desk.delete(".afmail/config.json")
        desk.tells("config_invalid", ".afmail/config.json", "is missing", False)
        desk.write(".afmail/config.json", config)
        desk.repair()


def templates():
    with Desk() as desk:
        desk.write("templates/en-US/triage/view.md.j2", "{% if %}")
        desk.tells("template_render_failed", "triage/view.md.j2", "delete it to use the built-in one", False)
        desk.repair(["template_render_failed"])
        desk.write("templates/en-US/triage/view.md.j2", "{{ message.subject.nope.deeper }}")
        desk.tells("template_render_failed", "triage/view.md.j2", "(workspace)", False)
        desk.delete("templates/en-US/triage/view.md.j2")
        desk.write("templates/en-US/message/section.md.j2", "{{ nope.deeper }}")
        desk.write("templates/en-US/notes/default.md.j2", "{{ nope.deeper }}")
        desk.tells("template_render_failed", "message/section.md.j2", "en-US/message/section.md.j2", False,
            others=["template_render_failed"])
        shutil.rmtree(desk.path("templates"))
        desk.repair()
        os.mkdir(desk.path(".afmail", "templates"))
        desk.tells("legacy_template_dir", ".afmail/templates", "Move what you need to templates/<language>/", False, "warning")


def views():
    with Desk() as desk:
        desk.delete(f"triage/{desk.ids[0]}.md")
        desk.tells("view_stale", f"triage/{desk.ids[0]}.md", "missing or out of date", True, "warning")
        desk.write("triage/message_x.md", "x\n")
        desk.tells("view_stale", "triage", "2 files here are missing, out of date", True, "warning")
        desk.repair()
        assert not os.path.exists(desk.path("triage", "message_x.md"))
        desk.write("triage/message_x.md", "x\n")
        desk.tells("view_stale", "triage/message_x.md", "of a message that does not belong there", True, "warning")
        desk.repair()
        shutil.rmtree(desk.path("messages"))
        desk.delete(".afmail/index.sqlite")
        desk.tells("view_stale", "messages", "3 files here", True, "warning")
        desk.repair()


def log():
    with Desk() as desk:
        desk.write(".afmail/logs/events.jsonl", "nonsense\n{}\n[\n")
        desk.tells("audit_log_corrupt", ".afmail/logs/events.jsonl", "2 lines of the audit log cannot be read", False, "warning")


def layout():
    with Desk() as desk:
        sentinel = desk.read(".afmail", "DO_NOT_EDIT.txt")
        assert sentinel.endswith("\nLayout version: 1\n"), sentinel
        desk.write(".afmail/DO_NOT_EDIT.txt", sentinel.replace("version: 1", "version: 2"))
        desk.tells("layout_unknown", ".afmail/DO_NOT_EDIT.txt", "has layout version 2", False)
        for command in (CONFIRM, ("import", desk.path("x.eml"))):
            error = desk.fails("store_error", *command)
            assert "has layout version 2, and this program knows versions up to 1" in error["error"], error
            assert "newer" in error["hint"], error
        assert desk.ok("status")["message_count"] == 3
        desk.write(".afmail/DO_NOT_EDIT.txt", "Mine.")
        desk.repair()
        assert desk.read(".afmail", "DO_NOT_EDIT.txt") == "Mine.\nLayout version: 1\n"


def transactions():
    with Desk() as desk:
        path = ".afmail/transactions/t.json"
        mark = {"schema_name": "local_transaction", "schema_version": 1, "transaction_id": "t", "kind": "case_archive",
            "created_rfc3339": old.TIME}
        desk.write(path, mark)
        desk.tells("transaction_incomplete", path, "interrupted in a change (case_archive)", True)
        error = desk.fails("transaction_incomplete", "import", desk.path("x.eml"))
        assert error["details"]["transaction_paths"] == [path], error
        assert desk.repair()["transaction_removed_count"] == 1
        for content in ("{", mark | {"steps": [{"step": "remove", "path": "../x"}]}):
            desk.write(path, content)
            desk.tells("transaction_incomplete", path, "cannot be read", False)
            error = desk.fails("transaction_incomplete", *CONFIRM)
            assert error["details"]["transaction_paths"] == [path], error
        desk.delete(path)


def in_the_way():
    """Two commands at once."""
    with Desk() as desk:
        with open(desk.path(".afmail", "workspace.lock"), "r+", encoding="utf-8") as lock:
            fcntl.flock(lock, fcntl.LOCK_SH)
            assert desk.issues() == []
            desk.fails("confirm_required", "doctor", "repair")
            error = desk.fails("workspace_locked", *CONFIRM)
            assert error["retryable"] is True, error


def for_people():
    with Desk() as desk:
        def mailroom(*args):
            done = subprocess.run([desk.program, "work", *args], cwd=desk.dir, env=desk.env(), capture_output=True, text=True,
                timeout=120, check=False)
            assert done.returncode == 0 and done.stderr == "", describe(done)
            return done.stdout
        assert mailroom("doctor") == "The workspace is in order.\n"
        assert mailroom(*CONFIRM) == "There was nothing to repair.\n"
        desk.write(f"messages/{desk.ids[0]}.json", "{")
        desk.write("contacts/people/p20260504001-X.md", "x")
        desk.delete(f"triage/{desk.ids[2]}.md")
        text = mailroom("doctor")
        assert text.startswith(f"message_cache_invalid (error, repairable)\n  messages/{desk.ids[0]}.json\n    The record"), text
        assert "contact_invalid (error)\n  contacts/people/p20260504001-X.md\n" in text, text
        assert text.endswith("\n2 errors and 1 warning.\n2 can be repaired: run `mailroom work doctor repair --confirm`.\n"), text
        text = mailroom(*CONFIRM)
        assert text.startswith("Of 3 issues 1 remains.\n  1 record was made anew\n\ncontact_invalid (error)\n"), text


def generation_0_3():
    """Documents as the reference 0.3.0 writes them: what is empty is left out."""
    with Workspace(PROGRAM) as desk:
        ids = desk.deliver(*(mail(number) for number in range(1, 6)))

        def put(path, document):
            old.write(desk.dir, path, document)
        for message_id in ids:
            put(f".afmail/messages/{message_id}.remote.json", {"schema_name": "message_remote", "schema_version": 1,
                "message_id": message_id, "locations": [{"mailbox_name": "INBOX", "mailbox_id": "inbox", "uid_validity": 44,
                    "uid": 1, "observed_rfc3339": old.TIME}]})
        put("cases/open/c20260504001-A/data/case.json", {"schema_name": "case", "schema_version": 1,
            "collection_uid": "c20260504001", "collection_name": "A", "status": "active", "created_rfc3339": old.TIME,
            "updated_rfc3339": old.TIME, "message_count": 1, "last_message_rfc3339": old.TIME, "items": [old.entry(ids[0])]})
        put("archive/cases/c20260504002-B/data/case.json", {"schema_name": "case", "schema_version": 1,
            "collection_uid": "c20260504002", "collection_name": "B", "status": "archived", "created_rfc3339": old.TIME,
            "updated_rfc3339": old.TIME, "archived_rfc3339": old.TIME, "items": [old.entry(ids[1])]})
        put("archive/notifications/a20260504001-N/data/notification.json", {"schema_name": "notification", "schema_version": 1,
            "collection_uid": "a20260504001", "collection_name": "N", "created_rfc3339": old.TIME,
            "updated_rfc3339": old.TIME, "items": [old.entry(ids[2])]})
        put("spam/data/spam.json", old.disposition("spam", [ids[3]]) | {"created_rfc3339": old.TIME, "message_count": 1})
        put(".afmail/push/push_20260504T120000Z.json", old.push("push_20260504T120000Z", "spam", message_ids=[ids[3]],
            locations=[{"message_id": ids[3], "mailbox_name": "INBOX", "uid_validity": 44, "uid": 1}]))
        put("cases/open/c20260504001-A/drafts/new-x.md", "---\nkind: draft\ncase_uid: c20260504001\nsend_intent: new\n"
            "subject: X\nto:\n- ann@example.com\n---\n\nText.\n")
        put("cases/open/c20260504001-A/notes.md", "# Notes\n")
        put("contacts/people/p20260504001-Ann.md", "---\nkind: contact\ncontact_uid: p20260504001\ndisplay_name: Ann\nemails:\n"
            "- ann@example.com\nphones:\n- '13800138000'\norganization: ''\nrole: ''\ntags: []\n"
            f"created_rfc3339: {old.TIME}\nupdated_rfc3339: {old.TIME}\n---\n## Ann\n\n")
        put(".afmail/DO_NOT_EDIT.txt", "Do not edit.\n")
        os.unlink(desk.path(".afmail", "index.sqlite"))
        status = desk.ok("status")
        assert status["message_status"] == {"archived": 1, "case": 2, "spam": 1, "triage": 1}, status
        assert (status["contact_count"], status["push_count"]) == (1, 1), status
        assert {i["code"] for i in desk.ok("doctor")["issues"]} == {"view_stale", "push_overlay_drift"}
        canonical = [name for name in desk.files() if name.endswith(("case.json", "notification.json", "spam.json", "Ann.md",
            ".remote.json", "new-x.md", "notes.md"))]
        before = [desk.read(name) for name in canonical]
        assert desk.ok(*CONFIRM)["remaining_issues"] == []
        assert [desk.read(name) for name in canonical] == before
        assert desk.deliver(mail(7)) and desk.ok("doctor")["ok"]


def edited_by_hand():
    """A file that is edited where it stands is noticed, and the next command that writes brings the views up to date."""
    def edit(desk, path, change):
        with open(desk.path(path), "r+", encoding="utf-8") as file:
            document = json.load(file)
            change(document)
            file.seek(0)
            json.dump(document, file)
            file.truncate()

    with Desk() as desk:
        remote = f".afmail/messages/{desk.ids[2]}.remote.json"
        desk.write(remote, old.sidecar(desk.ids[2]))
        desk.write(CASE + "/data/case.json", old.case("c20260504001", "A", desk.ids[:1]))
        desk.write("contacts/people/p20260504001-Ann.md", old.card("p20260504001", "Ann", "ann@example.com"))
        desk.repair()
        assert desk.ok("status")["remote_missing_count"] == 0
        edit(desk, remote, lambda d: d["locations"][0].update(missing_rfc3339=old.TIME))
        assert desk.ok("status")["remote_missing_count"] == 1
        edit(desk, CASE + "/data/case.json", lambda d: d["items"].append(old.entry(desk.ids[1])))
        assert desk.ok("status")["message_status"] == {"case": 2, "triage": 1}
        with open(desk.path("contacts/people/p20260504001-Ann.md"), "r+", encoding="utf-8") as file:
            file.write(old.card("p20260504001", "Eve", "ann@example.com"))
        assert {i["code"] for i in desk.issues()} == {"view_stale"}
        desk.deliver(mail(9, sender="Bob <bob@example.com>"))
        assert desk.issues() == []
        assert desk.document(f"messages/{desk.ids[2]}.json")["contact"]["display_name"] == "Eve"
        assert not os.path.exists(desk.path("triage", desk.ids[1] + ".md"))


def generation_0_1():
    with Workspace(PROGRAM) as desk:
        ids = desk.deliver(*(mail(number) for number in range(1, 6)))
        old.make_0_1(desk.dir, ids)
        error = desk.fails("config_invalid", "import", desk.path("x.eml"))
        assert "afmail doctor repair --confirm" in error["hint"], error
        codes = sorted(i["code"] for i in desk.ok("doctor")["issues"])
        assert codes == sorted(["config_invalid", "message_state_deprecated", "message_state_deprecated",
            "message_state_deprecated", *["legacy_state_present"] * 5, "push_item_invalid"]), codes
        done = desk.ok(*CONFIRM)
        assert done["remaining_issues"] == [], done["remaining_issues"]
        assert (done["migrated_case_count"], done["migrated_category_count"], done["migrated_message_count"],
            done["migrated_push_count"], done["config_migrated"]) == (2, 1, 2, 1, True), done
        assert (done["deprecated_state_removed_count"], done["text_cache_removed_count"]) == (3, 1), done
        assert desk.ok("doctor")["ok"]
        assert desk.document(".afmail", "config.json")["identities"] == [
            {"identity": "me", "name": "Support Team", "email": "hello@example.com", "default": True}]
        assert "from" not in desk.document(".afmail", "config.json")["smtp"]
        case = desk.document("cases", "open", "c20260504001-Renewal", "data", "case.json")
        assert (case["schema_name"], case["collection_uid"], case["collection_name"], case["tags"], case["items"]) == (
            "case", "c20260504001", "Renewal", ["old"], [old.entry(ids[0])]), case
        case = desk.document("archive", "cases", "c20260504002-Done", "data", "case.json")
        assert (case["status"], case["items"]) == ("archived", [old.entry(ids[1])]), case
        category = desk.document("archive", "notifications", "a20260504001-News", "data", "notification.json")
        assert category["items"] == [{"message_id": ids[2], "summary": "A summary.", "added_rfc3339": "2026-05-06T11:00:00Z"}]
        assert desk.document("trash", "data", "trash.json")["items"] == [
            {"message_id": ids[4], "added_rfc3339": "2026-05-05T10:00:00Z"}]
        assert desk.document(".afmail", "push", "push_20260504T120000Z.json")["draft_name"] == "reply.md"
        left = [name for name in desk.files() if name.endswith((".state.json", ".txt", "messages.json", "archive.json"))
            or (name.startswith(".afmail/push/") and name.endswith(".eml"))]
        assert left == [".afmail/DO_NOT_EDIT.txt"], left
        status = desk.ok("status")
        assert status["message_status"] == {"archived": 1, "case": 2, "spam": 1, "trashed": 1}, status
        assert (status["push_count"], status["case_count"], status["archived_case_count"]) == (1, 1, 1), status
        assert desk.events("workspace_repaired")[0]["migrated_case_count"] == 2
        assert desk.deliver(mail(6)) and desk.ok("doctor")["ok"]
        before = desk.files()
        assert "config_migrated" not in desk.ok(*CONFIRM)
        assert desk.files() == before


def generation_0_1_unreadable():
    """What cannot be understood stays as it is."""
    with Workspace(PROGRAM) as desk:
        ids = desk.deliver(*(mail(number) for number in range(1, 6)))
        old.make_0_1(desk.dir, ids)
        desk.put("[1]", "cases", "open", "c20260504001-Renewal", "data", "messages.json")
        item = desk.document(".afmail", "push", "push_20260504T120000Z.json")
        item["step_states"] = [{"index": 0, "label": "smtp_send", "status": "failed", "started_rfc3339": old.TIME}]
        desk.put(json.dumps(item), ".afmail", "push", "push_20260504T120000Z.json")
        done = desk.ok(*CONFIRM)
        codes = sorted(i["code"] for i in done["remaining_issues"])
        assert codes == ["case_metadata_invalid", "legacy_state_present", "legacy_state_present", "push_item_invalid"], \
            done["remaining_issues"]
        assert desk.read("cases", "open", "c20260504001-Renewal", "data", "messages.json") == "[1]"
        assert os.path.exists(desk.path(".afmail", "push", "push_20260504T120000Z.eml"))
        assert desk.document(".afmail", "push", "push_20260504T120000Z.json") == item


with Tap() as tap:
    for test in (healthy, message_cache_invalid, message_eml_missing, message_remote_missing, message_sidecar_orphaned,
            message_state_deprecated, references, multiple_dispositions, broken_lists, duplicates, case_dir_name_drift, drafts,
            contacts, identities, queue, config_invalid, templates, views, log, layout, transactions, in_the_way, for_people,
            edited_by_hand, generation_0_3, generation_0_1, generation_0_1_unreadable):
        tap.run(test.__name__, test)
