/* Parts of Linux that `import Glibc` lacks: calls behind _GNU_SOURCE, macros, variadics. One prefix, no logic. */
#pragma once

/* As in CSystemd: the declarations of the C library stay Glibc's. */
#if __has_feature(modules)
#pragma clang module import SwiftGlibc
#endif
#include "CLinuxDisk.h"
#include "CLinuxLoop.h"
#include "CLinuxProcess.h"
