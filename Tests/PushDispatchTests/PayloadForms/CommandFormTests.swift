import TestSupport
import Testing

@testable import PushModel
@testable import PushRouter
@testable import PushViews

@Suite("A shell command with a payload")
struct CommandFormTests {
    @Test(
        "of the activity manager is read as the extras of its intent",
        arguments: [
            ("am broadcast --es _ab true --es a 'x y'", #"{"extras":{"_ab":"true","a":"x y"}}"#),
            (
                "$ am startservice -a com.google.android.c2dm.intent.RECEIVE -e a \"q \\\" $X\" -f 32 --user 0",
                #"{"action":"com.google.android.c2dm.intent.RECEIVE","extras":{"a":"q \" $X"}}"#
            ),
            (
                "am start --ez k t --ei n 0x10 --el l -5 --ef f 1.5 --esn z --esa s a,b --eia i 1,2 --eu u http://x",
                #"{"extras":{"k":true,"n":16,"l":-5,"f":1.5,"z":null,"s":["a","b"],"i":[1,2],"#
                    + #""u":{"toString":"http://x"}}}"#
            ),
            (
                "am start --ez a f --ez b 0 --ez c 2 --efa d 1,2.5 --ed e 1e3",
                #"{"extras":{"a":false,"b":false,"c":true,"d":[1.0,2.5],"e":1000.0}}"#
            ),
            // The shell keeps a backslash before other letters.
            (#"am broadcast --es a "x\y\$z" --es b $'\x41\q'"#, #"{"extras":{"a":"x\\y$z","b":"A\\q"}}"#),
            // The device's shell splits the words a second time.
            (
                #"adb -s emulator-5554 shell am broadcast --es a "'x y'" --es b x\\ z com.example.app"#,
                #"{"extras":{"a":"x y","b":"x z"}}"#
            ),
            (#"/opt/adb shell -n "am broadcast --es a 'x y' --es b \"q\"""#, #"{"extras":{"a":"x y","b":"q"}}"#),
            ("adb shell 'am broadcast --es extra '\\''{\"k\":\"v\"}'\\'", #"{"extras":{"extra":"{\"k\":\"v\"}"}}"#),
            ("am broadcast --es a 1 \\\n  --es a 2; echo done", #"{"extras":{"a":"2"}}"#),
            ("am broadcast --es a 'one\ntwo'", #"{"extras":{"a":"one\u000atwo"}}"#),
            (
                "am broadcast -a com.google.android.c2dm.intent.RECEIVE",
                #"{"action":"com.google.android.c2dm.intent.RECEIVE","extras":{}}"#
            ),
        ])
    func activityManager(_ text: String, _ json: String) throws {
        #expect(try written(text) == json)
        #expect(try payload(text).platform == .android)
    }

    @Test("of the activity manager has the app of its component or its package")
    func app() throws {
        #expect(try payload("am broadcast -n com.example.app/.Receiver --es a b").app == "com.example.app")
        #expect(try payload("am broadcast -p com.example.app --es a b").app == "com.example.app")
        #expect(try payload("am broadcast --es a b").app == nil)
        #expect(try payload("am broadcast -n com.example.app --es a b").app == nil)
    }

    @Test(
        "of curl is read as its body",
        arguments: [
            (#"curl -X POST https://fcm.googleapis.com/v1/projects/p/messages:send -d '{"a":"b"}'"#, #"{"a":"b"}"#),
            ("curl -sSd '{\"a\":\n\"b\"}' \\\n -H 'x: y' \\\n https://x", "{\"a\":\n\"b\"}"),
            (#"curl https://x --json "{\"a\":\"b\"}" | jq ."#, #"{"a":"b"}"#),
            (#"curl 'https://x' --data-raw $'{"a":"it\'s \u00e9"}' --compressed"#, "{\"a\":\"it's \u{E9}\"}"),
            ("curl --data-binary '@home' --data-raw '@home' https://x", nil),
        ])
    func curl(_ text: String, _ json: String?) throws {
        #expect((try? written(text)) == json)
    }

    @Test(
        "of Amazon's command line is read as its message",
        arguments: [
            (
                #"aws sns publish --target-arn arn:x --message '{"GCM":"{}"}' --message-structure json"#,
                #"{"GCM":"{}"}"#
            ),
            ("$ aws sns publish \\\n--message='{\"APNS\":\n\"{}\"}'", "{\"APNS\":\n\"{}\"}"),
            ("aws sns publish --message hello", nil), ("aws sns publish --message file://m.json", nil),
        ])
    func sns(_ text: String, _ json: String?) throws { #expect((try? written(text)) == json) }

    @Test("of curl has the app of APNs's topic, and is for iOS if the host is APNs's")
    func topic() throws {
        let push = try payload(
            #"curl --http2 -H "apns-topic: com.example.app" -Hapns-push-type:alert -d '{"aps":{}}' "#
                + "https://user@api.push.apple.com:443/3/device/00ab")
        #expect(push.app == "com.example.app")
        #expect(push.platform == .ios)
        #expect(push.host == "api.push.apple.com")
        let long = try payload(
            "curl --url https://api.push.apple.com/3/device/00ab --header 'APNS-Topic: com.example.app.voip' "
                + "--header apns-topic:com.example.b.voip --header x:y --header apns-expiration:0 -d '{}'")
        #expect(long.app == "com.example.b" && long.platform == .ios)
        #expect(
            long.headers.map { String(decoding: $0, as: UTF8.self) }
                == #"{"apns-topic":"com.example.b.voip","apns-expiration":"0"}"#)
        let huawei = try payload("curl https://push-api.cloud.huawei.com/v1/1/messages:send -d '{}'")
        #expect(huawei.platform == .android && huawei.transport == .hms && huawei.headers == nil)
        let amazon = try payload("curl https://api.amazon.com/messaging/registrations/x/messages -d '{}'")
        #expect(amazon.platform == .android && amazon.transport == .adm)
        let other = try payload("curl fcm.googleapis.com/fcm/send -d '{}'")
        #expect(other.platform == nil)
        #expect(other.host == "fcm.googleapis.com")
    }

    @Test(
        "gives an error with an advice",
        arguments: [
            ("adb shell am broadcast --es a 'Hello World' --es _ab true", "am reads nothing from \"World\" on"),
            ("adb shell am broadcast --es a 'Hello World'", "am reads nothing from \"World\" on"),
            ("am broadcast --ei n x", "am refuses --ei n x: not the value that --ei takes"),
            ("am broadcast --es n", "am: --es n lacks its value"),
            ("adb logcat -d", "no command with extras"),
            ("am force-stop com.example.app", "no command with extras"),
            ("am broadcast --es a 'b", "a quote ' is not closed: copy the command whole"),
            ("curl -d @body.json https://x", "the body of the curl command is the file body.json: give that file"),
            ("cat x | curl -d @- https://x", nil),
            ("curl --data @- https://x", "the body of the curl command comes from another command"),
            ("am start -a android.intent.action.VIEW -d shop://x com.shop", "the command opens a screen or a link"),
            ("am start -n com.shop/.Main", "the command has no extras"),
            ("am startservice -a com.google.firebase.INSTANCE_ID_EVENT", "the command has the app ask for a new token"),
            ("curl https://x", "the curl command has no body"),
            ("curl -d", "the curl command ends before its body"),
            ("curl https://rest.iad-01.braze.com/messages/send -d '{}'", "the body is a request to Braze"),
            ("curl https://rest.fra-01.braze.eu/messages/send -d '{}'", "the body is a request to Braze"),
            ("curl --form a=b https://x", "curl --form: neither FCM nor APNs takes a form"),
            ("am", "no command with extras"), ("am broadcast -n", "am: -n lacks its value"),
            ("am broadcast -s", "am: -s lacks its value"),
            ("am broadcast --es a b shop", "am reads nothing from \"shop\" on"),
            ("am broadcast --eia n 1,x", "am refuses --eia n 1,x: not the value that --eia takes"),
            ("am broadcast --ef n inf", "am refuses --ef n inf: not the value that --ef takes"),
            ("am broadcast --es a \"b", "a quote \" is not closed: copy the command whole"),
            ("aws sns publish --topic-arn x", "the command has no message, which --message gives"),
            ("aws sns publish --message file://m.json", "the message of the command is the file m.json: give that"),
            ("aws sns publish --message hello", "the message of the command is no JSON object"),
        ])
    func faults(_ text: String, _ message: String?) throws {
        guard let message else { return #expect(PayloadStart(in: Array(text.utf8)) == nil) }
        let error = try #require(throws: PayloadFormError.self) { try payload(text) }
        #expect(error.message.hasPrefix(message), "\(error.message)")
    }

    @Test(
        "takes time in proportion to its length, whatever its contents",
        arguments: ["'", "\\", "{", "=", "--es a b ", "-d a "])
    func hostile(_ part: String) {
        for start in ["curl ", "adb shell am broadcast "] {
            let line = Array((start + String(repeating: part, count: Search.cases(1 << 20) / part.utf8.count)).utf8)
            let time = ContinuousClock().measure {
                _ = try? PayloadStart(in: line).flatMap { try PayloadText($0, line: line) }?.payload()
            }
            #expect(time < .seconds(20))
        }
    }
}
