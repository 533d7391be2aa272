"""template.yaml on a stand-in for AWS: packed and deployed as an administrator does it, and looked at from outside."""

import http.client
import json
import os
import pathlib
import subprocess
import sys
import time
import urllib.parse

import boto3
import botocore.auth
import botocore.awsrequest
import botocore.credentials
from botocore.exceptions import ClientError

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
ENDPOINT = os.environ["MINISTACK_IAM_ENDPOINT"]
REGION, ACCOUNT = "us-east-1", "000000000000"
STACK = "plumbline"
ADMINISTRATOR = ("test", "test")
FUNCTIONS = ["Api", "Fetch", "Plan", "Validate", "Apply", "Report"]
# Enough for a busy machine.
PATIENCE = 240


def client(service, keys=ADMINISTRATOR):
    return boto3.client(service, endpoint_url=ENDPOINT, region_name=REGION,
                        aws_access_key_id=keys[0], aws_secret_access_key=keys[1])


def until(what, look, patience=PATIENCE, pause=0.3):
    """What `look` finds, once it finds something."""
    deadline = time.monotonic() + patience
    while not (found := look()):
        if time.monotonic() > deadline:
            raise AssertionError(f"this did not come about: {what}")
        time.sleep(pause)
    return found


class Cloud:
    """The stack, once it is deployed."""

    def __init__(self, programs, folder, secrets):
        self.s3, self.states = client("s3"), client("stepfunctions")
        self.resources, self.outputs = {}, {}
        self.deploy(self.package(programs, folder), secrets)
        self.bucket = self.outputs["Bucket"]
        self.machine = self.resources["Run"]
        self.definition = json.loads(self.states.describe_state_machine(stateMachineArn=self.machine)["definition"])
        self.make_up_for_the_stand_in()

    def package(self, programs, folder):
        """One zip per function, as scripts/package lays them out, uploaded as `sam package` would."""
        subprocess.run([sys.executable, ROOT / "scripts" / "package", "--programs", programs, "--output", folder / "dist"],
                       check=True, stdout=subprocess.DEVNULL)
        (folder / "template.yaml").write_bytes((ROOT / "template.yaml").read_bytes())
        (folder / "functions").mkdir()
        definition = (ROOT / "functions" / "run.asl.json").read_bytes()
        (folder / "functions" / "run.asl.json").write_bytes(definition)
        self.s3.create_bucket(Bucket="code")
        environment = {**os.environ, "AWS_ENDPOINT_URL": ENDPOINT, "AWS_DEFAULT_REGION": REGION,
                       "AWS_ACCESS_KEY_ID": ADMINISTRATOR[0], "AWS_SECRET_ACCESS_KEY": ADMINISTRATOR[1]}
        subprocess.run([os.environ["STAND_INS_AWS"], "cloudformation", "package", "--template-file", folder / "template.yaml",
                        "--s3-bucket", "code", "--output-template-file", folder / "packaged.yaml"],
                       check=True, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        return (folder / "packaged.yaml").read_text()

    def deploy(self, template, secrets):
        manager = client("secretsmanager")
        arns = {name: manager.create_secret(Name=name, SecretString=text)["ARN"] for name, text in secrets.items()}
        parameters = {
            "Architecture": "arm64" if os.uname().machine == "aarch64" else "x86_64",
            "WebhookSecretArns": arns["webhook"],
            "TokenSecretArns": ",".join([arns["token"], arns["notifications"]]),
        }
        cloudformation = client("cloudformation")
        cloudformation.create_stack(
            StackName=STACK, TemplateBody=template, Capabilities=["CAPABILITY_IAM", "CAPABILITY_AUTO_EXPAND"],
            Parameters=[{"ParameterKey": key, "ParameterValue": value} for key, value in parameters.items()])

        def ended():
            stack = cloudformation.describe_stacks(StackName=STACK)["Stacks"][0]
            return None if stack["StackStatus"].endswith("IN_PROGRESS") else stack

        stack = until("a deployed stack", ended)
        if stack["StackStatus"] != "CREATE_COMPLETE":
            events = cloudformation.describe_stack_events(StackName=STACK)["StackEvents"]
            failed = [event for event in events if "FAILED" in event["ResourceStatus"]]
            raise AssertionError(f"{stack['StackStatus']}: {failed}")
        self.outputs = {output["OutputKey"]: output["OutputValue"] for output in stack["Outputs"]}
        resources = cloudformation.describe_stack_resources(StackName=STACK)["StackResources"]
        self.resources = {resource["LogicalResourceId"]: resource["PhysicalResourceId"] for resource in resources}

    def make_up_for_the_stand_in(self):
        """What this one does not do of a bucket's properties, and what of its policy it would read wrongly: it does not know the
        conditions s3:if-match and s3:if-none-match, and is spoken to without TLS."""
        s3, bucket = self.s3, self.bucket
        s3.put_bucket_versioning(Bucket=bucket, VersioningConfiguration={"Status": "Enabled"})
        s3.put_public_access_block(Bucket=bucket, PublicAccessBlockConfiguration={
            "BlockPublicAcls": True, "IgnorePublicAcls": True, "BlockPublicPolicy": True, "RestrictPublicBuckets": True})
        s3.put_bucket_lifecycle_configuration(Bucket=bucket, LifecycleConfiguration={"Rules": [
            {"ID": "records", "Status": "Enabled", "Filter": {"Prefix": "records/"},
             "NoncurrentVersionExpiration": {"NoncurrentDays": 90}},
            {"ID": "artifacts", "Status": "Enabled", "Filter": {"Prefix": "artifacts/"}, "Expiration": {"Days": 14},
             "NoncurrentVersionExpiration": {"NoncurrentDays": 1}}]})
        s3.put_bucket_encryption(Bucket=bucket, ServerSideEncryptionConfiguration={"Rules": [{
            "BucketKeyEnabled": True,
            "ApplyServerSideEncryptionByDefault": {"SSEAlgorithm": "aws:kms", "KMSMasterKeyID": self.resources["DataKey"]}}]})
        s3.delete_bucket_policy(Bucket=bucket)
        # A server that is not Amazon's is tried before it is trusted with conditions.
        probes = {"Version": "2012-10-17", "Statement": [{
            "Effect": "Allow", "Action": ["s3:GetObject", "s3:PutObject", "s3:DeleteObject"],
            "Resource": f"arn:aws:s3:::{bucket}/*~probe/*"}]}
        for function in FUNCTIONS:
            client("iam").put_role_policy(RoleName=self.resources[f"{function}Role"], PolicyName="probes",
                                          PolicyDocument=json.dumps(probes))

    def configure(self, function, timeout=None, variables=None):
        """Another time-out, or more variables, for a function."""
        name, functions = self.resources[f"{function}Function"], client("lambda")
        known = functions.get_function_configuration(FunctionName=name)
        changes = {"Timeout": timeout} if timeout else {}
        if variables:
            changes["Environment"] = {"Variables": {**known["Environment"]["Variables"], **variables}}
        functions.update_function_configuration(FunctionName=name, **changes)

    def alter(self, **changes):
        """The definition with other fields in some states, for executions that begin from now on."""
        states = {name: {**state, **changes.get(name, {})} for name, state in self.definition["States"].items()}
        definition = json.dumps({**self.definition, "States": states})
        self.states.update_state_machine(stateMachineArn=self.machine, definition=definition)

    def user(self, name):
        """Somebody whose requests API Gateway lets through; what they may do there is the deployment's to say."""
        iam = client("iam")
        iam.create_user(UserName=name)
        arn = f"arn:aws:execute-api:{REGION}:{ACCOUNT}:{self.resources['HttpApi']}/*"
        policy = {"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "execute-api:Invoke", "Resource": arn}]}
        iam.put_user_policy(UserName=name, PolicyName="api", PolicyDocument=json.dumps(policy))
        key = iam.create_access_key(UserName=name)["AccessKey"]
        return key["AccessKeyId"], key["SecretAccessKey"]

    def ask(self, method, path, body=None, headers=None, keys=None):
        """A request to the API, signed where somebody asks: status, and the answer."""
        address = urllib.parse.urlsplit(ENDPOINT)
        host = f"{self.resources['HttpApi']}.execute-api.localhost:{address.port}"
        body = body if isinstance(body, bytes) or body is None else json.dumps(body).encode()
        request = botocore.awsrequest.AWSRequest(method, f"http://{host}{path}", data=body, headers=headers or {})
        if keys:
            credentials = botocore.credentials.Credentials(*keys)
            botocore.auth.SigV4Auth(credentials, "execute-api", REGION).add_auth(request)
        connection = http.client.HTTPConnection(address.hostname, address.port, timeout=60)
        try:
            connection.request(method, path, body, {"Host": host, **dict(request.headers.items())})
            answer = connection.getresponse()
            text = answer.read().decode()
        finally:
            connection.close()
        try:
            return answer.status, json.loads(text)
        except json.JSONDecodeError:
            return answer.status, text

    def objects(self, prefix):
        """All objects below a prefix of the bucket."""
        pages = self.s3.get_paginator("list_objects_v2").paginate(Bucket=self.bucket, Prefix=prefix)
        keys = [entry["Key"] for page in pages for entry in page.get("Contents", [])]
        return {key: self.s3.get_object(Bucket=self.bucket, Key=key)["Body"].read() for key in keys}

    def body(self, key):
        """An object, as JSON; `None` where there is none."""
        try:
            return json.loads(self.s3.get_object(Bucket=self.bucket, Key=key)["Body"].read())
        except ClientError as error:
            if error.response["Error"]["Code"] != "NoSuchKey":
                raise
            return None

    def executions(self):
        pages = self.states.get_paginator("list_executions").paginate(stateMachineArn=self.machine)
        return [execution for page in pages for execution in page["executions"]]

    def history(self, run):
        arn = f"{self.machine.replace(':stateMachine:', ':execution:')}:{run}"
        pages = self.states.get_paginator("get_execution_history").paginate(executionArn=arn)
        return [event for page in pages for event in page["events"]]

    def visited(self, run):
        """The states that an execution entered, in order."""
        entered = [event.get("stateEnteredEventDetails") for event in self.history(run)]
        return [details["name"] for details in entered if details]

    def logs(self):
        """All lines of all groups."""
        logs, lines = client("logs"), []
        groups = [group for page in logs.get_paginator("describe_log_groups").paginate() for group in page["logGroups"]]
        for group in groups:
            pages = logs.get_paginator("filter_log_events").paginate(logGroupName=group["logGroupName"])
            lines += [f"{group['logGroupName']}: {event['message']}" for page in pages for event in page["events"]]
        return lines

    def listen(self):
        """Queues for what the topic and the event bus tell."""
        queues, topics, bus = client("sqs"), client("sns"), client("events")
        for name in ("topic", "bus"):
            url = queues.create_queue(QueueName=name)["QueueUrl"]
            arn = queues.get_queue_attributes(QueueUrl=url, AttributeNames=["QueueArn"])["Attributes"]["QueueArn"]
            service = "sns" if name == "topic" else "events"
            policy = {"Version": "2012-10-17", "Statement": [{
                "Effect": "Allow", "Principal": {"Service": f"{service}.amazonaws.com"}, "Action": "sqs:SendMessage",
                "Resource": arn}]}
            queues.set_queue_attributes(QueueUrl=url, Attributes={"Policy": json.dumps(policy)})
            if name == "topic":
                topics.subscribe(TopicArn=self.outputs["Topic"], Protocol="sqs", Endpoint=arn)
            else:
                bus.put_rule(Name="runs", EventPattern=json.dumps({"source": ["plumbline"]}))
                bus.put_targets(Rule="runs", Targets=[{"Id": "queue", "Arn": arn}])

    def heard(self, name):
        """What came to one of these queues; each message once."""
        queues = client("sqs")
        url, messages = queues.get_queue_url(QueueName=name)["QueueUrl"], []
        while found := queues.receive_message(QueueUrl=url, MaxNumberOfMessages=10).get("Messages"):
            for message in found:
                body = json.loads(message["Body"])
                messages.append(json.loads(body["Message"]) if name == "topic" else body)
                queues.delete_message(QueueUrl=url, ReceiptHandle=message["ReceiptHandle"])
        return messages
