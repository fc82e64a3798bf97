/* load SOCKET CONNECTIONS WINDOW AMOUNT LINE_FILE [ROUND]: a closed loop of request lines over a Unix stream socket.
 *
 * Each connection keeps WINDOW requests unanswered, and sends as many at once as replies have come at once. Every '@'
 * in the line becomes the connection's number, every '#' the number of the request on its connection, in eight digits,
 * which restarts after ROUND of them. AMOUNT is seconds, or a number of requests with an r behind it (5000r).
 * Prints: replies a second, replies that were errors, and the round trip's p50 and p99 in microseconds. */
#define _GNU_SOURCE
#include <err.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum { NUMBERS = 4, DIGITS = 8 };

struct client {
    int fd;
    char *line;
    size_t length;
    size_t numbers[NUMBERS]; /* where the request's number goes */
    int number_count;
    unsigned long requests;
    int64_t *sent; /* a ring of WINDOW times */
    unsigned long replies;
};

static unsigned long round_length = 100000000, requests_left = -1UL;
static int window;
static char *output; /* room for WINDOW lines */

static int64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000000000L + time.tv_nsec;
}

static void send_lines(struct client *client, int count, int64_t time) {
    size_t length = 0;
    for (; count > 0 && requests_left > 0; count--, requests_left--) {
        unsigned long number = client->requests++;
        for (int i = 0; i < client->number_count; i++) {
            unsigned long rest = number % round_length;
            char *first = client->line + client->numbers[i];
            for (char *digit = first + DIGITS - 1; digit >= first; digit--) {
                *digit = '0' + rest % 10;
                rest /= 10;
            }
        }
        client->sent[number % window] = time;
        memcpy(output + length, client->line, client->length);
        length += client->length;
    }
    for (size_t done = 0; done < length;) {
        ssize_t written = write(client->fd, output + done, length - done);
        if (written < 0) err(1, "write");
        done += written;
    }
}

static int connect_to(const char *path) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    strncpy(address.sun_path, path, sizeof address.sun_path - 1);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof address)) err(1, "%s", path);
    return fd;
}

/* The line of one connection. */
static void fill(struct client *client, const char *text, int number) {
    FILE *stream = open_memstream(&client->line, &client->length);
    for (; *text && *text != '\n'; text++) {
        if (*text == '@') {
            fprintf(stream, "%d", number);
        } else if (*text == '#') {
            if (client->number_count == NUMBERS) errx(2, "more than %d '#' in the line", NUMBERS);
            fflush(stream);
            client->numbers[client->number_count++] = client->length;
            fputs("00000000", stream);
        } else {
            fputc(*text, stream);
        }
    }
    fputc('\n', stream);
    fclose(stream);
}

static int compare(const void *a, const void *b) {
    int64_t left = *(const int64_t *)a, right = *(const int64_t *)b;
    return (left > right) - (left < right);
}

int main(int argc, char **argv) {
    if (argc != 6 && argc != 7) errx(2, "usage: load SOCKET CONNECTIONS WINDOW SECONDS|NUMBERr LINE_FILE [ROUND]");
    if (argc == 7 && (round_length = strtoul(argv[6], NULL, 10)) == 0) errx(2, "ROUND is 1 or more");
    int connections = atoi(argv[2]);
    window = atoi(argv[3]);
    double seconds = 1e6;
    if (strchr(argv[4], 'r')) {
        requests_left = strtoul(argv[4], NULL, 10);
    } else {
        seconds = atof(argv[4]);
    }
    static char text[1 << 18];
    FILE *file = fopen(argv[5], "r");
    if (!file || !fread(text, 1, sizeof text - 1, file)) err(1, "%s", argv[5]);
    fclose(file);

    int poll = epoll_create1(EPOLL_CLOEXEC);
    struct client *clients = calloc(connections, sizeof *clients);
    size_t longest = 0;
    for (int i = 0; i < connections; i++) {
        struct client *client = &clients[i];
        client->fd = connect_to(argv[1]);
        fill(client, text, i);
        if (client->length > longest) longest = client->length;
        client->sent = calloc(window, sizeof *client->sent);
        struct epoll_event event = {.events = EPOLLIN, .data.ptr = client};
        epoll_ctl(poll, EPOLL_CTL_ADD, client->fd, &event);
    }
    output = malloc(longest * window);
    enum { SAMPLES = 1 << 22 };
    int64_t *latency = malloc(SAMPLES * sizeof *latency);
    unsigned long replies = 0, errors = 0, samples = 0, wanted = requests_left;
    int64_t start = now(), end = start + (int64_t)(seconds * 1e9), time = start;
    for (int i = 0; i < connections; i++) send_lines(&clients[i], window, start);
    static char buffer[1 << 20];
    struct epoll_event events[256];
    while (time < end && replies < wanted) {
        int ready = epoll_wait(poll, events, 256, 100);
        time = now();
        for (int i = 0; i < ready; i++) {
            struct client *client = events[i].data.ptr;
            ssize_t count = read(client->fd, buffer, sizeof buffer - 1);
            if (count <= 0) errx(1, "the server closed a connection");
            buffer[count] = 0;
            for (char *at = buffer; (at = strstr(at, "\"ok\":false")); at++) errors++;
            int answered = 0;
            for (char *at = buffer; (at = memchr(at, '\n', buffer + count - at)); at++, answered++) {
                if (samples < SAMPLES) latency[samples++] = time - client->sent[client->replies % window];
                client->replies++;
            }
            replies += answered;
            send_lines(client, answered, time);
        }
    }
    double elapsed = (now() - start) / 1e9;
    qsort(latency, samples, sizeof *latency, compare);
    if (!samples) errx(1, "no reply came");
    printf("%8.0f replies/s  %lu errors  p50 %ld us  p99 %ld us\n", replies / elapsed, errors,
           (long)(latency[samples / 2] / 1000), (long)(latency[samples * 99 / 100] / 1000));
}
