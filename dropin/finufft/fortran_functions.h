// Fortran's functions in one precision: names end in an underscore, every argument is a pointer, and the last one takes
// the status. The including file, one of fortran_*.cpp, defines NAME(x), which appends the underscore, TEXT(x), Real
// and kPrecision.
// NOLINTBEGIN(misc-definitions-in-headers): no other source includes it with these names

void NAME(_default_opts)(void* options) {
  if (options) write_default_options(options, kFortranBytes);
}
void NAME(_makeplan)(const int* type, const int* dim, const int64_t* modes, const int* sign, const int* count,
                     const Real* tol, ForeignPlan** plan, const void* options, int* status) {
  *status = make_plan(TEXT(_makeplan),
                      {*type, *dim, modes, *sign, *count, kPrecision, *tol, plan, FortranOptions(options).get()});
}
void NAME(_setpts)(ForeignPlan** plan, const int64_t* m, const Real* x, const Real* y, const Real* z, const int64_t* k,
                   const Real* s, const Real* t, const Real* u, int* status) {
  *status = set_points(TEXT(_setpts), plan ? *plan : nullptr, kPrecision, {*m, x, y, z, k ? *k : 0, s, t, u});
}
void NAME(_execute)(ForeignPlan** plan, void* c, void* f, int* status) {
  *status = execute(TEXT(_execute), plan ? *plan : nullptr, kPrecision, c, f, false);
}
void NAME(_execute_adjoint)(ForeignPlan** plan, void* c, void* f, int* status) {
  *status = execute(TEXT(_execute_adjoint), plan ? *plan : nullptr, kPrecision, c, f, true);
}
void NAME(_destroy)(ForeignPlan** plan, int* status) {
  *status = destroy(TEXT(_destroy), plan ? *plan : nullptr, kPrecision);
}

