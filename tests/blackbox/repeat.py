"""usage: repeat.py PROGRAM SOURCE - script/test selects and repeats tests, and counts them over all runs.

script/run-tests runs a small build of its own, in which one test fails every third time.
"""

import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from tap import Tap  # noqa: E402

SOURCE = sys.argv[2]
BUILD = """project('small')
sh = find_program('sh')
green = 'echo "ok 1 - a"; echo "ok 2 - b"; echo 1..2'
test('green', sh, args: ['-c', green], suite: 'calm', protocol: 'tap')
test('calm', sh, args: ['-c', green], suite: 'wild', protocol: 'tap')
# Each run takes a number of its own: directories are made by one only.
test('shaky', sh, args: ['-c', '''n=1; until mkdir "$0/run-$n" 2>/dev/null; do n=$((n + 1)); done
echo "ok 1 - a"
if [ $((n % 3)) -eq 0 ]; then echo "not ok 2 - third"; echo "# it was run $n"; else echo "ok 2 - third"; fi
echo 1..2''', meson.current_source_dir()], suite: 'wild', protocol: 'tap')
"""


class Small:
    def __init__(self):
        self.place = tempfile.TemporaryDirectory(prefix="mailroom-repeat-")
        with open(os.path.join(self.place.name, "meson.build"), "w", encoding="utf-8") as file:
            file.write(BUILD)
        subprocess.run(["meson", "setup", "build"], cwd=self.place.name, check=True, capture_output=True, timeout=120)

    def test(self, repeat, *names):
        return subprocess.run([os.path.join(SOURCE, "script/run-tests"), "build", str(repeat), *names],
            cwd=self.place.name, capture_output=True, text=True, timeout=120, check=False)

    def __enter__(self):
        return self

    def __exit__(self, *ignored):
        self.place.cleanup()


def last(done):
    return done.stdout.splitlines()[-1]


def all_of_them_once(small):
    done = small.test(1)
    assert (done.returncode, last(done)) == (0, "6 passed, 0 failed"), done.stdout


def a_test_or_a_suite_or_both(small):
    done = small.test(1, "green")
    assert (done.returncode, last(done)) == (0, "2 passed, 0 failed"), done.stdout
    done = small.test(1, "wild")
    assert (done.returncode, last(done)) == (0, "4 passed, 0 failed"), done.stdout
    # "calm" is a suite with one test, and a test.
    done = small.test(1, "calm")
    assert (done.returncode, last(done)) == (0, "4 passed, 0 failed"), done.stdout
    done = small.test(1, "green", "nothing")
    assert done.returncode == 2 and done.stdout == "", done
    assert done.stderr == ("script/test: there is no suite and no test named nothing; the suites are calm, wild\n"), done


def repetitions_are_counted(small):
    done = small.test(7)
    lines = done.stdout.splitlines()
    assert (done.returncode, last(done)) == (1, "40 passed, 2 failed"), done.stdout
    assert lines[-2] == "NOT ALWAYS GREEN: small:wild / shaky: failed in 2 of 7 runs", done.stdout
    assert [line for line in lines if line.startswith(("FAILED", "NOT ALWAYS"))] == [
        "FAILED: small:wild / shaky: 1 of 2 (FAIL)", lines[-2]], done.stdout
    assert "    # it was run 3" in lines, done.stdout


def no_other_words_are_taken(small):
    for args in (["--repeat"], ["--repeat", "0"], ["--repeat", "x", "green"], ["--suite", "calm"]):
        done = subprocess.run([os.path.join(SOURCE, "script/test"), *args], capture_output=True, text=True, timeout=60,
            check=False)
        assert done.returncode == 2 and done.stderr.startswith("usage: script/test [--repeat N]"), (args, done)


with Tap() as tap:
    for case in (all_of_them_once, a_test_or_a_suite_or_both, repetitions_are_counted, no_other_words_are_taken):
        with Small() as build:
            tap.run(case.__name__, case, build)
