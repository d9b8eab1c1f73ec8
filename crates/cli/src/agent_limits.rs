//! The limit on the agents of one match.

use anyhow::bail;

use crate::format;

/// The limit on agents.
#[derive(clap::Args)]
pub struct AgentLimits {
    /// Maximum number of agents in a match; each has a machine and two threads of its own
    #[arg(long, value_name = "N", default_value_t = 64, help_heading = "Limits")]
    max_agents: usize,
}

impl AgentLimits {
    /// Checks the number of agents of a match.
    ///
    /// # Errors
    ///
    /// If there are more than the limit.
    pub fn check(&self, agents: usize) -> anyhow::Result<()> {
        if agents > self.max_agents {
            bail!(
                "this match needs {}, and each has a machine and two threads of its own; the limit \
                 is {} (--max-agents); `ggp playout` plays at random without agents",
                format::counted(agents, "agent"),
                self.max_agents
            );
        }
        Ok(())
    }
}
