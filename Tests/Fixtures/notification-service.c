/*
 * A notification service for tests (org.freedesktop.Notifications): shows nothing, and does what it is told.
 *
 *   notification-service ADDRESS EVENTS COMMANDS [CAPABILITY...]
 *
 * It writes a line into the pipe EVENTS for each call that it gets, and reads lines from the pipe COMMANDS:
 *
 *   act NUMBER ACTION     a person invoked an action
 *   close NUMBER REASON   a notification is gone: 1 expired, 2 dismissed, 3 by a call
 *   hang                  no call of Notify is answered from now on
 *   answer                those that were not are
 *   refuse                calls of Notify are answered by an error
 *   quit                  it ends
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <systemd/sd-bus.h>
#include <unistd.h>

static const char *const name = "org.freedesktop.Notifications";
static const char *const path = "/org/freedesktop/Notifications";

static FILE *events;
static sd_bus *bus;
static int commands;
static char **capabilities;
static uint32_t last;
static bool hangs, refuses;

/* Calls that were not answered. */
static struct {
    sd_bus_message *call;
    uint32_t number;
} unanswered[256];
static int unanswered_count;

static void check(int result, const char *what) {
    if (result >= 0) return;
    fprintf(stderr, "notification-service: %s: %s\n", what, strerror(-result));
    exit(1);
}

static int get_capabilities(sd_bus_message *call, void *context, sd_bus_error *error) {
    (void)context, (void)error;
    sd_bus_message *reply = NULL;
    check(sd_bus_message_new_method_return(call, &reply), "reply");
    check(sd_bus_message_append_strv(reply, capabilities), "append");
    int result = sd_bus_send(NULL, reply, NULL);
    sd_bus_message_unref(reply);
    return result < 0 ? result : 1;
}

static void print_hints(sd_bus_message *call) {
    check(sd_bus_message_enter_container(call, 'a', "{sv}"), "hints");
    while (sd_bus_message_enter_container(call, 'e', "sv") > 0) {
        const char *key, *type;
        char kind;
        check(sd_bus_message_read(call, "s", &key), "key");
        check(sd_bus_message_peek_type(call, &kind, &type), "type");
        check(sd_bus_message_enter_container(call, 'v', type), "variant");
        fprintf(events, " %s=", key);
        if (*type == 's') {
            const char *text;
            check(sd_bus_message_read(call, "s", &text), "text");
            fputs(text, events);
        } else if (*type == 'y') {
            uint8_t byte;
            check(sd_bus_message_read(call, "y", &byte), "byte");
            fprintf(events, "%u", byte);
        } else {
            int truth;
            check(sd_bus_message_read(call, "b", &truth), "boolean");
            fputs(truth ? "yes" : "no", events);
        }
        sd_bus_message_exit_container(call);
        sd_bus_message_exit_container(call);
    }
    sd_bus_message_exit_container(call);
}

static void read_commands(void);

static int notify(sd_bus_message *call, void *context, sd_bus_error *error) {
    (void)context;
    /* A command that came before the call counts for it. */
    read_commands();
    const char *app, *icon, *summary, *body, *action;
    uint32_t replaces;
    int32_t timeout;
    check(sd_bus_message_read(call, "susss", &app, &replaces, &icon, &summary, &body), "arguments");
    uint32_t number = replaces ? replaces : ++last;
    fprintf(events, "notify %u app=%s icon=%s summary=%s body=%s actions=", number, app, icon, summary, body);
    check(sd_bus_message_enter_container(call, 'a', "s"), "actions");
    while (sd_bus_message_read(call, "s", &action) > 0) fprintf(events, "%s|", action);
    sd_bus_message_exit_container(call);
    print_hints(call);
    check(sd_bus_message_read(call, "i", &timeout), "timeout");
    fprintf(events, " expires=%d\n", timeout);
    fflush(events);
    if (refuses) return sd_bus_error_set(error, "org.example.Refused", "not today");
    if (hangs && unanswered_count < 256) {
        unanswered[unanswered_count].call = sd_bus_message_ref(call);
        unanswered[unanswered_count++].number = number;
        return 1;
    }
    return sd_bus_reply_method_return(call, "u", number);
}

