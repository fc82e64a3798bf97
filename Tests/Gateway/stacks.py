#!/usr/bin/env python3
"""A certificate for a foreign name, signed with the gateway's own authority, is refused by stacks of TLS that do not share code.

stacks.py [--programs DIR]

The gateway makes its authority. OpenSSL's program signs two servers with its key: fcm.googleapis.com, and bank.example,
which the name constraints do not permit. Each stack must take the first one and refuse the second. A stack that is not
installed is "not tested".
"""
import argparse
import os
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
import threading
import time

GOOD, BAD = "fcm.googleapis.com", "bank.example"
JAVA = """
import java.io.*; import java.net.*; import java.security.*; import java.security.cert.*; import javax.net.ssl.*;
class Client { public static void main(String[] a) throws Exception {
  KeyStore store = KeyStore.getInstance("PKCS12"); store.load(null);
  int count = 0;
  for (java.security.cert.Certificate c : CertificateFactory.getInstance("X.509").generateCertificates(new FileInputStream(a[2])))
    store.setCertificateEntry("ca" + count++, c);
  TrustManagerFactory trust = TrustManagerFactory.getInstance("PKIX"); trust.init(store);
  SSLContext context = SSLContext.getInstance("TLS"); context.init(null, trust.getTrustManagers(), null);
  Socket plain = new Socket("127.0.0.1", Integer.parseInt(a[1]));
  SSLSocket s = (SSLSocket) context.getSocketFactory().createSocket(plain, a[0], plain.getPort(), true);
  SSLParameters p = s.getSSLParameters(); p.setEndpointIdentificationAlgorithm("HTTPS"); s.setSSLParameters(p);
  try { s.startHandshake(); } catch (SSLException e) { System.err.println(e); System.exit(1); }
} }
"""
NODE = """
const [host, port, ca] = process.argv.slice(2);
const s = require('tls').connect({host: '127.0.0.1', port: +port, servername: host, ca: require('fs').readFileSync(ca)},
  () => { s.destroy(); process.exit(0); });
s.on('error', e => { console.error(e.message); process.exit(1); });
"""


def make_authority(programs, root):
    """The gateway's state directory, as its first start leaves it."""
    gateway = subprocess.Popen(
        [f"{programs}/pushrouter-gateway", "--config", root, "--runtime", root, "--state", f"{root}/gateway",
         "--listen", f"unix:{root}/gateway.sock"], stderr=subprocess.DEVNULL)
    end = time.monotonic() + 60
    while not os.path.exists(f"{root}/gateway.sock"):
        if time.monotonic() > end or gateway.poll() is not None:
            sys.exit("the gateway does not start")
        time.sleep(0.02)
    gateway.send_signal(signal.SIGTERM)
    gateway.wait(30)


def sign(root, host):
    """A server's certificate by the authority's key, and the context of a server that has it."""
    def openssl(*words):
        subprocess.run(["openssl", *words], check=True, capture_output=True)

    openssl("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", f"{root}/{host}.key",
            "-out", f"{root}/{host}.csr", "-subj", "/CN=server")
    with open(f"{root}/{host}.ext", "w") as file:
        file.write(f"basicConstraints=critical,CA:FALSE\nsubjectAltName=DNS:{host}\nextendedKeyUsage=serverAuth\n"
                   "keyUsage=critical,digitalSignature\n")
    openssl("x509", "-req", "-in", f"{root}/{host}.csr", "-CA", f"{root}/gateway/ca.key", "-CAkey",
            f"{root}/gateway/ca.key", "-CAcreateserial", "-CAserial", f"{root}/serial", "-out", f"{root}/{host}.crt",
            "-days", "5", "-extfile", f"{root}/{host}.ext")
    openssl("x509", "-in", f"{root}/gateway/ca.key", "-out", f"{root}/issuer.pem")
    with open(f"{root}/{host}.crt", "a") as chain:
        chain.write(open(f"{root}/issuer.pem").read())
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(f"{root}/{host}.crt", f"{root}/{host}.key")
    return context


