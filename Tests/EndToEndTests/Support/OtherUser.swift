import Glibc
import TestSupport
import Testing

/// The first line that a client of another user gets for `request`. Only root can be another user.
func ask(_ request: String, ofUser user: uid_t, at installation: Installation) throws -> Line {
    // Perl's base is on every Debian, and can change its user and talk to a Unix socket.
    let program = """
        use IO::Socket::UNIX;
        $> = \(user);
        my $socket = IO::Socket::UNIX->new(Peer => $ARGV[0]) or die "cannot connect: $!";
        print $socket "$ARGV[1]\\n";
        $socket->shutdown(1);
        print scalar <$socket>;
        """
    let output = try outputOfProgram(["/usr/bin/perl", "-e", program, installation.injectSocket, request])
    return try Line(Array(output.prefix { $0 != UInt8(ascii: "\n") }))
}

/// Runs a program to its end and gives what it wrote to standard output.
private func outputOfProgram(_ words: [String]) throws -> [UInt8] {
    var ends: [Int32] = [-1, -1]
    try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &ends) == 0)
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO)
    var arguments = words.map { strdup($0) } + [nil]
    defer { for argument in arguments { free(argument) } }
    var process: pid_t = 0
    let error = posix_spawn(&process, words[0], &actions, nil, &arguments, environ)
    close(ends[1])
    defer { close(ends[0]) }
    try #require(error == 0, "cannot start \(words[0])")
    var output: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 4096)
    while true {
        let count = read(ends[0], &chunk, chunk.count)
        guard count > 0 else { break }
        output += chunk[..<count]
    }
    var status: Int32 = 0
    while waitpid(process, &status, 0) < 0 { try #require(errno == EINTR) }
    try #require(status == 0, "\(words[0]) failed")
    return output
}
