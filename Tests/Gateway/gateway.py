#!/usr/bin/env python3
"""Unmodified clients of FCM and APNs against the gateway, beside what was recorded of them.

gateway.py [--programs DIR] [--cache DIR] [--slow] [--client NAME]

Each client runs as it is: the hosts of Google and Apple are names of this machine in a mount namespace of the test's own, on
port 443 of a network namespace of its own; or HTTPS_PROXY names the gateway. Its steps must end as in the recordings:
the same results, the same exceptions, as many requests. Without PyPI or root: "left out", and why. --slow: also the
steps in which a client waits and sends again.
"""
import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
FIXTURES = os.path.join(HERE, "..", "Fixtures", "recordings")
HOSTS = ["fcm.googleapis.com", "oauth2.googleapis.com", "www.googleapis.com", "iid.googleapis.com", "api.push.apple.com",
         "api.sandbox.push.apple.com", "api.development.push.apple.com"]
# The client, its environment, its way to the gateway, and the recording.
RUNS = [
    ("firebase-admin", "fcm7", "hosts", "fcm/firebase-admin-python-7.7.0-direct.json"),
    ("firebase-admin", "fcm7", "proxy", "fcm/firebase-admin-python-7.7.0-direct.json"),
    ("firebase-admin-async", "fcm7", "hosts", "fcm/firebase-admin-python-7.7.0-hosts-async.json"),
    ("firebase-admin-old", "fcm6", "hosts", "fcm/firebase-admin-python-6.5.0-hosts.json"),
    ("pyfcm", "fcm7", "proxy", "fcm/pyfcm-2.1.1-hosts.json"),
    ("pyfcm", "fcm7", "hosts", "fcm/pyfcm-2.1.1-hosts.json"),
    ("google-api", "fcm7", "hosts", "fcm/google-api-python-client-2.202.0.json"),
    ("aioapns", "apns", "hosts", "apns/aioapns-4.0-hosts.json"),
]
# Steps with another end than in the recording, and the reason.
OTHERWISE = {
    "client-side: reserved key": ("firebase_admin.exceptions.InvalidArgumentError", "the stand-in checked nothing"),
    "client-side: 5000 bytes": ("firebase_admin.exceptions.InvalidArgumentError", "the stand-in checked nothing"),
    "send, validate_only, camelCase": (None, "the stand-in knew one spelling, and sent the dry run"),
}


def not_tested(why):
    print(f"left out: {why}")
    sys.exit(0)


def environments(cache, wanted, base=sys.executable):
    """The Python programs of the environments, which are made once for each Python."""
    version = subprocess.run([base, "-V"], check=True, capture_output=True, text=True).stdout.split()[-1]
    found = {}
    for line in open(os.path.join(HERE, "requirements.txt")):
        if line.startswith("#") or ":" not in line:
            continue
        name, packages = line.split(":")
        if name not in wanted:
            continue
        packages = packages.split()
        place = os.path.join(cache, f"{name}-{version}-{abs(hash_of(line)):x}")
        python = os.path.join(place, "bin", "python3")
        if not os.path.exists(os.path.join(place, "complete")):
            subprocess.run(["rm", "-rf", place], check=True)
            made = subprocess.run([base, "-m", "venv", place], capture_output=True, text=True)
            if made.returncode != 0:
                not_tested("python3-venv is not installed")
            got = subprocess.run([python, "-m", "pip", "-q", "--retries", "1", "--timeout", "15", "install", *packages], capture_output=True, text=True)
            if got.returncode != 0:
                not_tested(f"PyPI gives no {' '.join(packages)}: {got.stderr.strip().splitlines()[-1:]}")
            open(os.path.join(place, "complete"), "w").close()
        found[name] = python
    return found


def hash_of(text):
    number = 0
    for byte in text.encode():
        number = (number * 31 + byte) % (1 << 32)
    return number


