"""What goes wrong, or otherwise than planned: each case has an estate of its own, and ends as a user would expect."""

import json
import os
import pathlib
import signal

from cloud import until
from scene import ANSWER, DEFAULT, MENTIONED

ONE = """
resource "test_thing" "one" {
  name = "one"
  size = %d
}
"""



def chain(links, size=1):
    """Things of which each waits for the one before, and takes its time."""
    return "".join(f"""
resource "test_thing" "link_{n}" {{
  name    = "link {n}"
  size    = {size}
  slow_ms = 3000
  tags    = {{ before = {f'test_thing.link_{n - 1}.id' if n else '"nothing"'} }}
}}
""" for n in range(links))


LINKS = 7

SECRETS = f"""
variable "password" {{
  sensitive = true
}}

variable "token" {{
  default   = "{DEFAULT}"
  sensitive = true
}}

resource "test_thing" "keeper" {{
  name   = "keeper"
  size   = 1
  secret = var.password
  tags   = {{ plain = "seen", hidden = var.token }}
}}

output "password" {{
  value     = var.password
  sensitive = true
}}
"""

UNKNOWN = f"""
variable "mentioned" {{
  default   = "{MENTIONED}"
  sensitive = true
}}

data "test_thing" "unknown" {{
  name = var.mentioned
}}
"""


def forks(scene, estate):
    """A fork's pull request plans nothing; one of the repository itself plans, and its comment is kept up to date."""
    sha = scene.commit(estate, ONE % 1)
    status, found = scene.pull_request(sha, base="next", source="mallory/infra")
    assert status == 200 and found["runs"] == [] and "fork" in found["reason"], (status, found)
    status, found = scene.pull_request(sha, base="next")
    assert status == 202, (status, found)
    # It does not say which files it touches: every estate of the branch would be planned.
    [run] = found["runs"]
    ended = scene.wait(estate, run, "told")
    assert ended["mode"] == "plan" and ended["changes"]["add"] == 1, ended

    def comments(word):
        texts = [text for issue, text in scene.github.comments.values() if issue == "7" and f"estate={estate} " in text]
        return texts if any(word in text for text in texts) else None

    [comment] = until("a comment", lambda: comments("1 to add"))
    assert "test_thing.one" in comment and run in comment, comment
    again = scene.commit(estate, ONE % 1 + (ONE % 1).replace("one", "two"))
    status, found = scene.pull_request(again, base="next", action="synchronize")
    assert status == 202, (status, found)
    [comment] = until("the comment brought up to date", lambda: comments("2 to add"))
    assert not scene.things(estate), "a pull request changes nothing"
    return "a fork's pull request plans nothing; the repository's own is planned, and its one comment is kept up to date"


def stale(scene, estate):
    """While a plan waits, another one is applied to the same records."""
    older, sha = scene.planned(estate, ONE % 1)
    # Asked for by a person, it does not supersede what was pushed.
    other = scene.commit(estate, ONE % 2)
    body = {"estate": estate, "commit": other, "apply": True}
    status, found = scene.cloud.ask("POST", "/runs", body, keys=scene.keys["ada"])
    assert status == 202, (status, found)
    newer = scene.wait(estate, found["run"], "waiting_for_approval")
    scene.wait(estate, scene.approve(newer), "applied")
    scene.approve(older)
    rejected = scene.wait(estate, older["run"], "rejected")
    assert rejected["code"] == "stale", rejected
    assert "test_thing.one" in rejected["text"] and newer["run"] in rejected["text"], rejected["text"]
    description = scene.reported(sha, estate, "failure")
    assert description.startswith("Rejected (stale)"), description
    assert scene.things(estate)["one"][1]["size"] == 2, "the refused plan has changed nothing"
    return "a plan whose records moved while it waited is rejected as stale, naming the record and the run"


def drifted(scene, estate):
    """While a plan waits, somebody changes the thing that it changes."""
    scene.apply(estate, ONE % 1)
    waiting, sha = scene.planned(estate, ONE % 2)
    scene.meddle(estate, "one", size=64)
    rejected = scene.wait(estate, scene.approve(waiting), "rejected")
    assert rejected["code"] == "drifted", rejected
    assert "size" in rejected["text"] and "64" in rejected["text"], rejected["text"]
    assert scene.reported(sha, estate, "failure").startswith("Rejected (drifted)")
    assert scene.things(estate)["one"][1]["size"] == 64, "the refused plan has changed nothing"
    return "a plan whose thing was changed while it waited is rejected as drifted, naming the attribute"


