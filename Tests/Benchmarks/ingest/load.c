/* load SOCKET CONNECTIONS WINDOW SECONDS LINE_FILE [ROUND]: a closed loop of request lines over a Unix stream socket.
 *
 * Each connection keeps WINDOW requests unanswered. Every '@' in the line becomes the connection's number, every '#' the
 * number of the request on its connection, in eight digits, which begins anew after ROUND of them.
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

struct client {
    int fd;
    char *line;
    size_t length;
    size_t numbers[4]; /* where the request's number goes */
    int number_count;
    unsigned long requests;
    int64_t *sent; /* a ring of WINDOW times */
    unsigned long replies;
};

static int64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000000000L + time.tv_nsec;
}

static unsigned long round_length = 100000000;

static void send_line(struct client *client, int window) {
    unsigned long number = client->requests++;
    for (int i = 0; i < client->number_count; i++) {
        unsigned long rest = number % round_length;
        for (char *digit = client->line + client->numbers[i] + 7; digit >= client->line + client->numbers[i]; digit--) {
            *digit = '0' + rest % 10;
            rest /= 10;
        }
    }
    client->sent[number % window] = now();
    for (size_t done = 0; done < client->length;) {
        ssize_t count = write(client->fd, client->line + done, client->length - done);
        if (count < 0) err(1, "write");
        done += count;
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
            if (client->number_count == 4) errx(2, "more than four '#' in the line");
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
    if (argc != 6 && argc != 7) errx(2, "usage: load SOCKET CONNECTIONS WINDOW SECONDS LINE_FILE [ROUND]");
    if (argc == 7 && (round_length = strtoul(argv[6], NULL, 10)) == 0) errx(2, "ROUND is 1 or more");
    int connections = atoi(argv[2]), window = atoi(argv[3]);
    double seconds = atof(argv[4]);
    static char text[1 << 18];
    FILE *file = fopen(argv[5], "r");
    if (!file || !fread(text, 1, sizeof text - 1, file)) err(1, "%s", argv[5]);
    fclose(file);

    int poll = epoll_create1(EPOLL_CLOEXEC);
    struct client *clients = calloc(connections, sizeof *clients);
    for (int i = 0; i < connections; i++) {
        struct client *client = &clients[i];
        client->fd = connect_to(argv[1]);
        fill(client, text, i);
        client->sent = calloc(window, sizeof *client->sent);
        struct epoll_event event = {.events = EPOLLIN, .data.ptr = client};
        epoll_ctl(poll, EPOLL_CTL_ADD, client->fd, &event);
    }
    enum { SAMPLES = 1 << 22 };
    int64_t *latency = malloc(SAMPLES * sizeof *latency);
    unsigned long replies = 0, errors = 0, samples = 0;
    int64_t start = now(), end = start + (int64_t)(seconds * 1e9);
    for (int i = 0; i < connections; i++)
        for (int j = 0; j < window; j++) send_line(&clients[i], window);
    static char buffer[1 << 20];
    struct epoll_event events[256];
    while (now() < end) {
        int ready = epoll_wait(poll, events, 256, 100);
        for (int i = 0; i < ready; i++) {
            struct client *client = events[i].data.ptr;
            ssize_t count = read(client->fd, buffer, sizeof buffer - 1);
            if (count <= 0) errx(1, "the server closed a connection");
            buffer[count] = 0;
            for (char *at = buffer; (at = strstr(at, "\"ok\":false")); at++) errors++;
            int64_t time = now();
            for (char *at = buffer; (at = memchr(at, '\n', buffer + count - at)); at++) {
                if (samples < SAMPLES) latency[samples++] = time - client->sent[client->replies % window];
                client->replies++;
                send_line(client, window);
                replies++;
            }
        }
    }
    double elapsed = (now() - start) / 1e9;
    qsort(latency, samples, sizeof *latency, compare);
    if (!samples) errx(1, "no reply came");
    printf("%8.0f replies/s  %lu errors  p50 %ld us  p99 %ld us\n", replies / elapsed, errors,
           (long)(latency[samples / 2] / 1000), (long)(latency[samples * 99 / 100] / 1000));
}
