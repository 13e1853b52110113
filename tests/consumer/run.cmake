# Installs the build into an empty prefix, builds the consumer and the examples against it, and runs
# them.
set(prefix ${BUILD}/consumer/prefix)
set(work ${BUILD}/consumer/build)
file(REMOVE_RECURSE ${prefix} ${work})
execute_process(COMMAND ${CMAKE_COMMAND} --install ${BUILD} --prefix ${prefix} OUTPUT_QUIET
                COMMAND_ERROR_IS_FATAL ANY)
set(examples ${CMAKE_CURRENT_LIST_DIR}/../../examples)
set(example ${examples}/compile_and_run)
set(folders ${CMAKE_CURRENT_LIST_DIR} ${example})
if(COMPILER)
  list(APPEND folders ${examples}/object_file)
endif()
foreach(folder ${folders})
  get_filename_component(name ${folder} NAME)
  execute_process(COMMAND ${CMAKE_COMMAND} -G Ninja -S ${folder} -B ${work}/${name}
                          -DCMAKE_PREFIX_PATH=${prefix} -DCMAKE_CXX_COMPILER=${CXX}
                          -DCMAKE_CXX_FLAGS=${FLAGS} COMMAND_ERROR_IS_FATAL ANY)
  execute_process(COMMAND ${CMAKE_COMMAND} --build ${work}/${name} COMMAND_ERROR_IS_FATAL ANY)
endforeach()
execute_process(COMMAND ${work}/consumer/consumer COMMAND_ERROR_IS_FATAL ANY)
if(NOT COMPILER)
  return()
endif()
file(WRITE ${work}/rows.hlo "HloModule rows
ENTRY main { ROOT in_0 = f32[2,4] constant({{3, 0, 0, 4}, {0, 0, -2, 0}}) }")
execute_process(COMMAND ${BUILD}/hilo run ${work}/rows.hlo --save ${work}/saved.npz OUTPUT_QUIET
                COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${work}/compile_and_run/compile_and_run ${example}/normalise.hlo
                        ${work}/saved.npz
                OUTPUT_VARIABLE rows COMMAND_ECHO STDOUT COMMAND_ERROR_IS_FATAL ANY)
if(NOT rows MATCHES "0.6.*0, 0.*0.8.*0, 0, -1, 0")
  message(FATAL_ERROR "the example printed ${rows}")
endif()
execute_process(COMMAND ${work}/object_file/rank OUTPUT_VARIABLE ranked COMMAND_ECHO STDOUT
                COMMAND_ERROR_IS_FATAL ANY)
if(NOT ranked MATCHES "^item 314: 64.000\nitem")
  message(FATAL_ERROR "the example printed ${ranked}")
endif()