def four_invocations(scene, estate):
    """More than one invocation has time for."""
    waiting, sha = scene.planned(estate, chain(LINKS))
    run = scene.approve(waiting)
    scene.wait(estate, run, "applied")
    attempts = scene.cloud.visited(run).count("Apply")
    assert attempts >= 4, scene.cloud.visited(run)
    assert len(scene.things(estate)) == LINKS
    created = [call["object"] for call in scene.calls(estate) if (call["call"], call["phase"]) == ("create", "started")]
    assert len(created) == len(set(created)), "something was made twice"
    scene.reported(sha, estate, "success")
    return f"an apply that needs more time than an invocation has goes on in the next one ({attempts} of them)"


def killed(scene, estate):
    """The second invocation is killed while it creates something."""
    waiting, _ = scene.planned(estate, chain(LINKS))
    run = scene.approve(waiting)

    def at_work_again():
        bodies = scene.cloud.objects(f"records/{estate}/t/").values()
        return any(json.loads(body)["attempt"] >= 2 for body in bodies)

    until(f"{estate}: a second attempt", at_work_again)
    begun = len(scene.calls(estate))

    def creating():
        calls = scene.calls(estate)
        last = calls[-1]
        return last if len(calls) > begun and (last["call"], last["phase"]) == ("create", "started") else None

    provider = until(f"{estate}: a create in flight", creating, pause=0.05)["pid"]
    status = pathlib.Path(f"/proc/{provider}/status").read_text()
    [function] = [int(line.split()[1]) for line in status.splitlines() if line.startswith("PPid:")]
    os.kill(function, signal.SIGKILL)
    until(f"{estate}: the end of the provider whose function was killed", lambda: not pathlib.Path(f"/proc/{provider}").exists())
    scene.wait(estate, run, "applied")
    visited = scene.cloud.visited(run)
    assert "WaitToApply" in visited and visited.count("Apply") >= 3, visited
    created = [thing["name"] for _, thing in scene.things(estate).values()]
    assert len(created) == LINKS == len(list((scene.world(estate) / "test_thing").glob("*.json"))), created
    return "an apply that was killed in its second invocation is gone on with; nothing is lost, nothing is made twice"


def at_work(scene, estate):
    """A plan is approved while another one of the same things is being applied."""
    first, _ = scene.planned(estate, chain(4))
    other = scene.commit(estate, chain(4, size=2))
    status, found = scene.cloud.ask("POST", "/runs", {"estate": estate, "commit": other, "apply": True}, keys=scene.keys["ada"])
    assert status == 202, (status, found)
    second = scene.wait(estate, found["run"], "waiting_for_approval")
    scene.approve(first)
    until(f"{estate}: a create", lambda: any(call["call"] == "create" for call in scene.calls(estate)), pause=0.1)
    scene.approve(second)
    scene.wait(estate, first["run"], "applied")
    rejected = scene.wait(estate, second["run"], "rejected")
    assert rejected["code"] == "stale" and first["run"] in rejected["text"], rejected
    assert "WaitToValidate" in scene.cloud.visited(second["run"]), scene.cloud.visited(second["run"])
    assert {thing["size"] for _, thing in scene.things(estate).values()} == {1}, "the refused plan has changed nothing"
    return "a plan that is approved while another one works on the same things waits for that, and is then stale"


def failing_provider(scene, estate):
    """The provider refuses; what it made is recorded, and the mended configuration goes on from there."""
    broken = ONE % 1 + """
resource "test_thing" "broken" {
  name    = "broken"
  fail_on = "create"
}

resource "test_thing" "after" {
  name = "after"
  tags = { before = test_thing.broken.id }
}
"""
    waiting, sha = scene.planned(estate, broken)
    failed = scene.wait(estate, scene.approve(waiting), "failed")
    assert failed["code"] == "apply" and "The world refuses to create it" in failed["text"], failed
    assert scene.reported(sha, estate, "failure").startswith("Failed (apply)")
    assert set(scene.things(estate)) == {"one"}, scene.things(estate)
    scene.assert_settled(estate)
    waiting, _ = scene.planned(estate, broken.replace('fail_on = "create"', ""))
    assert waiting["changes"]["add"] == 2, waiting
    scene.wait(estate, scene.approve(waiting), "applied")
    assert set(scene.things(estate)) == {"one", "broken", "after"}
    return "a provider that refuses fails the run with its words; what was made is recorded, and a mended push makes the rest"


