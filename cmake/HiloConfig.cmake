# find_package(Hilo) gives the target Hilo::hilo, the compiler, and Hilo::run, which object files of
# `hilo compile` call; what they need is found here.
include(${CMAKE_CURRENT_LIST_DIR}/HiloDependencies.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/HiloTargets.cmake)
find_program(HILO_COMMAND hilo HINTS ${CMAKE_CURRENT_LIST_DIR}/../../../bin
                                     ${CMAKE_CURRENT_LIST_DIR}/../../../../bin)

# hilo_compile(TARGET MODULE [NAME name] [FLAGS ...]): compiles a module to name.o and name.h, and
# makes them part of the target. The name is that of the C function, without it the file's.
function(hilo_compile target module)
  cmake_parse_arguments(PARSE_ARGV 2 given "" "NAME" "FLAGS")
  if(NOT given_NAME)
    get_filename_component(given_NAME ${module} NAME_WE)
  endif()
  get_filename_component(module ${module} ABSOLUTE)
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/hilo_compile)
  set(made ${folder}/${given_NAME}.o ${folder}/${given_NAME}.h)
  add_custom_command(
    OUTPUT ${made}
    COMMAND ${CMAKE_COMMAND} -E make_directory ${folder}
    COMMAND ${HILO_COMMAND} compile ${module} -o ${folder}/${given_NAME}.o --header
            ${folder}/${given_NAME}.h --name=${given_NAME} ${given_FLAGS}
    DEPENDS ${module} ${HILO_COMMAND} VERBATIM)
  target_sources(${target} PRIVATE ${made})
  target_include_directories(${target} PRIVATE ${folder})
  target_link_libraries(${target} PRIVATE -Wl,--as-needed Hilo::run m)
endfunction()
