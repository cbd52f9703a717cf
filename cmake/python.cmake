# What the Python package holds besides its modules, as the install component `python`: the library, that of JAX, the
# command line, packs and lists of problems, in the folders in which they look for each other. pyproject.toml installs
# it. The libraries have the names by which they load each other.
#
# FOURTUNE_PREBUILT names a folder of a release build. A wheel is then made of what is there and nothing is compiled.
set(library_name libfourtune.so.${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
set(cases ${CMAKE_CURRENT_LIST_DIR}/../tools/cases)
if(FOURTUNE_PREBUILT)
  file(GLOB library ${FOURTUNE_PREBUILT}/lib/libfourtune.so.${PROJECT_VERSION})
  set(jax_library ${FOURTUNE_PREBUILT}/lib/libfourtune_jax.so)
  set(program ${FOURTUNE_PREBUILT}/bin/fourtune)
  if(NOT library OR NOT EXISTS ${jax_library} OR NOT EXISTS ${program})
    message(FATAL_ERROR "FOURTUNE_PREBUILT=${FOURTUNE_PREBUILT}: lib/libfourtune.so.${PROJECT_VERSION}, "
                        "lib/libfourtune_jax.so or bin/fourtune is missing there; build the targets fourtune, "
                        "fourtune_jax and fourtune_cli first")
  endif()
  file(GLOB packs ${CMAKE_CURRENT_LIST_DIR}/../db/packs/*.pack ${CMAKE_CURRENT_LIST_DIR}/../db/packs/*.index)
  add_custom_target(fourtune_python)
else()
  set(library $<TARGET_FILE:fourtune>)
  set(jax_library $<TARGET_FILE:fourtune_jax>)
  set(program $<TARGET_FILE:fourtune_cli>)
  add_custom_target(fourtune_python DEPENDS fourtune fourtune_jax fourtune_cli)
endif()
install(FILES ${library} DESTINATION lib RENAME ${library_name} COMPONENT python EXCLUDE_FROM_ALL)
install(FILES ${jax_library} DESTINATION lib COMPONENT python EXCLUDE_FROM_ALL)
install(PROGRAMS ${program} DESTINATION bin COMPONENT python EXCLUDE_FROM_ALL)
install(FILES ${packs} DESTINATION share/fourtune/packs COMPONENT python EXCLUDE_FROM_ALL)
install(DIRECTORY ${cases} DESTINATION share/fourtune COMPONENT python EXCLUDE_FROM_ALL FILES_MATCHING PATTERN *.txt)
