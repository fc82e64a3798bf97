import Glibc
import LinuxSystem
import PushRouter

extension Handler {
    /// Makes a handler of `Type=exec` with the defaults from a program, without the configuration.
    ///
    /// - Parameter path: the path of the program, with a slash in it: a word without one is a handler's name.
    /// - Throws: when the program cannot be run.
    static func program(at path: String) throws(Failure) -> Handler {
        guard access(path, X_OK) == 0 else {
            let advice = errno == EACCES ? "; chmod +x makes the file executable" : ""
            throw Failure(.noInput, "\(path): \(errorText(errno))\(advice)")
        }
        let name = path.split(separator: "/").last.map(String.init) ?? path
        return Handler(name: name, kind: .exec(Command(arguments: [absolute(path)])))
    }

    /// The absolute path, because the handler has another working directory.
    private static func absolute(_ path: String) -> String {
        guard !path.hasPrefix("/"), let current = getcwd(nil, 0) else { return path }
        defer { free(current) }
        return String(cString: current) + "/" + (path.hasPrefix("./") ? String(path.dropFirst(2)) : path)
    }
}
