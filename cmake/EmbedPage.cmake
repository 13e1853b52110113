# Run with -P: puts the style and the scripts of FOLDER into its page.html and writes the page as a
# C++ source to OUT. The scripts only declare, so that their order does not matter.
file(READ ${FOLDER}/page.html page)
file(GLOB styles ${FOLDER}/*.css)
file(GLOB scripts ${FOLDER}/*.js)
foreach(kind styles scripts)
  set(${kind}_text "")
  list(SORT ${kind})
  foreach(file IN LISTS ${kind})
    file(READ ${file} text)
    string(APPEND ${kind}_text "${text}\n")
  endforeach()
endforeach()
string(REPLACE "@STYLE@" "${styles_text}" page "${page}")
string(REPLACE "@SCRIPT@" "${scripts_text}" page "${page}")
string(FIND "${page}" ")page\"" delimiter)
if(NOT delimiter EQUAL -1)
  message(FATAL_ERROR "the page holds the end of a raw string")
endif()
file(WRITE ${OUT} "#include <string_view>\n\nnamespace hilo {\n\n"
     "extern const std::string_view memory_page;\n"
     "const std::string_view memory_page = R\"page(${page})page\";\n\n}  // namespace hilo\n")
