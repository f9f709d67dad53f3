// The kernels: one scan and one meter per instruction set, chosen when the program runs.
#pragma once

#include <string>
#include <vector>

#include "markers.hpp"

namespace autofuse {

// Counts newlines and bytes of no well-formed UTF-8 sequence over a stream given in pieces.
struct Meter {
    int64_t undecodable = 0;
    // The open sequence: bytes seen, bytes to come, and the range of the next one (RFC 3629).
    int seen = 0;
    int missing = 0;
    uint8_t least = 0x80;
    uint8_t most = 0xBF;

    void take(uint8_t byte);
    void finish();

  private:
    void begin(uint8_t byte);
};

struct Kernel {
    const char* name;
    // Adds the rows for data[start:end], whose first line is number `line`; returns how many candidates were none.
    int64_t (*scan)(const Markers& markers, const uint8_t* data, int64_t start, int64_t end, int64_t line, Rows& rows);
    // Feeds the meter; returns the number of newlines.
    int64_t (*measure)(Meter& meter, const uint8_t* data, int64_t start, int64_t end);
};

// The kernels that this processor runs, the fastest first; `portable` is always among them.
const std::vector<Kernel>& kernels();

}  // namespace autofuse
