
// ---- the transform: what the library's executor does, for these numbers of points ---------------------------------
inline void check(cudaError_t status, const char* what) {
  if (status != cudaSuccess) throw std::runtime_error(std::string(what) + ": " + cudaGetErrorString(status));
}

inline void* device_memory(std::size_t bytes) {
  void* memory = nullptr;
  check(cudaMalloc(&memory, std::max<std::size_t>(bytes, 16)), "cudaMalloc");
  check(cudaMemset(memory, 0xff, std::max<std::size_t>(bytes, 16)), "cudaMemset");  // NaN: what is not written shows
  return memory;
}

class Transform {
 public:
  // timed: puts events between the launches.
  explicit Transform(bool timed = false, cudaStream_t stream = nullptr) : timed_(timed), stream_(stream) {
    for (int i = 0; i < kSlots; ++i) memory_[i] = kMemory[i].bytes > 0 ? device_memory(kMemory[i].bytes) : nullptr;
    for (int i = 0; i < kSlots; ++i)
      if (kMemory[i].same_as >= 0) memory_[i] = memory_[kMemory[i].same_as];
    for (const Table& table : kTables) {
      tables_.push_back(device_memory(table.bytes));
      if (table.bytes > 0)
        check(cudaMemcpy(tables_.back(), table.data, table.bytes, cudaMemcpyHostToDevice), "copying a table");
    }
    for (const std::vector<Launch>* list : {&kExtents, &kSetPoints, &kExecute, &kLastChunk})
      for (const Launch& launch : *list)
        if (launch.shared > 48 * 1024)
          check(cudaFuncSetAttribute(launch.kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, launch.shared),
                launch.name);
  }
  Transform(const Transform&) = delete;
  Transform& operator=(const Transform&) = delete;
  ~Transform() {
    for (int i = 0; i < kSlots; ++i)
      if (kMemory[i].bytes > 0) cudaFree(memory_[i]);
    for (void* table : tables_) cudaFree(table);
    for (cudaEvent_t event : events_) cudaEventDestroy(event);
  }

  // Arrays of the device with kPoints coordinates x, y, z; of a type 3 then kResults coordinates s, t, u.
  void set_points(const std::vector<const Real*>& points) {
    used_ = 0;
    times_.clear();
    for (std::size_t i = 0; i < points.size(); ++i) memory_[i] = const_cast<Real*>(points[i]);
    if (kExtentsSlot >= 0) {
      run(kExtents, nullptr, nullptr);
      check_extents();
    }
    run(kSetPoints, nullptr, nullptr);
    if (kStatusSlot < 0) return;
    unsigned long long bad = 0;
    read(&bad, memory_[std::max(0, int(kStatusSlot))], sizeof bad);
    if (bad != ~0ull) throw std::runtime_error("point " + std::to_string(bad) + " is not finite");
  }

  // values: kBatch times kPoints complex numbers; results: kBatch times kResults, x fastest, k = -n/2 .. (n-1)/2.
  void execute(std::complex<Real>* values, std::complex<Real>* results) {
    for (long long b = 0; b < kBatch; b += kChunk)
      run(kBatch - b < kChunk ? kLastChunk : kExecute, values + b * kPoints, results + b * kResults);
  }

  struct Time {
    const Launch* launch;
    double ms;
  };
  // Of what has run since set_points, or since the last call of this function.
  std::vector<Time> times() {
    check(cudaStreamSynchronize(stream_), "waiting");
    std::vector<Time> out;
    for (std::size_t i = 0; i < times_.size(); ++i) {
      float ms = 0;
      check(cudaEventElapsedTime(&ms, events_[2 * i], events_[2 * i + 1]), "event");
      out.push_back({times_[i], ms});
    }
    times_.clear();
    used_ = 0;
    return out;
  }

 private:
  char* address(const Word& word, void* values, void* results) const {
    void* const base = word.where == 's'   ? memory_[word.index]
                       : word.where == 't' ? tables_[std::size_t(word.index)]
                       : word.where == 'v' ? values
                                           : results;
    return static_cast<char*>(base) + word.value;
  }

