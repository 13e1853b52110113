# What the library needs: read by the build and by the installed package.
include(CMakeFindDependencyMacro)
find_dependency(fmt)
find_dependency(Threads)
find_dependency(ZLIB)
find_dependency(Protobuf)