def serve(context):
    """Ends TLS for each connection, and answers whatever it says. Returns the port."""
    listener = socket.create_server(("127.0.0.1", 0))

    def answer(connection):
        try:
            with context.wrap_socket(connection, server_side=True) as session:
                session.settimeout(10)
                if session.recv(65536):
                    session.sendall(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\nconnection: close\r\n\r\n")
        except OSError:
            pass

    def accept():
        while True:
            threading.Thread(target=answer, args=(listener.accept()[0],), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    return listener.getsockname()[1]


def ran(*words, **more):
    ended = subprocess.run(words, capture_output=True, text=True, timeout=60, **more)
    return ended.returncode == 0, (ended.stderr + ended.stdout).strip()


def openssl_verify(host, port, root):
    return ran("openssl", "verify", "-no-CAfile", "-no-CApath", "-purpose", "sslserver", "-verify_hostname", host, "-trusted",
               f"{root}/gateway/ca.pem", "-untrusted", f"{root}/{host}.crt", f"{root}/{host}.crt")


def python(host, port, root):
    context = ssl.create_default_context(cafile=f"{root}/gateway/ca.pem")
    try:
        with socket.create_connection(("127.0.0.1", port)) as plain, context.wrap_socket(plain, server_hostname=host):
            return True, ""
    except ssl.SSLError as error:
        return False, str(error)


def curl(host, port, root):
    return ran("curl", "-sS", "--noproxy", "*", "--cacert", f"{root}/gateway/ca.pem", "--resolve", f"{host}:{port}:127.0.0.1",
               f"https://{host}:{port}/")


# The program curl is linked with one libcurl. The test calls the other builds of it directly: CURLOPT_URL, _CAINFO,
# _RESOLVE, _PROXY, _CAPATH; exit status 0 or the library's error text.
LIBCURL = """
import ctypes, sys
path, host, port, ca = sys.argv[1:]
curl = ctypes.CDLL(path)
curl.curl_easy_init.restype = curl.curl_slist_append.restype = ctypes.c_void_p
curl.curl_slist_append.argtypes = [ctypes.c_void_p, ctypes.c_char_p]
curl.curl_easy_perform.argtypes = [ctypes.c_void_p]
curl.curl_easy_strerror.restype = ctypes.c_char_p
easy = ctypes.c_void_p(curl.curl_easy_init())
names = ctypes.c_void_p(curl.curl_slist_append(None, f"{host}:{port}:127.0.0.1".encode()))
for option, value in [(10002, f"https://{host}:{port}/".encode()), (10065, ca.encode()), (10004, b""), (10097, None)]:
    curl.curl_easy_setopt(easy, option, ctypes.c_char_p(value))
curl.curl_easy_setopt(easy, 10203, names)
code = curl.curl_easy_perform(easy)
print(curl.curl_easy_strerror(code).decode(), file=sys.stderr)
sys.exit(1 if code else 0)
"""


def libcurl(library):
    def client(host, port, root):
        return ran(sys.executable, "-c", LIBCURL, f"/usr/lib/x86_64-linux-gnu/{library}.so.4", host, str(port),
                   f"{root}/gateway/ca.pem")
    return client


def wget(host, port, root):
    # Debian's wget is built with GnuTLS. It has no --resolve: a hosts file of the test has the name.
    script = f"mount --bind {root}/hosts /etc/hosts && exec wget -q -O /dev/null --no-proxy --tries=1 --no-hsts " \
             f"--ca-certificate={root}/gateway/ca.pem https://{host}:{port}/"
    good, text = ran("unshare", "-m", "sh", "-c", script)
    return good, text or "exit status of wget"


def node(host, port, root):
    return ran("node", f"{root}/client.js", host, str(port), f"{root}/gateway/ca.pem")


def java(host, port, root):
    return ran("java", f"{root}/Client.java", host, str(port), f"{root}/gateway/ca.pem")


def is_there(program):
    return subprocess.run(["sh", "-c", f"command -v {program}"], capture_output=True).returncode == 0


def has(library):
    return os.path.exists(f"/usr/lib/x86_64-linux-gnu/{library}.so.4")


def stacks():
    """Each stack: its name, whether it is here, and its client."""
    links = subprocess.run(["sh", "-c", 'ldd "$(command -v wget)"'], capture_output=True, text=True).stdout
    return [
        ("openssl verify", True, openssl_verify),
        ("Python's ssl (OpenSSL)", True, python),
        ("curl", is_there("curl"), curl),
        ("libcurl with GnuTLS", has("libcurl-gnutls"), libcurl("libcurl-gnutls")),
        ("libcurl with NSS", has("libcurl-nss"), libcurl("libcurl-nss")),
        ("wget (GnuTLS)", "gnutls" in links and os.geteuid() == 0, wget),
        ("Node", is_there("node"), node),
        ("Java", is_there("java"), java),
    ]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--programs", default=".build/debug")
    programs = os.path.abspath(parser.parse_args().programs)
    wrong = 0
    with tempfile.TemporaryDirectory() as root:
        make_authority(programs, root)
        with open(f"{root}/hosts", "w") as file:
            file.write(f"127.0.0.1 localhost {GOOD} {BAD}\n")
        for name, text in [("Client.java", JAVA), ("client.js", NODE)]:
            with open(f"{root}/{name}", "w") as file:
                file.write(text)
        ports = {host: serve(sign(root, host)) for host in [GOOD, BAD]}
        for name, is_here, client in stacks():
            if not is_here:
                print(f"{name}: not tested, it is not installed", flush=True)
                continue
            takes, why = client(GOOD, ports[GOOD], root)
            if not takes:
                wrong += 1
                print(f"{name}: refuses {GOOD}: {why}", flush=True)
                continue
            takes, why = client(BAD, ports[BAD], root)
            wrong += takes
            print(f"{name}: " + (f"takes {BAD}" if takes else f"refuses {BAD}: {why.splitlines()[-1][:160]}"), flush=True)
    sys.exit(1 if wrong else 0)


main()
