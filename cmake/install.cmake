# What is installed, and which component it belongs to; cmake/packages.cmake makes a package of each component.
# The build folder has the same CMake package, so that fourtune_DIR may name it too.
include(CMakePackageConfigHelpers)
set(package ${CMAKE_INSTALL_LIBDIR}/cmake/fourtune)

# fourtune_install_library(TARGET EXPORT SUFFIX): a shared library, whose link without a version is for those who
# compile.
function(fourtune_install_library target export suffix)
  install(TARGETS ${target} EXPORT ${export} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
          COMPONENT fourtune_library${suffix} NAMELINK_COMPONENT fourtune_development${suffix})
endfunction()
# fourtune_install_export(EXPORT SUFFIX)
function(fourtune_install_export export suffix)
  install(EXPORT ${export} NAMESPACE fourtune:: DESTINATION ${package} COMPONENT fourtune_development${suffix})
  export(EXPORT ${export} NAMESPACE fourtune:: FILE ${PROJECT_BINARY_DIR}/${export}.cmake)
endfunction()
# fourtune_install_pkg_config(NAME SUFFIX)
function(fourtune_install_pkg_config name suffix)
  configure_file(cmake/${name}.pc.in ${PROJECT_BINARY_DIR}/${name}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/${name}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig
          COMPONENT fourtune_development${suffix})
endfunction()

# What the pkg-config files say. The prefix is relative to the file, so that a moved tree still works.
set(FOURTUNE_PC_LIBDIR "\${prefix}/${CMAKE_INSTALL_LIBDIR}")
if(IS_ABSOLUTE ${CMAKE_INSTALL_LIBDIR})
  set(FOURTUNE_PC_LIBDIR ${CMAKE_INSTALL_LIBDIR})
endif()
set(FOURTUNE_PC_INCLUDEDIR "\${prefix}/${CMAKE_INSTALL_INCLUDEDIR}")
if(IS_ABSOLUTE ${CMAKE_INSTALL_INCLUDEDIR})
  set(FOURTUNE_PC_INCLUDEDIR ${CMAKE_INSTALL_INCLUDEDIR})
endif()
file(RELATIVE_PATH FOURTUNE_PC_UP ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
string(REGEX REPLACE "/$" "" FOURTUNE_PC_UP "${FOURTUNE_PC_UP}")

# After tools/quickstart, or before any build, the first file that is missing would say little.
foreach(target fourtune fourtune_static fourtune_mpi fourtune_cli)
  if(TARGET ${target})
    install(CODE "if(NOT EXISTS \"$<TARGET_FILE:${target}>\")
      message(FATAL_ERROR \"${target} is not built yet, and nothing was installed: first `cmake --build ${PROJECT_BINARY_DIR}`\")
    endif()" ALL_COMPONENTS)
  endif()
endforeach()

# The library, and what is needed to compile with it.
fourtune_install_library(fourtune fourtuneTargets "")
install(TARGETS fourtune_static EXPORT fourtuneStaticTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
        COMPONENT fourtune_development)
fourtune_install_export(fourtuneTargets "")
fourtune_install_export(fourtuneStaticTargets "")
fourtune_install_pkg_config(fourtune "")
install(DIRECTORY include/fourtune DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT fourtune_development
        FILES_MATCHING PATTERN *.h)
configure_package_config_file(cmake/fourtuneConfig.cmake.in ${PROJECT_BINARY_DIR}/fourtuneConfig.cmake
                              INSTALL_DESTINATION ${package})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/fourtuneConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/fourtuneConfig.cmake ${PROJECT_BINARY_DIR}/fourtuneConfigVersion.cmake
        DESTINATION ${package} COMPONENT fourtune_development)
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT fourtune_development)
install(FILES ${packs} DESTINATION ${CMAKE_INSTALL_DATADIR}/fourtune/packs COMPONENT fourtune_packs)

# That for many ranks.
if(TARGET fourtune_mpi)
  fourtune_install_library(fourtune_mpi fourtuneMpiTargets _mpi)
  fourtune_install_export(fourtuneMpiTargets _mpi)
  fourtune_install_pkg_config(fourtune_mpi _mpi)
endif()

# Libraries with the names of others, in a folder that no loader searches by itself.
set(own ${CMAKE_INSTALL_LIBDIR}/fourtune)
get_property(dropins GLOBAL PROPERTY FOURTUNE_DROPINS)
foreach(dropin ${dropins})
  get_target_property(folder ${dropin} FOURTUNE_FOLDER)
  install(TARGETS ${dropin} LIBRARY DESTINATION ${own}/${folder} COMPONENT fourtune_dropin)
endforeach()
if(TARGET fourtune_cufft)
  install(TARGETS fourtune_cufft LIBRARY DESTINATION ${own} COMPONENT fourtune_dropin)
endif()

# The programs. Manual pages and completions are what the program says of itself.
if(TARGET fourtune_cli)
  install(TARGETS fourtune_cli RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT fourtune_tools)
  install(DIRECTORY tools/cases DESTINATION ${CMAKE_INSTALL_DATADIR}/fourtune COMPONENT fourtune_tools
          FILES_MATCHING PATTERN *.txt)
  install(CODE "execute_process(
    COMMAND \"${PROJECT_SOURCE_DIR}/tools/man_pages\" \"$<TARGET_FILE:fourtune_cli>\"
            \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_DATADIR}\"
    COMMAND_ERROR_IS_FATAL ANY)" COMPONENT fourtune_tools)
endif()
if(TARGET fourtune_ranks)
  install(TARGETS fourtune_ranks RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT fourtune_ranks)
endif()
