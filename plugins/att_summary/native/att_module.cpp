// The batch parser: matched lines of one block in, event columns out. The GIL is released while lines are read.
#include <nanobind/nanobind.h>

#include <deque>
#include <stdexcept>
#include <unordered_map>
#include <vector>

#include "att_lines.hpp"

namespace nb = nanobind;

namespace {

using att::Kind;

// Strings of one batch, each distinct one once.
class Strings {
 public:
  int64_t of(std::string_view s) {
    auto found = index_.find(s);
    if (found != index_.end()) return found->second;
    return add(s);
  }

  // Without looking for an equal one: for texts that hardly repeat.
  int64_t add(std::string_view s) {
    texts_.emplace_back(s);
    int64_t number = static_cast<int64_t>(texts_.size()) - 1;
    index_.emplace(texts_.back(), number);
    return number;
  }

  nb::list objects() const {
    nb::list out;
    for (const std::string& text : texts_) out.append(nb::bytes(text.data(), text.size()));
    return out;
  }

 private:
  std::deque<std::string> texts_;
  std::unordered_map<std::string_view, int64_t> index_;
};

struct StreamKey {
  int64_t pid, tid, op;
  bool operator==(const StreamKey& other) const { return pid == other.pid && tid == other.tid && op == other.op; }
};

struct StreamHash {
  size_t operator()(const StreamKey& k) const {
    return static_cast<size_t>(k.pid * 1000003 ^ k.tid * 8191 ^ (k.op << 20));
  }
};

constexpr int kWidth = 14;

// A run of value lines of one template that follow each other in their stream.
struct Run {
  size_t event = 0;  // index of its event, where names and values are filled in when the run ends
  bool open = false;
  int64_t graph = 0, result = 0, group = 0, case_id = 0, tag = 0;
  std::string names, values;
};

class Batch {
 public:
  Batch(bool merge, bool mentions, int64_t unterminated)
      : merge_(merge), mentions_(mentions), unterminated_(unterminated) {}

  void line(std::string_view text, int64_t start, int64_t end, int64_t number) {
    std::string plain;
    if (text.find('\x1b') != std::string_view::npos) text = plain = att::strip_ansi(text);
    att::ParsedLine parsed = att::parse_line(text);
    const att::Message& m = parsed.message;
    if (m.kind == att::kNone) {
      ++unknown_;
      return;
    }
    if (m.kind == att::kMalformed) {
      ++malformed_;
      if (first_malformed_ == 0) first_malformed_ = number;
      return;
    }
    if (m.kind == att::kIgnored || (m.kind == att::kMention && !mentions_)) return;
    size_t stream = stream_of(parsed);
    bool cut = parsed.cut || number == unterminated_;
    if (m.kind == att::kValue && merge_ && !cut) {
      value(stream, m, start, end, number);
      return;
    }
    close(stream);
    int64_t x = -1, y = -1, z = -1;
    if (m.kind == att::kValue) {
      x = strings_.of(m.name);
      y = strings_.of(m.text);
      z = static_cast<int64_t>(value_lines_.size());
      add_value_line(number, start, end);
    } else if (m.kind == att::kStart) {
      x = parsed.start_graph;
    } else if (!m.text.empty()) {
      x = strings_.of(m.text);
    }
    push({m.kind, static_cast<int64_t>(stream), number, start, end, m.graph, m.result, m.group, m.case_id,
          m.case_id < 0 ? -1 : strings_.of(m.tag), x, y, z, cut});
  }

  void finish() {
    for (size_t i = 0; i < runs_.size(); ++i) close(i);
  }

  nb::object result() const {
    nb::list streams;
    for (const StreamKey& key : stream_keys_) streams.append(nb::make_tuple(key.pid, key.tid, key.op));
    return nb::make_tuple(bytes_of(events_), strings_.objects(), streams, bytes_of(value_lines_), unknown_, malformed_,
                          first_malformed_, bytes_of(value_spans_));
  }

 private:
  static nb::bytes bytes_of(const std::vector<int64_t>& v) {
    return nb::bytes(reinterpret_cast<const char*>(v.data()), v.size() * sizeof(int64_t));
  }

  size_t stream_of(const att::ParsedLine& p) {
    StreamKey key{p.pid, p.tid, strings_.of(p.op)};
    auto found = streams_.find(key);
    if (found != streams_.end()) return found->second;
    size_t number = stream_keys_.size();
    streams_.emplace(key, number);
    stream_keys_.push_back(key);
    runs_.emplace_back();
    return number;
  }

  void value(size_t stream, const att::Message& m, int64_t start, int64_t end, int64_t number) {
    int64_t tag = strings_.of(m.tag);
    Run& run = runs_[stream];
    bool same = run.open && run.graph == m.graph && run.result == m.result && run.group == m.group &&
                run.case_id == m.case_id && run.tag == tag;
    // Lines of a run are found by adding to its first index, so another stream's value ends it only in the line table.
    if (!same || run_of_lines_ != stream) {
      close(stream);
      if (run_of_lines_ < runs_.size() && run_of_lines_ != stream) close(run_of_lines_);
      run_of_lines_ = stream;
      run.open = true;
      run.graph = m.graph, run.result = m.result, run.group = m.group, run.case_id = m.case_id, run.tag = tag;
      run.event = events_.size() / kWidth;
      push({att::kValue, static_cast<int64_t>(stream), number, start, end, m.graph, m.result, m.group, m.case_id, tag,
            -1, -1, static_cast<int64_t>(value_lines_.size()), 0});
    } else {
      run.names.push_back('\n');
      run.values.push_back('\n');
    }
    run.names.append(m.name);
    run.values.append(m.text);
    add_value_line(number, start, end);
  }

