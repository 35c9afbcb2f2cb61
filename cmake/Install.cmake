# Installs the program in bin, and in share/gpubench its run-time files with their paths in the repository
# (core/base/resources.h), and the documentation, whose links refer to the same paths. Report templates and the charts'
# style are compiled into the program.
include(GNUInstallDirs)
set(GPUBENCH_RESOURCES ${CMAKE_INSTALL_DATADIR}/gpubench)

install(TARGETS gpubench RUNTIME_DEPENDENCY_SET bundled_libraries RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(DIRECTORY ${CMAKE_SOURCE_DIR}/lua/gpubench ${CMAKE_SOURCE_DIR}/lua/meta DESTINATION ${GPUBENCH_RESOURCES}/lua)
install(DIRECTORY ${CMAKE_SOURCE_DIR}/agent DESTINATION ${GPUBENCH_RESOURCES}
        PATTERN __pycache__ EXCLUDE)
install(DIRECTORY ${CMAKE_SOURCE_DIR}/data ${CMAKE_SOURCE_DIR}/experiments ${CMAKE_SOURCE_DIR}/suites
        DESTINATION ${GPUBENCH_RESOURCES})
install(DIRECTORY ${CMAKE_SOURCE_DIR}/docs DESTINATION ${GPUBENCH_RESOURCES}
        USE_SOURCE_PERMISSIONS)  # of scripts in docs/nightly
install(FILES ${CMAKE_SOURCE_DIR}/README.md ${CMAKE_SOURCE_DIR}/LICENSE ${CMAKE_SOURCE_DIR}/CHANGELOG.md
        DESTINATION ${GPUBENCH_RESOURCES})
