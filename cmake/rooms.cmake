# The floor plan of docs/design/README.md as targets. A room is one folder. Its headers are found through a folder of
# links in the build, which belongs to the target. A file can include the headers of its room and of the rooms that this
# room names, by paths from the root of the sources; any other include does not compile.
#
#   fourtune_room(generator/window USES base PRIVATE fourtune_format)
#
# makes the target fourtune_generator_window. USES: rooms whose headers this room's headers and sources may include.
# PRIVATE, PUBLIC: other libraries. WHOLE: the room includes its subfolders. HIGHWAY: Highway includes its sources again
# for each instruction set. EXCLUDE: patterns of sources that are left out. KEY: rooms with the same key share
# precompiled headers, so they are compiled with the same options; a room without a key has none.
function(fourtune_room folder)
  cmake_parse_arguments(PARSE_ARGV 1 room "WHOLE;HIGHWAY" KEY "USES;PRIVATE;PUBLIC;EXCLUDE")
  string(REPLACE / _ target fourtune_${folder})
  set(glob GLOB)
  if(room_WHOLE)
    set(glob GLOB_RECURSE)
  endif()
  file(${glob} sources CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/${folder}/*.cpp)
  file(${glob} headers CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/${folder}/*.h)
  if(room_HIGHWAY)
    list(APPEND headers ${sources})
    list(APPEND room_PRIVATE PkgConfig::FOURTUNE_HWY)
  endif()
  foreach(pattern ${room_EXCLUDE})
    list(FILTER sources EXCLUDE REGEX ${pattern})
  endforeach()
  list(JOIN room_USES " " names)
  set_property(GLOBAL APPEND_STRING PROPERTY FOURTUNE_FLOOR_PLAN "${folder}: ${names}\n")
  set(view ${PROJECT_BINARY_DIR}/rooms/${target})
  file(REMOVE_RECURSE ${view})
  foreach(header ${headers})
    get_filename_component(place ${view}/${header} DIRECTORY)
    file(MAKE_DIRECTORY ${place})
    file(CREATE_LINK ${PROJECT_SOURCE_DIR}/${header} ${view}/${header} SYMBOLIC)
  endforeach()
  set(uses "")
  foreach(used ${room_USES})
    string(REPLACE / _ used fourtune_${used})
    list(APPEND uses ${used})
  endforeach()
  if(NOT sources)
    add_library(${target} INTERFACE)
    target_include_directories(${target} INTERFACE ${view})
    target_link_libraries(${target} INTERFACE ${uses} ${room_PUBLIC})
    return()
  endif()
  # A build with sanitizers may take rooms that its tests do not run as another build has compiled them.
  if(FOURTUNE_ROOMS_TAKEN AND folder MATCHES "${FOURTUNE_ROOMS_TAKEN}")
    add_library(${target} INTERFACE)
    target_include_directories(${target} INTERFACE ${view})
    target_link_libraries(${target} INTERFACE ${FOURTUNE_ROOMS_FROM}/lib/lib${target}.a ${uses} ${room_PUBLIC}
                                              ${room_PRIVATE})
    return()
  endif()
  list(TRANSFORM sources PREPEND ${PROJECT_SOURCE_DIR}/)
  add_library(${target} STATIC ${sources})
  target_include_directories(${target} PUBLIC ${view})
  target_link_libraries(${target} PUBLIC ${uses} ${room_PUBLIC} PRIVATE fourtune_flags fourtune_format
                                                                        ${room_PRIVATE})
  list(LENGTH sources together)
  foreach(source ${sources})
    file(STRINGS ${source} included_again REGEX "foreach_target" LIMIT_COUNT 1)
    if(included_again)  # Highway includes the file by its name
      set_source_files_properties(${source} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON
                                                       COMPILE_OPTIONS "${FOURTUNE_SANITIZE_SIMD}")
      math(EXPR together "${together} - 1")
    endif()
  endforeach()
  if(FOURTUNE_UNITY AND together GREATER 0)  # as few times as at most 24 files together allow, as many each time
    math(EXPR times "(${together} + 23) / 24")
    math(EXPR together "(${together} + ${times} - 1) / ${times}")
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${together})
  endif()
  # What reads and writes texts or asks drivers gains nothing that a user could notice from more optimisation, which
  # takes a third of the compiler's time. Rooms with loops over data, plans or points have all of it.
  set(texts "^(base|db|generator/codegen.*|runtime/backends/cuda|tuner/(session|report|worker)"
            "|tools/(common|bench|soak))$")
  list(JOIN texts "" texts)
  set(first PREPEND)
  if(CMAKE_BUILD_TYPE STREQUAL "Release" AND folder MATCHES "${texts}")
    # Without the other passes GCC's guess at what is uninitialized is wrong.
    target_compile_options(${target} PRIVATE -O1 $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
    set(first APPEND)  # of functions that several objects contain, the linker takes the first one
    if(room_KEY)
      string(APPEND room_KEY _text)
    endif()
  endif()
  get_property(rooms GLOBAL PROPERTY FOURTUNE_ROOMS)
  list(${first} rooms ${target})
  set_property(GLOBAL PROPERTY FOURTUNE_ROOMS ${rooms})
  # Under sanitizers, a room that computes little takes longer to optimise than its tests save.
  set(computes "^(generator/(window|plan)$|runtime/backends/(cpu|emulated)|tuner/reference)")
  if(FOURTUNE_SANITIZE AND NOT FOURTUNE_FUZZ AND NOT folder MATCHES "${computes}")
    target_compile_options(${target} PRIVATE -O0)
    if(room_KEY)
      string(APPEND room_KEY _plain)
    endif()
  elseif(folder MATCHES "^(base$|generator/)")
    set(optimised FOURTUNE_OPTIMISED_ROOMS)
  elseif(folder MATCHES "^(db|runtime|runtime/backends|runtime/backends/cpu.*)$")
    set(optimised FOURTUNE_OPTIMISED_RUNTIME)
  endif()
  if(optimised)
    get_property(rooms GLOBAL PROPERTY ${optimised})
    list(${first} rooms ${target})
    set_property(GLOBAL PROPERTY ${optimised} ${rooms})
  endif()
  # Windows and backends are no readers, and counting would slow their loops down.
  if(FOURTUNE_FUZZER AND NOT folder MATCHES "^(generator/window|runtime/backends|tuner|tools)")
    target_compile_options(${target} PRIVATE ${fourtune_trace})
    target_link_libraries(${target} PUBLIC fourtune_untraced)
    if(room_KEY)
      string(APPEND room_KEY _traced)
    endif()
  endif()
  if(NOT FOURTUNE_PCH OR "${room_KEY}" STREQUAL "")
    return()
  endif()
  get_property(first GLOBAL PROPERTY FOURTUNE_PCH_${room_KEY})
  if(first)
    target_precompile_headers(${target} REUSE_FROM ${first})
  else()
    fourtune_precompile(${target})
    set_property(GLOBAL PROPERTY FOURTUNE_PCH_${room_KEY} ${target})
  endif()
endfunction()

# Of an inline function or a template that several objects contain, the linker takes the first one. In a program whose
# objects are compiled without optimisation, the generator would then call the slow ones for its strings, lists and maps
# (listing candidates takes 2.5 times as long). So the generator's objects come first here, before the program's; with
# RUNTIME, so do those of transforms on the processor, whose inline functions would else lie all over the program's code
# (0.7 MB more of it are mapped). The program must link the rooms as well.
function(fourtune_link_optimised_first target)
  get_property(rooms GLOBAL PROPERTY FOURTUNE_OPTIMISED_ROOMS)
  if("RUNTIME" IN_LIST ARGN)
    get_property(more GLOBAL PROPERTY FOURTUNE_OPTIMISED_RUNTIME)
    list(APPEND rooms ${more})
  endif()
  if(TARGET fourtune_fmt)
    list(APPEND rooms fourtune_fmt)
  endif()
  foreach(room ${rooms})
    target_link_options(${target} PRIVATE $<FILTER:$<TARGET_OBJECTS:${room}>,EXCLUDE,[.]gch$>)  # not its precompiled header
  endforeach()
endfunction()

# Writes rooms.txt in the build folder: one line per room with the rooms that it uses. tools/floor_plan draws it.
function(fourtune_write_floor_plan)
  get_property(plan GLOBAL PROPERTY FOURTUNE_FLOOR_PLAN)
  file(WRITE ${PROJECT_BINARY_DIR}/rooms.txt "${plan}")
endfunction()
