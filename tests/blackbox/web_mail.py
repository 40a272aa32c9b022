"""usage: web_mail.py PROGRAM - the pages of a team's mail, over plain HTTP: lists, messages, conversations."""

import json
import os
import re
import shutil
import struct
import sys
import urllib.parse
import zlib

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from mailroom import Mailroom  # noqa: E402
from tap import Tap  # noqa: E402
from webs import api, ask, page, post, project  # noqa: E402

SHOP, INFRA = "/srv/shop", "/srv/infra"
NASTY = "<script>alert(1)</script><img src=x onerror=alert(2)>\"'&amp;"
OVERSEER = "HumanOverseer"
THREAD = "T<b>\"'&/.."


def team(server):
    project(server, SHOP, {"BlueLake": "the cart", "RedStone": "payments", "GreenCastle": "checkout"})
    project(server, INFRA, {"WhitePeak": "terraform"})


def picture():
    """A PNG of one red dot."""
    def part(name, data):
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
    return b"\x89PNG\r\n\x1a\n" + part(b"IHDR", struct.pack(">IIBBBBB", 1, 1, 8, 2, 0, 0, 0)) \
        + part(b"IDAT", zlib.compress(b"\0\xff\0\0")) + part(b"IEND", b"")


def team_as(server, headers):
    """The same with a message, for a server that asks who one is."""
    for tool, arguments in (("register_agent", {"project_key": SHOP, "name": "RedStone", "program": "p", "model": "m"}),
            ("send_message", {"project_key": SHOP, "sender_name": "RedStone", "to": ["RedStone"], "subject": "s", "body_md": "b"})):
        answer = ask(server, "POST", f"/api/tools/{tool}", {"Content-Type": "application/json", **headers}, json.dumps(arguments))
        assert answer.status == 200, answer


def send(server, key, sender, to, subject, body="A text.", **more):
    """The id of the message."""
    sent = api(server, "send_message", project_key=key, sender_name=sender, to=to, subject=subject, body_md=body, **more)
    return sent["deliveries"][0]["payload"]["id"]


def subjects(text):
    """Of a list, in their order."""
    return re.findall(r'<span class="what"><a href="[^"]*">([^<]*)</a>', text)


def an_empty_inbox_says_so(m):
    with m.serve() as server:
        for path in ("/mail/inbox", "/mail/inbox?only=urgent", "/mail/inbox?only=unread", "/mail/inbox?cursor=1"):
            answer = page(server, path)
            assert answer.status == 200 and 'class="empty"' in answer.text, (path, answer)


def an_inbox_has_the_mail_of_all_projects(m):
    with m.serve() as server:
        team(server)
        send(server, SHOP, "BlueLake", ["RedStone", "GreenCastle"], "Cart", "The **totals** are\nin cents.", importance="high",
            ack_required=True)
        send(server, INFRA, "WhitePeak", ["BlueLake@shop"], "Staging")
        send(server, SHOP, "RedStone", ["BlueLake"], "Retries")
        text = page(server, "/mail/inbox").text
        assert subjects(text) == ["Retries", "Staging", "Cart"], text
        assert ">shop</a>" in text and ">infra</a>" in text and "→ RedStone, GreenCastle" in text, text
        assert '<span class="chip warn">high</span>' in text and "Waits for RedStone, GreenCastle" in text, text
        assert "in cents." in text, text
        # What came from elsewhere to one of its agents belongs to a project, too.
        assert subjects(page(server, "/mail/p/shop/inbox").text) == ["Retries", "Staging", "Cart"]
        assert subjects(page(server, "/mail/p/infra/inbox").text) == ["Staging"]


def an_inbox_can_be_narrowed(m):
    with m.serve() as server:
        team(server)
        send(server, SHOP, "BlueLake", ["RedStone"], "plain")
        send(server, SHOP, "BlueLake", ["RedStone"], "urgent", importance="urgent")
        asked = send(server, SHOP, "BlueLake", ["RedStone", "GreenCastle"], "asked", ack_required=True)
        for only, expected in (("urgent", ["urgent"]), ("waiting", ["asked"]), ("attachments", []), ("overseer", []),
                ("all", ["asked", "urgent", "plain"])):
            for path in ("/mail/inbox", "/mail/p/shop/inbox"):
                found = subjects(page(server, f"{path}?only={only}").text)
                assert found == expected, (path, only, found)
        for agent in ("RedStone", "GreenCastle"):
            api(server, "acknowledge_message", project_key=SHOP, agent_name=agent, message_id=asked)
        assert subjects(page(server, "/mail/inbox?only=waiting").text) == []
        answer = page(server, "/mail/inbox?only=nonsense")
        assert answer.status == 400 and "only" in answer.text, answer


