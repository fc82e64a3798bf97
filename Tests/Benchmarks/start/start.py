"""start.py DIRECTORY IDS: measures starts of the daemon; DIRECTORY holds the built load."""
import os, signal, socket, sqlite3, subprocess, sys, time

work, ids = sys.argv[1], int(sys.argv[2])
state, runtime, config = f"{work}/state", f"{work}/runtime", f"{work}/config"
ROUNDS = 5


def write(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as file:
        file.write(text)


class Daemon:
    """A daemon that is ready; it tells how long that took."""

    def __init__(self):
        os.makedirs(runtime, exist_ok=True)
        path = f"{work}/notify"
        if os.path.exists(path):
            os.unlink(path)
        notify = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        notify.bind(path)
        notify.settimeout(60)
        begun = time.monotonic()
        self.process = subprocess.Popen(
            [".build/release/pushrouterd", "--config", config, "--state", state, "--runtime", runtime],
            env={"NOTIFY_SOCKET": path}, stderr=subprocess.DEVNULL)
        while b"READY=1" not in notify.recv(4096):
            pass
        self.milliseconds = (time.monotonic() - begun) * 1000
        notify.close()

    def memory(self):
        """What of its memory is anonymous, in MiB."""
        with open(f"/proc/{self.process.pid}/smaps_rollup") as rollup:
            fields = dict(line.split(":") for line in list(rollup)[1:])
        return {name: int(fields[name].split()[0]) / 1024 for name in ("Anonymous", "Rss")}

    def end(self, number=signal.SIGTERM):
        self.process.send_signal(number)
        self.process.wait()

    def load(self, connections, window, count, line):
        write(f"{work}/line", line + "\n")
        print("   ", subprocess.check_output(
            [f"{work}/load", f"{runtime}/inject.sock", str(connections), str(window), f"{count}r", f"{work}/line"],
            text=True).strip())


def tell(what, starts, memory):
    starts.sort()
    print(f"{what}: ready after {starts[len(starts) // 2]:.1f} ms (median of {len(starts)}), "
          f"anonymous memory {memory['Anonymous']:.1f} MiB, resident {memory['Rss']:.1f} MiB")


write(f"{config}/pushrouterd.conf", "[Dispatch]\nRequestsInFlightMax=60000\nRequestsInFlightMaxPerPeer=60000\n")
write(f"{config}/handlers.d/hang.handler", f"[Handler]\nType=exec\nExec={work}/sleep 60\nIdempotent=yes\n")
write(f"{config}/handlers.d/journal.handler", "[Handler]\nType=journal\n")
write(f"{config}/routes.d/10-hang.route", "[Match]\nApp=hang\n[Route]\nHandler=hang\n")
write(f"{config}/routes.d/90-rest.route", "[Match]\n[Route]\nHandler=journal\n")

# Its own name: so no other program's is killed.
os.symlink("/bin/sleep", f"{work}/sleep")

starts = []
for _ in range(ROUNDS):
    subprocess.run(["rm", "-rf", state])
    daemon = Daemon()
    starts.append(daemon.milliseconds)
    memory = daemon.memory()
    daemon.end()
tell("empty", starts, memory)

daemon = Daemon()
payload = open("Tests/Benchmarks/ingest/payload.json").read().replace("\n", "")
daemon.load(8, 64, 100_000, '{"op":"deliver","id":"@-#","platform":"android","app":"shop","device":"device-@","payload":%s}' % payload)
time.sleep(12)
print(f"    after 100,000 deliveries, 12 s later: {daemon.memory()['Anonymous']:.1f} MiB anonymous")
daemon.end()
starts = []
for _ in range(ROUNDS):
    daemon = Daemon()
    starts.append(daemon.milliseconds)
    memory = daemon.memory()
    daemon.end()
tell("delivered", starts, memory)

database = sqlite3.connect(f"{state}/ledger.db", isolation_level=None)
columns = [row[1] for row in database.execute("PRAGMA table_info(request_rows)")]
template = list(database.execute("SELECT * FROM request_rows ORDER BY seq LIMIT 1").fetchone())
template[columns.index("body")] = b"{}"
highest = database.execute("SELECT max(seq) FROM requests").fetchone()[0]
seq, identifier = columns.index("seq"), columns.index("id")
database.execute("PRAGMA synchronous = OFF")
database.execute("BEGIN")
rows = (template[:seq] + [highest + n] + template[seq + 1:] for n in range(1, ids + 1))
rows = (row[:identifier] + [f"z-{row[seq]:012}"] + row[identifier + 1:] for row in rows)
database.executemany(f"INSERT INTO request_rows VALUES ({','.join('?' * len(columns))})", rows)
database.execute("UPDATE meta SET highest_seq = (SELECT max(seq) FROM requests)")
database.execute("COMMIT")
database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
database.close()
starts = []
for _ in range(3):
    daemon = Daemon()
    daemon.load(8, 64, 50_000, '{"op":"deliver","platform":"android","app":"hang","device":"d-@-#","payload":{"data":{"k":"v","text":"%s"}}}' % ("x" * 500))
    daemon.end(signal.SIGKILL)
    subprocess.run(["pkill", "-9", "-f", f"^{work}/sleep 60"])
    # Writes the load's dirty pages to disk now, so that the measured start does not wait for them.
    os.sync()
    daemon = Daemon()
    starts.append(daemon.milliseconds)
    memory = daemon.memory()
    # The unfinished invocations miss their deadlines during this sleep.
    time.sleep(12)
    later = daemon.memory()
    daemon.end()
tell("full", starts, memory)
print(f"    12 s later {later['Anonymous']:.1f} MiB anonymous, the filter of ids among it")
