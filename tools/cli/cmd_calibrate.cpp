// `fourtune calibrate`: measures what a device really does, and keeps it where cost models find it.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "base/calibration.h"
#include "tools/cli/commands.h"
#include "tools/common/calibration.h"
#include "tools/common/errors.h"
#include "tools/common/gpu_backends.h"
#include "tools/common/numbers.h"
#include "tools/common/output.h"
#include "tuner/calibrate/calibrate.h"
#include "tuner/report/table.h"

namespace fourtune::tools {
namespace {

struct CalibrateArguments {
  std::string backend = "cpu", file;
  int device = 0;
  double seconds = tuner::calibrate_seconds;
  bool quiet = false;
  Output output;
};

std::string rates_table(const Calibration& calibration, const tuner::Screen& screen) {
  std::vector<tuner::Cells> rows{{"rate", "value", "spread", "of what"}};
  for (const RateField& field : rate_fields)
    if (const double value = calibration.traits.rates.*field.value; value > 0)
      rows.push_back({std::string(field.name), rate_text(value, field.unit),
                      fmt::format("{:.1f} %", 100 * calibration.spread.*field.value),
                      what_is_measured(calibration.traits.backend, field.name)});
  return tuner::table_text(rows, {{1, 2}, -1, 3}, screen);
}

void calibrate_command(const CalibrateArguments& arguments) {
  const runtime::Backend& backend = checked_backend(arguments.backend, arguments.device);
  std::filesystem::path file = arguments.file;
  if (file.empty()) file = own_calibration_file(backend.traits(arguments.device));
  const tuner::CalibrateResult found =
      calibrated(backend, arguments.device, arguments.seconds, file, arguments.quiet, "calibrating");
  if (arguments.output.json()) {
    fmt::print("{}", to_json(found.calibration));
  } else {
    fmt::print("{}", rates_table(found.calibration, arguments.output.screen()));
    fmt::print("{}, kept in {}\n", found.calibration.traits.name, file.string());
    if (backend.capabilities().arrays == runtime::MemoryKind::aligned)  // a GPU in the memory of this process
      fmt::print("these are rates of the emulator: they say nothing of a GPU\n");
  }
}

}  // namespace

void add_calibrate(CLI::App& app) {
  auto arguments = std::make_shared<CalibrateArguments>();
  CLI::App* command =
      app.add_subcommand("calibrate", "Measure what a device really does, so that untuned plans suit it");
  add_backend_option(*command, arguments->backend);
  add_device_option(*command, arguments->device);
  command->add_option("--seconds", arguments->seconds, "Longest time to measure; compiling kernels takes extra time")
      ->transform(duration(0.01, 3600))
      ->capture_default_str()
      ->type_name("S");
  command
      ->add_option("-o,--output", arguments->file,
                   "File to write, for use elsewhere (--device FILE of explain, plan and emit); default: where this "
                   "user's programs find it")
      ->type_name("FILE");
  command->add_flag("--quiet", arguments->quiet, "No progress");
  add_output_options(*command, arguments->output);
  command->footer(
      "The file is replaced only when all is measured: Ctrl-C leaves an earlier one as it is.\n\n"
      "Example:\n"
      "  fourtune calibrate\n"
      "  fourtune calibrate --backend cuda --device 1 -o mine.json\n"
      "  fourtune explain fft:type=c2c,n=256x256x256,prec=f32 --device mine.json");
  command->callback([arguments] { calibrate_command(*arguments); });
}

}  // namespace fourtune::tools