  void run(const std::vector<Launch>& list, void* values, void* results) {
    for (const Launch& launch : list) {
      mark();
      start(launch, values, results);
      mark();
      if (timed_) times_.push_back(&launch);
    }
  }
  void mark() {
    if (!timed_) return;
    if (used_ == events_.size()) {
      events_.push_back(nullptr);
      check(cudaEventCreate(&events_.back()), "event");
    }
    check(cudaEventRecord(events_[used_++], stream_), "event");
  }
  void start(const Launch& launch, void* values, void* results) {
    std::vector<long long> words;
    std::vector<std::size_t> starts;
    for (const Argument& argument : launch.arguments) {
      starts.push_back(words.size());
      for (const Word& word : argument) {
        long long bits = word.value;
        if (word.where != '=') {
          const char* const at = address(word, values, results);
          std::memcpy(&bits, &at, sizeof at);
        }
        words.push_back(bits);
      }
    }
    std::vector<void*> arguments;
    for (const std::size_t at : starts) arguments.push_back(&words[at]);
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3(launch.grid[0], launch.grid[1], launch.grid[2]);
    config.blockDim = dim3(launch.block[0], launch.block[1], launch.block[2]);
    config.dynamicSmemBytes = launch.shared;
    config.stream = stream_;
    cudaLaunchAttribute cluster;
    cluster.id = cudaLaunchAttributeClusterDimension;
    cluster.val.clusterDim.x = launch.cluster[0];
    cluster.val.clusterDim.y = launch.cluster[1];
    cluster.val.clusterDim.z = launch.cluster[2];
    config.attrs = &cluster;
    config.numAttrs = launch.cluster[0] * launch.cluster[1] * launch.cluster[2] > 1;
    check(cudaLaunchKernelExC(&config, launch.kernel, arguments.data()), launch.name);
  }

  void read(void* host, const void* from, std::size_t bytes) {
    check(cudaMemcpyAsync(host, from, bytes, cudaMemcpyDeviceToHost, stream_), "copying from the device");
    check(cudaStreamSynchronize(stream_), "waiting");
  }
  // The kernel leaves for each array the least key, the least complement of a key, and the first bad index. Keys are in
  // the order of the numbers.
  void check_extents() {
    unsigned long long words[18];
    read(words, memory_[std::max(0, int(kExtentsSlot))], sizeof words);
    const auto number = [](unsigned long long key) {
      const unsigned long long bits = key >> 63 ? key & ~(1ull << 63) : ~key;
      double value;
      std::memcpy(&value, &bits, sizeof value);
      return value;
    };
    for (int i = 0; i < 6; ++i) {
      if (i % 3 >= kDim) continue;
      const std::string name(1, "xyzstu"[i]);
      if (words[3 * i + 2] != ~0ull)
        throw std::runtime_error(name + "[" + std::to_string(words[3 * i + 2]) + "] is not finite");
      const double low = number(words[3 * i]), high = number(~words[3 * i + 1]);
      if (low < kLow[i] || high > kHigh[i])
        throw std::runtime_error(name + " lies from " + std::to_string(low) + " to " + std::to_string(high) +
                                 ", but this file was made for " + std::to_string(kLow[i]) + " to " +
                                 std::to_string(kHigh[i]));
    }
  }

  bool timed_;
  cudaStream_t stream_;
  void* memory_[kSlots];
  std::vector<void*> tables_;
  std::vector<cudaEvent_t> events_;
  std::size_t used_ = 0;
  std::vector<const Launch*> times_;
};

#ifndef FOURTUNE_NO_MAIN
// ---- main: makes points and values, runs the transform, compares samples with direct sums, times the stages -------
typedef std::complex<Real> Complex;

struct Arguments {
  int runs = 20;
  bool cluster = false, launches = false;
};

struct Data {
  std::vector<Real> points[6];      // x, y, z, s, t, u
  std::vector<Complex> in, out;     // what the transform reads, and what it writes
  std::vector<const Real*> device;  // the points there
  Complex *values = nullptr, *results = nullptr;
};

