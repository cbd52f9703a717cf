# The library that other programs link: the rooms' objects as one shared and one static library, with a CMake package
# and a pkg-config file. It does not contain the tuner and the tools.
include(CMakePackageConfigHelpers)

set(objects "")
get_property(rooms GLOBAL PROPERTY FOURTUNE_LIBRARY_ROOMS)
foreach(room ${rooms})
  list(APPEND objects $<TARGET_OBJECTS:${room}>)
endforeach()
if(TARGET fourtune_fmt)
  list(APPEND objects $<TARGET_OBJECTS:fourtune_fmt>)
endif()

add_library(fourtune SHARED ${objects})
add_library(fourtune::fourtune ALIAS fourtune)
add_library(fourtune_static STATIC ${objects})
add_library(fourtune::fourtune_static ALIAS fourtune_static)
set_target_properties(fourtune fourtune_static PROPERTIES LINKER_LANGUAGE CXX OUTPUT_NAME fourtune)
foreach(library fourtune fourtune_static)
  target_include_directories(${library} PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
                                               $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_compile_features(${library} INTERFACE cxx_std_20)
endforeach()

# Only symbols with FOURTUNE_API are visible; the map also hides instantiations of std templates.
set(map ${PROJECT_SOURCE_DIR}/cmake/exports.map)
# While the major version is 0, each minor version has another binary interface (tests/consume/abi_test.cpp).
set_target_properties(fourtune PROPERTIES VERSION ${PROJECT_VERSION}
                                          SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR}
                                          LINK_DEPENDS ${map})
target_link_options(fourtune PRIVATE -Wl,--version-script=${map})
if(NOT FOURTUNE_SANITIZE)
  target_link_options(fourtune PRIVATE -Wl,-z,defs)  # a sanitizer's functions are in the program
endif()
target_link_libraries(fourtune PRIVATE SQLite::SQLite3 Threads::Threads PkgConfig::HWY
                      PkgConfig::ZSTD PkgConfig::SODIUM ${CMAKE_DL_LIBS})
set(FOURTUNE_STATIC_NEEDS hwy sqlite3 zstd sodium)
if(FOURTUNE_FFTW)
  target_link_libraries(fourtune PRIVATE ${FFTW_THREADS} ${FFTWF_THREADS} PkgConfig::FFTW PkgConfig::FFTWF)
  list(APPEND FOURTUNE_STATIC_NEEDS fftw3_threads fftw3 fftw3f_threads fftw3f)
endif()
list(APPEND FOURTUNE_STATIC_NEEDS stdc++ m pthread)
# A static archive is not linked here, so programs that link it need these too.
target_link_libraries(fourtune_static INTERFACE ${FOURTUNE_STATIC_NEEDS})

set(package ${CMAKE_INSTALL_LIBDIR}/cmake/fourtune)
install(TARGETS fourtune EXPORT fourtuneTargets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS fourtune_static EXPORT fourtuneStaticTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(EXPORT fourtuneTargets NAMESPACE fourtune:: DESTINATION ${package})
install(EXPORT fourtuneStaticTargets NAMESPACE fourtune:: DESTINATION ${package})
install(DIRECTORY include/fourtune DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN *.h)
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
# Tuned plans that come with the library, which looks for them beside itself, here as in an installation.
file(GLOB packs CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/db/packs/*.pack)
foreach(pack ${packs})
  get_filename_component(name ${pack} NAME)
  configure_file(${pack} ${PROJECT_BINARY_DIR}/share/fourtune/packs/${name} COPYONLY)
endforeach()
install(FILES ${packs} DESTINATION ${CMAKE_INSTALL_DATADIR}/fourtune/packs)

configure_package_config_file(cmake/fourtuneConfig.cmake.in ${PROJECT_BINARY_DIR}/fourtuneConfig.cmake
                              INSTALL_DESTINATION ${package})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/fourtuneConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/fourtuneConfig.cmake ${PROJECT_BINARY_DIR}/fourtuneConfigVersion.cmake
        DESTINATION ${package})

list(TRANSFORM FOURTUNE_STATIC_NEEDS PREPEND -l OUTPUT_VARIABLE flags)
list(JOIN flags " " FOURTUNE_STATIC_FLAGS)
if(IS_ABSOLUTE ${CMAKE_INSTALL_LIBDIR})
  set(FOURTUNE_PC_LIBDIR ${CMAKE_INSTALL_LIBDIR})
else()
  set(FOURTUNE_PC_LIBDIR "\${prefix}/${CMAKE_INSTALL_LIBDIR}")
endif()
if(IS_ABSOLUTE ${CMAKE_INSTALL_INCLUDEDIR})
  set(FOURTUNE_PC_INCLUDEDIR ${CMAKE_INSTALL_INCLUDEDIR})
else()
  set(FOURTUNE_PC_INCLUDEDIR "\${prefix}/${CMAKE_INSTALL_INCLUDEDIR}")
endif()
# The relative path from the file to the prefix, so that a moved tree still works.
file(RELATIVE_PATH FOURTUNE_PC_UP ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
string(REGEX REPLACE "/$" "" FOURTUNE_PC_UP "${FOURTUNE_PC_UP}")
configure_file(cmake/fourtune.pc.in ${PROJECT_BINARY_DIR}/fourtune.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/fourtune.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