def lists_go_on_where_they_stopped(m):
    with m.serve() as server:
        team(server)
        for number in range(120):
            send(server, SHOP, "BlueLake", ["RedStone"], f"number {number}", importance="urgent" if number % 2 else "normal")
        for path, count in (("/mail/inbox", 120), ("/mail/p/shop/inbox?only=all", 120), ("/mail/inbox?only=urgent", 60)):
            seen = []
            while path:
                text = page(server, path).text
                seen += subjects(text)
                found = re.search(r'rel="next" href="([^"]+)"', text)
                path = found and found[1].replace("&amp;", "&")
            assert len(seen) == count and len(set(seen)) == count, (count, seen)
            assert ">Newest</a>" in text, text


def a_message_says_who_acknowledged_it(m):
    with m.serve() as server:
        team(server)
        number = send(server, SHOP, "BlueLake", ["RedStone", "GreenCastle"], "Plan", "# Plan\n\n- **one**\n- two", ack_required=True)
        api(server, "acknowledge_message", project_key=SHOP, agent_name="RedStone", message_id=number)
        api(server, "mark_message_read", project_key=SHOP, agent_name="GreenCastle", message_id=number)
        text = page(server, f"/mail/p/shop/message/{number}").text
        assert "<li><strong>one</strong></li>" in text, text
        assert "RedStone acknowledged" in text and "GreenCastle read, owes an acknowledgement" in text, text


def days(text):
    return re.findall(r'<h2 class="day"><time datetime="([^"T]+)', text)


def a_conversation_is_read_from_its_end(m):
    with m.serve() as server:
        team(server)
        first = send(server, SHOP, "BlueLake", ["RedStone"], "Plan", "0 begins", thread_id="plan/1 <b>", ack_required=True)
        api(server, "acknowledge_message", project_key=SHOP, agent_name="RedStone", message_id=first)
        for number in range(1, 60):
            send(server, SHOP, "RedStone", ["BlueLake"], "Re: Plan", f"{number} goes on", thread_id="plan/1 <b>")
        path = re.search(r'href="(/mail/p/srv-shop/thread[/?][^"]+)"', page(server, "/mail/p/shop/threads").text)[1]
        text = page(server, path).text
        assert re.findall(r"<p>(\d+) goes on</p>", text) == [str(number) for number in range(10, 60)], text
        assert len(days(text)) == 1 and "plan/1 &lt;b&gt;" in text, text
        earlier = re.search(r'href="([^"]+)">Earlier messages', text)[1].replace("&amp;", "&")
        text = page(server, earlier).text
        assert re.findall(r"<p>(\d+) (?:goes on|begins)</p>", text) == [str(number) for number in range(10)], text
        assert "Earlier messages" not in text and "Newest messages" in text and "RedStone acknowledged" in text, text
        assert "1 goes on" in page(server, "/mail/p/shop/thread?thread_id=plan%2F1%20%3Cb%3E").text
        assert page(server, "/mail/p/shop/thread").status == 400
        answer = page(server, "/mail/p/shop/thread/nix")
        assert answer.status == 404 and "no conversation &#34;nix&#34;" in answer.text, answer
        text = page(server, f"/mail/p/shop/message/{first}").text
        assert "Earlier messages" in text and 'aria-current="true"' not in text, text


def a_message_without_answers_is_a_conversation(m):
    with m.serve() as server:
        team(server)
        number = send(server, SHOP, "BlueLake", ["RedStone"], "Alone")
        assert "Alone" in page(server, f"/mail/p/shop/thread/{number}").text
        text = page(server, f"/mail/p/shop/message/{number}").text
        assert "In this conversation" not in text, text


