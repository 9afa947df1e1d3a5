import Foundation
import PushService
import Testing

@testable import PushServer

/// `POST /v1/decide`.
@Suite struct DecideTests {
  static let ndjson = ["Content-Type": "application/x-ndjson"]

  @Test func `A message is decided over a socket`() async throws {
    let server = try await TestServer.start()
    let response = try await server.post(
      "/v1/decide?format=counts", TestServer.message, Self.ndjson)
    #expect(response.status == 200)
    #expect(
      response.text == """
        {"message":"m1","conversation":"g1","recipients":2,"counts":\
        {"none/notMentioned/conversation":1,"push/allowed/default":1}}

        """)
    #expect(response.fields["push-fanout-settings"]?.hasSuffix(":1") == true)
    try await server.stop()
  }
}
