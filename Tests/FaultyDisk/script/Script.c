/* The program that the disk's own tests run on it: each argument is a call, with its operands between spaces. It prints
 * a line for each: the result, or the name of the error.
 *
 * open SLOT PATH FLAG...   close SLOT   dup SLOT NEW
 * write SLOT TEXT   pwrite SLOT OFFSET LETTER COUNT [dsync]   read SLOT OFFSET COUNT
 * fsync SLOT   fdatasync SLOT   range SLOT   truncate SLOT LENGTH   allocate SLOT OFFSET LENGTH   map SLOT LENGTH LETTER
 * copy SLOT NEW COUNT   rename PATH PATH   unlink PATH   link PATH PATH   mkdir PATH   rmdir PATH   sync PATH   kill
 * fork SLOT   child
 *
 * SLOT is a small number; `read` prints runs of equal bytes, `a512 .512` for 512 letters and 512 zeros. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

enum { wordsMax = 12, slotsMax = 16, alignment = 4096, bufferSize = 1 << 20 };

static int slots[slotsMax];
static char *words[wordsMax];
static int count;
static char *buffer;

static long number(int index) { return index < count ? strtol(words[index], NULL, 10) : 0; }

static int slot(int index) { return slots[number(index) % slotsMax]; }

static int flag(const char *name) {
    static const struct {
        const char *name;
        int flag;
    } flags[] = {{"rw", O_RDWR},     {"wo", O_WRONLY},   {"creat", O_CREAT},   {"excl", O_EXCL},
                 {"trunc", O_TRUNC}, {"append", O_APPEND}, {"dsync", O_DSYNC}, {"direct", O_DIRECT}};
    for (size_t index = 0; index < sizeof flags / sizeof *flags; index++) {
        if (strcmp(name, flags[index].name) == 0) return flags[index].flag;
    }
    return O_RDONLY;
}

static long openFile(void) {
    int flags = 0;
    for (int index = 3; index < count; index++) flags |= flag(words[index]);
    return slots[number(1) % slotsMax] = open(words[2], flags | O_CLOEXEC, 0640);
}

static long writeAt(void) {
    memset(buffer, words[3][0] == '.' ? 0 : words[3][0], (size_t)number(4));
    struct iovec part = {buffer, (size_t)number(4)};
    if (count > 5) return pwritev2(slot(1), &part, 1, number(2), RWF_DSYNC);
    return pwrite(slot(1), buffer, (size_t)number(4), number(2));
}

static long readAt(void) {
    ssize_t length = pread(slot(1), buffer, (size_t)number(3), number(2));
    for (ssize_t index = 0, start = 0; index < length; index++) {
        if (index + 1 < length && buffer[index + 1] == buffer[start]) continue;
        printf("%s%c%zd", start ? " " : "", buffer[start] ? buffer[start] : '.', index + 1 - start);
        start = index + 1;
    }
    if (length > 0) printf(" = ");
    return length;
}

static long mapFile(void) {
    char *memory = mmap(NULL, (size_t)number(2), PROT_READ | PROT_WRITE, MAP_SHARED, slot(1), 0);
    if (memory == MAP_FAILED) return -1;
    memset(memory, words[3][0], (size_t)number(2));
    return 0;
}

static long syncDirectory(void) {
    int file = open(words[1], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (file < 0) return file;
    int result = fsync(file), error = errno;
    close(file);
    errno = error;
    return result;
}

/* A child that closes what it has inherited. */
static long forkChild(void) {
    pid_t child = fork();
    if (child == 0) _exit(close(slot(1)));
    int status;
    return child < 0 || waitpid(child, &status, 0) < 0 ? -1 : status;
}

/* A program with this one's environment; 0 if that does not put it on a disk. */
static long runChild(void) {
    char *arguments[] = {"sh", "-c", "test -z \"$LD_PRELOAD$FAULTY_DISK\"", NULL};
    pid_t child;
    int status;
    errno = posix_spawn(&child, "/bin/sh", NULL, NULL, arguments, environ);
    return errno || waitpid(child, &status, 0) < 0 ? -1 : status;
}

static long call(void) {
    const char *name = words[0];
    if (strcmp(name, "open") == 0) return openFile() < 0 ? -1 : 0;
    if (strcmp(name, "close") == 0) return close(slot(1));
    if (strcmp(name, "dup") == 0) return (slots[number(2) % slotsMax] = dup(slot(1))) < 0 ? -1 : 0;
    if (strcmp(name, "write") == 0) return write(slot(1), words[2], strlen(words[2]));
    if (strcmp(name, "pwrite") == 0) return writeAt();
    if (strcmp(name, "read") == 0) return readAt();
    if (strcmp(name, "fsync") == 0) return fsync(slot(1));
    if (strcmp(name, "fdatasync") == 0) return fdatasync(slot(1));
    if (strcmp(name, "range") == 0) return sync_file_range(slot(1), 0, 0, SYNC_FILE_RANGE_WRITE);
    if (strcmp(name, "truncate") == 0) return ftruncate(slot(1), number(2));
    if (strcmp(name, "allocate") == 0) {
        errno = posix_fallocate(slot(1), number(2), number(3));
        return errno ? -1 : 0;
    }
    if (strcmp(name, "map") == 0) return mapFile();
    if (strcmp(name, "copy") == 0) return copy_file_range(slot(1), NULL, slot(2), NULL, (size_t)number(3), 0);
    if (strcmp(name, "rename") == 0) return rename(words[1], words[2]);
    if (strcmp(name, "unlink") == 0) return unlink(words[1]);
    if (strcmp(name, "link") == 0) return link(words[1], words[2]);
    if (strcmp(name, "mkdir") == 0) return mkdir(words[1], 0750);
    if (strcmp(name, "rmdir") == 0) return rmdir(words[1]);
    if (strcmp(name, "sync") == 0) return syncDirectory();
    if (strcmp(name, "fork") == 0) return forkChild();
    if (strcmp(name, "child") == 0) return runChild();
    if (strcmp(name, "kill") == 0) return kill(getpid(), SIGKILL);
    errno = ENOSYS;
    return -1;
}

int main(int argumentCount, char **arguments) {
    buffer = aligned_alloc(alignment, bufferSize);
    if (!buffer) return 1;
    /* Line by line: what was done is said even if the next call is the last. */
    setvbuf(stdout, NULL, _IOLBF, 0);
    for (int index = 1; index < argumentCount; index++) {
        count = 0;
        for (char *word = strtok(arguments[index], " "); word && count < wordsMax; word = strtok(NULL, " ")) {
            words[count++] = word;
        }
        if (count == 0) continue;
        long result = call();
        if (result < 0) printf("%s\n", strerrorname_np(errno));
        else printf("%ld\n", result);
    }
    return 0;
}
