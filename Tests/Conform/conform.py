#!/usr/bin/env python3
"""The test files of packaging/examples/conform against dispatchers with one planted fault each: the test fails, and
pushctl conform judge names the fault's rule and no other. With the JDK of Debian and stand-ins, with Node.js, and with
XCTest of the Swift toolchain.

conform.py [--programs DIR]
"""
import argparse
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
EXAMPLES = ROOT / "packaging" / "examples" / "conform"
wrong = []


def run(words, place, **variables):
    return subprocess.run(
        words, cwd=place, env={**os.environ, **variables}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        timeout=300)


def check(holds, what):
    if not holds:
        wrong.append(what)
        print(f"wrong: {what}", flush=True)


def make_cases(pushctl, place, platform):
    cases = run([pushctl, "conform", "cases", "--platform", platform], place)
    check(cases.returncode == 0, f"cases of {platform}: {cases.stdout[-500:]}")
    (place / "push-cases.jsonl").write_text(cases.stdout)


def judge(pushctl, place, *words):
    return run([pushctl, "conform", "judge", "push-results.jsonl", "--cases", "push-cases.jsonl", *words], place)


def validator():
    try:
        import jsonschema
    except ImportError:
        print("left out: jsonschema is not installed")
        return lambda _: None
    schema = json.loads((ROOT / "packaging" / "conform.schema.json").read_text())
    return jsonschema.Draft202012Validator(schema).validate


def dispatchers(language, pushctl, place, words, plants, validate):
    """Runs the tests with the right dispatcher, and with each fault."""
    for plant in ["", *plants]:
        ended = run(words(plant), place, PUSH_PLANT=plant)
        told = json.loads(judge(pushctl, place, "--format", "json").stdout)
        validate(told)
        failed = [one for one in told["cases"] if one["status"] == "failed"]
        rules = {fault["rule"] for one in told["cases"] for fault in one["faults"]} - {"not_run"}
        is_fault = plant not in ["", "super_not_called"]
        what = f"{language}, {plant or 'no fault'}"
        # The same rule may have several faults.
        rule = plant.removesuffix("_late")
        check(rules == ({rule} if plant else set()), f"{what}: judge names {sorted(rules)}: {ended.stdout[-1500:]}")
        # The judge knows more words than a test file: those that a completion handler takes.
        if plant != "result_word":
            check((ended.returncode != 0) == is_fault, f"{what}: the test ends with {ended.returncode}: {ended.stdout[-1500:]}")
        if is_fault and plant != "result_word":
            check(failed and "printf %s" in ended.stdout, f"{what}: the test prints no command: {ended.stdout[-1500:]}")
        if plant == "handled_twice":
            known(language, pushctl, place, words, plant, failed)
    print(f"{language}: {len(plants)} planted faults found", flush=True)


def known(language, pushctl, place, words, plant, failed):
    """A list of all faults makes the run good; an entry that passes, or matches nothing, fails it."""
    entries = place / "push-cases.known"
    names = [json.loads(line).get("name", "") for line in (place / "push-cases.jsonl").read_text().splitlines()]

    def pattern(name):
        """A pattern for this case alone, if there is one."""
        begin = name[:-2]
        return begin + "*" if sum(other.startswith(begin) for other in names) == 1 else name

    listed = [pattern(one["name"]) for one in failed]
    check(any(entry.endswith("*") for entry in listed), f"{language}: no pattern")
    lines = "# what we know\n" + "".join(f"{entry}: ticket 7\n" for entry in listed)
    entries.write_text(lines + "no/such-*: ticket 8\n")
    nothing = run(words(plant), place, PUSH_PLANT=plant)
    check(nothing.returncode != 0 and "no/such-" in nothing.stdout,
          f"{language}: an entry without a case: {nothing.stdout[-500:]}")
    check(judge(pushctl, place, "--known", entries.name).returncode == 1, f"{language}: judge: an entry without a case")
    entries.write_text(lines)
    check(judge(pushctl, place, "--known", entries.name).returncode == 0, f"{language}: known faults fail")
    check(run(words(plant), place, PUSH_PLANT=plant).returncode == 0, f"{language}: known faults fail the test")
    passing = run(words(""), place, PUSH_PLANT="")
    check(passing.returncode != 0 and "passes" in passing.stdout,
          f"{language}: a known fault passes unnoticed: {passing.stdout[-500:]}")
    told = judge(pushctl, place, "--known", entries.name)
    check(told.returncode == 1 and "PASS  " in told.stdout, f"{language}: judge: {told.stdout[-500:]}")
    entries.unlink()


