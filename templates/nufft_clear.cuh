// Clearing. This text depends on nothing, so all problems, and both sides of a type 3, share the compiled kernel.

// Clears so many words, and sets the status of a sort (marks: its three words; 0: there is none).
extern "C" __global__ void __launch_bounds__(256)
    NUFFT_ENTRY(unsigned long long* at, long long words, unsigned long long* status, long long marks) {
  dev_follow();
  const long long first = static_cast<long long>(blockIdx.x) * 256 + threadIdx.x;
  for (long long i = first; i < words; i += static_cast<long long>(gridDim.x) * 256) at[i] = 0;
  if (first < marks) status[first] = first < 2 ? ~0ull : 0;
}
