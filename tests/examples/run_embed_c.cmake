# run_embed_c(program work): writes the model, runs the example on it, and checks its output.
function(run_embed_c program work)
  file(MAKE_DIRECTORY ${work})
  execute_process(COMMAND ${MAKE_MODEL} ${work}/model.gantry ${work}/input.raw
                  COMMAND_ERROR_IS_FATAL ANY)
  execute_process(COMMAND ${program} ${work}/model.gantry ${work}/input.raw
                  OUTPUT_VARIABLE printed ERROR_VARIABLE complaint RESULT_VARIABLE result)
  # The model was compiled for no particular device, so the runtime logs one warning.
  string(REGEX REPLACE "^gantry: warn: [^\n]* has no variant made for [^\n]*\n" "" rest "${complaint}")
  if(NOT result EQUAL 0 OR NOT printed STREQUAL "class 7 of 10, score 20\n" OR rest)
    message(FATAL_ERROR "embed_c must exit with 0 and print 'class 7 of 10, score 20', and on stderr only the "
      "warning; exit ${result}, printed '${printed}', on stderr '${complaint}'")
  endif()
  execute_process(COMMAND ${program} ${work}/missing.gantry ${work}/input.raw
                  OUTPUT_VARIABLE printed ERROR_VARIABLE complaint RESULT_VARIABLE result)
  if(NOT result EQUAL 1 OR NOT complaint MATCHES "^embed_c: load the model: [^\n]*missing.gantry[^\n]*\n$")
    message(FATAL_ERROR "without the model file, embed_c must exit with 1 and name the file in one line; "
      "exit ${result}, on stderr '${complaint}'")
  endif()
  # Simulate a machine without a Vulkan driver.
  execute_process(COMMAND ${CMAKE_COMMAND} -E env VK_ICD_FILENAMES=${work}/none.json
                          VK_DRIVER_FILES=${work}/none.json GANTRY_VALIDATION=0
                          ${program} ${work}/model.gantry ${work}/input.raw
                  OUTPUT_VARIABLE printed ERROR_VARIABLE complaint RESULT_VARIABLE result)
  if(NOT result EQUAL 1 OR NOT complaint MATCHES "^embed_c: open a device: no Vulkan device [^\n]*mesa-vulkan-drivers[^\n]*\n$")
    message(FATAL_ERROR "without a Vulkan driver, embed_c must exit with 1 and name the package to "
      "install; exit ${result}, on stderr '${complaint}'")
  endif()
endfunction()
