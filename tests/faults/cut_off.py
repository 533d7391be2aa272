#!/usr/bin/env python3
"""Applies of an estate in a bucket, through a proxy that fails at points a seed chooses.

    cut_off.py PLUMB PROVIDER POINTS

For each point: an apply that is killed, cut off, throttled, or loses answers; then runs without faults until
nothing is left to do. Afterwards every instance is recorded once, an id that was known is still that instance's, the
world of the test provider holds each object once, and a plan finds no changes. Several estates go through their points
beside each other.
"""

import concurrent.futures
import json
import os
import pathlib
import random
import re
import signal
import socket
import socketserver
import subprocess
import sys
import tempfile
import threading
import time

from bucket import create_bucket

ESTATES = 4
THINGS = 4
INSTANCES = 2 * THINGS + 1
PATIENCE = 180  # seconds for one command, on a busy machine
# Where answers are lost for so long that the lease ends, nothing more is begun.
TO_BE_CONTINUED = 8

# A lease and a margin that a test can wait for.
PROJECT = """
[store.s3]
bucket = "cut-off"
prefix = "%(prefix)s"
region = "us-east-1"
endpoint = "%(endpoint)s"
path_style = true
# What SeaweedFS has not, by name.
allow_insecure = ["versioning", "lifecycle", "public_access_block"]

[transactions]
lease = "4s"
margin = "1s"
skew = "1s"

[estates.cut-off]
directory = "."
"""

CONFIGURATION = """
terraform {
  required_providers {
    test = {
      source = "plumbline/test"
    }
  }
}

provider "test" {
  world = "world"
}

resource "terraform_data" "base" {
  input = "%(round)s"
}

resource "test_thing" "updated" {
  count = %(count)s
  name  = "updated-${count.index}"
  size  = %(size)s
  tags = {
    base = terraform_data.base.output
  }
}

resource "test_thing" "replaced" {
  count = %(count)s
  name  = "replaced-%(round)s-${count.index}"
  kind  = "%(round)s"
}

output "ids" {
  value = concat([terraform_data.base.id], test_thing.updated[*].id, test_thing.replaced[*].id)
}
"""

CLI_CONFIGURATION = """
provider_installation {
  dev_overrides {
    "plumbline/test" = "%s"
  }
  direct {}
}
"""

SLOW_DOWN = (
    b"HTTP/1.1 503 Slow Down\r\nContent-Type: application/xml\r\nConnection: close\r\nContent-Length: 111\r\n\r\n"
    b"<?xml version=\"1.0\" encoding=\"UTF-8\"?><Error><Code>SlowDown</Code><Message>Reduce the rate.</Message></Error>"
)
SLOW_DOWN = SLOW_DOWN.replace(b"111", str(len(SLOW_DOWN.split(b"\r\n\r\n", 1)[1])).encode())


class Faults:
    """What befalls requests. A request is numbered from 0 as it comes."""

    def __init__(self):
        self.lock = threading.Lock()
        self.heal()

    def heal(self):
        with self.lock:
            self.kind, self.at, self.count, self.victim = None, 0, 0, None

    def strike(self, kind, at):
        with self.lock:
            self.kind, self.at, self.count, self.victim = kind, at, 0, None

    def fate(self):
        with self.lock:
            number, self.count = self.count, self.count + 1
            if self.kind is None or number < self.at:
                return None
            if self.kind == "killed":
                if number == self.at and self.victim:
                    self.victim.kill()
                return None
            if self.kind == "cut off":
                return "cut"
            if self.kind == "throttled":
                return "throttle" if number < self.at + 6 else None
            # Some answers are lost, after their requests were done.
            return "lose" if number < self.at + 3 else None


def proxy(upstream, faults):
    host, port = upstream.removeprefix("http://").split(":")

    class Connection(socketserver.BaseRequestHandler):
        def handle(self):
            try:
                self.relay()
            except OSError:
                pass

        def relay(self):
            data = b""
            while b"\r\n\r\n" not in data:
                more = self.request.recv(65536)
                if not more:
                    return
                data += more
            head, body = data.split(b"\r\n\r\n", 1)
            length = re.search(rb"(?im)^content-length: *(\d+)", head)
            if re.search(rb"(?im)^expect:", head):
                self.request.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")
            while length and len(body) < int(length[1]):
                more = self.request.recv(65536)
                if not more:
                    return
                body += more
            fate = faults.fate()
            if fate == "cut":
                return
            if fate == "throttle":
                self.request.sendall(SLOW_DOWN)
                return
            lines = [line for line in head.split(b"\r\n")
                     if not line.lower().startswith((b"connection:", b"expect:"))]
            with socket.create_connection((host, int(port))) as server:
                server.sendall(b"\r\n".join([*lines, b"connection: close", b"", b""]) + body)
                answer = b"".join(iter(lambda: server.recv(65536), b""))
            if fate != "lose":
                self.request.sendall(answer)

    class Server(socketserver.ThreadingTCPServer):
        daemon_threads = True
        request_queue_size = 128

    server = Server(("127.0.0.1", 0), Connection)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_address[1]}"


