"""usage: web_mailbox.py PROGRAM - the pages of mailboxes: roots, accounts, mail, and wake-ups."""

import html
import os
import re
import sys
import urllib.parse

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from agents import Agents  # noqa: E402
from tap import Tap  # noqa: E402
from webs import changes_at_once, page  # noqa: E402

PATH = "/mail/mailboxes"
ALICE = PATH + "/account/alice%40houmao.localhost"
NASTY = "<script>alert(1)</script><img src=x onerror=alert(2)>\"'&amp;"
TOKENS = {"HTTP_BEARER_TOKENS": "sees:reader,writes:writer,rules:admin", "HTTP_ALLOW_LOCALHOST_UNAUTHENTICATED": "false"}


def send(m, sender, to, subject, body="A text."):
    m.json("mail", "send", "--agent-name", sender, "--to", f"{to}@houmao.localhost", "--subject", subject, "--body-content", body)


def links(text, within):
    return [html.unescape(one) for one in re.findall(rf'href="({re.escape(within)}[^"]*)"', text)]


def nothing_is_there_yet(m):
    with m.serve() as server:
        text = page(server, PATH).text
        assert "There is no mailbox root here yet" in text and "<code>mailroom agents create research</code>" in text, text
        assert "None is registered on this machine." in text, text
        assert "No agent was told of any mail yet" in page(server, PATH + "/notices").text
        assert page(server, ALICE).status == 404
        assert re.search(r'<a href="/mail/mailboxes"[^>]* aria-current="page">', text)


def accounts_and_their_mail(m):
    m.create("alice", "bob")
    send(m, "bob", "alice", "Plan", "The **plan**\n\n- one")
    send(m, "alice", "bob", "Re: Plan")
    with m.serve() as server:
        text = page(server, PATH).text
        assert "alice@houmao.localhost" in text and "HOUMAO-alice" in text and ">active</span>" in text, text
        assert links(text, ALICE) == [ALICE], text
        text = page(server, ALICE).text
        assert "Plan" in text and "bob@houmao.localhost" in text and 'class="unread"' in text, text
        letters = links(text, ALICE + "/")
        assert len(letters) == 2, letters
        text = page(server, next(one for one in letters if "Re: Plan" not in page(server, one).text)).text
        assert "<strong>plan</strong>" in text and "<li>one</li>" in text and "<dt>To</dt><dd>alice@houmao.localhost</dd>" in text, text
        assert 'class="unread"' in page(server, ALICE).text, "looking does not read"
        for path in (ALICE + "/msg-nix", PATH + "/account/nobody%40houmao.localhost"):
            answer = page(server, path)
            assert answer.status == 404, (path, answer)
    m.check()


def only_roots_that_are_known_are_opened(m):
    m.create("alice")
    with m.serve() as server:
        for root in ("/etc", m.dir, m.dir + "/data/../other"):
            for path in (PATH, ALICE):
                answer = page(server, f"{path}?root={urllib.parse.quote(root)}")
                assert answer.status == 404 and "mailbox.root" in answer.text, (path, root, answer)
        assert page(server, f"{PATH}?mailbox_root=/etc").status == 200
        assert "/etc" not in page(server, f"{PATH}?mailbox_root=/etc").text


def wake_ups_are_listed(m):
    m.create("alice", "bob")
    for agent, script in (("alice", "cat > /dev/null"), ("bob", "echo it is broken >&2; exit 3")):
        m.json("agents", "gateway", "mail-notifier", "enable", agent, *(word for part in ("sh", "-c", script) for word in ("--command", part)),
            "--channel", "command")
    with m.serve() as server:
        send(m, "bob", "alice", "Rounding")
        send(m, "alice", "bob", "Refunds")
        while len(re.findall(">(?:delivered|failed)</span>", page(server, PATH + "/notices").text)) < 2:
            pass
        text = page(server, PATH + "/notices").text
        assert "Rounding" in text and "Refunds" in text and "it is broken" in text and "a program" in text, text
        text = page(server, PATH + "/notices?state=failed").text
        assert "Refunds" in text and "Rounding" not in text, text
        assert "No wake-up is in this state" in page(server, PATH + "/notices?state=withdrawn").text
        assert page(server, PATH + "/notices?state=nonsense").status == 400
        told = m.json("agents", "notices")
        assert {one["agent_name"]: one["state"] for one in told["notices"]} == {"alice": "delivered", "bob": "failed"}, told
        shown = m.run("agents", "notices").stdout
        assert "alice" in shown and "it is broken" in shown, shown


def only_administrators_see_them(m):
    m.create("alice")
    with m.serve(env=TOKENS) as server:
        for path in (PATH, PATH + "/notices", ALICE, ALICE + "/msg-nix"):
            for token in ("sees", "writes"):
                answer = page(server, path, Authorization=f"Bearer {token}")
                assert answer.status == 403 and "for administrators" in answer.text and "HOUMAO-alice" not in answer.text, (path, token, answer)
        assert "alice@" in page(server, PATH, Authorization="Bearer rules").text
        assert PATH not in page(server, "/mail", Authorization="Bearer sees").text


def what_mail_says_is_text(m):
    m.create("alice")
    send(m, "alice", "alice", NASTY, NASTY + "\n\n[x](javascript:alert(1))")
    with m.serve() as server:
        text = page(server, ALICE).text
        assert "&lt;script&gt;alert(1)" in text and "<script>" not in text, text
        text = page(server, links(text, ALICE + "/")[0]).text
        assert "<script>" not in text and "<img" not in text and "javascript:" not in text.replace("(javascript:", ""), text


def changes_by_others_appear(m):
    """Also before there is anything: a root, a ledger."""
    with m.serve() as server:
        changes_at_once(server, PATH, lambda: m.create("alice", "bob"), "alice@houmao.localhost")
        changes_at_once(server, ALICE, lambda: send(m, "bob", "alice", "Plan"), "Plan")
        ref = m.json("mail", "list", "--agent-name", "alice")["messages"][0]["message_ref"]
        changes_at_once(server, ALICE, lambda: m.json("mail", "mark", "--agent-name", "alice", "--answered", ref), ">answered<")
        # The mail that waits already is told, too.
        changes_at_once(server, PATH + "/notices", lambda: m.json("agents", "gateway", "mail-notifier", "enable", "alice",
            "--command", "true", "--channel", "command"), "Plan")


def main():
    with Tap() as tap:
        for test in (nothing_is_there_yet, changes_by_others_appear, accounts_and_their_mail, only_roots_that_are_known_are_opened, wake_ups_are_listed,
                only_administrators_see_them, what_mail_says_is_text):
            with Agents(sys.argv[1]) as m:
                tap.run(test.__name__, test, m)


main()
