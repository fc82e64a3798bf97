#define _GNU_SOURCE
#include "CTestProbe.h"

#include <spawn.h>
#include <sys/socket.h>

int CTestProbe_accept(int listener) { return accept4(listener, 0, 0, SOCK_CLOEXEC); }

int CTestProbe_close_from(void *actions, int first) { return posix_spawn_file_actions_addclosefrom_np(actions, first); }
