"""Agents whose mail is on a JMAP server: one in memory, or another. The test got the program as its first argument."""

import contextlib
import json
import os
import sys
import threading

from agents import Agents
from jmap_model import JmapModel, PASSWORD

PROGRAM = sys.argv[1]
ALICE, BOB, CAROL = (f"{name}@houmao.localhost" for name in ("alice", "bob", "carol"))


class Office(Agents):
    """Agents bound to accounts of a server."""

    def arrived(self):
        """Wait for mail that the server may deliver after it was sent."""

    def settle(self, url, password, *names):
        self.write("password", password + "\n")
        for name in names:
            self.json("agents", "create", name, "--transport", "stalwart", "--jmap-url", url, "--management-url", url + "/none",
                "--password-file", "password")

    def session(self, name):
        return os.path.dirname(self.manifest(name))

    def secrets(self, name):
        return os.path.join(self.session(name), "mailbox-secrets")


@contextlib.contextmanager
def modelled(*traits, names=("alice", "bob"), **about):
    with JmapModel(*traits, **about) as model, Office(PROGRAM) as m:
        for name in names:
            model.add(f"{name}@houmao.localhost")
        m.settle(model.url, PASSWORD, *names)
        model.requests.clear()
        yield m, model


def subjects(m, name, *args):
    return [one["subject"] for one in m.mail(name, "list", *args)["messages"]]


def view(message):
    return "".join(letter if message[flag] else "-" for letter, flag in (("r", "read"), ("a", "answered"), ("x", "archived"))) + " " + message["box"]


def sends(calls):
    return any(name == "EmailSubmission/set" for name, _, _ in calls)


def make_only(model, calls):
    """The first half of a request to send: the mail, and not its submission."""
    args = {key: value for key, value in calls[0][1].items() if key not in ("accountId", "ifInState")}
    model.do_Email_set(model.accounts[ALICE], args, {})


class Waiting(threading.Thread):
    """A long poll; `answer` is there when it is over."""

    def __init__(self, gateway, seconds=60):
        super().__init__(daemon=True)
        self.gateway, self.seconds, self.answer = gateway, seconds, None
        self.start()

    def run(self):
        self.answer = json.loads(self.gateway.get(f"/v1/mail-notifier/next?wait={self.seconds}")[2])

    def told(self):
        self.join(60)
        assert self.answer, "the long poll does not return"
        return self.answer
