#!/usr/bin/env python3
"""Reads the daemon's metrics with other programs' readers, over HTTP and from the text file, and behaves badly.

    Tests/Metrics/metrics.py PUSHROUTERD PUSHROUTER-METRICS

Readers: promtool (Debian's prometheus), and PyPI prometheus_client. Prometheus itself scrapes, a single daemon and a
pair: the pushrouterd-fleet beside PUSHROUTERD with Debian's postgresql. What is not installed is left out, with a line
that says so. Ends with 1 and a line for each thing that is wrong.
"""

import contextlib
import http.client
import json
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.parse
import urllib.request

HERE = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(HERE / "Tests/Fleet"))
import engine  # noqa: E402
import nodes  # noqa: E402

OPEN_METRICS = "application/openmetrics-text;version=1.0.0,text/plain;version=0.0.4;q=0.5"
failures = 0


def check(is_right, what):
    global failures
    if not is_right:
        failures += 1
        print(f"wrong: {what}")


def wait_until(what, condition, seconds=60):
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise SystemExit(f"{what}: not within {seconds} s")
        time.sleep(0.05)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def is_listening(port):
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


class Page:
    """One answer over HTTP."""

    def __init__(self, port, path, accept=None, method="GET"):
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
        connection.request(method, path, headers={"Accept": accept} if accept else {})
        answer = connection.getresponse()
        self.status, self.type, self.text = answer.status, answer.headers["Content-Type"], answer.read().decode()
        connection.close()


def samples(text):
    lines = (line.rsplit(" ", 1) for line in text.splitlines() if line and not line.startswith("#"))
    return {name: float(value) for name, value in lines}


def configure(root):
    config = root / "config"
    for folder in ("handlers.d", "routes.d"):
        (config / folder).mkdir(parents=True)
    (config / "pushrouterd.conf").write_text("[Dispatch]\nMode=relay\n[Deadline]\nObjective=99.9%\n")
    for name, program in (("good", "/bin/true"), ("bad", "/bin/false"), ("gone", "/nonexistent/program")):
        breaker = "Breaker=50 in 30s\n" if name == "good" else ""
        (config / f"handlers.d/{name}.handler").write_text(f"[Handler]\nType=exec\nExec={program}\n{breaker}")
        (config / f"routes.d/50-{name}.route").write_text(f"[Match]\nData=job {name}\n[Route]\nHandler={name}\n")


def deliver(root, jobs):
    with socket.socket(socket.AF_UNIX) as client:
        client.settimeout(60)
        client.connect(str(root / "run/inject.sock"))
        lines = client.makefile("r")
        for job in jobs:
            request = {"op": "deliver", "platform": "android", "wait": "outcome", "payload": {"data": {"job": job}}}
            client.sendall(json.dumps(request).encode() + b"\n")
            check(json.loads(lines.readline())["ok"], f"{job} is not accepted")
            lines.readline()


def tell_everything(root):
    """One of each thing that a panel shows: an outcome of each handler, a refusal, an entry that waits to be sent."""
    deliver(root, ["good", "bad", "gone"])
    send_through_gateway(root)
    with socket.socket(socket.AF_UNIX) as client:
        client.settimeout(60)
        client.connect(str(root / "run/inject.sock"))
        lines = client.makefile("r")
        entry = {"op": "log", "kind": "custom_event", "name": "n", "suite": "s", "app": "a", "device": "d"}
        for line, is_accepted in ((json.dumps(entry), True), ("no JSON", False)):
            client.sendall(line.encode() + b"\n")
            check(json.loads(lines.readline())["ok"] == is_accepted, f"{line} is accepted or refused wrongly")
    # Reports as the forwarder does.
    with socket.socket(socket.AF_UNIX) as client:
        client.settimeout(60)
        client.connect(str(root / "run/control.sock"))
        phase = {"op": "sending", "instance": "01234567-89ab-cdef-fedc-ba9876543210", "phase": "sending", "failures": 0}
        client.sendall(json.dumps(phase).encode() + b"\n")
        answer = json.loads(client.makefile("r").readline())
        check(answer["ok"], f"the phase of sending is refused: {answer}")


