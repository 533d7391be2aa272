#!/usr/bin/env python3
"""Looks at, and meddles with, the stand-in for AWS behind the back of whoever manages it.

    cloud.py inventory    print one line for each thing that exists, sorted
    cloud.py drift        change one thing and delete another

Needs boto3 and MOTO_PORT in the environment.
"""

import os
import sys

import boto3

HOME, COPY = "us-east-1", "us-west-2"


def client(service, region=HOME):
    return boto3.client(
        service,
        region_name=region,
        endpoint_url=f"http://127.0.0.1:{os.environ['MOTO_PORT']}",
        aws_access_key_id="stand-in",
        aws_secret_access_key="stand-in",
    )


# (service, operation, key of the answer, what identifies an item, arguments)
LISTS = [
    ("dynamodb", "list_tables", "TableNames", None, {}),
    ("ec2", "describe_internet_gateways", "InternetGateways", "InternetGatewayId", {}),
    ("ec2", "describe_network_interfaces", "NetworkInterfaces", "NetworkInterfaceId", {}),
    ("ec2", "describe_route_tables", "RouteTables", "RouteTableId", {}),
    ("ec2", "describe_security_groups", "SecurityGroups", "GroupId", {}),
    ("ec2", "describe_subnets", "Subnets", "SubnetId", {}),
    ("ec2", "describe_vpcs", "Vpcs", "VpcId", {}),
    ("iam", "list_instance_profiles", "InstanceProfiles", "Arn", {}),
    ("iam", "list_policies", "Policies", "Arn", {"Scope": "Local"}),
    ("iam", "list_roles", "Roles", "Arn", {}),
    ("logs", "describe_log_groups", "logGroups", "logGroupName", {}),
    ("s3", "list_buckets", "Buckets", "Name", {}),
    ("sns", "list_subscriptions", "Subscriptions", "SubscriptionArn", {}),
    ("sns", "list_topics", "Topics", "TopicArn", {}),
    ("sqs", "list_queues", "QueueUrls", None, {}),
    ("ssm", "describe_parameters", "Parameters", "Name", {}),
]


def inventory():
    for region in (HOME, COPY):
        for service, operation, key, identity, arguments in LISTS:
            answer = getattr(client(service, region), operation)(**arguments)
            for item in answer.get(key, []):
                yield f"{region} {service} {key} {item[identity] if identity else item}"


def drift():
    queues = client("sqs")
    orders = queues.get_queue_url(QueueName="demo-orders")["QueueUrl"]
    queues.set_queue_attributes(QueueUrl=orders, Attributes={"DelaySeconds": "17"})
    documents = client("s3")
    for version in documents.list_object_versions(Bucket="demo-plumbline-documents", Prefix="readme.txt")["Versions"]:
        documents.delete_object(Bucket="demo-plumbline-documents", Key="readme.txt", VersionId=version["VersionId"])


def main():
    match sys.argv[1:]:
        case ["inventory"]:
            print("\n".join(sorted(inventory())))
        case ["drift"]:
            drift()
        case _:
            sys.exit(__doc__.strip())


main()
