# Debian packages, one of each component of cmake/install.cmake: `cpack -G DEB` in a build folder. tools/packages makes
# them, has lintian look at them and uses them.
if(NOT PROJECT_IS_TOP_LEVEL)
  return()
endif()
set(soversion ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_VENDOR Fourtune)
set(CPACK_PACKAGE_CONTACT "Fourtune maintainers <maintainers@fourtune.invalid>")
set(FOURTUNE_DEBIAN_MAINTAINER "${CPACK_PACKAGE_CONTACT}" CACHE STRING "Who is named in Debian packages: Name <address>")
set(CPACK_DEBIAN_PACKAGE_MAINTAINER "${FOURTUNE_DEBIAN_MAINTAINER}")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
# CPack puts a summary that is not this one before each description, whose first line is the package's own.
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${CMAKE_PROJECT_NAME} built using CMake")
set(CPACK_STRIP_FILES ON)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_GROUPING IGNORE)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${CMAKE_LIBRARY_OUTPUT_DIRECTORY})  # libfourtune, for the drop-ins
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ
                                                WORLD_EXECUTE)
set(CPACK_PRE_BUILD_SCRIPTS ${PROJECT_SOURCE_DIR}/packaging/debian/finish.cmake)
set(CPACK_FOURTUNE_SOURCES ${PROJECT_SOURCE_DIR})
set(CPACK_FOURTUNE_COMPONENTS "")
set(CPACK_COMPONENTS_ALL "")

# fourtune_debian_library(COMPONENT PACKAGE LIBRARY): packages whose programs link it ask for this very version, and the
# loader's cache is renewed when it comes or goes.
function(fourtune_debian_library component package library)
  string(TOUPPER fourtune_${component} upper)
  set(folder ${PROJECT_BINARY_DIR}/debian/${package})
  file(WRITE ${folder}/shlibs "${library} ${soversion} ${package} (= ${PROJECT_VERSION})\n")
  file(WRITE ${folder}/triggers "activate-noawait ldconfig\n")
  set(CPACK_DEBIAN_${upper}_PACKAGE_CONTROL_EXTRA ${folder}/shlibs ${folder}/triggers PARENT_SCOPE)
endfunction()

# fourtune_debian_package(COMPONENT NAME SECTION SYNOPSIS DESCRIPTION [DEPENDS ...] [RECOMMENDS ...] [ALL])
macro(fourtune_debian_package component name section synopsis description)
  cmake_parse_arguments(debian "ALL" "" "DEPENDS;RECOMMENDS" ${ARGN})
  string(TOUPPER fourtune_${component} upper)
  list(APPEND CPACK_COMPONENTS_ALL fourtune_${component})
  list(APPEND CPACK_FOURTUNE_COMPONENTS fourtune_${component}=${name})
  set(CPACK_DEBIAN_${upper}_PACKAGE_NAME ${name})
  set(CPACK_DEBIAN_${upper}_PACKAGE_SECTION ${section})
  set(CPACK_DEBIAN_${upper}_DESCRIPTION "${synopsis}\n${description}")
  list(JOIN debian_DEPENDS ", " CPACK_DEBIAN_${upper}_PACKAGE_DEPENDS)
  list(JOIN debian_RECOMMENDS ", " CPACK_DEBIAN_${upper}_PACKAGE_RECOMMENDS)
  if(debian_ALL)
    set(CPACK_DEBIAN_${upper}_PACKAGE_ARCHITECTURE all)
    set(CPACK_DEBIAN_${upper}_PACKAGE_SHLIBDEPS OFF)
  endif()
endmacro()

set(what "Fourtune computes uniform and nonuniform fast Fourier transforms on processors\nand NVIDIA GPUs by plans that are tuned on the machine.\n\n")
set(same "(= ${PROJECT_VERSION})")
fourtune_debian_package(library libfourtune${soversion} libs "fast Fourier transforms tuned on the machine - library"
  "${what}This package has the shared library." RECOMMENDS fourtune-packs)
fourtune_debian_library(library libfourtune${soversion} libfourtune)
# What a program needs that links the static library.
set(static libhwy-dev libsqlite3-dev libzstd-dev libsodium-dev)
if(FOURTUNE_FFTW)
  list(APPEND static libfftw3-dev)
endif()
fourtune_debian_package(development libfourtune-dev libdevel "fast Fourier transforms tuned on the machine - development"
  "${what}This package has headers, the static library, a CMake package and a\npkg-config file. The static library needs the recommended packages."
  DEPENDS "libfourtune${soversion} ${same}" RECOMMENDS ${static})
fourtune_debian_package(packs fourtune-packs math "fast Fourier transforms tuned on the machine - tuned plans"
  "${what}This package has plans that were tuned on some processors and GPUs. Libraries\nof Fourtune find them by themselves."
  ALL)
if(TARGET fourtune_cli)
  fourtune_debian_package(tools fourtune math "fast Fourier transforms tuned on the machine - command line"
    "${what}This package has the program that tunes, runs, compares and explains." RECOMMENDS fourtune-packs)
endif()
if(TARGET fourtune_cufft)
  fourtune_debian_package(dropin fourtune-dropin libs "fast Fourier transforms tuned on the machine - for programs of others"
    "${what}This package has libraries with the names and functions of FINUFFT and\ncuFINUFFT and one for LD_PRELOAD with those of cuFFT, in a separate folder:\nprograms that use those run unchanged."
    DEPENDS "libfourtune${soversion} ${same}")
endif()
if(TARGET fourtune_mpi)
  fourtune_debian_package(library_mpi libfourtune-mpi${soversion} libs "fast Fourier transforms tuned on the machine - MPI library"
    "${what}This package has the shared library for transforms over many MPI ranks." RECOMMENDS fourtune-packs)
  fourtune_debian_library(library_mpi libfourtune-mpi${soversion} libfourtune_mpi)
  fourtune_debian_package(development_mpi libfourtune-mpi-dev libdevel
    "fast Fourier transforms tuned on the machine - MPI development"
    "${what}This package has what programs for many MPI ranks are compiled with."
    DEPENDS "libfourtune-mpi${soversion} ${same}" "libfourtune-dev ${same}" mpi-default-dev)
endif()
if(TARGET fourtune_ranks)
  fourtune_debian_package(ranks fourtune-ranks math "fast Fourier transforms tuned on the machine - MPI command line"
    "${what}This package has the program that mpirun starts on every rank, to measure and\nto test." DEPENDS "fourtune ${same}")
endif()
include(CPack)

# What they are made of.
add_custom_target(fourtune_packaged DEPENDS fourtune fourtune_static)
foreach(target fourtune_mpi fourtune_cli fourtune_ranks fourtune_dropin)
  if(TARGET ${target})
    add_dependencies(fourtune_packaged ${target})
  endif()
endforeach()
