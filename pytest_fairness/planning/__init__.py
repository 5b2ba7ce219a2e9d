"""Plans and certificates: verdicts of thresholds on simulated and resampled samples, without pytest."""
