// The fixed records of a zip archive, by the names of APPNOTE.TXT 4.3.
#pragma once

#include <cstdint>

namespace hilo::zip_record {

inline constexpr uint32_t local_header = 0x04034b50, central_header = 0x02014b50,
                          end_of_central = 0x06054b50, zip64_end_of_central = 0x06064b50,
                          zip64_locator = 0x07064b50;
inline constexpr int local_bytes = 30, central_bytes = 46, end_bytes = 22, zip64_end_bytes = 56,
                     locator_bytes = 20;
inline constexpr int stored = 0, deflated = 8;
inline constexpr uint16_t zip64_extra = 1;
inline constexpr uint64_t in_zip64 = 0xffffffff;  // "the number stands in the zip64 record"

}  // namespace hilo::zip_record
