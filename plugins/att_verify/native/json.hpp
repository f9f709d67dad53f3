// Just enough JSON writing for one-line answers.
#pragma once

#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

namespace runner {

// Appends `text` as a JSON string; bytes that are no printable ASCII become \u00xx, so the line is always valid UTF-8.
inline void AppendJsonString(std::string &out, std::string_view text) {
  out += '"';
  for (const char byte : text) {
    const auto code = static_cast<unsigned char>(byte);
    if (byte == '"' || byte == '\\') {
      out += '\\';
      out += byte;
    } else if (code < 0x20 || code >= 0x7f) {
      char escaped[8];
      std::snprintf(escaped, sizeof(escaped), "\\u%04x", code);
      out += escaped;
    } else {
      out += byte;
    }
  }
  out += '"';
}

class JsonLine {
 public:
  JsonLine &Field(std::string_view key, std::string_view text) {
    Key(key);
    AppendJsonString(text_, text);
    return *this;
  }
  JsonLine &Field(std::string_view key, std::int64_t number) { return Raw(key, std::to_string(number)); }
  JsonLine &Field(std::string_view key, bool flag) { return Raw(key, flag ? "true" : "false"); }
  JsonLine &Field(std::string_view key, const char *text) { return Field(key, std::string_view(text)); }
  JsonLine &Raw(std::string_view key, std::string_view json) {
    Key(key);
    text_ += json;
    return *this;
  }
  std::string Finish() const { return text_ + "}\n"; }

 private:
  void Key(std::string_view key) {
    text_ += text_.size() > 1 ? "," : "";
    AppendJsonString(text_, key);
    text_ += ':';
  }

  std::string text_ = "{";
};

}  // namespace runner
