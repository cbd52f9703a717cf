# libfourtune_jax.so, which compiled JAX programs call (python/native). It lies beside libfourtune.so and finds it
# there.
add_library(fourtune_jax MODULE python/native/jax_ffi.cpp python/native/kept_plans.cpp)
target_include_directories(fourtune_jax SYSTEM PRIVATE third_party/xla_ffi)
target_link_libraries(fourtune_jax PRIVATE fourtune fourtune_format fourtune_flags)
# Fields of XLA's structures are named as their types, which GCC takes only so. What reads the arguments of a call is
# not worth more optimisation, which would take as long again to compile.
target_compile_options(fourtune_jax PRIVATE $<$<CONFIG:Release>:-O1> $<$<CXX_COMPILER_ID:GNU>:-fpermissive>)
target_link_options(fourtune_jax PRIVATE -Wl,--version-script=${CMAKE_CURRENT_LIST_DIR}/jax_exports.map)
set_target_properties(fourtune_jax PROPERTIES BUILD_RPATH_USE_ORIGIN ON
                                              LINK_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/jax_exports.map)
