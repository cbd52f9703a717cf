# The library that other programs link: the rooms' objects as one shared and one static library. It does not contain the
# tuner and the tools. cmake/install.cmake has its CMake package and its pkg-config file.

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
target_link_libraries(fourtune PRIVATE SQLite::SQLite3 Threads::Threads PkgConfig::FOURTUNE_ZSTD
                      PkgConfig::FOURTUNE_SODIUM PkgConfig::FOURTUNE_HWY ${CMAKE_DL_LIBS})
if(TARGET fourtune_untraced)  # cmake/fuzzer.cmake
  target_link_libraries(fourtune PRIVATE fourtune_untraced)
endif()
if(FOURTUNE_FFTW)
  target_link_libraries(fourtune PRIVATE ${FOURTUNE_FFTW_THREADS} ${FOURTUNE_FFTWF_THREADS} PkgConfig::FOURTUNE_FFTW
                                         PkgConfig::FOURTUNE_FFTWF)
endif()

# A static archive is not linked here, so programs that link it need what it uses: in the build the files that were
# found here, after an installation what fourtuneConfig.cmake finds there, under the names that it gives.
set(FOURTUNE_STATIC_MODULES libhwy libzstd libsodium)
set(FOURTUNE_STATIC_FILES "")
set(files ${SQLite3_LIBRARIES} ${FOURTUNE_HWY_LINK_LIBRARIES} ${FOURTUNE_ZSTD_LINK_LIBRARIES}
          ${FOURTUNE_SODIUM_LINK_LIBRARIES})
set(FOURTUNE_STATIC_FLAGS -lsqlite3 ${FOURTUNE_HWY_STATIC_LDFLAGS} ${FOURTUNE_ZSTD_STATIC_LDFLAGS}
                          ${FOURTUNE_SODIUM_STATIC_LDFLAGS})
if(FOURTUNE_FFTW)
  list(APPEND FOURTUNE_STATIC_MODULES fftw3 fftw3f)
  set(FOURTUNE_STATIC_FILES fftw3_threads fftw3f_threads)  # which have no pkg-config files
  list(APPEND files ${FOURTUNE_FFTW_THREADS} ${FOURTUNE_FFTWF_THREADS} ${FOURTUNE_FFTW_LINK_LIBRARIES}
                    ${FOURTUNE_FFTWF_LINK_LIBRARIES})
  list(APPEND FOURTUNE_STATIC_FLAGS -lfftw3_threads -lfftw3f_threads ${FOURTUNE_FFTW_STATIC_LDFLAGS}
                                    ${FOURTUNE_FFTWF_STATIC_LDFLAGS})
endif()
list(TRANSFORM FOURTUNE_STATIC_FILES PREPEND fourtune:: OUTPUT_VARIABLE found_there)
list(TRANSFORM FOURTUNE_STATIC_MODULES PREPEND PkgConfig::fourtune_ OUTPUT_VARIABLE modules)
list(APPEND found_there SQLite::SQLite3 ${modules} Threads::Threads)
set(everywhere ${CMAKE_DL_LIBS} stdc++ m)
target_link_libraries(fourtune_static INTERFACE "$<BUILD_INTERFACE:${files};pthread>"
                                                "$<INSTALL_INTERFACE:${found_there}>" ${everywhere})
list(TRANSFORM everywhere PREPEND -l OUTPUT_VARIABLE flags)
list(APPEND FOURTUNE_STATIC_FLAGS -lpthread ${flags})
foreach(folder ${CMAKE_C_IMPLICIT_LINK_DIRECTORIES})  # where linkers look anyway
  list(REMOVE_ITEM FOURTUNE_STATIC_FLAGS -L${folder})
endforeach()
list(JOIN FOURTUNE_STATIC_FLAGS " " FOURTUNE_STATIC_FLAGS)

# Tuned plans that come with the library, which looks for them beside itself, here as in an installation.
file(GLOB packs CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/db/packs/*.pack
     ${PROJECT_SOURCE_DIR}/db/packs/*.index)
foreach(pack ${packs})
  get_filename_component(name ${pack} NAME)
  configure_file(${pack} ${PROJECT_BINARY_DIR}/share/fourtune/packs/${name} COPYONLY)
endforeach()
