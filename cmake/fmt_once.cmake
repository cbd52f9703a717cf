# FOURTUNE_FMT_ONCE: fmt is compiled once instead of in every file. For builds that nobody installs (a static library
# with fmt's symbols in it could meet another fmt in a user's program): fuzzing and mutation testing.
add_library(fourtune_fmt STATIC ${CMAKE_CURRENT_LIST_DIR}/fmt_once.cpp)
get_target_property(folders fmt::fmt-header-only INTERFACE_INCLUDE_DIRECTORIES)
target_include_directories(fourtune_fmt SYSTEM PRIVATE ${folders})
set_target_properties(fmt::fmt-header-only PROPERTIES INTERFACE_COMPILE_DEFINITIONS "" INTERFACE_LINK_LIBRARIES fourtune_fmt)
