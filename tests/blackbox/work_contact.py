"""usage: work_contact.py PROGRAM SOURCE - contacts of an e-mail workspace."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from tap import Tap  # noqa: E402
from workspace import Workspace, mail  # noqa: E402


def create(w, name, *more):
    return w.ok("contact", "create", "--name", name, *more)["contact_uid"]


def a_contact_from_making_to_deleting(w):
    made = w.ok("contact", "create", "--name", "Zhang San", "--email", "Zhang@Example.com", "--email", " z2@example.com",
        "--phone", "13800138000", "--phone", "+49 30 1", "--org", "Acme", "--role", "Buyer", "--tag", "vip", "--tag", "eu")
    uid = made["contact_uid"]
    assert made["code"] == "contact_created" and made["emails"] == ["zhang@example.com", "z2@example.com"], made
    assert made["contact_path"] == f"contacts/people/{uid}-Zhang-San.md" and made["group"] == "people", made
    listed = w.ok("contact", "list")
    assert listed["count"] == 1 and listed["contacts"][0]["phones"] == ["13800138000", "+49 30 1"], listed
    assert listed["contacts"][0]["organization"] == "Acme" and listed["contacts"][0]["tags"] == ["vip", "eu"], listed
    shown = w.ok("contact", "show", uid)
    assert shown["content"] == w.read(made["contact_path"]) and not shown.get("is_archived"), shown
    assert w.ok("contact", "move", uid, "--group", "vips")["changed"]
    assert not w.ok("contact", "move", uid, "--group", "vips").get("changed")
    assert not os.path.exists(w.path("contacts", "people"))
    renamed = w.ok("contact", "rename", uid, "--name", "Zhang Wu")
    assert renamed["contact_path"] == f"contacts/vips/{uid}-Zhang-Wu.md" and renamed["display_name"] == "Zhang Wu", renamed
    assert w.ok("contact", "email", "add", uid, "Third@Example.com")["emails"][-1] == "third@example.com"
    assert w.ok("contact", "email", "remove", uid, "z2@example.com")["emails"] == ["zhang@example.com", "third@example.com"]
    assert w.ok("contact", "email", "remove", uid, "nobody@example.com")["code"] == "contact_email_removed"
    assert w.ok("contact", "phone", "add", uid, "5")["phones"] == ["13800138000", "+49 30 1", "5"]
    assert w.ok("contact", "phone", "remove", uid, "5")["phones"] == ["13800138000", "+49 30 1"]
    assert w.ok("contact", "tag", uid, "new")["tags"] == ["vip", "eu", "new"]
    assert w.ok("contact", "untag", uid, "eu")["tags"] == ["vip", "new"]
    w.ok("contact", "notes", "append", uid, "--text", "Likes tea.")
    assert w.ok("contact", "notes", "show", uid)["notes"] == "## Zhang San\n\nLikes tea.\n"
    w.ok("contact", "notes", "replace", uid, "--text", "Likes coffee.")
    assert w.ok("contact", "notes", "show", uid)["notes"] == "Likes coffee.\n"
    archived = w.ok("contact", "archive", uid, "--reason", "left")
    assert archived["contact_path"] == f"archive/contacts/{uid}-Zhang-Wu.md", archived
    assert w.ok("contact", "show", uid)["is_archived"] and w.ok("contact", "list")["count"] == 0
    assert w.ok("contact", "reopen", uid, "--group", "old", "--reason", "came back")["group"] == "old"
    assert w.ok("contact", "delete", uid, "--reason", "asked for it")["code"] == "contact_deleted"
    assert w.ok("contact", "list")["count"] == 0 and not os.path.exists(w.path("contacts", "old"))
    kinds = [event["kind"] for event in w.events()]
    assert kinds[0] == "contact_created" and kinds[-1] == "contact_deleted", kinds
    assert w.events("contact_archived")[0]["reason"] == "left"


def a_list_can_be_narrowed(w):
    ann = create(w, "Ann", "--group", "a", "--tag", "x", "--org", "Acme", "--role", "Boss")
    bob = create(w, "Bob", "--group", "b", "--tag", "x")

    def uids(*filters):
        return [one["contact_uid"] for one in w.ok("contact", "list", *filters).get("contacts", [])]

    assert uids() == [ann, bob] and uids("--tag", "x") == [ann, bob] and uids("--group", "b") == [bob]
    assert uids("--tag", "x", "--org", "Acme") == [ann] and uids("--role", "boss") == []


def what_is_refused(w):
    uid = create(w, "Ann", "--email", "ann@example.com")
    other = create(w, "Bob")
    error = w.fails("email_conflict", "contact", "create", "--name", "X", "--email", "ANN@example.com")
    assert error["error"] == f"ann@example.com is an address of contact {uid} (Ann)", error
    assert error["details"] == {"email": "ann@example.com", "existing_contact_uid": uid}, error
    assert w.fails("email_conflict", "contact", "email", "add", other, "ann@example.com")["hint"]
    error = w.fails("invalid_request", "contact", "create", "--name", "X", "--email", "no address")
    assert "no address" in error["error"], error
    assert "the group" in w.fails("invalid_request", "contact", "create", "--name", "X", "--group", "a/b")["error"]
    assert "the name" in w.fails("invalid_request", "contact", "create", "--name", "a/b")["error"]
    assert "the name" in w.fails("invalid_request", "contact", "rename", uid, "--name", " ")["error"]
    assert "the tag" in w.fails("invalid_request", "contact", "tag", uid, "a/b")["error"]
    error = w.fails("not_found", "contact", "show", "p20200101001")
    assert error["error"] == "contact p20200101001 is unknown", error
    assert error["details"] == {"contact_uid": "p20200101001"} and "contact list" in error["hint"], error
    assert "contact" in w.fails("invalid_request", "contact", "show", "c20200101001")["error"]
    error = w.fails("reason_required", "contact", "archive", uid)
    assert error["details"] == {"required_option": "--reason", "config_key": "audit.reason_mode"}, error
    w.ok("contact", "archive", uid, "--reason", "r")
    error = w.fails("not_found", "contact", "tag", uid, "x")
    assert "archived" in error["error"] and "contact reopen" in error["hint"], error
    w.fails("not_found", "contact", "archive", uid, "--reason", "r")
    w.fails("not_found", "contact", "reopen", other, "--reason", "r")


def command_lines_that_are_wrong(w):
    uid = create(w, "Ann")
    for args, words in ((["create"], "--name"), (["move", uid], "--group"), (["rename", uid], "--name"),
            (["email", "add", uid], "EMAIL"), (["tag", uid], "TAG"), (["notes", "append", uid], "--text"),
            (["list", "--name", "x"], "--name"), (["extract", "--all", "--from-triage"], "exclude each other"),
            (["extract", "--from-case", "c1", "--all"], "exclude each other")):
        error = w.fails(None, "contact", *args)
        assert words in error["error"] and error["hint"].startswith("try: afmail contact"), (args, error)


def broken_cards_are_named(w):
    uid = create(w, "Ann")
    w.put("no head", "contacts", "people", "p20200101009-X.md")
    listed = w.ok("contact", "list")
    assert listed["count"] == 1 and listed["invalid_paths"] == ["contacts/people/p20200101009-X.md"], listed
    assert w.ok("contact", "show", "p20200101009")["content"] == "no head"
    error = w.fails("invalid_contact", "contact", "notes", "show", "p20200101009")
    assert error["error"].startswith("contacts/people/p20200101009-X.md: "), error
    w.fails("invalid_contact", "contact", "tag", "p20200101009", "x")
    w.put(w.read("contacts", "people", f"{uid}-Ann.md"), "contacts", "other", f"{uid}-Ann.md")
    error = w.fails("duplicate_contact_uid", "contact", "show", uid)
    assert "contacts/other/" in error["error"] and "contacts/people/" in error["error"], error


def senders_become_contacts(w):
    w.deliver(mail(1, sender="Ann <Ann@example.com>"), mail(2, sender='"Doe, Bo" <bo@example.com>'), mail(3, sender="Me <me@example.com>"),
        mail(4, sender="ann@example.com"))
    done = w.ok("contact", "extract")
    assert done["created_count"] == 2 and done["skipped_count"] == 1 and len(done["created_uids"]) == 2, done
    contacts = w.ok("contact", "list")["contacts"]
    assert [(one["display_name"], one["emails"]) for one in contacts] == [("Ann", ["ann@example.com"]),
        ("Doe, Bo", ["bo@example.com"])], contacts
    assert w.ok("contact", "extract", "--all", "--group", "x")["created_count"] == 0
    error = w.fails("not_found", "contact", "extract", "--from-case", "c20200101001")
    assert error["error"] == "there is no case 'c20200101001'", error
    # The messages name their sender from then on.
    ids = sorted(name for name in os.listdir(w.path("messages")))
    assert w.document("messages", ids[0])["contact"]["contact_uid"] == contacts[0]["contact_uid"]


def people_read_text(w):
    def text(*args, **options):
        done = w.run("work", "contact", *args, **options)
        assert done.returncode == 0, done
        return done.stdout

    assert text("list") == "No contacts.\n"
    uid = create(w, "Zhang San", "--email", "zhang@example.com", "--tag", "vip")
    lines = text("list").splitlines()
    assert lines[0].split() == ["name", "addresses", "tags", "group", "uid"], lines
    assert lines[1].split() == ["Zhang", "San", "zhang@example.com", "vip", "people", uid], lines
    page = text("show", uid)
    assert page.startswith("Zhang San\n  Addresses    zhang@example.com\n  Tags         vip\n"), page
    assert page.endswith("\n\n## Zhang San\n"), page
    assert text("notes", "show", uid) == "## Zhang San\n\n"
    assert text("notes", "append", uid, "--text", "-", stdin="From a pipe.") == f"The notes on contact {uid} are written.\n"
    assert text("show", uid).endswith("\n\nFrom a pipe.\n")
    assert text("tag", uid, "eu") == f"Contact {uid} has the tags vip, eu.\n"
    assert text("email", "remove", uid, "zhang@example.com") == f"Contact {uid} has no addresses.\n"
    assert text("phone", "add", uid, "5") == f"Contact {uid} has the telephone numbers 5.\n"
    assert text("move", uid, "--group", "new") == f"Contact {uid} is now in the group new.\n"
    assert text("move", uid, "--group", "new") == f"Contact {uid} was already in the group new.\n"
    assert text("rename", uid, "--name", "Li") == f"Contact {uid} is now called Li.\n"
    assert text("archive", uid, "--reason", "r") == f"Contact {uid} is archived: archive/contacts/{uid}-Li.md\n"
    assert "\n  Group        archived\n" in text("show", uid)
    assert text("reopen", uid, "--reason", "r") == f"Contact {uid} is active again, in the group people.\n"
    w.put("\x1b[31mno head", "contacts", "people", "p20200101009-X.md")
    assert text("list").endswith("\nCards that cannot be read: contacts/people/p20200101009-X.md\n")
    broken = text("show", "p20200101009")
    assert "cannot be read" in broken and "no head\n" in broken and "\x1b" not in broken, broken
    assert text("delete", uid, "--reason", "r") == f"Contact {uid} is deleted.\n"
    assert text("create", "--name", "Bo").startswith("Contact p")
    w.deliver(mail(1))
    assert "1 new contact: p" in text("extract")
    assert text("extract") == "0 new contacts.\n1 message was from people who were contacts already.\n"


TESTS = [a_contact_from_making_to_deleting, a_list_can_be_narrowed, what_is_refused, command_lines_that_are_wrong,
    broken_cards_are_named, senders_become_contacts, people_read_text]


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    with Tap() as tap:
        for test in TESTS:
            with Workspace(sys.argv[1]) as w:
                tap.run(test.__name__.replace("_", " "), lambda: test(w))


main()
