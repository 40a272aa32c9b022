"""The JMAP client of the program, by itself: jmap_driver.c, which the test got as its first argument."""

import contextlib
import json
import subprocess
import sys

from jmap_server import PASSWORD, TOKEN, USER

DRIVER = sys.argv[1]
SECRETS = (PASSWORD, TOKEN, "c2FtQGV4YW1wbGUudGVzdDpjb3JyZWN0")


class Failed(Exception):
    """A request that failed: `code`, `word`, and the message."""

    def __init__(self, answer):
        super().__init__(answer["message"])
        self.code, self.word = answer["error"], answer["word"]


class Client(contextlib.AbstractContextManager):
    """The driver, logged in at `url`."""

    def __init__(self, url, user=USER, password=PASSWORD, **more):
        self.process = subprocess.Popen([DRIVER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.say(url=url, user=user, password=password, **more)

    def __exit__(self, *_):
        self.process.stdin.close()
        rest = self.process.stdout.read()
        assert self.process.wait(60) == 0 and not rest, rest
        self.process.stdout.close()

    def say(self, **command):
        self.process.stdin.write(json.dumps(command) + "\n")
        self.process.stdin.flush()
        answer = json.loads(self.process.stdout.readline())
        self.pauses = answer["pauses"]
        if "error" in answer:
            assert not any(secret in answer["message"] for secret in SECRETS), answer
            raise Failed(answer)
        return answer["ok"]

    def ask(self, *calls, **more):
        return self.say(calls=[[name, args, str(number)] for number, (name, args) in enumerate(calls)], **more)

    def write(self, *calls):
        return self.ask(*calls, writes="yes")

    def call(self, method, **args):
        return self.say(method=method, args=args)


def fails(code, text, function, *args, word=None, **more):
    try:
        got = function(*args, **more)
    except Failed as error:
        assert error.code == code and text in str(error) and error.word == word, (error.code, error.word, str(error))
        return
    raise AssertionError(f"it succeeded: {got}")
