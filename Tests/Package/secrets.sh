# shellcheck shell=bash disable=SC2154,SC2016  # inside.sh has the variables and functions.
# The steps with secrets and certificates: as many ways as they are wrong, and how they are changed. Part of steps.sh.

# receive PORT LOG [CERTIFICATE]: an endpoint in the background. Its log has the key and the signature of each request; its
# answer is 401 to a key other than that in LOG.key.
cat >/opt/receive.py <<'END'
import base64, hashlib, hmac, http.server, pathlib, ssl, sys

class Receiver(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        log = pathlib.Path(sys.argv[2])
        key, given = log.with_suffix(".key"), self.headers.get("Authorization", "")
        signed = f"{self.headers['webhook-id']}.{self.headers['webhook-timestamp']}.".encode() + body
        names = [
            path.name for path in log.parent.glob("*.secret")
            if "v1," + base64.b64encode(
                hmac.digest(base64.b64decode(path.read_text().strip().removeprefix("whsec_")), signed, hashlib.sha256)
            ).decode() in self.headers.get("webhook-signature", "").split()
        ]
        with log.open("a") as file: print(given, *names, file=file)
        good = not key.exists() or given == f"Bearer {key.read_text().strip()}"
        answer = b'{"message":"success"}' if good else b'{"message":"Invalid API Key"}'
        self.send_response((201 if key.exists() else 200) if good else 401)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *words): pass

server = http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Receiver)
if len(sys.argv) > 3:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(sys.argv[3])
    server.socket = context.wrap_socket(server.socket, server_side=True)
server.serve_forever()
END
receive() {
    /usr/bin/python3 /opt/receive.py "$@" &
    receiver=$!
    until_so "the endpoint listens" bash -c "exec 3<>/dev/tcp/127.0.0.1/$1"
}
end_receiver() { kill "$receiver" && { wait "$receiver" 2>/dev/null || true; }; }
# place FILE OWNER: standard input becomes a secret, at once.
place() { install -m 600 -o "$2" /dev/stdin "$1.new" && mv "$1.new" "$1"; }
secret() { printf 'whsec_%s\n' "$(printf '%-24s' "$1" | base64)"; }

step "secrets: the key of the forwarder, a credential, is changed as the message says"
mkdir -p /opt/track /etc/pushrouterd/pushrouterd.conf.d
echo key-one >/opt/track/log.key
receive 18090 /opt/track/log
holds "the forwarder is enabled before it has anything" systemctl enable pushrouter-forward
denies "doctor is content" pushctl doctor --quiet
grep -q 'pushrouter-forward is enabled, and \[UsersTrack\] has no Endpoint=' /tmp/holds.log || fail "doctor does not say it"
printf '[UsersTrack]\nEndpoint=http://127.0.0.1:18090/users/track\nFlush=20ms\n' \
    >/etc/pushrouterd/pushrouterd.conf.d/50-track.conf
holds "the daemon takes the endpoint" systemctl reload "$service"
denies "doctor is content without a key" pushctl doctor --quiet
grep -q 'users-track-key: it is not there' /tmp/holds.log || { cat /tmp/holds.log; fail "doctor does not miss the key"; }
echo key-two | place /etc/pushrouterd/users-track-key root
pushctl log event bought --braze-id anna >/dev/null
holds "the forwarder starts" systemctl start pushrouter-forward
until_so "the endpoint refuses the key" bash -c 'pushctl status | grep -q "answered 401"'
remedy='systemctl restart pushrouter-forward'
for place in 'pushctl status' 'systemctl status pushrouter-forward' 'journalctl -u pushrouter-forward -o cat'; do
    $place | tr -s '\n ' ' ' | grep -q "$remedy" || { $place; fail "$place does not say: $remedy"; }
done
echo key-one | place /etc/pushrouterd/users-track-key root
holds "a reload succeeds" systemctl reload pushrouter-forward
until_so "it says that the key is that of the start" \
    bash -c 'journalctl -u pushrouter-forward -o cat | grep -q "still the credential of the start"'
# shellcheck disable=SC2086  # A command of several words.
holds "the remedy is carried out" $remedy
until_so "the entry is sent" bash -c 'tail -n 1 /opt/track/log | grep -q key-one'
denies "a message has a key" bash -c 'journalctl -o cat | grep -E "key-(one|two)"'
end_receiver

