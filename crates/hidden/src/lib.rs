//! Games with hidden information (GDL-II): what a role can know, and search by it.
//!
//! In: a game whose rules have `sees`, and what one role did and perceived. Out: the positions
//! that it has to reckon with ([`Belief`]).
//!
//! A role knows the rules, its own moves and its percepts after each joint move. It knows
//! nothing else.

pub mod belief;
mod certain;
mod chains;
pub mod knowledge;
pub mod members;
pub mod open;
pub mod plan;
mod query;
mod replay;
pub mod search;
mod step;
pub mod well_formed;
mod window;
pub mod world;

pub use belief::{Belief, BeliefError, BeliefLimits, ascending};
pub use certain::{Claim, Verdict, certain, claims};
pub use knowledge::{KnowledgeId, Memories};
pub use members::Member;
pub use open::is_open;
pub use plan::{Mix, Plan, PlanError, best_plan, best_response, expected_scores};
pub use query::{Knowledge, Query, Subject, query_belief};
pub use search::{Candidate, SearchOptions, Trees};
pub use well_formed::{Extent, Gap, Needed, WellFormed, well_formed};
pub use world::{State, Status, World};