static Data make_data(bool cluster) {
  Data data;
  std::mt19937 random(1);
  const auto unit = [&] { return random() / 4294967296.0; };
  const double pi = 3.14159265358979323846;
  for (int i = 0; i < (kType == 3 ? 6 : 3); ++i) {
    const long long n = i < 3 ? kPoints : kResults;
    double low = kType == 3 ? kLow[i] : -pi, high = kType == 3 ? kHigh[i] : pi;
    if (cluster) low /= 64, high /= 64;  // a corner of the box at its middle
    if (i % 3 < kDim)
      for (long long j = 0; j < n; ++j)
        data.points[i].push_back(Real(std::min(high, std::max(low, low + (high - low) * unit()))));
    if (kType == 3 && i % 3 < kDim)
      for (Real& x : data.points[i]) x = std::max(Real(kLow[i]), std::min(Real(kHigh[i]), x));
    void* there = i % 3 < kDim ? device_memory(sizeof(Real) * n) : nullptr;
    if (there)
      check(cudaMemcpy(there, data.points[i].data(), sizeof(Real) * n, cudaMemcpyHostToDevice), "copying points");
    data.device.push_back(static_cast<const Real*>(there));
  }
  data.in.resize(std::size_t(kBatch * (kType == 2 ? kResults : kPoints)));
  data.out.resize(std::size_t(kBatch * (kType == 2 ? kPoints : kResults)));
  for (Complex& value : data.in) value = {Real(2 * unit() - 1), Real(2 * unit() - 1)};
  data.values = static_cast<Complex*>(device_memory(sizeof(Complex) * kBatch * kPoints));
  data.results = static_cast<Complex*>(device_memory(sizeof(Complex) * kBatch * kResults));
  check(cudaMemcpy(kType == 2 ? data.results : data.values, data.in.data(), sizeof(Complex) * data.in.size(),
                   cudaMemcpyHostToDevice),
        "copying values");
  return data;
}

// Coordinate d of mode number i.
static double mode(long long i, int d) {
  for (int e = 0; e < d; ++e) i /= kModes[e];
  return double(i % kModes[d] - kModes[d] / 2);
}

// a b modulo 2 pi: the product with its rounding error, less turns of 2 pi in two parts.
static double angle(double a, double b) {
  const double product = a * b, error = std::fma(a, b, -product);
  const double turns = std::rint(product * 0.15915494309189535);
  return std::fma(-turns, 2.4492935982947064e-16, std::fma(-turns, 6.283185307179586, product)) + error;
}

// The relative l2 error of sampled outputs.
static double error_of(const Data& data) {
  const long long inputs = kType == 2 ? kResults : kPoints, outputs = kType == 2 ? kPoints : kResults;
  const long long samples = std::max(4ll, std::min(64ll, (1ll << 24) / inputs));
  std::mt19937 random(2);
  double error = 0, norm = 0;
  for (long long s = 0; s < samples; ++s) {
    const long long b = random() % kBatch, at = random() % outputs;
    double to[3] = {0, 0, 0};
    for (int d = 0; d < kDim; ++d)
      to[d] = kType == 1 ? mode(at, d) : double(data.points[kType == 3 ? 3 + d : d][std::size_t(at)]);
    long double re = 0, im = 0;
    for (long long j = 0; j < inputs; ++j) {
      double turn = 0;
      for (int d = 0; d < kDim; ++d)
        turn += angle(kType == 2 ? mode(j, d) : double(data.points[d][std::size_t(j)]), to[d]);
      const double c = std::cos(turn), q = kSign * std::sin(turn);
      const double x = data.in[std::size_t(b * inputs + j)].real(), y = data.in[std::size_t(b * inputs + j)].imag();
      re += x * c - y * q;
      im += x * q + y * c;
    }
    const std::complex<double> sum{double(re), double(im)}, got{data.out[std::size_t(b * outputs + at)]};
    error += std::norm(got - sum);
    norm += std::norm(sum);
  }
  return std::sqrt(error / norm);
}

static double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

