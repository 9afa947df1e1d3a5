internal import Glibc

/// The error number of a system call that failed.
package struct SystemError: Error, Hashable, Sendable {
  package let number: Int32

  package init(_ number: Int32) { self.number = number }

  /// That of the last call of this thread.
  package static var last: SystemError { SystemError(errno) }

  /// What the system says about it, like "No such file or directory".
  package var message: String { unsafe String(cString: strerror(number)) }
}
