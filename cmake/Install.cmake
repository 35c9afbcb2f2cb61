# Installs the program in bin, and in share/gpubench its run-time files with their paths in the repository
# (core/base/resources.h), and the documentation, whose links refer to the same paths; the manual page, completion for
# shells, and licences. Report templates and the charts' style are compiled into the program. The target "package" makes a
# Debian package of it.
include(GNUInstallDirs)
set(GPUBENCH_RESOURCES ${CMAKE_INSTALL_DATADIR}/gpubench)

install(TARGETS gpubench RUNTIME_DEPENDENCY_SET bundled_libraries RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(DIRECTORY ${CMAKE_SOURCE_DIR}/lua/gpubench ${CMAKE_SOURCE_DIR}/lua/meta DESTINATION ${GPUBENCH_RESOURCES}/lua)
install(DIRECTORY ${CMAKE_SOURCE_DIR}/agent DESTINATION ${GPUBENCH_RESOURCES}
        PATTERN __pycache__ EXCLUDE)
install(DIRECTORY ${CMAKE_SOURCE_DIR}/data ${CMAKE_SOURCE_DIR}/experiments ${CMAKE_SOURCE_DIR}/suites
        DESTINATION ${GPUBENCH_RESOURCES})
install(DIRECTORY ${CMAKE_SOURCE_DIR}/results/samples DESTINATION ${GPUBENCH_RESOURCES}/results  # times of experiments
        FILES_MATCHING PATTERN run.json PATTERN results.csv PATTERN nights EXCLUDE PATTERN reports EXCLUDE)
install(DIRECTORY ${CMAKE_SOURCE_DIR}/docs DESTINATION ${GPUBENCH_RESOURCES}
        USE_SOURCE_PERMISSIONS)  # of scripts in docs/nightly
install(FILES ${CMAKE_SOURCE_DIR}/README.md ${CMAKE_SOURCE_DIR}/LICENSE ${CMAKE_SOURCE_DIR}/CHANGELOG.md
        DESTINATION ${GPUBENCH_RESOURCES})

set(shell_files ${CMAKE_BINARY_DIR}/shell_files)
install(CODE "file(MAKE_DIRECTORY ${shell_files})
              foreach(shell IN ITEMS bash zsh fish)
                execute_process(COMMAND $<TARGET_FILE:gpubench> completion \${shell}
                                OUTPUT_FILE ${shell_files}/\${shell} COMMAND_ERROR_IS_FATAL ANY)
              endforeach()
              execute_process(COMMAND $<TARGET_FILE:gpubench> help --man
                              OUTPUT_FILE ${shell_files}/gpubench.1 COMMAND_ERROR_IS_FATAL ANY)
              include(${CMAKE_SOURCE_DIR}/cmake/bundle/licences.cmake)
              packages_compiled_in(packages ${CMAKE_SOURCE_DIR})
              write_licences(${shell_files}/licences \${packages})")
install(FILES ${shell_files}/bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME gpubench)
install(FILES ${shell_files}/zsh DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions RENAME _gpubench)
install(FILES ${shell_files}/fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d RENAME gpubench.fish)
install(FILES ${shell_files}/gpubench.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(DIRECTORY ${shell_files}/licences DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/gpubench)
install(FILES ${CMAKE_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/gpubench RENAME copyright)

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_CONTACT "gpubench maintainers <maintainers@gpubench.invalid>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "measures why an accelerator is not busy, and what makes it busy")
set(CPACK_PACKAGE_DESCRIPTION "A script changes one setting, trains a real model with each value, and gpubench reports
the effect with intervals and whether the claim of the script holds. It also watches jobs of PyTorch, Keras and JAX.")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS gnuplot-nox)
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "openmpi-bin, python3")
include(CPack)
