package import Foundation

/// Closes all files of a program that is started, from a number on, so that connections of other tests end when those close
/// them, and scripts that they write can be run: `posix_spawn_file_actions_addclosefrom_np`, an extension of GNU's, which
/// the module Glibc leaves out. Its arguments are passed alike in C and in Swift.
@_silgen_name("posix_spawn_file_actions_addclosefrom_np")
@discardableResult
package func closeFiles(_ actions: UnsafeMutablePointer<posix_spawn_file_actions_t>, from first: Int32) -> Int32
