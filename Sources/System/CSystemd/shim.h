#pragma once
// The declarations of the C library stay Glibc's: each module that declares them again would have its own, and which one
// Swift finds would depend on the order of the files.
#if __has_feature(modules)
#pragma clang module import SwiftGlibc
#endif
#include <systemd/sd-bus.h>
#include <systemd/sd-daemon.h>
#include <systemd/sd-event.h>
#include <systemd/sd-id128.h>
#include <systemd/sd-journal.h>