def send_through_gateway(root):
    """A send that the gateway takes, and one that it refuses."""
    for body in (b'{"message":{"token":"t","data":{"job":"good"}}}', b'{"message":{}}'):
        with socket.socket(socket.AF_UNIX) as client:
            client.settimeout(60)
            client.connect(str(root / "gateway.sock"))
            client.sendall(b"POST /v1/projects/p/messages:send HTTP/1.1\r\nHost: fcm.googleapis.com\r\nConnection: close\r\n"
                           b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
            check(client.recv(1000).startswith(b"HTTP/1.1 "), "the gateway does not answer")


def of_daemon(values):
    """The values without those of what stands beside the daemon."""
    return {name: value for name, value in values.items() if not re.match("pushrouterd_(gateway_|backup)", name)}


def check_others(values):
    for name, value in {
        "pushrouterd_gateway_up": 1, 'pushrouterd_gateway_credentials{kind="accounts"}': 0, "pushrouterd_backups": 2,
    }.items():
        check(values.get(name) == value, f"{name}: {values.get(name)} instead of {value}")
    for name in ('answers_total{service="fcm",status="200"}', 'answers_total{service="fcm",status="400"}',
                 'refusals_total{reason="INVALID_ARGUMENT"}'):
        check(values.get(f"pushrouterd_gateway_{name}", 0) > 0, f"pushrouterd_gateway_{name} counts nothing")
    check(0 <= values.get("pushrouterd_backup_age_seconds", -1) < 600, "the age of the backup")
    ends = values.get('pushrouterd_gateway_certificate_end_seconds{certificate="authority"}', 0) - time.time()
    check(700 * 86400 < ends < 731 * 86400, f"the authority ends in {ends} s")


def check_counts(values):
    for name, value in {
        "pushrouterd_up": 1, "pushrouterd_requests_accepted_total": 12,
        'pushrouterd_outcomes_total{outcome="handled"}': 7,
        'pushrouterd_handler_outcomes_total{handler="good",outcome="handled"}': 7,
        'pushrouterd_handler_start_failures_total{handler="gone"}': 2,
        'pushrouterd_handler_exec_seconds_count{handler="gone"}': 0,
        'pushrouterd_handler_total_seconds_bucket{handler="good",le="+Inf"}': 7,
    }.items():
        check(values.get(name) == value, f"{name}: {values.get(name)} instead of {value}")


def check_readers(open_metrics, text):
    try:
        from prometheus_client.openmetrics import parser
        from prometheus_client.parser import text_string_to_metric_families

        families = {family.name: family for family in parser.text_string_to_metric_families(open_metrics)}
        older = {family.name: family for family in text_string_to_metric_families(text)}
        check(set(families) == set(older), f"formats differ: {set(families) ^ set(older)}")
        check(families["pushrouterd_commit_seconds"].type == "histogram", "openmetrics: a histogram")
        check(all(family.type != "unknown" for family in families.values()), "openmetrics: a type is unknown")
        made = [s for s in families["pushrouterd_outcomes"].samples if s.name.endswith("_created")]
        check(made and abs(made[0].value - time.time()) < 3600, "openmetrics: when counting began")
    except ImportError:
        print("left out: prometheus_client is not installed")
    if shutil.which("promtool"):
        result = subprocess.run(["promtool", "check", "metrics"], input=text, text=True, capture_output=True)
        check(result.returncode == 0, f"promtool check metrics: {result.stdout}{result.stderr}")
        rules = HERE / "packaging/prometheus/pushrouterd.rules.yml"
        for command in (["check", "rules", rules], ["test", "rules", HERE / "Tests/Metrics/rules.test.yml"]):
            result = subprocess.run(["promtool", *command], text=True, capture_output=True)
            check(result.returncode == 0, f"promtool {command[0]} {command[1]}: {result.stdout}{result.stderr}")
    else:
        print("left out: promtool is not installed")


def check_hostile(port):
    """Clients that are slow, many or send too much; a page comes beside each, later where all places are taken."""

    def comes(port):
        try:
            return Page(port, "/").status == 200
        except (OSError, http.client.HTTPException):
            return False

    def rude(count, data):
        clients = [socket.create_connection(("127.0.0.1", port), timeout=60) for _ in range(count)]
        for client in clients:
            try:
                client.sendall(data)
            except OSError:
                pass
        return clients

    for what, count, data in (
        ("headers without an end", 4, b"GET /metrics HTTP/1.1\r\n" + b"X: " + b"a" * 1_000_000),
        ("a body that nobody wants", 4, b"POST /metrics HTTP/1.1\r\nHost: h\r\nContent-Length: 9000000\r\n\r\n" + b"b" * 900_000),
        ("rubbish", 4, bytes(range(256)) * 100),
        ("more clients than there may be, with half a request", 40, b"GET /metrics HTTP/1.1\r\nHo"),
        ("requests whose answers nobody reads", 20, b"GET /metrics HTTP/1.1\r\nHost: h\r\n\r\n" * 300),
    ):
        clients = rude(count, data)
        wait_until(f"a page comes after {what}", lambda: comes(port), 60)
        for client in clients:
            client.close()


def check_dashboard(root, own, query):
    """Each expression of the dashboard, with everything selected, parses, and shows something while the daemon works."""
    dashboard = json.loads((HERE / "packaging/grafana/pushrouterd.json").read_text())
    expressions = {}
    for panel in dashboard["panels"]:
        letters = [target["refId"] for target in panel.get("targets", [])]
        check(len(letters) == len(set(letters)), f"dashboard, {panel['title']}: two queries have one letter")
        for target in panel.get("targets", []):
            expression = re.sub(r"\$(job|instance|handler)\b", ".*", target["expr"])
            expression = expression.replace("$__rate_interval", "1m")
            check("$" not in expression, f"dashboard, {panel['title']}: a variable that nobody knows: {expression}")
            expressions[expression] = panel["title"]
    for variable in dashboard["templating"]["list"]:
        if variable["type"] == "query":
            metric, label = re.fullmatch(r"label_values\((.*), (\w+)\)", variable["query"]["query"]).groups()
            metric = re.sub(r"\$\w+", ".*", metric.removesuffix("}")) + ("," if "{" in metric else "{")
            expressions[f'{metric}{label}!=""}}'] = "$" + variable["name"]
    for expression, title in expressions.items():
        url = f"http://127.0.0.1:{own}/api/v1/query?" + urllib.parse.urlencode({"query": expression})
        try:
            urllib.request.urlopen(url, timeout=30).close()
        except OSError as error:
            check(False, f"dashboard, {title}: {error}: {expression}")
    empty = list(expressions.items())
    end = time.monotonic() + 120
    while empty and time.monotonic() < end:
        # A rate needs two scrapes with requests between them.
        tell_everything(root)
        empty = [(expression, title) for expression, title in empty if not query(expression)]
    for expression, title in empty:
        check(False, f"dashboard, {title}: shows nothing: {expression}")


def check_names(query):
    """Each metric that alerts and dashboard name is one that the daemon tells, and each alert fires in a test."""
    rules = (HERE / "packaging/prometheus/pushrouterd.rules.yml").read_text()
    named = set(re.findall(r"\bpushrouterd_[a-z0-9_]+", rules + (HERE / "packaging/grafana/pushrouterd.json").read_text()))
    for name in sorted(named):
        check(query(name), f"alerts or dashboard name {name}, which the daemon does not tell")
    tests = (HERE / "Tests/Metrics/rules.test.yml").read_text()
    alerts = set(re.findall(r"- alert: (\w+)", rules))
    fired = set(re.findall(r"alertname: (\w+)\n\s+exp_alerts:\n\s+- exp_labels", tests))
    quiet = set(re.findall(r"alertname: (\w+)(?:,|\n\s+)\s*exp_alerts: \[\]", tests))
    check(alerts and alerts == fired, f"alerts that no test sees fire: {sorted(alerts ^ fired)}")
    check(alerts == quiet, f"alerts that no test sees quiet: {sorted(alerts ^ quiet)}")


@contextlib.contextmanager
def scraped_pair(programs):
    """A pair of daemons with an exporter each: the ports of the exporters; nothing where there is no database."""
    if not engine.PROGRAMS:
        print("left out: the names in alerts and dashboard, some of a pair: postgresql is not installed")
        yield []
        return
    with contextlib.ExitStack() as stack:
        # The path of a socket has at most 107 bytes, and postgres must reach its own.
        root = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory(dir="/tmp")))
        root.chmod(0o755)
        database = engine.Engine(root, has_standby=False)
        stack.callback(database.close)
        pair = [nodes.Node(name, root, programs, database.uri, "engine", 1, "device") for name in "ab"]
        engine.run(pair[0].command("--init"))
        ports = []
        for node in pair:
            stack.callback(node.end)
            node.start()
            ports.append(free_port())
            exporter = subprocess.Popen(
                [programs / "pushrouter-metrics", "--runtime", node.root / "run", "--listen",
                 f"127.0.0.1:{ports[-1]}"], stderr=subprocess.DEVNULL)
            stack.callback(exporter.wait)
            stack.callback(exporter.terminate)
        nodes.Pair(pair).wait_whole()
        yield ports


