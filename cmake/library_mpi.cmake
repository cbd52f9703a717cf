# libfourtune_mpi: the library with transforms over many ranks. It contains all of libfourtune, whose insides it needs
# and which libfourtune does not show, so that programs link one of the two.
add_library(fourtune_mpi SHARED ${objects} $<TARGET_OBJECTS:fourtune_runtime_distributed>)
add_library(fourtune::fourtune_mpi ALIAS fourtune_mpi)
set_target_properties(fourtune_mpi PROPERTIES LINKER_LANGUAGE CXX VERSION ${PROJECT_VERSION}
                                              SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR}
                                              LINK_DEPENDS ${map})
target_include_directories(fourtune_mpi PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
                                               $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
target_compile_features(fourtune_mpi INTERFACE cxx_std_20)
target_link_options(fourtune_mpi PRIVATE -Wl,--version-script=${map})
if(NOT FOURTUNE_SANITIZE)
  target_link_options(fourtune_mpi PRIVATE -Wl,-z,defs)
endif()
get_target_property(needs fourtune LINK_LIBRARIES)
target_link_libraries(fourtune_mpi PRIVATE ${needs} MPI::MPI_C)
