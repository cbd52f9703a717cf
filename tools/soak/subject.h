// What a case is tried on: a transform of the library, or one behind the functions of a drop-in library
// (dropin.cpp).
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
  virtual std::string plan() const = 0;  // empty: unknown
  // Has the window with which cases that only spread or interpolate are compared.
  virtual std::string reference_plan() const { return plan(); }
  virtual std::optional<MemoryUse> memory() const = 0;  // nothing: it does not say
};

std::unique_ptr<Subject> make_transform(const SoakCase& one, const SoakSetup& setup);

// What the interface of a drop-in library can say, beyond whole transforms in the direction of their type.
struct DropInSays {
  bool adjoints = true;     // cuFINUFFT has none
  bool our_window = false;  // it is one of ours, so the window of spreading and interpolating alone is known
};

// A library with FINUFFT's or cuFINUFFT's functions (docs/dropin.md), which stays loaded. Only the interface of the
// documentation is used; the library is trusted in nothing.
class DropIn {
 public:
  // Throws UsageError if it cannot be loaded or is no such library.
  explicit DropIn(const std::string& path);
  bool on_device() const noexcept { return on_device_; }  // arrays are in a GPU's memory
  DropInSays says() const;
  std::unique_ptr<Subject> make(const SoakCase& one, int device) const;

 private:
  template <class T>
  std::unique_ptr<Subject> make_of(const SoakCase& one, int device) const;

  void* library_ = nullptr;
  std::string name_;  // "finufft" or "cufinufft"
  bool on_device_ = false;
};

// The nonuniform case without what these interfaces cannot say.
SoakCase as_dropin_says(SoakCase one, const DropInSays& says);

}  // namespace fourtune::tools