class Estate:
    def __init__(self, plumb, provider, folder, endpoint, prefix):
        self.plumb, self.folder, self.known = plumb, folder, {}
        folder.mkdir()
        (folder / "plumb.toml").write_text(PROJECT % {"endpoint": endpoint, "prefix": prefix})
        (folder / "cli.tfrc").write_text(CLI_CONFIGURATION % pathlib.Path(provider).parent)

    def configure(self, round):
        (self.folder / "main.tf").write_text(
            CONFIGURATION % {"round": round, "size": round + 1, "count": THINGS})

    def start(self, *arguments):
        environment = {
            "PATH": os.environ["PATH"], "HOME": os.environ["HOME"], "TF_CLI_CONFIG_FILE": "cli.tfrc",
            # A create in flight is found again, so that nobody has to be asked.
            "TEST_PROVIDER_REQUEST_TOKENS": "1",
            "AWS_ACCESS_KEY_ID": os.environ["STAND_INS_ACCESS_KEY"],
            "AWS_SECRET_ACCESS_KEY": os.environ["STAND_INS_SECRET_KEY"],
            "AWS_EC2_METADATA_DISABLED": "true",
        }
        return subprocess.Popen([self.plumb, *arguments], cwd=self.folder, env=environment, text=True,
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)

    def run(self, *arguments):
        child = self.start(*arguments)
        try:
            output, _ = child.communicate(timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            child.kill()
            output, _ = child.communicate()
            raise SystemExit(f"{' '.join(arguments)} did not end:\n{output}")
        return child.returncode, output

    def must(self, *arguments):
        status, output = self.run(*arguments)
        if status != 0:
            raise SystemExit(f"{' '.join(arguments)} ended with {status}:\n{output}")
        return output

    def ids(self):
        shown = json.loads(self.must("show", "-json"))
        resources = shown.get("values", {}).get("root_module", {}).get("resources", [])
        addresses = [resource["address"] for resource in resources]
        assert len(addresses) == len(set(addresses)), addresses
        return {resource["address"]: resource["values"]["id"] for resource in resources}

    def things(self):
        return sorted(file.stem for file in (self.folder / "world" / "test_thing").iterdir()
                      if file.suffix == ".json")


def point(estate, faults, chance, round):
    estate.configure(round)
    kind = chance.choice(["killed", "cut off", "throttled", "loses answers"])
    at = chance.randrange(1, 90)
    faults.strike(kind, at)
    child = faults.victim = estate.start("apply", "-auto-approve", "-input=false")
    output, _ = child.communicate(timeout=PATIENCE)
    status = child.returncode
    faults.heal()

    def refuse(problem):
        raise SystemExit(f"{kind} at {at} in round {round} of {estate.folder.name}: {problem}")

    if status not in (0, 1, TO_BE_CONTINUED, -signal.SIGKILL):
        refuse(f"the apply ended with {status}:\n{output}")
    if status == TO_BE_CONTINUED and "run the same command again" not in output:
        refuse(f"the apply is to be continued and does not say how:\n{output}")
    if status == 1 and "Error:" not in output:
        refuse(f"the apply failed and does not say why:\n{output}")
    if "panicked" in output:
        refuse(f"a panic:\n{output}")
    # The next run goes on. A dead transaction's lease may have to run out first.
    deadline = time.monotonic() + PATIENCE
    while True:
        again, said = estate.run("apply", "-auto-approve", "-input=false")
        if again == 0:
            break
        if time.monotonic() > deadline:
            refuse(f"the next runs do not go on:\n{said}\nafter:\n{output}")
        time.sleep(0.5)
    status_of_plan, planned = estate.run("plan", "-detailed-exitcode", "-input=false")
    if status_of_plan != 0:
        refuse(f"changes are left over:\n{planned}")
    ids = estate.ids()
    if len(ids) != INSTANCES:
        refuse(f"{len(ids)} of {INSTANCES} instances are recorded: {ids}")
    # An update keeps the id: another one means that the instance was lost and made again.
    for address, id in estate.known.items():
        if ids[address] != id:
            refuse(f"{address} was {id} and is {ids[address]}:\n{output}\n{said}")
    estate.known = {address: id for address, id in ids.items() if ".replaced[" not in address}
    recorded = sorted(id for address, id in ids.items() if address.startswith("test_thing."))
    if estate.things() != recorded:
        refuse(f"the world holds {estate.things()}, and recorded are {recorded}:\n{output}\n{said}")
    return f"{kind} at request {at}: the apply ended with {status}, the next run went on"


def points_of(plumb, provider, server, folder, seed, points):
    """One estate's points, one after the other; each is told as soon as it is over."""
    faults, chance = Faults(), random.Random(f"{seed} {folder.name}")
    estate = Estate(plumb, provider, folder, proxy(server, faults), f"seed-{seed}-{folder.name}")
    for round in range(points):
        print(f"{folder.name}: {point(estate, faults, chance, round)}", flush=True)


def main():
    plumb, provider, points = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2]), int(sys.argv[3])
    seed = int(os.environ.get("FAULT_SEED", "20261130"))
    server = os.environ["SEAWEEDFS_ENDPOINT"]
    create_bucket(server, "cut-off")
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as scratch, concurrent.futures.ThreadPoolExecutor(ESTATES) as pool:
        shares = [points // ESTATES + (number < points % ESTATES) for number in range(ESTATES)]
        tasks = [pool.submit(points_of, plumb, provider, server, pathlib.Path(scratch) / f"estate-{number}", seed, share)
                 for number, share in enumerate(shares)]
        for task in concurrent.futures.as_completed(tasks):
            task.result()
    print(f"{points} points, seed {seed}: nothing was lost, nothing was made twice "
          f"({time.monotonic() - began:.0f} s)")


main()
