# Highway's shared library measures the resolution of its clock when it is loaded, which takes 4 ms of each start of a
# program. We use few of its functions, so a file with ours takes its place. They ask GCC for features whose names clang
# does not know. The static archive of the library leaves the choice to who links it.
if(CMAKE_SYSTEM_PROCESSOR STREQUAL x86_64 AND CMAKE_CXX_COMPILER_ID STREQUAL GNU)
  add_library(fourtune_highway STATIC ${PROJECT_SOURCE_DIR}/cmake/portable_targets.cpp)
  target_include_directories(fourtune_highway PRIVATE ${FOURTUNE_HWY_INCLUDE_DIRS})
  target_link_libraries(fourtune_highway PRIVATE fourtune_flags)
  set_property(TARGET PkgConfig::FOURTUNE_HWY PROPERTY INTERFACE_LINK_LIBRARIES fourtune_highway)
endif()
