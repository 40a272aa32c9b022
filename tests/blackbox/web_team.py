"""usage: web_team.py PROGRAM - the pages of a team, and what a person does there, over plain HTTP."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from mailroom import Mailroom  # noqa: E402
from tap import Tap  # noqa: E402
from webs import ask, post, project  # noqa: E402

FORM = {"Content-Type": "application/x-www-form-urlencoded"}


def what_is_no_form_is_refused(m):
    with m.serve() as server:
        project(server, "/srv/shop", {"BlueLake": "the shop"})
        path = "/mail/p/srv-shop/message/1/acknowledge"
        for headers, body in (({"Content-Type": "application/json"}, "{}"), ({}, ""), (FORM, "a=%zz")):
            answer = ask(server, "POST", path, headers, body)
            assert answer.status == 400 and "<h1>" in answer.text, (headers, answer)


def what_is_not_there_is_said_on_a_page(m):
    with m.serve() as server:
        answer = post(server, "/mail/p/nix/message/1/acknowledge")
        assert answer.status == 404 and "nix" in answer.text, answer


def main():
    with Tap() as tap, Mailroom(sys.argv[1]) as m:
        for test in (what_is_no_form_is_refused, what_is_not_there_is_said_on_a_page):
            tap.run(test.__name__, test, m)


main()
