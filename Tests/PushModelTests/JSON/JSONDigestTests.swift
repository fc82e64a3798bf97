import Testing

@testable import PushModel

@Suite("Digests of JSON values")
struct JSONDigestTests {
    private func digest(_ text: String) throws -> UInt64 {
        try JSONDocument(scanning: Array(text.utf8)).root.withView { $0.digest }
    }

    @Test(
        "keep the values that existing ledgers store",
        arguments: [
            ("{}", 3_132_866_747_944_355_131), ("[]", 2_932_224_104_882_723_347),
            ("[[[[1],2],[]],{}]", 10_140_143_353_246_075_255),
            (
                #"{"a":{"b":{"c":[1,{"d":null}]}},"x":[true,false,1.5e3,-0,12345678901]}"#,
                9_379_073_987_407_246_803
            ),
            (
                #"{"\u006b":"\t\u00e9 \/ \"","k2":"plain","long key of more than sixteen bytes":"ü","e":""}"#,
                12_578_559_469_921_962_446
            ),
            (
                #"[{"a":1},{"a":1,"b":[[]]},[],[1,22,333,4444,55555,666666,7777777,88888888,999999999]]"#,
                16_986_029_584_913_739_233
            ),
            (#""x""#, 17_852_920_488_779_062_079), ("1", 580_502_433_593_172_185),
            (#"  {"a" : 1 , "b":[ 2 ,3 ] } "#, 3_298_924_221_033_483_282),
            ("[-1,0,10,1e5,1.0]", 4_077_040_914_801_080_842), (#"{"a":[],"b":{}}"#, 13_386_844_288_044_660_541),
        ] as [(String, UInt64)])
    func golden(text: String, digest: UInt64) throws {
        #expect(try self.digest(text) == digest)
    }

    @Test("do not depend on the order of members, or on the depth of values")
    func order() throws {
        #expect(try digest(#"{"a":{"x":[1]},"b":2}"#) == digest(#"{"b":2,"a":{"x":[1]}}"#))
        #expect(try digest("[1,2]") != digest("[2,1]"))
        #expect(try digest("[[1],2]") != digest("[1,[2]]"))
    }
}

@Suite("Brackets and numbers at the edges of a scanned block")
struct JSONEdgeTests {
    private func scan(_ text: String) -> String? {
        guard let document = try? JSONDocument(scanning: Array(text.utf8), limits: JSONLimits(depth: 64)) else {
            return nil
        }
        return String(decoding: document.root.compactBytes, as: UTF8.self)
    }

    @Test(
        "valid brackets and numbers at the edges of a scanned block are accepted",
        arguments: [
            "[[[[]]]]", #"{"a":{"b":{}}}"#, #"[{"a":[{"b":[]}]},1]"#, "[1]", "[12345678901234567890]",
            "[12345678901234567,1,1,1,1,1,1,1,1,1,1,1]", #"{"0123456789abcde":1}"#, #"{"0123456789abcdef":1}"#,
            #"{"a":1}"#, "[" + String(repeating: "1,", count: 5000) + "1]",
            String(repeating: "[", count: 64) + String(repeating: "]", count: 64),
        ])
    func right(text: String) { #expect(scan(text) == text) }

    @Test(
        "invalid brackets and numbers at the edges of a scanned block are refused",
        arguments: [
            "[[[]}]", #"{"a":[1}"#, #"{"a":{"b":1}"#, "[[1]]]", "[1,]", #"{"a":1,}"#, "[1 2]", #"{"a"}"#,
            #"{"a":1,"a":{}}"#, "[01]", "[11111111111111111111x]", #"{"0123456789abcde" 1}"#, #"[{"a":[1,]}]"#,
        ])
    func wrong(text: String) { #expect(scan(text) == nil) }
}
