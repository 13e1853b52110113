# find_package(Hilo) gives the target Hilo::hilo; what it needs is found here.
include(${CMAKE_CURRENT_LIST_DIR}/HiloDependencies.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/HiloTargets.cmake)
