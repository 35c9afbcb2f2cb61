# Writes the commit of SOURCE into the C++ source OUTPUT, only when it has changed: cmake -DSOURCE=... -DOUTPUT=... -P Commit.cmake
# Outside of a Git checkout the commit is empty.
execute_process(COMMAND git -C ${SOURCE} describe --always --abbrev=12 --dirty=+changes --exclude=*
                OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
set(text "namespace gpubench {\nextern const char* const built_commit;\nconst char* const built_commit = \"${commit}\";\n}\n")
set(before "")
if(EXISTS ${OUTPUT})
  file(READ ${OUTPUT} before)
endif()
if(NOT text STREQUAL before)
  file(WRITE ${OUTPUT} "${text}")
endif()
