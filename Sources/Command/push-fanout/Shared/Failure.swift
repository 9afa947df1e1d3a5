/// Something asked for that is not there, or not possible.
struct Failure: Error {
  let text: String
}
