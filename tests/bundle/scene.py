"""A deployed bundle with a repository, people, estates and a world: what every case begins with."""

import hashlib
import hmac
import json
import pathlib
import platform
import subprocess
import sys
import threading
import time
import zipfile

from cloud import ACCOUNT, ENDPOINT, Cloud, until
from github import TOKEN, GitHub

WEBHOOK_SECRET = "canary-webhook-secret"
NOTIFICATION_SECRET = "canary-notification-secret"
# Where a secret variable's value comes from: the environment of the functions, and the configuration.
VARIABLE = "canary-variable"
DEFAULT = "canary-default"
# What the provider answers for a sensitive attribute after somebody has changed it, and repeats in an error.
ANSWER = "canary-answer"
MENTIONED = "canary-mentioned"
CANARIES = [WEBHOOK_SECRET, NOTIFICATION_SECRET, TOKEN, VARIABLE, DEFAULT, ANSWER, MENTIONED]

GRACE = f"arn:aws:iam::{ACCOUNT}:user/grace"
ADA = f"arn:aws:iam::{ACCOUNT}:user/ada"
ENDED = ["applied", "nothing_to_do", "told", "rejected", "declined", "superseded", "timed_out", "cancelled", "failed"]
# What an attempt is given, and what it keeps of that for what is in flight.
APPLY_TIMEOUT = 14

HEADER = """
terraform {
  required_providers {
    test = {
      source = "plumbline/test"
    }
  }
}

provider "test" {
  world = "%s"
}
"""


