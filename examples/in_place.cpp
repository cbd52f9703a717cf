// A smooth filter of real images, several at once, in place: real to complex, a product, and back.
#include <fourtune/typed.h>

#include <cmath>
#include <cstdio>
#include <vector>

int main() try {
  constexpr int nx = 96, ny = 64, images = 3;
  constexpr int row = 2 * (nx / 2 + 1);  // floats: rows in place are padded for the half spectrum
  std::vector<float> data(images * ny * row);
  for (int b = 0; b < images; ++b) data[b * ny * row] = float(b + 1);  // a point at (0, 0), of a brightness each

  fourtune::TypedTransform<float> forward("fft:type=r2c,n=96x64,prec=f32,batch=3,place=in");
  fourtune::TypedTransform<float> back("fft:type=c2r,n=96x64,prec=f32,batch=3,place=in,sign=1");
  forward.execute(data);
  for (int line = 0; line < images * ny; ++line) {
    const int y = line % ny, ky = y <= ny / 2 ? y : y - ny;
    for (int kx = 0; kx <= nx / 2; ++kx) {
      const float gain = std::exp(-0.01F * float(kx * kx + ky * ky)) / (nx * ny);  // transforms are not normalised
      data[line * row + 2 * kx] *= gain;
      data[line * row + 2 * kx + 1] *= gain;
    }
  }
  back.execute(data);

  // The filter keeps the sum of an image, which is its frequency 0.
  for (int b = 0; b < images; ++b) {
    double sum = 0;
    for (int y = 0; y < ny; ++y)
      for (int x = 0; x < nx; ++x) sum += data[(b * ny + y) * row + x];
    std::printf("image %d: sum %.6f\n", b, sum);
    if (std::abs(sum - (b + 1)) > 1e-4) return 1;
  }
  return 0;
} catch (const fourtune::Error& error) {
  std::fprintf(stderr, "%s: %s\n", fourtune::status_name(error.status()), error.what());
  return 1;
}