def check_prometheus(root, port, programs):
    if not shutil.which("prometheus"):
        print("left out: prometheus is not installed")
        return
    with scraped_pair(programs) as ports:
        scrape(root, port, ports)


def scrape(root, port, ports):
    """Prometheus scrapes the daemon at the port, and the pair, which is a job of its own, as the rules have it."""
    pair = ", ".join(f"'127.0.0.1:{port}'" for port in ports)
    (root / "prometheus.yml").write_text(
        "global: {scrape_interval: 1s, evaluation_interval: 1s}\n"
        f"rule_files: [{HERE}/packaging/prometheus/pushrouterd.rules.yml]\n"
        "scrape_configs:\n- job_name: pushrouterd\n"
        f"  static_configs: [{{targets: ['127.0.0.1:{port}']}}]\n"
        f"- job_name: pair\n  static_configs: [{{targets: [{pair}]}}]\n")
    own = free_port()
    with open(root / "prometheus.log", "w") as log:
        server = subprocess.Popen(
            ["prometheus", f"--config.file={root}/prometheus.yml", f"--storage.tsdb.path={root}/tsdb",
             f"--web.listen-address=127.0.0.1:{own}"], stdout=log, stderr=log)

    def query(expression):
        url = f"http://127.0.0.1:{own}/api/v1/query?" + urllib.parse.urlencode({"query": expression})
        try:
            with urllib.request.urlopen(url, timeout=30) as answer:
                return [float(r["value"][1]) for r in json.load(answer)["data"]["result"]]
        except (OSError, ValueError):
            return []

    try:
        wait_until("Prometheus has scraped", lambda: query("pushrouterd_up") == [1.0] * (1 + len(ports)), 120)
        check(query('pushrouterd_outcomes_total{job="pushrouterd", outcome="handled"}') == [7.0], "prometheus: outcomes")
        check(query('up{job="pushrouterd"}') == [1.0], "prometheus: the target is not healthy")
        check(len(query('pushrouterd_handler_total_seconds_bucket{handler="good"}')) == 13, "prometheus: buckets")
        check(query('ALERTS{alertname="PushrouterdDown"}') == [], "prometheus: an alert fires")
        if ports:
            check_dashboard(root, own, query)
            check_names(query)
    finally:
        server.terminate()
        server.wait()


