"""usage: web_sign_in.py PROGRAM - who may see pages and change things: sign-in, sessions, roles, forms of other sites."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from mailroom import Mailroom  # noqa: E402
from tap import Tap  # noqa: E402
from webs import ask, csrf, page, post  # noqa: E402

HTML = "text/html,*/*;q=0.8"
CLOSED = {"HTTP_ALLOW_LOCALHOST_UNAUTHENTICATED": "false", "HTTP_BEARER_TOKENS": "s3cret:writer,look:reader,rule:admin"}
FORM = {"Content-Type": "application/x-www-form-urlencoded"}


def form_of(server):
    """The proof that the form of the sign-in page has."""
    text = page(server, "/mail/sign-in").text
    return text.split('name="csrf" value="')[1].split('"')[0]


def sign_in(server, token, **fields):
    return post(server, "/mail/sign-in", token=token, csrf=form_of(server), **fields)


def cookie_of(answer):
    return answer.headers["Set-Cookie"].split(";")[0]


def a_person_is_led_to_sign_in_and_back(m):
    with m.serve(env=CLOSED) as server:
        answer = page(server, "/mail/p/shop", Accept=HTML)
        assert (answer.status, answer.headers["Location"]) == (303, "/mail/sign-in?back=/mail/p/shop"), answer
        assert page(server, "/mail/p/a%26b", Accept=HTML).headers["Location"] == "/mail/sign-in?back=/mail/p/a%2526b"
        # Programs get what they always got, and so does a browser's script.
        assert page(server, "/mail").status == 401 and page(server, "/mail", Accept="application/json").status == 401
        assert page(server, "/mcp", Accept=HTML).status == 401
        shown = page(server, answer.headers["Location"], Accept=HTML)
        assert shown.status == 200 and 'name="back" value="/mail/p/shop"' in shown.text, shown.text
        answer = sign_in(server, "s3cret", back="/mail")
        assert (answer.status, answer.headers["Location"]) == (303, "/mail"), answer
        assert page(server, "/mail", Cookie=cookie_of(answer)).status == 200


def the_cookie_is_for_pages_alone_and_not_the_token(m):
    with m.serve(env=CLOSED) as server:
        answer = sign_in(server, " s3cret ")
        line = answer.headers["Set-Cookie"]
        for word in ("HttpOnly", "SameSite=Strict", "Path=/mail", "Max-Age="):
            assert word in line, line
        assert "s3cret" not in line and len(cookie_of(answer)) > 50 and "Secure" not in line, line
        cookie = {"Cookie": cookie_of(answer)}
        assert "s3cret" not in page(server, "/mail", **cookie).text
        for method, path in (("POST", "/api/tools/list_projects"), ("GET", "/metrics"), ("POST", "/mcp")):
            status = ask(server, method, path, {"Content-Type": "application/json", **cookie}, "{}").status
            assert status == 401, (path, status)
        behind_tls = post(server, "/mail/sign-in", {"X-Forwarded-Proto": "https"}, token="s3cret", csrf=form_of(server))
        assert "; Secure" in behind_tls.headers["Set-Cookie"], behind_tls


def a_session_ends_when_somebody_signs_out(m):
    with m.serve(env=CLOSED) as server:
        cookie = {"Cookie": cookie_of(sign_in(server, "look"))}
        assert "Sign out" in page(server, "/mail", **cookie).text
        answer = post(server, "/mail/sign-out", cookie)
        assert answer.headers["Location"] == "/mail/sign-in" and "Max-Age=0" in answer.headers["Set-Cookie"], answer
        assert page(server, "/mail", **cookie).status == 401
        # A new session ends the browser's old one.
        old = {"Cookie": cookie_of(sign_in(server, "look"))}
        post(server, "/mail/sign-out", old)
        assert page(server, "/mail", **old).status == 401


def wrong_tokens_are_counted(m):
    with m.serve(env={**CLOSED, "HTTP_RATE_LIMIT_FAILURES_PER_MINUTE": "3"}) as server:
        good = {"Cookie": cookie_of(sign_in(server, "look"))}
        for _ in range(3):
            answer = sign_in(server, "wrong")
            assert answer.status == 401 and "not one that the server knows" in answer.text, answer
            assert "wrong" not in answer.text.replace("wrong tokens", "") and "Set-Cookie" not in answer.headers, answer
        answer = sign_in(server, "s3cret")
        assert answer.status == 429 and "Too many wrong tokens" in answer.text and answer.headers["Retry-After"], answer
        # Whoever is in already stays in.
        assert page(server, "/mail", **good).status == 200


def readers_read_and_change_nothing(m):
    with m.serve(env=CLOSED) as server:
        path = "/mail/p/shop/message/1/acknowledge"
        reader, writer = ({"Cookie": cookie_of(sign_in(server, token))} for token in ("look", "s3cret"))
        assert page(server, "/mail", **reader).status == 200
        answer = post(server, path, reader)
        assert answer.status == 403 and "may not change it" in answer.text, answer
        assert post(server, path, writer).status == 404  # it may, but there is no such message


def forms_of_other_sites_are_refused(m):
    with m.serve() as server:
        path = "/mail/p/shop/message/1/acknowledge"
        assert post(server, path).status == 404
        for headers, fields in (({}, {"csrf": ""}), ({}, {"csrf": "x" * 43}), ({"Sec-Fetch-Site": "cross-site"}, {}),
                ({"Sec-Fetch-Site": "same-site"}, {}), ({"Origin": "http://elsewhere.invalid"}, {}), ({"Origin": "null"}, {})):
            answer = post(server, path, headers, **fields)
            assert answer.status == 403, (headers, fields, answer)
        assert "Nothing was changed" in post(server, path, csrf="").text
        assert post(server, path, {"Sec-Fetch-Site": "same-origin", "Origin": server.url}).status == 404
        before = csrf(server)
        assert before == csrf(server)
    with m.serve() as server:
        assert before != csrf(server)  # its key went with the server


def a_form_of_one_session_is_none_of_another(m):
    with m.serve(env=CLOSED) as server:
        first, second = ({"Cookie": cookie_of(sign_in(server, "s3cret"))} for _ in range(2))
        path = "/mail/p/shop/message/1/acknowledge"
        assert post(server, path, first, csrf=csrf(server, **second)).status == 403
        assert post(server, path, first, csrf=csrf(server, **first)).status == 404


def colours_are_remembered(m):
    with m.serve() as server:
        answer = post(server, "/mail/theme", theme="dark", back="/mail?x=1")
        assert answer.headers["Location"] == "/mail?x=1" and answer.headers["Set-Cookie"].startswith("mailroom_theme=dark;")
        assert 'data-theme="dark"' in page(server, "/mail", Cookie="mailroom_theme=dark").text
        assert "Max-Age=0" in post(server, "/mail/theme", theme="system").headers["Set-Cookie"]
        assert post(server, "/mail/theme", theme="dark", back="//elsewhere.invalid/").headers["Location"] == "/mail"


def main():
    with Tap() as tap, Mailroom(sys.argv[1]) as m:
        for test in (a_person_is_led_to_sign_in_and_back, the_cookie_is_for_pages_alone_and_not_the_token,
                a_session_ends_when_somebody_signs_out, wrong_tokens_are_counted, readers_read_and_change_nothing,
                forms_of_other_sites_are_refused, a_form_of_one_session_is_none_of_another, colours_are_remembered):
            tap.run(test.__name__, test, m)


main()