def make_keys(place):
    def openssl(*words):
        subprocess.run(["openssl", *words], check=True, capture_output=True)

    openssl("genrsa", "-out", f"{place}/account.key", "2048")
    json.dump({
        "type": "service_account", "project_id": "demo", "private_key_id": "k1",
        "private_key": open(f"{place}/account.key").read(), "client_email": "push@demo.iam.gserviceaccount.com",
        "client_id": "1", "token_uri": "https://oauth2.googleapis.com/token"}, open(f"{place}/account.json", "w"))
    openssl("ecparam", "-name", "prime256v1", "-genkey", "-noout", "-out", f"{place}/ec.key")
    openssl("pkcs8", "-topk8", "-nocrypt", "-in", f"{place}/ec.key", "-out", f"{place}/AuthKey.p8")
    openssl("req", "-x509", "-key", f"{place}/ec.key", "-out", f"{place}/client.crt", "-days", "2",
            "-subj", "/UID=com.example.shop/CN=Apple Push Services: com.example.shop")
    with open(f"{place}/client.pem", "w") as both:
        both.write(open(f"{place}/client.crt").read() + open(f"{place}/ec.key").read())


class Gateway:
    """A daemon and a gateway on port 443, in the namespaces of this process."""

    def __init__(self, programs, root, port=443):
        self.root, self.port = root, port
        for name in ["run", "state", "gateway", "config"]:
            os.makedirs(f"{root}/{name}", exist_ok=True)
        with open(f"{root}/config/gateway.conf", "w") as file:
            file.write("[Gateway]\nErrorTokens=yes\n")
        self.programs = programs
        self.start_daemon()
        self.start_gateway()

    def start_daemon(self):
        self.daemon = subprocess.Popen(
            [f"{self.programs}/pushrouterd", "--config", f"{self.root}/config", "--state", f"{self.root}/state",
             "--runtime", f"{self.root}/run"], stdout=subprocess.DEVNULL, stderr=open(f"{self.root}/daemon.log", "ab"))
        self.wait(lambda: os.path.exists(f"{self.root}/run/inject.sock"))

    def start_gateway(self):
        self.gateway = subprocess.Popen(
            [f"{self.programs}/pushrouter-gateway", "--config", f"{self.root}/config", "--state", f"{self.root}/gateway",
             "--runtime", f"{self.root}/run", "--listen", f"127.0.0.1:{self.port}"],
            stdout=subprocess.DEVNULL, stderr=open(f"{self.root}/gateway.log", "ab"))
        self.wait(self.answers)

    def answers(self):
        return subprocess.run(["curl", "-sf", "--noproxy", "*", f"http://127.0.0.1:{self.port}/status", "-o", "/dev/null"]).returncode == 0

    @staticmethod
    def wait(is_so):
        end = time.monotonic() + 60
        while not is_so():
            if time.monotonic() > end:
                sys.exit("waited a minute in vain")
            time.sleep(0.02)

    def stop(self):
        for process in [self.gateway, self.daemon]:
            process.send_signal(signal.SIGTERM)
        for process in [self.gateway, self.daemon]:
            if process.wait(30) != 0:
                sys.exit(f"{process.args[0]} ended with {process.returncode}")


def expected(recording):
    """What each step of a recording returned or raised, and how many requests it took."""
    steps = {}
    for step in json.load(open(os.path.join(FIXTURES, recording)))["steps"]:
        raised = step.get("raised")
        steps[step["step"]] = {
            "raised": raised["class"] if raised else None, "returned": step.get("returned"),
            "requests": step.get("request_count")}
    return steps


