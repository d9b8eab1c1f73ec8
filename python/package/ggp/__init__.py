"""General game playing: a game is only a rule file.

>>> import ggp
>>> game = ggp.load('''
...     (role robot) (init (at 0)) (after 0 1) (after 1 2)
...     (<= (legal robot go) (true (at ?x)) (after ?x ?y))
...     (<= (legal robot stay) (true (at ?x)))
...     (<= (next (at ?y)) (does robot go) (true (at ?x)) (after ?x ?y))
...     (<= (next (at ?x)) (does robot stay) (true (at ?x)))
...     (<= terminal (true (at 2)))
...     (<= (goal robot 100) (true (at 2)))
...     (<= (goal robot 0) (not (true (at 2))))''')
>>> state = game.new_initial_state()
>>> state.legal_moves(0)
['go', 'stay']
>>> state.play('go')
>>> state.play('go')
>>> state.is_terminal(), state.returns()
(True, [100.0])
>>> game.solve().plan
['go', 'go']

Adapters for other libraries are the modules `ggp.openspiel`, `ggp.pettingzoo` and
`ggp.gymnasium`, which need those libraries.
"""

from ggp._ggp import (
    CHANCE,
    CUT,
    OVER,
    SIMULTANEOUS,
    STUCK,
    TERMINAL,
    UNSCORED,
    Batch,
    Belief,
    Error,
    Explanation,
    Game,
    LimitError,
    MatchError,
    Player,
    RulesError,
    Solution,
    State,
    View,
    __version__,
    check,
    games,
    load,
    play,
    tournament,
)

__all__ = [
    "CHANCE",
    "CUT",
    "OVER",
    "SIMULTANEOUS",
    "STUCK",
    "TERMINAL",
    "UNSCORED",
    "Batch",
    "Belief",
    "Error",
    "Explanation",
    "Game",
    "LimitError",
    "MatchError",
    "Player",
    "RulesError",
    "Solution",
    "State",
    "View",
    "__version__",
    "check",
    "games",
    "load",
    "play",
    "tournament",
]
