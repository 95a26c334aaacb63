/*
 * Preloaded into the executable, on Linux. With RECORD_FOLDER and RECORD_LOG it writes down each change of
 * a file in that folder and each flush, so that a test can build what a power cut would have left. With
 * CLOCK_OFFSET, a file of one 64-bit number, it adds so many milliseconds to the wall clock; the monotonic
 * clock stays.
 *
 * A record: kind (1 byte), descriptor (4), offset (8), length (4), and that many bytes, little-endian. A
 * write is recorded before it is done and a flush after it, so that a process that is killed in between is
 * recorded as a disk may have seen it.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#define REAL(name) ((__typeof__(&name))real(#name))
#define DESCRIPTORS 4096

enum { OPENED = 1, CREATED = 2, WRITTEN = 3, TRUNCATED = 4, FLUSHED = 5, UNLINKED = 6, RENAMED = 7 };

static const char *folder;
static int log_descriptor = -1;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char is_recorded[DESCRIPTORS];
static volatile int64_t *clock_offset_ms;

static void *real(const char *name) { return dlsym(RTLD_NEXT, name); }

__attribute__((constructor)) static void begin(void) {
  const char *offset = getenv("CLOCK_OFFSET"), *path = getenv("RECORD_LOG");
  if (offset) {
    int descriptor = REAL(open)(offset, O_RDONLY);
    void *memory = mmap(NULL, sizeof(int64_t), PROT_READ, MAP_SHARED, descriptor, 0);
    if (memory != MAP_FAILED) clock_offset_ms = memory;
  }
  folder = getenv("RECORD_FOLDER");
  if (folder && path) log_descriptor = REAL(open)(path, O_WRONLY | O_CREAT | O_APPEND, 0600);
  /* What this process starts is not recorded. */
  unsetenv("RECORD_LOG");
}

static int is_inside(const char *path) {
  size_t length = folder ? strlen(folder) : 0;
  if (log_descriptor < 0 || strncmp(path, folder, length) != 0) return 0;
  if (path[length] != '/' && path[length] != 0) return 0;
  size_t whole = strlen(path);
  return whole < 4 || strcmp(path + whole - 4, "-shm") != 0;
}

static int is_followed(int descriptor) {
  return descriptor >= 0 && descriptor < DESCRIPTORS && is_recorded[descriptor];
}

static void record(char kind, int32_t descriptor, int64_t offset, const void *data, uint32_t length) {
  char head[17];
  head[0] = kind;
  memcpy(head + 1, &descriptor, 4);
  memcpy(head + 5, &offset, 8);
  memcpy(head + 13, &length, 4);
  struct iovec parts[] = {{head, sizeof head}, {(void *)data, length}};
  REAL(writev)(log_descriptor, parts, 2);
}

static void record_path(char kind, int descriptor, const char *path) {
  const char *name = path + strlen(folder);
  record(kind, descriptor, 0, name, strlen(name));
}

static int opened(int descriptor, const char *path, int existed) {
  if (descriptor < 0 || descriptor >= DESCRIPTORS) return descriptor;
  is_recorded[descriptor] = 1;
  record_path(existed ? OPENED : CREATED, descriptor, path);
  return descriptor;
}

#define OPEN(name)                                                  \
  int name(const char *path, int flags, ...) {                      \
    mode_t mode = 0;                                                \
    if (flags & (O_CREAT | O_TMPFILE)) {                            \
      va_list arguments;                                            \
      va_start(arguments, flags);                                   \
      mode = va_arg(arguments, mode_t);                             \
      va_end(arguments);                                            \
    }                                                               \
    if (!is_inside(path)) return REAL(name)(path, flags, mode);     \
    pthread_mutex_lock(&lock);                                      \
    struct stat status;                                             \
    int existed = stat(path, &status) == 0;                         \
    int descriptor = opened(REAL(name)(path, flags, mode), path, existed); \
    pthread_mutex_unlock(&lock);                                    \
    return descriptor;                                              \
  }
OPEN(open)
OPEN(open64)

int close(int descriptor) {
  if (descriptor >= 0 && descriptor < DESCRIPTORS) is_recorded[descriptor] = 0;
  return REAL(close)(descriptor);
}

#define PWRITE(name, offset_type)                                                        \
  ssize_t name(int descriptor, const void *data, size_t length, offset_type offset) {    \
    if (!is_followed(descriptor)) return REAL(name)(descriptor, data, length, offset);   \
    pthread_mutex_lock(&lock);                                                           \
    record(WRITTEN, descriptor, offset, data, length);                                   \
    ssize_t written = REAL(name)(descriptor, data, length, offset);                      \
    pthread_mutex_unlock(&lock);                                                         \
    return written;                                                                      \
  }
PWRITE(pwrite, off_t)
PWRITE(pwrite64, off64_t)

ssize_t write(int descriptor, const void *data, size_t length) {
  if (!is_followed(descriptor)) return REAL(write)(descriptor, data, length);
  pthread_mutex_lock(&lock);
  record(WRITTEN, descriptor, lseek(descriptor, 0, SEEK_CUR), data, length);
  ssize_t written = REAL(write)(descriptor, data, length);
  pthread_mutex_unlock(&lock);
  return written;
}

#define TRUNCATE(name, length_type)                                               \
  int name(int descriptor, length_type length) {                                  \
    if (!is_followed(descriptor)) return REAL(name)(descriptor, length);          \
    pthread_mutex_lock(&lock);                                                    \
    record(TRUNCATED, descriptor, length, NULL, 0);                               \
    int result = REAL(name)(descriptor, length);                                  \
    pthread_mutex_unlock(&lock);                                                  \
    return result;                                                                \
  }
TRUNCATE(ftruncate, off_t)
TRUNCATE(ftruncate64, off64_t)

#define FLUSH(name)                                                    \
  int name(int descriptor) {                                           \
    if (!is_followed(descriptor)) return REAL(name)(descriptor);       \
    pthread_mutex_lock(&lock);                                         \
    int result = REAL(name)(descriptor);                               \
    if (result == 0) record(FLUSHED, descriptor, 0, NULL, 0);          \
    pthread_mutex_unlock(&lock);                                       \
    return result;                                                     \
  }
FLUSH(fsync)
FLUSH(fdatasync)

int unlink(const char *path) {
  if (!is_inside(path)) return REAL(unlink)(path);
  pthread_mutex_lock(&lock);
  record_path(UNLINKED, -1, path);
  int result = REAL(unlink)(path);
  pthread_mutex_unlock(&lock);
  return result;
}

static void shift(struct timespec *at) {
  if (!clock_offset_ms) return;
  int64_t ms = at->tv_sec * 1000 + *clock_offset_ms;
  at->tv_sec = ms / 1000;
}

int clock_gettime(clockid_t clock, struct timespec *at) {
  int result = REAL(clock_gettime)(clock, at);
  if (result == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) shift(at);
  return result;
}

int gettimeofday(struct timeval *restrict at, void *restrict zone) {
  int result = REAL(gettimeofday)(at, zone);
  if (result == 0 && clock_offset_ms) at->tv_sec += *clock_offset_ms / 1000;
  return result;
}

time_t time(time_t *at) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  if (at) *at = now.tv_sec;
  return now.tv_sec;
}
