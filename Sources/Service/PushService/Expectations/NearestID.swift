package import PushFanout
package import PushModel
internal import PushSupport

extension FanoutVersion {
  /// What was most likely meant by a user's or a conversation's id that there is not, as the end of a
  /// message about it; nothing if no id is near.
  ///
  /// - Complexity: O(users) or O(conversations).
  package func advice(user: Identifier? = nil, conversation: Identifier? = nil) -> String {
    var search = EditDistance.Search((user ?? conversation ?? "").text, keepsDigits: true)
    if user != nil {
      forEachZone { _, id, _ in search.consider(id.text) }
    } else {
      forEachConversation { id, _ in search.consider(id.text) }
    }
    return search.nearest.map { "; did you mean \"\($0)\"?" } ?? ""
  }
}
