"""Pages that change while somebody looks at them, and the keyboard."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "support"))

import browser as browsers
import team_scene
from mailroom import Mailroom, Server
from tap import Tap
from webs import api, project

# What the page's own patch makes of one element, given as HTML, when the server sends another: its HTML.
PATCH = """([before, after, then]) => import(document.querySelector("script").src.replace("app.js", "patch.js")).then(({ patch }) => {
    const host = document.createElement("div");
    const wanted = document.createElement("div");
    document.body.append(host);
    host.innerHTML = before;
    wanted.innerHTML = after;
    const rows = [...host.querySelectorAll("li")];
    if (then) host.querySelector(then[0])[then[1]] = then[2];
    const fresh = patch(host, wanted).map((one) => one.textContent);
    const kept = [...host.querySelectorAll("li")].filter((row) => rows.includes(row)).length;
    const html = host.innerHTML;
    host.remove();
    return [html, fresh.join(","), kept];
})"""


def say(server, subject, sender="RedStone", to="BlueLake", **more):
    api(server, "send_message", project_key="/srv/shop", sender_name=sender, to=[to], subject=subject, body_md="b", **more)


def an_empty_installation_comes_alive(browser, m):
    with m.serve() as server, browser.page() as page:
        page.goto(server.url + "/mail")
        page.wait_for_text("mailroom connect claude-code")
        page.is_fine()
        page.shot("home-empty")
        team_scene.lively(server)
        page.wait_for_text("asks to write to RedStone", "main")
        page.wait_for_text("Search asks for prices, too", "main")
        page.shot("home")
        say(server, "Seen at once?")
        page.wait_for_text("Seen at once?", "main")
        api(server, "release_file_reservations", project_key="/srv/shop", agent_name="GreenCastle")
        page.wait_for_function("() => !document.querySelector('#working').innerText.includes('tests/refunds')")
        api(server, "respond_contact", project_key="/srv/shop", to_agent="RedStone", from_agent="PurpleFox",
            from_project="/srv/docs", accept=True)
        page.wait_for_function("() => !document.querySelector('#needs').innerText.includes('asks to write')")
        page.is_fine()


def what_somebody_types_stays(browser, m):
    with m.serve() as server, browser.page() as page:
        team_scene.lively(server)
        page.goto(server.url + "/mail")
        page.keyboard.press("/")
        page.keyboard.type("half a que")
        say(server, "Meanwhile")
        page.wait_for_text("Meanwhile", "main")
        page.keyboard.type("ry")
        assert page.locator(".find input").input_value() == "half a query"


def where_somebody_reads_stays(browser, m):
    with m.serve() as server, browser.page(height=300) as page:
        project(server, "/srv/shop", {f"{colour}{thing}": "to be read" for colour in ("Blue", "Red", "Green", "Gold")
            for thing in ("Lake", "Stone", "Castle", "Fox")})
        page.goto(server.url + "/mail")
        page.wait_for_text("RedStone", "main")
        row = page.evaluate("""() => {
            const rows = [...document.querySelectorAll("main .mails > li")];
            rows[8].scrollIntoView({ block: "center" });
            const key = rows[8].dataset.key;
            return [key, rows[8].getBoundingClientRect().top, rows[12].dataset.key.split("-").pop()];
        }""")
        # What was below comes up above, and a section grows there.
        api(server, "set_contact_policy", project_key="/srv/shop", agent_name="BlueLake", policy="contacts_only")
        api(server, "request_contact", project_key="/srv/shop", from_agent=row[2], to_agent="BlueLake", reason="r")
        page.wait_for_text("asks to write", "main")
        top = page.evaluate("(key) => document.querySelector(`[data-key='${key}']`).getBoundingClientRect().top", row[0])
        assert abs(top - row[1]) < 2, (row, top)


def only_what_differs_is_touched(browser, m):
    def rows(*names):
        return "<ul>" + "".join(f"<li><a href='/{name}'>{name}</a></li>" for name in names) + "</ul>"
    cases = (
        (rows("a", "b"), rows("a", "b"), None, "", 2),
        (rows("a", "b"), rows("c", "a", "b"), None, "c", 2),
        (rows("a", "b", "c"), rows("b"), None, "", 1),
        (rows("a", "b", "c"), rows("c", "a", "b"), None, "", 3),
        (rows("a"), rows("b"), None, "b", 0),
        ("<p>one</p><p>two</p>", "<h2>new</h2><p>two</p>", None, "", 0),
        ("text", "<b>text</b> and more", None, "", 0),
        ("<details><summary>s</summary>x</details>", "<details><summary>s</summary>y</details>",
            ["details", "open", True], "", 0),
        ("<input value=a><p>1</p>", "<input value=b><p>2</p>", None, "", 0),
    )
    with m.serve() as server, browser.page() as page:
        page.goto(server.url + "/mail")
        for before, after, then, fresh, kept in cases:
            made = page.evaluate(PATCH, [before, after, then])
            wanted = page.evaluate("(html) => { const d = document.createElement('div'); d.innerHTML = html; return d.innerHTML; }",
                after.replace("<details>", "<details open>") if then else after)
            assert made == [wanted, fresh, kept], (before, after, made)
        # What is typed into stays, also when the server no longer sends it, and so does what scripts have added.
        typed = ["input", "value", "typed"]
        assert "<input" in page.evaluate(PATCH, ["<p>1</p><input value=a>", "<p>2</p>", typed])[0]
        assert page.evaluate(PATCH, ["<i data-made>x</i><p>1</p>", "<p>2</p>", None])[0] == '<i data-made="">x</i><p>2</p>'
        made = page.evaluate(PATCH, ["<form><input name=q value=a><b>1</b></form>", "<form><input name=q value=c><b>2</b></form>", typed])
        assert made[0] == '<form><input name="q" value="a"><b>2</b></form>', made


def a_server_that_goes_and_comes_back(browser, m):
    with browser.page() as page:
        with m.serve() as server:
            team_scene.lively(server)
            page.goto(server.url + "/mail")
            page.wait_for_text("RedStone", "main")
            page.wait_for_function("() => document.querySelector('.connection')?.textContent === ''")
            port = server.address.rsplit(":", 1)[1]
        page.wait_for_text("Not connected", ".connection")
        m.json("team", "send", "srv-shop", "BlueLake", "--to", "GreenCastle", "--subject", "While it was away", "--body-md", "b")
        with Server(m, (), {}, ("serve", "--port", port)) as server:
            page.wait_for_text("While it was away", "main")
            page.wait_for_function("() => document.querySelector('.connection').textContent === ''")
        # That a connection is refused is no fault of the page's.
        assert all("ERR_" in trouble for trouble in page.troubles())
        page.goto("about:blank")
        page.troubles()


def rows_and_places_by_keyboard(browser, m):
    with m.serve() as server, browser.page() as page:
        team_scene.lively(server)
        page.goto(server.url + "/mail")
        page.wait_for_text("RedStone", "main")
        focused = "document.activeElement.closest('li')?.dataset.key"
        keys = page.evaluate("[...document.querySelectorAll('main .mails > li')].map((row) => row.dataset.key)")
        for steps, at in (("j", 0), ("jj", 2), ("k", 1), ("kkk", 0), ("jjjjjjjjj", len(keys) - 1)):
            for key in steps:
                page.keyboard.press(key)
            assert page.evaluate(focused) == keys[at], (steps, page.evaluate(focused), keys)
        # A change does not take the focus away.
        say(server, "Meanwhile")
        page.wait_for_text("Meanwhile", "main")
        assert page.evaluate(focused) == keys[-1], page.evaluate(focused)
        page.keyboard.press("?")
        page.wait_for_text("Next row", "dialog[open]")
        page.is_accessible()
        page.shot("keys")
        page.keyboard.press("Escape")
        page.wait_for_function("() => !document.querySelector('dialog[open]')")
        page.keyboard.press("/")
        page.keyboard.type("jkg?")
        assert page.locator(".find input").input_value() == "jkg?"
        page.goto(server.url + "/mail/p/srv-shop")
        page.arrives("/mail/p/srv-shop")
        page.keyboard.press("g")
        page.keyboard.press("h")
        page.arrives("/mail")


def anything_by_a_few_letters(browser, m):
    with m.serve() as server, browser.page() as page:
        team_scene.lively(server)
        page.goto(server.url + "/mail")
        chosen = "document.querySelector('.palette [aria-selected=true]').innerText.replace(/\\s+/g, ' ')"
        page.keyboard.press("Control+k")
        page.keyboard.type("refunds")
        page.wait_for_text("GreenCastle", ".palette")
        assert page.evaluate(chosen).startswith("GreenCastle Tests for refunds"), page.evaluate(chosen)
        page.is_accessible()
        page.shot("palette")
        page.keyboard.press("ArrowDown")
        assert page.evaluate(chosen) == "Search all mail for “refunds” search", page.evaluate(chosen)
        page.keyboard.press("ArrowDown")
        assert page.evaluate(chosen).startswith("GreenCastle"), page.evaluate(chosen)
        page.keyboard.press("Escape")
        page.wait_for_function("() => !document.querySelector('dialog[open]')")
        page.keyboard.press("Control+k")
        page.keyboard.type("/DOCS")
        page.wait_for_text("srv-docs", ".palette")
        page.keyboard.press("Enter")
        page.arrives("/mail/p/srv-docs")
        page.keyboard.press("Control+k")
        page.keyboard.type("hm")
        page.wait_for_text("Home", ".palette [aria-selected=true]")
        page.keyboard.press("Enter")
        page.arrives("/mail")


TESTS = [an_empty_installation_comes_alive, what_somebody_types_stays, where_somebody_reads_stays, only_what_differs_is_touched,
    a_server_that_goes_and_comes_back, rows_and_places_by_keyboard,
    anything_by_a_few_letters]


def main():
    def alone(test):
        def run(browser):
            with Mailroom(sys.argv[1]) as m:
                test(browser, m)
        run.__name__ = test.__name__
        return run
    with Tap() as tap:
        browsers.run(tap, [alone(test) for test in TESTS])


main()
