/// What a world can be like.
public enum WorkloadPreset: String, CaseIterable, Sendable {
  /// The archive of that name, as docs/generate.md describes it.
  case gitter, telegram, zulip, irc
  /// Small private groups, many of them active. Assumed, as no archive has any.
  case family
}

extension WorkloadOptions {
  /// Sets what was measured of an archive, or is assumed of families; the rest stays.
  ///
  /// Set ``rates`` before: ``WorkloadRates/first`` keeps the numbers that it had.
  public mutating func apply(_ preset: WorkloadPreset) {
    guard let measured = preset.measured else { return applyFamily() }
    if rates == .first { applyFirst(preset) } else { measured.apply(to: &self) }
  }

  private mutating func applyFamily() {
    sizes.medianSize = 5
    sizes.sizeExponent = 3.5
    sizes.giants = []
    sizes.sharedZone = [0.9]
    people.muteShares = [0.1, 0.2, 0.2, 0.2]
    traffic.usualActiveShares = [0.4, 0.5, 0.6, 0.6, 0.9]
    traffic.neverPostShare = 0.2
    traffic.weekendRatio = 1.1
    traffic.mentionShare = 0.01
    (traffic.smallAllShare, traffic.bigAllShare) = (0, 0)
  }

  /// The numbers of the first rates, which their worlds' bytes depend on.
  private mutating func applyFirst(_ preset: WorkloadPreset) {
    switch preset {
    case .gitter:
      sizes.giants = []
      traffic.mentionShare = 0.263
      (traffic.recentShare, traffic.dayShare) = (0.46, 0.87)
      traffic.burstGapSeconds = 41
    case .telegram:
      traffic.mentionShare = 0.011
      (traffic.smallAllShare, traffic.bigAllShare) = (0, 0)
      traffic.burstGapSeconds = 65
    case .zulip:
      sizes.medianSize = 35
      sizes.giants = []
      traffic.mentionShare = 0.063
      (traffic.recentShare, traffic.dayShare) = (0.13, 0.65)
      traffic.burstGapSeconds = 78
    case .irc:
      traffic.mentionShare = 0.315
      traffic.mentionCountShares = [1, 0, 0]
      (traffic.recentShare, traffic.dayShare) = (0.77, 0.96)
      (traffic.smallAllShare, traffic.bigAllShare) = (0, 0)
      traffic.burstGapSeconds = 35
    case .family: break
    }
  }
}
