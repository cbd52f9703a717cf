// What can be wrong with a database file.
#pragma once

#include <string>

#include "fourtune/status.h"

namespace fourtune::db {

enum class StoreFault {
  foreign,     // not SQLite, or another application's database
  newer,       // made by a later version of Fourtune
  damaged,     // truncated, corrupted, or rows that break the schema's rules
  hostile,     // has views, triggers or other things that our schema does not have
  unreadable,  // no permission, or an input error of the device
  unwritable,  // read-only file or folder, or an output error of the device
  full,        // no space left
  busy,        // other writers held the file for longer than the timeout
};
const char* to_string(StoreFault) noexcept;

// status() is io for unreadable, unwritable and full, database for the others. what() names the file.
class StoreError : public Error {
 public:
  StoreError(StoreFault fault, const std::string& message);
  StoreFault fault() const noexcept { return fault_; }

 private:
  StoreFault fault_;
};

}  // namespace fourtune::db
