"""What a test finds around it is the same on every machine: own() takes the rest away.

tap.py calls it, so every test written in Python has it. A test sees no variable that it did not set (but those of the
sanitizers, of Meson and of Python, and the place for temporary files), no git configuration, an empty home, English, the
usual umask, enough open files, and a PATH without Mailroom, whether or not that is installed: the one that is tested is
named by its path.
"""

import atexit
import os
import resource
import shutil
import tempfile

KEPT = ("ASAN_", "UBSAN_", "LSAN_", "TSAN_", "MALLOC_", "MESON_", "PYTHON", "PYENV_", "VIRTUAL_ENV", "TMPDIR",
    "LD_LIBRARY_PATH", "MAILROOM_TEST_")
HIDDEN = ("mailroom", "afmail")  # programs that no test may find by accident
FILES = 8192  # open at once: some tests are a crowd, and ordinary users begin with 1024


def without(path, hidden, scratch):
    """PATH with the same programs except the hidden ones; a folder that has one of these is replaced by links."""
    folders = []
    for number, folder in enumerate(path.split(os.pathsep)):
        # A relative one would mean another place in every directory.
        if not os.path.isabs(folder) or not os.path.isdir(folder):
            continue
        if any(os.path.lexists(os.path.join(folder, name)) for name in hidden):
            links = os.path.join(scratch, f"bin-{number}")
            os.mkdir(links)
            for name in os.listdir(folder):
                if name not in hidden:
                    os.symlink(os.path.join(folder, name), os.path.join(links, name))
            folder = links
        folders.append(folder)
    return os.pathsep.join(folders)


def own():
    scratch = tempfile.mkdtemp(prefix="mailroom-around-")
    atexit.register(shutil.rmtree, scratch, ignore_errors=True)
    home = os.path.join(scratch, "home")
    os.mkdir(home)
    path = without(os.environ.get("PATH", os.defpath), HIDDEN, scratch)
    for name in list(os.environ):
        if not name.startswith(KEPT):
            del os.environ[name]
    os.environ.update(PATH=path, HOME=home, LANG="C.UTF-8", TERM="dumb", TZ="UTC", GIT_CONFIG_NOSYSTEM="1",
        GIT_CONFIG_GLOBAL=os.devnull)
    os.umask(0o022)
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (FILES if most == resource.RLIM_INFINITY else min(FILES, most), most))
