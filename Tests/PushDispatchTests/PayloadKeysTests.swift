import Testing

@testable import PushModel
@testable import PushRouter
@testable import PushViews

@Suite("Keys of a payload")
struct PayloadKeysTests {
    @Test(
        "return strings unchanged and any other value as JSON without white space",
        arguments: [
            (#""text \"quoted\"""#, #"text "quoted""#),
            ("4503599627370497.5", "4503599627370497.5"),
            ("true", "true"),
            ("null", "null"),
            (#"{ "a b" : [ 1 , "c \" d" ],"e\\":"\\ \" " }"#, #"{"a b":[1,"c \" d"],"e\\":"\\ \" "}"#),
        ])
    func giveText(_ value: String, _ text: String) throws {
        #expect(try decision(.android, #"{"k": \#(value) }"#).keys.data("k") == text)
        #expect(try decision(.ios, #"{"k": \#(value) }"#).keys.data("k") == text)
        #expect(try decision(.web, #"{"k": \#(value) }"#).keys.data("k") == text)
        #expect(try decision(.web, #"{"k": \#(value) }"#).keys.data("other") == nil)
    }

    @Test("find the dashboard's key-values in each platform's place")
    func findKeyValues() throws {
        let android = try decision(.android, #"{"_ab":"true","top":"1","extra":"{\"k\":\"v\",\"n\":5}"}"#).keys
        #expect(android.keyValue("k") == "v")
        #expect(android.keyValue("n") == "5")
        #expect(android.keyValue("top") == nil)
        #expect(android.data("k") == nil)
        // ADM flattens the key-values.
        let amazon = try decision(.android, #"{"_ab":"true","k":"v"}"#).keys
        #expect(amazon.keyValue("k") == "v")
        let broken = try decision(.android, #"{"_ab":"true","k":"v","extra":"{"}"#).keys
        #expect(broken.keyValue("k") == nil)
        let ios = try decision(.ios, #"{"aps":{},"ab":{"c":"c"},"k":"v"}"#).keys
        #expect(ios.keyValue("k") == "v")
        let web = try decision(.web, #"{"cid":"c","e":{"k":"v"}}"#).keys
        #expect(web.keyValue("k") == "v")
        #expect(web.keyValue("cid") == nil)
    }

    @Test(
        "are compared with patterns up to 8 KiB of unescaped text; a longer text matches only the star",
        arguments: [
            (#""@""#, 0),
            // An escape is one character of the text; white space counts 0.
            (#""\u0078@""#, 1), (#"[ "@" ]"#, 4),
        ])
    func longValues(form: String, rest: Int) throws {
        let longest = PayloadKeys.longestMatched
        for (length, isMatched) in [(longest, true), (longest + 1, false)] {
            let value = form.replacing("@", with: String(repeating: "x", count: length - rest))
            let keys = try decision(.android, #"{"k": \#(value), "extra":"{}"}"#).keys
            #expect(keys.data("k")?.utf8.count == length)
            for (pattern, isTrue) in [("*x*", isMatched), ("*", true), ("**", true), ("", false), ("*y*", false)] {
                var text = TextRead()
                #expect(keys.hasData("k", matching: Glob(pattern), &text) == isTrue, "\(length) \(pattern)")
            }
            var text = TextRead()
            #expect(keys.hasData("k", matching: nil, &text))
        }
    }

    @Test("are compared by their own text, whatever was read before")
    func readTexts() throws {
        let keys = try decision(.web, #"{"a":[1],"b":[2],"c":"\u0033"}"#).keys
        var text = TextRead()
        for (key, pattern, isTrue) in [
            ("a", "\\[1]", true), ("b", "\\[1]", false), ("b", "\\[2]", true), ("a", "\\[2]", false), ("c", "3", true),
            ("b", "3", false), ("a", "\\[1]", true),
        ] {
            #expect(keys.hasData(key, matching: Glob(pattern), &text) == isTrue, "\(key) \(pattern)")
        }
    }

    @Test("are taken for a misspelt name by length and first letter, in one alphabet, and only the first 128")
    func likeNames() throws {
        let longest = ["c123456789012", "c1234567890123", "c12345678901234"]
        let names = ["colour", "Color", "_color", "1color", "cölor", "price"] + longest
        let members = names.map { "\"\($0)\":1" }.joined(separator: ",")
        let web = try decision(.web, #"{"cid":"c","e":{\#(members)}}"#).keys
        // A name may be 8 bytes longer.
        #expect(web.namesOfKeyValues(like: "color") == ["colour", "Color", "_color", "1color", longest[0]])
        #expect(web.namesOfKeyValues(like: "cölor") == names.filter { $0 != "price" && $0 != longest[2] })
        #expect(web.namesOfKeyValues(like: "_x") == ["colour", "Color", "_color", "1color", "price"])
        let many = ((1...127).map { "x\($0)" } + ["color", "colour"]).map { "\"\($0)\":1" }.joined(separator: ",")
        #expect(try decision(.web, #"{"cid":"c","e":{\#(many)}}"#).keys.namesOfKeyValues(like: "color") == ["color"])
        let ios = try decision(.ios, #"{"aps":{},"ab":{"c":"c"},"ab_uri":"u","abc":"own"}"#).keys
        #expect(ios.namesOfKeyValues(like: "abd") == ["abc"])
    }

    @Test("list the dashboard's key-values, on iOS all keys except Apple's and Braze's own")
    func listsOnAppleAndWeb() throws {
        let ios = #"{"aps":{},"ab":{"c":"c"},"ab_uri":"u","k":"v","n":1,"Simulator Target Bundle":"com.example.app"}"#
        #expect(try decision(.ios, ios).keys.keyValues.map { "\($0.key)=\($0.value)" } == ["k=v", "n=1"])
        let web = #"{"cid":"c","e":{"k":"v"}}"#
        #expect(try decision(.web, web).keys.keyValues.map { "\($0.key)=\($0.value)" } == ["k=v"])
    }

    @Test("list no extra of an intent that is no text, which FCM does not put into the data")
    func listsTextsOfIntents() throws {
        let keys = try decision(.android, #"{"extras":{"google.message_id":"1","list":["x"],"n":1,"k":"v"}}"#).keys
        #expect(keys.keyValues.map { "\($0.key)=\($0.value)" } == ["k=v"])
        #expect(keys.keyValue("list") == nil && keys.keyValue("n") == nil && keys.keyValue("k") == "v")
    }
}

@Suite("Message ids")
struct MessageIDTests {
    @Test(
        "are read from the place of each form",
        arguments: [
            (Platform.android, #"{"extras":{"google.message_id":"a","message_id":"b"}}"#, "a"),
            // RemoteMessage.getMessageId.
            (.android, #"{"extras":{"message_id":"b"}}"#, "b"),
            (.android, #"{"extras":{"google.message_id":"","message_id":"b"}}"#, "b"),
            (.android, #"{"extras":{"message_id":""}}"#, nil),
            (.android, #"{"extras":{},"messageId":"c"}"#, nil),
            (.android, #"{"data":{},"messageId":"c"}"#, "c"),
            (.android, #"{"data":{},"message_id":"c"}"#, "c"),
            (.android, #"{"_ab":"true","google.message_id":"d"}"#, "d"),
            (.android, #"{"messageId":7}"#, nil),
            (.android, #"{"message":{"name":"projects/p/messages/0:1%2","token":"t"}}"#, "0:1%2"),
            (.android, #"{"message":{"name":"projects/p/messages/","token":"t"}}"#, nil),
            (.android, #"{"message":{"token":"t","data":{"messageId":"own"}}}"#, nil),
            (.ios, #"{"aps":{},"gcm.message_id":"e"}"#, "e"),
            (.ios, #"{"userInfo":{"aps":{},"gcm.message_id":"e"}}"#, "e"),
            (.ios, #"{"aps":{},"userInfo":{},"gcm.message_id":"e"}"#, "e"),
            (.ios, #"{"aps":{},"messageId":"own"}"#, nil),
            (.ios, #"{"message":{"name":"projects/p/messages/f","token":"t"}}"#, "f"),
            (.web, #"{"messageId":"g"}"#, "g"),
            (.web, #"{"cid":"c"}"#, nil),
        ] as [(Platform, String, String?)])
    func areRead(_ platform: Platform, _ payload: String, _ id: String?) throws {
        #expect(try messageID(of: json(payload), platform: platform) == id)
        #expect(try decision(platform, payload).messageID == id)
    }

    @Test("of a web push by FCM are those of the object that its worker gets, with the id and the topic")
    func webEvent() throws {
        let block = #""notification":{"title":"T","body":"B"},"webpush":{"notification":{"title":"W","icon":"/i"}}"#
        let keys = try decision(
            .web, #"{"message":{"name":"projects/p/messages/m1","topic":"news",\#(block),"data":{"k":"v"}}}"#
        ).keys
        #expect(keys.data("fcmMessageId") == "m1" && keys.data("from") == "/topics/news")
        #expect(keys.data("data") == #"{"k":"v"}"#)
        #expect(keys.data("notification") == #"{"title":"W","icon":"/i","body":"B"}"#)
        let without = try decision(.web, #"{"message":{"token":"t","data":{"k":"v"}}}"#).keys
        #expect(["from", "notification"].allSatisfy { without.data($0) == nil })
    }
}
