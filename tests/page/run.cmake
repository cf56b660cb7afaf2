# cmake -DBUILD_PAGE=cmake/build_page.cmake -DWORK=... -P run.cmake: which page a build embeds where npm is missing or fails.
cmake_minimum_required(VERSION 3.22)

# A source folder with nothing but what build_page.cmake copies.
file(REMOVE_RECURSE "${WORK}")
foreach(name package.json package-lock.json .npmrc build.mjs page.html src/main.ts)
  file(WRITE "${WORK}/web/${name}" "{}")
endforeach()
file(WRITE "${WORK}/npm" "#!/bin/sh\necho 'no network'\nexit 1\n")
file(WRITE "${WORK}/node" "#!/bin/sh\necho v20.1.0\n")
file(CHMOD "${WORK}/npm" "${WORK}/node" PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE)

# build(page said OPTION...): what the made source embeds, and what was said.
function(build page said)
  execute_process(
    COMMAND "${CMAKE_COMMAND}" "-DWEB=${WORK}/web" "-DFOLDER=${WORK}/page" "-DSOURCE=${WORK}/page_html.cc" ${ARGN}
            -P "${BUILD_PAGE}"
    RESULT_VARIABLE failed OUTPUT_VARIABLE out ERROR_VARIABLE err)
  if(failed)
    message(FATAL_ERROR "${out}${err}")
  endif()
  file(READ "${WORK}/page_html.cc" source)
  string(REGEX MATCH "kPage\\[\\] =[^\"]*\"([^\"]*)\"" matched "${source}")
  set(${page} "${CMAKE_MATCH_1}" PARENT_SCOPE)
  set(${said} "${out}${err}" PARENT_SCOPE)
endfunction()

function(expect_page page said right words)
  string(HEX "${right}" bytes)
  string(REGEX REPLACE "(..)" "\\\\x\\1" bytes "${bytes}")
  if(NOT page STREQUAL bytes OR NOT said MATCHES "${words}")
    message(FATAL_ERROR "expected the page '${right}' and '${words}', not '${page}' and '${said}'")
  endif()
endfunction()

# There is none, and none was built before: left out, with a word.
build(page said -DNPM= -DNODE= -DPAGE=)
expect_page("${page}" "${said}" "" "The page is left out of this build: npm was not found")
build(page said "-DNPM=${WORK}/npm" "-DNODE=${WORK}/node" -DPAGE=)
expect_page("${page}" "${said}" "" "The page is left out of this build: npm could not install its packages: no network")

# One that was built before is taken, the newer one of two, and that is said too.
file(WRITE "${WORK}/page/page.built.html" "built here")
build(page said -DNPM= -DNODE= -DPAGE=)
expect_page("${page}" "${said}" "built here" "built last, [^\n]*page.built.html, [^\n]*: npm was not found")
execute_process(COMMAND "${CMAKE_COMMAND}" -E sleep 1.1)
file(WRITE "${WORK}/web/dist/page.html" "built by make web")
build(page said "-DNPM=${WORK}/npm" "-DNODE=${WORK}/node" -DPAGE=)
expect_page("${page}" "${said}" "built by make web" "built last, [^\n]*dist/page.html, [^\n]*no network")

# A page that is named is what is embedded.
file(WRITE "${WORK}/own.html" "named")
build(page said -DNPM= -DNODE= "-DPAGE=${WORK}/own.html")
expect_page("${page}" "${said}" "named" "^$")