def an_agent_has_a_page(m):
    with m.serve() as server:
        team(server)
        number = send(server, SHOP, "BlueLake", ["RedStone"], "Cart", importance="urgent", ack_required=True)
        send(server, SHOP, "RedStone", ["BlueLake"], "Retries")
        path = "/mail/p/shop/agent/redstone"
        text = page(server, path).text
        assert "<h1>RedStone</h1>" in text and "payments" in text and subjects(text) == ["Cart"], text
        assert '<li class="unread"' in text and "to=RedStone" in text, text
        for only, expected in (("sent", ["Retries"]), ("unread", ["Cart"]), ("urgent", ["Cart"]), ("waiting", ["Cart"])):
            assert subjects(page(server, f"{path}?only={only}").text) == expected, only
        api(server, "acknowledge_message", project_key=SHOP, agent_name="RedStone", message_id=number)
        for only, expected in (("unread", []), ("waiting", []), ("urgent", ["Cart"])):
            assert subjects(page(server, f"{path}?only={only}").text) == expected, only
        assert page(server, f"{path}?only=attachments").status == 400
        assert page(server, "/mail/p/shop/agent/Nobody").status == 404
        text = page(server, "/mail/p/shop/agents").text
        assert all(name in text for name in ("BlueLake", "RedStone", "GreenCastle")) and "WhitePeak" not in text, text
        assert "BlueLake" in page(server, "/mail/p/shop").text


def a_person_writes_to_agents(m):
    with m.serve() as server:
        team(server)
        path = "/mail/p/shop/compose"
        text = page(server, path + "?to=RedStone").text
        assert re.findall(r'name="to" value="([^"]+)" checked', text) == ["RedStone"], text
        answer = post(server, path, to=["RedStone", "BlueLake"], subject="Stop", body_md="Do **not** deploy.", first="true",
            ack_required="true")
        assert answer.status == 303 and re.fullmatch(r"/mail/p/shop/message/\d+\?done=send", answer.headers["Location"]), answer
        text = page(server, answer.headers["Location"]).text
        assert 'role="status">Sent.' in text and "Do <strong>not</strong> deploy." in text, text
        for agent in ("RedStone", "BlueLake"):
            mail = api(server, "fetch_inbox", project_key=SHOP, agent_name=agent, include_bodies=True)["result"]
            assert [(one["from"], one["subject"], one.get("is_human"), one["importance"], one["ack_required"]) for one in mail] == \
                [(OVERSEER, "Stop", True, "high", True)], mail
            assert mail[0]["body_md"].startswith("> The person who oversees") and mail[0]["body_md"].endswith("Do **not** deploy."), mail
        post(server, path, to="GreenCastle", subject="Later", body_md="When you have time.")
        mail = api(server, "fetch_inbox", project_key=SHOP, agent_name="GreenCastle", include_bodies=True)["result"]
        assert mail[0]["body_md"] == "When you have time." and not mail[0].get("ack_required"), mail


def writing_can_be_looked_at_first(m):
    with m.serve() as server:
        team(server)
        number = send(server, SHOP, "BlueLake", ["RedStone"], "Plan")
        for path, fields in (("/mail/p/shop/compose", {"to": ["RedStone", "@all"], "subject": "Stop <b>"}),
                (f"/mail/p/shop/message/{number}", {"reply_all": "true"})):
            answer = post(server, path, body_md="Do **not**\n<script>alert(1)</script>", first="true", preview="true", **fields)
            assert answer.status == 200 and "Not sent yet" in answer.text, answer
            assert "Do <strong>not</strong>" in answer.text and "The person who oversees" in answer.text, answer.text
            assert "<script>alert" not in answer.text and ">Do **not**\n&lt;script&gt;" in answer.text, answer.text
            for name in fields:
                assert name != "to" or re.findall(r'name="to" value="([^"]+)" checked', answer.text) == ["RedStone", "@all"]
                assert name != "reply_all" or 'name="reply_all" value="true" checked' in answer.text
            assert 'name="first" value="true" checked' in answer.text and 'name="ack_required" value="true">' in answer.text
        assert subjects(page(server, "/mail/inbox").text) == ["Plan"]


