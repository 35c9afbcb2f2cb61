return require "gpubench.native"
