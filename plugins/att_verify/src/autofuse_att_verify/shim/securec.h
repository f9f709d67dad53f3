// Stand-in for the bounded string functions that CANN ships, written from their names and calling conventions only.
#ifndef AUTOFUSE_SHIM_SECUREC_H
#define AUTOFUSE_SHIM_SECUREC_H

#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#ifndef EOK
#define EOK 0
#endif
#ifndef AUTOFUSE_SHIM_ERRNO_T
#define AUTOFUSE_SHIM_ERRNO_T
typedef int errno_t;
#endif

#ifdef __cplusplus
extern "C" {
#endif

static inline errno_t memcpy_s(void *target, size_t room, const void *source, size_t count) {
  if (target == NULL || source == NULL || room < count) {
    if (target != NULL && room > 0) {
      memset(target, 0, room);
    }
    return target == NULL || source == NULL ? EINVAL : ERANGE;
  }
  memmove(target, source, count);
  return EOK;
}

static inline errno_t memset_s(void *target, size_t room, int value, size_t count) {
  if (target == NULL) {
    return EINVAL;
  }
  memset(target, value, count < room ? count : room);
  return count <= room ? EOK : ERANGE;
}

static inline errno_t strncpy_s(char *target, size_t room, const char *source, size_t count) {
  if (target == NULL || room == 0) {
    return EINVAL;
  }
  if (source == NULL) {
    target[0] = '\0';
    return EINVAL;
  }
  const size_t length = strnlen(source, count);
  if (length >= room) {
    target[0] = '\0';
    return ERANGE;
  }
  memcpy(target, source, length);
  target[length] = '\0';
  return EOK;
}

// The length of the text, or -1 when it does not fit. A room of 0 asks for the length alone.
static inline int vsnprintf_s(char *target, size_t room, size_t count, const char *format, va_list arguments) {
  if (format == NULL || (target == NULL && room != 0)) {
    return -1;
  }
  if (room == 0) {
    return vsnprintf(NULL, 0, format, arguments);
  }
  const size_t limit = count < room - 1 ? count + 1 : room;
  const int length = vsnprintf(target, limit, format, arguments);
  if (length < 0) {
    target[0] = '\0';
    return -1;
  }
  // Cut at `count` the text stays and the answer is -1; beyond the room nothing stays.
  if ((size_t)length >= room && count >= room) {
    target[0] = '\0';
  }
  return (size_t)length < limit ? length : -1;
}

static inline int vsprintf_s(char *target, size_t room, const char *format, va_list arguments) {
  return room == 0 ? -1 : vsnprintf_s(target, room, room, format, arguments);
}

__attribute__((format(printf, 4, 5))) static inline int snprintf_s(char *target, size_t room, size_t count,
                                                                   const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  const int length = vsnprintf_s(target, room, count, format, arguments);
  va_end(arguments);
  return length;
}

__attribute__((format(printf, 3, 4))) static inline int sprintf_s(char *target, size_t room, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  const int length = vsprintf_s(target, room, format, arguments);
  va_end(arguments);
  return length;
}

static inline errno_t strcpy_s(char *target, size_t room, const char *source) {
  return strncpy_s(target, room, source, source == NULL ? 0 : strlen(source));
}

#ifdef __cplusplus
}
#endif

#endif  // AUTOFUSE_SHIM_SECUREC_H
