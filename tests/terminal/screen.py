"""A terminal that knows what plumb writes, and a program that runs in one."""

import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import termios
import time

SEQUENCE = re.compile(r"\x1b\[(\d*(?:;\d+)*)([A-Za-z])")


class Screen:
    """All lines that were ever shown, as scrolling back would show them. Lines are as wide as they are written;
    what is written beyond the width is remembered as a fault."""

    def __init__(self, columns):
        self.columns = columns
        self.lines = [""]
        self.row = self.column = 0
        self.too_wide = []
        self.rest = ""

    def feed(self, text):
        text, self.rest = self.rest + text, ""
        at = 0
        while at < len(text):
            character = text[at]
            if character == "\x1b":
                found = SEQUENCE.match(text, at)
                if not found:
                    self.rest = text[at:]
                    return
                self.obey(found.group(1), found.group(2))
                at = found.end()
                continue
            if character == "\r":
                self.column = 0
            elif character == "\n":
                self.row += 1
                if self.row == len(self.lines):
                    self.lines.append("")
            elif character >= " ":
                line = self.lines[self.row].ljust(self.column)
                self.lines[self.row] = line[: self.column] + character + line[self.column + 1 :]
                self.column += 1
            at += 1

    def obey(self, number, letter):
        if letter == "A":
            self.row = max(0, self.row - int(number or 1))
        elif letter == "J":
            self.lines[self.row :] = [self.lines[self.row][: self.column]]
        elif letter != "m":
            raise AssertionError(f"what is CSI {number}{letter}?")

    def text(self):
        return "\n".join(line.rstrip() for line in self.lines)


class Terminal:
    """A program in a terminal of its own."""

    def __init__(self, command, cwd, env, columns=100, rows=24):
        self.screen = Screen(columns)
        self.raw = ""
        self.seen = []
        master, slave = pty.openpty()
        self.master = master
        self.resize(columns, rows)
        self.process = subprocess.Popen(
            command, cwd=cwd, env=env, stdin=slave, stdout=slave, stderr=slave,
            preexec_fn=lambda: (os.setsid(), fcntl.ioctl(0, termios.TIOCSCTTY, 0)),
        )
        os.close(slave)

    def resize(self, columns, rows):
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def type(self, text):
        os.write(self.master, text.encode())

    def pump(self, until=None, timeout=60):
        """Reads until a text has been on the screen, or the program has ended."""
        deadline = time.monotonic() + timeout
        while time.monotonic() < deadline:
            ready, _, _ = select.select([self.master], [], [], 0.2)
            if ready:
                try:
                    data = os.read(self.master, 65536)
                except OSError:
                    data = b""
                if not data:
                    self.process.wait()
                    return
                text = data.decode(errors="replace")
                self.raw += text
                self.screen.feed(text)
                self.seen.append(self.screen.text())
            if until is not None and until in self.screen.text():
                return
        self.process.send_signal(signal.SIGKILL)
        raise AssertionError(f"{until!r} never came; the screen:\n{self.screen.text()}")

    def finish(self):
        self.pump()
        os.close(self.master)
        return self.process.returncode

    def ever(self, text):
        return any(text in screen for screen in self.seen)
