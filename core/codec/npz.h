// NumPy's archives (.npz): zip files of .npy files, and in them arrays of lists of integers, which NumPy pickles. Of
// pickles only such lists are read: whatever a pickle names, nothing is called.
#pragma once
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/codec/byte_source.h"

namespace gpubench {

class NpzFile {
 public:
  /// Throws Error if the file is no zip archive, is damaged, or needs zip64 (4 GiB).
  explicit NpzFile(std::filesystem::path path);

  /// The bytes of NAME.npy, whose checksum is compared at their end if they are compressed. Throws Error naming the
  /// members if there is none of the name.
  std::unique_ptr<ByteSource> open(const std::string& name) const;

 private:
  struct Member {
    bool deflated;
    std::uint32_t checksum, compressed_bytes, bytes, header_at;
  };
  std::filesystem::path path_;
  std::map<std::string, Member> members_;
};

struct IntegerLists {
  std::vector<std::int64_t> values;  ///< of all lists, one after the other
  std::vector<std::size_t> ends;     ///< of each list among the values
};

/// An .npy file of one dimension whose elements are lists of integers. Throws Error for anything else.
IntegerLists decode_integer_lists(std::unique_ptr<ByteSource> source);

}  // namespace gpubench