def decisions(scene, estate):
    """What people and newer pushes do to what waits."""
    first, sha = scene.planned(estate, ONE % 1)
    status, found = scene.decide(estate, first["run"], first["plan_digest"], decision="reject")
    assert status == 202, (status, found)
    scene.wait(estate, first["run"], "declined")
    assert scene.reported(sha, estate, "failure").startswith("Declined")
    status, found = scene.decide(estate, first["run"], first["plan_digest"])
    assert status == 409, (status, found)

    older, sha = scene.planned(estate, ONE % 2)
    newer, _ = scene.planned(estate, ONE % 3)
    scene.wait(estate, older["run"], "superseded")
    scene.reported(sha, estate, "failure")
    status, found = scene.cloud.ask("POST", f"/runs/{newer['run']}/cancel", {"estate": estate}, keys=scene.keys["grace"])
    assert status == 202, (status, found)
    scene.wait(estate, newer["run"], "cancelled")
    assert not scene.things(estate), "nothing of that was applied"

    # Somebody comes to think better of it: the plan that was declined is still a plan.
    body = {"estate": estate, "run": first["run"], "plan_digest": first["plan_digest"]}
    status, found = scene.cloud.ask("POST", f"/plans/{first['plan']}/apply", body, keys=scene.keys["ada"])
    assert status == 403, (status, found)
    status, found = scene.cloud.ask("POST", f"/plans/{first['plan']}/apply", body, keys=scene.keys["grace"])
    assert status == 202, (status, found)
    scene.wait(estate, found["run"], "applied")
    visited = scene.cloud.visited(found["run"])
    assert visited[:2] == ["Begin", "Validate"], visited
    assert scene.things(estate)["one"][1]["size"] == 1
    return "what waits is declined, superseded or cancelled; a plan that an earlier run made is applied by request"


def unattended(scene, estate):
    """An estate whose policy asks nobody."""
    run, sha = scene.pushed(estate, ONE % 1)
    scene.wait(estate, run, "applied")
    assert "WaitForApproval" not in scene.cloud.visited(run)
    run, again = scene.pushed(estate, ONE % 1 + "# A comment.\n")
    scene.wait(estate, run, "nothing_to_do")
    assert scene.reported(again, estate, "success") == "Nothing to do"
    run, _ = scene.pushed(estate, 'resource "test_thing" "one" {\n')
    failed = scene.wait(estate, run, "failed")
    assert failed["code"] == "configuration" and "main.tf" in failed["text"], failed
    return "an estate that asks nobody is applied at once; a push without changes, and one with a mistake, say so"


def secrets(scene, estate):
    """Secrets of variables and of the provider are used, and told to nobody."""
    scene.apply(estate, SECRETS)
    keeper = scene.things(estate)["keeper"][1]
    assert keeper["tags"]["hidden"] == DEFAULT, keeper
    scene.meddle(estate, "keeper", secret=ANSWER)
    waiting, _ = scene.planned(estate, SECRETS.replace("size   = 1", "size   = 2"))
    assert "(sensitive value)" in waiting["text"] or "sensitive" in waiting["text"], waiting["text"]
    scene.wait(estate, scene.approve(waiting), "applied")
    run, _ = scene.pushed(estate, SECRETS + UNKNOWN)
    failed = scene.wait(estate, run, "failed")
    assert "No thing is named" in failed["text"], failed
    return "secrets of variables, of the provider's answers and of its errors are used and told to nobody"


CASES = {
    "pull": (forks, 'branch = "next"\n'),
    "stale": (stale, ""),
    "drifted": (drifted, ""),
    "four": (four_invocations, ""),
    "killed": (killed, ""),
    "busy": (at_work, ""),
    "failing": (failing_provider, ""),
    "decisions": (decisions, ""),
    "unattended": (unattended, "approvals = { required = false }\n"),
    "secrets": (secrets, ""),
}
