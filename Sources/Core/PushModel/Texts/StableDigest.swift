/// A digest of bytes that is the same in every run (FNV-1a, 64 bits).
public func stableDigest(_ bytes: some Sequence<UInt8>) -> UInt64 {
    var digest: UInt64 = 0xCBF2_9CE4_8422_2325
    for byte in bytes { digest = (digest ^ UInt64(byte)) &* 0x0000_0100_0000_01B3 }
    return digest
}
