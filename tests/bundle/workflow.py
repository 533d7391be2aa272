#!/usr/bin/env python3
"""The bundle on a stand-in for AWS: template.yaml is deployed, a signed push enters the API, and the real definition runs the real
functions to their report.   tests/bundle/workflow.py FOLDER_WITH_PROGRAMS, inside `scripts/stand-ins run --servers ministack`"""

import hashlib
import hmac
import http.server
import io
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tarfile
import tempfile
import threading
import time
import urllib.error
import urllib.request

import boto3

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
FUNCTIONS = ["api", "fetch", "plan", "validate", "apply", "report"]
ENDPOINT = os.environ["MINISTACK_ENDPOINT"]
SECRET = "it's a secret"
CANARY = "canary-5d1f09"
PLUMB = '[estates.network]\ndirectory = "network"\n'
CONFIGURATION = f"""
variable "token" {{
  default   = "{CANARY}"
  sensitive = true
}}
resource "terraform_data" "a" {{
  input = "SIZE"
}}
resource "terraform_data" "b" {{
  input = var.token
}}
"""
PATIENCE = 240  # seconds for one run, on a busy machine


def client(service):
    return boto3.client(service, endpoint_url=ENDPOINT, region_name="us-east-1",
                        aws_access_key_id="test", aws_secret_access_key="test")


class Host(http.server.BaseHTTPRequestHandler):
    """The part of GitHub's API that functions use, as GitHub documents it."""

    size = "small"
    statuses, comments = [], {}

    def answer(self, body, kind="application/json"):
        self.send_response(200)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        if "/tarball/" in self.path:
            archive = io.BytesIO()
            with tarfile.open(fileobj=archive, mode="w:gz") as tar:
                files = {"plumb.toml": PLUMB, "network/main.tf": CONFIGURATION.replace("SIZE", Host.size)}
                for name, text in files.items():
                    entry = tarfile.TarInfo(f"acme-infra-1a2b/{name}")
                    entry.size = len(text)
                    tar.addfile(entry, io.BytesIO(text.encode()))
            return self.answer(archive.getvalue(), "application/x-gzip")
        return self.answer(json.dumps([{"id": i, "body": t} for i, t in Host.comments.items()]).encode())

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        if "/statuses/" in self.path:
            Host.statuses.append((self.path.rsplit("/", 1)[1], body["state"], body["description"]))
        else:
            Host.comments[len(Host.comments) + 1] = body["body"]
        self.answer(b"{}")

    def do_PATCH(self):
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        Host.comments[int(self.path.rsplit("/", 1)[1])] = body["body"]
        self.answer(b"{}")

    def log_message(self, *_):
        pass


def package(programs, folder):
    """The template with the programs beside it, as `sam package` would upload them."""
    for name in FUNCTIONS:
        target = folder / "dist" / name
        target.mkdir(parents=True)
        shutil.copy2(programs / name, target / "bootstrap")
        subprocess.run(["strip", target / "bootstrap"], check=True)
    shutil.copy2(ROOT / "template.yaml", folder)
    (folder / "functions").mkdir()
    shutil.copy2(ROOT / "functions" / "run.asl.json", folder / "functions")
    client("s3").create_bucket(Bucket="code")
    aws = [os.environ["STAND_INS_AWS"], "--endpoint-url", ENDPOINT, "--region", "us-east-1"]
    subprocess.run([*aws, "cloudformation", "package", "--template-file", folder / "template.yaml", "--s3-bucket", "code",
                    "--output-template-file", folder / "packaged.yaml"], check=True, stdout=subprocess.DEVNULL)
    return (folder / "packaged.yaml").read_text()


def deploy(template):
    secrets = client("secretsmanager")
    arn = secrets.create_secret(Name="webhook", SecretString=SECRET)["ARN"]
    token = secrets.create_secret(Name="token", SecretString="ghp_none")["ARN"]
    architecture = "arm64" if os.uname().machine == "aarch64" else "x86_64"
    parameters = {"Architecture": architecture, "WebhookSecretArns": arn, "TokenSecretArns": token}
    cloudformation = client("cloudformation")
    cloudformation.create_stack(
        StackName="plumbline", TemplateBody=template, Capabilities=["CAPABILITY_IAM", "CAPABILITY_AUTO_EXPAND"],
        Parameters=[{"ParameterKey": key, "ParameterValue": value} for key, value in parameters.items()])
    for _ in range(60):
        stack = cloudformation.describe_stacks(StackName="plumbline")["Stacks"][0]
        if not stack["StackStatus"].endswith("IN_PROGRESS"):
            break
        time.sleep(1)
    assert stack["StackStatus"] == "CREATE_COMPLETE", stack
    return {output["OutputKey"]: output["OutputValue"] for output in stack["Outputs"]}


def settle_in(outputs, port):
    """What an administrator does after the first deployment; and what this stand-in forgets of a bucket's settings."""
    s3, bucket = client("s3"), outputs["Bucket"]
    s3.put_bucket_lifecycle_configuration(Bucket=bucket, LifecycleConfiguration={"Rules": [
        {"ID": "records", "Status": "Enabled", "Filter": {"Prefix": "records/"},
         "NoncurrentVersionExpiration": {"NoncurrentDays": 90}},
        {"ID": "artifacts", "Status": "Enabled", "Filter": {"Prefix": "artifacts/"}, "Expiration": {"Days": 14},
         "NoncurrentVersionExpiration": {"NoncurrentDays": 1}}]})
    s3.put_bucket_versioning(Bucket=bucket, VersioningConfiguration={"Status": "Enabled"})
    s3.put_public_access_block(Bucket=bucket, PublicAccessBlockConfiguration={
        "BlockPublicAcls": True, "IgnorePublicAcls": True, "BlockPublicPolicy": True, "RestrictPublicBuckets": True})
    settings = f"""
[repositories."github.com/acme/infra"]
webhook_secret = "webhook"
token = "token"
api = "http://127.0.0.1:{port}"

[estates.network]
repository = "github.com/acme/infra"

[principals."arn:aws:iam::000000000000:user/grace"]
estates = ["*"]
actions = ["read", "plan", "approve", "apply", "cancel"]
git_logins = ["grace"]
"""
    s3.put_object(Bucket=bucket, Key="settings/deployment.toml", Body=settings.encode())


