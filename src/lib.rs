//! General game playing: a game is only a rule file.
