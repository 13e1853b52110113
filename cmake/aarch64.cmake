# Toolchain: aarch64 Linux from another machine, with Debian's cross compiler and the folder that
# scripts/aarch64-root fills with the packages of that architecture. Programs run under qemu-aarch64.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(HILO_AARCH64_ROOT ${CMAKE_CURRENT_LIST_DIR}/../build/aarch64-root CACHE PATH
    "folder that scripts/aarch64-root has filled")
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES HILO_AARCH64_ROOT)
get_filename_component(CMAKE_SYSROOT ${HILO_AARCH64_ROOT} ABSOLUTE)
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64 -L ${CMAKE_SYSROOT})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