def in_java(pushctl, place, validate):
    parts = re.split(r"^//// (\S+)\n", (HERE / "android.standins").read_text(), flags=re.M)[1:]
    for name, text in zip(parts[::2], parts[1::2]):
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_text(text)
    shutil.copy(HERE / "MyFirebaseMessagingService.java", place)
    text = (EXAMPLES / "PushConformTest.java").read_text()
    hint = re.search(r"// seen.superCalled: .*", text)[0]
    can_tell = "seen.superCalled = com.google.firebase.messaging.FirebaseMessagingService.wasCalled;" \
        " com.google.firebase.messaging.FirebaseMessagingService.wasCalled = false;"
    (place / "PushConformTest.java").write_text(text.replace(hint, can_tell))
    files = [str(path.relative_to(place)) for path in place.rglob("*.java")]
    made = run(["javac", "-d", "classes", *files], place)
    check(made.returncode == 0, f"javac: {made.stdout}")
    make_cases(pushctl, place, "android")
    words = ["java", "-cp", "classes", "org.robolectric.RobolectricTestRunner", "PushConformTest"]
    plants = ["handled_twice", "over_policy", "return_value", "shown_twice", "not_handled", "threw", "super_not_called"]
    dispatchers("Java", pushctl, place, lambda plant: words, plants, validate)


def in_javascript(pushctl, place, validate):
    shutil.copy(EXAMPLES / "push-conform.test.mjs", place)
    make_cases(pushctl, place, "web")

    def words(plant):
        text = (HERE / "service-worker.js").read_text()
        (place / "service-worker.js").write_text(f"const PLANT = {json.dumps(plant)};\n{text}")
        return ["node", "--test", "push-conform.test.mjs"]
    plants = ["handled_twice", "over_policy", "shown_twice", "not_handled", "threw", "threw_late", "completed_never"]
    dispatchers("JavaScript", pushctl, place, words, plants, validate)


def in_swift(pushctl, place, validate):
    shutil.copy(EXAMPLES / "PushConformTests.swift", place)
    shutil.copy(HERE / "PushDispatcher.swift", place)
    (place / "main.swift").write_text(
        'import XCTest\nXCTMain([testCase([("testDispatcher", PushConformTests.testDispatcher)])])\n')
    made = run(["swiftc", "-o", "tests", "main.swift", "PushConformTests.swift", "PushDispatcher.swift"], place)
    check(made.returncode == 0, f"swiftc: {made.stdout}")
    make_cases(pushctl, place, "ios")
    plants = ["handled_twice", "over_policy", "return_value", "shown_twice", "not_handled", "completed", "completed_never",
              "result_word", "super_not_called"]
    dispatchers("Swift", pushctl, place, lambda plant: ["./tests"], plants, validate)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--programs", default=".build/debug")
    pushctl = os.path.abspath(parser.parse_args().programs) + "/pushctl"
    validate = validator()
    for program, test in [("javac", in_java), ("node", in_javascript), ("swiftc", in_swift)]:
        if not shutil.which(program):
            print(f"left out: {program} is not installed")
            continue
        with tempfile.TemporaryDirectory() as place:
            test(pushctl, pathlib.Path(place), validate)
    sys.exit(f"{len(wrong)} wrong" if wrong else 0)


main()