def differences(told, wanted, run):
    """What is not as recorded."""
    name = told["step"]
    if wanted is None:
        return f"{name}: was never recorded"
    raised, returned = wanted["raised"], wanted["returned"]
    if name in OTHERWISE:
        raised, returned = OTHERWISE[name][0], None
    if told.get("raised") != raised:
        return f"{name}: raised {told.get('raised')} ({told.get('message')}), recorded {raised}"
    requests = wanted["requests"]
    if name in ("send, every field", "send", "notify") and requests is not None:
        # Counts the request for the access token.
        requests = max(requests, told["requests"])
    if requests is not None and told["requests"] != requests and not name.startswith("client certificate"):
        return f"{name}: {told['requests']} requests, recorded {requests}"
    if isinstance(returned, dict) and isinstance(told.get("returned"), dict):
        for key in ["success_count", "failure_count", "errors", "status", "description"]:
            if key in returned and returned[key] != told["returned"].get(key):
                return f"{name}: {key} is {told['returned'].get(key)}, recorded {returned[key]}"
        if "name" in returned and not same_form(returned["name"], told["returned"].get("name")):
            return f"{name}: {told['returned']}, recorded {returned}"
    elif isinstance(returned, str) and not same_form(returned, told.get("returned")):
        return f"{name}: {told.get('returned')}, recorded {returned}"
    elif isinstance(returned, int) and returned != told.get("returned"):
        return f"{name}: {told.get('returned')}, recorded {returned}"
    if told.get("echoed") is False:
        return f"{name}: the apns-id was not echoed"
    return None


def same_form(recorded, told):
    """Whether two names have the same parts but for the numbers of an id."""
    if not isinstance(told, str):
        return False
    return recorded.split("messages/")[0] == told.split("messages/")[0] and \
        ("fake_message_id" in recorded) == ("fake_message_id" in told)


def run_client(client, python, way, recording, gateway, keys, slow):
    bundle = f"{gateway.root}/gateway/ca.pem"
    environment = {
        "PATH": os.environ["PATH"], "HOME": gateway.root, "SSL_CERT_FILE": bundle, "REQUESTS_CA_BUNDLE": bundle,
        "HTTPLIB2_CA_CERTS": bundle, "GATEWAY_STATUS": f"http://127.0.0.1:{gateway.port}/status",
        "PYTHONWARNINGS": "ignore"}
    if way == "proxy":
        environment |= {"HTTPS_PROXY": f"http://127.0.0.1:{gateway.port}", "https_proxy": f"http://127.0.0.1:{gateway.port}"}
    started = time.monotonic()
    ended = subprocess.run(
        [python, os.path.join(HERE, "clients.py"), client, keys] + (["--slow"] if slow else []), env=environment,
        capture_output=True, text=True, timeout=300)
    wanted = expected(recording)
    wrong = []
    steps = [json.loads(line) for line in ended.stdout.splitlines() if line.startswith("{")]
    for told in steps:
        difference = differences(told, wanted.get(told["step"]), client)
        if difference:
            wrong.append(difference)
    if ended.returncode != 0:
        wrong.append(f"the client ended with {ended.returncode}: {ended.stderr[-2000:]}")
    print(f"{client} by {way}: {len(steps)} steps in {time.monotonic() - started:.1f} s"
          + (", all as recorded" if not wrong else ""), flush=True)
    for text in wrong:
        print(f"  {text}", flush=True)
    return len(wrong)


def run_guide(programs, root):
    """The first block of the guide, from an empty directory; then a name server is not asked, for there is a proxy."""
    os.makedirs(f"{root}/guide")
    ended = subprocess.run(
        ["sh", os.path.join(HERE, "guide.sh")], cwd=f"{root}/guide", stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=120,
        env={"PATH": f"{programs}:{os.environ['PATH']}", "HOME": root})
    good = ended.returncode == 0 and "projects/demo/messages/" in ended.stdout
    print("the guide's first block: " + ("as it says" if good else ended.stdout), flush=True)
    return 0 if good else 1


