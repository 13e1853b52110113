# Installs the build into an empty prefix, builds the consumer and the examples against it, and runs
# them.
set(prefix ${BUILD}/consumer/prefix)
set(work ${BUILD}/consumer/build)
file(REMOVE_RECURSE ${prefix} ${work})
execute_process(COMMAND ${CMAKE_COMMAND} --install ${BUILD} --prefix ${prefix} OUTPUT_QUIET
                COMMAND_ERROR_IS_FATAL ANY)
# What README shows under "From C++", as it stands there.
file(READ ${CMAKE_CURRENT_LIST_DIR}/../../README.md readme)
string(REGEX REPLACE ".*\n## From C\\+\\+\n" "" readme "${readme}")
foreach(kind_and_file cmake:CMakeLists.txt cpp:program.cpp)
  string(REPLACE ":" ";" kind_and_file ${kind_and_file})
  list(GET kind_and_file 0 kind)
  list(GET kind_and_file 1 name)
  string(FIND "${readme}" "```${kind}\n" begin)
  string(SUBSTRING "${readme}" ${begin} -1 rest)
  string(REGEX REPLACE "^```${kind}\n" "" rest "${rest}")
  string(FIND "${rest}" "```" end)
  string(SUBSTRING "${rest}" 0 ${end} shown)
  file(WRITE ${work}/readme/${name} "${shown}")
endforeach()
set(examples ${CMAKE_CURRENT_LIST_DIR}/../../examples)
set(example ${examples}/compile_and_run)
set(folders ${CMAKE_CURRENT_LIST_DIR} ${example} ${work}/readme)
if(COMPILER)
  list(APPEND folders ${examples}/object_file)
endif()
foreach(folder ${folders})
  get_filename_component(name ${folder} NAME)
  if(folder STREQUAL ${work}/readme)
    set(name readme/build)
  endif()
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

# A program with README's text and a module that is not sound, and without the compiler.
set(program ${work}/readme/build/program)
file(WRITE ${work}/negate.hlo "HloModule m\nENTRY e { x = f32[2] parameter(0)
 ROOT r = f32[2] negate(x) }")
file(WRITE ${work}/unsound.hlo "HloModule m\nENTRY e { x = f32[4] parameter(0)
 ROOT r = f32[5000] tanh(x) }")
execute_process(COMMAND ${program} ${work}/negate.hlo OUTPUT_VARIABLE out COMMAND_ECHO STDOUT
                COMMAND_ERROR_IS_FATAL ANY)
if(NOT out MATCHES "-0, -0")
  message(FATAL_ERROR "README's program printed ${out}")
endif()
execute_process(COMMAND ${program} ${work}/unsound.hlo OUTPUT_VARIABLE out RESULT_VARIABLE status)
if(NOT status EQUAL 1 OR NOT out MATCHES "error: expected a result of f32.4., found f32.5000.")
  message(FATAL_ERROR "README's program ended with ${status} and printed ${out}")
endif()
execute_process(COMMAND ${CMAKE_COMMAND} -E env HILO_EMIT=${work}/none.so ${program}
                        ${work}/negate.hlo
                OUTPUT_VARIABLE out RESULT_VARIABLE status)
if(NOT status EQUAL 1 OR NOT out MATCHES "set HILO_EMIT to its path")
  message(FATAL_ERROR "without the compiler, README's program ended with ${status}: ${out}")
endif()
file(GLOB_RECURSE emitter ${prefix}/lib*/libhilo_emit.so)
file(COPY_FILE ${emitter} ${work}/elsewhere.so)
execute_process(COMMAND ${CMAKE_COMMAND} -E env HILO_EMIT=${work}/elsewhere.so ${program}
                        ${work}/negate.hlo
                COMMAND_ERROR_IS_FATAL ANY OUTPUT_QUIET)

# The line that `hilo compile` prints, in a folder of its own.
file(GLOB_RECURSE installed ${prefix}/bin/hilo)
file(WRITE ${work}/sorted.hlo "HloModule sorted
less { a = f32[] parameter(0)
 b = f32[] parameter(1)
 ROOT c = pred[] compare(a, b), direction=LT }
ENTRY e { x = f32[100000] parameter(0)
 ROOT r = f32[100000] sort(x), dimensions={0}, to_apply=less }")
file(MAKE_DIRECTORY ${work}/linked)
foreach(module negate sorted)
  execute_process(COMMAND ${installed} compile ${module}.hlo -o ${module}.o --header ${module}.h
                          --name ${module}
                  WORKING_DIRECTORY ${work} ERROR_VARIABLE said COMMAND_ERROR_IS_FATAL ANY)
  file(WRITE ${work}/linked/main.cpp "#include \"../${module}.h\"
alignas(64) static float x[100000], r[100000];
int main() {
  const void* parameters[] = {x};
  void* results[] = {r};
  return ${module}_program()(parameters, results);
}
")
  if(NOT said MATCHES "link: ([^\n]*)\n")
    message(FATAL_ERROR "hilo compile printed no line to link with: ${said}")
  endif()
  execute_process(COMMAND sh -c "${CMAKE_MATCH_1} ${FLAGS} && ./main" COMMAND_ECHO STDOUT
                  WORKING_DIRECTORY ${work}/linked COMMAND_ERROR_IS_FATAL ANY)
endforeach()
