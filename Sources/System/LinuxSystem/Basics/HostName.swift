import Glibc

/// The host name of this machine.
public enum HostName {
    /// The name, if it has only letters, digits, "-" and "."; otherwise `localhost`.
    public static var current: String {
        var name = [CChar](repeating: 0, count: 256)
        guard gethostname(&name, name.count - 1) == 0 else { return "localhost" }
        let bytes = name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
        let isHostByte = { (byte: UInt8) in
            48...57 ~= byte || 65...90 ~= byte || 97...122 ~= byte || byte == 45 || byte == 46
        }
        return bytes.isEmpty || !bytes.allSatisfy(isHostByte) ? "localhost" : String(decoding: bytes, as: UTF8.self)
    }
}
