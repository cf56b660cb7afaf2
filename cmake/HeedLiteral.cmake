# heed_literal(result file): the bytes of the file, as what stands between the quotes of a C++ string.
function(heed_literal result file)
  file(READ "${file}" bytes HEX)
  # Lines of 64 bytes. A byte ends where the next backslash or the line begins, so no digit can be taken for another's.
  string(REGEX REPLACE "(..)" "\\\\x\\1" bytes "${bytes}")
  string(REPEAT "...." 64 line)
  string(REGEX REPLACE "(${line})" "\\1\"\n    \"" bytes "${bytes}")
  set(${result} "${bytes}" PARENT_SCOPE)
endfunction()
