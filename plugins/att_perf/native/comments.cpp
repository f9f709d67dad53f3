// The native twin of autofuse_att_perf.scopes.blank_comments.
#include "tape.h"

namespace perf {
namespace {

// Behind the string or character that begins at `at`; `at + 1` where it is none.
size_t PastQuoted(const char *text, size_t size, size_t at) {
  const char quote = text[at];
  size_t next = at + 1;
  size_t length = 0;
  while (next < size && text[next] != quote && text[next] != '\n') {
    next += text[next] == '\\' ? 2 : 1;
    ++length;
  }
  const bool closed = next < size && text[next] == quote && (quote == '"' || length == 1);
  return closed ? next + 1 : at + 1;
}

// Behind the comment that begins at `at` with `//` or `/*`.
size_t PastComment(const char *text, size_t size, size_t at) {
  size_t next = at + 2;
  if (text[at + 1] == '/') {
    while (next < size && text[next] != '\n') {
      if (text[next] != '\\') {
        ++next;
      } else if (next + 1 < size) {
        next += 2;  // the next line belongs to the comment too
      } else {
        break;
      }
    }
    return next;
  }
  while (next + 1 < size && !(text[next] == '*' && text[next + 1] == '/')) ++next;
  return next + 1 < size ? next + 2 : size;
}

}  // namespace

void BlankComments(char *text, size_t size) {
  size_t at = 0;
  while (at < size) {
    const char c = text[at];
    if (c == '"' || c == '\'') {
      at = PastQuoted(text, size, at);
    } else if (c == '/' && at + 1 < size && (text[at + 1] == '/' || text[at + 1] == '*')) {
      const size_t end = PastComment(text, size, at);
      for (; at < end; ++at) {
        if (text[at] != '\n') text[at] = ' ';
      }
    } else {
      ++at;
    }
  }
}

}  // namespace perf
