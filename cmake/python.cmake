# What the Python package holds besides its modules, as the install component `python`: the library, the command line,
# packs and lists of problems, in the folders in which they look for each other. pyproject.toml installs it.
#
# FOURTUNE_PREBUILT names a folder of a release build. A wheel is then made of what is there and nothing is compiled.
set(cases ${CMAKE_CURRENT_LIST_DIR}/../tools/cases)
if(FOURTUNE_PREBUILT)
  file(GLOB library ${FOURTUNE_PREBUILT}/lib/libfourtune.so.${PROJECT_VERSION})
  set(program ${FOURTUNE_PREBUILT}/bin/fourtune)
  if(NOT library OR NOT EXISTS ${program})
    message(FATAL_ERROR "FOURTUNE_PREBUILT=${FOURTUNE_PREBUILT}: lib/libfourtune.so.${PROJECT_VERSION} or bin/fourtune "
                        "is missing there; build the targets fourtune and fourtune_cli first")
  endif()
  file(GLOB packs ${CMAKE_CURRENT_LIST_DIR}/../db/packs/*.pack)
  add_custom_target(fourtune_python)
else()
  set(library $<TARGET_FILE:fourtune>)
  set(program $<TARGET_FILE:fourtune_cli>)
  add_custom_target(fourtune_python DEPENDS fourtune fourtune_cli)
endif()
install(FILES ${library} DESTINATION lib RENAME libfourtune.so COMPONENT python EXCLUDE_FROM_ALL)
install(PROGRAMS ${program} DESTINATION bin COMPONENT python EXCLUDE_FROM_ALL)
install(FILES ${packs} DESTINATION share/fourtune/packs COMPONENT python EXCLUDE_FROM_ALL)
install(DIRECTORY ${cases} DESTINATION share/fourtune COMPONENT python EXCLUDE_FROM_ALL FILES_MATCHING PATTERN *.txt)
