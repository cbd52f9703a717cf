// The functions with a plan in one precision. The including file, one of functions_*.cpp, defines NAME(x), TEXT(x),
// Real and kPrecision, as for dropin/common/simple_functions.h. Arrays are in the memory of the device.
// NOLINTBEGIN(misc-definitions-in-headers): no other source includes it with these names
int NAME(_makeplan)(int type, int dim, const int64_t* modes, int sign, int count, Real tol, ForeignPlan** plan,
                    const void* options) {
  return make_plan(TEXT(_makeplan), {type, dim, modes, sign, count, kPrecision, tol, plan, options});
}
int NAME(_setpts)(ForeignPlan* plan, int64_t m, const Real* x, const Real* y, const Real* z, int k, const Real* s,
                  const Real* t, const Real* u) {
  return set_points(TEXT(_setpts), plan, kPrecision, {m, x, y, z, k, s, t, u});
}
int NAME(_execute)(ForeignPlan* plan, void* c, void* f) {
  return execute(TEXT(_execute), plan, kPrecision, c, f, false);
}
int NAME(_destroy)(ForeignPlan* plan) { return destroy(TEXT(_destroy), plan, kPrecision); }
// NOLINTEND(misc-definitions-in-headers)
