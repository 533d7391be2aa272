#!/usr/bin/env python3
"""Compares what `show -json` says of a plan with what Terraform said of it.

    compare.py EXPECTED ACTUAL            exit 1, naming each difference, where they differ
    compare.py --write EXPECTED ACTUAL    write ACTUAL, normalised, as what is expected

ACTUAL is the output of `show -json PLAN`; EXPECTED is what --write wrote of Terraform's own.
Compared are the changes of resources and outputs and the drift, each with all that FIELDS names.
"""

import json
import re
import sys

FIELDS = ("address", "previous_address", "module_address", "mode", "type", "name", "index", "provider_name", "deposed",
          "action_reason")
CHANGE_FIELDS = ("actions", "before", "after", "after_unknown", "before_sensitive", "after_sensitive", "replace_paths",
                 "importing")

TIME = "time"

# Values that the provider, or the stand-in of AWS behind it, makes anew in each run. Nothing else is normalised.
# A placeholder keeps which of them are the same: <vpc 1> is one VPC wherever it is named.
CHOSEN = [
    # Identifiers that EC2 draws at random.
    (r"\b(vpc|subnet|igw|rtb|rtbassoc|sg|acl|dopt)-[0-9a-f]{8,17}\b", r"\1"),
    # The provider's own name for a security group's rule: a hash of the group's random identifier.
    (r"\bsgrule-\d+\b", "sgrule"),
    # What the provider appends to a name_prefix: the time of day and a counter.
    (r"(?<=-)\d{18}[0-9a-f]{8}\b", "suffix"),
    # Subscriptions and versions of objects: random UUIDs.
    (r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b", "uuid"),
    # Times of creation. Not numbered: whether two things were made in the same second is chance.
    (r"\b20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|\+00:00)?", TIME),
    # The port is whichever was free.
    (r"\bhttp://127\.0\.0\.1:\d+", "endpoint"),
]
# Attributes whose whole value is drawn at random by IAM, in no form that a pattern could tell from other text.
CHOSEN_ATTRIBUTES = ("policy_id", "unique_id")
PLACEHOLDER = re.compile(r"<(time|[a-z_]+ \d+)>")


class Normaliser:
    """Replaces provider-chosen values, numbering those of one kind in the order they are met."""

    def __init__(self):
        self.placeholders = {}
        self.counts = {}

    def placeholder(self, kind, found):
        if kind == TIME:
            return "<time>"
        if found not in self.placeholders:
            self.counts[kind] = self.counts.get(kind, 0) + 1
            self.placeholders[found] = f"<{kind} {self.counts[kind]}>"
        return self.placeholders[found]

    def normalise(self, value):
        if isinstance(value, str):
            for pattern, kind in CHOSEN:
                value = re.sub(pattern, lambda match: self.placeholder(match.expand(kind), match[0]), value)
            return value
        if isinstance(value, list):
            items = [self.normalise(item) for item in value]
            # A set is written in the order of its values: an order that values chosen at random do not keep.
            if PLACEHOLDER.search(json.dumps(items)):
                items.sort(key=lambda item: json.dumps(item, sort_keys=True))
            return items
        if isinstance(value, dict):
            return {key: self.attribute(key, value[key]) for key in sorted(value)}
        return value

    def attribute(self, name, value):
        if name in CHOSEN_ATTRIBUTES and isinstance(value, str):
            return self.placeholder(name, value)
        return self.normalise(value)


def resource(change):
    kept = {field: change[field] for field in FIELDS if field in change}
    kept["change"] = {field: change["change"][field] for field in CHANGE_FIELDS if field in change["change"]}
    # The paths are a set.
    if "replace_paths" in kept["change"]:
        kept["change"]["replace_paths"].sort(key=json.dumps)
    return kept


def compared(plan):
    """The part of a plan that is compared, normalised."""
    def resources(key):
        # By address: the order of the list means nothing. A deposed object shares its address.
        return {" ".join(filter(None, [change["address"], change.get("deposed") and "(deposed)"])): resource(change)
                for change in plan.get(key, [])}
    return Normaliser().normalise({
        "resource_changes": resources("resource_changes"),
        "resource_drift": resources("resource_drift"),
        "output_changes": plan.get("output_changes", {}),
    })


def differences(expected, actual, path=""):
    """Each place where the two differ, as text. JSON's types count: 1, 1.0, true and "1" are four values."""
    if isinstance(expected, dict) and isinstance(actual, dict):
        for key in sorted(expected.keys() | actual.keys()):
            place = f"{path}.{key}" if path else key
            if key not in actual:
                yield f"{place}: missing; Terraform has {json.dumps(expected[key])[:300]}"
            elif key not in expected:
                yield f"{place}: Terraform has none; this has {json.dumps(actual[key])[:300]}"
            else:
                yield from differences(expected[key], actual[key], place)
    elif isinstance(expected, list) and isinstance(actual, list) and len(expected) == len(actual):
        for index, (one, other) in enumerate(zip(expected, actual)):
            yield from differences(one, other, f"{path}[{index}]")
    elif json.dumps(expected) != json.dumps(actual):
        yield f"{path}: Terraform has {json.dumps(expected)[:300]}; this has {json.dumps(actual)[:300]}"


def load(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def main():
    match sys.argv[1:]:
        case ["--write", expected, actual]:
            with open(expected, "w", encoding="utf-8") as file:
                json.dump(compared(load(actual)), file, indent=1, sort_keys=True, ensure_ascii=False)
                file.write("\n")
        case [expected, actual]:
            found = list(differences(load(expected), compared(load(actual))))
            if found:
                sys.exit("\n".join(found))
        case _:
            sys.exit(__doc__.strip())


main()
