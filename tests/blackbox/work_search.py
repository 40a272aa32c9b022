"""usage: work_search.py PROGRAM SOURCE - search in a workspace, by a program and by a person at a terminal."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support"))

from mailroom import describe  # noqa: E402
from tap import Tap  # noqa: E402
from workspace import Workspace, mail  # noqa: E402

PROGRAM = sys.argv[1]

with_picture = "\r\n".join([
    "--b", "Content-Type: text/plain", "", "look at these", "--b", "Content-Type: image/png",
    "Content-Disposition: attachment; filename=sunset-beach.png", "", "x", "--b--", ""])


def filled():
    desk = Workspace(PROGRAM)
    ids = desk.deliver(
        mail(1, "Invoice 4711", body="Please pay the invoice by Friday.\r\n"),
        mail(2, "Re: payment", "Ben <ben@example.net>", "Ann <ann@example.com>", "The invoice is paid, see \u65e5\u672c\u8a9e.\r\n",
            more=["Content-Type: text/plain; charset=utf-8"]),
        mail(3, "holidays", body=with_picture, more=["MIME-Version: 1.0", "Content-Type: multipart/mixed; boundary=b"]))
    return desk, ids


def finds_messages():
    desk, ids = filled()
    with desk:
        result = desk.ok("search", "invoice")
        assert result["code"] == "search_result" and result["query"] == "invoice" and result["count"] == 2, result
        first = result["items"][0]
        assert first["message_id"] == ids[0] and first["subject"] == "Invoice 4711", first
        assert first["from"] == "Ann <ann@example.com>" and first["status"] == "triage", first
        assert first["time"] == "2026-05-04T01:00:00Z" and first["view_path"] == f"triage/{ids[0]}.md", first
        assert os.path.exists(desk.path(first["view_path"]))
        assert first["snippet"] == "Please pay the invoice by Friday.", first
        assert first["offsets"] == [{"start": 15, "end": 22}], first
        for query, wanted in (("from:ben", [1]), ("to:ann", [1]), ("attachment:beach", [2]), ("has:attachment", [2]),
                ('"pay the"', [0]), ("paym*", [1]), ("\u672c", [1]), ("since:2026-05-04 subject:holidays", [2]), ("zebra", [])):
            found = [item["message_id"] for item in desk.ok("search", query)["items"]]
            assert found == [ids[i] for i in wanted], (query, found)


def options_narrow_the_search():
    desk, ids = filled()
    with desk:
        assert desk.ok("search", "invoice", "--limit", "1")["count"] == 1
        assert desk.ok("search", "invoice", "--status", "spam")["count"] == 0
        assert desk.ok("search", "invoice", "--status", "triage")["count"] == 2
        assert desk.ok("search", "invoice", "--since", "2026-05-05")["count"] == 0
        late = desk.ok("search", "invoice", "--since", "2026-05-04T01:30:00Z", "--until", "2026-05-04")
        assert [item["message_id"] for item in late["items"]] == [ids[1]], late


def new_mail_is_found_at_once():
    desk, _ = filled()
    with desk:
        assert desk.ok("search", "zebra")["count"] == 0
        desk.deliver(mail(4, "A zebra"))
        assert desk.ok("search", "zebra")["count"] == 1
        os.unlink(desk.path(".afmail", "index.sqlite"))  # a projection: made again
        assert desk.ok("search", "zebra")["count"] == 1


def says_what_is_wrong():
    desk, _ = filled()
    with desk:
        for query, text in (
                ("", "there is nothing to look for: the query is empty"),
                ('say "hi', "the query cannot be understood: a quotation mark has no second one"),
                ("(a b", "the query cannot be understood: a parenthesis is opened and not closed"),
                ("a) b", "the query cannot be understood: a parenthesis is closed and was not opened"),
                ("a AND", "the query cannot be understood: AND, OR, NOT or a column has nothing to stand with"),
                ("(" * 40 + "a" + ")" * 40, "the query cannot be understood: too many parentheses stand in each other"),
                ("()", "the query cannot be understood: it has no words"),
                ("status:new", "the filter status:new makes no sense: expected triage, case, archived, spam, trashed or"),
                ("since:yore", "the filter since:yore makes no sense: expected a date, a time or a duration (2026-03-11, 7d)")):
            error = desk.fails("invalid_request", "search", query)
            assert error["error"].startswith(text) and error["retryable"] is False, (query, error)
        error = desk.fails("invalid_request", "search", "a", "--since", "yore")
        assert error["error"].startswith("--since yore makes no sense"), error
        many = "a " + "-has:attachment " * 32
        error = desk.fails("invalid_request", "search", many, "--until", "1d")
        assert error["error"] == "the query has more than 31 filters", error
        desk.fails(None, "search", "a", "--status", "new")
        desk.fails(None, "search", "a", "--limit", "0")
        desk.fails(None, "search", "a", "--limit", "1001")
        desk.fails(None, "search")


def a_person_sees_text():
    desk, ids = filled()
    with desk:
        done = desk.run("work", "search", "invoice")
        assert done.returncode == 0 and "Invoice 4711  Ann <ann@example.com>, triage, " in done.stdout, describe(done)
        assert "\n    Please pay the invoice by Friday.\n" in done.stdout, describe(done)
        assert f"\n    triage/{ids[0]}.md\n" in done.stdout, describe(done)
        shown = desk.in_a_terminal("work", "search", "invoice", env={"TERM": "xterm"})
        assert "Please pay the \033[1minvoice\033[0m by Friday." in shown, shown
        done = desk.run("work", "search", "zebra")
        assert done.stdout == "Nothing found.\n", describe(done)


with Tap() as tap:
    for case in (finds_messages, options_narrow_the_search, new_mail_is_found_at_once, says_what_is_wrong, a_person_sees_text):
        tap.run(case.__name__, case)
