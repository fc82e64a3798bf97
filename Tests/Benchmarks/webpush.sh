#!/usr/bin/env bash
# Measures web pushes a second through the gateway beside sends of FCM, over TLS and HTTP/2, each answered when it is on
# disk, by h2load with the same connections and streams, alternately: with a proof of the sender (VAPID), without one, and
# without a body. The differences are the check of a signature, and the decryption.
#
#   Tests/Benchmarks/webpush.sh [ROUNDS] [REQUESTS] [CONNECTIONS] [STREAMS]
#
# Needs nghttp2-client. BUILD=DIR takes the programs from there, and builds nothing.
set -euo pipefail
cd "$(dirname "$0")/../.."
rounds=${1:-3} requests=${2:-20000} connections=${3:-8} streams=${4:-32}
work=$(mktemp -d "${WORK:-/var/tmp}/pushrouterd-webpush.XXXXXX")
daemon='' gateway=''
trap 'kill $daemon $gateway 2>/dev/null || true; wait 2>/dev/null || true; rm -rf "$work"' EXIT

build=${BUILD:-.build/release}
[[ -n ${BUILD:-} ]] || swift build -c release >&2
port=$((20000 + RANDOM % 10000))
mkdir -p "$work/config/handlers.d" "$work/config/routes.d" "$work/runtime" "$work/gateway"
printf '[Handler]\nType=discard\n' >"$work/config/handlers.d/nobody.handler"
printf '[Match]\n[Route]\nHandler=nobody\n' >"$work/config/routes.d/05-nobody.route"
openssl ecparam -name prime256v1 -genkey -noout -out "$work/vapid.pem"
# The recorded push of Node's web-push, with the secret of its subscription, and a proof of now.
python3 - "$work" "$port" <<'END'
import base64, json, os, subprocess, sys, time
work, port = sys.argv[1:]
recorded = json.load(open("Tests/Fixtures/recordings/webpush/node-web-push-3.6.7.json"))
step = [step for step in recorded["steps"] if step["step"] == "without a proof"][0]
text = lambda data: base64.urlsafe_b64encode(data).decode().rstrip("=")
os.umask(0o077)
open(f"{work}/gateway/webpush.key", "wb").write(base64.urlsafe_b64decode(recorded["secret"] + "="))
open(f"{work}/body", "wb").write(base64.b64decode(step["body"]))
open(f"{work}/id", "w").write(step["endpoint"].split("/")[-1])
claims = {"aud": f"https://127.0.0.1:{port}", "exp": int(time.time()) + 3600, "sub": "mailto:a@example.com"}
token = ".".join(text(json.dumps(part).encode()) for part in [{"typ": "JWT", "alg": "ES256"}, claims])
der = subprocess.run(["openssl", "dgst", "-sha256", "-sign", f"{work}/vapid.pem"], input=token.encode(), capture_output=True, check=True).stdout
first = der[4:4 + der[3]]
second = der[6 + der[3]:]
signature = b"".join(number[-32:].rjust(32, b"\0") for number in [first, second])
point = subprocess.run(["openssl", "ec", "-in", f"{work}/vapid.pem", "-pubout", "-outform", "DER"], capture_output=True, check=True).stdout[-65:]
open(f"{work}/proof", "w").write(f"vapid t={token}.{text(signature)}, k={text(point)}")
END
"$build/pushrouterd" --config "$work/config" --state "$work/state" --runtime "$work/runtime" 2>"$work/journal" &
daemon=$!
until [[ -S $work/runtime/inject.sock ]]; do sleep 0.01; done
"$build/pushrouter-gateway" --config "$work/config" --state "$work/gateway" --runtime "$work/runtime" \
    --listen "127.0.0.1:$port" 2>"$work/gateway.log" &
gateway=$!
until curl -sf "http://127.0.0.1:$port/leader" >/dev/null; do sleep 0.01; done
"$build/pushctl" token --runtime "$work/runtime" --platform web --app shop --device chrome "$(cat "$work/id")" >/dev/null
printf '{"message":{"token":"tok1","data":{"title":"Node","ab_cu":"x"},"android":{"priority":"high"}}}' >"$work/fcm"

used() { for process; do awk '{ print ($14 + $15) * 10 }' "/proc/$process/stat"; done | awk '{ sum += $1 } END { print sum }'; }
# load NAME PATH OPTION...: requests a second, and the processor time of gateway and daemon for one.
load() {
    local name=$1 path=$2 gateway_before daemon_before rate
    shift 2
    gateway_before=$(used "$gateway") daemon_before=$(used "$daemon")
    h2load -n "$requests" -c "$connections" -m "$streams" "$@" "https://127.0.0.1:$port$path" >"$work/load"
    grep -q "status codes: $requests 2xx" "$work/load" || { cat "$work/load" >&2; exit 1; }
    rate=$(sed -n 's/^finished in [^,]*, \([0-9.]*\) req.*/\1/p' "$work/load")
    awk -v name="$name" -v rate="$rate" -v n="$requests" -v g="$(($(used "$gateway") - gateway_before))" \
        -v d="$(($(used "$daemon") - daemon_before))" \
        'BEGIN { printf "  %-22s %8.0f/s, gateway %6.1f us, daemon %6.1f us\n", name, rate, g * 1000 / n, d * 1000 / n }'
}
push=/push/$(cat "$work/id")
for ((round = 1; round <= rounds; round++)); do
    echo "round $round"
    load "FCM" /v1/projects/demo/messages:send -d "$work/fcm" -H 'content-type: application/json'
    load "web push with a proof" "$push" -d "$work/body" -H 'ttl: 60' -H 'content-encoding: aes128gcm' -H "authorization: $(cat "$work/proof")"
    load "without a proof" "$push" -d "$work/body" -H 'ttl: 60' -H 'content-encoding: aes128gcm'
    load "without a body" "$push" -H ':method: POST' -H 'ttl: 60'
done