def what_cannot_be_sent_stays_written(m):
    with m.serve() as server:
        team(server)
        path = "/mail/p/shop/compose"
        whole = {"to": "RedStone", "subject": "Stop", "body_md": "A text that stays."}
        for missing, words, status in (("to", "choose at least one agent", 400), ("subject", "has no subject", 400),
                ("body_md", "body_md", 400)):
            answer = post(server, path, **{k: v for k, v in whole.items() if k != missing})
            assert answer.status == status and words in answer.text and 'role="alert"' in answer.text, (missing, answer)
            assert missing == "body_md" or "A text that stays." in answer.text, answer.text
        answer = post(server, path, **whole | {"to": ["RedStone", "NoSuchFox"]})
        assert answer.status == 404 and "NoSuchFox" in answer.text and "A text that stays." in answer.text, answer
        answer = post(server, path, csrf="wrong", **whole)
        assert answer.status == 403 and "of another session" in answer.text and "A text that stays." in answer.text, answer
        assert subjects(page(server, "/mail/inbox").text) == []


def a_person_answers_and_marks(m):
    with m.serve() as server:
        team(server)
        post(server, "/mail/p/shop/compose", to="BlueLake", subject="How far?", body_md="Tell me.")
        number = send(server, SHOP, "BlueLake", [OVERSEER, "RedStone"], "Half", thread_id="T", ack_required=True)
        other = send(server, SHOP, "BlueLake", [OVERSEER], "FYI")
        for only, expected in (("unread", ["FYI", "Half"]), ("overseer", ["FYI", "Half"])):
            text = page(server, f"/mail/inbox?only={only}").text
            assert subjects(text) == expected and text.count('<li class="unread"') == 2, (only, text)
        path = f"/mail/p/srv-shop/message/{number}"
        text = page(server, path).text
        assert f'action="{path}/acknowledge"' in text and f'action="{path}/read"' not in text, text
        answer = post(server, path + "/acknowledge")
        assert answer.headers["Location"] == path + "?done=acknowledge", answer
        text = page(server, answer.headers["Location"]).text
        assert "HumanOverseer acknowledged" in text and "Acknowledged: its sender can see" in text, text
        answer = post(server, f"/mail/p/srv-shop/message/{other}/read")
        assert "HumanOverseer read" in page(server, answer.headers["Location"]).text
        assert subjects(page(server, "/mail/inbox?only=unread").text) == []
        answer = post(server, path, body_md="Good.", reply_all="true")
        mail = api(server, "fetch_inbox", project_key=SHOP, agent_name="RedStone", include_bodies=True)["result"]
        assert (mail[0]["subject"], mail[0]["thread_id"], mail[0]["body_md"]) == ("Re: Half", "T", "Good."), mail
        text = page(server, answer.headers["Location"]).text
        assert "Your answer is sent." in text and "In this conversation" in text and 'aria-current="true"' in text, text
        # Nobody else acts for that person: neither by a tool nor by a command that is an agent's.
        before = subjects(page(server, "/mail/inbox").text)
        late = send(server, SHOP, "BlueLake", [OVERSEER], "Late", ack_required=True)
        for tool, arguments in (("send_message", {"sender_name": OVERSEER, "to": ["RedStone"], "subject": "Stop", "body_md": "b"}),
                ("reply_message", {"sender_name": "humanoverseer", "message_id": late, "body_md": "b"}),
                ("acknowledge_message", {"agent_name": OVERSEER, "message_id": late}),
                ("mark_message_read", {"agent_name": "Human Overseer", "message_id": late}),
                ("file_reservation_paths", {"agent_name": OVERSEER, "paths": ["**"]})):
            refused = ask(server, "POST", f"/api/tools/{tool}", {"Content-Type": "application/json"},
                json.dumps({"project_key": SHOP, **arguments}))
            assert refused.status == 403 and '"PERMISSION_DENIED"' in refused.text and "no agent may act as" in refused.text, refused
        refused = m.run("team", "send", SHOP, OVERSEER, "--to", "RedStone", "--subject", "Stop", "--body-md", "b")
        assert refused.returncode == 1 and "mailroom team say" in refused.stderr, refused
        assert subjects(page(server, "/mail/inbox").text) == ["Late", *before]
        assert subjects(page(server, "/mail/inbox?only=unread").text) == ["Late"]
        answer = post(server, path, body_md=" ")
        assert answer.status == 400 and "has no text" in answer.text and "<details class=\"reply\" id=\"reply\" open>" in answer.text