static int close_notification(sd_bus_message *call, void *context, sd_bus_error *error) {
    (void)context, (void)error;
    uint32_t number;
    check(sd_bus_message_read(call, "u", &number), "number");
    fprintf(events, "withdrawn %u\n", number);
    fflush(events);
    return sd_bus_reply_method_return(call, "");
}

static const sd_bus_vtable vtable[] = {
    SD_BUS_VTABLE_START(0),
    SD_BUS_METHOD("GetCapabilities", "", "as", get_capabilities, SD_BUS_VTABLE_UNPRIVILEGED),
    SD_BUS_METHOD("Notify", "susssasa{sv}i", "u", notify, SD_BUS_VTABLE_UNPRIVILEGED),
    SD_BUS_METHOD("CloseNotification", "u", "", close_notification, SD_BUS_VTABLE_UNPRIVILEGED),
    SD_BUS_SIGNAL("ActionInvoked", "us", 0),
    SD_BUS_SIGNAL("NotificationClosed", "uu", 0),
    SD_BUS_VTABLE_END,
};

static void obey(const char *line) {
    uint32_t number, reason;
    char action[256];
    if (sscanf(line, "act %u %255s", &number, action) == 2) {
        check(sd_bus_emit_signal(bus, path, name, "ActionInvoked", "us", number, action), "signal");
    } else if (sscanf(line, "close %u %u", &number, &reason) == 2) {
        check(sd_bus_emit_signal(bus, path, name, "NotificationClosed", "uu", number, reason), "signal");
    } else if (!strcmp(line, "hang")) {
        hangs = true;
    } else if (!strcmp(line, "refuse")) {
        refuses = true;
    } else if (!strcmp(line, "answer")) {
        hangs = false;
        while (unanswered_count > 0) {
            unanswered_count--;
            sd_bus_reply_method_return(unanswered[unanswered_count].call, "u", unanswered[unanswered_count].number);
            sd_bus_message_unref(unanswered[unanswered_count].call);
        }
    } else if (!strcmp(line, "quit")) {
        exit(0);
    }
}

static void read_commands(void) {
    static char input[4096];
    static size_t length;
    ssize_t got = read(commands, input + length, sizeof input - length - 1);
    if (got > 0) length += (size_t)got;
    for (char *end; (end = memchr(input, '\n', length)); ) {
        *end = 0;
        obey(input);
        length -= (size_t)(end + 1 - input);
        memmove(input, end + 1, length);
    }
}

int main(int count, char **words) {
    if (count < 4) return 2;
    capabilities = words + 4;
    events = fdopen(open(words[2], O_RDWR | O_CLOEXEC), "w");
    commands = open(words[3], O_RDWR | O_NONBLOCK | O_CLOEXEC);
    if (!events || commands < 0) return 1;
    check(sd_bus_new(&bus), "bus");
    check(sd_bus_set_address(bus, words[1]), "address");
    check(sd_bus_set_bus_client(bus, 1), "client");
    check(sd_bus_start(bus), "start");
    check(sd_bus_add_object_vtable(bus, NULL, path, name, vtable, NULL), "object");
    check(sd_bus_request_name(bus, name, 0), "name");
    fputs("ready\n", events);
    fflush(events);
    for (;;) {
        int result;
        while ((result = sd_bus_process(bus, NULL)) > 0) {}
        check(result, "process");
        check(sd_bus_flush(bus), "flush");
        struct pollfd ready[] = {{sd_bus_get_fd(bus), POLLIN, 0}, {commands, POLLIN, 0}};
        if (poll(ready, 2, -1) < 0 && errno != EINTR) return 1;
        read_commands();
    }
}
