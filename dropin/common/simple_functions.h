// The 18 simple functions of one library in one precision. The including file defines
//   NAME(x)   the function's name, such as finufft##x
//   Real      float or double
// and simple(const SimpleCall<Real>&), which returns the status. Complex arrays are void pointers here: pairs of Real.
// NOLINTBEGIN(misc-definitions-in-headers): no other source includes it with these names

int NAME(1d1many)(int count, int64_t points, const Real* x, const void* c, int sign, Real tol, int64_t n1, void* f,
                  const void* options) {
  return simple(SimpleCall<Real>{TEXT(1d1many), 1, 1, count, points, {x}, c, sign, tol, {n1, 1, 1}, 0, {}, f, options});
}
int NAME(1d1)(int64_t points, const Real* x, const void* c, int sign, Real tol, int64_t n1, void* f,
              const void* options) {
  return simple(SimpleCall<Real>{TEXT(1d1), 1, 1, 1, points, {x}, c, sign, tol, {n1, 1, 1}, 0, {}, f, options});
}

int NAME(1d2many)(int count, int64_t points, const Real* x, void* c, int sign, Real tol, int64_t n1, const void* f,
                  const void* options) {
  return simple(SimpleCall<Real>{TEXT(1d2many), 2, 1, count, points, {x}, c, sign, tol, {n1, 1, 1}, 0, {}, f, options});
}
int NAME(1d2)(int64_t points, const Real* x, void* c, int sign, Real tol, int64_t n1, const void* f,
              const void* options) {
  return simple(SimpleCall<Real>{TEXT(1d2), 2, 1, 1, points, {x}, c, sign, tol, {n1, 1, 1}, 0, {}, f, options});
}

int NAME(1d3many)(int count, int64_t points, const Real* x, const void* c, int sign, Real tol, int64_t targets,
                  const Real* s, void* f, const void* options) {
  return simple(SimpleCall<Real>{TEXT(1d3many), 3, 1, count, points, {x}, c, sign, tol, {}, targets, {s}, f, options});
}
int NAME(1d3)(int64_t points, const Real* x, const void* c, int sign, Real tol, int64_t targets, const Real* s, void* f,
              const void* options) {
  return simple(SimpleCall<Real>{TEXT(1d3), 3, 1, 1, points, {x}, c, sign, tol, {}, targets, {s}, f, options});
}

int NAME(2d1many)(int count, int64_t points, const Real* x, const Real* y, const void* c, int sign, Real tol,
                  int64_t n1, int64_t n2, void* f, const void* options) {
  return simple(
      SimpleCall<Real>{TEXT(2d1many), 1, 2, count, points, {x, y}, c, sign, tol, {n1, n2, 1}, 0, {}, f, options});
}
int NAME(2d1)(int64_t points, const Real* x, const Real* y, const void* c, int sign, Real tol, int64_t n1, int64_t n2,
              void* f, const void* options) {
  return simple(SimpleCall<Real>{TEXT(2d1), 1, 2, 1, points, {x, y}, c, sign, tol, {n1, n2, 1}, 0, {}, f, options});
}

int NAME(2d2many)(int count, int64_t points, const Real* x, const Real* y, void* c, int sign, Real tol, int64_t n1,
                  int64_t n2, const void* f, const void* options) {
  return simple(
      SimpleCall<Real>{TEXT(2d2many), 2, 2, count, points, {x, y}, c, sign, tol, {n1, n2, 1}, 0, {}, f, options});
}
int NAME(2d2)(int64_t points, const Real* x, const Real* y, void* c, int sign, Real tol, int64_t n1, int64_t n2,
              const void* f, const void* options) {
  return simple(SimpleCall<Real>{TEXT(2d2), 2, 2, 1, points, {x, y}, c, sign, tol, {n1, n2, 1}, 0, {}, f, options});
}

int NAME(2d3many)(int count, int64_t points, const Real* x, const Real* y, const void* c, int sign, Real tol,
                  int64_t targets, const Real* s, const Real* t, void* f, const void* options) {
  return simple(
      SimpleCall<Real>{TEXT(2d3many), 3, 2, count, points, {x, y}, c, sign, tol, {}, targets, {s, t}, f, options});
}
int NAME(2d3)(int64_t points, const Real* x, const Real* y, const void* c, int sign, Real tol, int64_t targets,
              const Real* s, const Real* t, void* f, const void* options) {
  return simple(SimpleCall<Real>{TEXT(2d3), 3, 2, 1, points, {x, y}, c, sign, tol, {}, targets, {s, t}, f, options});
}

int NAME(3d1many)(int count, int64_t points, const Real* x, const Real* y, const Real* z, const void* c, int sign,
                  Real tol, int64_t n1, int64_t n2, int64_t n3, void* f, const void* options) {
  return simple(
      SimpleCall<Real>{TEXT(3d1many), 1, 3, count, points, {x, y, z}, c, sign, tol, {n1, n2, n3}, 0, {}, f, options});
}
int NAME(3d1)(int64_t points, const Real* x, const Real* y, const Real* z, const void* c, int sign, Real tol,
              int64_t n1, int64_t n2, int64_t n3, void* f, const void* options) {
  return simple(SimpleCall<Real>{TEXT(3d1), 1, 3, 1, points, {x, y, z}, c, sign, tol, {n1, n2, n3}, 0, {}, f, options});
}

int NAME(3d2many)(int count, int64_t points, const Real* x, const Real* y, const Real* z, void* c, int sign, Real tol,
                  int64_t n1, int64_t n2, int64_t n3, const void* f, const void* options) {
  return simple(
      SimpleCall<Real>{TEXT(3d2many), 2, 3, count, points, {x, y, z}, c, sign, tol, {n1, n2, n3}, 0, {}, f, options});
}
int NAME(3d2)(int64_t points, const Real* x, const Real* y, const Real* z, void* c, int sign, Real tol, int64_t n1,
              int64_t n2, int64_t n3, const void* f, const void* options) {
  return simple(SimpleCall<Real>{TEXT(3d2), 2, 3, 1, points, {x, y, z}, c, sign, tol, {n1, n2, n3}, 0, {}, f, options});
}

int NAME(3d3many)(int count, int64_t points, const Real* x, const Real* y, const Real* z, const void* c, int sign,
                  Real tol, int64_t targets, const Real* s, const Real* t, const Real* u, void* f,
                  const void* options) {
  return simple(SimpleCall<Real>{
      TEXT(3d3many), 3, 3, count, points, {x, y, z}, c, sign, tol, {}, targets, {s, t, u}, f, options});
}
int NAME(3d3)(int64_t points, const Real* x, const Real* y, const Real* z, const void* c, int sign, Real tol,
              int64_t targets, const Real* s, const Real* t, const Real* u, void* f, const void* options) {
  return simple(
      SimpleCall<Real>{TEXT(3d3), 3, 3, 1, points, {x, y, z}, c, sign, tol, {}, targets, {s, t, u}, f, options});
}
// NOLINTEND(misc-definitions-in-headers)
