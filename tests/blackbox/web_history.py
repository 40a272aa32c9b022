"""usage: web_history.py PROGRAM - the pages of a project's history, and the commands that say the same."""

import html
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from mailroom import Mailroom  # noqa: E402
from tap import Tap  # noqa: E402
from webs import api, page, project  # noqa: E402

KEY = "/srv/shop"
PATH = "/mail/p/srv-shop/history"
NASTY = "<script>alert(1)</script>\"'&amp;"


def team(server):
    project(server, KEY, {"BlueLake": "checkout", "GreenCastle": "payment"})
    page(server, PATH)  # what waits is archived before it is shown: nothing of this goes with what follows


def send(server, sender, to, subject, body="A text.", **more):
    api(server, "send_message", project_key=KEY, sender_name=sender, to=to, subject=subject, body_md=body, **more)
    page(server, PATH)  # a commit of its own


def words(text):
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", text)).split())


def commits(text):
    return re.findall(r'history/commit/([0-9a-f]{40})">([^<]*)<', text)


def of_mail(server):
    """The newest commit of a message."""
    return re.search(r">mail</span>\s*<a[^>]*history/commit/([0-9a-f]{40})", page(server, PATH).text)[1]


def nothing_happened_yet(m):
    with m.serve() as server:
        api(server, "ensure_project", human_key=KEY)
        for path in (PATH, PATH + "/traffic"):
            assert page(server, path).status == 200, path
        assert "Nobody has written to anybody yet" in page(server, PATH + "/traffic").text
        assert page(server, "/mail/p/nix/history").status == 404


def what_happened_is_a_list(m):
    with m.serve() as server:
        team(server)
        send(server, "BlueLake", ["GreenCastle"], "Rounding")
        send(server, "GreenCastle", ["BlueLake"], "Re: Rounding")
        found = commits(page(server, PATH).text)
        assert [html.unescape(what) for _, what in found[:2]] == ["GreenCastle -> BlueLake | Re: Rounding",
            "BlueLake -> GreenCastle | Rounding"], found
        told = m.json("team", "history", KEY)["result"]
        assert [one["sha"] for one in told] == [sha for sha, _ in found], (told, found)
        assert told[0]["kind"] == "mail" and told[0]["agents"] == ["GreenCastle"], told[0]
        assert "GreenCastle -> BlueLake | Re: Rounding" in m.run("team", "history", KEY).stdout


def a_list_goes_on(m):
    with m.serve() as server:
        team(server)
        for number in range(60):
            send(server, "BlueLake", ["GreenCastle"], f"number {number}")
        first = page(server, PATH).text
        second = page(server, html.unescape(re.search(r'rel="next" href="([^"]+)"', first)[1])).text
        found = [what for _, what in commits(first) + commits(second) if "number" in what]
        assert [what.split()[-1] for what in found] == [str(number) for number in range(59, -1, -1)], found
        assert 'rel="next"' not in second


def a_commit_shows_what_it_changed(m):
    with m.serve() as server:
        team(server)
        send(server, "BlueLake", ["GreenCastle"], "Rounding", "First line\n\nThe *second* <b>one</b>", thread_id="T-1")
        sha = of_mail(server)
        text = page(server, f"{PATH}/commit/{sha}").text
        assert words(text).count("First line") == 2 and "The *second* <b>one</b>" in words(text), text  # the message and its digest
        assert "a copy" in text and "messages/2" in text and "files?path=messages" in text, text
        assert 'href="/mail/p/srv-shop/thread/T-1"' in text
        told = m.json("team", "history", "show", KEY, sha[:9])
        assert told["sha"] == sha and told["total"] == len(told["files"]) >= 4, told
        assert any(line["text"] == "First line" and line["kind"] == "added" for line in told["files"][0]["lines"] or told["files"][1]["lines"])
        shown = m.run("team", "history", "show", KEY, sha).stdout
        assert "+ First line" in shown and "the same as" in shown, shown


def a_change_shows_both_sides(m):
    with m.serve() as server:
        team(server)
        api(server, "update_agent_profile", project_key=KEY, agent_name="BlueLake", task_description="totals")
        sha = commits(page(server, PATH).text)[0][0]
        text = page(server, f"{PATH}/commit/{sha}").text
        assert re.search(r'<tr class="removed">.*?<del>[^<]*checkout', text) and re.search(r'<tr class="added">.*?<ins>[^<]*totals', text), text
        assert ">changed</span>" in text


def what_is_long_is_cut_and_says_so(m):
    with m.serve() as server:
        team(server)
        send(server, "BlueLake", ["GreenCastle"], "Long", "\n".join(f"line {number}" for number in range(4000)))
        text = page(server, f"{PATH}/commit/{of_mail(server)}").text
        assert "It goes on: only the first 1500 lines of a commit are shown." in text and "line 1200" in text and "line 3000" not in text
        send(server, "BlueLake", ["GreenCastle"], "Longer", "\n".join(f"line {number}" for number in range(70000)))
        text = page(server, f"{PATH}/commit/{of_mail(server)}").text
        assert "It is too large to be compared here" in text, text
        path = re.search(r'href="([^"]*history/files\?path=messages[^"]*)"', text)[1]
        text = page(server, html.unescape(path)).text
        assert "the first 512 KiB are shown" in text and "line 69999" not in text


