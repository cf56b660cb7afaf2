# cmake -DCOMPILER=... -DINCLUDE=... -DSOURCE=... -P compile.cmake
# Compiles SOURCE and compares with its first line, "// expect: words": the compiler must refuse and say those words.
# "// expect: nothing" must compile.
file(STRINGS "${SOURCE}" expected LIMIT_COUNT 1)
if(NOT expected MATCHES "^// expect: (.+)$")
  message(FATAL_ERROR "${SOURCE} does not begin with '// expect: '")
endif()
set(expected "${CMAKE_MATCH_1}")

execute_process(COMMAND "${COMPILER}" -std=c++20 -fsyntax-only "-I${INCLUDE}" "${SOURCE}"
  RESULT_VARIABLE failed OUTPUT_VARIABLE output ERROR_VARIABLE output)

if(expected STREQUAL "nothing")
  if(failed)
    message(FATAL_ERROR "must compile, but:\n${output}")
  endif()
  return()
endif()
if(NOT failed)
  message(FATAL_ERROR "compiled, but must not")
endif()
# Clang 14 prints a static_assert's text with the quotes of its pieces; without quotes and line breaks both agree.
string(REGEX REPLACE "\"[ \n]*\"" "" text "${output}")
string(FIND "${text}" "${expected}" place)
if(place EQUAL -1)
  message(FATAL_ERROR "the message does not say '${expected}':\n${output}")
endif()
# A readable failure is short: the reason, where the call stands, and nothing from inside the loop.
string(REGEX MATCHALL "error:" errors "${output}")
list(LENGTH errors count)
if(count GREATER 1)
  message(FATAL_ERROR "${count} errors where one says it all:\n${output}")
endif()
