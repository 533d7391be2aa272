"""What plumb puts on a terminal: lines that change while it works, and none of them afterwards.

    check.py PLUMB
"""

import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time

from screen import Terminal

PLUMB = os.path.abspath(sys.argv[1])

CONFIGURATION = """
variable "fails" {
  default = false
}
resource "terraform_data" "first" {
  input = "one"
  provisioner "local-exec" {
    command = "sleep 2; echo spoken; sleep 1; ${var.fails ? "exit 3" : "true"}"
  }
}
resource "terraform_data" "second" {
  input = terraform_data.first.id
}
"""


def environment(home, **more):
    keep = {"PATH": os.environ["PATH"], "HOME": str(home), "TERM": "xterm", "TF_CLI_CONFIG_FILE": os.devnull}
    return keep | more


def scene():
    folder = pathlib.Path(tempfile.mkdtemp(prefix="plumb-terminal-"))
    (folder / "main.tf").write_text(CONFIGURATION)
    subprocess.run([PLUMB, "init"], cwd=folder, env=environment(folder), check=True, stdout=subprocess.DEVNULL)
    return folder


def run(arguments, folder=None, columns=100, rows=24, **more):
    folder = folder or scene()
    return Terminal([PLUMB, *arguments], folder, environment(folder, **more), columns, rows)


def comparable(text):
    text = re.sub(r"\x1b\[[\d;]*m", "", text).replace("\r\n", "\n")
    text = re.sub(r"[0-9a-f]{8}-[0-9a-f-]{27}", "ID", text)
    return re.sub(r"after \d+s", "after TIME", text).rstrip()


def agreed_to():
    # As wide as text is where there is no terminal.
    terminal = run(["apply"], columns=78)
    terminal.pump(until="Enter a value:")
    terminal.type("yes\n")
    assert terminal.finish() == 0, terminal.screen.text()
    text = terminal.screen.text()
    assert terminal.ever("terraform_data.first: Provisioning with 'local-exec'... ["), text
    assert terminal.ever("terraform_data.second waits for terraform_data.first"), text
    assert terminal.ever("Applying [>"), text
    assert terminal.ever("0 of 2 done, 1 running, 1 to begin ["), text
    assert "Applying [" not in text and "waits for" not in text, text
    assert "terraform_data.first (local-exec): spoken\n" in text, text
    # What stays is what is written where no terminal is.
    folder = scene()
    plain = subprocess.run(
        [PLUMB, "apply"], cwd=folder, env=environment(folder), input="yes\n", text=True, capture_output=True
    )
    # A person's answer is echoed by the terminal.
    expected = comparable(plain.stdout).replace("Enter a value: \n", "Enter a value: yes\n\n", 1)
    squeeze = lambda text: re.sub(r"\n+", "\n", re.sub(r"─+", "─", text))
    assert squeeze(comparable(text)) == squeeze(expected), f"{comparable(text)}\n=====\n{expected}"


def interrupted():
    terminal = run(["apply", "-auto-approve"])
    terminal.pump(until="0 of 2 done")
    terminal.type("\x03")
    code = terminal.finish()
    text = terminal.screen.text()
    assert code == 1, text
    assert "Interrupt received." in text and "The apply was interrupted" in text, text
    assert "Applying [" not in text and "0 of 2 done" not in text, text


def failed():
    terminal = run(["apply", "-auto-approve", "-var=fails=true"])
    assert terminal.finish() == 1
    text = terminal.screen.text()
    assert terminal.ever("Applying [") and "Applying [" not in text, text
    assert "local-exec provisioner error" in text or "Error: " in text, text


def resized():
    terminal = run(["apply", "-auto-approve"], columns=100)
    terminal.pump(until="0 of 2 done")
    terminal.resize(40, 10)
    assert terminal.finish() == 0, terminal.screen.text()
    # Narrow lines have no bar.
    assert terminal.ever("Applying 0 of 2 done"), terminal.screen.text()
    narrow = [line for line in terminal.seen[-1].split("\n") if line.startswith("Applying")]
    assert narrow == [], narrow


def killed():
    terminal = run(["apply", "-auto-approve"])
    terminal.pump(until="0 of 2 done")
    terminal.process.send_signal(signal.SIGKILL)
    terminal.finish()
    # No mode was set that would outlive the program: nothing but colours, cursor up and erasing.
    modes = set(re.findall(r"\x1b\[[\d;?]*([A-Za-z])", terminal.raw))
    assert modes <= {"m", "A", "J"}, modes


def plain():
    for how in [{"NO_COLOR": "1"}, {"TERM": "dumb"}, {"CI": "true"}, {"TF_IN_AUTOMATION": "1"}]:
        terminal = run(["apply", "-auto-approve"], **how)
        assert terminal.finish() == 0, terminal.screen.text()
        assert "\x1b[J" not in terminal.raw and "Applying [" not in terminal.raw, (how, terminal.raw)
        if how.keys() & {"NO_COLOR", "TERM"}:
            assert "\x1b" not in terminal.raw, (how, terminal.raw)
    for flag in ["-no-color", "-json"]:
        terminal = run(["apply", "-auto-approve", flag])
        assert terminal.finish() == 0, terminal.screen.text()
        assert "\x1b" not in terminal.raw, (flag, terminal.raw)


def paged():
    folder = scene()
    subprocess.run(
        [PLUMB, "apply", "-auto-approve"], cwd=folder, env=environment(folder), check=True, stdout=subprocess.DEVNULL
    )
    pager = "sed 's/^/paged: /'"

    def shows(*arguments, **more):
        terminal = run(["show", *arguments], folder, **({"PAGER": pager} | more))
        assert terminal.finish() == 0, terminal.screen.text()
        return terminal.screen.text()

    assert "paged: # terraform_data.first:" in shows("-no-color"), shows("-no-color")
    for text in [
        shows("-no-pager"),
        shows(CI="1"),
        shows(TF_IN_AUTOMATION="1"),
        shows(TERM="dumb"),
        shows(PAGER=""),
        shows(PAGER="cat"),
        shows(PAGER="there-is-no-such-pager"),
        shows("-json"),
    ]:
        assert "paged" not in text and "terraform_data" in text, text


def main():
    checks = [agreed_to, interrupted, failed, resized, killed, plain, paged]
    for check in checks:
        begun = time.monotonic()
        check()
        print(f"  {check.__name__}: as expected ({time.monotonic() - begun:.0f} s)")


if __name__ == "__main__":
    main()