step "secrets: a file as the key of the forwarder, owned by its user, is taken by a reload"
echo key-three >/opt/track/log.key
receive 18090 /opt/track/log
echo key-one | place /etc/pushrouterd/track.key root
echo KeyFile=/etc/pushrouterd/track.key >>/etc/pushrouterd/pushrouterd.conf.d/50-track.conf
denies "doctor is content with a key of root's" pushctl doctor --quiet
grep -q 'do: chown pushrouter-forward /etc/pushrouterd/track.key' /tmp/holds.log || { cat /tmp/holds.log; fail "no remedy"; }
chown pushrouter-forward /etc/pushrouterd/track.key
holds "it restarts with the file" systemctl restart pushrouter-forward
pushctl log event bought --braze-id anna >/dev/null
until_so "the endpoint refuses the key" bash -c 'pushctl status | grep -q "systemctl reload pushrouter-forward"'
echo key-three | place /etc/pushrouterd/track.key pushrouter-forward
holds "the remedy is carried out" systemctl reload pushrouter-forward
until_so "the entry is sent" bash -c 'tail -n 1 /opt/track/log | grep -q key-three'
end_receiver
systemctl disable --now pushrouter-forward 2>/dev/null
rm /etc/pushrouterd/pushrouterd.conf.d/50-track.conf /etc/pushrouterd/{track.key,users-track-key}

step "secrets: the signing secret of an http handler, and a certificate that ends and is renewed"
mkdir -p /opt/hook/authority
authority=/opt/hook/authority
openssl req -x509 -newkey rsa:2048 -nodes -days 9 -subj /CN=authority -keyout $authority/key.pem -out /opt/hook/ca.pem 2>/dev/null
printf '%s\n' '[ca]' default_ca=c '[c]' database=$authority/index serial=$authority/serial new_certs_dir=$authority \
    default_md=sha256 policy=p copy_extensions=copy unique_subject=no '[p]' commonName=supplied >$authority/ca.conf
: >$authority/index
echo 01 >$authority/serial
# certificate FROM UNTIL FILE: a certificate for localhost, with its key.
certificate() {
    openssl req -new -newkey rsa:2048 -nodes -subj /CN=localhost -addext subjectAltName=DNS:localhost \
        -keyout $authority/server.pem -out $authority/request.pem 2>/dev/null
    openssl ca -batch -config $authority/ca.conf -cert /opt/hook/ca.pem -keyfile $authority/key.pem -startdate "$1" -enddate "$2" \
        -in $authority/request.pem -notext -out $authority/certificate.pem 2>/dev/null
    cat $authority/server.pem $authority/certificate.pem >"$3"
}
certificate 20200101000000Z 20200201000000Z /opt/hook/ended.pem
certificate 20200101000000Z 20990101000000Z /opt/hook/renewed.pem
secret one | tee /opt/hook/one.secret | place /etc/pushrouterd/hook.secret root
secret two >/opt/hook/two.secret
printf '[Handler]\nType=http\nURL=https://localhost:18091/\nSecretFile=/etc/pushrouterd/hook.secret\nCAFile=/opt/hook/ca.pem\n' \
    >/etc/pushrouterd/handlers.d/hook.handler
route hook
echo -e '[Daemon]\nHTTPSocket=/run/pushrouter-http.sock' >/etc/pushrouterd/pushrouterd.conf.d/50-http.conf
hook() { pushctl inject --app hook --wait - <<<'{"data":{}}'; }
export -f hook
holds "the daemon restarts with the socket" systemctl restart "$service"
denies "doctor is content without the socket" pushctl doctor --quiet
grep -q 'do: systemctl enable --now pushrouter-http.socket' /tmp/holds.log || { cat /tmp/holds.log; fail "no remedy"; }
holds "the remedy is carried out" systemctl enable --now pushrouter-http.socket
denies "doctor is content with a secret of root's" pushctl doctor --quiet
grep -q 'do: chown pushrouter-http /etc/pushrouterd/hook.secret' /tmp/holds.log || { cat /tmp/holds.log; fail "no remedy"; }
holds "the remedy is carried out" chown pushrouter-http /etc/pushrouterd/hook.secret
receive 18091 /opt/hook/log /opt/hook/ended.pem
holds "a certificate that has ended is the reason" bash -c 'hook | grep -i "failed.*certificate"'
end_receiver
receive 18091 /opt/hook/log /opt/hook/renewed.pem
until_so "with the renewed one the push is handled, without a restart" bash -c 'hook | grep -q handled'
tail -n 1 /opt/hook/log | grep -q one.secret || fail "it is not signed with the first secret: $(tail -n 1 /opt/hook/log)"
place /etc/pushrouterd/hook.secret pushrouter-http </opt/hook/two.secret
until_so "the next push is signed with the new secret" bash -c 'hook >/dev/null; tail -n 1 /opt/hook/log | grep -q two.secret'
end_receiver
systemctl disable --now pushrouter-http.socket pushrouter-http.service 2>/dev/null
rm /etc/pushrouterd/{hook.secret,handlers.d/hook.handler,routes.d/50-hook.route,pushrouterd.conf.d/50-http.conf}
holds "the daemon restarts without it" systemctl restart "$service"

