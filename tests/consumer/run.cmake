# Installs the build into an empty prefix, builds the consumer against it, and runs it.
set(prefix ${BUILD}/consumer/prefix)
set(work ${BUILD}/consumer/build)
file(REMOVE_RECURSE ${prefix} ${work})
execute_process(COMMAND ${CMAKE_COMMAND} --install ${BUILD} --prefix ${prefix} OUTPUT_QUIET
                COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${CMAKE_COMMAND} -G Ninja -S ${CMAKE_CURRENT_LIST_DIR} -B ${work}
                        -DCMAKE_PREFIX_PATH=${prefix} -DCMAKE_CXX_COMPILER=${CXX}
                        -DCMAKE_CXX_FLAGS=${FLAGS} COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${CMAKE_COMMAND} --build ${work} COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${work}/consumer COMMAND_ERROR_IS_FATAL ANY)
