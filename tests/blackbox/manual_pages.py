"""usage: manual_pages.py PROGRAM SOURCE - the manual pages say what the table of operations says, and groff renders them."""

import os
import re
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from mailroom import Mailroom, describe  # noqa: E402
from tap import Tap  # noqa: E402


def pages(m):
    """{name: source} of all of them."""
    into = os.path.join(m.dir, "man")
    os.makedirs(into, exist_ok=True)
    done = m.run("manual", "--into", into)
    assert done.returncode == 0 and not done.stdout + done.stderr, describe(done)
    found = {}
    for name in os.listdir(into):
        with open(os.path.join(into, name), encoding="ascii") as file:
            found[name[:-len(".1")]] = file.read()
    return found


def plain(text):
    """What troff makes of a line."""
    for escape, char in (("\\-", "-"), ("\\(aq", "'"), ("\\(ga", "`"), ("\\(ha", "^"), ("\\(ti", "~"), ("\\(dq", '"'),
            ("\\&", ""), ("\\:", ""), ("\\e", "\\")):
        text = text.replace(escape, char)
    return re.sub(r"\\\[u([0-9A-F]+)\]", lambda found: chr(int(found[1], 16)), text)


def every_command_is_on_the_page_of_its_first_word(m):
    shown = {name: plain(source) for name, source in pages(m).items()}
    # The completion knows every option of every command.
    options = dict(re.findall(r"^\t'([^']+)'\) word='([^']*)' ;;$", m.run("completion", "bash").stdout, re.MULTILINE))
    listed = re.findall(r"^  (\S+)", m.run("--help").stdout.split("\nCommands\n")[1].split("\n\n")[0], re.MULTILINE)
    commands = {o["command"]: o for o in m.json("operations")["operations"] if o["command"]}
    seen, older = set(), set()
    for command, operation in commands.items():
        if command.split()[0] not in listed:
            older.add(command)
            continue
        page = shown[f"mailroom-{command.split()[0]}"]
        usage = re.search(rf'"(mailroom {command}(?: \[options\])?(?: [^"a-z]*)?)"', page)
        assert usage and operation["summary"] in page, (command, page)
        for option in (word for word in options[command].split() if word.startswith("--")):
            assert any(f'.B "{start}' in page for start in (option + " ", option + '"', f"--[no-]{option[2:]}")), (command, option)
        seen.add(command)
    assert len(seen) >= 150, len(seen)
    # And nothing else is.
    for page in shown.values():
        for usage in re.findall(r'^\.SS "mailroom ([a-z -]+[a-z])', page, re.MULTILINE):
            assert usage in seen - older, usage


def the_programs_page_has_every_setting_and_command(m):
    page = plain(pages(m)["mailroom"])
    for setting in m.json("config")["settings"]:
        assert f'.B "{setting["environment"]}"\n{setting["summary"][:20]}' in page, setting
    for name in pages(m):
        assert name == "mailroom" or f'.B "{name}(1)"' in page, name


def a_page_is_printed(m):
    team = m.run("manual", "team")
    assert team.returncode == 0 and team.stdout.startswith(".TH MAILROOM-TEAM 1 "), describe(team)
    assert m.run("manual", "mailroom-team").stdout == team.stdout == pages(m)["mailroom-team"]
    assert m.run("manual").stdout == pages(m)["mailroom"]
    done = m.run("manual", "nothing")
    assert done.returncode == 2 and "there is no manual page 'nothing'" in done.stderr, describe(done)
    done = m.run("manual", "--into", os.path.join(m.dir, "missing"))
    assert done.returncode == 1 and "missing" in done.stderr, describe(done)


def groff_renders_them_without_a_warning(m):
    for name, source in pages(m).items():
        for device in ("utf8", "ascii"):
            done = subprocess.run(["groff", "-man", f"-T{device}", "-ww", "-rLL=80n"], input=source, capture_output=True,
                text=True, timeout=60, check=False)
            assert done.returncode == 0 and not done.stderr, (name, done.stderr)


def main():
    with Tap() as tap, Mailroom(sys.argv[1]) as m:
        for case in (every_command_is_on_the_page_of_its_first_word, the_programs_page_has_every_setting_and_command,
                a_page_is_printed):
            tap.run(case.__name__, case, m)
        if shutil.which("groff"):
            tap.run("groff_renders_them_without_a_warning", groff_renders_them_without_a_warning, m)
        else:
            tap.skip("groff_renders_them_without_a_warning", "no groff here")


main()
