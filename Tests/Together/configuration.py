"""The daemon's configuration: handlers of all kinds with their routes, tracks, and changes of them by the seed."""

import os

BUDGET_MS = 1500
# The longest request, in bytes, for which a log of the smallest size has room.
REQUEST_LENGTH = 15 << 20
# The handlers that own payloads, and those that get copies, with their kinds.
OWNERS = {
    "run": "exec", "break": "exec", "narrow": "exec", "gone": "exec", "work": "worker", "pipe": "worker",
    "sock": "socket", "once": "socket", "web": "http", "desk": "notify", "swap": "exec",
}
OBSERVERS = {"watch-run": "exec", "watch-work": "worker", "watch-sock": "socket"}
KINDS = {**OWNERS, **OBSERVERS}
# The possible ends of a run, by the kind of the handler.
ENDS = {
    "exec": "ok fail retry decline die stall garbage noise leave close answer slow",
    "worker": (
        "ok fail retry decline die exit last stall garbage half wrong twice long noise close deaf leave answer slow"),
    "socket": "ok fail retry decline die exit reset last stall garbage half long wrong twice close odd answer slow",
    "http": "ok fail retry decline die exit reset last stall garbage half long wrong twice close odd answer slow",
    "notify": "ok refuse stall slow click action dismiss die",
    "track": "ok fail odd retry wrong die exit reset stall half garbage last slow",
}
ENDS = {kind: ends.split() for kind, ends in ENDS.items()}
# Longer than any deadline, so that only the daemon ends it; short enough to end soon if the daemon does not.
STALL = 40


