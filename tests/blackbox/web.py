"""usage: web.py PROGRAM - the pages at /mail, over plain HTTP: what a browser gets without its scripts."""

import gzip
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from mailroom import Mailroom  # noqa: E402
from tap import Tap  # noqa: E402
from webs import api, page, project  # noqa: E402

NASTY = "<script>alert(1)</script><img src=x onerror=alert(2)>\"'&amp;"


def a_browser_is_led_to_the_pages(m):
    with m.serve() as server:
        status, headers, _ = server.get("/", Accept="text/html,*/*;q=0.8")
        assert (status, headers["Location"]) == (303, "/mail"), (status, headers)
        assert server.get("/", Accept="application/json")[0] == 404
        assert server.get("/mail")[0] == server.get("/mail/")[0] == 200


def pages_say_what_may_run_in_them(m):
    with m.serve() as server:
        for path in ("/mail", "/mail/p/nix", "/mail/nix"):
            _, headers, text = server.get(path)
            policy = dict(part.strip().split(" ", 1) for part in headers["Content-Security-Policy"].split(";"))
            assert policy["default-src"] == "'none'" and policy["script-src"] == policy["style-src"] == "'self'", policy
            assert policy["frame-ancestors"] == policy["base-uri"] == "'none'", policy
            assert headers["X-Content-Type-Options"] == "nosniff" and headers["X-Frame-Options"] == "DENY", headers
            assert headers["Referrer-Policy"] == "same-origin" and headers["Cache-Control"] == "no-store", headers
            assert headers["Content-Type"] == "text/html; charset=utf-8", headers
            assert not re.search(r"<script(?![^>]*\ssrc=)|\sstyle=|<style|\son\w+=|javascript:", text), (path, text)


def what_pages_load_is_kept_for_ever(m):
    with m.serve() as server:
        loaded = re.findall(r'"(/mail/static/[^"]+)"', page(server, "/mail").text)
        assert len(loaded) >= 2, loaded
        for path in loaded:
            status, headers, plain = server.get(path)
            assert status == 200 and "Content-Encoding" not in headers, (path, status)
            assert headers["Cache-Control"] == "public, max-age=31536000, immutable", headers
            packed = page(server, path, Accept_Encoding="gzip, br")
            assert packed.headers["Content-Encoding"] == "gzip" and packed.headers["Vary"] == "Accept-Encoding", path
            assert gzip.decompress(packed.body).decode() == plain, path
        base = os.path.dirname(loaded[0])
        for path in (f"{base}/nix.css", loaded[0].replace(base, "/mail/static/0123456789abcdef"),
                f"{base}/..%2Fx", f"{base}/layout.html"):
            assert server.get(path)[0] in (400, 404), path


def a_page_that_is_not_there_is_a_page(m):
    with m.serve() as server:
        for path in ("/mail/nix", "/mail/p/nix", "/mail/p/nix/nix/nix"):
            answer = page(server, path)
            assert answer.status == 404 and "<h1>Not found</h1>" in answer.text, (path, answer)
        assert "nix" in page(server, "/mail/p/nix").text


def nobody_here_yet_says_how_to_begin(m):
    with m.serve() as server:
        text = page(server, "/mail").text
        for command in ("mailroom connect claude-code", "mailroom connect codex", "mailroom doctor"):
            assert f"<code>{command}</code>" in text, text


def names_of_a_project_are_text(m):
    with m.serve() as server:
        project(server, "/srv/" + NASTY, {"BlueLake": NASTY})
        slug = api(server, "list_projects")["result"][0]["slug"]
        for path in ("/mail", f"/mail/p/{slug}"):
            text = page(server, path).text
            assert "&lt;script&gt;alert(1)" in text and "<script>" not in text and "<img src" not in text, text


def heads_have_no_body(m):
    with m.serve() as server:
        status, headers, text = server.request("HEAD", "/mail")
        assert status == 200 and text == "" and int(headers["Content-Length"]) > 500, headers


def main():
    with Tap() as tap, Mailroom(sys.argv[1]) as m:
        for test in (a_browser_is_led_to_the_pages, pages_say_what_may_run_in_them, what_pages_load_is_kept_for_ever,
                a_page_that_is_not_there_is_a_page, nobody_here_yet_says_how_to_begin, names_of_a_project_are_text,
                heads_have_no_body):
            tap.run(test.__name__, test, m)


main()
