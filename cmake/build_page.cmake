# cmake -DWEB=.. -DFOLDER=.. -DPAGE=.. -DNPM=.. -DNODE=.. -DSOURCE=.. -P build_page.cmake: see HeedPage.cmake.
cmake_minimum_required(VERSION 3.22)
include("${CMAKE_CURRENT_LIST_DIR}/HeedLiteral.cmake")

# Sets `page` to the file of the page, or to nothing, with the reason in `missing`.
function(build_page)
  set(page "" PARENT_SCOPE)
  if(PAGE)
    set(page "${PAGE}" PARENT_SCOPE)
    return()
  endif()
  if(NOT NPM OR NOT NODE)
    set(missing "npm was not found (apt-get install nodejs npm)" PARENT_SCOPE)
    return()
  endif()
  execute_process(COMMAND "${NODE}" --version OUTPUT_VARIABLE version OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  string(REGEX REPLACE "^v" "" version "${version}")
  if(NOT version VERSION_GREATER_EQUAL 18)
    set(missing "Node 18 or newer is needed, this one is '${version}'" PARENT_SCOPE)
    return()
  endif()
  file(MAKE_DIRECTORY "${FOLDER}")
  file(REMOVE_RECURSE "${FOLDER}/src")
  file(COPY "${WEB}/package.json" "${WEB}/package-lock.json" "${WEB}/.npmrc" "${WEB}/build.mjs" "${WEB}/page.html" "${WEB}/src"
       DESTINATION "${FOLDER}")
  file(SHA256 "${FOLDER}/package-lock.json" lock)
  set(stamp "${FOLDER}/installed-${lock}")
  if(NOT EXISTS "${stamp}")
    execute_process(
      COMMAND "${NPM}" ci --omit=dev --prefer-offline --no-audit --no-fund --loglevel=error --fetch-retries=1
              --fetch-timeout=20000
      WORKING_DIRECTORY "${FOLDER}" RESULT_VARIABLE failed OUTPUT_VARIABLE said ERROR_VARIABLE said TIMEOUT 180)
    if(failed)
      set(missing "npm could not install its packages: ${said}" PARENT_SCOPE)
      return()
    endif()
    file(WRITE "${stamp}" "")
  endif()
  execute_process(COMMAND "${NODE}" build.mjs "${FOLDER}/page.built.html" WORKING_DIRECTORY "${FOLDER}"
                  RESULT_VARIABLE failed OUTPUT_VARIABLE said ERROR_VARIABLE said)
  if(failed)
    message(FATAL_ERROR "The page cannot be built:\n${said}")  # wrong sources, not a missing tool
  endif()
  set(page "${FOLDER}/page.built.html" PARENT_SCOPE)
endfunction()

# Sets `page` to the newer one of the pages that were built before: here, or by `make web`. Or to nothing.
function(find_last_page)
  set(found "")
  foreach(each "${FOLDER}/page.built.html" "${WEB}/dist/page.html")
    if(EXISTS "${each}" AND (NOT found OR "${each}" IS_NEWER_THAN "${found}"))
      set(found "${each}")
    endif()
  endforeach()
  set(page "${found}" PARENT_SCOPE)
endfunction()

build_page()
if(NOT page)
  find_last_page()
  if(page)
    message("-- The page is the one that was built last, ${page}, and may be older than web/: ${missing}")
  else()
    message("-- The page is left out of this build: ${missing}\n   `make web` builds it where npm works, and the next build takes it from there.")
  endif()
endif()
set(bytes "")
if(page)
  heed_literal(bytes "${page}")
endif()
file(WRITE "${SOURCE}" "// Made by cmake/build_page.cmake from web/.
#include <string_view>

#ifdef __clang__
#pragma clang diagnostic ignored \"-Woverlength-strings\"
#endif

namespace heed::view {
std::string_view page_html();

namespace {
constexpr char kPage[] =
    \"${bytes}\";
}

std::string_view page_html() { return {kPage, sizeof(kPage) - 1}; }
}  // namespace heed::view
")
