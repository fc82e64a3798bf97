/// Sends queued entries to `/users/track`.
@main
struct Main {
    static func main() {}
}
