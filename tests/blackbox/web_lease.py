"""usage: web_lease.py PROGRAM - the pages of leases: who holds which files, and taking a lease away."""

import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from mailroom import Mailroom  # noqa: E402
from tap import Tap  # noqa: E402
from webs import api, page, post, project  # noqa: E402

KEY = "/srv/shop"
PATH = "/mail/p/srv-shop/leases"
NASTY = "<script>alert(1)</script>\"'&amp;"
READER = {"HTTP_BEARER_TOKENS": "sees:reader,writes:writer", "HTTP_ALLOW_LOCALHOST_UNAUTHENTICATED": "false"}


def reserve(server, who, *paths, **more):
    granted = api(server, "file_reservation_paths", project_key=KEY, agent_name=who, paths=list(paths), **more)["granted"]
    return [lease["id"] for lease in granted]


def team(server):
    project(server, KEY, {"BlueLake": "checkout", "GreenCastle": "payment"})


def rows(text):
    """Of each row of the page its words, without those that only screen readers say."""
    body = re.sub(r'<span class="unseen">.*?</span>|<details.*?</details>', "", text.split("<tbody>")[1], flags=re.S)
    return [" ".join(re.sub(r"<[^>]+>", " ", row).split()) for row in re.findall(r"<tr.*?</tr>", body, re.S)]


def released(server):
    return [lease["released_ts"] for lease in api(server, "list_file_reservations", project_key=KEY)["result"]]


def nobody_holds_anything(m):
    with m.serve() as server:
        team(server)
        assert "Nobody holds a file here" in page(server, PATH).text
        assert "No agent took a lease yet" in page(server, PATH + "/all").text


def leases_are_a_tree(m):
    with m.serve() as server:
        team(server)
        reserve(server, "GreenCastle", "src/payment/api/**", "src/payment/api/refund.c", "README.md", reason="Refunds")
        reserve(server, "BlueLake", "src/cart/total.c", "src/cart-old/x.c", "src/cart/a/b/c.c")
        names = [row.split(" ")[0] for row in rows(page(server, PATH).text)]
        assert names == ["README.md", "src/", "cart/", "a/b/c.c", "total.c", "cart-old/x.c", "payment/api/", "**", "refund.c"], names
        assert "Refunds" in page(server, PATH).text


def who_is_in_whose_way(m):
    with m.serve() as server:
        team(server)
        reserve(server, "GreenCastle", "src/**", exclusive=False)
        reserve(server, "BlueLake", "src/cart/total.c")
        reserve(server, "BlueLake", "docs/**", exclusive=False)
        reserve(server, "GreenCastle", "docs/*.md", exclusive=False)
        found = rows(page(server, PATH).text)
        assert len([row for row in found if "meets" in row]) == 2, found
        assert any("total.c BlueLake meets GreenCastle" in row for row in found), found


def a_lease_is_taken_away(m):
    with m.serve() as server:
        team(server)
        lease, other = reserve(server, "BlueLake", "src/a.c", "src/b.c")
        answer = post(server, f"{PATH}/{lease}/release", back=PATH, override="true", note="It blocks the release.")
        assert (answer.status, answer.headers["Location"]) == (303, PATH + "?done=lease-release"), answer
        text = page(server, PATH + "?done=lease-release").text
        assert "The lease is released" in text and "a.c" not in "".join(rows(text)) and "b.c" in "".join(rows(text)), rows(text)
        assert released(server)[0] and not released(server)[1]
        told = api(server, "fetch_inbox", project_key=KEY, agent_name="BlueLake", include_bodies=True)["result"][0]
        assert told["from"] == "HumanOverseer" and "Note: It blocks the release." in told["body_md"], told
        assert "src/a.c" in page(server, PATH + "/all").text and other


def what_cannot_be_taken_is_said(m):
    with m.serve() as server:
        team(server)
        lease = reserve(server, "BlueLake", "src/a.c")[0]
        answer = post(server, f"{PATH}/{lease}/release", back=PATH)
        assert answer.status == 409 and "still in use" in answer.text and "src/a.c" in answer.text, answer
        assert f'name="back" value="{PATH}"' in answer.text and not released(server)[0]
        answer = post(server, f"{PATH}/{lease + 1}/release")
        assert answer.status == 404 and f"no lease with the id {lease + 1}" in answer.text, answer
        answer = post(server, f"{PATH}/{lease}/release", override="true", csrf="nix")
        assert answer.status == 403 and "another session" in answer.text and not released(server)[0], answer


def roles_see_what_they_may_do(m):
    with m.serve() as server:
        team(server)
        lease = reserve(server, "BlueLake", "src/a.c")[0]
        assert f"{lease}/release" in page(server, PATH).text
    with m.serve(env=READER) as server:
        for token in ("sees", "writes"):
            auth = {"Authorization": f"Bearer {token}"}
            assert "src/a.c" in page(server, PATH, **auth).text and f"{lease}/release" not in page(server, PATH, **auth).text, token
            answer = post(server, f"{PATH}/{lease}/release", auth, override="true")
            assert answer.status == 403, (token, answer)


def names_are_text(m):
    with m.serve() as server:
        team(server)
        reserve(server, "BlueLake", "src/<b>x</b>.c", reason=NASTY)
        for path in (PATH, PATH + "/all"):
            text = page(server, path).text
            assert "&lt;script&gt;alert(1)" in text and "<script>" not in text and "<b>x" not in text, text


def older_ones_are_a_page_further(m):
    with m.serve() as server:
        team(server)
        reserve(server, "BlueLake", *[f"src/{i}.c" for i in range(130)])
        first = page(server, PATH + "/all").text
        assert len(rows(first)) == 100 and "src/129.c" in rows(first)[0], rows(first)[:2]
        further = re.search(r'rel="next" href="([^"]+)"', first)[1]
        second = page(server, further).text
        assert len(rows(second)) == 30 and 'rel="next"' not in second and "src/0.c" in rows(second)[-1], rows(second)


def a_crowd_of_leases_is_cut(m):
    with m.serve() as server:
        team(server)
        reserve(server, "BlueLake", *[f"src/{i}.c" for i in range(310)])
        text = page(server, PATH).text
        assert "These are the newest 300; there are more." in text and len(rows(text)) == 301, len(rows(text))


def main():
    with Tap() as tap:
        for test in (nobody_holds_anything, leases_are_a_tree, who_is_in_whose_way, a_lease_is_taken_away,
                what_cannot_be_taken_is_said, roles_see_what_they_may_do, names_are_text, older_ones_are_a_page_further, a_crowd_of_leases_is_cut):
            with Mailroom(sys.argv[1]) as m:
                tap.run(test.__name__, test, m)


main()
