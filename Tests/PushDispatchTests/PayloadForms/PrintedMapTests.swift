import TestSupport
import Testing

@testable import PushModel
@testable import PushRouter
@testable import PushViews

/// The JSON of a payload in another form.
func written(_ text: String) throws -> String { String(decoding: try payload(text).json, as: UTF8.self) }

/// A payload in another form with its first line.
func begun(_ line: String) throws -> PayloadText? {
    try PayloadText(#require(PayloadStart(in: Array(line.utf8))), line: Array(line.utf8))
}

/// A payload in another form, in one line or many.
func payload(_ text: String) throws -> WrittenPayload {
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map { Array($0.utf8) }
    var whole = try #require(try begun(String(decoding: lines[0], as: UTF8.self)))
    for line in lines.dropFirst() {
        #expect(!whole.isWhole)
        let isOfIt = try whole.add(line)
        #expect(isOfIt)
    }
    return try whole.payload()
}

@Suite("A printed Bundle or map")
struct PrintedMapTests {
    @Test(
        "is read as the original extras",
        arguments: [
            (
                "Bundle[{_ab=true, a=20 % off, cid=abc, google.message_id=0:1%f9}]",
                #"{"_ab":"true","a":"20 % off","cid":"abc","google.message_id":"0:1%f9"}"#
            ),
            (
                "11-25 12:00:00.123  1234  1234 I Braze v30.0.0 .Push: Received Intent { act=x } Bundle[{t=a, b, c=d}] ok",
                #"{"t":"a, b","c":"d"}"#
            ),
            (
                #"x: Bundle[{resp={"a":1, b=2,"c":[3]}, title=Hi}, there, n=}]"#,
                #"{"resp":"{\"a\":1, b=2,\"c\":[3]}","title":"Hi}, there","n":""}"#
            ),
            // A repeated key is part of the value before it.
            ("Bundle[{a=1, b=x, a=2}]", #"{"a":"1","b":"x, a=2"}"#),
            ("Bundle[{a=see https://x.y/?k=1, https://z/?k=2}]", #"{"a":"see https://x.y/?k=1, https://z/?k=2"}"#),
            // Unbalanced brackets do not group.
            ("Bundle[{a=a { smile, b=1}]", #"{"a":"a { smile","b":"1"}"#),
            ("Bundle[{a=:}], b=1}]", #"{"a":":}]","b":"1"}"#),
            ("Bundle[{}]", "{}"),
            ("I/Tag( 12): Bundle[{\u{E9}=\u{1F600}}] Bundle[{c=d}]", "{\"\u{E9}\":\"\u{1F600}\"}"),
            // The text that Braze's SDK makes of extra.
            (
                "Bundle[{extra=Bundle[{k=v, n=Bundle[{x=\"}]}], t=1}]",
                #"{"extra":"{\"k\":\"v\",\"n\":\"{\\\"x\\\":\\\"\\\\\\\"\\\"}\"}","t":"1"}"#
            ),
        ])
    func bundles(_ text: String, _ extras: String) throws {
        #expect(try written(text) == #"{"extras":\#(extras)}"#)
        #expect(try payload(text).platform == .android)
    }

    @Test("is read as data if a map stands alone")
    func maps() throws {
        #expect(try written(" {_ab=true, a={x=1, y=2}, t=T} ") == #"{"data":{"_ab":"true","a":"{x=1, y=2}","t":"T"}}"#)
        #expect(PayloadStart(in: Array(#"{"a":1}"#.utf8))?.form == .json)
        #expect(PayloadStart(in: Array("{'a'=1}".utf8))?.form == .literal)
        #expect(PayloadStart(in: Array("{}".utf8))?.form == .json)
    }

    @Test("may have line feeds in its values, before which a log repeats its prefix")
    func manyLines() throws {
        #expect(try written("Bundle[{a=one\ntwo, b=3}]") == #"{"extras":{"a":"one\u000atwo","b":"3"}}"#)
        let header = "11-25 12:00:00.123  1  1 I Tag: "
        #expect(try written("\(header)Bundle[{a=one\n\(header)two}]") == #"{"extras":{"a":"one\u000atwo"}}"#)
        var cut = try #require(try begun("\(header)Bundle[{a=one"))
        let isOfIt = try cut.add(Array("11-25 12:00:00.124  1  1 I Tag: two}]".utf8))
        #expect(!isOfIt)
    }

    @Test(
        "gives an error with an advice if it is not complete",
        arguments: [
            ("Bundle[{a=1, b=2", "the Bundle has no end }]: logcat cuts a line after about 4,000 bytes"),
            ("Bundle[mParcelledData.dataSize=84]", "the Bundle is printed without its content"),
            ("{a=1, b=2", "the map has no end }: copy the line whole"),
        ])
    func notWhole(_ text: String, _ message: String) throws {
        let error = try #require(throws: PayloadFormError.self) { try payload(text) }
        #expect(error.message.hasPrefix(message))
    }

    @Test(
        "takes time in proportion to its length, whatever its contents",
        arguments: ["{", "=", "'", ", a=", "}], a=", "Bundle[{a=", ",   "])
    func hostile(_ part: String) throws {
        let line = Array(("Bundle[{a=" + String(repeating: part, count: Search.cases(1 << 20) / part.utf8.count)).utf8)
        for line in [line, line + Array("}]".utf8)] {
            let time = ContinuousClock().measure {
                _ = try? PayloadStart(in: line).flatMap { try PayloadText($0, line: line) }?.payload()
            }
            #expect(time < .seconds(20))
        }
    }

    @Test(
        "begins with a key and =, and may be cut behind it",
        arguments: [
            ("{a=", true), ("{a=1", true), ("{a=}", true), ("{a.b-c_$=1}", true), ("{a", false), ("{a:", false),
            ("{a: 1}", false), ("{=1}", false), ("{a =1}", false), ("{a=>1}", false), ("{a=>", false), ("[a=1]", false),
            ("{", false), ("{}", false), ("", false),
        ])
    func begins(_ text: String, _ isMap: Bool) { #expect(PrintedMap.isMap(Array(text.utf8)[...]) == isMap, "\(text)") }

    @Test(
        "of Dart has no key without a space, a comma or the end of the map behind its colon",
        arguments: [
            ("{a:", false), ("{a:x}", false), ("{a", false), ("{: 1}", false), ("{a:}", true), ("{a: 1}", true),
        ])
    func keyOfDart(_ text: String, _ isMap: Bool) {
        let map = PrintedMap(Array(text.utf8)[...], isBundle: false, mark: UInt8(ascii: ":"))
        #expect((map != nil) == isMap, "\(text)")
    }

    @Test(
        "tells that a value is in quotation marks, an empty one, too",
        arguments: [
            ("\"\"", true), ("\"x\"", true), ("\"", false), ("\"x", false), ("x\"", false), ("x", false), ("", false),
            ("\"x\" y", false), ("\"\"\"", true),
        ])
    func quoted(_ value: String, _ isQuoted: Bool) throws {
        let text = Array("{a: 1, b: \(value)}".utf8)
        let map = try #require(PrintedMap(text[...], isBundle: false, mark: UInt8(ascii: ":")))
        #expect(map.members.last?.value.elementsEqual(value.utf8) == true && map.hasQuotedValue == isQuoted)
    }

    @Test("is opened up to eight deep: a Bundle below stays a text", arguments: [1, 7, 8, 9, 10])
    func depth(_ depth: Int) throws {
        let text = (1...depth).reduce("Bundle[{k=v}]") { text, level in "Bundle[{k\(level)=\(text)}]" }
        var place = try JSONDocument(scanning: payload(text).json).root["extras"]
        var opened = 0
        while let value = place?.members.first?.value.string,
            let next = try? JSONDocument(scanning: Array(value.utf8)).root
        {
            (place, opened) = (next, opened + 1)
        }
        let last = place?.members.first?.value.string
        let inside = depth == 8 ? "Bundle[{k=v}]" : "Bundle[{k\(depth - 8)=Bundle[{"
        #expect(opened == min(depth, 7) && (depth < 8 ? last == "v" : last?.hasPrefix(inside) == true), "\(last ?? "")")
    }
}