def run_stacks(gateway):
    """The HTTP stacks of other languages, by host names. Each prints its steps, and whether they are good."""
    ca = f"{gateway.root}/gateway/ca.pem"
    environment = {"PATH": os.environ["PATH"], "HOME": gateway.root, "SSL_CERT_FILE": ca, "NODE_EXTRA_CA_CERTS": ca,
                   "GOCACHE": f"{gateway.root}/go", "GO111MODULE": "off"}
    trust = f"{gateway.root}/trust.p12"
    if has("keytool"):
        subprocess.run(["keytool", "-importcert", "-noprompt", "-alias", "gateway", "-file", ca, "-keystore", trust,
                        "-storepass", "changeit", "-storetype", "PKCS12"], check=True, capture_output=True)
    stacks = [("node", ["node", f"{HERE}/stack.js"]),
              ("java", ["java", f"-Djavax.net.ssl.trustStore={trust}", "-Djavax.net.ssl.trustStorePassword=changeit",
                        f"{HERE}/Stack.java"]),
              ("go", ["go", "run", f"{HERE}/stack.go"])]
    wrong = 0
    for program, words in stacks:
        if not has(program):
            print(f"the HTTP stack of {program}: not tested, it is not installed", flush=True)
            continue
        started = time.monotonic()
        ended = subprocess.run(words, env=environment, capture_output=True, text=True, timeout=120)
        steps = [json.loads(line) for line in ended.stdout.splitlines() if line.startswith("{")]
        bad = [step for step in steps if not step["good"]]
        is_good = ended.returncode == 0 and steps and not bad
        print(f"the HTTP stack of {program}: {len(steps)} steps in {time.monotonic() - started:.1f} s"
              + (", all good" if is_good else f": {bad} {ended.stderr[-1500:]}"), flush=True)
        wrong += 0 if is_good else 1
    return wrong


def has(program):
    return subprocess.run(["sh", "-c", f"command -v {program}"], capture_output=True).returncode == 0


def inside(arguments):
    """In namespaces of its own: the hosts' names, and a loopback."""
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    with tempfile.TemporaryDirectory() as root:
        with open(f"{root}/hosts", "w") as file:
            file.write("127.0.0.1 localhost\n" + "".join(f"127.0.0.1 {host}\n" for host in HOSTS))
        subprocess.run(["mount", "--bind", f"{root}/hosts", "/etc/hosts"], check=True)
        os.makedirs(f"{root}/keys")
        make_keys(f"{root}/keys")
        pythons = json.loads(arguments.pythons)
        wrong = 0
        runs = [run for run in RUNS if run[1] in pythons and arguments.client in (None, run[0])]
        if arguments.client is None:
            wrong += run_guide(arguments.programs, root)
        gateway = Gateway(arguments.programs, root)
        for client, environment, way, recording in runs:
            wrong += run_client(client, pythons[environment], way, recording, gateway, f"{root}/keys", arguments.slow)
        if arguments.client is None:
            wrong += run_stacks(gateway)
        gateway.stop()
    sys.exit(f"{wrong} steps are not as recorded" if wrong else 0)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--programs", default=".build/debug")
    parser.add_argument("--cache", default=os.path.expanduser("~/.cache/pushrouterd-tests"))
    parser.add_argument("--slow", action="store_true")
    parser.add_argument("--client")
    parser.add_argument("--pythons")
    arguments = parser.parse_args()
    arguments.programs = os.path.abspath(arguments.programs)
    if arguments.pythons:
        inside(arguments)
    if os.geteuid() != 0:
        not_tested("only root makes a network namespace")
    if subprocess.run(["unshare", "--mount", "--net", "true"], capture_output=True).returncode != 0:
        not_tested("this root makes no namespaces")
    os.makedirs(arguments.cache, exist_ok=True)
    wanted = {run[1] for run in RUNS if arguments.client in (None, run[0])}
    pythons = environments(arguments.cache, wanted)
    words = [sys.executable, os.path.abspath(__file__), "--programs", arguments.programs, "--pythons", json.dumps(pythons)]
    words += ["--slow"] if arguments.slow else []
    words += ["--client", arguments.client] if arguments.client else []
    sys.exit(subprocess.run(["unshare", "--mount", "--net", "--propagation", "private", *words]).returncode)


if __name__ == "__main__":
    main()