  void add_value_line(int64_t number, int64_t start, int64_t end) {
    value_lines_.push_back(number);
    if (mentions_) value_spans_.insert(value_spans_.end(), {start, end});
  }

  void close(size_t stream) {
    Run& run = runs_[stream];
    if (!run.open) return;
    run.open = false;
    events_[run.event * kWidth + 10] = strings_.of(run.names);
    events_[run.event * kWidth + 11] = strings_.of(run.values);
    run.names.clear();
    run.values.clear();
  }

  void push(std::initializer_list<int64_t> row) { events_.insert(events_.end(), row); }

  bool merge_, mentions_;
  int64_t unterminated_;
  Strings strings_;
  std::vector<int64_t> events_, value_lines_, value_spans_;
  std::unordered_map<StreamKey, size_t, StreamHash> streams_;
  std::vector<StreamKey> stream_keys_;
  std::deque<Run> runs_;
  size_t run_of_lines_ = static_cast<size_t>(-1);
  int64_t unknown_ = 0, malformed_ = 0, first_malformed_ = 0;
};

class Buffer {
 public:
  explicit Buffer(nb::handle object) {
    if (PyObject_GetBuffer(object.ptr(), &view_, PyBUF_SIMPLE) != 0) throw nb::python_error();
  }
  ~Buffer() { PyBuffer_Release(&view_); }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  std::string_view bytes() const { return {static_cast<const char*>(view_.buf), static_cast<size_t>(view_.len)}; }

 private:
  Py_buffer view_;
};

nb::object parse(nb::handle block, nb::handle matches, bool merge, bool mentions, int64_t unterminated) {
  Buffer block_buffer(block), match_buffer(matches);
  std::string_view text = block_buffer.bytes(), rows = match_buffer.bytes();
  size_t count = rows.size() / (4 * sizeof(int64_t));
  const int64_t* row = reinterpret_cast<const int64_t*>(rows.data());
  Batch batch(merge, mentions, unterminated);
  {
    nb::gil_scoped_release release;
    for (size_t i = 0; i < count; ++i, row += 4) {
      if (row[0] < 0 || row[1] < row[0] || static_cast<size_t>(row[1]) > text.size())
        throw std::out_of_range("a match lies outside its block");
      batch.line(text.substr(row[0], row[1] - row[0]), row[0], row[1], row[3]);
    }
    batch.finish();
  }
  return batch.result();
}

// Ranges of whole lines that one thread wrote in a row: rows [start, end, first line, lines, pid, tid]. A line without a
// header goes on with the thread before it; a line that holds `alone` is a range of its own.
nb::object spans(nb::handle block, int64_t start, int64_t end, int64_t first_line, nb::bytes alone) {
  Buffer buffer(block);
  std::string_view text = buffer.bytes();
  std::string_view mark(static_cast<const char*>(alone.data()), alone.size());
  if (start < 0 || end < start || static_cast<size_t>(end) > text.size())
    throw std::out_of_range("the range lies outside its block");
  std::vector<int64_t> rows;
  {
    nb::gil_scoped_release release;
    int64_t number = first_line;
    bool previous_alone = false;
    for (size_t at = start; at < static_cast<size_t>(end); ++number) {
      size_t newline = text.find('\n', at);
      size_t next = newline == std::string_view::npos || newline >= static_cast<size_t>(end) ? end : newline + 1;
      std::string_view line = text.substr(at, next - at);
      att::Writer writer = att::parse_writer(line);
      bool own = line.find(mark) != std::string_view::npos;
      size_t last = rows.size();
      bool same = last && (!writer.header || (rows[last - 2] == writer.pid && rows[last - 1] == writer.tid));
      if (same && !own && !previous_alone) {
        rows[last - 5] = static_cast<int64_t>(next);
        ++rows[last - 3];
      } else {
        int64_t pid = writer.header || !last ? writer.pid : rows[last - 2];
        int64_t tid = writer.header || !last ? writer.tid : rows[last - 1];
        rows.insert(rows.end(), {static_cast<int64_t>(at), static_cast<int64_t>(next), number, 1, pid, tid});
      }
      previous_alone = own;
      at = next;
    }
  }
  return nb::bytes(reinterpret_cast<const char*>(rows.data()), rows.size() * sizeof(int64_t));
}

// att_mix64_v1 of FINAL_TILING payloads.
uint64_t mix64(nb::bytes data) {
  uint64_t h = 0x6d2b79f5;
  const auto* bytes = static_cast<const unsigned char*>(data.data());
  for (size_t i = 0; i < data.size(); ++i) {
    h ^= bytes[i] + 0x9e3779b9ULL + (h << 6) + (h >> 2);
    h = (h << 13) | (h >> 51);
  }
  return h;
}

}  // namespace

NB_MODULE(_att, m) {
  m.doc() = "Batch parser of ATT log lines; see autofuse_att_summary.lines for the meaning of the columns.";
  m.def("spans", &spans, nb::arg("block"), nb::arg("start"), nb::arg("end"), nb::arg("first_line"), nb::arg("alone"),
        "Ranges of lines by thread: int64 rows [start, end, first line, lines, pid, tid].");
  m.def("mix64", &mix64, nb::arg("data"), "The 64-bit hash att_mix64_v1 of the bytes.");
  m.def("parse", &parse, nb::arg("block"), nb::arg("matches"), nb::arg("merge"), nb::arg("mentions"),
        nb::arg("unterminated"),
        "Events of the matched lines: (events, strings, streams, value_lines, unknown, malformed, first_malformed, value_spans).");
}
