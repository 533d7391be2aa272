#!/usr/bin/env python3
"""Records what Terraform makes of the cases, or compares it with what was recorded.

    record.py             compares; exits with 1 where something differs
    record.py -write      writes what Terraform says into the files of cases
    record.py formatting  only this area (expressions, formatting, files, tests)

Needs `terraform` 1.11.4 on PATH. Cases are lines of JSON: what is asked stands in them, and beside it what Terraform
answered. To add a case, add a line without an answer and run with -write.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path

HERE = Path(__file__).parent
ENVIRONMENT = dict(os.environ, TF_CLI_CONFIG_FILE=os.devnull, NO_COLOR="1")
COLOURS = re.compile(r"\x1b\[[0-9;]*m")
# Expressions that are asked in one go, since Terraform takes long to start.
GROUP = 40


def terraform(arguments, directory, text=""):
    run = subprocess.run(
        ["terraform", *arguments], cwd=directory, input=text.encode(), capture_output=True, env=ENVIRONMENT
    )
    return run.returncode, run.stdout.decode(), COLOURS.sub("", run.stderr.decode())


def one_expression(expression, directory):
    code, out, err = terraform(["console"], directory, expression + "\n")
    return {"errors": re.findall(r"Error: (.*)", err)} if code else {"result": out}


def many_expressions(cases, directory):
    """Answers, in order. Expressions that gave values are asked as parts of one tuple, the others alone."""
    answers = {}

    def ask(indices):
        if len(indices) < 3:
            for index in indices:
                answers[index] = one_expression(cases[index]["expression"], directory)
            return
        parts = [f'"@@{index}@@", {cases[index]["expression"]}' for index in indices]
        code, out, _ = terraform(["console"], directory, "[" + ", ".join(parts) + ', "@@end@@"]\n')
        if code:
            middle = len(indices) // 2
            ask(indices[:middle])
            ask(indices[middle:])
            return
        for index, after in zip(indices, [*indices[1:], "end"]):
            before = f'\n  "@@{index}@@",\n  '
            start = out.index(before) + len(before)
            end = out.index(f',\n  "@@{after}@@",\n', start)
            # A part of a tuple is indented, and a heredoc says so.
            text = out[start:end].replace("\n  ", "\n")
            answers[index] = {"result": (text.replace("<<-", "<<", 1) if text.startswith("<<-") else text) + "\n"}

    alone = lambda case: "result" not in case or re.search(r"^type\(|#|//|\.\.\.$", case["expression"])
    together = [index for index, case in enumerate(cases) if not alone(case)]
    for start in range(0, len(together), GROUP):
        ask(together[start : start + GROUP])
    for index, case in enumerate(cases):
        if index not in answers:
            answers[index] = one_expression(case["expression"], directory)
    return [answers[index] for index in range(len(cases))]


def expressions(cases):
    with tempfile.TemporaryDirectory() as directory:
        return many_expressions(cases, directory)


def formatting(cases):
    answers = []
    with tempfile.TemporaryDirectory() as directory:
        names = [f"{index:04}.tf" for index in range(len(cases))]
        for name, case in zip(names, cases):
            Path(directory, name).write_bytes(case["input"].encode())
        _, _, err = terraform(["fmt", "-list=false", "."], directory)
        refused = set(re.findall(r"on (\S+\.tf) line", err))
        for name in names:
            output = None if name in refused else Path(directory, name).read_bytes().decode()
            answers.append({"output": output})
    return answers


@contextmanager
def prepared(case):
    """A directory with the files of a case, ready to be worked in."""
    with tempfile.TemporaryDirectory() as directory:
        for name, text in case["files"].items():
            Path(directory, name).parent.mkdir(parents=True, exist_ok=True)
            Path(directory, name).write_text(text)
        terraform(["init", "-backend=false", "-input=false"], directory)
        yield directory


def files(cases):
    answers = []
    for case in cases:
        with prepared(case) as directory:
            _, out, _ = terraform(["validate", "-json"], directory)
            found = json.loads(out)["diagnostics"]
            answers.append({"errors": [one["summary"] for one in found if one["severity"] == "error"]})
    return answers


def told(stream):
    """What a stream of messages tells of each run: what it came to, then the summaries of what is said, sorted."""
    lines, said = [], []
    for message in map(json.loads, stream.splitlines()):
        kind, place = message["type"], " ".join(filter(None, [message.get("@testfile"), message.get("@testrun")]))
        if kind == "diagnostic":
            said.append(f"{place}: {message['@message']}")
            continue
        lines += sorted(said)
        said = []
        if kind in ("test_run", "test_file") and message[kind]["progress"] == "complete":
            lines.append(f"{place} {message[kind]['status']}")
        elif kind == "test_summary":
            lines.append(message["@message"])
    return lines + sorted(said)


def tests(cases):
    answers = []
    for case in cases:
        with prepared(case) as directory:
            _, out, _ = terraform(["test", "-json", *case.get("arguments", [])], directory)
            answers.append({"told": told(out)})
    return answers


AREAS = {"expressions": expressions, "formatting": formatting, "files": files, "tests": tests}


def main(arguments):
    write = "-write" in arguments
    areas = [area for area in arguments if area in AREAS] or list(AREAS)
    differing = 0
    print(f"{'area':<14}{'cases':>7}{'agreeing':>10}")
    for area in areas:
        path = HERE / f"{area}.jsonl"
        cases = [json.loads(line) for line in path.read_text().splitlines()]
        answers = AREAS[area](cases)
        wrong = [(case, answer) for case, answer in zip(cases, answers) if any(case.get(k) != v for k, v in answer.items())]
        print(f"{area:<14}{len(cases):>7}{len(cases) - len(wrong):>10}")
        if write:
            for case, answer in zip(cases, answers):
                for key in ("result", "errors", "output", "told"):
                    case.pop(key, None)
                case.update(answer)
            path.write_text("".join(json.dumps(case, ensure_ascii=False) + "\n" for case in cases))
            continue
        differing += len(wrong)
        for case, answer in wrong:
            asked = case.get("expression") or case.get("name")
            print(f"  {asked}: recorded {({k: case.get(k) for k in answer})}, Terraform says {answer}")
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
