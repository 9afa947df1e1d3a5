internal import NIOCore
internal import NIOHTTP2
internal import NIOSSL
internal import Synchronization

/// Certificate and key of the server, which may be replaced while it runs.
final class TLSContext: Sendable {
  private let options: ServerOptions
  private let context: Mutex<NIOSSLContext>

  /// Reads the files.
  ///
  /// - Returns: nil for a server without TLS.
  /// - Throws: ``OptionError`` for files that cannot be used.
  init?(_ options: ServerOptions) throws(OptionError) {
    guard let made = try Self.make(options) else { return nil }
    self.options = options
    context = Mutex(made)
  }

  /// What connections begin with from now on.
  var current: NIOSSLContext { context.withLock { $0 } }

  /// Reads the files again; what was there stays when they are wrong.
  func reload() throws(OptionError) {
    guard let made = try Self.make(options) else { return }
    context.withLock { $0 = made }
  }

  private static func make(_ options: ServerOptions) throws(OptionError) -> NIOSSLContext? {
    guard let certificate = options.tlsCertificate, let key = options.tlsKey else { return nil }
    do {
      var tls = TLSConfiguration.makeServerConfiguration(
        certificateChain: try NIOSSLCertificate.fromPEMFile(certificate).map { .certificate($0) },
        privateKey: .privateKey(try NIOSSLPrivateKey(file: key, format: .pem)))
      tls.minimumTLSVersion = .tlsv12
      // A client that does not say that it has ended holds up nobody.
      tls.shutdownTimeout = .seconds(1)
      tls.applicationProtocols = NIOHTTP2SupportedALPNProtocols
      if let authority = options.clientCa {
        tls.trustRoots = .file(authority)
        tls.certificateVerification = .noHostnameVerification
      }
      return try NIOSSLContext(configuration: tls)
    } catch {
      throw OptionError("certificate \(certificate) with key \(key) cannot be used: \(error)")
    }
  }
}
