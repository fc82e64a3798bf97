import Glibc
import TestSupport
import Testing

/// Returns the first line that a client of another user gets for `request`. Needs root.
func ask(_ request: String, ofUser user: uid_t, at installation: Installation) throws -> Line {
    // Perl is on every Debian system, and can change its user and use a Unix socket.
    let program = """
        use IO::Socket::UNIX;
        $> = \(user);
        my $socket = IO::Socket::UNIX->new(Peer => $ARGV[0]) or die "cannot connect: $!";
        print $socket "$ARGV[1]\\n";
        $socket->shutdown(1);
        print scalar <$socket>;
        """
    let result = Program(path: "/usr/bin/perl").run(["-e", program, installation.injectSocket, request])
    try #require(result.end == .exited(0), "perl: \(result.errors)")
    return try Line(Array(result.output.utf8.dropLast()))
}