// A line for each stage, or for each launch: median time, and bytes and operations that are needed at least.
static void print_times(const char* call, const std::vector<std::vector<Transform::Time>>& runs, bool each) {
  const std::size_t n = runs[0].size();
  double all = 0;
  for (std::size_t first = 0, end; first < n; first = end) {
    for (end = first + 1; end < n && !each;)
      if (std::strcmp(runs[0][end].launch->stage, runs[0][first].launch->stage) != 0)
        break;
      else
        ++end;
    std::vector<double> ms;
    double bytes = 0, flops = 0;
    for (const auto& run : runs) {
      double sum = 0;
      for (std::size_t i = first; i < end; ++i) sum += run[i].ms;
      ms.push_back(sum);
    }
    for (std::size_t i = first; i < end; ++i)
      bytes += double(runs[0][i].launch->bytes), flops += runs[0][i].launch->flops;
    const Launch& one = *runs[0][first].launch;
    const double time = std::max(median(ms), 1e-9);
    all += time;
    std::printf("  %-12s %9.4f ms %7.0f GB/s %7.0f GFLOP/s  %s\n", one.stage, time, bytes / time * 1e-6,
                flops / time * 1e-6, each ? one.name : "");
  }
  std::printf("%-12s   %9.4f ms by stages\n", call, all);
}

static void time_whole(Transform& transform, const Data& data, int runs) {
  cudaEvent_t begin, end;
  check(cudaEventCreate(&begin), "event");
  check(cudaEventCreate(&end), "event");
  std::vector<double> times;
  for (int i = 0; i < runs; ++i) {
    check(cudaEventRecord(begin, nullptr), "event");
    transform.execute(data.values, data.results);
    check(cudaEventRecord(end, nullptr), "event");
    check(cudaEventSynchronize(end), "running");
    float ms = 0;
    check(cudaEventElapsedTime(&ms, begin, end), "event");
    times.push_back(ms);
  }
  const double ms = std::max(median(times), 1e-9);
  std::printf("execute        %9.4f ms (median of %d), %.3g points/s\n", ms, runs,
              double(kPoints + (kType == 3 ? kResults : 0)) * double(kBatch) / ms * 1e3);
  check(cudaEventDestroy(begin), "event");
  check(cudaEventDestroy(end), "event");
}

static int check_and_time(const Arguments& arguments) {
  std::printf("%s\n%s\n", kProblem, kPlan);
  Data data = make_data(arguments.cluster);
  {
    Transform transform;
    transform.set_points(data.device);
    transform.execute(data.values, data.results);
    check(cudaMemcpy(data.out.data(), kType == 2 ? data.values : data.results, sizeof(Complex) * data.out.size(),
                     cudaMemcpyDeviceToHost),
          "copying results");
    if (arguments.runs > 0) time_whole(transform, data, arguments.runs);
  }
  if (arguments.runs > 0) {
    Transform transform(true);
    std::vector<std::vector<Transform::Time>> points, values;
    for (int i = 0; i < arguments.runs; ++i) {
      transform.set_points(data.device);
      points.push_back(transform.times());
      transform.execute(data.values, data.results);
      values.push_back(transform.times());
    }
    print_times("set_points", points, arguments.launches);
    print_times("execute", values, arguments.launches);
  }
  const double error = error_of(data);
  const bool right = error <= kAllowed;
  std::printf("error %.2e, allowed %.2e: %s\n", error, kAllowed, right ? "right" : "WRONG");
  for (const Real* array : data.device) cudaFree(const_cast<Real*>(array));
  cudaFree(data.values);
  cudaFree(data.results);
  return right ? 0 : 1;
}

int main(int count, char** words) {
  Arguments arguments;
  for (int i = 1; i < count; ++i) {
    const std::string word = words[i];
    if (word == "cluster")
      arguments.cluster = true;
    else if (word == "launches")
      arguments.launches = true;
    else if (!word.empty() && word.find_first_not_of("0123456789") == std::string::npos && word.size() < 6)
      arguments.runs = std::atoi(word.c_str());
    else {
      std::printf("usage: %s [cluster] [launches] [RUNS]\n", words[0]);
      return 2;
    }
  }
  try {
    return check_and_time(arguments);
  } catch (const std::exception& error) {
    std::printf("%s\n", error.what());
    return 1;
  }
}
#endif
