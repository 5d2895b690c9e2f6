#pragma once
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/types.h>

#ifdef __linux__
// Swift's Glibc module is built without _GNU_SOURCE: this declares what it hides.
extern ssize_t copy_file_range(int from, off_t *from_offset, int to, off_t *to_offset, size_t length, unsigned flags);
extern int renameat2(int old_folder, const char *old_path, int new_folder, const char *new_path, unsigned flags);
extern int syncfs(int descriptor);
extern int malloc_trim(size_t pad);
extern int mallopt(int parameter, int value);
#ifdef __GLIBC__
extern int posix_spawn_file_actions_addclosefrom_np(posix_spawn_file_actions_t *actions, int first);
#endif
// M_MMAP_THRESHOLD and M_ARENA_MAX of <malloc.h>.
static const int ferry_mmap_threshold = -3;
static const int ferry_arena_max = -8;
static const unsigned ferry_rename_exchange = 2;
// O_TMPFILE: the same number on every architecture but alpha and parisc, with O_DIRECTORY so that old kernels refuse it.
static const int ferry_O_TMPFILE = 020000000 | O_DIRECTORY;
#endif
