/// SHA-256 (FIPS 180-4), and what HMAC makes of it (RFC 2104). A value: a copy goes on by itself.
struct SHA256: Sendable {
    static let blockSize = 64

    private var state: [UInt32] = [
        0x6A09_E667, 0xBB67_AE85, 0x3C6E_F372, 0xA54F_F53A, 0x510E_527F, 0x9B05_688C, 0x1F83_D9AB, 0x5BE0_CD19,
    ]
    /// What is no whole block yet.
    private var rest: [UInt8] = []
    private var length: UInt64 = 0

    /// Takes in more of the message.
    mutating func update(_ bytes: some Collection<UInt8>) {
        length += UInt64(bytes.count)
        rest += bytes
        var start = 0
        while rest.count - start >= Self.blockSize {
            compress(from: start)
            start += Self.blockSize
        }
        rest.removeFirst(start)
    }

    /// The digest of all that was taken in, 32 bytes.
    consuming func digest() -> [UInt8] {
        var last = self
        let bits = last.length * 8
        let padding = (55 - last.rest.count + Self.blockSize) % Self.blockSize
        last.update([0x80] + [UInt8](repeating: 0, count: padding) + bits.bigEndianBytes)
        return last.state.flatMap(\.bigEndianBytes)
    }

    private mutating func compress(from start: Int) {
        var words = [UInt32](repeating: 0, count: 64)
        for index in 0..<16 {
            let place = start + index * 4
            words[index] =
                UInt32(rest[place]) << 24 | UInt32(rest[place + 1]) << 16 | UInt32(rest[place + 2]) << 8
                | UInt32(rest[place + 3])
        }
        for index in 16..<64 {
            let (early, late) = (words[index - 15], words[index - 2])
            let small = early.rotated(7) ^ early.rotated(18) ^ early >> 3
            let large = late.rotated(17) ^ late.rotated(19) ^ late >> 10
            words[index] = words[index - 16] &+ small &+ words[index - 7] &+ large
        }
        var (a, b, c, d) = (state[0], state[1], state[2], state[3])
        var (e, f, g, h) = (state[4], state[5], state[6], state[7])
        for index in 0..<64 {
            let choice = e & f ^ ~e & g
            let first =
                h &+ (e.rotated(6) ^ e.rotated(11) ^ e.rotated(25)) &+ choice &+ Self.keys[index] &+ words[index]
            let majority = a & b ^ a & c ^ b & c
            let second = (a.rotated(2) ^ a.rotated(13) ^ a.rotated(22)) &+ majority
            (h, g, f, e, d, c, b, a) = (g, f, e, d &+ first, c, b, a, first &+ second)
        }
        for (index, value) in [a, b, c, d, e, f, g, h].enumerated() { state[index] &+= value }
    }

    private static let keys: [UInt32] = [
        0x428A_2F98, 0x7137_4491, 0xB5C0_FBCF, 0xE9B5_DBA5, 0x3956_C25B, 0x59F1_11F1, 0x923F_82A4, 0xAB1C_5ED5,
        0xD807_AA98, 0x1283_5B01, 0x2431_85BE, 0x550C_7DC3, 0x72BE_5D74, 0x80DE_B1FE, 0x9BDC_06A7, 0xC19B_F174,
        0xE49B_69C1, 0xEFBE_4786, 0x0FC1_9DC6, 0x240C_A1CC, 0x2DE9_2C6F, 0x4A74_84AA, 0x5CB0_A9DC, 0x76F9_88DA,
        0x983E_5152, 0xA831_C66D, 0xB003_27C8, 0xBF59_7FC7, 0xC6E0_0BF3, 0xD5A7_9147, 0x06CA_6351, 0x1429_2967,
        0x27B7_0A85, 0x2E1B_2138, 0x4D2C_6DFC, 0x5338_0D13, 0x650A_7354, 0x766A_0ABB, 0x81C2_C92E, 0x9272_2C85,
        0xA2BF_E8A1, 0xA81A_664B, 0xC24B_8B70, 0xC76C_51A3, 0xD192_E819, 0xD699_0624, 0xF40E_3585, 0x106A_A070,
        0x19A4_C116, 0x1E37_6C08, 0x2748_774C, 0x34B0_BCB5, 0x391C_0CB3, 0x4ED8_AA4A, 0x5B9C_CA4F, 0x682E_6FF3,
        0x748F_82EE, 0x78A5_636F, 0x84C8_7814, 0x8CC7_0208, 0x90BE_FFFA, 0xA450_6CEB, 0xBEF9_A3F7, 0xC671_78F2,
    ]
}

extension UInt32 {
    fileprivate func rotated(_ count: UInt32) -> UInt32 { self >> count | self << (32 - count) }
}

extension FixedWidthInteger {
    fileprivate var bigEndianBytes: [UInt8] {
        (0..<Self.bitWidth / 8).reversed().map { UInt8(truncatingIfNeeded: self >> ($0 * 8)) }
    }
}
