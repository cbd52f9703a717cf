// What a case is tried on: a transform of the library, or one behind the functions of a drop-in library.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "fourtune/transform.h"
#include "tools/soak/case.h"
#include "tools/soak/run.h"

namespace fourtune::tools {

class Subject {
 public:
  virtual ~Subject() = default;
  // Arrays are where the backend's are; errors are exceptions, which try_case turns into failures.
  virtual void set_points(const Points& points) = 0;
  virtual void execute(void* first, void* second, bool adjoint) = 0;
  virtual bool has_adjoint() const { return true; }
  virtual std::string plan() const = 0;                 // empty: unknown
  virtual std::optional<MemoryUse> memory() const = 0;  // nothing: it does not say
};

std::unique_ptr<Subject> make_transform(const SoakCase& one, const SoakSetup& setup);

// A library with FINUFFT's or cuFINUFFT's functions (docs/migrate.md), which stays loaded. Only the interface of the
// documentation is used; the library is trusted in nothing.
class DropIn {
 public:
  // Throws UsageError if it cannot be loaded or is no such library.
  explicit DropIn(const std::string& path);
  // The backend that its arrays belong to: "cpu", or "cuda".
  const char* backend() const noexcept { return on_device_ ? "cuda" : "cpu"; }
  bool has_adjoint() const;  // cuFINUFFT has none
  std::unique_ptr<Subject> make(const SoakCase& one, int device) const;

 private:
  template <class T>
  std::unique_ptr<Subject> make_of(const SoakCase& one, int device) const;

  void* library_ = nullptr;
  std::string name_;  // "finufft" or "cufinufft"
  bool on_device_ = false;
};

// The nonuniform case without what these interfaces cannot say; `adjoints`: whether this one has adjoints.
SoakCase as_dropin_says(SoakCase one, bool adjoints);

}  // namespace fourtune::tools