void NAME(1d1many)(const int* count, const int64_t* points, const Real* x, const void* c, const int* sign,
                   const Real* tol, const int64_t* n1, void* f, const void* options, int* status) {
  *status = simple(SimpleCall<Real>{
      TEXT(1d1many), 1, 1, *count, *points, {x}, c, *sign, *tol, {*n1, 1, 1}, 0, {}, f, FortranOptions(options).get()});
}
void NAME(1d1)(const int64_t* points, const Real* x, const void* c, const int* sign, const Real* tol, const int64_t* n1,
               void* f, const void* options, int* status) {
  *status = simple(SimpleCall<Real>{
      TEXT(1d1), 1, 1, 1, *points, {x}, c, *sign, *tol, {*n1, 1, 1}, 0, {}, f, FortranOptions(options).get()});
}
void NAME(1d2many)(const int* count, const int64_t* points, const Real* x, void* c, const int* sign, const Real* tol,
                   const int64_t* n1, const void* f, const void* options, int* status) {
  *status = simple(SimpleCall<Real>{
      TEXT(1d2many), 2, 1, *count, *points, {x}, c, *sign, *tol, {*n1, 1, 1}, 0, {}, f, FortranOptions(options).get()});
}
void NAME(1d2)(const int64_t* points, const Real* x, void* c, const int* sign, const Real* tol, const int64_t* n1,
               const void* f, const void* options, int* status) {
  *status = simple(SimpleCall<Real>{
      TEXT(1d2), 2, 1, 1, *points, {x}, c, *sign, *tol, {*n1, 1, 1}, 0, {}, f, FortranOptions(options).get()});
}
void NAME(1d3many)(const int* count, const int64_t* points, const Real* x, const void* c, const int* sign,
                   const Real* tol, const int64_t* targets, const Real* s, void* f, const void* options, int* status) {
  *status = simple(SimpleCall<Real>{
      TEXT(1d3many), 3, 1, *count, *points, {x}, c, *sign, *tol, {}, *targets, {s}, f, FortranOptions(options).get()});
}
void NAME(1d3)(const int64_t* points, const Real* x, const void* c, const int* sign, const Real* tol,
               const int64_t* targets, const Real* s, void* f, const void* options, int* status) {
  *status = simple(SimpleCall<Real>{
      TEXT(1d3), 3, 1, 1, *points, {x}, c, *sign, *tol, {}, *targets, {s}, f, FortranOptions(options).get()});
}
void NAME(2d1many)(const int* count, const int64_t* points, const Real* x, const Real* y, const void* c,
                   const int* sign, const Real* tol, const int64_t* n1, const int64_t* n2, void* f, const void* options,
                   int* status) {
  *status = simple(SimpleCall<Real>{TEXT(2d1many),
                                    1,
                                    2,
                                    *count,
                                    *points,
                                    {x, y},
                                    c,
                                    *sign,
                                    *tol,
                                    {*n1, *n2, 1},
                                    0,
                                    {},
                                    f,
                                    FortranOptions(options).get()});
}
void NAME(2d1)(const int64_t* points, const Real* x, const Real* y, const void* c, const int* sign, const Real* tol,
               const int64_t* n1, const int64_t* n2, void* f, const void* options, int* status) {
  *status = simple(SimpleCall<Real>{
      TEXT(2d1), 1, 2, 1, *points, {x, y}, c, *sign, *tol, {*n1, *n2, 1}, 0, {}, f, FortranOptions(options).get()});
}
void NAME(2d2many)(const int* count, const int64_t* points, const Real* x, const Real* y, void* c, const int* sign,
                   const Real* tol, const int64_t* n1, const int64_t* n2, const void* f, const void* options,
                   int* status) {
  *status = simple(SimpleCall<Real>{TEXT(2d2many),
                                    2,
                                    2,
                                    *count,
                                    *points,
                                    {x, y},
                                    c,
                                    *sign,
                                    *tol,
                                    {*n1, *n2, 1},
                                    0,
                                    {},
                                    f,
                                    FortranOptions(options).get()});
}
void NAME(2d2)(const int64_t* points, const Real* x, const Real* y, void* c, const int* sign, const Real* tol,
               const int64_t* n1, const int64_t* n2, const void* f, const void* options, int* status) {
  *status = simple(SimpleCall<Real>{
      TEXT(2d2), 2, 2, 1, *points, {x, y}, c, *sign, *tol, {*n1, *n2, 1}, 0, {}, f, FortranOptions(options).get()});
}
void NAME(2d3many)(const int* count, const int64_t* points, const Real* x, const Real* y, const void* c,
                   const int* sign, const Real* tol, const int64_t* targets, const Real* s, const Real* t, void* f,
                   const void* options, int* status) {
  *status = simple(SimpleCall<Real>{TEXT(2d3many),
                                    3,
                                    2,
                                    *count,
                                    *points,
                                    {x, y},
                                    c,
                                    *sign,
                                    *tol,
                                    {},
                                    *targets,
                                    {s, t},
                                    f,
                                    FortranOptions(options).get()});
}
void NAME(2d3)(const int64_t* points, const Real* x, const Real* y, const void* c, const int* sign, const Real* tol,
               const int64_t* targets, const Real* s, const Real* t, void* f, const void* options, int* status) {
  *status = simple(SimpleCall<Real>{
      TEXT(2d3), 3, 2, 1, *points, {x, y}, c, *sign, *tol, {}, *targets, {s, t}, f, FortranOptions(options).get()});
}
void NAME(3d1many)(const int* count, const int64_t* points, const Real* x, const Real* y, const Real* z, const void* c,
                   const int* sign, const Real* tol, const int64_t* n1, const int64_t* n2, const int64_t* n3, void* f,
                   const void* options, int* status) {
  *status = simple(SimpleCall<Real>{TEXT(3d1many),
                                    1,
                                    3,
                                    *count,
                                    *points,
                                    {x, y, z},
                                    c,
                                    *sign,
                                    *tol,
                                    {*n1, *n2, *n3},
                                    0,
                                    {},
                                    f,
                                    FortranOptions(options).get()});
}
void NAME(3d1)(const int64_t* points, const Real* x, const Real* y, const Real* z, const void* c, const int* sign,
               const Real* tol, const int64_t* n1, const int64_t* n2, const int64_t* n3, void* f, const void* options,
               int* status) {
  *status = simple(SimpleCall<Real>{TEXT(3d1),
                                    1,
                                    3,
                                    1,
                                    *points,
                                    {x, y, z},
                                    c,
                                    *sign,
                                    *tol,
                                    {*n1, *n2, *n3},
                                    0,
                                    {},
                                    f,
                                    FortranOptions(options).get()});
}
void NAME(3d2many)(const int* count, const int64_t* points, const Real* x, const Real* y, const Real* z, void* c,
                   const int* sign, const Real* tol, const int64_t* n1, const int64_t* n2, const int64_t* n3,
                   const void* f, const void* options, int* status) {
  *status = simple(SimpleCall<Real>{TEXT(3d2many),
                                    2,
                                    3,
                                    *count,
                                    *points,
                                    {x, y, z},
                                    c,
                                    *sign,
                                    *tol,
                                    {*n1, *n2, *n3},
                                    0,
                                    {},
                                    f,
                                    FortranOptions(options).get()});
}
void NAME(3d2)(const int64_t* points, const Real* x, const Real* y, const Real* z, void* c, const int* sign,
               const Real* tol, const int64_t* n1, const int64_t* n2, const int64_t* n3, const void* f,
               const void* options, int* status) {
  *status = simple(SimpleCall<Real>{TEXT(3d2),
                                    2,
                                    3,
                                    1,
                                    *points,
                                    {x, y, z},
                                    c,
                                    *sign,
                                    *tol,
                                    {*n1, *n2, *n3},
                                    0,
                                    {},
                                    f,
                                    FortranOptions(options).get()});
}
void NAME(3d3many)(const int* count, const int64_t* points, const Real* x, const Real* y, const Real* z, const void* c,
                   const int* sign, const Real* tol, const int64_t* targets, const Real* s, const Real* t,
                   const Real* u, void* f, const void* options, int* status) {
  *status = simple(SimpleCall<Real>{TEXT(3d3many),
                                    3,
                                    3,
                                    *count,
                                    *points,
                                    {x, y, z},
                                    c,
                                    *sign,
                                    *tol,
                                    {},
                                    *targets,
                                    {s, t, u},
                                    f,
                                    FortranOptions(options).get()});
}
void NAME(3d3)(const int64_t* points, const Real* x, const Real* y, const Real* z, const void* c, const int* sign,
               const Real* tol, const int64_t* targets, const Real* s, const Real* t, const Real* u, void* f,
               const void* options, int* status) {
  *status = simple(SimpleCall<Real>{TEXT(3d3),
                                    3,
                                    3,
                                    1,
                                    *points,
                                    {x, y, z},
                                    c,
                                    *sign,
                                    *tol,
                                    {},
                                    *targets,
                                    {s, t, u},
                                    f,
                                    FortranOptions(options).get()});
}
// NOLINTEND(misc-definitions-in-headers)