class Scene:
    def __init__(self, programs, folder, estates):
        self.programs, self.folder, self.estates = pathlib.Path(programs), pathlib.Path(folder), estates
        self.github = GitHub()
        (self.folder / "stack").mkdir()
        secrets = {"webhook": WEBHOOK_SECRET, "token": TOKEN, "notifications": NOTIFICATION_SECRET}
        self.cloud = Cloud(programs, self.folder / "stack", secrets)
        self.keys = {name: self.cloud.user(name) for name in ("grace", "ada", "eve")}
        self.cloud.listen()
        self.heard = {"topic": [], "bus": []}
        self.listening = threading.Lock()
        self.said = []
        self.settle_in()

    def settle_in(self):
        """What an administrator does after the first deployment, with times that a test can wait for."""
        put = self.cloud.s3.put_object
        put(Bucket=self.cloud.bucket, Key="settings/deployment.toml", Body=self.deployment().encode())
        system = f"linux_{ {'x86_64': 'amd64', 'aarch64': 'arm64'}[platform.machine()]}"
        package = self.folder / f"terraform-provider-test_1.0.0_{system}.zip"
        program = self.folder / "terraform-provider-test_v1.0.0"
        subprocess.run(["strip", "-o", program, self.programs / "terraform-provider-test"], check=True)
        with zipfile.ZipFile(package, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
            archive.write(program, program.name)
        key = f"providers/registry.terraform.io/plumbline/test/{package.name}"
        put(Bucket=self.cloud.bucket, Key=key, Body=package.read_bytes())
        self.lock = self.locked(package, system)
        times = {"PLUMB__TRANSACTIONS__MARGIN": "2s", "PLUMB__TRANSACTIONS__SKEW": "1s", "TF_VAR_password": VARIABLE}
        for function in ("Plan", "Validate"):
            self.cloud.configure(function, variables=times)
        self.cloud.configure("Apply", timeout=APPLY_TIMEOUT, variables=times)
        # A function that died is tried again while its transaction's lease still lives.
        retries = self.cloud.definition["States"]["Apply"]["Retry"]
        sooner = [{**retry, "IntervalSeconds": min(retry["IntervalSeconds"], 2)} for retry in retries]
        self.cloud.definition["States"]["Apply"]["Retry"] = sooner
        self.cloud.alter()

    def locked(self, package, system):
        """The lock file that `plumb init` writes for the package."""
        place, mirror = self.folder / "locking", self.folder / "mirror"
        place.mkdir()
        of_provider = mirror / "registry.terraform.io" / "plumbline" / "test"
        of_provider.mkdir(parents=True)
        (of_provider / package.name).hardlink_to(package)
        (place / "main.tf").write_text(HEADER % "nowhere")
        (place / "cli.tfrc").write_text(f'provider_installation {{\n  filesystem_mirror {{\n    path = "{mirror}"\n  }}\n}}\n')
        done = subprocess.run([self.programs / "plumb", "init", "-input=false"], cwd=place, text=True, capture_output=True,
                              env={"HOME": str(place), "TF_CLI_CONFIG_FILE": "cli.tfrc"})
        assert done.returncode == 0, done.stdout + done.stderr
        return (place / ".terraform.lock.hcl").read_text()

    def deployment(self):
        estates = "".join(
            f'\n[estates.{name}]\nrepository = "github.com/acme/infra"\npaths = ["{name}"]\n{more}' for name, more in self.estates.items())
        return f"""
[repositories."github.com/acme/infra"]
webhook_secret = "webhook"
token = "token"
api = "http://127.0.0.1:{self.github.port}"
{estates}
[principals."{GRACE}"]
estates = ["*"]
actions = ["read", "plan", "approve", "apply", "cancel"]
git_logins = ["grace"]

[principals."{ADA}"]
estates = ["*"]
actions = ["read", "plan", "approve"]
git_logins = ["ada"]

[notifications]
sns_topic = "{self.cloud.outputs['Topic']}"
webhook = {{ url = "http://127.0.0.1:{self.github.port}/told", secret = "notifications" }}
"""

    def say(self, text):
        self.said.append(text)
        print(text, flush=True)

    # The repository

    def world(self, estate):
        return self.folder / "worlds" / estate

    def commit(self, estate, configuration):
        """A commit that gives an estate this configuration."""
        plumb = "".join(f'[estates.{name}]\ndirectory = "{name}"\n' for name in self.estates)
        return self.github.commit({
            "plumb.toml": plumb,
            f"{estate}/main.tf": HEADER % self.world(estate) + configuration,
            f"{estate}/.terraform.lock.hcl": self.lock,
        })

    def deliver(self, event, body, secret=WEBHOOK_SECRET):
        body = json.dumps(body).encode()
        mac = hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()
        headers = {"x-github-event": event, "x-hub-signature-256": f"sha256={mac}", "content-type": "application/json"}
        return self.cloud.ask("POST", "/webhooks/github", body, headers)

    def push(self, estate, sha, secret=WEBHOOK_SECRET, repository="acme/infra"):
        return self.deliver("push", {
            "ref": "refs/heads/main", "before": "0" * 40, "after": sha, "forced": False, "sender": {"login": "ada"},
            "commits": [{"id": sha, "added": [], "modified": [f"{estate}/main.tf"], "removed": [],
                         "author": {"name": "Ada", "email": "ada@example.com", "username": "ada"}}],
            "repository": {"full_name": repository, "html_url": f"https://github.com/{repository}"}}, secret)

    def pull_request(self, sha, base, number=7, source="acme/infra", action="opened"):
        def end(repository, branch, commit):
            return {"ref": branch, "sha": commit, "repo": {"full_name": repository, "html_url": f"https://github.com/{repository}"}}

        return self.deliver("pull_request", {
            "action": action, "number": number, "repository": {"full_name": "acme/infra", "html_url": "https://github.com/acme/infra"},
            "pull_request": {"user": {"login": "ada"}, "head": end(source, "change", sha),
                             "base": end("acme/infra", base, "0" * 40)}})

    # Runs

    def pushed(self, estate, configuration):
        """Commits and pushes; the run that begins, and the commit."""
        sha = self.commit(estate, configuration)
        status, found = self.push(estate, sha)
        assert status == 202 and len(found["runs"]) == 1, (status, found)
        return found["runs"][0], sha

    def planned(self, estate, configuration):
        """Commits, pushes, and waits until the plan waits for an approval."""
        run, sha = self.pushed(estate, configuration)
        return self.wait(estate, run, "waiting_for_approval"), sha

    def look(self, estate, run):
        status, found = self.cloud.ask("GET", f"/runs/{run}?estate={estate}", keys=self.keys["grace"])
        assert status == 200, (status, found)
        return found

    def wait(self, estate, run, *statuses):
        """The run, once it has one of these statuses; where it ends with another one, what is known of it."""
        def reached():
            found = self.look(estate, run)
            if found["status"] in statuses:
                return found
            if found["status"] in ENDED:
                raise AssertionError(f"{estate}: not {statuses}: {found['status']} {found.get('code')}\n{found['text']}"
                                     f"\n{self.cloud.visited(run)}")
            return None

        return until(f"{estate}: {statuses}", reached, pause=0.7)

    def decide(self, estate, run, digest, decision="approve", who="grace"):
        body = {"estate": estate, "plan_digest": digest}
        return self.cloud.ask("POST", f"/runs/{run}/{decision}", body, keys=self.keys[who])

    def approve(self, waiting):
        estate, run = waiting["estate"], waiting["run"]
        status, found = self.decide(estate, run, waiting["plan_digest"])
        assert status == 202, (status, found)
        return run

    def remote(self):
        """The address of the API, without the name of a host that only the stand-in knows."""
        return f"{ENDPOINT}/_aws/execute-api/{self.cloud.resources['HttpApi']}/$default"

    def plumb(self, who, estate, *arguments, answer=""):
        """`plumb` as somebody's client of the deployment; what it said."""
        place = self.folder / f"client-{estate}"
        place.mkdir(exist_ok=True)
        (place / "plumb.toml").write_text(f'[estates.{estate}]\ndirectory = "."\n')
        key, secret = self.keys[who]
        environment = {
            "HOME": str(place), "AWS_ACCESS_KEY_ID": key, "AWS_SECRET_ACCESS_KEY": secret, "AWS_REGION": "us-east-1",
            "AWS_EC2_METADATA_DISABLED": "true",
            "PLUMB_REMOTE": self.remote(),
        }
        done = subprocess.run([self.programs / "plumb", *arguments], cwd=place, env=environment, text=True, input=answer,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=120)
        return done.returncode, done.stdout

    def apply(self, estate, configuration):
        """From a push to an applied change."""
        waiting, sha = self.planned(estate, configuration)
        return self.wait(estate, self.approve(waiting), "applied"), sha

    def status_of(self, sha, estate):
        """The last state of a commit, as the host shows it, and its description."""
        found = self.github.statuses_of(sha).get(f"plumbline/{estate}", [])
        return found[-1] if found else None

    def reported(self, sha, estate, state):
        """The description that a commit's status comes to."""
        def told():
            found = self.status_of(sha, estate)
            return found if found and found[0] == state else None

        return until(f"{estate}: the commit's status {state}", told)[1]

    # The world

    def things(self, estate):
        """What the provider has made, by name."""
        files = (self.world(estate) / "test_thing").glob("*.json")
        return {thing["name"]: (file, thing) for file in files for thing in [json.loads(file.read_text())]}

    def meddle(self, estate, name, **changes):
        """Changes a thing behind everybody's back."""
        file, thing = self.things(estate)[name]
        file.write_text(json.dumps({**thing, **changes}))

    def calls(self, estate):
        log = self.world(estate) / "calls.log"
        return [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []

    # What is told

    def listen(self, name):
        """All that came so far to a queue."""
        with self.listening:
            self.heard[name] += self.cloud.heard(name)
            return list(self.heard[name])

    def announced(self, run):
        """The event of a run's end."""
        def found():
            return [event for event in self.listen("bus") if event["detail"]["run"] == run]

        return until(f"an event of {run}", found)[0]

    # The records

    def assert_settled(self, estate):
        """No claim has outlived its transaction, and no transaction is under way."""
        records = {key: json.loads(body) for key, body in self.cloud.objects(f"records/{estate}/").items()}
        transactions = {key.rsplit("/", 1)[1]: body for key, body in records.items() if f"records/{estate}/t/" in key}
        assert records[f"records/{estate}/estate"].get("under_way", []) == [], records[f"records/{estate}/estate"]
        for key, body in records.items():
            claim = body.get("claim")
            if claim:
                phase = transactions[claim["transaction"]]["phase"]
                assert phase in ("done", "rejected", "waiting"), (key, claim, phase)
            assert not body.get("doubt"), (key, body["doubt"])
        return transactions


def main(entry):
    """Runs a scene's entry with the programs of the command line, in a folder that goes with it."""
    import tempfile

    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="bundle-") as folder:
        entry(sys.argv[1], folder)
    print(f"{time.monotonic() - began:.0f} s")