def files_are_found(m):
    with m.serve() as server:
        team(server)
        send(server, "BlueLake", ["GreenCastle"], "Rounding", "First line")
        path = PATH + "/files"
        text = page(server, path).text
        for name in ("agents/", "messages/", "project.json"):
            assert f">{name}</a>" in text, text
        while '<pre class="file"' not in text:
            below = re.findall(r'<li><a class="path" href="([^"]+)">(?!threads)(?!project)(?!\.)[^<]+</a>', text)
            below = [one for one in below if "messages" in one]
            path = html.unescape(below[-1])
            text = page(server, path).text
        assert "First line" in text and "bytes" in text, text
        assert m.run("team", "history", "file", KEY, "agents").stdout.split() == ["BlueLake/", "GreenCastle/"]
        name = re.search(r"path=([^&]+)", path)[1]
        history = page(server, PATH + "?path=" + name).text
        assert [what for _, what in commits(history)] == ["BlueLake -&gt; GreenCastle | Rounding"], commits(history)


def a_file_is_shown_as_it_was(m):
    with m.serve() as server:
        team(server)
        sha = commits(page(server, PATH).text)[0][0]
        api(server, "update_agent_profile", project_key=KEY, agent_name="BlueLake", task_description="totals")
        path = PATH + "/files?path=agents/BlueLake/profile.json"
        assert "totals" in page(server, path).text
        old = page(server, f"{path}&sha={sha}").text
        assert "checkout" in old and "totals" not in old and f"commit/{sha}" in old, old


def what_is_not_there_is_said(m):
    with m.serve() as server:
        team(server)
        send(server, "BlueLake", ["GreenCastle"], "Rounding")
        for path, status, text in (("/commit/0123456789", 404, "has no commit 0123456789"), ("/commit/xyz", 400, "7 to 40 hex digits"),
                ("/files?path=nix", 404, "has no nix"), ("/files?path=../../etc/passwd", 400, "is not allowed in a path"),
                ("/files?path=/etc/passwd", 400, ""), ("/files?path=.git/config", 400, ""), ("?path=..", 400, ""), ("?cursor=nix", 400, "hex digits")):
            answer = page(server, PATH + path)
            assert answer.status == status and text in html.unescape(answer.text), (path, answer)


def who_writes_to_whom(m):
    with m.serve() as server:
        team(server)
        project(server, "/srv/stock", {"SilverHawk": "stock"})
        for _ in range(3):
            send(server, "BlueLake", ["GreenCastle"], "s")
        send(server, "GreenCastle", ["BlueLake", "SilverHawk@srv-stock"], "s")
        text = page(server, PATH + "/traffic").text
        assert words(text.split("<tbody>")[1]).startswith("BlueLake GreenCastle 3"), text
        assert text.count('class="line"') == 3 and text.count("<circle class=\"dot") == 3 and 'class="dot far"' in text, text
        assert "<title>BlueLake to GreenCastle: 3</title>" in text and "The newest 4 messages" in words(text), text
        assert not re.search(r"nan|inf\b", re.search(r"<svg class=\"graph\".*?</svg>", text, re.S)[0]), text
        told = m.json("team", "traffic", KEY)
        assert [(one["from"], one["to"], one["messages"]) for one in told["result"]] == [("BlueLake", "GreenCastle", 3),
            ("GreenCastle", "BlueLake", 1), ("GreenCastle", "SilverHawk", 1)], told
        assert "BlueLake" in m.run("team", "traffic", KEY).stdout
        assert m.json("team", "traffic", KEY, "--limit", "1")["messages"] == 1


def one_who_writes_to_itself_is_drawn_alone(m):
    with m.serve() as server:
        team(server)
        send(server, "BlueLake", ["BlueLake"], "note")
        text = page(server, PATH + "/traffic").text
        assert text.count("<circle") == 2 and 'class="line"' not in text and "nan" not in text, text


def texts_of_others_are_text(m):
    with m.serve() as server:
        team(server)
        send(server, "BlueLake", ["GreenCastle"], NASTY, NASTY, thread_id="T-1")
        sha = of_mail(server)
        for path in ("", f"/commit/{sha}", "/files", "/traffic", "?path=" + "%3Cscript%3Ealert(1)", f"/files?path=agents&sha={sha}"):
            text = page(server, PATH + path).text
            assert "<script>" not in text and "<img" not in text, (path, text)
        assert "&lt;script&gt;alert(1)" in page(server, PATH).text


def only_who_may_see_all_mail_sees_it(m):
    with m.serve(env={"AGENT_AUTH": "require", "HTTP_BEARER_TOKENS": "sees:reader", "HTTP_ALLOW_LOCALHOST_UNAUTHENTICATED": "false"}) as server:
        m.json("team", "ensure-project", KEY)
        for path in ("", "/commit/0123456789", "/files", "/traffic"):
            answer = page(server, PATH + path, Authorization="Bearer sees")
            assert answer.status in (401, 403), (path, answer)


def main():
    with Tap() as tap:
        for test in (nothing_happened_yet, what_happened_is_a_list, a_list_goes_on, a_commit_shows_what_it_changed,
                a_change_shows_both_sides, what_is_long_is_cut_and_says_so, files_are_found, a_file_is_shown_as_it_was,
                what_is_not_there_is_said, who_writes_to_whom, one_who_writes_to_itself_is_drawn_alone, texts_of_others_are_text,
                only_who_may_see_all_mail_sees_it):
            with Mailroom(sys.argv[1]) as m:
                tap.run(test.__name__, test, m)


main()
