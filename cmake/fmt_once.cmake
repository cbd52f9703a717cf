# fourtune_format: {fmt} for our sources. It is compiled once instead of in every file, where it took a third to a half
# of the time. It has a separate namespace, so that a program which links our static library may use any other fmt. The
# bodies are those of fmt 9 (Debian 12); other versions stay header-only. The package's own targets stay as they are: a
# project that includes ours (docs/link.md) may use them too.
add_library(fourtune_format INTERFACE)
if(NOT fmt_VERSION MATCHES "^9\\.")
  target_link_libraries(fourtune_format INTERFACE fmt::fmt-header-only)
  return()
endif()
add_library(fourtune_fmt STATIC ${CMAKE_CURRENT_LIST_DIR}/fmt_once.cpp)
get_target_property(folders fmt::fmt-header-only INTERFACE_INCLUDE_DIRECTORIES)
set(own_namespace "FMT_BEGIN_NAMESPACE=namespace fmt { inline namespace fourtune {" "FMT_END_NAMESPACE=} }")
target_include_directories(fourtune_fmt SYSTEM PRIVATE ${folders})
target_compile_definitions(fourtune_fmt PRIVATE ${own_namespace})
target_include_directories(fourtune_format SYSTEM INTERFACE ${folders})
target_compile_definitions(fourtune_format INTERFACE ${own_namespace})
target_link_libraries(fourtune_format INTERFACE fourtune_fmt)