class Api:
    """The function `api`, invoked as API Gateway invokes it: who asks is what the authoriser would say."""

    def __init__(self):
        functions = client("lambda").list_functions()["Functions"]
        self.name = next(f["FunctionName"] for f in functions if "ApiFunction" in f["FunctionName"])

    def ask(self, method, path, body=None, headers=None, principal=None, query=None):
        context = {"http": {"method": method, "path": path, "protocol": "HTTP/1.1", "sourceIp": "127.0.0.1"},
                   "stage": "$default", "requestId": "r", "routeKey": f"{method} {path}", "accountId": "000000000000"}
        if principal:
            context["authorizer"] = {"iam": {"userArn": principal}}
        event = {"version": "2.0", "routeKey": f"{method} {path}", "rawPath": path, "rawQueryString": "",
                 "headers": headers or {}, "queryStringParameters": query or {}, "requestContext": context,
                 "body": body or "", "isBase64Encoded": False}
        answer = client("lambda").invoke(FunctionName=self.name, Payload=json.dumps(event).encode())
        payload = json.loads(answer["Payload"].read())
        assert "statusCode" in payload, payload
        return payload["statusCode"], json.loads(payload["body"])

    def push(self, sha, secret=SECRET):
        body = json.dumps({
            "ref": "refs/heads/main", "after": sha, "sender": {"login": "ada"},
            "commits": [{"added": [], "modified": ["network/main.tf"], "removed": []}],
            "repository": {"full_name": "acme/infra", "html_url": "https://github.com/acme/infra"}})
        mac = hmac.new(secret.encode(), body.encode(), hashlib.sha256).hexdigest()
        headers = {"x-github-event": "push", "x-hub-signature-256": f"sha256={mac}"}
        return self.ask("POST", "/webhooks/github", body, headers)

    def wait(self, run, *statuses):
        for _ in range(PATIENCE):
            code, found = self.ask("GET", f"/runs/{run}", principal=GRACE, query={"estate": "network"})
            assert code == 200, found
            if found["status"] in statuses:
                return found
            time.sleep(1)
        sys.exit(f"the run {run} did not become {statuses}: {found}")


GRACE = "arn:aws:iam::000000000000:user/grace"


def histories():
    """All that executions keep."""
    states, text = client("stepfunctions"), []
    for machine in states.list_state_machines()["stateMachines"]:
        for execution in states.list_executions(stateMachineArn=machine["stateMachineArn"])["executions"]:
            history = states.get_execution_history(executionArn=execution["executionArn"])
            text.append(json.dumps(history, default=str))
    return "\n".join(text)


def main():
    programs = pathlib.Path(sys.argv[1])
    host = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Host)
    threading.Thread(target=host.serve_forever, daemon=True).start()
    with tempfile.TemporaryDirectory() as folder:
        outputs = deploy(package(programs, pathlib.Path(folder)))
    settle_in(outputs, host.server_port)
    api = Api()

    code, _ = api.push("a" * 40, secret="another")
    assert code == 401, code
    print("a forged push is refused")

    code, found = api.push("a" * 40)
    assert code == 202, found
    [run] = found["runs"]
    waiting = api.wait(run, "waiting_for_approval", "failed", "cancelled")
    assert waiting["status"] == "waiting_for_approval", waiting
    assert waiting["changes"]["add"] == 2, waiting
    assert api.push("a" * 40)[1]["runs"] == [run], "a repeated delivery is the same run"
    print("a push is fetched and planned, and waits")

    def approve(digest):
        body = json.dumps({"estate": "network", "plan_digest": digest})
        return api.ask("POST", f"/runs/{run}/approve", body, principal=GRACE)

    assert approve("0" * 64)[0] == 409, "another plan's digest"
    assert approve(waiting["plan_digest"])[0] == 202
    applied = api.wait(run, "applied", "failed", "rejected")
    assert applied["status"] == "applied", applied
    print("approved, validated, applied")

    Host.size = "large"
    code, found = api.push("b" * 40)
    [older] = found["runs"]
    api.wait(older, "waiting_for_approval", "failed")
    code, found = api.push("c" * 40)
    [newer] = found["runs"]
    assert api.wait(older, "superseded", "failed", "applied")["status"] == "superseded"
    api.wait(newer, "waiting_for_approval", "failed")
    body = json.dumps({"estate": "network"})
    assert api.ask("POST", f"/runs/{newer}/cancel", body, principal=GRACE)[0] == 202
    assert api.wait(newer, "cancelled", "failed")["status"] == "cancelled"
    print("a newer push supersedes; what waits can be stopped")

    states = [state for sha, state, _ in Host.statuses if sha == "a" * 40]
    assert states[-1] == "success" and "pending" in states, Host.statuses
    told = json.dumps([Host.statuses, Host.comments, waiting, applied])
    for where, text in [("the host or the API", told), ("an execution's history", histories())]:
        assert CANARY not in text, f"a secret is in {where}"
        assert SECRET not in text, f"a webhook's secret is in {where}"
    assert "terraform_data" not in histories(), "a history holds more than references"
    print("nothing but references is in the histories, and no secret anywhere")


if __name__ == "__main__":
    main()
