"""A small disk of one's own, whose power can be cut and that can be filled.

An ext4 file system in an image file, mounted through a loop device. `cut()` does to it what a power
failure does: the kernel's own shutdown call (EXT4_IOC_SHUTDOWN without flushing the journal) throws away
whatever was not written to the image yet, and the next mount recovers from the journal. Files that were
written but not synced come back empty, short or not at all, which SIGKILL never shows.

Needs root and a loop device; `why_not()` says what is missing. `enter()` moves the process into a mount
namespace of its own first, so that a test that dies leaves no mount behind.
"""

import errno
import fcntl
import os
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time

EXT4_IOC_SHUTDOWN = 0x8004587D
WITHOUT_FLUSHING = 2
MODES = {
    "ordered": "data=ordered",
    # Without auto_da_alloc a file that was renamed into place before it was synced is empty afterwards.
    "writeback": "data=writeback,noauto_da_alloc",
}
ALONE = "MAILROOM_TEST_ALONE"  # set where this is one's own namespace already
PATH = os.environ.get("PATH", "") + ":/usr/sbin:/sbin"


def why_not():
    """None, or why no such disk can be had here."""
    if os.geteuid() != 0:
        return "only root can mount a disk image"
    for tool in ("mkfs.ext4", "mount", "umount", "unshare"):
        if not shutil.which(tool, path=PATH):
            return f"{tool} is not installed"
    try:
        with tempfile.TemporaryDirectory(prefix="mailroom-disk-") as directory, Disk(directory, "ordered", 8) as disk:
            disk.cut()
    except (OSError, AssertionError) as error:
        return f"a disk image cannot be mounted here ({str(error).strip().splitlines()[-1]})"
    return None


def enter():
    """Go on in a mount namespace of one's own, where that can be had."""
    if os.geteuid() != 0 or ALONE in os.environ or not shutil.which("unshare", path=PATH):
        return
    probe = subprocess.run(["unshare", "--mount", "true"], stderr=subprocess.DEVNULL, check=False)
    if probe.returncode == 0:
        os.environ[ALONE] = "1"
        os.execvp("unshare", ["unshare", "--mount", "--propagation", "private", sys.executable, *sys.argv])


def run(*args):
    done = subprocess.run(args, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        env={**os.environ, "PATH": PATH}, check=False)
    assert done.returncode == 0, f"{' '.join(args)}: {done.stdout}"


class Disk:
    """Mounted at `path` while it is a context. `mode` is a key of MODES."""

    def __init__(self, directory, mode, megabytes):
        self.image = os.path.join(directory, f"{mode}.img")
        self.path = os.path.join(directory, f"{mode}.mnt")
        self.ballast = os.path.join(self.path, ".ballast")
        self.mode = mode
        os.mkdir(self.path)
        with open(self.image, "wb") as image:
            image.truncate(megabytes << 20)
        run("mkfs.ext4", "-q", "-F", "-m", "0", self.image)

    def mount(self):
        run("mount", "-o", f"loop,{MODES[self.mode]}", self.image, self.path)

    def unmount(self):
        """A process that was just killed may keep it busy for a moment."""
        deadline = time.monotonic() + 60
        while True:
            try:
                return run("umount", self.path)
            except AssertionError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.02)

    def cut(self, processes=()):
        """The power fails for these processes, and comes back without them. Nobody else may use the disk."""
        # Stopped first: a process must not live to see that its disk has gone.
        for process in processes:
            process.send_signal(signal.SIGSTOP)
        fd = os.open(self.path, os.O_RDONLY | os.O_DIRECTORY)
        try:
            fcntl.ioctl(fd, EXT4_IOC_SHUTDOWN, struct.pack("I", WITHOUT_FLUSHING))
        finally:
            os.close(fd)
        for process in processes:
            process.kill()
            process.wait()
        self.unmount()
        self.mount()

    def fill(self, spare=0):
        """Take all the room there is but `spare` bytes."""
        block = b"x" * (1 << 16)
        with open(self.ballast, "ab", buffering=0) as ballast:
            while block:
                try:
                    ballast.write(block)
                except OSError as error:
                    assert error.errno == errno.ENOSPC, error
                    block = block[:len(block) // 2]
            # Written, not only promised: ext4 allocates late.
            os.fsync(ballast.fileno())
            ballast.truncate(max(ballast.tell() - spare, 0))

    def free(self):
        os.unlink(self.ballast)

    def __enter__(self):
        self.mount()
        return self

    def __exit__(self, *ignored):
        self.unmount()
        os.unlink(self.image)
        os.rmdir(self.path)
