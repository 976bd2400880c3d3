// A problem to begin with.

export const EXAMPLE = `# Bolts: look at each, and scan those that may be cracked.
schema = 1
name = "bolts"
unit = "EUR"
decisions = ["pass", "fail"]

[[tests]]
name = "visual"
cost = 0.1
outcomes = ["clean", "rusty"]

[[tests]]
name = "ultrasonic"
cost = 0.6
outcomes = ["ok", "crack"]

# What a decision brings: the first entry that fits counts.
[reward]
kind = "table"
targets = ["ultrasonic"]

[[reward.utilities]]
when = { ultrasonic = "crack" }
value = { pass = -4.0, fail = 0.0 }

[[reward.utilities]]
value = { pass = 1.0, fail = 0.0 }
`;