def mail_of_all_projects_is_searched(m):
    with m.serve() as server:
        team(server)
        send(server, SHOP, "BlueLake", ["RedStone"], "Cart", "The migration <b>adds</b> a column.", importance="urgent")
        send(server, INFRA, "WhitePeak", ["WhitePeak"], "Staging", "A migration of the host.")
        assert subjects(page(server, "/mail/search?query=migration&order=newest").text) == ["Staging", "Cart"]
        text = page(server, "/mail/search?query=migration%20from%3ABlueLake%20%22a%20column%22").text
        assert subjects(text) == ["Cart"] and "The <mark>migration</mark> &lt;b&gt;adds&lt;/b&gt; <mark>a column</mark>." in text, text
        assert ">shop</a>" in text, text
        # A filter is a chip that can be taken away, and others can be added.
        chip = re.search(r'<a class="chip accent" href="([^"]+)"[^>]*>(.*?) <', text)
        assert chip[2] == "from:BlueLake" and chip[1].startswith("/mail/search?query=migration%20%22a%20column%22"), chip
        more = dict((words, path) for path, words in re.findall(r'<a class="chip" href="([^"]+)">\+ ([^<]+)</a>', text))
        assert subjects(page(server, more["urgent"]).text) == ["Cart"] and "importance%3Aurgent" in more["urgent"], more
        text = page(server, "/mail/search?query=migration&project_key=infra").text
        assert subjects(text) == ["Staging"] and re.search(r'<option value="srv-infra" selected>infra', text), text
        assert "Nothing found" in page(server, "/mail/search?query=zebra").text
        assert "migrat*" in page(server, "/mail/search").text
        text = page(server, "/mail/search?query=importance%3Apurple").text
        assert 'role="alert"' in text and "importance" in text, text
        assert page(server, "/mail/search?query=x&project_key=nix").status == 404
        text = page(server, "/mail/search?query=" + urllib.parse.quote(NASTY)).text
        assert "<script>alert" not in text and 'value="&lt;script&gt;' in text, text


def searches_go_on(m):
    with m.serve() as server:
        team(server)
        for number in range(60):
            send(server, SHOP, "BlueLake", ["RedStone"], f"number {number}", "zebra")
        text = page(server, "/mail/search?query=zebra&order=newest").text
        seen = subjects(text)
        text = page(server, re.search(r'rel="next" href="([^"]+)"', text)[1].replace("&amp;", "&")).text
        assert seen + subjects(text) == [f"number {number}" for number in range(59, -1, -1)], (seen, text)
        assert "First page" in text and 'rel="next"' not in text, text


def files_are_pictures_or_saved(m):
    with m.serve(env={"ATTACHMENT_ROOTS": m.dir}) as server:
        team(server)
        with open(os.path.join(m.dir, "dot.png"), "wb") as file:
            file.write(picture())
        for name, text in (("page.html", "<!doctype html><script>alert(1)</script>"), ("drawing.svg", "<svg onload='alert(1)'/>")):
            m.write(name, text)
        number = send(server, SHOP, "BlueLake", ["RedStone"], "Files", "See them.",
            attachment_paths=[os.path.join(m.dir, name) for name in ("dot.png", "page.html", "drawing.svg")])
        send(server, SHOP, "BlueLake", ["RedStone"], "None")
        path = f"/mail/p/srv-shop/message/{number}"
        for where in (path, "/mail/p/srv-shop/attachments", f"/mail/p/srv-shop/thread/{number}"):
            text = page(server, where).text
            assert re.findall(r'<img src="([^"]+)"', text) == [path + "/file/1"], (where, text)
            assert re.findall(r'href="([^"]+)" download', text) == [path + "/file/2", path + "/file/3"], (where, text)
        assert subjects(page(server, "/mail/inbox?only=attachments").text) == ["Files"]
        assert "3 files" in page(server, "/mail/inbox").text
        for number, type_, how, begins in ((1, "image/webp", "inline", b"RIFF"),
                (2, "application/octet-stream", "attachment", b"<!doctype html><script>"),
                (3, "application/octet-stream", "attachment", b"<svg onload")):
            answer = page(server, f"{path}/file/{number}")
            assert answer.status == 200 and answer.headers["Content-Type"] == type_, (number, answer.headers.items())
            assert answer.headers["Content-Disposition"].startswith(how + "; filename=\""), answer.headers.items()
            assert answer.headers["Content-Security-Policy"] == "default-src 'none'; sandbox", answer.headers.items()
            assert answer.headers["X-Content-Type-Options"] == "nosniff" and answer.body.startswith(begins), answer
        for wrong in ("0", "4", "-1"):
            answer = page(server, f"{path}/file/{wrong}")
            assert answer.status == 404 and "3 files" in answer.text, (wrong, answer)
        assert page(server, "/mail/p/srv-infra/message/1/file/1").status == 404
        shutil.rmtree(os.path.join(m.root, "projects", "srv-shop", "attachments"))
        answer = page(server, f"{path}/file/2")
        assert answer.status == 404 and "no longer in the archive" in answer.text, answer