class Configuration:
    def __init__(self, root, ports):
        self.root, self.ports = root, ports
        self.mode = "relay"
        self.kinds = dict(KINDS)
        self.removed = set()
        self.keys = {name: {} for name in KINDS}
        self.version = 0
        self.is_bare = False
        self.has_catch = True

    # Changes

    def change(self, generator, name=None):
        """Gives a handler other keys: its instances end, and others start."""
        name = name or generator.choice(sorted(KINDS))
        kind, keys = self.kinds[name], {}
        self.version += 1
        if generator.random() < 0.5:
            keys["MaxConcurrent"] = generator.choice((1, 2, 8))
        if generator.random() < 0.3:
            keys["Retry"] = generator.choice((0, 1, 3))
        if kind in ("exec", "worker"):
            keys["Environment"] = f"VERSION={self.version}"
            keys["LogOutput"] = generator.choice(("yes", "no"))
        if kind != "notify":
            keys["Idempotent"] = generator.choice(("yes", "no"))
        if kind in ("worker", "socket"):
            keys["Instances"] = generator.choice((1, 2, 4))
            keys["IdleTimeout"] = generator.choice(("1s", "5s", "5min"))
            if name != "once":
                keys["Pipeline"] = generator.choice((1, 1, 3))
        if kind == "exec":
            keys["Grace"] = generator.choice(("", "300ms"))
        if kind == "notify":
            keys["Expire"] = generator.choice(("5s", "infinity"))
        if name == "break":
            keys["Breaker"] = generator.choice(("", "2 in 10s"))
        self.keys[name] = keys

    def remove(self, generator):
        """Takes a handler away, or brings one back."""
        if self.removed and generator.random() < 0.6:
            self.removed.remove(generator.choice(sorted(self.removed)))
        else:
            self.removed.add(generator.choice(sorted(KINDS)))

    def turn(self, generator):
        """Another mode, another kind under the same name, a route less."""
        what = generator.choice(("mode", "kind", "kind", "catch"))
        if what == "mode":
            self.mode = "device" if self.mode == "relay" else "relay"
        elif what == "kind":
            self.kinds["swap"] = generator.choice(
                [kind for kind in ("exec", "worker", "socket") if kind != self.kinds["swap"]])
            self.keys["swap"] = {}
        else:
            self.has_catch = not self.has_catch

    def has_worker(self, name):
        return not self.is_bare and self.kinds.get(name) == "worker" and name not in self.removed

    def version_of(self, name):
        """What is in the environment of the handler's programs; nothing before the first change."""
        return self.keys[name].get("Environment", "VERSION=0").removeprefix("VERSION=")

    def instances(self, name):
        return int(self.keys[name].get("Instances", 3 if name == "pipe" else 1))

    # Files

    def handler(self, name):
        kind, root = self.kinds[name], self.root
        lines = {"Type": kind}
        if kind == "exec":
            lines["Exec"] = "/nonexistent/program" if name == "gone" else f"{root}/bin/exec.sh {STALL} {root}/ran"
        elif kind == "worker":
            lines["Exec"] = f"{root}/bin/worker.sh {STALL}"
            if name == "pipe":
                lines.update(Instances=3, Pipeline=4, Idempotent="yes")
        elif kind == "socket":
            lines["Connect"] = f"{root}/{'once' if name == 'once' else 'sock'}.sock"
            lines["Instances"] = 2
            if name == "once":
                lines.update(OneInvocation="yes", Instances=4)
        elif kind == "http":
            lines["URL"] = f"http://127.0.0.1:{self.ports['web']}/hook"
        elif kind == "notify":
            lines["Bus"] = f"unix:path={root}/bus"
        if name == "break":
            lines.update(Breaker="3 in 30s", BreakerPause="1s")
        if name == "narrow":
            lines.update(MaxConcurrent=1, Queue=2)
        lines.update(self.keys[name])
        environment = lines.pop("Environment", "VERSION=0")
        text = "[Handler]\n" + "".join(f"{key}={value}\n" for key, value in lines.items())
        if kind in ("exec", "worker"):
            text += f"Environment=TOGETHER={root} {environment}\n"
        return text

    def files(self):
        """The text of each file, by its path below the directory."""
        endpoint = f"http://127.0.0.1:{self.ports['track']}"
        files = {
            "pushrouterd.conf": f"""[Daemon]
RequestLengthMax={REQUEST_LENGTH}
InputSizeMax=64M
InputSizeMaxPerPeer=64M
[Store]
LogSizeMax=64M
[Dispatch]
Mode={self.mode}
HandlersMax=16
[Deadline]
Budget={BUDGET_MS}ms
Objective=99%
[UsersTrack]
Endpoint={endpoint}
KeyFile={self.root}/key
BatchSize=10
Flush=200ms
Timeout=1s
[Tracker]
Grace=1s
""",
            "handlers.d/journal.handler": "[Handler]\nType=journal\n",
            "routes.d/99-default.route": "[Route]\nHandler=journal\n",
        }
        if self.is_bare:
            return files
        files["tracks.d/50-received.track"] = (
            "[Track]\nOn=received\n[Identifier]\nExternalID=external_id\n[Event]\nName=received\n"
            "Property=mark string data:mark\nProperty=end string data:end\n")
        files["tracks.d/60-opened.track"] = (
            "[Track]\nOn=opened action dismissed\n[Identifier]\nExternalID=external_id\n[Event]\nName=acted\n"
            "Property=kind string occasion\n")
        files["handlers.d/catch.handler"] = "[Handler]\nType=exec\nExec=/bin/true\n"
        if self.has_catch:
            files["routes.d/80-catch.route"] = "[Match]\nData=job\n[Route]\nHandler=catch\n"
        for name in KINDS:
            if name in self.removed:
                continue
            files[f"handlers.d/{name}.handler"] = self.handler(name)
            if name in OBSERVERS:
                files[f"routes.d/10-{name}.route"] = f"[Match]\nData={name}\n[Route]\nHandler={name}\nObserve=yes\n"
            else:
                files[f"routes.d/30-{name}.route"] = f"[Match]\nData=job {name}\n[Route]\nHandler={name}\n" + (
                    "Deadline=300ms\n" if name == "work" else "")
        for name in {"work", "sock", "run"} - self.removed:
            files[f"routes.d/70-tokens-{name}.route"] = (
                f"[Match]\nCallback=onNewToken onRegistered onUnregistered didRegister\n[Route]\nHandler={name}\n")
        return files

    def write(self, broken=None):
        """Replaces the files; `broken` is one that has an error then."""
        key = self.root / "key"
        if not key.exists():
            key.touch(mode=0o600)
            key.write_text("key-of-tests\n")
        directory = self.root / "config"
        files = self.files()
        if broken:
            files[broken] = "[Handler]\nType=magic\n"
        for folder in ("handlers.d", "routes.d", "tracks.d"):
            (directory / folder).mkdir(exist_ok=True)
            for path in (directory / folder).iterdir():
                if f"{folder}/{path.name}" not in files:
                    path.unlink()
        for name, text in files.items():
            path = directory / name
            if not path.exists() or path.read_text() != text:
                temporary = path.with_name("." + path.name)
                temporary.write_text(text)
                os.replace(temporary, path)
