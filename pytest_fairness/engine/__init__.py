"""Floor 2: asks many prompts, safely."""
