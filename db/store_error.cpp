#include "db/store_error.h"

namespace fourtune::db {
namespace {

Status status_of(StoreFault fault) {
  switch (fault) {
    case StoreFault::unreadable:
    case StoreFault::unwritable:
    case StoreFault::full:
      return Status::io;
    default:
      return Status::database;
  }
}

}  // namespace

const char* to_string(StoreFault fault) noexcept {
  switch (fault) {
    case StoreFault::foreign:
      return "foreign";
    case StoreFault::newer:
      return "newer";
    case StoreFault::damaged:
      return "damaged";
    case StoreFault::hostile:
      return "hostile";
    case StoreFault::unreadable:
      return "unreadable";
    case StoreFault::unwritable:
      return "unwritable";
    case StoreFault::full:
      return "full";
    case StoreFault::busy:
      return "busy";
  }
  return "unknown";
}

StoreError::StoreError(StoreFault fault, const std::string& message)
    : Error(status_of(fault), message), fault_(fault) {}

}  // namespace fourtune::db
