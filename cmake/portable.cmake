# bin/fourtune-portable: the command line as one file for a machine without our packages. It links the ordinary
# program's objects a second time, with static archives of everything except the C library; CUDA is still opened at run
# time. The target does not exist if an archive is missing, or with sanitizers.
if(FOURTUNE_NO_ARCHIVES)
  message(STATUS "No fourtune-portable: ${FOURTUNE_NO_ARCHIVES}")
  return()
endif()
find_library(FOURTUNE_ARCHIVE_boost_context libboost_context.a)
mark_as_advanced(FOURTUNE_ARCHIVE_boost_context)
if(NOT FOURTUNE_ARCHIVE_boost_context)
  message(STATUS "No fourtune-portable: libboost_context.a is missing")
  return()
endif()

get_property(rooms GLOBAL PROPERTY FOURTUNE_ROOMS)
set(files "")
if(TARGET fourtune_fmt)
  list(APPEND rooms fourtune_fmt)
endif()
# The first one's functions have the names of the library's that it would replace; the others need MPI's library.
list(REMOVE_ITEM rooms fourtune_dropin_cufft fourtune_runtime_distributed fourtune_tools_ranks)
foreach(room ${rooms})
  list(APPEND files $<TARGET_FILE:${room}>)
endforeach()
add_executable(fourtune_portable $<TARGET_OBJECTS:fourtune_cli>)
fourtune_highway_inside(fourtune_portable)
set_target_properties(fourtune_portable PROPERTIES OUTPUT_NAME fourtune-portable LINKER_LANGUAGE CXX)
add_dependencies(fourtune_portable ${rooms})
fourtune_link_optimised_first(fourtune_portable RUNTIME)
target_link_options(fourtune_portable PRIVATE -static-libgcc -static-libstdc++)
target_link_libraries(fourtune_portable PRIVATE -Wl,--start-group ${files} ${FOURTUNE_ARCHIVES}
                                                ${FOURTUNE_ARCHIVE_boost_context} -Wl,--end-group pthread
                                                ${CMAKE_DL_LIBS})
set_property(TARGET fourtune_portable APPEND PROPERTY LINK_DEPENDS ${files})
