#!/usr/bin/env python3
"""Eight processes apply overlapping plans of one estate of 200 resources, and are killed at random moments.

    killed_appliers.py PLUMB PROVIDERS STORE SECONDS

PROVIDERS is the folder of the test provider, STORE is `directory` or `bucket`. Afterwards the records, the world and
the provider's log of calls have to agree exactly: every resource is there once, recorded as it is, nothing is left
beside its record, and the log has no call that the records would not have allowed.
"""

import collections
import json
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile
import threading
import time

from bucket import create_bucket

APPLIERS = 8
BASES = 20
THINGS = 180
PATIENCE = 300  # seconds for one command, on a busy machine

CONFIGURATION = """
terraform {
  required_providers {
    test = {
      source = "plumbline/test"
    }
  }
}

provider "test" {
  world = "%(world)s"
}

variable "sizes" {
  type    = map(number)
  default = {}
}

variable "gone" {
  type    = set(string)
  default = []
}

resource "test_thing" "base" {
  for_each = toset([for n in range(%(bases)s) : tostring(n)])
  name     = "base-${each.key}"
  size     = lookup(var.sizes, "base-${each.key}", 0)
}

resource "test_thing" "thing" {
  for_each = setsubtract(toset([for n in range(%(things)s) : tostring(n)]), var.gone)
  name     = "thing-${each.key}"
  size     = lookup(var.sizes, "thing-${each.key}", 0)
  slow_ms  = 50
  tags = {
    base = test_thing.base[tostring(tonumber(each.key) %% %(bases)s)].size
  }
}

output "sum" {
  value = sum(concat([for one in test_thing.base : one.size], [for one in test_thing.thing : one.size]))
}
"""

BUCKET = """
[store.s3]
bucket = "killed-appliers"
prefix = "%(prefix)s"
region = "us-east-1"
endpoint = "%(endpoint)s"
path_style = true
# What SeaweedFS has not, by name.
allow_insecure = ["versioning", "lifecycle", "public_access_block"]
"""

ESTATE = """
[estates.shared]
directory = "."
"""

DIRECTORY = """
[store.dir]
path = "%(path)s"
"""


