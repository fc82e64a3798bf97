"""Writes the request lines and configurations of hostile-shapes.sh.

usage: hostile-shapes.py DIRECTORY PAYLOAD
"""

import json
import os
import sys

directory, ordinary = sys.argv[1:]
# load.c makes a line a few bytes longer by its numbers.
SIZE = (256 << 10) - 128


def text(value):
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


def write(name, platform, make):
    """Writes a line of just under the largest size: make(n) is a payload with n of what it is about."""
    def fits(n):
        return len(line(platform, make(n)).encode()) <= SIZE

    step = 1
    while fits(2 * step):
        step *= 2
    low = step
    while step := step // 2:
        low += step if fits(low + step) else 0
    with open(os.path.join(directory, name + ".line"), "w", encoding="utf-8") as file:
        file.write(line(platform, make(low)) + "\n")


def line(platform, payload):
    head = '{"op":"deliver","id":"@-#","platform":"%s","app":"com.example.shop","device":"device-@","payload":' % platform
    return head + (payload if isinstance(payload, str) else text(payload)) + "}"


with open(ordinary, encoding="utf-8") as file:
    data = json.load(file)["message"]["data"]

# FCM refuses a v1 body of this size, so the shape is repeated in a bare data map, to which FCM's limit does not apply.
marks = {"_ab": "true", "t": data["t"], "a": data["a"], "cid": data["cid"]}


def repeated(n):
    return marks | {f"{key}_{i}": value for i in range(n) for key, value in data.items()}


def apple(members, ab=None):
    return {"aps": {"alert": {"title": "T", "body": "B"}}, "ab": ab or {"c": "c"}} | members


def array(element, values, head='{"_ab":"true","t":"T","a":"A"'):
    """Arrays of elements of so many values; where no more values are taken, a text fills the line."""
    most = 65_000 // values

    def make(n):
        few = min(n, most)
        return head + ',"x":[' + ",".join([element] * few) + '],"y":"' + "x" * ((n - few) * (len(element) + 1)) + '"}'
    return make


def deep(n):
    """Objects within each other, as deep as is taken, side by side; where no more values are taken, a text fills the line."""
    element = '{"a":' * 26 + "1" + "}" * 26
    few = min(n, 65_000 // 53)
    return (
        '{"_ab":"true","t":"T","a":"A","x":[' + ",".join([element] * few) + '],"y":"'
        + "x" * ((n - few) * (len(element) + 1)) + '"}')


buttons = lambda n: marks | {f"ab_a{i}_a": "ab_uri" for i in range(n)}
write("ordinary", "android", repeated)
write("many-buttons", "android", buttons)
write("whole-buttons", "android", lambda n: marks | {
    f"ab_a{i}_{part}": value for i in range(n)
    for part, value in (("a", "ab_uri"), ("id", "x" * 300), ("uri", "https://x"), ("t", "T"))})
write("many-keys", "android", lambda n: marks | {f"k{i}": "" for i in range(n)})
write("many-keys-of-nobody", "android", lambda n: {f"k{i}": "" for i in range(n)})
write("near-pinpoint", "android", lambda n: {f"pinpoinp{i}": "" for i in range(n)})
write("wide-extra", "android", lambda n: marks | {"extra": text({f"k{i}": "" for i in range(n)})})
write("uninstall-like-extra", "android", lambda n: marks | {"extra": text({f"unit{i}": "" for i in range(n)})})
write("deep-extra", "android", lambda n: marks | {"extra": '{"x":[' + ",".join(['{"a":' * 26 + "1" + "}" * 26] * n) + "]}"})
write("deep", "android", deep)
write("array-of-numbers", "android", array("1", 1))
write("array-of-arrays", "android", array("[]", 1))
write("array-of-objects", "android", array('{"":0}', 3))
write("array-of-pairs", "android", array('{"a":0,"b":0}', 5))
write("apple-array-of-numbers", "ios", array("1", 1, text(apple({})).removesuffix("}")))
write("many-escapes", "android", lambda n: '{"_ab":"true","t":"T","a":"' + "\\n\\u00e9" * n + '"}')
write("escaped-keys", "android", lambda n: '{"_ab":"true","t":"T","a":"A",'
      + ",".join(f'"\\u006b{i}":"\\t"' for i in range(n)) + "}")
write("escaped-extra", "android", lambda n: '{"_ab":"true","t":"T","a":"A","extra":"{\\"k\\":\\"'
      + "\\\\u00e9" * n + '\\"}"}')
write("custom-text", "android", lambda n: {"custom": text({f"k{i}": "" for i in range(n)})})
write("two-texts", "android", lambda n: {
    "custom": text({f"k{i}": "" for i in range(n)}), "org_ib_d": text({f"k{i}": "" for i in range(n)})})
write("blank-type", "android", lambda n: {"receiver": "intercom_sdk", "intercom_push_type": "\u00a0" * n})
write("apple-many-keys", "ios", lambda n: apple({f"k{i}": "" for i in range(n)}))
write("apple-many-buttons", "ios", lambda n: apple({}, {"c": "c", "ab_cat": {f"k{i}": {} for i in range(n)}}))
write("apple-prefix-like", "ios", lambda n: apple({f"wzrk{i}": "" for i in range(n)}))
write("web-many-buttons", "web", lambda n: {"cid": "c", "t": "T", "pab": [{"action": ""}] * n})
write("web-many-keys", "web", lambda n: {"cid": "c", "t": "T"} | {f"ab{i}": "" for i in range(n)})
write("routes-of-extra", "android", lambda n: {"extra": text({f"k{i}": "x" for i in range(n)})})
write("routes-of-keys", "android", lambda n: {f"k{i}": "x" for i in range(n)})
write("routes-long-value", "android", lambda n: {"extra": text({"k7": "x" * n})})
write("routes-long-escaped-value", "android", lambda n: '{"extra":"{\\"many\\":\\"' + "\\\\n" * n + '\\"}"}')
write("routes-braze-extra", "android", lambda n: marks | {"extra": text({f"k{i}": "x" for i in range(n)})})
write("routes-apple-no-braze-id", "ios", lambda n: apple({f"b{i}": "" for i in range(n)}))
write("routes-apple-near-braze-id", "ios", lambda n: apple({f"Brazé{i}": "" for i in range(n)}))


def configure(name, files):
    for path, content in ({"handlers.d/journal.handler": "[Handler]\nType=journal\n"} | files).items():
        path = os.path.join(directory, name, path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(content)


last = {"routes.d/999-last.route": "[Route]\nHandler=journal\n"}
configure("plain", last)
configure("routes", last | {
    f"routes.d/{i:03}.route": f"[Match]\nKeyValue=k{i} summer-*\n[Route]\nHandler=journal\n" for i in range(300)
} | {
    f"routes.d/{i:03}-many.route": f"[Match]\nKeyValue=many winter-{i}-*\n[Route]\nHandler=journal\n" for i in range(300)
} | {
    f"tracks.d/{i}.track": "[Track]\nOn=received\n[Identifier]\nKeyValue=braze_id\n[Event]\nName=push_received\n"
    for i in range(5)
})
