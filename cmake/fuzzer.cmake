# Fuzz targets beside the tests of GCC's address sanitizer build, so that a check compiles the library once for both.
# clang's libFuzzer runs them. It learns from tests/fuzz/trace.cpp which blocks of code an input reaches, because GCC
# counts nothing itself: it calls a function in each block.
set(fourtune_trace -fsanitize-coverage=trace-pc,trace-cmp)
# That function in other programs, and those for comparisons that the address sanitizer does not bring.
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/untraced.c CONTENT [[
void __sanitizer_cov_trace_pc(void);
void __sanitizer_cov_trace_cmpf(float, float);
void __sanitizer_cov_trace_cmpd(double, double);
void __sanitizer_cov_trace_pc(void) {}
void __sanitizer_cov_trace_cmpf(float a, float b) { (void)a, (void)b; }
void __sanitizer_cov_trace_cmpd(double a, double b) { (void)a, (void)b; }
]])
add_library(fourtune_untraced STATIC ${PROJECT_BINARY_DIR}/untraced.c)
target_compile_options(fourtune_untraced PRIVATE -O1 -fno-sanitize=all)
