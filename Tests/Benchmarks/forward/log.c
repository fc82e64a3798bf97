/* Sends the lines of standard input to a Unix socket, and prints as many replies.
 * usage: log SOCKET */
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static long lines(const char *bytes, ssize_t count) {
    long found = 0;
    for (ssize_t i = 0; i < count; i++) found += bytes[i] == '\n';
    return found;
}

int main(int count, char **words) {
    if (count != 2) return 2;
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    strncpy(address.sun_path, words[1], sizeof address.sun_path - 1);
    int daemon = socket(AF_UNIX, SOCK_STREAM, 0);
    if (connect(daemon, (void *)&address, sizeof address)) return perror(words[1]), 1;
    static char input[1 << 16], replies[1 << 16];
    long sent = 0, answered = 0;
    ssize_t length = 0, done = 0;
    int is_over = 0;
    while (!is_over || answered < sent) {
        if (done == length && !is_over) {
            length = read(0, input, sizeof input);
            done = 0;
            if (length <= 0) is_over = 1, length = 0;
            sent += lines(input, length);
        }
        struct pollfd poll_one = {.fd = daemon, .events = POLLIN | (done < length ? POLLOUT : 0)};
        if (is_over && answered == sent) break;
        poll(&poll_one, 1, -1);
        if (poll_one.revents & POLLIN) {
            ssize_t got = recv(daemon, replies, sizeof replies, MSG_DONTWAIT);
            if (got <= 0) return 1;
            answered += lines(replies, got);
            fwrite(replies, 1, got, stdout);
        }
        if (poll_one.revents & POLLOUT) {
            ssize_t put = send(daemon, input + done, length - done, MSG_DONTWAIT | MSG_NOSIGNAL);
            if (put > 0) done += put;
        }
    }
    return 0;
}
