(rule) @fold
(connective) @fold
