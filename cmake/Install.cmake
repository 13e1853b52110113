# Installs the command, the library, the front doors with what they include, and the package.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

# Adds to `out` the header "name" below src/ and every header of ours that it includes.
function(collect_headers name out)
  if(name IN_LIST ${out} OR NOT EXISTS ${PROJECT_SOURCE_DIR}/src/${name})
    return()
  endif()
  set(headers ${${out}} ${name})
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/${name})
  file(STRINGS ${PROJECT_SOURCE_DIR}/src/${name} lines REGEX "^ *# *include \"")
  foreach(line IN LISTS lines)
    string(REGEX REPLACE "^[^\"]*\"([^\"]*)\".*" "\\1" included "${line}")
    collect_headers(${included} headers)
  endforeach()
  set(${out} ${headers} PARENT_SCOPE)
endfunction()

set(headers)
file(GLOB rooms RELATIVE ${PROJECT_SOURCE_DIR}/src CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/*)
list(REMOVE_ITEM rooms tools pjrt)  # nobody links these
foreach(room IN LISTS rooms)
  collect_headers(${room}/${room}.h headers)
endforeach()
collect_headers(eval/custom_call_abi.h headers)  # for shared libraries with custom calls
# Programs outside write <hilo/ROOM/ROOM.h>, and so do the headers themselves, once installed: no
# name of ours stands where others' headers are looked for.
set(installed ${PROJECT_BINARY_DIR}/installed_headers/hilo)
foreach(header IN LISTS headers)
  get_filename_component(folder ${header} DIRECTORY)
  file(READ ${PROJECT_SOURCE_DIR}/src/${header} text)
  string(REGEX REPLACE "(#include \")([a-z_]+/)" "\\1hilo/\\2" text "${text}")
  file(CONFIGURE OUTPUT ${installed}/${header} CONTENT "${text}" @ONLY)
  install(FILES ${installed}/${header} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/hilo/${folder})
endforeach()

install(TARGETS hilo EXPORT HiloTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
if(TARGET hilo_command)
  install(TARGETS hilo_command RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
if(TARGET hilo_emit)  # base/own_libraries.cpp looks for it there
  install(TARGETS hilo_emit LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/hilo)
endif()
if(TARGET hilo_pjrt)  # beside hilo_emit
  install(TARGETS hilo_pjrt LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/hilo)
endif()
if(TARGET hilo_run)
  install(TARGETS hilo_run EXPORT HiloTargets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
endif()
set(package ${CMAKE_INSTALL_LIBDIR}/cmake/Hilo)
install(EXPORT HiloTargets NAMESPACE Hilo:: DESTINATION ${package})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/HiloConfigVersion.cmake
                                 COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_SOURCE_DIR}/cmake/HiloConfig.cmake
              ${PROJECT_SOURCE_DIR}/cmake/HiloDependencies.cmake
              ${PROJECT_BINARY_DIR}/HiloConfigVersion.cmake DESTINATION ${package})
