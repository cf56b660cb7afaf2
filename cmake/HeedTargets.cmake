# heed_target(name): what every target of this project is compiled with.
function(heed_target name)
  target_compile_features(${name} PUBLIC cxx_std_20)
  set_target_properties(${name} PROPERTIES CXX_EXTENSIONS OFF)
  target_compile_options(${name} PRIVATE -Wall -Wextra -Wpedantic $<$<BOOL:${HEED_WERROR}>:-Werror>)
endfunction()
