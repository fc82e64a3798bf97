#!/usr/bin/env python3
"""The files of packaging/examples/tests, each in a project of its own: with pytest, firebase-admin and aioapns, and with
the test runner of Node.js in the place of Jest, which PyPI and Debian do not have.

examples.py [--programs DIR] [--cache DIR]
"""
import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile

from gateway import HERE, environments, has, make_keys

ROOT = os.path.dirname(os.path.dirname(HERE))
EXAMPLES = os.path.join(ROOT, "packaging", "examples", "tests")
# The key file of the guide to the gateway.
KEY_FILE = r"""
openssl genrsa 2048 | jq -Rs '{type: "service_account", project_id: "demo", private_key: .,
    client_email: "test@demo.iam.gserviceaccount.com", token_uri: "https://oauth2.googleapis.com/token"}' >account.json
"""


def run(name, words, place, programs):
    environment = {
        "PATH": f"{programs}:{os.environ['PATH']}", "HOME": place, "TMPDIR": place, "PUSH_TEST_KEYS": place,
        "PUSH_TEST_ROOT": ROOT}
    ended = subprocess.run(
        words, cwd=place, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=300)
    left = [name for name in os.listdir(place) if name.startswith("pushrouter.")]
    print(f"{name}: " + ("as they say" if ended.returncode == 0 and not left else f"{ended.stdout}{left}"), flush=True)
    return 0 if ended.returncode == 0 and not left else 1


def add_guides_test(place):
    """Adds the test of the guide to the gateway, as a reader copies it."""
    guide = open(f"{ROOT}/Sources/PushDaemon/Documentation.docc/Guides/GuideToTheGateway.md").read()
    [block] = re.findall(r"^```python\n(def test_.*?)^```$", guide, re.M | re.S)
    with open(os.path.join(place, "test_examples.py"), "a") as file:
        file.write(f"\n\n@pytest.mark.usefixtures('firebase')\n{block}")


def pythons():
    """The programs python3 in PATH, one of each version: asyncio changed from 3.11.2 to 3.11.7."""
    found = {}
    for directory in os.environ["PATH"].split(":"):
        python = os.path.join(directory, "python3")
        if os.access(python, os.X_OK):
            version = subprocess.run([python, "-V"], check=True, capture_output=True, text=True).stdout.split()[-1]
            found.setdefault(version, python)
    return found


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--programs", default=".build/debug")
    parser.add_argument("--cache", default=os.path.expanduser("~/.cache/pushrouterd-tests"))
    arguments = parser.parse_args()
    programs = os.path.abspath(arguments.programs)
    os.makedirs(arguments.cache, exist_ok=True)
    wrong = 0
    with tempfile.TemporaryDirectory() as place:
        for name in os.listdir(EXAMPLES):
            shutil.copy(os.path.join(EXAMPLES, name), place)
        for name in ["test_examples.py", "examples.test.mjs"]:
            shutil.copy(os.path.join(HERE, name), place)
        add_guides_test(place)
        make_keys(place)
        if has("node"):
            wrong += run("the set-up of Jest, by Node.js alone", ["node", "--test", "examples.test.mjs"], place, programs)
        else:
            print("the set-up of Jest: not tested, node is not installed", flush=True)
        if wrong:
            sys.exit("the set-up of Jest is wrong")
        if has("jq"):
            subprocess.run(["sh", "-c", KEY_FILE], cwd=place, check=True, capture_output=True)
        for version, base in pythons().items():
            python = environments(arguments.cache, {"examples"}, base)["examples"]
            words = [python, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_examples.py"]
            wrong += run(f"the fixture of pytest, Python {version}", words, place, programs)
            # The same tests without the fixture's own daemon: the command has the variables.
            words = [f"{programs}/pushctl", "dev", "--temporary", "--port", "0", "--gateway-port", "0", "--", "sh", "-c",
                     'test -n "$HTTPS_PROXY" && exec "$0" -m pytest -q -p no:cacheprovider test_examples.py', python]
            wrong += run(f"pushctl dev -- pytest, Python {version}", words, place, programs)
    sys.exit(f"{wrong} examples are wrong" if wrong else 0)


main()