class Place:
    """A working directory of its own, of the estate that all share."""

    def __init__(self, plumb, folder, project, configuration, providers):
        self.plumb, self.folder = plumb, folder
        folder.mkdir()
        (folder / "plumb.toml").write_text(project + ESTATE)
        (folder / "main.tf").write_text(configuration)
        (folder / "cli.tfrc").write_text(
            'provider_installation {\n  dev_overrides {\n    "plumbline/test" = "%s"\n  }\n  direct {}\n}\n' % providers)

    def start(self, *arguments):
        environment = {
            "PATH": os.environ["PATH"], "HOME": str(self.folder), "TF_CLI_CONFIG_FILE": "cli.tfrc",
            "AWS_ACCESS_KEY_ID": os.environ.get("STAND_INS_ACCESS_KEY", ""),
            "AWS_SECRET_ACCESS_KEY": os.environ.get("STAND_INS_SECRET_KEY", ""),
            "AWS_EC2_METADATA_DISABLED": "true",
            "TEST_PROVIDER_REQUEST_TOKENS": "1",
            # A dead process is in nobody's way for longer than these together, in seconds.
            "PLUMB__TRANSACTIONS__LEASE": "6s", "PLUMB__TRANSACTIONS__MARGIN": "3s", "PLUMB__TRANSACTIONS__SKEW": "1s",
        }
        return subprocess.Popen([self.plumb, *arguments], cwd=self.folder, env=environment, text=True,
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)

    def run(self, *arguments, kill_after=None):
        child = self.start(*arguments)
        if kill_after is not None:
            threading.Timer(kill_after, child.kill).start()
        try:
            output, _ = child.communicate(timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            child.kill()
            output, _ = child.communicate()
            raise SystemExit(f"{' '.join(arguments)} did not end:\n{output}")
        if "panicked" in output:
            raise SystemExit(f"{' '.join(arguments)}: a panic:\n{output}")
        return child.returncode, output


REASONS = {0: "applied", 3: "stale", 4: "drifted", 5: "used already", 6: "busy", 7: "in doubt", -9: "killed"}


def reason(status, output):
    if status in REASONS:
        return REASONS[status]
    summary = re.search(r"Error: (.*)", output)
    return f"error: {summary[1] if summary else output[-200:]}"


def apply_until(over, place, chance, tally):
    """Plans and applies again and again, and is killed on the way more often than not."""
    while time.monotonic() < over:
        chosen = chance.sample(range(THINGS), chance.randrange(4, 12))
        sizes = {f"thing-{n}": chance.randrange(1, 1000) for n in chosen}
        gone = [str(n) for n in chosen if chance.random() < 0.2]
        targets = [f'-target=test_thing.thing["{n}"]' for n in chosen]
        if chance.random() < 0.1:
            base = chance.randrange(BASES)
            sizes[f"base-{base}"] = chance.randrange(1, 1000)
            targets.append(f'-target=test_thing.base["{base}"]')
        (place.folder / "chosen.tfvars.json").write_text(json.dumps({"sizes": sizes, "gone": gone}))
        status, output = place.run("plan", "-input=false", "-out=plan.bin", "-var-file=chosen.tfvars.json", *targets)
        tally["planned" if status == 0 else f"plan: {reason(status, output)}"] += 1
        if status != 0:
            continue
        for _ in range(4):
            kill_after = chance.uniform(0, 2.5) if chance.random() < 0.6 else None
            status, output = place.run("apply", "-input=false", "-verdict-exitcode", "plan.bin", kill_after=kill_after)
            tally[reason(status, output)] += 1
            # A killed one is left to others half of the time, and gone on with otherwise.
            if status not in (-9, 6) or chance.random() < 0.5:
                break


def settle(place):
    """Makes everything as configured, once nobody else is at work."""
    deadline = time.monotonic() + PATIENCE
    while True:
        status, output = place.run("apply", "-auto-approve", "-input=false", "-verdict-exitcode")
        if status == 0:
            break
        if time.monotonic() > deadline:
            raise SystemExit(f"the estate cannot be settled:\n{output}")
        time.sleep(1)
    status, output = place.run("plan", "-detailed-exitcode", "-input=false")
    if status != 0:
        raise SystemExit(f"changes are left over:\n{output}")


def recorded(place):
    status, output = place.run("show", "-json")
    if status != 0:
        raise SystemExit(output)
    values = json.loads(output)["values"]
    things = {}
    for resource in values["root_module"]["resources"]:
        found = {key: resource["values"][key] for key in ("id", "size", "revision", "tags")}
        assert resource["values"]["name"] not in things, resource
        things[resource["values"]["name"]] = found
    return things, values["outputs"]["sum"]["value"]


def there(world):
    things = {}
    for file in sorted((world / "test_thing").glob("*.json")):
        thing = json.loads(file.read_text())
        if thing["name"] in things:
            raise SystemExit(f"{thing['name']} was made twice: {thing}, {things[thing['name']]}")
        things[thing["name"]] = {key: thing[key] for key in ("id", "size", "revision", "tags")}
    return things


def replay(world):
    """What exists, as the log of calls tells: True, False, or None where a call was cut off."""
    exists, calls = {}, 0
    for line in (world / "calls.log").read_text().splitlines():
        entry = json.loads(line)
        call, name, phase = entry["call"], entry.get("object"), entry["phase"]
        if call not in ("create", "update", "delete"):
            continue
        calls += phase == "started"
        known = exists.get(name, False)
        if call == "create" and known is True:
            raise SystemExit(f"{name} was created while it was there: {line}")
        if call in ("update", "delete") and known is False:
            raise SystemExit(f"{name} was to be changed while it was not there: {line}")
        if phase == "finished":
            exists[name] = call != "delete"
        elif call != "update":
            exists[name] = None
    return exists, calls


def main():
    plumb, providers = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
    store, seconds = sys.argv[3], float(sys.argv[4])
    seed = int(os.environ.get("FAULT_SEED", "20261130"))
    with tempfile.TemporaryDirectory(dir="/dev/shm" if os.path.isdir("/dev/shm") else None) as scratch:
        scratch = pathlib.Path(scratch)
        world = scratch / "world"
        if store == "bucket":
            endpoint = os.environ["SEAWEEDFS_ENDPOINT"]
            create_bucket(endpoint, "killed-appliers")
            project = BUCKET % {"endpoint": endpoint, "prefix": f"seed-{seed}"}
        else:
            project = DIRECTORY % {"path": scratch / "records"}
        configuration = CONFIGURATION % {"world": world, "bases": BASES, "things": THINGS}
        places = [Place(plumb, scratch / f"applier-{n}", project, configuration, providers) for n in range(APPLIERS)]
        settle(places[0])
        tally = collections.Counter()
        over = time.monotonic() + seconds
        failures = []

        def work(place, chance):
            try:
                apply_until(over, place, chance, tally)
            except SystemExit as failure:
                failures.append(failure)

        threads = [threading.Thread(target=work, args=(place, random.Random(f"{seed}-{n}")))
                   for n, place in enumerate(places)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for count in tally.most_common():
            print("%6d %s" % (count[1], count[0]), flush=True)
        if failures:
            raise failures[0]
        settle(places[0])
        records, total = recorded(places[0])
        objects, (exists, calls) = there(world), replay(world)
        if records != objects:
            names = [name for name in records.keys() | objects.keys() if records.get(name) != objects.get(name)]
            raise SystemExit("records and world differ: " + ", ".join(
                f"{name}: {records.get(name)} and {objects.get(name)}" for name in sorted(names)))
        wrong = [name for name, known in exists.items() if known is not None and known != (name in objects)]
        if wrong or len(objects) != BASES + THINGS:
            raise SystemExit(f"{len(objects)} things, and the log tells otherwise of {wrong}")
        if total != sum(thing["size"] for thing in objects.values()):
            raise SystemExit(f"the output is {total}")
        strays = list((scratch / "records").glob("**/r/s/**/*.record")) if store == "directory" else []
        if strays or tally["applied"] < APPLIERS / 2 or tally["killed"] < APPLIERS / 2:
            raise SystemExit(f"strays: {strays}; too little was done: {tally}")
        print(f"{store}, {seconds:.0f} s, seed {seed}: {calls} calls; records, world and log agree")


main()
