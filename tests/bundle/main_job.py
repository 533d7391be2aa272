#!/usr/bin/env python3
"""The main job of the deployed bundle, from a push to a changed world, and a drift that a schedule finds.

    main_job.py FOLDER_WITH_PROGRAMS        inside `scripts/stand-ins run --servers ministack-iam`
"""

import hashlib
import hmac
import json

from cloud import client, until
from scene import ADA, GRACE, NOTIFICATION_SECRET, Scene, main

ESTATE = "main"
CONFIGURATION = """
resource "test_thing" "network" {
  name = "network"
  size = %d
}

resource "test_thing" "server" {
  name = "server"
  size = 1
  tags = {
    network = test_thing.network.id
  }
}

output "network" {
  value = test_thing.network.id
}
"""


def story(scene):
    """A push is planned, approved and applied."""
    say, cloud = scene.say, scene.cloud
    sha = scene.commit(ESTATE, CONFIGURATION % 1)
    status, found = scene.push(ESTATE, sha, secret="another secret")
    assert status == 401 and not cloud.executions(), (status, found)
    say("a push whose signature is forged is refused, and begins nothing")

    status, found = scene.push(ESTATE, sha, repository="mallory/infra")
    assert status == 403, (status, found)
    status, found = scene.push(ESTATE, sha)
    assert status == 202, (status, found)
    [run] = found["runs"]
    waiting = scene.wait(ESTATE, run, "waiting_for_approval")
    assert waiting["changes"] == {"add": 2, "change": 0, "destroy": 0, "import": 0}, waiting
    assert "test_thing.network" in waiting["text"] and not scene.things(ESTATE), waiting["text"]
    description = scene.reported(sha, ESTATE, "pending")
    assert description == "Waiting for approval: 2 to add, 0 to change, 0 to destroy", description
    say(f"a push is fetched and planned, and waits; its commit says: {description}")

    def refused(expected, **arguments):
        asked = {"estate": ESTATE, "run": run, "digest": waiting["plan_digest"], **arguments}
        status, found = scene.decide(**asked)
        assert status == expected, (arguments, status, found)
        return found["error"] if isinstance(found, dict) and "error" in found else found

    refused(403, who="eve")
    assert "author" in refused(403, who="ada")
    assert "digest" in refused(409, digest="0" * 64)
    status, found = cloud.ask("POST", f"/runs/{run}/approve", {"estate": ESTATE, "plan_digest": waiting["plan_digest"]})
    assert status in (401, 403), (status, found)
    assert scene.look(ESTATE, run)["status"] == "waiting_for_approval"
    say("an approval by nobody, by a stranger, by the author, or of another digest is refused")

    status, said = scene.plumb("ada", ESTATE, "approve", run, answer="yes\n")
    assert status == 1 and "author" in said, said
    status, said = scene.plumb("grace", ESTATE, "approve", run, answer="no\n")
    assert status == 1 and "Nothing was decided" in said, said
    status, said = scene.plumb("grace", ESTATE, "approve", run, answer="yes\n")
    assert status == 0 and "test_thing.network" in said and "is approved" in said, said
    applied = scene.wait(ESTATE, run, "applied")
    description = scene.reported(sha, ESTATE, "success")
    assert description == "Applied: 2 to add, 0 to change, 0 to destroy", description
    assert {"network", "server"} == set(scene.things(ESTATE)), scene.things(ESTATE)
    event = scene.announced(run)
    assert event["detail-type"] == "Run ended" and event["detail"]["outcome"] == "applied", event
    [journal] = [json.loads(body) for body in cloud.objects(f"records/{ESTATE}/j/").values()]
    assert journal["approved_by"] == GRACE and journal["principal"] == "git:ada", journal
    status, said = scene.plumb("grace", ESTATE, "runs", "show", f"-remote={scene.remote()}", run)
    assert status == 0 and f"{run}  deploy  applied" in said and "Apply complete" in said, said
    say(f"approved by somebody else, it is validated and applied; its commit says: {description}")

    before = len(cloud.executions())
    status, found = scene.push(ESTATE, sha)
    assert (status, found["runs"]) == (202, [run]) and len(cloud.executions()) == before, found
    assert scene.look(ESTATE, run)["status"] == "applied"
    say("the same delivery again is the same run")

    told = until("the signed notification", lambda: [
        (headers, body) for headers, body in scene.github.told if json.loads(body)["status"] == "applied"
        and json.loads(body)["run"] == run])
    headers, body = told[0]
    headers = {name.lower(): value for name, value in headers.items()}
    mac = hmac.new(NOTIFICATION_SECRET.encode(), body, hashlib.sha256).hexdigest()
    assert headers["x-plumbline-signature-256"] == f"sha256={mac}", headers
    topic = until("the topic", lambda: [report for report in scene.listen("topic") if report["run"] == run
                                        and report["status"] == "applied"])
    assert topic[0]["estate"] == ESTATE, topic
    say("the topic and the signed webhook are told too")
    return applied


def drift(scene, meddle=True):
    """A schedule finds what was changed behind everybody's back. Both its times name the same moment to this stand-in, so that it
    looks once."""
    cloud = scene.cloud
    if meddle:
        scene.meddle(ESTATE, "network", size=64)
    status, found = cloud.ask("GET", f"/estates/{ESTATE}/drift", keys=scene.keys["grace"])
    assert status == 200 and found["run"] is None, found
    schedules = client("scheduler")
    name = cloud.resources["DriftSchedule"]
    known = schedules.get_schedule(Name=name)
    kept = {key: known[key] for key in ("Name", "FlexibleTimeWindow", "Target")}
    schedules.update_schedule(**kept, ScheduleExpression="rate(1 minute)")

    def looked():
        status, found = cloud.ask("GET", f"/estates/{ESTATE}/drift", keys=scene.keys["grace"])
        assert status == 200, (status, found)
        return found["run"]

    found = until("a look for drift", looked, pause=1)
    assert found["status"] == "told" and found["has_changes"], found
    text = scene.look(ESTATE, found["run"])["text"]
    assert "size" in text and "64" in text and "test_thing.network" in text, text
    until("the topic", lambda: [report for report in scene.listen("topic") if report["run"] == found["run"]])
    assert scene.things(ESTATE)["network"][1]["size"] == 64, "looking changes nothing"
    scene.say("the schedule looks for drift, and tells which attribute was changed behind its back")
    return found


def demonstrate(programs, folder):
    scene = Scene(programs, folder, {ESTATE: ""})
    scene.say("template.yaml is deployed")
    story(scene)
    found = drift(scene)
    print(scene.look(ESTATE, found["run"])["text"])
    scene.assert_settled(ESTATE)


if __name__ == "__main__":
    main(demonstrate)