def main():
    daemon, exporter = sys.argv[1:3]
    with tempfile.TemporaryDirectory() as directory:
        root = pathlib.Path(directory)
        configure(root)
        port, file = free_port(), root / "push.prom"
        with open(root / "log", "w") as log:
            router = subprocess.Popen(
                [daemon, "--config", root / "config", "--state", root / "state", "--runtime", root / "run"], stderr=log)
            wait_until("the daemon listens", (root / "run/inject.sock").exists)
            programs = pathlib.Path(daemon).resolve().parent
            gateway = subprocess.Popen(
                [programs / "pushrouter-gateway", "--config", root / "config", "--state", root / "gateway", "--runtime",
                 root / "run", "--listen", f"unix:{root}/gateway.sock"], stderr=log)
            wait_until("the gateway listens", (root / "gateway.sock").exists)
            (root / "backups").mkdir()
            server = subprocess.Popen(
                [exporter, "--runtime", root / "run", "--listen", f"127.0.0.1:{port}", "--textfile", file,
                 "--interval", "1", "--gateway", root / "gateway.sock", "--backups", root / "backups"], stderr=log)
        try:
            wait_until("somebody listens", lambda: is_listening(port))
            deliver(root, ["good"] * 7 + ["bad"] * 3 + ["gone"] * 2)
            check(samples(Page(port, "/metrics").text)["pushrouterd_backups"] == 0, "there is a backup")
            backup = [programs / "pushctl", "--config", root / "config", "--state", root / "state", "--runtime",
                      root / "run", "backup", "--keep", "2", root / "backups"]
            for _ in range(3):
                subprocess.run(backup, check=True, stdout=subprocess.DEVNULL)
                # The name of a backup has the second.
                time.sleep(1.1)
            new, old = Page(port, "/metrics", OPEN_METRICS), Page(port, "/metrics")
            check(new.type.startswith("application/openmetrics-text; version=1.0.0"), f"type {new.type}")
            check(old.type.startswith("text/plain; version=0.0.4"), f"type {old.type}")
            check_counts(samples(old.text))
            check_counts(samples(new.text))
            check_readers(new.text, old.text)
            check(Page(port, "/healthz").status == 200, "healthz is not 200")
            wait_until("the file has the counts", lambda: file.exists() and samples(file.read_text()).get(
                "pushrouterd_requests_accepted_total") == 12)
            check_prometheus(root, port, programs)
            send_through_gateway(root)
            check_others(samples(Page(port, "/metrics").text))
            check_others(samples(Page(port, "/metrics", OPEN_METRICS).text))
            check_hostile(port)
            # A stopped daemon accepts connections and does not answer.
            router.send_signal(signal.SIGSTOP)
            stopped = samples(Page(port, "/metrics").text)
            check(of_daemon(stopped) == {"pushrouterd_up": 0}, "metrics of a stopped daemon")
            check(stopped["pushrouterd_gateway_up"] == 1, "the gateway answers while the daemon is stopped")
            check(Page(port, "/healthz").status == 503, "healthz of a stopped daemon is not 503")
            router.send_signal(signal.SIGCONT)
            wait_until("the daemon goes on, and is seen", lambda: samples(Page(port, "/metrics").text)["pushrouterd_up"] == 1)
            router.terminate()
            check(router.wait() == 0, "the daemon did not end well")
            check(of_daemon(samples(Page(port, "/metrics").text)) == {"pushrouterd_up": 0}, "metrics without a daemon")
            gateway.kill()
            gateway.wait()
            check(samples(Page(port, "/metrics").text)["pushrouterd_gateway_up"] == 0, "a gateway that was killed is up")
            check(Page(port, "/healthz").status == 503, "healthz without a daemon is not 503")
            wait_until("the file says so", lambda: of_daemon(samples(file.read_text())) == {"pushrouterd_up": 0})
            server.terminate()
            check(server.wait() == 0, "pushrouter-metrics did not end well")
        finally:
            for process in (router, gateway, server):
                if process.poll() is None:
                    process.kill()
                    process.wait()
    print("metrics: right" if failures == 0 else f"metrics: {failures} things are wrong")
    sys.exit(failures > 0)


main()