step "secrets: the token of the page, which a person may write in place of its file"
mkdir -p /etc/pushrouterd/web.conf.d
echo -e '[Web]\nToken=hush-0123456789abcdef' >/etc/pushrouterd/web.conf.d/50-token.conf
denies "verify is content with it" pushctl verify
denies "the page starts with it" systemctl start pushrouter-web.service
denies "a message has the token" bash -c 'journalctl -o cat | grep hush'
echo first-0123456789ab | place /etc/pushrouterd/web.token root
echo -e '[Web]\nToken=/etc/pushrouterd/web.token' >/etc/pushrouterd/web.conf.d/50-token.conf
systemctl reset-failed pushrouter-web.service pushrouter-web.socket 2>/dev/null || true
denies "doctor is content with a token of root's" pushctl doctor --quiet
grep -q 'do: chown pushrouter-web /etc/pushrouterd/web.token' /tmp/holds.log || { cat /tmp/holds.log; fail "no remedy"; }
holds "the remedy is carried out" chown pushrouter-web /etc/pushrouterd/web.token
holds "the page starts" systemctl start pushrouter-web.socket pushrouter-web.service
shown() { curl -s -o /dev/null -w '%{http_code}' -H "Authorization: Bearer $1" http://127.0.0.1:18080/api/pushes; }
[[ $(shown first-0123456789ab) == 200 && $(shown other-0123456789ab) == 401 ]] || fail "the token is not asked for"
echo second-0123456789a | place /etc/pushrouterd/web.token pushrouter-web
holds "it restarts" systemctl restart pushrouter-web
[[ $(shown first-0123456789ab) == 401 && $(shown second-0123456789a) == 200 ]] || fail "the old token is still good"
systemctl stop pushrouter-web.socket pushrouter-web.service
rm -r /etc/pushrouterd/web.conf.d /etc/pushrouterd/web.token

step "secrets: a key of Apple's at the gateway"
mkdir -p /etc/pushrouterd/gateway.conf.d /etc/pushrouterd/apple
echo -e '[Gateway]\nProvider=strict\nKeys=/etc/pushrouterd/apple' >/etc/pushrouterd/gateway.conf.d/50-keys.conf
for key in OLD4567890 NEW4567890; do
    openssl ecparam -name prime256v1 -genkey -noout | openssl pkcs8 -topk8 -nocrypt >"/opt/$key.p8"
done
place /etc/pushrouterd/apple/AuthKey_OLD4567890.p8 root </opt/OLD4567890.p8
denies "doctor is content with a key of root's" pushctl doctor --quiet
grep -q 'do: chown pushrouter-gateway /etc/pushrouterd/apple/AuthKey_OLD4567890.p8' /tmp/holds.log ||
    { cat /tmp/holds.log; fail "no remedy"; }
holds "the remedy is carried out" chown pushrouter-gateway /etc/pushrouterd/apple/AuthKey_OLD4567890.p8
holds "the gateway starts" systemctl start pushrouter-gateway.socket pushrouter-gateway.service
# apple KEY: the status of a push with a provider token that this key signs.
apple() {
    local token
    token=$(/usr/bin/python3 - "$1" <<'END'
import base64, json, subprocess, sys, time
def text(data): return base64.urlsafe_b64encode(data).rstrip(b"=")
head = text(json.dumps({"alg": "ES256", "kid": sys.argv[1]}).encode())
claims = text(json.dumps({"iss": "TEAM456789", "iat": int(time.time())}).encode())
der = subprocess.run(["openssl", "dgst", "-sha256", "-sign", f"/opt/{sys.argv[1]}.p8"], input=head + b"." + claims,
                     capture_output=True, check=True).stdout
first = der[4:4 + der[3]]
second = der[6 + der[3]:]
raw = b"".join(number.lstrip(b"\0").rjust(32, b"\0") for number in (first, second))
print((head + b"." + claims + b"." + text(raw)).decode())
END
    )
    curl -s -o /tmp/apple -w '%{http_code}' --http2 --cacert /var/lib/pushrouter-gateway/ca.pem \
        --connect-to api.push.apple.com:443:127.0.0.1:18443 -H "authorization: bearer $token" -H 'apns-topic: org.example' \
        -H 'apns-push-type: alert' "https://api.push.apple.com/3/device/$(printf 'ab%.0s' {1..32})" -d '{"aps":{"alert":"Hi"}}'
}
[[ $(apple OLD4567890) == 200 ]] || { cat /tmp/apple; fail "the first key is not taken"; }
[[ $(apple NEW4567890) == 403 ]] || { cat /tmp/apple; fail "a key that is not there is taken"; }
rm /etc/pushrouterd/apple/AuthKey_OLD4567890.p8
place /etc/pushrouterd/apple/AuthKey_NEW4567890.p8 pushrouter-gateway </opt/NEW4567890.p8
holds "a reload takes the new key" systemctl reload pushrouter-gateway
until_so "the new key is good" bash -c "$(declare -f apple)"'; [[ $(apple NEW4567890) == 200 ]]'
[[ $(apple OLD4567890) == 403 ]] || { cat /tmp/apple; fail "the old key is still good"; }
systemctl stop pushrouter-gateway.socket pushrouter-gateway.service
rm -r /etc/pushrouterd/gateway.conf.d /etc/pushrouterd/apple