def who_may_only_read_gets_no_forms(m):
    env = {"HTTP_ALLOW_LOCALHOST_UNAUTHENTICATED": "false", "HTTP_BEARER_TOKENS": "r-token-0123456789abcdef:reader,w-token-0123456789abcdef:writer"}
    with m.serve(env=env) as server:
        reads, writes = ({"Authorization": f"Bearer {role}-token-0123456789abcdef"} for role in "rw")
        team_as(server, writes)
        pages = ("/mail/inbox", "/mail/p/shop", "/mail/p/shop/inbox", "/mail/p/shop/message/1", "/mail/p/shop/thread/1",
            "/mail/p/shop/agent/RedStone", "/mail/p/shop/compose")
        for path in pages:
            text = page(server, path, **reads).text
            forms = [form for form in re.findall(r'<form[^>]*method="post"[^>]*action="([^"]+)"', text) if form != "/mail/theme"]
            assert not forms and ">Reply<" not in text and "/compose" not in text.replace(f'value="{path}"', ""), (path, text)
        assert "may read here, but not write" in page(server, "/mail/p/shop/compose", **reads).text
        answer = post(server, "/mail/p/shop/compose", headers=reads, to="RedStone", subject="s", body_md="b")
        assert answer.status == 403 and "may read this, but may not change it" in answer.text, answer
        assert post(server, "/mail/p/shop/compose", headers=writes, to="RedStone", subject="s", body_md="b").status == 303


def what_agents_write_is_text(m):
    with m.serve() as server:
        project(server, "/srv/" + NASTY, {"BlueLake": NASTY, "RedStone": "r"})
        key = api(server, "list_projects")["result"][0]["slug"]
        number = send(server, key, "BlueLake", ["RedStone"], NASTY, NASTY + "\n\n[x](javascript:alert(3)) ![y](http://evil.invalid/y.png)",
            thread_id=THREAD)
        for path in ("/mail/inbox", "/mail/projects", f"/mail/p/{key}", f"/mail/p/{key}/inbox", f"/mail/p/{key}/message/{number}",
                f"/mail/p/{key}/threads", f"/mail/p/{key}/thread?thread_id={urllib.parse.quote(THREAD)}", f"/mail/p/{key}/agents",
                f"/mail/p/{key}/agent/BlueLake?only=sent", f"/mail/p/{key}/compose"):
            text = page(server, path).text
            assert "<script>alert" not in text and "<img src=x" not in text and not re.search(r"href=\"javascript:|src=\"http", text), (path, text)
            assert "&lt;script&gt;" in text, (path, text)


def what_is_not_there_is_said(m):
    with m.serve() as server:
        team(server)
        number = send(server, INFRA, "WhitePeak", ["WhitePeak"], "own")
        for path in (f"/mail/p/shop/message/{number}", "/mail/p/shop/message/99", "/mail/p/nix/inbox"):
            answer = page(server, path)
            assert answer.status == 404 and "<h1>Not found</h1>" in answer.text, (path, answer)
        assert page(server, "/mail/p/shop/message/x").status == 400


def main():
    with Tap() as tap, Mailroom(sys.argv[1]) as m:
        for test in (an_empty_inbox_says_so, an_inbox_has_the_mail_of_all_projects, an_inbox_can_be_narrowed,
                lists_go_on_where_they_stopped, a_message_says_who_acknowledged_it, a_conversation_is_read_from_its_end,
                a_message_without_answers_is_a_conversation, an_agent_has_a_page, a_person_writes_to_agents,
                writing_can_be_looked_at_first, what_cannot_be_sent_stays_written, a_person_answers_and_marks,
                mail_of_all_projects_is_searched, searches_go_on, files_are_pictures_or_saved, who_may_only_read_gets_no_forms, what_agents_write_is_text, what_is_not_there_is_said):
            # Each has a team of its own.
            with Mailroom(m.program) as own:
                tap.run(test.__name__, test, own)


main()
