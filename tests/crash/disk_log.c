/* Logs what a process changes in one folder, in the order in which it happens.

Preloaded (LD_PRELOAD) into a real process. POWER_FOLDER names the folder, POWER_LOG
the log. One record for each write, truncation, sync, creation, removal and renaming
that has returned: kind, moment, offset, two lengths, then path and content.
tests/crash/power.py reads it. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#define MOST_FILES 65536

struct head {
    char kind;
    int64_t moment_ns;
    int64_t offset;
    int32_t path_length;
    int32_t content_length;
} __attribute__((packed));

static char *paths[MOST_FILES];
static const char *folder;
static int log_file = -1;

#define REAL(name) ((typeof(&name))dlsym(RTLD_NEXT, #name))

__attribute__((constructor)) static void begin(void) {
    folder = getenv("POWER_FOLDER");
    const char *path = getenv("POWER_LOG");
    if (folder != NULL && path != NULL)
        log_file = syscall(SYS_openat, AT_FDCWD, path,
                           O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
}

static int is_ours(const char *path) {
    return log_file >= 0 && path != NULL &&
           strncmp(path, folder, strlen(folder)) == 0;
}

static const char *path_of(int file) {
    return file >= 0 && file < MOST_FILES ? paths[file] : NULL;
}

static void note(char kind, const char *path, int64_t offset, const void *content,
                 size_t length) {
    int kept = errno;
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    struct head head = {kind, now.tv_sec * 1000000000LL + now.tv_nsec, offset,
                        strlen(path), length};
    struct iovec parts[] = {{&head, sizeof head},
                            {(void *)path, strlen(path)},
                            {(void *)content, length}};
    if (syscall(SYS_writev, log_file, parts, 3) < 0)
        abort();
    errno = kept;
}

static int opened(const char *path, int flags, int was_there, int file) {
    if (file < 0 || file >= MOST_FILES || !is_ours(path))
        return file;
    free(paths[file]);
    paths[file] = strdup(path);
    if ((flags & O_CREAT) && !was_there)
        note('C', path, 0, "", 0);
    if ((flags & O_TRUNC) && was_there)
        note('T', path, 0, "", 0);
    return file;
}

#define OPEN(name)                                                                     \
    int name(const char *path, int flags, ...) {                                       \
        va_list rest;                                                                  \
        va_start(rest, flags);                                                         \
        mode_t mode = va_arg(rest, mode_t);                                            \
        va_end(rest);                                                                  \
        int was_there = is_ours(path) && access(path, F_OK) == 0;                      \
        return opened(path, flags, was_there, REAL(name)(path, flags, mode));          \
    }
OPEN(open)
OPEN(open64)

#define OPENAT(name)                                                                   \
    int name(int at, const char *path, int flags, ...) {                               \
        va_list rest;                                                                  \
        va_start(rest, flags);                                                         \
        mode_t mode = va_arg(rest, mode_t);                                            \
        va_end(rest);                                                                  \
        int was_there = is_ours(path) && access(path, F_OK) == 0;                      \
        return opened(path, flags, was_there, REAL(name)(at, path, flags, mode));      \
    }
OPENAT(openat)
OPENAT(openat64)

int close(int file) {
    if (path_of(file) != NULL) {
        free(paths[file]);
        paths[file] = NULL;
    }
    return REAL(close)(file);
}

ssize_t write(int file, const void *content, size_t length) {
    const char *path = path_of(file);
    off_t offset = 0;
    if (path != NULL) {
        struct stat state;
        int is_at_end = fcntl(file, F_GETFL) & O_APPEND;
        offset = is_at_end && fstat(file, &state) == 0 ? state.st_size
                                                       : lseek(file, 0, SEEK_CUR);
    }
    ssize_t written = REAL(write)(file, content, length);
    if (path != NULL && written > 0)
        note('W', path, offset, content, written);
    return written;
}

#define PWRITE(name, type)                                                             \
    ssize_t name(int file, const void *content, size_t length, type offset) {          \
        ssize_t written = REAL(name)(file, content, length, offset);                   \
        if (path_of(file) != NULL && written > 0)                                      \
            note('W', path_of(file), offset, content, written);                        \
        return written;                                                                \
    }
PWRITE(pwrite, off_t)
PWRITE(pwrite64, off64_t)

#define FTRUNCATE(name, type)                                                          \
    int name(int file, type length) {                                                  \
        int result = REAL(name)(file, length);                                         \
        if (path_of(file) != NULL && result == 0)                                      \
            note('T', path_of(file), length, "", 0);                                   \
        return result;                                                                 \
    }
FTRUNCATE(ftruncate, off_t)
FTRUNCATE(ftruncate64, off64_t)

#define SYNC(name)                                                                     \
    int name(int file) {                                                               \
        int result = REAL(name)(file);                                                 \
        if (path_of(file) != NULL && result == 0)                                      \
            note('S', path_of(file), 0, "", 0);                                        \
        return result;                                                                 \
    }
SYNC(fsync)
SYNC(fdatasync)

int unlink(const char *path) {
    int result = REAL(unlink)(path);
    if (result == 0 && is_ours(path))
        note('U', path, 0, "", 0);
    return result;
}

int rename(const char *path, const char *other) {
    int result = REAL(rename)(path, other);
    if (result == 0 && is_ours(path))
        note('R', path, 0, other, strlen(other));
    return result;
}
