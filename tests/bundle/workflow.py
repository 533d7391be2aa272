#!/usr/bin/env python3
"""The deployed bundle on a stand-in for AWS: the main job, everything that goes wrong, and what must never be told.

    workflow.py FOLDER_WITH_PROGRAMS [CASE...]        inside `scripts/stand-ins run --servers ministack-iam`
"""

import concurrent.futures
import json
import sys
import traceback

import main_job
from cases import CASES, ONE
from cloud import ROOT, until
from scene import CANARIES, Scene, main

# Bytes of what one state hands to the next.
LARGEST_PAYLOAD = 8_192


def altered(scene, estate):
    """Ways out that take a day, or a fault of ours: the definition with other times and functions, one after the other."""
    alter, definition = scene.cloud.alter, scene.cloud.definition

    def function(name, absent):
        parameters = definition["States"][name]["Parameters"]
        return {"Parameters": {**parameters, "FunctionName": absent}}

    absent = "arn:aws:lambda:us-east-1:000000000000:function:absent"
    alter(WaitForApproval={"TimeoutSeconds": 2})
    run, _ = scene.pushed(estate, ONE % 1)
    assert scene.wait(estate, run, "timed_out")["plan_digest"]
    alter(Plan=function("Plan", absent))
    run, sha = scene.pushed(estate, ONE % 2)
    broken = scene.wait(estate, run, "failed")
    assert broken["code"].startswith("Lambda."), broken
    scene.reported(sha, estate, "failure")
    alter(Fetch={"Type": "Pass", "Parameters": {"run.$": "$.run", "answer": "unheard of"}, "OutputPath": "$"})
    run, _ = scene.pushed(estate, ONE % 3)
    assert scene.wait(estate, run, "failed")["code"] == "unexpected_answer"
    alter(Plan=function("Plan", absent), Report=function("Report", absent))
    run, _ = scene.pushed(estate, ONE % 4)
    event = scene.announced(run)
    assert event["detail-type"] == "Run ended without a report" and event["detail"]["outcome"] == "failed", event
    alter()
    return "nobody answering within a day, a function that fails, an answer nobody knows and a report that fails are told as such"


def payloads(events):
    """What states were entered and left with."""
    for event in events:
        for name, details in event.items():
            if name.endswith("EventDetails"):
                for key in ("input", "output", "parameters"):
                    if isinstance(details.get(key), str):
                        yield event["type"], details[key]


def assert_references(scene):
    """Histories hold references, and small ones."""
    visited = set()
    for execution in scene.cloud.executions():
        events = scene.cloud.history(execution["name"])
        visited |= {event["stateEnteredEventDetails"]["name"] for event in events if "stateEnteredEventDetails" in event}
        for kind, payload in payloads(events):
            assert len(payload) <= LARGEST_PAYLOAD, (kind, len(payload))
            for word in ("test_thing", "resource", "variable", "registry.terraform.io"):
                assert word not in payload, (kind, payload)
    definition = json.loads((ROOT / "functions" / "run.asl.json").read_text())
    missed = set(definition["States"]) - visited
    assert not missed, f"no case leads to {sorted(missed)}"
    return "execution histories hold references alone, and every state was entered"


def assert_discreet(scene):
    """No secret has left the functions but for where it belongs: the records, the plans, and the bundles."""
    cloud = scene.cloud
    told = {
        "execution histories": [json.dumps(cloud.history(execution["name"]), default=str) for execution in cloud.executions()],
        "logs": cloud.logs(),
        "events": [json.dumps(event) for event in scene.listen("bus")],
        "the topic": [json.dumps(report) for report in scene.listen("topic")],
        "the notified address": [f"{headers} {body.decode()}" for headers, body in scene.github.told],
        "commit statuses": [json.dumps(status) for status in scene.github.statuses],
        "comments": [text for _, text in scene.github.comments.values()],
        "states of runs": [body.decode() for body in cloud.objects("runs/").values()],
        "notes": [body.decode() for body in cloud.objects("artifacts/notes/").values()],
        "answers and reports": scene.said,
    }
    for name in scene.estates:
        status, found = cloud.ask("GET", f"/runs?estate={name}", keys=scene.keys["grace"])
        assert status == 200, (status, found)
        told["answers and reports"] = told["answers and reports"] + [json.dumps(found)]
        told["answers and reports"] += [json.dumps(scene.look(name, run["run"])) for run in found["runs"]]
    for where, texts in told.items():
        assert texts or sys.argv[2:], f"there are no {where}"
        for canary in CANARIES:
            hits = [text for text in texts if canary in text]
            assert not hits, f"{canary} is in {where}:\n{hits[0][:2000]}"
    plain = [line for line in told["logs"] if "test_thing" in line]
    assert not plain, f"the log speaks of what is planned: {plain[:3]}"
    amount = sum(len(text) for texts in told.values() for text in texts)
    return f"no secret is in {', '.join(told)} ({amount >> 10} KiB searched)"


def run(programs, folder):
    wanted = sys.argv[2:] or ["main", *CASES, "altered"]
    estates = {name: CASES[name][1] if name in CASES else "" for name in wanted}
    scene = Scene(programs, folder, estates)
    scene.say("template.yaml is deployed")
    failures = []

    def case(name, work, *arguments):
        try:
            scene.say(f"{name}: {work(*arguments)}")
        except Exception:
            failures.append(name)
            scene.say(f"{name} FAILED\n{traceback.format_exc()}")

    # The first one sees the deployment before anybody else.
    if "main" in wanted:
        case("main", lambda: main_job.story(scene) and "done")
    with concurrent.futures.ThreadPoolExecutor(len(CASES)) as pool:
        concurrent.futures.wait([pool.submit(case, name, CASES[name][0], scene, name) for name in wanted if name in CASES])
    if "main" in wanted:
        case("drift", lambda: main_job.drift(scene) and "done")
    if "altered" in wanted:
        case("altered", altered, scene, "altered")
    for name in wanted:
        # A pull request alone makes no records.
        if name not in ("altered", "pull"):
            case(name, lambda: scene.assert_settled(name) and "no claim has outlived its transaction")
    if not sys.argv[2:]:
        case("histories", assert_references, scene)
    case("discretion", assert_discreet, scene)
    if scene.github.mistakes:
        failures.append(f"GitHub would have refused {scene.github.mistakes}")
    if failures:
        print("\n".join(scene.cloud.logs()))
        sys.exit(f"failed: {', '.join(failures)}")


if __name__ == "__main__":
    main(run)
